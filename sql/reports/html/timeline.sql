-- What to draw of one step of each profile: a row per piece of work, by lane and time.
--
-- The span is the first step; without steps it is all device work. Lanes: the host threads' top operators, one lane a
-- device stream for kernels, one a communication group.

WITH step_span AS (
  SELECT profile, rank, step, start_ns AS from_ns, end_ns AS to_ns,
         row_number() OVER (PARTITION BY profile ORDER BY rank, start_ns) AS place
    FROM prof_step
),
kernel_span AS (
  SELECT profile, min(rank) AS rank, NULL AS step, min(start_ns) AS from_ns, max(end_ns) AS to_ns
    FROM prof_kernel AS k
   WHERE NOT EXISTS (SELECT 1 FROM step_span AS s WHERE s.profile = k.profile)
   GROUP BY profile
),
span AS MATERIALIZED (
  SELECT profile, rank, step, from_ns, to_ns FROM step_span WHERE place = 1
  UNION ALL SELECT * FROM kernel_span
),
work AS (
  SELECT s.profile, s.step, s.from_ns, s.to_ns, 0 AS lane_group, 'host thread ' || h.thread_id AS lane, 'host' AS kind, h.name,
         h.start_ns, h.end_ns
    FROM span AS s
    JOIN prof_host_op AS h ON h.profile = s.profile AND h.rank IS s.rank AND h.start_ns BETWEEN s.from_ns AND s.to_ns
   WHERE h.kind = 'op' AND h.depth <= 1 AND h.name NOT LIKE 'ProfilerStep%'
  UNION ALL
  SELECT s.profile, s.step, s.from_ns, s.to_ns, 1, 'stream ' || k.stream_id, 'computing', ifnull(k.op_type, k.name), k.start_ns, k.end_ns
    FROM span AS s
    JOIN prof_kernel AS k ON k.profile = s.profile AND k.rank IS s.rank AND k.start_ns BETWEEN s.from_ns AND s.to_ns
   WHERE k.is_communication IS NOT 1
  UNION ALL
  SELECT s.profile, s.step, s.from_ns, s.to_ns, 2, 'group ' || ifnull(nullif(c.process_group, ''), ifnull(c.group_name, '')),
         'communication', ifnull(c.op_type, c.name), c.start_ns, c.end_ns
    FROM span AS s
    JOIN prof_comm_op AS c ON c.profile = s.profile AND c.rank IS s.rank AND c.start_ns BETWEEN s.from_ns AND s.to_ns
)
SELECT profile, ifnull('step ' || step, 'whole profile') AS span, max(to_ns, max(end_ns) OVER (PARTITION BY profile)) - from_ns AS span_ns,
       lane, kind, name, start_ns - from_ns AS at_ns, end_ns - start_ns AS dur_ns
  FROM work
 WHERE profile IN ('base', 'comparison')
 ORDER BY profile, lane_group, lane, at_ns;
