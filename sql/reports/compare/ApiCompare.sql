-- ApiCompare: host calls by name, in the compare tool's columns. Durations in ms.
--
-- Averages and ratios come from the rounded figures shown, as the compare tool computes them.

WITH shown AS (
  SELECT order_id, name,
         round_even(coalesce(base_total_ns, 0) / 1e6, 2) AS base_total,
         round_even(coalesce(base_self_ns, 0) / 1e6, 2) AS base_self,
         coalesce(base_calls, 0) AS base_calls,
         round_even(coalesce(comparison_total_ns, 0) / 1e6, 2) AS comparison_total,
         round_even(coalesce(comparison_self_ns, 0) / 1e6, 2) AS comparison_self,
         coalesce(comparison_calls, 0) AS comparison_calls
    FROM api_compare
),
averaged AS (
  SELECT *, coalesce(round_even(base_total / base_calls, 2), 0.0) AS base_avg,
         coalesce(round_even(comparison_total / comparison_calls, 2), 0.0) AS comparison_avg
    FROM shown
)
SELECT order_id AS "Order Id",
       name AS "api name",
       base_total AS "Total Duration(ms)",
       base_self AS "Self Time(ms)",
       base_avg AS "Avg Duration(ms)",
       base_calls AS "Calls",
       comparison_total AS "Total Duration(ms)",
       comparison_self AS "Self Time(ms)",
       comparison_avg AS "Avg Duration(ms)",
       comparison_calls AS "Calls",
       round_even(compare_ratio(base_total, comparison_total), 4) AS "Diff Total Ratio",
       round_even(compare_ratio(base_self, comparison_self), 4) AS "Diff Self Ratio",
       round_even(compare_ratio(base_avg, comparison_avg), 4) AS "Diff Avg Ratio",
       round_even(compare_ratio(base_calls, comparison_calls), 4) AS "Diff Calls Ratio"
  FROM averaged
 ORDER BY order_id;
