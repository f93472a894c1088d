-- Modules of two profiles by the time that the device works for them.

-- _module_pair_query: which calls of the two profiles belong together?
--
-- The outermost calls of each tree against each other, then the calls inside each pair, by the longest common
-- blocks of their names. What has no partner, and all inside it, stands alone.
CREATE TEMP VIEW IF NOT EXISTS _module_pair_query(
  tree,                   -- TEXT     forward or backward
  base_id,                -- INTEGER  id of the call in base
  comparison_id           -- INTEGER  id of the call in comparison
) AS
WITH RECURSIVE setting AS MATERIALIZED (SELECT match FROM _compare_setting),
call AS MATERIALIZED (    -- the outermost stand within call -1 of the first rank, -2 of the second ...
  SELECT tree, profile, id, full_name, start_ns,
         coalesce(parent_id, -dense_rank() OVER (PARTITION BY profile ORDER BY rank)) AS parent_id
    FROM _module_time
),
pair(tree, base_id, comparison_id) AS (
  SELECT DISTINCT tree, parent_id, parent_id FROM call WHERE profile = 'base' AND parent_id < 0
  UNION ALL
  SELECT p.tree, q.base_id, q.comparison_id
    FROM pair AS p
   CROSS JOIN setting AS g
   CROSS JOIN sequence_match((SELECT sequence_agg(c.full_name, c.id, c.start_ns, c.id) FROM call AS c
                               WHERE c.profile = 'base' AND c.tree = p.tree AND c.parent_id = p.base_id),
                             (SELECT sequence_agg(c.full_name, c.id, c.start_ns, c.id) FROM call AS c
                               WHERE c.profile = 'comparison' AND c.tree = p.tree AND c.parent_id = p.comparison_id),
                             g.match) AS q
   WHERE q.base_id IS NOT NULL AND q.comparison_id IS NOT NULL
)
SELECT tree, base_id, comparison_id FROM pair WHERE base_id > 0;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._module_pair USING profana_memo(_module_pair_query);

-- _module_row_query: the rows of module_compare, to be kept in its order.
--
-- A row for each pair of calls in order of base's start, forward and backward together; calls that only the
-- comparison has stand before the first pair whose partner starts later. Below each, a row for each pair of
-- operators that the call makes itself. Rowids of the kept rows count them.
CREATE TEMP VIEW IF NOT EXISTS _module_row_query(
  place,                  -- INTEGER  orders the calls
  ordinal,                -- INTEGER  orders the operators of a call; 0: the call as a whole
  tree,                   -- TEXT     forward or backward
  base_id,                -- INTEGER  id of the call in base; NULL: only in comparison
  comparison_id,          -- INTEGER  id of the call in comparison; NULL: only in base
  is_total,               -- INTEGER  1: the call as a whole; 0: one of its operators
  base_op_id,             -- INTEGER  prof_host_op.id; NULL: the whole, or only in comparison
  comparison_op_id        -- INTEGER  prof_host_op.id; NULL: the whole, or only in base
) AS
WITH based AS (           -- base's calls; the latest partner so far says where lone calls go
  SELECT b.place, b.id AS base_id, p.comparison_id, b.tree,
         max(coalesce(c.start_ns, -9223372036854775807)) OVER (ORDER BY b.place ROWS UNBOUNDED PRECEDING) AS partner_ns
    FROM _module_time AS b
    LEFT JOIN _module_pair AS p ON p.tree = b.tree AND p.base_id = b.id
    LEFT JOIN _module_time AS c ON c.profile = 'comparison' AND c.tree = b.tree AND c.id = p.comparison_id
   WHERE b.profile = 'base'
),
listed AS (
  SELECT partner_ns, 0 AS lone, place, tree, base_id, comparison_id FROM based
  UNION ALL
  SELECT c.start_ns, 1, c.place, c.tree, NULL, c.id
    FROM _module_time AS c
   WHERE c.profile = 'comparison'
     AND NOT EXISTS (SELECT 1 FROM _module_pair AS p WHERE p.tree = c.tree AND p.comparison_id = c.id)
),
row AS MATERIALIZED (
  SELECT row_number() OVER (ORDER BY partner_ns, lone, place) AS place, tree, base_id, comparison_id FROM listed
)
SELECT place, 0, tree, base_id, comparison_id, 1, NULL, NULL
  FROM row
 UNION ALL
SELECT r.place, q.ordinal, r.tree, r.base_id, r.comparison_id, 0, q.base_id, q.comparison_id
  FROM _compare_setting AS g
 CROSS JOIN row AS r
 CROSS JOIN sequence_match((SELECT sequence_agg(o.name, o.id, o.start_ns, o.id) FROM _module_op AS o
                             WHERE o.profile = 'base' AND o.tree = r.tree AND o.module_id = r.base_id),
                           (SELECT sequence_agg(o.name, o.id, o.start_ns, o.id) FROM _module_op AS o
                             WHERE o.profile = 'comparison' AND o.tree = r.tree AND o.module_id = r.comparison_id),
                           g.match) AS q;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._module_row
 USING profana_memo(_module_row_query, ORDER BY place, ordinal);

-- module_compare: which call of which module, and which of its operators, makes the device work longer?
--
-- A row for each pair of calls in order of base's start, forward and backward together; calls that only the
-- comparison has stand before the first pair whose partner starts later. Below each, a row for each pair of
-- operators that the call makes itself. Ratio and verdict of an operator's row are those of its own time.
-- Compare sheet: ModuleCompare. No rows where a side has no nn.Module calls (with_stack, with_modules).
CREATE TEMP VIEW IF NOT EXISTS module_compare(
  order_id,               -- INTEGER  position in the sheet
  module_class,           -- TEXT     nn.Module: Linear
  module_level,           -- INTEGER  2: called by no other module
  module_name,            -- TEXT     / Net_0/ Linear_0
  is_total,               -- INTEGER  1: the call as a whole; 0: one of its operators
  base_operator,          -- TEXT     operator; NULL: the whole, or only in comparison
  base_kernels,           -- TEXT     lines as operator_compare.base_kernels
  base_self_ns,           -- INTEGER  ns, device work of the call without calls inside, or of the operator;
                          --          NULL: only in comparison
  base_total_ns,          -- INTEGER  ns, with the calls inside; NULL: an operator
  comparison_operator,    -- TEXT     as base_operator
  comparison_kernels,     -- TEXT     as base_kernels
  comparison_self_ns,     -- INTEGER  ns; NULL: only in base
  comparison_total_ns,    -- INTEGER  ns; NULL: an operator
  diff_total_ns,          -- INTEGER  ns, comparison - base; NULL: an operator
  diff_self_ns,           -- INTEGER  ns, comparison - base
  time_ratio,             -- REAL     comparison / base, of the totals; of an operator of its own time
  base_call_stack,        -- TEXT     functions around the call by ';\n'; of a slower operator its own stack
  comparison_call_stack,  -- TEXT     as base_call_stack
  verdict                 -- TEXT     worse, better, same, base only, comparison only
) AS
WITH shown AS (
  SELECT r.rowid AS order_id, r.is_total, r.base_op_id, r.comparison_op_id,
         coalesce(b.class, c.class) AS class, coalesce(b.depth, c.depth) + 2 AS level,
         coalesce(b.full_name, c.full_name) AS full_name, bo.name AS base_operator, bo.kernels AS base_kernels,
         CASE WHEN r.is_total THEN b.self_ns ELSE bo.self_ns END AS base_self_ns,
         CASE WHEN r.is_total THEN b.total_ns END AS base_total_ns, b.call_stack AS base_call_stack,
         co.name AS comparison_operator, co.kernels AS comparison_kernels,
         CASE WHEN r.is_total THEN c.self_ns ELSE co.self_ns END AS comparison_self_ns,
         CASE WHEN r.is_total THEN c.total_ns END AS comparison_total_ns, c.call_stack AS comparison_call_stack
    FROM _module_row AS r
    LEFT JOIN _module_time AS b ON b.profile = 'base' AND b.tree = r.tree AND b.id = r.base_id
    LEFT JOIN _module_time AS c ON c.profile = 'comparison' AND c.tree = r.tree AND c.id = r.comparison_id
    LEFT JOIN _module_op_time AS bo ON bo.profile = 'base' AND bo.id = r.base_op_id
    LEFT JOIN _module_op_time AS co ON co.profile = 'comparison' AND co.id = r.comparison_op_id
)
SELECT order_id, class, level, replace(full_name, 'nn.Module:', ''), is_total,
       base_operator, base_kernels, base_self_ns, base_total_ns,
       comparison_operator, comparison_kernels, comparison_self_ns, comparison_total_ns,
       CASE WHEN is_total THEN coalesce(comparison_total_ns, 0) - coalesce(base_total_ns, 0) END,
       coalesce(comparison_self_ns, 0) - coalesce(base_self_ns, 0),
       CASE WHEN is_total THEN compare_ratio(base_total_ns, comparison_total_ns)
       ELSE compare_ratio(base_self_ns, comparison_self_ns) END,
       CASE WHEN is_total THEN base_call_stack
            WHEN base_op_id IS NOT NULL
                 AND round_even((coalesce(comparison_self_ns, 0) - coalesce(base_self_ns, 0)) / 1e3, 2) > 0
              THEN coalesce((SELECT h.call_stack FROM prof_host_op AS h
                              WHERE h.profile = 'base' AND h.id = base_op_id), 'N/A') END,
       CASE WHEN is_total THEN comparison_call_stack
            WHEN comparison_op_id IS NOT NULL
                 AND round_even((coalesce(comparison_self_ns, 0) - coalesce(base_self_ns, 0)) / 1e3, 2) > 0
              THEN coalesce((SELECT h.call_stack FROM prof_host_op AS h
                              WHERE h.profile = 'comparison' AND h.id = comparison_op_id), 'N/A') END,
       CASE WHEN is_total THEN compare_verdict(base_total_ns, comparison_total_ns)
       ELSE compare_verdict(base_self_ns, comparison_self_ns) END
  FROM shown
 ORDER BY order_id;

-- module_compare_statistic: which modules, by name, make the device work longer in all?
--
-- A row for each full name of either side, in order of base's first call, then of the comparison's; below it a
-- row for each operator that the module calls itself. Ratio and verdict of an operator's row are those of its
-- own time.
-- Compare sheet: ModuleCompareStatistic. No rows where a side has no nn.Module calls.
CREATE TEMP VIEW IF NOT EXISTS module_compare_statistic(
  order_id,               -- INTEGER  position in the sheet
  module_class,           -- TEXT     nn.Module: Linear
  module_level,           -- INTEGER  1: called by no other module
  module_name,            -- TEXT     / Net_0/ Linear_0
  operator,               -- TEXT     operator; NULL: the module as a whole
  base_kernels,           -- TEXT     lines: name, [number: n], [duration_ms: ms]
  base_self_ns,           -- INTEGER  ns, device work without modules inside; NULL: not in base
  base_calls,             -- INTEGER  calls of the module or the operator; NULL: not in base
  base_total_ns,          -- INTEGER  ns, with the modules inside; NULL: an operator, or not in base
  base_median_ns,         -- REAL     ns, total of a single call; of an operator its device time
  base_spread_ns,         -- REAL     ns, between the quartiles of the single calls
  comparison_kernels,     -- TEXT     as base_kernels
  comparison_self_ns,     -- INTEGER  ns; NULL: not in comparison
  comparison_calls,       -- INTEGER  NULL: not in comparison
  comparison_total_ns,    -- INTEGER  ns
  comparison_median_ns,   -- REAL     ns
  comparison_spread_ns,   -- REAL     ns
  diff_total_ns,          -- INTEGER  ns, comparison - base; NULL: an operator
  diff_self_ns,           -- INTEGER  ns, comparison - base
  time_ratio,             -- REAL     comparison / base, of the totals; of an operator of its own time
  base_call_stack,        -- TEXT     of the first call, functions by ';\n'; NULL: an operator
  comparison_call_stack,  -- TEXT     as base_call_stack
  noise,                  -- INTEGER  1: the medians differ by no more than the larger spread; NULL: one side only
  verdict                 -- TEXT     worse, better, same, base only, comparison only
) AS
WITH kernel AS (          -- kernels alike of one operator name
  SELECT o.profile, o.first_place, o.name AS operator, l.name, count(*) AS calls, sum(w.dur_ns) AS dur_ns,
         min(o.place) AS place, o.start_ns, w.launch_ns, w.launch_id
    FROM (SELECT * FROM _module_op_time ORDER BY place, start_ns, id) AS o
    JOIN _module_op_work AS w ON w.profile = o.profile AND w.op_id = o.id
    JOIN _op_launch AS l ON l.profile = w.profile AND l.id = w.launch_id
   GROUP BY o.first_place, o.name, l.name, o.profile
),
text AS MATERIALIZED (
  SELECT profile, first_place, operator,
         ordered_concat(python_format('{}, [number: {}], [duration_ms: {}]' || char(10), name, calls, fixed(dur_ns / 1e6, 3)),
                        '', place, start_ns, launch_ns, launch_id) AS kernels
    FROM kernel
   GROUP BY first_place, operator, profile
),
side AS (
  SELECT profile, first_place, full_name, NULL AS operator, class, min(place) AS place, 0 AS item_ns, 0 AS item_id,
         sum(self_ns) AS self_ns, count(*) AS calls, sum(total_ns) AS total_ns, quantile(total_ns, 0.5) AS median_ns,
         quantile(total_ns, 0.75) - quantile(total_ns, 0.25) AS spread_ns, call_stack
    FROM _module_time
   GROUP BY profile, first_place
  UNION ALL
  SELECT o.profile, o.first_place, m.full_name, o.name, NULL, o.place, o.item_ns, o.item_id, o.self_ns, o.calls, NULL,
         o.median_ns, o.spread_ns, NULL
    FROM (SELECT profile, first_place, name, min(place) AS place, min(start_ns) AS item_ns, min(id) AS item_id,
                 sum(self_ns) AS self_ns, count(*) AS calls, quantile(self_ns, 0.5) AS median_ns,
                 quantile(self_ns, 0.75) - quantile(self_ns, 0.25) AS spread_ns
            FROM _module_op_time
           GROUP BY profile, first_place, name) AS o
    JOIN _module_time AS m ON m.profile = o.profile AND m.place = o.first_place
),
placed AS (
  SELECT s.*, t.kernels,
         row_number() OVER (PARTITION BY s.profile ORDER BY s.operator IS NOT NULL, s.place, s.item_ns, s.item_id) AS turn
    FROM side AS s
    LEFT JOIN text AS t ON t.profile = s.profile AND t.first_place = s.first_place AND t.operator = s.operator
),
paired AS (
  SELECT full_name, operator, max(class) AS class,
         max(turn) FILTER (WHERE profile = 'base') AS base_turn,
         max(kernels) FILTER (WHERE profile = 'base') AS base_kernels,
         max(self_ns) FILTER (WHERE profile = 'base') AS base_self_ns,
         max(calls) FILTER (WHERE profile = 'base') AS base_calls,
         max(total_ns) FILTER (WHERE profile = 'base') AS base_total_ns,
         max(median_ns) FILTER (WHERE profile = 'base') AS base_median_ns,
         max(spread_ns) FILTER (WHERE profile = 'base') AS base_spread_ns,
         max(call_stack) FILTER (WHERE profile = 'base') AS base_call_stack,
         max(turn) FILTER (WHERE profile = 'comparison') AS comparison_turn,
         max(kernels) FILTER (WHERE profile = 'comparison') AS comparison_kernels,
         max(self_ns) FILTER (WHERE profile = 'comparison') AS comparison_self_ns,
         max(calls) FILTER (WHERE profile = 'comparison') AS comparison_calls,
         max(total_ns) FILTER (WHERE profile = 'comparison') AS comparison_total_ns,
         max(median_ns) FILTER (WHERE profile = 'comparison') AS comparison_median_ns,
         max(spread_ns) FILTER (WHERE profile = 'comparison') AS comparison_spread_ns,
         max(call_stack) FILTER (WHERE profile = 'comparison') AS comparison_call_stack
    FROM placed
   GROUP BY full_name, operator
),
named AS (                -- the turn of the module that an operator's row stands below
  SELECT *, max(class) OVER module AS module_class,
         max(base_turn) FILTER (WHERE operator IS NULL) OVER module AS module_base_turn,
         max(comparison_turn) FILTER (WHERE operator IS NULL) OVER module AS module_comparison_turn
    FROM paired
  WINDOW module AS (PARTITION BY full_name)
)
SELECT row_number() OVER (ORDER BY module_base_turn IS NULL, module_base_turn, module_comparison_turn,
                          operator IS NOT NULL, base_turn IS NULL, base_turn, comparison_turn),
       module_class, length(full_name) - length(replace(full_name, '/', '')), replace(full_name, 'nn.Module:', ''),
       operator, base_kernels, base_self_ns, base_calls, base_total_ns, base_median_ns, base_spread_ns,
       comparison_kernels, comparison_self_ns, comparison_calls, comparison_total_ns, comparison_median_ns,
       comparison_spread_ns,
       CASE WHEN operator IS NULL THEN coalesce(comparison_total_ns, 0) - coalesce(base_total_ns, 0) END,
       coalesce(comparison_self_ns, 0) - coalesce(base_self_ns, 0),
       CASE WHEN operator IS NULL THEN compare_ratio(base_total_ns, comparison_total_ns)
       ELSE compare_ratio(base_self_ns, comparison_self_ns) END,
       base_call_stack, comparison_call_stack,
       abs(comparison_median_ns - base_median_ns) <= max(base_spread_ns, comparison_spread_ns),
       CASE WHEN operator IS NULL THEN compare_verdict(base_total_ns, comparison_total_ns)
       ELSE compare_verdict(base_self_ns, comparison_self_ns) END
  FROM named
 ORDER BY 1;
