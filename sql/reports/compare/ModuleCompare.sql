-- ModuleCompare: calls of modules and their operators, in the compare tool's columns. Durations in us.

SELECT order_id AS "Order Id",
       module_class AS "Module Class",
       module_level AS "Module Level",
       module_name AS "Module Name",
       CASE WHEN is_total THEN 'TOTAL' ELSE base_operator END AS "Operator Name",
       base_kernels AS "Kernel Details",
       coalesce(base_self_ns, 0) / 1e3 AS "Device Self Time(us)",
       CASE WHEN is_total THEN coalesce(base_total_ns, 0) / 1e3 END AS "Device Total Time(us)",
       CASE WHEN is_total THEN 'TOTAL' ELSE comparison_operator END AS "Operator Name",
       comparison_kernels AS "Kernel Details",
       coalesce(comparison_self_ns, 0) / 1e3 AS "Device Self Time(us)",
       CASE WHEN is_total THEN coalesce(comparison_total_ns, 0) / 1e3 END AS "Device Total Time(us)",
       round_even(diff_total_ns / 1e3, 2) AS "Device Total Time Diff(us)",
       round_even(diff_self_ns / 1e3, 2) AS "Device Self Time Diff(us)",
       round_even(time_ratio, 4) AS "Diff Total Ratio",
       base_call_stack AS "Base Call Stack",
       comparison_call_stack AS "Comparison Call Stack"
  FROM module_compare
 ORDER BY order_id;
