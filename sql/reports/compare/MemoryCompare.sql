-- MemoryCompare: pairs of operators with their blocks of memory, in the compare tool's columns. Sizes in KB.
--
-- What an operator does not tell is N/A; shapes and types of a GPU trace are written as Python lists.

SELECT order_id AS "Order Id",
       base_name AS "Operator Name",
       CASE WHEN base_input_shapes LIKE '[%' THEN replace(base_input_shapes, ',', ', ')
            WHEN base_name IS NOT NULL THEN coalesce(base_input_shapes, 'N/A') END AS "Input Shape",
       CASE WHEN base_input_types LIKE '[%' THEN replace(replace(base_input_types, ',', ', '), '"', '''')
            WHEN base_name IS NOT NULL THEN coalesce(base_input_types, 'N/A') END AS "Input Type",
       base_blocks AS "Allocated Details",
       coalesce(base_size_bytes, 0) / 1024.0 AS "Size(KB)",
       comparison_name AS "Operator Name",
       CASE WHEN comparison_input_shapes LIKE '[%' THEN replace(comparison_input_shapes, ',', ', ')
            WHEN comparison_name IS NOT NULL THEN coalesce(comparison_input_shapes, 'N/A') END AS "Input Shape",
       CASE WHEN comparison_input_types LIKE '[%' THEN replace(replace(comparison_input_types, ',', ', '), '"', '''')
            WHEN comparison_name IS NOT NULL THEN coalesce(comparison_input_types, 'N/A') END AS "Input Type",
       comparison_blocks AS "Allocated Details",
       coalesce(comparison_size_bytes, 0) / 1024.0 AS "Size(KB)",
       round_even(diff_size_bytes / 1024.0, 2) AS "Diff Size(KB)",
       round_even(size_ratio, 4) AS "Diff Ratio"
  FROM memory_compare
 ORDER BY order_id;
