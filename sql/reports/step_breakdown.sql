-- What was the device doing in each step?
--
-- One row per step: Computing + Not Overlapped + Free = Total. Not Overlapped is the part of Communication that no computing hides,
-- Overlapped the rest. Source: read from step_trace_time, or computed from kernels and collectives (Total is then from the first
-- to the last of them). Without step markers one row, Step empty, for the whole profile.

SELECT profile AS 'Profile', rank AS 'Rank', device_id AS 'Device', step AS 'Step', round_even(computing_ns / 1000.0, 3) AS 'Computing(us)',
       round_even(communication_not_overlapped_ns / 1000.0, 3) AS 'Not Overlapped(us)',
       round_even(overlapped_ns / 1000.0, 3) AS 'Overlapped(us)', round_even(communication_ns / 1000.0, 3) AS 'Communication(us)',
       round_even(free_ns / 1000.0, 3) AS 'Free(us)', round_even(total_ns / 1000.0, 3) AS 'Total(us)', source AS 'Source'
  FROM step_breakdown;

SELECT alias AS 'Profile', rank AS 'Rank', ifnull(missing ->> 'prof_kernel', 'no kernels recorded') AS 'No steps because'
  FROM prof_source AS s
 WHERE NOT EXISTS (SELECT 1 FROM prof_kernel AS k WHERE k.profile = s.alias AND k.rank IS s.rank)
   AND NOT EXISTS (SELECT 1 FROM prof_comm_op AS c WHERE c.profile = s.alias AND c.rank IS s.rank)
   AND NOT EXISTS (SELECT 1 FROM prof_step_time AS t WHERE t.profile = s.alias AND t.rank IS s.rank);

SELECT message AS 'Nothing to report' FROM report_hint;
