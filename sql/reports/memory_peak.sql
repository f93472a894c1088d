-- When was most device memory in use, and for what?
--
-- The 15 operators of each device that held most memory at the peak, largest first. At is the time of the peak after the profile's
-- first record. What the rows leave of Allocated was allocated before the profile began, or by what it does not record.

WITH ranked AS (
  SELECT *, row_number() OVER (PARTITION BY profile, rank, device_id ORDER BY size_bytes DESC) AS place FROM memory_peak
)
SELECT profile AS 'Profile', rank AS 'Rank', device_id AS 'Device', component AS 'Component',
       round_even((peak_ns - first_ns) / 1e6, 3) AS 'At(ms)', round_even(allocated_bytes / 1048576.0, 2) AS 'Allocated(MiB)',
       round_even(reserved_bytes / 1048576.0, 2) AS 'Reserved(MiB)', elide(ifnull(name, '(not known)'), 36) AS 'Operator',
       blocks AS 'Blocks', round_even(size_bytes / 1048576.0, 2) AS 'Size(MiB)'
  FROM ranked
 WHERE place <= 15
 ORDER BY profile, rank, device_id, place;

SELECT alias AS 'Profile', rank AS 'Rank',
       ifnull(missing ->> 'prof_memory_usage',
              CASE WHEN EXISTS (SELECT 1 FROM prof_memory_usage AS m WHERE m.profile = s.alias AND m.rank IS s.rank)
                   THEN 'what was recorded of memory tells no size on a device'
                   ELSE 'no memory recorded: collect with profile_memory' END) AS 'No peak because'
  FROM prof_source AS s
 WHERE NOT EXISTS (SELECT 1 FROM prof_memory_usage AS m
                    WHERE m.profile = s.alias AND m.rank IS s.rank AND m.allocated_bytes IS NOT NULL AND m.device_id IS NOT NULL);

SELECT message AS 'Nothing to report' FROM report_hint;
