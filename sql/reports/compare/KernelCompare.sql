-- KernelCompare: kernels by type and input shapes, in the compare tool's columns. Durations in us.
--
-- Averages and ratios come from the rounded figures shown, as the compare tool computes them.

WITH shown AS (
  SELECT order_id, kernel_type, input_shapes,
         round_even(coalesce(base_total_ns, 0) / 1e3, 2) AS base_total, base_calls,
         round_even(base_max_ns / 1e3, 2) AS base_max, round_even(base_min_ns / 1e3, 2) AS base_min,
         round_even(coalesce(comparison_total_ns, 0) / 1e3, 2) AS comparison_total, comparison_calls,
         round_even(comparison_max_ns / 1e3, 2) AS comparison_max,
         round_even(comparison_min_ns / 1e3, 2) AS comparison_min
    FROM kernel_compare
),
averaged AS (
  SELECT *, coalesce(round_even(base_total / base_calls, 2), 0.0) AS base_avg,
         coalesce(round_even(comparison_total / comparison_calls, 2), 0.0) AS comparison_avg
    FROM shown
)
SELECT order_id AS "Order Id",
       kernel_type AS "Kernel",
       coalesce(input_shapes, 'N/A') AS "Input Shape",
       base_total AS "Total Duration(us)",
       base_avg AS "Avg Duration(us)",
       base_max AS "Max Duration(us)",
       base_min AS "Min Duration(us)",
       base_calls AS "Calls",
       comparison_total AS "Total Duration(us)",
       comparison_avg AS "Avg Duration(us)",
       comparison_max AS "Max Duration(us)",
       comparison_min AS "Min Duration(us)",
       comparison_calls AS "Calls",
       round_even(compare_ratio(base_total, comparison_total), 4) AS "Diff Total Ratio",
       round_even(compare_ratio(base_avg, comparison_avg), 4) AS "Diff Avg Ratio"
  FROM averaged
 ORDER BY order_id;
