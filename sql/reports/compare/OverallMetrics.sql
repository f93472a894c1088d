-- OverallMetrics: where the time goes, in the compare tool's columns. Durations in ms; leading tabs nest the rows.

SELECT substr(char(9, 9), 1, level) || metric AS "Index",
       base_ns / 1e6 AS "Duration(ms)",
       base_ratio AS "Duration Ratio",
       coalesce(base_calls, '/') AS "Number",
       comparison_ns / 1e6 AS "Duration(ms)",
       comparison_ratio AS "Duration Ratio",
       coalesce(comparison_calls, '/') AS "Number",
       round_even(diff_ns / 1e6, 2) AS "Diff Duration(ms)",
       round_even(diff_ratio, 4) AS "Diff Ratio"
  FROM overall_metrics
 ORDER BY order_id;
