-- Where the device's time goes as a whole: computing, communication that no computing covers, and from end to
-- end; and the copies that computing waits for.

-- _side_copy_query: which copies hold up the computing streams?
--
-- Ascend: copies by the SDMA or PCIe engine on a stream that runs kernels; where streams wait for events, only
-- on those that do. Text exports count no stream 0, as the compare tool does. GPU: on the stream with most
-- kernels, everything whose name says copy (htod, dtod, dtoh) or memset (device), kernels included.
CREATE TEMP VIEW IF NOT EXISTS _side_copy_query(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  device_task_id,         -- INTEGER  prof_device_task.id
  kernel_id,              -- INTEGER  prof_kernel.id of a kernel that counts as a copy; else NULL
  dur_ns                  -- INTEGER  ns
) AS
WITH task AS NOT MATERIALIZED (
  SELECT s.family, t.profile, t.rank, t.id, t.stream_id, t.task_type, t.name, t.kernel_id, t.dur_ns
    FROM _side_rank AS s
   CROSS JOIN prof_device_task AS t ON t.profile = s.profile AND t.rank IS s.rank
   WHERE s.step IS NULL OR t.start_ns BETWEEN s.step_start_ns AND s.step_end_ns
),
kernel_stream AS (        -- Ascend streams that compute
  SELECT profile, rank, stream_id FROM task WHERE family = 'db' AND kernel_id IS NOT NULL
  UNION
  SELECT profile, rank, stream_id
    FROM task
   WHERE family = 'text' AND stream_id <> 0
     AND task_type IN ('AI_CORE', 'MIX_AIC', 'MIX_AIV', 'AI_CPU', 'AI_VECTOR_CORE', 'FFTS_PLUS')
),
waiting_stream AS (
  SELECT DISTINCT profile, rank, stream_id
    FROM task
   WHERE task_type IN ('EVENT_WAIT_SQE', 'EVENT_WAIT') AND (family = 'db' OR stream_id <> 0)
),
busiest_stream AS (       -- GPU: most kernels, the first seen on ties
  SELECT profile, rank, stream_id,
         row_number() OVER (PARTITION BY profile, rank ORDER BY count(*) DESC, min(id)) AS place
    FROM task
   WHERE family = 'gpu' AND task_type = 'kernel' AND stream_id IS NOT NULL AND lower(name) NOT LIKE 'nccl%'
   GROUP BY profile, rank, stream_id
),
compute_stream AS MATERIALIZED (
  SELECT k.profile, k.rank, k.stream_id
    FROM kernel_stream AS k
   WHERE NOT EXISTS (SELECT 1 FROM waiting_stream AS w WHERE w.profile = k.profile AND w.rank IS k.rank)
      OR EXISTS (SELECT 1 FROM waiting_stream AS w
                  WHERE w.profile = k.profile AND w.rank IS k.rank AND w.stream_id = k.stream_id)
  UNION ALL
  SELECT profile, rank, stream_id FROM busiest_stream WHERE place = 1
),
name AS MATERIALIZED (    -- the names there are, before any task is looked at
  SELECT DISTINCT name FROM prof_device_task
),
copy_name AS MATERIALIZED (
  SELECT name
    FROM name
   WHERE lower(name) LIKE '%htod%' OR lower(name) LIKE '%dtod%' OR lower(name) LIKE '%dtoh%'
      OR instr(lower(name), 'memset (device)') > 0
),
copy AS MATERIALIZED (
  SELECT profile, rank, stream_id, id, kernel_id, dur_ns
    FROM task
   WHERE task_type IN (SELECT task_type FROM _copy_type)
  UNION ALL
  SELECT profile, rank, stream_id, id, kernel_id, dur_ns
    FROM copy_name AS n
   CROSS JOIN task AS t ON t.name = n.name
   WHERE family = 'gpu' AND task_type IN ('kernel', 'gpu_memcpy')
     AND task_type NOT IN (SELECT task_type FROM _copy_type)
)
SELECT c.profile, c.rank, c.id, c.kernel_id, c.dur_ns
  FROM compute_stream AS s
  JOIN copy AS c ON c.profile = s.profile AND c.rank IS s.rank AND c.stream_id = s.stream_id;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._side_copy USING profana_memo(_side_copy_query);

-- _overall_source: which source answers for a rank's times as a whole?
--
-- The profiler's own analysis lanes where a text export has them and no step is asked for, as in the compare
-- tool; else the intervals of kernels and collectives.
CREATE TEMP VIEW IF NOT EXISTS _overall_source(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  family,                 -- TEXT     text, db or gpu
  step,                   -- INTEGER  as _compare_side
  step_start_ns,          -- INTEGER  ns
  step_end_ns,            -- INTEGER  ns
  source                  -- TEXT     lanes or sets
) AS
SELECT s.profile, s.rank, s.family, s.step, s.step_start_ns, s.step_end_ns,
       CASE WHEN s.family = 'text' AND s.step IS NULL
             AND EXISTS (SELECT 1 FROM prof_overlap_bar AS b WHERE b.profile = s.profile AND b.rank IS s.rank)
            THEN 'lanes' ELSE 'sets' END
  FROM _side_rank AS s;

-- _overall_lane: what do the profiler's own analysis lanes say?
--
CREATE TEMP VIEW IF NOT EXISTS _overall_lane(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  computing_ns,           -- INTEGER  ns, length of the lane Computing
  uncovered,              -- BLOB     interval set: the lane Communication(Not Overlapped)
  e2e_ns                  -- INTEGER  ns, from the first bar of any lane to the end of the last
) AS
WITH lane AS (            -- of all ranks, which the table gives in order
  SELECT profile, rank, coalesce(interval_coverage(start_ns, end_ns) FILTER (WHERE name = 'Computing'), 0) AS computing_ns,
         coalesce(interval_agg(start_ns, end_ns) FILTER (WHERE name = 'Communication(Not Overlapped)'), interval_union())
           AS uncovered,
         max(end_ns) - min(start_ns) AS e2e_ns
    FROM prof_overlap_bar
   WHERE profile IN (SELECT profile FROM _overall_source WHERE source = 'lanes')
   GROUP BY profile, rank
)
SELECT l.profile, l.rank, l.computing_ns, l.uncovered, l.e2e_ns
  FROM lane AS l
  JOIN _overall_source AS s ON s.profile = l.profile AND s.rank IS l.rank
 WHERE s.source = 'lanes';

-- _overall_set: what do kernels and collectives say, as sets of intervals?
--
-- Computing is the union of the kernels, uncovered communication what the collectives' union adds to it, both
-- as true lengths in ns. End to end reaches from the first to the last of them; on Ascend further to the first
-- and last task of the device that is no kernel, on GPU to the copies.
CREATE TEMP VIEW IF NOT EXISTS _overall_set(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  computing_ns,           -- INTEGER  ns, length of the kernels' union
  uncovered,              -- BLOB     interval set: collectives where no kernel runs
  e2e_ns                  -- INTEGER  ns
) AS
WITH part AS (
  SELECT k.profile, k.rank, interval_agg(k.start_ns, k.end_ns) AS kernels, NULL AS collectives,
         min(k.start_ns) AS first_ns, max(k.end_ns) AS last_ns
    FROM _overall_source AS s
   CROSS JOIN prof_kernel AS k ON k.profile = s.profile AND k.rank IS s.rank
   WHERE s.source = 'sets' AND k.is_communication IS NOT 1
     AND (s.step IS NULL OR k.start_ns BETWEEN s.step_start_ns AND s.step_end_ns)
     AND (s.family <> 'gpu' OR nest_find((SELECT nest_index(kernel_id, kernel_id, kernel_id, profile) FROM _side_copy),
                                         k.id, k.id, k.profile) IS NULL)
   GROUP BY k.profile, k.rank
  UNION ALL
  SELECT c.profile, c.rank, NULL, interval_agg(c.start_ns, c.end_ns), min(c.start_ns), max(c.end_ns)
    FROM _overall_source AS s
    JOIN _collective AS c ON c.profile = s.profile AND c.rank IS s.rank
   WHERE s.source = 'sets' AND (s.step IS NULL OR c.start_ns BETWEEN s.step_start_ns AND s.step_end_ns)
   GROUP BY c.profile, c.rank
  UNION ALL
  SELECT t.profile, t.rank, NULL, NULL, min(nullif(t.start_ns, 0)), max(nullif(t.end_ns, 0))
    FROM _overall_source AS s
   CROSS JOIN prof_device_task AS t ON t.profile = s.profile AND t.rank IS s.rank
   WHERE s.source = 'sets' AND (s.step IS NULL OR t.start_ns BETWEEN s.step_start_ns AND s.step_end_ns)
     AND CASE s.family WHEN 'gpu' THEN t.task_type IN ('kernel', 'gpu_memcpy') AND t.stream_id IS NOT NULL
         ELSE t.task_type NOT IN (SELECT task_type FROM _silent_type)
          AND coalesce(t.name, '') NOT IN (SELECT task_type FROM _silent_type) END
   GROUP BY t.profile, t.rank
),
whole AS (
  SELECT profile, rank, coalesce(interval_union_agg(kernels), interval_union()) AS kernels,
         coalesce(interval_union_agg(collectives), interval_union()) AS collectives,
         max(last_ns) - min(first_ns) AS e2e_ns
    FROM part
   GROUP BY profile, rank
)
SELECT profile, rank, interval_length(kernels), interval_difference(collectives, kernels), e2e_ns
  FROM whole;

-- _overall_span_query: how much does the device compute, communicate uncovered, and last, from either source?
CREATE TEMP VIEW IF NOT EXISTS _overall_span_query(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  computing_ns,           -- INTEGER  ns
  uncovered,              -- TEXT     JSON of the interval set: communication that no computing covers
  e2e_ns,                 -- INTEGER  ns
  source                  -- TEXT     lanes or sets
) AS
SELECT profile, rank, computing_ns, interval_json(uncovered), e2e_ns, 'lanes' FROM _overall_lane
UNION ALL
SELECT profile, rank, computing_ns, interval_json(uncovered), e2e_ns, 'sets' FROM _overall_set;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._overall_span USING profana_memo(_overall_span_query);
