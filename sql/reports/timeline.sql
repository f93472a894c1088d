-- What happened when, in one step?
--
-- The first 200 pieces of work of each profile's first rank, in order of time from the step's start: the host's top operators, the
-- kernels of each stream, the collectives. A gap in a stream's rows is the device waiting; the host's rows beside it tell for what.
-- The step is the one given to profana_open ('{"step":5}'), else the first; without steps it is all device work.

WITH ranked AS (
  SELECT *, row_number() OVER (PARTITION BY profile ORDER BY at_ns, dur_ns DESC) AS place FROM step_timeline
)
SELECT profile AS 'Profile', rank AS 'Rank', step AS 'Step', round_even(at_ns / 1000.0, 3) AS 'At(us)', elide(lane, 28) AS 'Lane',
       elide(name, 48) AS 'Name', round_even(dur_ns / 1000.0, 3) AS 'Duration(us)'
  FROM ranked
 WHERE place <= 200
 ORDER BY profile, place;

SELECT alias AS 'Profile', min(rank) AS 'Rank', ifnull(missing ->> 'prof_kernel', 'no kernels and no operators recorded') AS 'No work because'
  FROM prof_source AS s
 GROUP BY alias
HAVING alias NOT IN (SELECT profile FROM step_timeline);

SELECT message AS 'Nothing to report' FROM report_hint;
