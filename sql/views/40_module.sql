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
call AS (
  SELECT tree, profile, id, parent_id, full_name, start_ns,
         dense_rank() OVER (PARTITION BY profile ORDER BY rank) AS rank_place
    FROM _module_time
),
child AS MATERIALIZED (   -- numbered within the call around them; the outermost stand within call 0 of their rank
  SELECT tree, profile, id, full_name, coalesce(parent_id, -rank_place) AS parent_id,
         CAST(row_number() OVER (PARTITION BY tree, profile, coalesce(parent_id, -rank_place)
                                 ORDER BY start_ns, id % 4, id) - 1 AS INTEGER) AS item
    FROM call
),
family AS MATERIALIZED (
  SELECT tree, profile, parent_id, json_group_array(full_name) AS names
    FROM (SELECT * FROM child ORDER BY tree, profile, parent_id, item)
   GROUP BY tree, profile, parent_id
),
pair(tree, base_id, comparison_id) AS (
  SELECT tree, parent_id, parent_id FROM family WHERE profile = 'base' AND parent_id < 0
  UNION ALL
  SELECT p.tree, b.id, c.id
    FROM pair AS p
   CROSS JOIN setting AS g
    JOIN family AS fb ON fb.tree = p.tree AND fb.profile = 'base' AND fb.parent_id = p.base_id
    JOIN family AS fc ON fc.tree = p.tree AND fc.profile = 'comparison' AND fc.parent_id = p.comparison_id
   CROSS JOIN sequence_match(fb.names, fc.names, g.match) AS q
   CROSS JOIN child AS b ON b.tree = p.tree AND b.profile = 'base' AND b.parent_id = p.base_id AND b.item = q.base_index
   CROSS JOIN child AS c ON c.tree = p.tree AND c.profile = 'comparison' AND c.parent_id = p.comparison_id
                        AND c.item = q.comparison_index
)
SELECT tree, base_id, comparison_id FROM pair WHERE base_id > 0;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._module_pair USING profana_memo(_module_pair_query);

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
),
op AS MATERIALIZED (
  SELECT *,
         CAST(row_number() OVER (PARTITION BY profile, tree, module_id ORDER BY start_ns, id) - 1 AS INTEGER) AS item
    FROM _module_op
),
name AS MATERIALIZED (
  SELECT profile, tree, module_id, json_group_array(name) AS names
    FROM (SELECT * FROM op ORDER BY profile, tree, module_id, item)
   GROUP BY profile, tree, module_id
),
line AS (
  SELECT w.profile, w.op_id, w.dur_ns, l.text
    FROM _module_op_work AS w
    JOIN _op_launch AS l ON l.profile = w.profile AND l.id = w.launch_id
   ORDER BY w.profile, w.op_id, w.launch_ns, w.launch_id
),
work AS MATERIALIZED (
  SELECT profile, op_id, sum(dur_ns) AS self_ns, group_concat(text, '') AS kernels FROM line GROUP BY profile, op_id
),
met AS (                  -- operators of a row's calls
  SELECT r.place, q.ordinal, r.tree, r.base_id, r.comparison_id, q.base_index, q.comparison_index
    FROM _compare_setting AS g
   CROSS JOIN row AS r
    LEFT JOIN name AS nb ON nb.profile = 'base' AND nb.tree = r.tree AND nb.module_id = r.base_id
    LEFT JOIN name AS nc ON nc.profile = 'comparison' AND nc.tree = r.tree AND nc.module_id = r.comparison_id
   CROSS JOIN sequence_match(coalesce(nb.names, '[]'), coalesce(nc.names, '[]'), g.match) AS q
),
shown AS (
  SELECT r.place, 0 AS ordinal, r.tree, r.base_id, r.comparison_id, 1 AS is_total,
         NULL AS base_operator, NULL AS base_kernels, b.self_ns AS base_self_ns, b.total_ns AS base_total_ns,
         NULL AS comparison_operator, NULL AS comparison_kernels, c.self_ns AS comparison_self_ns,
         c.total_ns AS comparison_total_ns, b.call_stack AS base_call_stack, c.call_stack AS comparison_call_stack
    FROM row AS r
    LEFT JOIN _module_time AS b ON b.profile = 'base' AND b.tree = r.tree AND b.id = r.base_id
    LEFT JOIN _module_time AS c ON c.profile = 'comparison' AND c.tree = r.tree AND c.id = r.comparison_id
  UNION ALL
  SELECT m.place, m.ordinal, m.tree, m.base_id, m.comparison_id, 0,
         b.name, bw.kernels, CASE WHEN b.id IS NOT NULL THEN coalesce(bw.self_ns, 0) END, NULL,
         c.name, cw.kernels, CASE WHEN c.id IS NOT NULL THEN coalesce(cw.self_ns, 0) END, NULL,
         CASE WHEN b.id IS NOT NULL THEN coalesce(b.call_stack, 'N/A') END,
         CASE WHEN c.id IS NOT NULL THEN coalesce(c.call_stack, 'N/A') END
    FROM met AS m
    LEFT JOIN op AS b ON b.profile = 'base' AND b.tree = m.tree AND b.module_id = m.base_id AND b.item = m.base_index
    LEFT JOIN op AS c ON c.profile = 'comparison' AND c.tree = m.tree AND c.module_id = m.comparison_id
                     AND c.item = m.comparison_index
    LEFT JOIN work AS bw ON bw.profile = 'base' AND bw.op_id = b.id
    LEFT JOIN work AS cw ON cw.profile = 'comparison' AND cw.op_id = c.id
),
differing AS (
  SELECT *, coalesce(comparison_self_ns, 0) - coalesce(base_self_ns, 0) AS diff_self_ns FROM shown
)
SELECT row_number() OVER (ORDER BY s.place, s.ordinal),
       coalesce(b.class, c.class), coalesce(b.depth, c.depth) + 2,
       replace(coalesce(b.full_name, c.full_name), 'nn.Module:', ''), s.is_total,
       s.base_operator, s.base_kernels, s.base_self_ns, s.base_total_ns,
       s.comparison_operator, s.comparison_kernels, s.comparison_self_ns, s.comparison_total_ns,
       CASE WHEN s.is_total THEN coalesce(s.comparison_total_ns, 0) - coalesce(s.base_total_ns, 0) END,
       s.diff_self_ns,
       CASE WHEN s.is_total THEN compare_ratio(s.base_total_ns, s.comparison_total_ns)
       ELSE compare_ratio(s.base_self_ns, s.comparison_self_ns) END,
       CASE WHEN s.is_total OR round_even(s.diff_self_ns / 1e3, 2) > 0 THEN s.base_call_stack END,
       CASE WHEN s.is_total OR round_even(s.diff_self_ns / 1e3, 2) > 0 THEN s.comparison_call_stack END,
       CASE WHEN s.is_total THEN compare_verdict(s.base_total_ns, s.comparison_total_ns)
       ELSE compare_verdict(s.base_self_ns, s.comparison_self_ns) END
  FROM differing AS s
  LEFT JOIN _module_time AS b ON b.profile = 'base' AND b.tree = s.tree AND b.id = s.base_id
  LEFT JOIN _module_time AS c ON c.profile = 'comparison' AND c.tree = s.tree AND c.id = s.comparison_id
 ORDER BY 1;

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
WITH op_sum AS MATERIALIZED (
  SELECT profile, op_id, sum(dur_ns) AS self_ns FROM _module_op_work GROUP BY profile, op_id
),
op AS MATERIALIZED (      -- operators under the full name of their module
  SELECT o.profile, m.full_name, o.name, o.id, m.place, o.start_ns, coalesce(s.self_ns, 0) AS self_ns
    FROM _module_op AS o
    JOIN _module_time AS m ON m.profile = o.profile AND m.tree = o.tree AND m.id = o.module_id
    LEFT JOIN op_sum AS s ON s.profile = o.profile AND s.op_id = o.id
),
kernel AS (               -- kernels alike of one operator name
  SELECT o.profile, o.full_name, o.name AS operator, l.name, count(*) AS calls, sum(w.dur_ns) AS dur_ns,
         min(o.place) AS place, o.start_ns, w.launch_ns, w.launch_id
    FROM (SELECT * FROM op ORDER BY place, start_ns, id) AS o
    JOIN _module_op_work AS w ON w.profile = o.profile AND w.op_id = o.id
    JOIN _op_launch AS l ON l.profile = w.profile AND l.id = w.launch_id
   GROUP BY o.profile, o.full_name, o.name, l.name
),
text AS MATERIALIZED (
  SELECT profile, full_name, operator,
         group_concat(name || ', [number: ' || calls || '], [duration_ms: ' || fixed(dur_ns / 1e6, 3) || ']' || char(10),
                      '') AS kernels
    FROM (SELECT * FROM kernel ORDER BY profile, full_name, operator, place, start_ns, launch_ns, launch_id)
   GROUP BY profile, full_name, operator
),
side AS (
  SELECT profile, full_name, NULL AS operator, class, min(place) AS place, 0 AS item_ns, 0 AS item_id,
         sum(self_ns) AS self_ns, count(*) AS calls, sum(total_ns) AS total_ns, quantile(total_ns, 0.5) AS median_ns,
         quantile(total_ns, 0.75) - quantile(total_ns, 0.25) AS spread_ns, call_stack
    FROM _module_time
   GROUP BY profile, full_name
  UNION ALL
  SELECT profile, full_name, name, NULL, min(place), min(start_ns), min(id), sum(self_ns), count(*), NULL,
         quantile(self_ns, 0.5), quantile(self_ns, 0.75) - quantile(self_ns, 0.25), NULL
    FROM op
   GROUP BY profile, full_name, name
),
placed AS (
  SELECT s.*, t.kernels,
         row_number() OVER (PARTITION BY s.profile ORDER BY s.operator IS NOT NULL, s.place, s.item_ns, s.item_id) AS turn
    FROM side AS s
    LEFT JOIN text AS t ON t.profile = s.profile AND t.full_name = s.full_name AND t.operator = s.operator
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
