-- Operators of two profiles by the device memory that they ask for.

-- _op_block: which blocks of memory does each operator ask for?
--
-- A block belongs to the operator that runs when the host asks for it, by the compare tool's tree. It carries the name
-- that the file gives to blocks of the graph engine (cann::...), else that of the operator. The line of the detail
-- sheet shows the file's own times.
CREATE TEMP VIEW IF NOT EXISTS _op_block(
  profile,                -- TEXT     base or comparison
  op_id,                  -- INTEGER  prof_host_op.id of the operator
  root_id,                -- INTEGER  its top-level operator
  depth,                  -- INTEGER  its depth in the tree
  op_start_ns,            -- INTEGER  ns, its start
  id,                     -- INTEGER  prof_memory_alloc.id
  attach_ns,              -- INTEGER  ns, when the host asked
  dur_ns,                 -- INTEGER  ns; NULL: not released
  size_bytes,             -- INTEGER  bytes
  text                    -- TEXT     the line of the detail sheet, with its end
) AS
WITH block AS (
  SELECT o.profile, o.id AS op_id, o.root_id, o.depth, o.start_ns, a.id, a.attach_ns, a.dur_ns, a.size_bytes,
         CASE WHEN instr(a.name, 'cann::') > 0 THEN a.name ELSE o.name END AS name, a.alloc_ns, a.release_ns,
         iif(o.profile = 'base', (SELECT min(time_base_ns) FROM prof_source WHERE alias = 'base'),
             (SELECT min(time_base_ns) FROM prof_source WHERE alias = 'comparison')) AS base_ns
    FROM prof_host_op AS o
   CROSS JOIN prof_memory_alloc AS a ON a.profile = o.profile AND a.rank IS o.rank AND a.host_op_id = o.id
   WHERE o.profile IN ('base', 'comparison') AND o.root_id IS NOT NULL AND a.alloc_ns IS NOT NULL
)
SELECT profile, op_id, root_id, depth, start_ns, id, attach_ns, dur_ns, size_bytes,
       python_format('{}, ({}, {}), [duration: {}], [size: {}]' || char(10), name, format_us(alloc_ns - base_ns),
                     coalesce(format_us(release_ns - base_ns),
                              CASE (SELECT s.family FROM _compare_side AS s WHERE s.profile = b.profile)
                              WHEN 'gpu' THEN 'None' ELSE '0' END),
                     coalesce(dur_ns, 0) / 1e3, size_bytes / 1024.0)
  FROM block AS b;

-- _op_memory_query: how much memory does each listed operator ask for?
--
-- Its own blocks and those of all operators below it: its own first, then level by level.
CREATE TEMP VIEW IF NOT EXISTS _op_memory_query(
  profile,                -- TEXT     base or comparison
  shown_id,               -- INTEGER  prof_host_op.id of the listed operator
  size_bytes,             -- INTEGER  bytes
  held_ns,                -- INTEGER  ns, sum over released blocks from allocation to release; NULL: none released
  blocks                  -- TEXT     the lines of the detail sheet
) AS
SELECT profile, root_id, sum(size_bytes), sum(dur_ns), ordered_concat(text, '', depth, op_start_ns, op_id, attach_ns, id)
  FROM _op_block
 WHERE (SELECT max_kernel_num FROM _compare_setting) = 0
 GROUP BY profile, root_id
 UNION ALL
SELECT b.profile, o.shown_id, sum(b.size_bytes), sum(b.dur_ns),
       ordered_concat(b.text, '', b.depth, b.op_start_ns, b.op_id, b.attach_ns, b.id)
  FROM _op_owner AS o
 CROSS JOIN _op_block AS b ON b.profile = o.profile AND b.op_id = o.id
 GROUP BY b.profile, o.shown_id;

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
