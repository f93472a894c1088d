-- What happened when, in one step?
--
-- Rows in order of time from the span's start: the host's operators, the kernels of each stream, the collectives. The span is the
-- first step, or without steps the first millisecond of device work.

WITH step_span AS (
  SELECT profile, rank, start_ns AS from_ns, end_ns AS to_ns, row_number() OVER (PARTITION BY profile, rank ORDER BY start_ns) AS place
    FROM prof_step
),
kernel_span AS (         -- for profiles without steps
  SELECT profile, rank, min(start_ns) AS from_ns, min(start_ns) + 1000000 AS to_ns FROM prof_kernel AS k
   WHERE NOT EXISTS (SELECT 1 FROM step_span AS s WHERE s.profile = k.profile AND s.rank IS k.rank)
   GROUP BY profile, rank
),
span AS MATERIALIZED (
  SELECT profile, rank, from_ns, to_ns FROM step_span WHERE place = 1
  UNION ALL SELECT * FROM kernel_span
),
shown AS (
  SELECT s.profile, s.rank, s.from_ns, 'host ' || h.thread_id AS lane, h.name, h.start_ns, h.dur_ns
    FROM span AS s
    JOIN prof_host_op AS h ON h.profile = s.profile AND h.rank IS s.rank AND h.start_ns BETWEEN s.from_ns AND s.to_ns
   WHERE h.kind = 'op'
  UNION ALL
  SELECT s.profile, s.rank, s.from_ns, 'stream ' || k.stream_id, k.name, k.start_ns, k.dur_ns
    FROM span AS s
    JOIN prof_kernel AS k ON k.profile = s.profile AND k.rank IS s.rank AND k.start_ns BETWEEN s.from_ns AND s.to_ns
   WHERE k.is_communication IS NOT 1
  UNION ALL
  SELECT s.profile, s.rank, s.from_ns, 'group ' || ifnull(nullif(c.process_group, ''), c.group_name), c.name, c.start_ns, c.dur_ns
    FROM span AS s
    JOIN prof_comm_op AS c ON c.profile = s.profile AND c.rank IS s.rank AND c.start_ns BETWEEN s.from_ns AND s.to_ns
)
SELECT profile AS 'Profile', rank AS 'Rank', round_even((start_ns - from_ns) / 1000.0, 3) AS 'At(us)', lane AS 'Lane', name AS 'Name',
       round_even(dur_ns / 1000.0, 3) AS 'Duration(us)'
  FROM shown
 ORDER BY profile, rank, start_ns, dur_ns DESC
 LIMIT 200;
