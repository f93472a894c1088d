-- OperatorCompare: pairs of operators with their kernels, in the compare tool's columns. Durations in us.
--
-- What an operator does not tell is N/A; shapes and types of a GPU trace are written as Python lists.

SELECT order_id AS "Order Id",
       base_name AS "Operator Name",
       CASE WHEN base_input_shapes LIKE '[%' THEN replace(base_input_shapes, ',', ', ')
            WHEN base_name IS NOT NULL THEN coalesce(base_input_shapes, 'N/A') END AS "Input Shape",
       CASE WHEN base_input_types LIKE '[%' THEN replace(replace(base_input_types, ',', ', '), '"', '''')
            WHEN base_name IS NOT NULL THEN coalesce(base_input_types, 'N/A') END AS "Input Type",
       base_kernels AS "Kernel Details",
       coalesce(base_device_ns, 0) / 1e3 AS "Device Duration(us)",
       comparison_name AS "Operator Name",
       CASE WHEN comparison_input_shapes LIKE '[%' THEN replace(comparison_input_shapes, ',', ', ')
            WHEN comparison_name IS NOT NULL THEN coalesce(comparison_input_shapes, 'N/A') END AS "Input Shape",
       CASE WHEN comparison_input_types LIKE '[%' THEN replace(replace(comparison_input_types, ',', ', '), '"', '''')
            WHEN comparison_name IS NOT NULL THEN coalesce(comparison_input_types, 'N/A') END AS "Input Type",
       comparison_kernels AS "Kernel Details",
       coalesce(comparison_device_ns, 0) / 1e3 AS "Device Duration(us)",
       round_even(diff_device_ns / 1e3, 2) AS "Diff Duration(us)",
       round_even(device_ratio, 4) AS "Diff Ratio"
  FROM operator_compare
 ORDER BY order_id;
