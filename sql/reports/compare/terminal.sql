-- The table of overall times that the compare tool prints, turned so that the profiles stand side by side.

SELECT metric AS "Model Profiling Time Distribution", base AS "Base", comparison AS "Comparison"
  FROM _terminal_table
 ORDER BY order_id;
