-- Which kinds of operator take the device's time?
--
-- One row per operator type, largest total first; the shares of a rank add up to 100 %. Start with the first row: what it
-- does per call (Avg) and how often it is called (Count) tell whether to make it faster or rarer. A kernel without a type (GPU,
-- Level0, a custom kernel) stands under its own name.

SELECT profile AS 'Profile', rank AS 'Rank', elide(op_type, 44) AS 'OP Type', core_type AS 'Core Type', calls AS 'Count',
       round_even(total_ns / 1000.0, 3) AS 'Total Time(us)', round_even(min_ns / 1000.0, 3) AS 'Min Time(us)',
       round_even(avg_ns / 1000.0, 3) AS 'Avg Time(us)', round_even(max_ns / 1000.0, 3) AS 'Max Time(us)',
       round_even(time_ratio * 100, 3) AS 'Ratio(%)'
  FROM hot_op;

SELECT alias AS 'Profile', rank AS 'Rank', ifnull(missing ->> 'prof_kernel', 'no kernels recorded') AS 'No operators because'
  FROM prof_source AS s
 WHERE NOT EXISTS (SELECT 1 FROM prof_kernel AS k WHERE k.profile = s.alias AND k.rank IS s.rank)
   AND NOT EXISTS (SELECT 1 FROM prof_op_stat AS o WHERE o.profile = s.alias AND o.rank IS s.rank);

SELECT message AS 'Nothing to report' FROM report_hint;
