-- Which kinds of operator take the device's time?
--
-- One row per operator type, largest total first; the shares of a rank add up to 100 %. Start with the first row: what it
-- does per call (Avg) and how often it is called (Count) tell whether to make it faster or rarer.

SELECT profile AS 'Profile', rank AS 'Rank', ifnull(op_type, 'N/A') AS 'OP Type', core_type AS 'Core Type', calls AS 'Count',
       round_even(total_ns / 1000.0, 3) AS 'Total Time(us)', round_even(min_ns / 1000.0, 3) AS 'Min Time(us)',
       round_even(avg_ns / 1000.0, 3) AS 'Avg Time(us)', round_even(max_ns / 1000.0, 3) AS 'Max Time(us)',
       round_even(time_ratio * 100, 3) AS 'Ratio(%)'
  FROM hot_op;
