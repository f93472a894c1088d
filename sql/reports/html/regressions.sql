-- What the HTML report draws as pairs of bars: of each kind the ten that grew most.
--
-- A row per section and name; where nothing grew one row without a name, which tells whether there was anything to compare.
-- Kernels of a GPU trace have no types: their names stand for them.

WITH section(place, section) AS (
  VALUES (1, 'Operators, by device time'), (2, 'Modules, by device time'), (3, 'Kernels, by type'), (4, 'Collectives'),
         (5, 'Operators, by memory')
),
item(place, unit, name, base, comparison, noise) AS MATERIALIZED (
  SELECT 1, 'ms', name, base_device_ns / 1e6, comparison_device_ns / 1e6, noise
    FROM operator_compare_statistic
   UNION ALL
  SELECT 2, 'ms', module_name, base_self_ns / 1e6, comparison_self_ns / 1e6, noise
    FROM module_compare_statistic
   WHERE operator IS NULL
   UNION ALL
  SELECT 3, 'ms', kernel_type, base_total_ns / 1e6, comparison_total_ns / 1e6, NULL
    FROM kernel_type_compare
   UNION ALL
  SELECT 3, 'ms', kernel_type, base_total_ns / 1e6, comparison_total_ns / 1e6, noise
    FROM kernel_compare
   WHERE NOT EXISTS (SELECT 1 FROM kernel_type_compare)
   UNION ALL
  SELECT 4, 'ms', kind, base_total_ns / 1e6, comparison_total_ns / 1e6, noise
    FROM communication_compare
   WHERE task IS NULL
   UNION ALL
  SELECT 5, 'MiB', name, base_size_bytes / 1048576.0, comparison_size_bytes / 1048576.0, noise
    FROM memory_compare_statistic
   WHERE coalesce(base_size_bytes, 0) + coalesce(comparison_size_bytes, 0) > 0
),
ranked AS (
  SELECT place, unit, name, ifnull(base, 0) AS base, ifnull(comparison, 0) AS comparison, noise,
         row_number() OVER (PARTITION BY place ORDER BY ifnull(comparison, 0) - ifnull(base, 0) DESC, name) AS rank
    FROM item
   WHERE ifnull(comparison, 0) > ifnull(base, 0)
)
SELECT s.section, r.name, r.base, r.comparison, r.unit, r.noise, EXISTS (SELECT 1 FROM item AS i WHERE i.place = s.place) AS compared,
       elide(r.name, 120) AS label
  FROM section AS s
  LEFT JOIN ranked AS r ON r.place = s.place AND r.rank <= 10
 ORDER BY s.place, r.rank;
