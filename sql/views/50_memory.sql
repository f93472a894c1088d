-- Operators of two profiles by the device memory that they ask for.

-- _op_block: which blocks of memory does each listed operator ask for?
--
-- A block belongs to the operator that runs when the host asks for it, by the compare tool's tree, and so to the
-- listed operator above it. It carries the name that the file gives to blocks of the graph engine (cann::...),
-- else that of the operator it hangs on.
CREATE TEMP VIEW IF NOT EXISTS _op_block(
  profile,                -- TEXT     base or comparison
  family,                 -- TEXT     text, db or gpu
  shown_id,               -- INTEGER  prof_host_op.id of the listed operator
  depth,                  -- INTEGER  of the operator that asks
  op_start_ns,            -- INTEGER  ns, its start
  op_id,                  -- INTEGER  prof_host_op.id of it
  id,                     -- INTEGER  prof_memory_alloc.id
  name,                   -- TEXT     of the block
  attach_ns,              -- INTEGER  ns, when the host asked
  alloc_ns,               -- INTEGER  ns
  release_ns,             -- INTEGER  ns; NULL: not released
  dur_ns,                 -- INTEGER  ns; NULL: not released
  size_bytes              -- INTEGER  bytes
) AS
SELECT a.profile, s.family, o.shown_id, o.depth, o.start_ns, o.id, a.id,
       CASE WHEN a.name LIKE '%cann::%' THEN a.name ELSE o.name END,
       a.attach_ns, a.alloc_ns, a.release_ns, a.dur_ns, a.size_bytes
  FROM _compare_side AS s
 CROSS JOIN prof_memory_alloc AS a ON a.profile = s.profile
  JOIN _op_owner AS o ON o.profile = a.profile AND o.id = a.host_op_id
 WHERE a.alloc_ns IS NOT NULL;

-- _op_memory_query: how much memory does each listed operator ask for?
--
-- Its own blocks and those of all operators below it: its own first, then level by level. The texts show the
-- file's own times.
CREATE TEMP VIEW IF NOT EXISTS _op_memory_query(
  profile,                -- TEXT     base or comparison
  shown_id,               -- INTEGER  prof_host_op.id of the listed operator
  size_bytes,             -- INTEGER  bytes
  held_ns,                -- INTEGER  ns, sum over released blocks from allocation to release; NULL: none released
  blocks                  -- TEXT     the lines of the detail sheet
) AS
WITH clock AS MATERIALIZED (
  SELECT alias AS profile, min(time_base_ns) AS base_ns FROM prof_source WHERE alias IN ('base', 'comparison') GROUP BY alias
)
SELECT b.profile, b.shown_id, sum(b.size_bytes), sum(b.dur_ns),
       ordered_concat(b.name || ', (' || format_us(b.alloc_ns - t.base_ns) || ', '
                      || coalesce(format_us(b.release_ns - t.base_ns), CASE b.family WHEN 'gpu' THEN 'None' ELSE '0' END)
                      || '), [duration: ' || repr_real(coalesce(b.dur_ns, 0) / 1e3) || '], [size: '
                      || repr_real(b.size_bytes / 1024.0) || ']' || char(10),
                      '', b.depth, b.op_start_ns, b.op_id, b.attach_ns, b.id)
  FROM clock AS t
  JOIN _op_block AS b ON b.profile = t.profile
 GROUP BY b.shown_id, b.profile;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._op_memory USING profana_memo(_op_memory_query, blocks);

-- memory_compare: which operator, call by call, asks for more device memory?
--
-- The pairs of operator_compare; memory is that of the operator and of all operators below it, whether released
-- in the profile or not. Each line of the block texts is one block.
-- Compare sheet: MemoryCompare.
CREATE TEMP VIEW IF NOT EXISTS memory_compare(
  order_id,               -- INTEGER  position in the sheet
  base_name,              -- TEXT     operator; NULL: only in comparison
  base_input_shapes,      -- TEXT     dims by ',', tensors by ';\r\n'; GPU: JSON array; NULL unknown
  base_input_types,       -- TEXT     as base_input_shapes
  base_blocks,            -- TEXT     lines: name, (allocated us, released us), [duration: us], [size: KB]
  base_size_bytes,        -- INTEGER  bytes, sum over the blocks; NULL: only in comparison
  comparison_name,        -- TEXT     operator; NULL: only in base
  comparison_input_shapes,  -- TEXT   as base_input_shapes
  comparison_input_types, -- TEXT     as base_input_shapes
  comparison_blocks,      -- TEXT     as base_blocks
  comparison_size_bytes,  -- INTEGER  bytes; NULL: only in base
  diff_size_bytes,        -- INTEGER  bytes, comparison - base
  size_ratio,             -- REAL     comparison / base; Inf: no memory in base
  verdict                 -- TEXT     worse, better, same, base only, comparison only
) AS
SELECT p.rowid, b.name, b.input_shapes, b.input_types, bb.blocks,
       CASE WHEN b.id IS NOT NULL THEN coalesce(bb.size_bytes, 0) END,
       c.name, c.input_shapes, c.input_types, cb.blocks,
       CASE WHEN c.id IS NOT NULL THEN coalesce(cb.size_bytes, 0) END,
       coalesce(cb.size_bytes, 0) - coalesce(bb.size_bytes, 0),
       compare_ratio(bb.size_bytes, cb.size_bytes),
       compare_verdict(CASE WHEN b.id IS NOT NULL THEN coalesce(bb.size_bytes, 0) END,
                       CASE WHEN c.id IS NOT NULL THEN coalesce(cb.size_bytes, 0) END)
  FROM _op_pair AS p
  LEFT JOIN prof_host_op AS b ON b.profile = 'base' AND b.id = p.base_id
  LEFT JOIN prof_host_op AS c ON c.profile = 'comparison' AND c.id = p.comparison_id
  LEFT JOIN _op_memory AS bb ON bb.profile = 'base' AND bb.shown_id = p.base_id
  LEFT JOIN _op_memory AS cb ON cb.profile = 'comparison' AND cb.shown_id = p.comparison_id
 ORDER BY p.rowid;

-- memory_compare_statistic: which operators, by name, ask for more device memory in all?
--
-- A row for each name of either side, also those that ask for none, largest difference first.
-- Compare sheet: MemoryCompareStatistic.
CREATE TEMP VIEW IF NOT EXISTS memory_compare_statistic(
  order_id,               -- INTEGER  position in the sheet
  name,                   -- TEXT     operator
  base_held_ns,           -- INTEGER  ns, sum over released blocks from allocation to release; NULL: not in base
  base_size_bytes,        -- INTEGER  bytes, sum; NULL: not in base
  base_calls,             -- INTEGER  operators of that name; NULL: not in base
  base_median_bytes,      -- REAL     bytes of a single operator
  base_spread_bytes,      -- REAL     bytes, between the quartiles of the single operators
  comparison_held_ns,     -- INTEGER  ns; NULL: not in comparison
  comparison_size_bytes,  -- INTEGER  bytes; NULL: not in comparison
  comparison_calls,       -- INTEGER  NULL: not in comparison
  comparison_median_bytes,  -- REAL   bytes
  comparison_spread_bytes,  -- REAL   bytes
  diff_size_bytes,        -- INTEGER  bytes, comparison - base
  size_ratio,             -- REAL     comparison / base; Inf: no memory in base
  noise,                  -- INTEGER  1: the medians differ by no more than the larger spread; NULL: one side only
  verdict                 -- TEXT     worse, better, same, base only, comparison only
) AS
WITH side AS (
  SELECT o.profile, o.name, sum(coalesce(b.size_bytes, 0)) AS size_bytes, sum(coalesce(b.held_ns, 0)) AS held_ns,
         count(*) AS calls, quantile(coalesce(b.size_bytes, 0), 0.5) AS median_bytes,
         quantile(coalesce(b.size_bytes, 0), 0.75) - quantile(coalesce(b.size_bytes, 0), 0.25) AS spread_bytes,
         min(o.start_ns) AS first_ns, o.id AS first_id
    FROM _shown_op AS o
    LEFT JOIN _op_memory AS b ON b.profile = o.profile AND b.shown_id = o.id
   GROUP BY o.profile, o.name
),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY profile ORDER BY first_ns, first_id) AS place FROM side
),
paired AS (
  SELECT name,
         max(place) FILTER (WHERE profile = 'base') AS base_place,
         max(held_ns) FILTER (WHERE profile = 'base') AS base_held_ns,
         max(size_bytes) FILTER (WHERE profile = 'base') AS base_size_bytes,
         max(calls) FILTER (WHERE profile = 'base') AS base_calls,
         max(median_bytes) FILTER (WHERE profile = 'base') AS base_median_bytes,
         max(spread_bytes) FILTER (WHERE profile = 'base') AS base_spread_bytes,
         max(place) FILTER (WHERE profile = 'comparison') AS comparison_place,
         max(held_ns) FILTER (WHERE profile = 'comparison') AS comparison_held_ns,
         max(size_bytes) FILTER (WHERE profile = 'comparison') AS comparison_size_bytes,
         max(calls) FILTER (WHERE profile = 'comparison') AS comparison_calls,
         max(median_bytes) FILTER (WHERE profile = 'comparison') AS comparison_median_bytes,
         max(spread_bytes) FILTER (WHERE profile = 'comparison') AS comparison_spread_bytes
    FROM placed
   GROUP BY name
),
differing AS (
  SELECT *, coalesce(comparison_size_bytes, 0) - coalesce(base_size_bytes, 0) AS diff_size_bytes FROM paired
)
SELECT row_number() OVER (ORDER BY round_even(diff_size_bytes / 1048576.0, 2) DESC, base_place IS NULL, base_place,
                          comparison_place),
       name, base_held_ns, base_size_bytes, base_calls, base_median_bytes, base_spread_bytes,
       comparison_held_ns, comparison_size_bytes, comparison_calls, comparison_median_bytes, comparison_spread_bytes,
       diff_size_bytes, compare_ratio(base_size_bytes, comparison_size_bytes),
       abs(comparison_median_bytes - base_median_bytes) <= max(base_spread_bytes, comparison_spread_bytes),
       compare_verdict(base_size_bytes, comparison_size_bytes)
  FROM differing
 ORDER BY 1;
