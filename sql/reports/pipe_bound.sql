-- Which pipe of the core bounds each hot kernel?
--
-- One row per kernel with pipe counters, largest total first: the busy share of each pipe and the busiest one. cube: matrix
-- products near their limit. vector: elementwise arithmetic. mte2 / mte3: bound by memory traffic in or out. scalar: control
-- flow; larger blocks per core help. Needs Level1 or 2 with PipeUtilization.

SELECT profile AS 'Profile', rank AS 'Rank', ifnull(op_type, 'N/A') AS 'OP Type', name AS 'Kernel', calls AS 'Count',
       round_even(total_ns / 1000.0, 3) AS 'Total Time(us)', round_even(cube_ratio, 3) AS 'Cube', round_even(vector_ratio, 3) AS 'Vector',
       round_even(scalar_ratio, 3) AS 'Scalar', round_even(mte1_ratio, 3) AS 'MTE1', round_even(mte2_ratio, 3) AS 'MTE2',
       round_even(mte3_ratio, 3) AS 'MTE3', round_even(fixpipe_ratio, 3) AS 'Fixpipe', bound AS 'Bound'
  FROM pipe_bound
 LIMIT 30;
