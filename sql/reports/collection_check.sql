-- Do two collections of the same load agree on where the time goes?
--
-- Open them as 'base' and 'comparison'. One row per operator type with its share on each side, largest first; shares within 2 points
-- agree. A type on one side only (Cast in an offline model) is work that the other way of running the load does not do.

SELECT elide(op_type, 44) AS 'OP Type', base_calls AS 'Base Count', round_even(base_time_ratio * 100, 3) AS 'Base Ratio(%)',
       comparison_calls AS 'Comparison Count', round_even(comparison_time_ratio * 100, 3) AS 'Comparison Ratio(%)',
       round_even(diff_time_ratio * 100, 3) AS 'Diff(points)', verdict AS 'Verdict'
  FROM collection_check;

SELECT column1 AS 'Profile', 'not open: SELECT profana_open(''' || column1 || ''', ''PATH'')' AS 'No check because'
  FROM (VALUES ('base'), ('comparison'))
 WHERE column1 NOT IN (SELECT alias FROM prof_source);
