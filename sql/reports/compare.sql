-- The whole comparison of the profiles base and comparison, short enough for a terminal: the printed summary, then
-- the top rows of each sheet. The sheets themselves are in sql/reports/compare/.
--
-- In the sqlite3 shell, .mode box shows each part as a table.

SELECT code AS "Caution", coalesce(profile || ': ', '') || message AS "Before you compare" FROM compare_diagnostic;

SELECT metric AS "Model Profiling Time Distribution", base AS "Base", comparison AS "Comparison"
  FROM _terminal_table
 ORDER BY order_id;

SELECT substr('    ', 1, level * 2) || metric AS "Overall metrics",
       fixed(base_ns / 1e6, 3) AS "Base(ms)",
       fixed(base_ratio * 100, 1) AS "Base(%)",
       fixed(comparison_ns / 1e6, 3) AS "Comparison(ms)",
       fixed(comparison_ratio * 100, 1) AS "Comparison(%)",
       fixed(diff_ns / 1e6, 3) AS "Diff(ms)",
       round_even(diff_ratio, 4) AS "Ratio",
       verdict AS "Verdict"
  FROM overall_metrics
 ORDER BY order_id;

SELECT name AS "Operators by device time",
       fixed(coalesce(base_device_ns, 0) / 1e6, 3) AS "Base(ms)",
       coalesce(base_calls, 0) AS "Base calls",
       fixed(coalesce(comparison_device_ns, 0) / 1e6, 3) AS "Comparison(ms)",
       coalesce(comparison_calls, 0) AS "Comparison calls",
       fixed(diff_device_ns / 1e6, 3) AS "Diff(ms)",
       round_even(device_ratio, 4) AS "Ratio",
       verdict AS "Verdict",
       CASE WHEN noise AND base_calls = comparison_calls THEN 'within spread' END AS "Noise"
  FROM operator_compare_statistic
 ORDER BY order_id
 LIMIT 10;

SELECT module_name AS "Modules by own device time",
       fixed(coalesce(base_self_ns, 0) / 1e6, 3) AS "Base(ms)",
       coalesce(base_calls, 0) AS "Base calls",
       fixed(coalesce(comparison_self_ns, 0) / 1e6, 3) AS "Comparison(ms)",
       coalesce(comparison_calls, 0) AS "Comparison calls",
       fixed(diff_self_ns / 1e6, 3) AS "Diff(ms)",
       round_even(compare_ratio(base_self_ns, comparison_self_ns), 4) AS "Ratio",
       compare_verdict(base_self_ns, comparison_self_ns) AS "Verdict"
  FROM module_compare_statistic
 WHERE operator IS NULL
 ORDER BY diff_self_ns DESC, order_id
 LIMIT 10;

SELECT kernel_type AS "Kernels",
       coalesce(input_shapes, 'N/A') AS "Input shapes",
       fixed(coalesce(base_total_ns, 0) / 1e6, 3) AS "Base(ms)",
       coalesce(base_calls, 0) AS "Base calls",
       fixed(coalesce(comparison_total_ns, 0) / 1e6, 3) AS "Comparison(ms)",
       coalesce(comparison_calls, 0) AS "Comparison calls",
       fixed(diff_total_ns / 1e6, 3) AS "Diff(ms)",
       round_even(total_ratio, 4) AS "Ratio",
       verdict AS "Verdict",
       CASE WHEN noise AND base_calls = comparison_calls THEN 'within spread' END AS "Noise"
  FROM kernel_compare
 ORDER BY diff_total_ns DESC, order_id
 LIMIT 10;

SELECT kind AS "Collectives",
       fixed(coalesce(base_total_ns, 0) / 1e6, 3) AS "Base(ms)",
       coalesce(base_calls, 0) AS "Base calls",
       fixed(coalesce(comparison_total_ns, 0) / 1e6, 3) AS "Comparison(ms)",
       coalesce(comparison_calls, 0) AS "Comparison calls",
       fixed(diff_total_ns / 1e6, 3) AS "Diff(ms)",
       round_even(total_ratio, 4) AS "Ratio",
       verdict AS "Verdict"
  FROM communication_compare
 WHERE task IS NULL
 ORDER BY diff_total_ns DESC, order_id
 LIMIT 10;

SELECT name AS "Operators by memory",
       fixed(coalesce(base_size_bytes, 0) / 1048576.0, 2) AS "Base(MB)",
       coalesce(base_calls, 0) AS "Base calls",
       fixed(coalesce(comparison_size_bytes, 0) / 1048576.0, 2) AS "Comparison(MB)",
       coalesce(comparison_calls, 0) AS "Comparison calls",
       fixed(diff_size_bytes / 1048576.0, 2) AS "Diff(MB)",
       round_even(size_ratio, 4) AS "Ratio",
       verdict AS "Verdict"
  FROM memory_compare_statistic
 WHERE coalesce(base_size_bytes, 0) + coalesce(comparison_size_bytes, 0) > 0
 ORDER BY order_id
 LIMIT 10;

SELECT name AS "Host calls by own time",
       fixed(coalesce(base_self_ns, 0) / 1e6, 3) AS "Base(ms)",
       coalesce(base_calls, 0) AS "Base calls",
       fixed(coalesce(comparison_self_ns, 0) / 1e6, 3) AS "Comparison(ms)",
       coalesce(comparison_calls, 0) AS "Comparison calls",
       fixed(diff_self_ns / 1e6, 3) AS "Diff(ms)",
       round_even(self_ratio, 4) AS "Ratio",
       compare_verdict(base_self_ns, comparison_self_ns) AS "Verdict"
  FROM api_compare
 ORDER BY diff_self_ns DESC, order_id
 LIMIT 10;
