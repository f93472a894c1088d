-- The rows of overall_metrics as the HTML report shows them: times in ms, shares and ratio as numbers.

SELECT level, metric, base_ns / 1e6 AS base_ms, base_ratio, base_calls, comparison_ns / 1e6 AS comparison_ms, comparison_ratio,
       comparison_calls, diff_ns / 1e6 AS diff_ms, diff_ratio, verdict
  FROM overall_metrics
 ORDER BY order_id;
