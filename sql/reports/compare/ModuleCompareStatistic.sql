-- ModuleCompareStatistic: modules by name and their operators, in the compare tool's columns. Durations in ms.

SELECT order_id AS "Order Id",
       module_class AS "Module Class",
       module_level AS "Module Level",
       module_name AS "Module Name",
       coalesce(operator, '[ TOTAL ]') AS "Operator Name",
       base_kernels AS "Kernel Details",
       coalesce(base_self_ns, 0) / 1e6 AS "Device Self Time(ms)",
       coalesce(base_calls, 0) AS "Number",
       CASE WHEN operator IS NULL THEN coalesce(base_total_ns, 0) / 1e6 END AS "Device Total Time(ms)",
       comparison_kernels AS "Kernel Details",
       coalesce(comparison_self_ns, 0) / 1e6 AS "Device Self Time(ms)",
       coalesce(comparison_calls, 0) AS "Number",
       CASE WHEN operator IS NULL THEN coalesce(comparison_total_ns, 0) / 1e6 END AS "Device Total Time(ms)",
       round_even(diff_total_ns / 1e6, 2) AS "Device Total Time Diff(ms)",
       round_even(diff_self_ns / 1e6, 2) AS "Device Self Time Diff(ms)",
       round_even(time_ratio, 4) AS "Diff Total Ratio",
       base_call_stack AS "Base Call Stack",
       comparison_call_stack AS "Comparison Call Stack"
  FROM module_compare_statistic
 ORDER BY order_id;
