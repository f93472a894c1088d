-- Where the time of two profiles goes as a whole.

-- _overall_part_query: the named amounts of time of each profile that overall_metrics and overall_summary show.
--
-- Free time is what end to end leaves after computing, uncovered communication and bare LCCL kernels
-- (kernel_aivec). Other is what computing leaves after all that is classified, never less than nothing.
CREATE TEMP VIEW IF NOT EXISTS _overall_part_query(
  profile,                -- TEXT     base or comparison
  part,                   -- TEXT     e2e, computing, fa_forward, fa_forward_cube, ... free_time, copy, free
  dur_ns,                 -- INTEGER  ns
  calls                   -- INTEGER  NULL: not counted
) AS
WITH kernel AS MATERIALIZED (
  SELECT profile, category, bucket, sum(dur_ns) AS dur_ns, sum(calls) AS calls
    FROM _overall_kernel
   GROUP BY profile, category, bucket
),
span AS MATERIALIZED (
  SELECT s.profile, coalesce(sum(o.computing_ns), 0) AS computing_ns,
         coalesce(sum(interval_length(interval_from_json(o.uncovered))), 0) AS uncovered_ns,
         coalesce(sum(o.e2e_ns), 0) AS e2e_ns
    FROM _compare_side AS s
    LEFT JOIN _overall_span AS o ON o.profile = s.profile
   GROUP BY s.profile
),
bare AS (                 -- LCCL kernels: device events of a text export, operations anywhere
  SELECT s.profile, t.dur_ns
    FROM _side_rank AS s
   CROSS JOIN prof_device_task AS t ON t.profile = s.profile AND t.rank IS s.rank
   WHERE s.family = 'text' AND t.name LIKE 'kernel_aivec' AND lower(t.name) = 'kernel_aivec'
     AND (s.step IS NULL OR t.start_ns BETWEEN s.step_start_ns AND s.step_end_ns)
  UNION ALL
  SELECT s.profile, c.dur_ns
    FROM _side_rank AS s
   CROSS JOIN prof_comm_op AS c ON c.profile = s.profile AND c.rank IS s.rank
   WHERE s.family <> 'gpu' AND lower(c.name) = 'kernel_aivec'
     AND (s.step IS NULL OR c.start_ns BETWEEN s.step_start_ns AND s.step_end_ns)
),
lccl AS MATERIALIZED (
  SELECT s.profile, coalesce(sum(b.dur_ns), 0) AS dur_ns, count(b.dur_ns) AS calls
    FROM _compare_side AS s
    LEFT JOIN bare AS b ON b.profile = s.profile
   GROUP BY s.profile
),
copy AS MATERIALIZED (
  SELECT s.profile, coalesce(sum(c.dur_ns), 0) AS dur_ns, count(c.dur_ns) AS calls
    FROM _compare_side AS s
    LEFT JOIN _side_copy AS c ON c.profile = s.profile
   GROUP BY s.profile
),
classified AS MATERIALIZED (
  SELECT s.profile, coalesce(sum(k.dur_ns), 0) AS dur_ns,
         coalesce(sum(k.calls) FILTER (WHERE k.category <> 'mc2'), 0) AS calls
    FROM _compare_side AS s
    LEFT JOIN kernel AS k ON k.profile = s.profile
   GROUP BY s.profile
)
SELECT profile, category || '_' || bucket, dur_ns, calls FROM kernel WHERE bucket IS NOT NULL
UNION ALL
SELECT profile, category, sum(dur_ns), sum(calls) FROM kernel GROUP BY profile, category
UNION ALL
SELECT o.profile, 'computing', o.computing_ns, c.calls
  FROM span AS o JOIN classified AS c ON c.profile = o.profile
UNION ALL
SELECT o.profile, 'other', max(0, o.computing_ns - c.dur_ns), NULL
  FROM span AS o JOIN classified AS c ON c.profile = o.profile
UNION ALL
SELECT profile, 'uncovered', uncovered_ns, NULL FROM span
UNION ALL
SELECT o.profile, 'free_time', o.e2e_ns - o.computing_ns - l.dur_ns - o.uncovered_ns, NULL
  FROM span AS o JOIN lccl AS l ON l.profile = o.profile
UNION ALL
SELECT profile, 'lccl', dur_ns, calls FROM lccl
UNION ALL
SELECT profile, 'copy', dur_ns, calls FROM copy
UNION ALL
SELECT o.profile, 'free', o.e2e_ns - o.computing_ns - l.dur_ns - o.uncovered_ns - c.dur_ns, NULL
  FROM span AS o JOIN lccl AS l ON l.profile = o.profile JOIN copy AS c ON c.profile = o.profile
UNION ALL
SELECT profile, 'e2e', e2e_ns, NULL FROM span;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._overall_part USING profana_memo(_overall_part_query);

-- _overall_group_row: the process groups of both profiles, paired.
--
-- First the names that one group of each side carries, and in each of its ranks no more than one; then base's other
-- groups with the comparison's of the same raw label; then what is left of the comparison. Ranks are added up.
CREATE TEMP VIEW IF NOT EXISTS _overall_group_row(
  place,                  -- INTEGER  orders the rows
  label,                  -- TEXT     tp: Communication; dp: Group 333 Communication; the raw label alone
  base_total_ns,          -- INTEGER  ns; NULL: no such group in base
  base_wait_ns,           -- INTEGER  ns
  comparison_total_ns,    -- INTEGER  ns; NULL: no such group in comparison
  comparison_wait_ns      -- INTEGER  ns
) AS
WITH carried AS (         -- by how many groups of a rank
  SELECT profile, name, count(DISTINCT label) AS groups
    FROM _overall_group
   WHERE name IS NOT NULL
   GROUP BY profile, rank, name
),
shared AS MATERIALIZED (
  SELECT name FROM carried GROUP BY name HAVING max(groups) = 1 AND count(DISTINCT profile) = 2
),
part AS MATERIALIZED (
  SELECT profile, name, min(place) AS place, sum(total_ns) AS total_ns, sum(wait_ns) AS wait_ns
    FROM _overall_group
   WHERE name IN (SELECT name FROM shared)
   GROUP BY profile, name
),
rest AS MATERIALIZED (
  SELECT profile, label, name, min(place) AS place, sum(total_ns) AS total_ns, sum(wait_ns) AS wait_ns
    FROM _overall_group
   WHERE name IS NULL OR name NOT IN (SELECT name FROM shared)
   GROUP BY profile, label, name
),
paired AS (
  SELECT 1 AS section, b.place, b.name || ': Communication' AS label,
         b.total_ns AS base_total_ns, b.wait_ns AS base_wait_ns, c.total_ns, c.wait_ns
    FROM part AS b
    JOIN part AS c ON c.name = b.name AND c.profile = 'comparison'
   WHERE b.profile = 'base'
  UNION ALL
  SELECT 2, b.place, coalesce(b.name || ': ', '') || b.label, b.total_ns, b.wait_ns, c.total_ns, c.wait_ns
    FROM rest AS b
    LEFT JOIN rest AS c ON c.label = b.label AND c.profile = 'comparison'
   WHERE b.profile = 'base'
  UNION ALL
  SELECT 3, c.place, coalesce(c.name || ': ', '') || c.label, NULL, NULL, c.total_ns, c.wait_ns
    FROM rest AS c
   WHERE c.profile = 'comparison' AND c.label NOT IN (SELECT label FROM rest WHERE profile = 'base')
)
SELECT row_number() OVER (ORDER BY section, place), label, base_total_ns, base_wait_ns, total_ns, wait_ns FROM paired;

-- overall_metrics: where does each profile's time go: computing, communication, free, end to end?
--
-- The rows of the compare tool's sheet, in its order, nested by level; a row that is zero on both sides is left
-- out. Classified parts are sums of durations, wholes are lengths of time, so concurrent kernels can make the
-- parts of Computing Time longer than the whole; Other fills up where they are shorter. Uncovered Communication
-- Time, Free Time, Computing Time and bare LCCL kernels (not shown) make E2E Time.
-- Compare sheet: OverallMetrics. No rows where a side has no end-to-end time.
CREATE TEMP VIEW IF NOT EXISTS overall_metrics(
  order_id,               -- INTEGER  position in the sheet
  level,                  -- INTEGER  0, 1 or 2: depth below the four wholes
  metric,                 -- TEXT     the row's name
  base_ns,                -- INTEGER  ns
  base_ratio,             -- REAL     share of base's E2E time
  base_calls,             -- INTEGER  kernels; NULL: not counted
  comparison_ns,          -- INTEGER  ns
  comparison_ratio,       -- REAL     share of comparison's E2E time
  comparison_calls,       -- INTEGER  NULL: not counted
  diff_ns,                -- INTEGER  ns, comparison - base
  diff_ratio,             -- REAL     comparison / base; Inf: none in base
  verdict                 -- TEXT     worse, better or same
) AS
WITH fixed(section, level, metric, part) AS (VALUES
  (1, 0, 'Computing Time', 'computing'),
  (3, 1, 'Flash Attention (Forward)', 'fa_forward'),
  (4, 2, 'Flash Attention (Forward) (Cube)', 'fa_forward_cube'),
  (5, 2, 'Flash Attention (Forward) (Vector)', 'fa_forward_vector'),
  (6, 1, 'Flash Attention (Backward)', 'fa_backward'),
  (7, 2, 'Flash Attention (Backward) (Cube)', 'fa_backward_cube'),
  (8, 2, 'Flash Attention (Backward) (Vector)', 'fa_backward_vector'),
  (9, 1, 'Conv (Forward)', 'conv_forward'),
  (10, 2, 'Conv (Forward) (Cube)', 'conv_forward_cube'),
  (11, 2, 'Conv (Forward) (Vector)', 'conv_forward_vector'),
  (12, 1, 'Conv (Backward)', 'conv_backward'),
  (13, 2, 'Conv (Backward) (Cube)', 'conv_backward_cube'),
  (14, 2, 'Conv (Backward) (Vector)', 'conv_backward_vector'),
  (15, 1, 'Matmul', 'matmul'),
  (16, 2, 'Matmul (Cube)', 'matmul_cube'),
  (17, 2, 'Matmul (Vector)', 'matmul_vector'),
  (18, 1, 'Page Attention', 'page_attention'),
  (19, 1, 'Vector', 'vector'),
  (20, 2, 'Vector (Trans)', 'vector_trans'),
  (21, 2, 'Vector (No Trans)', 'vector_no_trans'),
  (22, 1, 'Cube', 'cube'),
  (23, 1, 'SDMA (Tensor Move)', 'tensor_move'),
  (24, 1, 'Other', 'other'),
  (25, 0, 'Uncovered Communication Time', 'uncovered'),
  (29, 0, 'Free Time', 'free_time'),
  (30, 1, 'SDMA', 'copy'),
  (31, 1, 'Free', 'free'),
  (32, 0, 'E2E Time', 'e2e')
),
mc2 AS MATERIALIZED (
  SELECT name, max(place) FILTER (WHERE profile = 'base') AS base_place,
         max(place) FILTER (WHERE profile = 'comparison') AS comparison_place,
         max(dur_ns) FILTER (WHERE profile = 'base') AS base_ns,
         max(calls) FILTER (WHERE profile = 'base') AS base_calls,
         max(computing_ns) FILTER (WHERE profile = 'base') AS base_computing_ns,
         max(communication_ns) FILTER (WHERE profile = 'base') AS base_communication_ns,
         max(dur_ns) FILTER (WHERE profile = 'comparison') AS comparison_ns,
         max(calls) FILTER (WHERE profile = 'comparison') AS comparison_calls,
         max(computing_ns) FILTER (WHERE profile = 'comparison') AS comparison_computing_ns,
         max(communication_ns) FILTER (WHERE profile = 'comparison') AS comparison_communication_ns
    FROM _overall_mc2
   GROUP BY name
),
mc2_placed AS MATERIALIZED (
  SELECT *, row_number() OVER (ORDER BY base_place IS NULL, base_place, comparison_place) AS place FROM mc2
),
team AS MATERIALIZED (SELECT * FROM _overall_group_row),
pair_side AS MATERIALIZED (SELECT * FROM _overall_group_pair),
pair AS (                 -- equal names of a rank: the last one is shown, the sum has all
  SELECT pair, profile, min(first_place) AS first_place, sum(dur_ns) AS dur_ns
    FROM (SELECT pair, profile, min(place) OVER one_name AS first_place, dur_ns,
                 row_number() OVER (PARTITION BY pair, profile, rank ORDER BY place DESC) AS turn
            FROM pair_side
          WINDOW one_name AS (PARTITION BY pair, profile, rank))
   WHERE turn = 1
   GROUP BY pair, profile
),
line AS (
  SELECT f.section, 0 AS item, 0 AS sub, f.level, f.metric,
         coalesce(max(p.dur_ns) FILTER (WHERE p.profile = 'base'), 0) AS base_ns,
         CASE WHEN f.part IN ('copy', 'free', 'free_time', 'e2e', 'uncovered', 'other') THEN NULL
         ELSE coalesce(max(p.calls) FILTER (WHERE p.profile = 'base'), 0) END AS base_calls,
         coalesce(max(p.dur_ns) FILTER (WHERE p.profile = 'comparison'), 0) AS comparison_ns,
         CASE WHEN f.part IN ('copy', 'free', 'free_time', 'e2e', 'uncovered', 'other') THEN NULL
         ELSE coalesce(max(p.calls) FILTER (WHERE p.profile = 'comparison'), 0) END AS comparison_calls
    FROM fixed AS f
    LEFT JOIN _overall_part AS p ON p.part = f.part
   GROUP BY f.section
  UNION ALL
  SELECT 2, place, 0, 1, name, coalesce(base_ns, 0), base_calls, coalesce(comparison_ns, 0), comparison_calls
    FROM mc2_placed
  UNION ALL
  SELECT 2, place, 1, 2, 'Computing', coalesce(base_computing_ns, 0), NULL, coalesce(comparison_computing_ns, 0), NULL
    FROM mc2_placed
  UNION ALL
  SELECT 2, place, 2, 2, 'Communication', coalesce(base_communication_ns, 0), NULL,
         coalesce(comparison_communication_ns, 0), NULL
    FROM mc2_placed
  UNION ALL
  SELECT 26, place, 0, 1, label, coalesce(base_total_ns, 0), NULL, coalesce(comparison_total_ns, 0), NULL FROM team
  UNION ALL
  SELECT 26, place, 1, 2, 'Wait', coalesce(base_wait_ns, 0), NULL, coalesce(comparison_wait_ns, 0), NULL FROM team
  UNION ALL
  SELECT 26, place, 2, 2, 'Transmit', coalesce(base_total_ns - base_wait_ns, 0), NULL,
         coalesce(comparison_total_ns - comparison_wait_ns, 0), NULL
    FROM team
  UNION ALL
  SELECT 27, 0, 0, 1, 'Uncovered Communication Overlapped',
         coalesce(sum(dur_ns) FILTER (WHERE profile = 'base'), 0), NULL,
         coalesce(sum(dur_ns) FILTER (WHERE profile = 'comparison'), 0), NULL
    FROM pair_side
  UNION ALL
  SELECT 28, min(CASE profile WHEN 'base' THEN first_place ELSE 10000000000 + first_place END), 0, 2, pair,
         coalesce(max(dur_ns) FILTER (WHERE profile = 'base'), 0), NULL,
         coalesce(max(dur_ns) FILTER (WHERE profile = 'comparison'), 0), NULL
    FROM pair
   GROUP BY pair
),
whole AS MATERIALIZED (
  SELECT max(dur_ns) FILTER (WHERE profile = 'base') AS base_e2e_ns,
         max(dur_ns) FILTER (WHERE profile = 'comparison') AS comparison_e2e_ns
    FROM _overall_part
   WHERE part = 'e2e'
)
SELECT row_number() OVER (ORDER BY l.section, l.item, l.sub), l.level, l.metric,
       l.base_ns, l.base_ns * 1.0 / w.base_e2e_ns, l.base_calls,
       l.comparison_ns, l.comparison_ns * 1.0 / w.comparison_e2e_ns, l.comparison_calls,
       l.comparison_ns - l.base_ns, compare_ratio(l.base_ns, l.comparison_ns),
       compare_verdict(l.base_ns, l.comparison_ns)
  FROM line AS l
 CROSS JOIN whole AS w
 WHERE w.base_e2e_ns > 0 AND w.comparison_e2e_ns > 0 AND (l.base_ns <> 0 OR l.comparison_ns <> 0)
 ORDER BY 1;

-- overall_summary: the main times of each profile on one row, as the compare tool prints them.
--
-- Cube and vector time are sums of kernels: cube those of matrix products, fused communication kernels (not
-- counted) and other cube kernels, vector all others that nothing else claims. Bandwidths are those of the last
-- step in communication.json that has any.
CREATE TEMP VIEW IF NOT EXISTS overall_summary(
  profile,                -- TEXT     base or comparison
  device,                 -- TEXT     GPU or NPU
  hides_details,          -- INTEGER  1: a text export without pipe counters: nothing can be classified
  cube_ns,                -- INTEGER  ns
  cube_calls,             -- INTEGER
  vector_ns,              -- INTEGER  ns
  vector_calls,           -- INTEGER
  conv_forward_ns,        -- INTEGER  ns
  conv_forward_calls,     -- INTEGER
  conv_backward_ns,       -- INTEGER  ns
  conv_backward_calls,    -- INTEGER
  fa_forward_ns,          -- INTEGER  ns
  fa_forward_calls,       -- INTEGER
  fa_backward_ns,         -- INTEGER  ns
  fa_backward_calls,      -- INTEGER
  page_attention_ns,      -- INTEGER  ns
  page_attention_calls,   -- INTEGER
  lccl_ns,                -- INTEGER  ns
  lccl_calls,             -- INTEGER
  other_ns,               -- INTEGER  ns, computing that nothing classified
  computing_ns,           -- INTEGER  ns
  reserved_bytes,         -- INTEGER  bytes, most that was reserved at a time; NULL: not recorded
  uncovered_ns,           -- INTEGER  ns, communication that no computing covers
  wait_ns,                -- INTEGER  ns, waits within it
  rdma_gb_per_s,          -- REAL     10^9 byte/s; NULL: not recorded
  sdma_gb_per_s,          -- REAL     10^9 byte/s
  copy_ns,                -- INTEGER  ns, copies and tensor moves
  copy_calls,             -- INTEGER
  free_ns,                -- INTEGER  ns, copies included
  e2e_ns                  -- INTEGER  ns
) AS
WITH part AS MATERIALIZED (
  SELECT * FROM _overall_part
  UNION ALL
  SELECT profile, 'mc2_all', sum(dur_ns), NULL FROM _overall_mc2 GROUP BY profile
),
figure AS (
  SELECT profile,
         coalesce(sum(dur_ns) FILTER (WHERE part IN ('matmul', 'cube', 'mc2_all')), 0) AS cube_ns,
         coalesce(sum(calls) FILTER (WHERE part IN ('matmul', 'cube')), 0) AS cube_calls,
         coalesce(max(dur_ns) FILTER (WHERE part = 'vector'), 0) AS vector_ns,
         coalesce(max(calls) FILTER (WHERE part = 'vector'), 0) AS vector_calls,
         coalesce(max(dur_ns) FILTER (WHERE part = 'conv_forward'), 0) AS conv_forward_ns,
         coalesce(max(calls) FILTER (WHERE part = 'conv_forward'), 0) AS conv_forward_calls,
         coalesce(max(dur_ns) FILTER (WHERE part = 'conv_backward'), 0) AS conv_backward_ns,
         coalesce(max(calls) FILTER (WHERE part = 'conv_backward'), 0) AS conv_backward_calls,
         coalesce(max(dur_ns) FILTER (WHERE part = 'fa_forward'), 0) AS fa_forward_ns,
         coalesce(max(calls) FILTER (WHERE part = 'fa_forward'), 0) AS fa_forward_calls,
         coalesce(max(dur_ns) FILTER (WHERE part = 'fa_backward'), 0) AS fa_backward_ns,
         coalesce(max(calls) FILTER (WHERE part = 'fa_backward'), 0) AS fa_backward_calls,
         coalesce(max(dur_ns) FILTER (WHERE part = 'page_attention'), 0) AS page_attention_ns,
         coalesce(max(calls) FILTER (WHERE part = 'page_attention'), 0) AS page_attention_calls,
         max(dur_ns) FILTER (WHERE part = 'lccl') AS lccl_ns,
         max(calls) FILTER (WHERE part = 'lccl') AS lccl_calls,
         max(dur_ns) FILTER (WHERE part = 'other') AS other_ns,
         max(dur_ns) FILTER (WHERE part = 'computing') AS computing_ns,
         max(dur_ns) FILTER (WHERE part = 'uncovered') AS uncovered_ns,
         coalesce(sum(dur_ns) FILTER (WHERE part IN ('copy', 'tensor_move')), 0) AS copy_ns,
         coalesce(sum(calls) FILTER (WHERE part IN ('copy', 'tensor_move')), 0) AS copy_calls,
         max(dur_ns) FILTER (WHERE part = 'free_time') AS free_ns,
         max(dur_ns) FILTER (WHERE part = 'e2e') AS e2e_ns
    FROM part
   GROUP BY profile
),
memory AS (
  SELECT s.profile, max(m.reserved_bytes) AS reserved_bytes
    FROM _side_rank AS s
   CROSS JOIN prof_memory_usage AS m ON m.profile = s.profile AND m.rank IS s.rank
   WHERE (s.step IS NULL OR m.ts_ns BETWEEN s.step_start_ns AND s.step_end_ns)
     AND (s.family <> 'gpu' OR m.component IS NOT 'CPU')
   GROUP BY s.profile
),
wait AS (
  SELECT profile, sum(wait_ns) AS wait_ns FROM _overall_group GROUP BY profile
),
band AS (                 -- of the last step that has any
  SELECT b.profile, b.transport, b.transit_size_mb, b.transit_time_ms,
         b.step IS first_value(b.step) OVER (PARTITION BY b.profile ORDER BY b.id DESC) AS is_last
    FROM _compare_side AS s
   CROSS JOIN prof_comm_bandwidth AS b ON b.profile = s.profile
   WHERE b.type = 'collective' AND b.op_name = 'Total Op Info' AND (s.step IS NULL OR b.step = s.step)
),
bandwidth AS (
  SELECT profile,
         coalesce(max(transit_size_mb / nullif(transit_time_ms, 0)) FILTER (WHERE transport = 'RDMA'), 0) AS rdma,
         coalesce(max(transit_size_mb / nullif(transit_time_ms, 0)) FILTER (WHERE transport = 'SDMA'), 0) AS sdma
    FROM band
   WHERE is_last
   GROUP BY profile
)
SELECT f.profile, CASE s.family WHEN 'gpu' THEN 'GPU' ELSE 'NPU' END,
       s.family = 'text' AND NOT EXISTS (SELECT 1 FROM prof_kernel AS k
                                          WHERE k.profile = s.profile
                                            AND (k.mac_time_ns IS NOT NULL OR k.aiv_vec_time_ns IS NOT NULL)),
       f.cube_ns, f.cube_calls, f.vector_ns, f.vector_calls, f.conv_forward_ns, f.conv_forward_calls,
       f.conv_backward_ns, f.conv_backward_calls, f.fa_forward_ns, f.fa_forward_calls, f.fa_backward_ns,
       f.fa_backward_calls, f.page_attention_ns, f.page_attention_calls, f.lccl_ns, f.lccl_calls, f.other_ns,
       f.computing_ns, m.reserved_bytes, f.uncovered_ns, coalesce(w.wait_ns, 0), b.rdma, b.sdma,
       f.copy_ns, f.copy_calls, f.free_ns, f.e2e_ns
  FROM figure AS f
  JOIN _compare_side AS s ON s.profile = f.profile
  LEFT JOIN memory AS m ON m.profile = f.profile
  LEFT JOIN wait AS w ON w.profile = f.profile
  LEFT JOIN bandwidth AS b ON b.profile = f.profile
 ORDER BY f.profile;

-- _terminal_table: the table of overall times that the compare tool prints, the profiles side by side.
--
-- A figure that neither profile has is left out. Seconds, with the number of kernels in brackets; what a wait of
-- zero looks like is the compare tool's: a slash for base, 0.000s for the comparison.
CREATE TEMP VIEW IF NOT EXISTS _terminal_table(
  order_id,               -- INTEGER  position in the table
  metric,                 -- TEXT     Cube Time(Num), Computing Time, Mem Usage ...
  base,                   -- TEXT     0.029s(78)
  comparison              -- TEXT     as base
) AS
WITH side AS MATERIALIZED (
  SELECT *, max(hides_details) OVER () AS details_hidden FROM overall_summary
),
figure(place, metric, profile, shown, value) AS (
  SELECT 1, 'Device', profile, 1, device FROM side
  UNION ALL
  SELECT 2, 'Cube Time(Num)', profile, NOT details_hidden, printf('%ss(%d)', fixed(cube_ns / 1e9, 3), cube_calls)
    FROM side
  UNION ALL
  SELECT 3, 'Vector Time(Num)', profile, NOT details_hidden,
         printf('%ss(%d)', fixed(vector_ns / 1e9, 3), vector_calls)
    FROM side
  UNION ALL
  SELECT 4, 'Conv Time(Forward)(Num)', profile, conv_forward_ns <> 0,
         printf('%ss(%d)', fixed(conv_forward_ns / 1e9, 3), conv_forward_calls)
    FROM side
  UNION ALL
  SELECT 5, 'Conv Time(Backward)(Num)', profile, conv_backward_ns <> 0,
         printf('%ss(%d)', fixed(conv_backward_ns / 1e9, 3), conv_backward_calls)
    FROM side
  UNION ALL
  SELECT 6, 'Flash Attention Time(Forward)(Num)', profile, fa_forward_ns <> 0,
         printf('%ss(%d)', fixed(fa_forward_ns / 1e9, 3), fa_forward_calls)
    FROM side
  UNION ALL
  SELECT 7, 'Flash Attention Time(Backward)(Num)', profile, fa_backward_ns <> 0,
         printf('%ss(%d)', fixed(fa_backward_ns / 1e9, 3), fa_backward_calls)
    FROM side
  UNION ALL
  SELECT 8, 'Paged Attention Time(Num)', profile, page_attention_ns <> 0,
         printf('%ss(%d)', fixed(page_attention_ns / 1e9, 3), page_attention_calls)
    FROM side
  UNION ALL
  SELECT 9, 'Lccl Time(Num)', profile, lccl_ns <> 0, printf('%ss(%d)', fixed(lccl_ns / 1e9, 3), lccl_calls) FROM side
  UNION ALL
  SELECT 10, 'Other Time', profile, device = 'NPU' AND other_ns <> 0,
         CASE device WHEN 'GPU' THEN '0.000s' ELSE fixed(other_ns / 1e9, 3) || 's' END
    FROM side
  UNION ALL
  SELECT 11, 'Computing Time', profile, 1, fixed(computing_ns / 1e9, 3) || 's' FROM side
  UNION ALL
  SELECT 12, 'Mem Usage', profile, coalesce(reserved_bytes, 0) <> 0,
         fixed(coalesce(reserved_bytes, 0) / 1073741824.0, 2) || 'G'
    FROM side
  UNION ALL
  SELECT 13, 'Uncovered Communication Time(Wait Time)', profile, 1,
         printf('%ss(%s)', fixed(uncovered_ns / 1e9, 3),
                CASE WHEN profile = 'base' AND wait_ns = 0 THEN ' / ' ELSE fixed(wait_ns / 1e9, 3) || 's' END)
    FROM side
  UNION ALL
  SELECT 14, 'RDMA Bandwidth', profile, coalesce(rdma_gb_per_s, 0) <> 0,
         fixed(coalesce(rdma_gb_per_s, 0), 3) || 'GB/s'
    FROM side
  UNION ALL
  SELECT 15, 'SDMA Bandwidth', profile, coalesce(sdma_gb_per_s, 0) <> 0,
         fixed(coalesce(sdma_gb_per_s, 0), 3) || 'GB/s'
    FROM side
  UNION ALL
  SELECT 16, 'SDMA Time(Num)', profile, copy_ns <> 0, printf('%ss(%d)', fixed(copy_ns / 1e9, 3), copy_calls) FROM side
  UNION ALL
  SELECT 17, 'Free Time', profile, 1, fixed(free_ns / 1e9, 3) || 's' FROM side
  UNION ALL
  SELECT 18, 'E2E Time', profile, 1, fixed(e2e_ns / 1e9, 3) || 's' FROM side
)
SELECT place, CASE WHEN metric = 'E2E Time' AND (SELECT max(device) FROM side) = 'NPU'
                   THEN 'E2E Time(Not minimal profiling)' ELSE metric END,
       max(value) FILTER (WHERE profile = 'base'),
       max(value) FILTER (WHERE profile = 'comparison')
  FROM figure
 GROUP BY place
HAVING max(shown) = 1
 ORDER BY place;
