-- MemoryCompareStatistic: memory by operator name, in the compare tool's columns. Durations in ms, memory in MB.

SELECT order_id AS "Top",
       name AS "Operator Name",
       coalesce(base_held_ns, 0) / 1e6 AS "Base Allocated Duration(ms)",
       coalesce(base_size_bytes, 0) / 1048576.0 AS "Base Allocated Memory(MB)",
       coalesce(base_calls, 0) AS "Base Operator Number",
       coalesce(comparison_held_ns, 0) / 1e6 AS "Comparison Allocated Duration(ms)",
       coalesce(comparison_size_bytes, 0) / 1048576.0 AS "Comparison Allocated Memory(MB)",
       coalesce(comparison_calls, 0) AS "Comparison Operator Number",
       round_even(diff_size_bytes / 1048576.0, 2) AS "Diff Memory(MB)",
       round_even(size_ratio, 4) AS "Diff Ratio"
  FROM memory_compare_statistic
 ORDER BY order_id;
