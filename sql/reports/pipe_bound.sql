-- Which pipe of the core bounds each hot kernel?
--
-- The 20 kernels of each rank that take the most time, of those with pipe counters: the busy share of each pipe and the busiest
-- one. cube: matrix products near their limit. vector: elementwise arithmetic. mte2 / mte3: memory traffic into or out of the core,
-- mte1, fixpipe: traffic within it. scalar: control flow; larger blocks per core help. Shares overlap, so they may add up to
-- more than 1. Counters are recorded at Level1 and Level2 with the metrics PipeUtilization.

WITH ranked AS (
  SELECT *, row_number() OVER (PARTITION BY profile, rank ORDER BY total_ns DESC) AS place FROM pipe_bound
)
SELECT profile AS 'Profile', rank AS 'Rank', elide(op_type, 20) AS 'OP Type', elide(name, 26) AS 'Kernel', calls AS 'Count',
       round_even(total_ns / 1000.0, 3) AS 'Total(us)', round_even(cube_ratio, 3) AS 'Cube', round_even(vector_ratio, 3) AS 'Vector',
       round_even(scalar_ratio, 3) AS 'Scalar', round_even(mte1_ratio, 3) AS 'MTE1', round_even(mte2_ratio, 3) AS 'MTE2',
       round_even(mte3_ratio, 3) AS 'MTE3', round_even(fixpipe_ratio, 3) AS 'Fixpipe', bound AS 'Bound'
  FROM ranked
 WHERE place <= 20
 ORDER BY profile, rank, place;

SELECT alias AS 'Profile', rank AS 'Rank',
       ifnull(missing ->> 'prof_kernel_pmu',
              'no pipe counters' || ifnull(' (' || level || ')', '') || ': collect Level1, PipeUtilization') AS 'No kernels because'
  FROM prof_source AS s
 WHERE NOT EXISTS (SELECT 1 FROM prof_kernel_pmu AS p JOIN pmu_pipe AS m ON m.metric = p.metric
                    WHERE p.profile = s.alias AND p.rank IS s.rank);

SELECT message AS 'Nothing to report' FROM report_hint;
