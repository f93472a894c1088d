-- Operators of two profiles by the time that the device works for them.

-- operator_compare: which operator, call by call, makes the device work longer?
--
-- A row for each pair of top-level operators in the order of the run, unmatched ones on their own. Device work
-- is that of the operator and of all operators below it, collectives included; each line of the kernel texts is
-- one piece of it: its own first, then level by level.
-- Compare sheet: OperatorCompare.
CREATE TEMP VIEW IF NOT EXISTS operator_compare(
  order_id,               -- INTEGER  position in the sheet
  base_name,              -- TEXT     operator; NULL: only in comparison
  base_input_shapes,      -- TEXT     dims by ',', tensors by ';\r\n'; GPU: JSON array; NULL unknown
  base_input_types,       -- TEXT     as base_input_shapes
  base_kernels,           -- TEXT     lines: name, task id, task type, [input shapes: ...] [duration: us]
  base_device_ns,         -- INTEGER  ns, sum over the kernels; NULL: only in comparison
  comparison_name,        -- TEXT     operator; NULL: only in base
  comparison_input_shapes,  -- TEXT   as base_input_shapes
  comparison_input_types, -- TEXT     as base_input_shapes
  comparison_kernels,     -- TEXT     as base_kernels
  comparison_device_ns,   -- INTEGER  ns; NULL: only in base
  diff_device_ns,         -- INTEGER  ns, comparison - base
  device_ratio,           -- REAL     comparison / base; Inf: no work in base
  verdict                 -- TEXT     worse, better, same, base only, comparison only
) AS
SELECT p.rowid, b.name, b.input_shapes, b.input_types, bw.kernels,
       CASE WHEN b.id IS NOT NULL THEN coalesce(bw.device_ns, 0) END,
       c.name, c.input_shapes, c.input_types, cw.kernels,
       CASE WHEN c.id IS NOT NULL THEN coalesce(cw.device_ns, 0) END,
       coalesce(cw.device_ns, 0) - coalesce(bw.device_ns, 0),
       compare_ratio(bw.device_ns, cw.device_ns),
       compare_verdict(CASE WHEN b.id IS NOT NULL THEN coalesce(bw.device_ns, 0) END,
                       CASE WHEN c.id IS NOT NULL THEN coalesce(cw.device_ns, 0) END)
  FROM _op_pair AS p
  LEFT JOIN prof_host_op AS b ON b.profile = 'base' AND b.id = p.base_id
  LEFT JOIN prof_host_op AS c ON c.profile = 'comparison' AND c.id = p.comparison_id
  LEFT JOIN _op_work AS bw ON bw.profile = 'base' AND bw.shown_id = p.base_id
  LEFT JOIN _op_work AS cw ON cw.profile = 'comparison' AND cw.shown_id = p.comparison_id
 ORDER BY p.rowid;

-- operator_compare_statistic: which operators, by name, make the device work longer in all?
--
-- A row for each name of either side, largest difference first. Names count as they are: op_name_map does not
-- join rows here, op_equivalent does.
-- Compare sheet: OperatorCompareStatistic.
CREATE TEMP VIEW IF NOT EXISTS operator_compare_statistic(
  order_id,               -- INTEGER  position in the sheet
  name,                   -- TEXT     operator
  base_device_ns,         -- INTEGER  ns, sum; NULL: not in base
  base_calls,             -- INTEGER  operators of that name; NULL: not in base
  base_median_ns,         -- REAL     ns, device time of a single operator
  base_spread_ns,         -- REAL     ns, between the quartiles of the single operators
  comparison_device_ns,   -- INTEGER  ns, sum; NULL: not in comparison
  comparison_calls,       -- INTEGER  NULL: not in comparison
  comparison_median_ns,   -- REAL     ns
  comparison_spread_ns,   -- REAL     ns
  diff_device_ns,         -- INTEGER  ns, comparison - base
  device_ratio,           -- REAL     comparison / base; Inf: no work in base
  noise,                  -- INTEGER  1: the medians differ by no more than the larger spread; NULL: one side only
  verdict                 -- TEXT     worse, better, same, base only, comparison only
) AS
WITH side AS (
  SELECT o.profile, o.name, sum(coalesce(w.device_ns, 0)) AS device_ns, count(*) AS calls,
         quantile(coalesce(w.device_ns, 0), 0.5) AS median_ns,
         quantile(coalesce(w.device_ns, 0), 0.75) - quantile(coalesce(w.device_ns, 0), 0.25) AS spread_ns,
         min(o.start_ns) AS first_ns, o.id AS first_id
    FROM _shown_op AS o
    LEFT JOIN _op_work AS w ON w.profile = o.profile AND w.shown_id = o.id
   GROUP BY o.profile, o.name
),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY profile ORDER BY first_ns, first_id) AS place FROM side
),
paired AS (
  SELECT name,
         max(place) FILTER (WHERE profile = 'base') AS base_place,
         max(device_ns) FILTER (WHERE profile = 'base') AS base_device_ns,
         max(calls) FILTER (WHERE profile = 'base') AS base_calls,
         max(median_ns) FILTER (WHERE profile = 'base') AS base_median_ns,
         max(spread_ns) FILTER (WHERE profile = 'base') AS base_spread_ns,
         max(place) FILTER (WHERE profile = 'comparison') AS comparison_place,
         max(device_ns) FILTER (WHERE profile = 'comparison') AS comparison_device_ns,
         max(calls) FILTER (WHERE profile = 'comparison') AS comparison_calls,
         max(median_ns) FILTER (WHERE profile = 'comparison') AS comparison_median_ns,
         max(spread_ns) FILTER (WHERE profile = 'comparison') AS comparison_spread_ns
    FROM placed
   GROUP BY name
),
differing AS (
  SELECT *, coalesce(comparison_device_ns, 0) - coalesce(base_device_ns, 0) AS diff_device_ns FROM paired
)
SELECT row_number() OVER (ORDER BY round_even(diff_device_ns / 1e6, 2) DESC, base_place IS NULL, base_place,
                          comparison_place),
       name, base_device_ns, base_calls, base_median_ns, base_spread_ns,
       comparison_device_ns, comparison_calls, comparison_median_ns, comparison_spread_ns,
       diff_device_ns, compare_ratio(base_device_ns, comparison_device_ns),
       abs(comparison_median_ns - base_median_ns) <= max(base_spread_ns, comparison_spread_ns),
       compare_verdict(base_device_ns, comparison_device_ns)
  FROM differing
 ORDER BY 1;
