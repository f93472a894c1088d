-- When was most device memory in use, and for what?
--
-- One row per operator that held memory at the peak, largest first. What the rows leave of Allocated was allocated before the
-- profile began.

SELECT profile AS 'Profile', rank AS 'Rank', device_id AS 'Device', component AS 'Component',
       round_even(allocated_bytes / 1048576.0, 2) AS 'Allocated(MiB)', round_even(reserved_bytes / 1048576.0, 2) AS 'Reserved(MiB)',
       ifnull(name, '(not known)') AS 'Operator', blocks AS 'Blocks', round_even(size_bytes / 1048576.0, 2) AS 'Size(MiB)'
  FROM memory_peak
 LIMIT 40;
