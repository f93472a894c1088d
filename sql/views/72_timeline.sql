-- One step in time.

-- step_timeline: what happened when, in one step?
--
-- One row per piece of work of each profile's first rank: the host's top operators, the kernels of each stream, the collectives
-- of each group. The span is the step given to profana_open (option step), else the first; a text export without its trace knows
-- steps by their kernels; without steps it is all device work.

CREATE TEMP VIEW IF NOT EXISTS step_timeline(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  step,                   -- INTEGER  NULL: no step markers, the whole profile
  span_ns,                -- INTEGER  ns, length of the span, work that ends after it included
  lane_id,                -- INTEGER  0 host, 1 kernels, 2 collectives
  lane,                   -- TEXT     host thread 4321, stream 2, group tp ...
  kind,                   -- TEXT     host, computing, communication
  name,                   -- TEXT     operator, kernel or collective
  op_type,                -- TEXT     type of a kernel or collective; NULL: host, or unknown
  at_ns,                  -- INTEGER  ns after the start of the span
  dur_ns                  -- INTEGER  ns
) AS
WITH asked AS (          -- the first rank, and the step asked for
  SELECT alias AS profile, min(rank) AS rank, min(step_option) AS step FROM prof_source GROUP BY alias
),
step_span AS (
  SELECT s.profile, s.rank, s.step, s.start_ns AS from_ns, s.end_ns AS to_ns,
         row_number() OVER (PARTITION BY s.profile ORDER BY s.step IS NOT a.step, s.start_ns) AS place
    FROM asked AS a
    JOIN prof_step AS s ON s.profile = a.profile AND s.rank IS a.rank
),
kernel_span AS (         -- for profiles without marked steps
  SELECT k.profile, k.rank, k.step, min(k.start_ns) AS from_ns, max(k.end_ns) AS to_ns,
         row_number() OVER (PARTITION BY k.profile
                            ORDER BY a.step IS NOT NULL AND k.step IS NOT a.step, k.step IS NULL, min(k.start_ns)) AS place
    FROM asked AS a
    JOIN prof_kernel AS k ON k.profile = a.profile AND k.rank IS a.rank
   WHERE NOT EXISTS (SELECT 1 FROM step_span AS s WHERE s.profile = a.profile)
   GROUP BY k.profile, k.rank, k.step
),
span AS MATERIALIZED (
  SELECT profile, rank, step, from_ns, to_ns FROM step_span WHERE place = 1
  UNION ALL
  SELECT profile, rank, step, from_ns, to_ns FROM kernel_span WHERE place = 1
),
work AS (
  SELECT s.profile, s.rank, s.step, s.from_ns, s.to_ns, 0 AS lane_id, 'host thread ' || h.thread_id AS lane, 'host' AS kind, h.name,
         NULL AS op_type, h.start_ns, h.end_ns
    FROM span AS s
    JOIN prof_host_op AS h ON h.profile = s.profile AND h.rank IS s.rank AND h.start_ns BETWEEN s.from_ns AND s.to_ns
   WHERE h.kind = 'op' AND h.root_id = h.id
  UNION ALL
  SELECT s.profile, s.rank, s.step, s.from_ns, s.to_ns, 1, 'stream ' || ifnull(k.stream_id, '?'), 'computing', k.name, k.op_type,
         k.start_ns, k.end_ns
    FROM span AS s
    JOIN prof_kernel AS k ON k.profile = s.profile AND k.rank IS s.rank AND k.start_ns BETWEEN s.from_ns AND s.to_ns
   WHERE k.is_communication IS NOT 1
  UNION ALL
  SELECT s.profile, s.rank, s.step, s.from_ns, s.to_ns, 2,
         coalesce('group ' || c.group_name, 'stream ' || c.stream_id, 'group ?'), 'communication', c.name, c.op_type, c.start_ns,
         c.end_ns
    FROM span AS s
    JOIN _collective AS c ON c.profile = s.profile AND c.rank IS s.rank AND c.start_ns BETWEEN s.from_ns AND s.to_ns
)
SELECT profile, rank, step, max(to_ns, max(end_ns) OVER (PARTITION BY profile)) - from_ns, lane_id, lane, kind, name, op_type,
       start_ns - from_ns, end_ns - start_ns
  FROM work
 ORDER BY profile, lane_id, lane, start_ns;
