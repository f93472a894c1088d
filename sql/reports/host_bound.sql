-- Does the device wait for the host, for the network, or work?
--
-- One row per step. Free / Computing far above 1 means host bound: launching takes longer than the work, so larger batches, fused
-- operators or graph mode help, faster kernels do not. Compute bound: see hotspots.sql. Communication bound: see communication.sql.

SELECT profile AS 'Profile', rank AS 'Rank', step AS 'Step', round_even(computing_ns / 1000.0, 3) AS 'Computing(us)',
       round_even(communication_not_overlapped_ns / 1000.0, 3) AS 'Communication(Not Overlapped)(us)',
       round_even(free_ns / 1000.0, 3) AS 'Free(us)', round_even(free_to_computing_ratio, 1) AS 'Free / Computing', verdict AS 'Verdict'
  FROM host_bound;
