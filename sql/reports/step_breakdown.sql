-- What was the device doing in each step?
--
-- One row per step; Computing + Communication(Not Overlapped) + Free is the step. Source: read from step_trace_time, or computed
-- from kernels and collectives.

SELECT profile AS 'Profile', rank AS 'Rank', device_id AS 'Device', step AS 'Step', round_even(computing_ns / 1000.0, 3) AS 'Computing(us)',
       round_even(communication_not_overlapped_ns / 1000.0, 3) AS 'Communication(Not Overlapped)(us)',
       round_even(overlapped_ns / 1000.0, 3) AS 'Overlapped(us)', round_even(communication_ns / 1000.0, 3) AS 'Communication(us)',
       round_even(free_ns / 1000.0, 3) AS 'Free(us)', round_even(total_ns / 1000.0, 3) AS 'Total(us)', source AS 'Source'
  FROM step_breakdown;
