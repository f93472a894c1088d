-- OperatorCompareStatistic: operators by name, in the compare tool's columns. Durations in ms.

SELECT order_id AS "Top",
       name AS "Operator Name",
       coalesce(base_device_ns, 0) / 1e6 AS "Base Device Duration(ms)",
       coalesce(base_calls, 0) AS "Base Operator Number",
       coalesce(comparison_device_ns, 0) / 1e6 AS "Comparison Device Duration(ms)",
       coalesce(comparison_calls, 0) AS "Comparison Operator Number",
       round_even(diff_device_ns / 1e6, 2) AS "Diff Duration(ms)",
       round_even(device_ratio, 4) AS "Diff Ratio"
  FROM operator_compare_statistic
 ORDER BY order_id;
