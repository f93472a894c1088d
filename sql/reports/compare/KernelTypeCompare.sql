-- KernelTypeCompare: kernels by type and core, in the compare tool's columns. Durations in us.

SELECT order_id AS "Order Id",
       kernel_type AS "Kernel Type",
       core_type AS "Core Type",
       coalesce(base_total_ns, 0) / 1e3 AS "Total Duration(us)",
       coalesce(base_avg_ns, 0) / 1e3 AS "Avg Duration(us)",
       coalesce(base_max_ns, 0) / 1e3 AS "Max Duration(us)",
       coalesce(base_min_ns, 0) / 1e3 AS "Min Duration(us)",
       coalesce(base_calls, 0) AS "Calls",
       coalesce(comparison_total_ns, 0) / 1e3 AS "Total Duration(us)",
       coalesce(comparison_avg_ns, 0) / 1e3 AS "Avg Duration(us)",
       coalesce(comparison_max_ns, 0) / 1e3 AS "Max Duration(us)",
       coalesce(comparison_min_ns, 0) / 1e3 AS "Min Duration(us)",
       coalesce(comparison_calls, 0) AS "Calls",
       round_even(total_ratio, 4) AS "Diff Total Ratio",
       round_even(avg_ratio, 4) AS "Diff Avg Ratio"
  FROM kernel_type_compare
 ORDER BY order_id;
