-- CommunicationCompare: collectives and their tasks, in the compare tool's columns. Durations in us.
--
-- A task row has '|' for the collective's name, and no difference.

SELECT order_id AS "Order Id",
       CASE WHEN task IS NULL AND base_calls IS NOT NULL THEN kind WHEN base_calls IS NOT NULL THEN '|' END
         AS "Communication OP Name",
       CASE WHEN base_calls IS NOT NULL THEN task END AS "Task Name",
       base_calls AS "Calls",
       coalesce(base_total_ns, 0) / 1e3 AS "Total Duration(us)",
       base_avg_ns / 1e3 AS "Avg Duration(us)",
       base_max_ns / 1e3 AS "Max Duration(us)",
       base_min_ns / 1e3 AS "Min Duration(us)",
       CASE WHEN task IS NULL AND comparison_calls IS NOT NULL THEN kind
            WHEN comparison_calls IS NOT NULL THEN '|' END AS "Communication OP Name",
       CASE WHEN comparison_calls IS NOT NULL THEN task END AS "Task Name",
       comparison_calls AS "Calls",
       coalesce(comparison_total_ns, 0) / 1e3 AS "Total Duration(us)",
       comparison_avg_ns / 1e3 AS "Avg Duration(us)",
       comparison_max_ns / 1e3 AS "Max Duration(us)",
       comparison_min_ns / 1e3 AS "Min Duration(us)",
       CASE WHEN task IS NULL THEN round_even(diff_total_ns / 1e3, 2) END AS "Diff Duration(us)",
       CASE WHEN task IS NULL THEN round_even(total_ratio, 4) END AS "Diff Ratio"
  FROM communication_compare
 ORDER BY order_id;
