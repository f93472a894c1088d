-- Does the device wait for the host, for the network, or work?
--
-- One row per step. The verdict names the largest of the step's three parts: free time, host bound; communication that no
-- computing hides, communication bound; computing, compute bound. Host bound (Free / Computing far above 1): launching takes
-- longer than the work, so larger batches, fused operators or graph mode help, faster kernels do not. Compute bound: see
-- hotspots.sql. Communication bound: see communication.sql.

SELECT profile AS 'Profile', rank AS 'Rank', device_id AS 'Device', step AS 'Step', round_even(computing_ns / 1000.0, 3) AS 'Computing(us)',
       round_even(communication_not_overlapped_ns / 1000.0, 3) AS 'Not Overlapped Communication(us)',
       round_even(free_ns / 1000.0, 3) AS 'Free(us)', round_even(free_to_computing_ratio, 1) AS 'Free / Computing', verdict AS 'Verdict'
  FROM host_bound;

SELECT alias AS 'Profile', rank AS 'Rank', ifnull(missing ->> 'prof_kernel', 'no kernels recorded') AS 'No steps because'
  FROM prof_source AS s
 WHERE NOT EXISTS (SELECT 1 FROM prof_kernel AS k WHERE k.profile = s.alias AND k.rank IS s.rank)
   AND NOT EXISTS (SELECT 1 FROM prof_comm_op AS c WHERE c.profile = s.alias AND c.rank IS s.rank)
   AND NOT EXISTS (SELECT 1 FROM prof_step_time AS t WHERE t.profile = s.alias AND t.rank IS s.rank);

SELECT message AS 'Nothing to report' FROM report_hint;
