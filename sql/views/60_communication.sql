-- Collectives of two profiles and the small tasks they are made of.

-- _side_comm_op_query: which collectives does each profile have, and of what kind is each?
--
-- The kind is cut out of the name (text, GPU) or the type (database): the second word where the first is hcom,
-- else the first; hcom_allReduce__568_1_1 is allreduce. A name without '_' is no collective. All NCCL kernels
-- are nccldevkernel or ncclkernel, as in the compare tool.
CREATE TEMP VIEW IF NOT EXISTS _side_comm_op_query(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  id,                     -- INTEGER  as _collective
  kind,                   -- TEXT     allreduce, send ...
  start_ns,               -- INTEGER  ns
  end_ns,                 -- INTEGER  ns
  dur_ns,                 -- INTEGER  ns
  place                   -- INTEGER  orders a profile's collectives: by start; in a database as they stand
) AS
WITH worded AS (
  SELECT s.family, o.profile, o.rank, o.id, o.start_ns, o.end_ns, o.dur_ns,
         lower(CASE s.family WHEN 'db' THEN coalesce(o.op_type, o.name) ELSE o.name END) || '_' AS words,
         instr(CASE s.family WHEN 'db' THEN coalesce(o.op_type, o.name) ELSE o.name END, '_') AS first_end
    FROM _compare_side AS s
    JOIN _collective AS o ON o.profile = s.profile
   WHERE s.step IS NULL OR o.step = s.step
),
kinds AS (
  SELECT *, CASE substr(words, 1, first_end - 1)
            WHEN 'hcom' THEN substr(words, 6, instr(substr(words, 6), '_') - 1)
            ELSE substr(words, 1, first_end - 1) END AS kind
    FROM worded
   WHERE first_end > 0
)
SELECT k.profile, k.rank, CAST(k.id AS INTEGER), coalesce(e.a, k.kind), k.start_ns, k.end_ns, k.dur_ns,
       row_number() OVER (PARTITION BY k.profile
                          ORDER BY CASE k.family WHEN 'db' THEN 0 ELSE k.start_ns END, k.id)
  FROM kinds AS k
  LEFT JOIN op_equivalent AS e ON e.b = k.kind AND k.profile = 'comparison';

CREATE VIRTUAL TABLE IF NOT EXISTS temp._side_comm_op USING profana_memo(_side_comm_op_query);

-- _side_comm_task: which tasks belong to which collective?
--
-- A database says it. In a text export a task belongs to the first collective, by start, that runs when the
-- task starts, both ends included: of two groups at work at once, the one that began first gets the tasks.
CREATE TEMP VIEW IF NOT EXISTS _side_comm_task(
  profile,                -- TEXT     base or comparison
  kind,                   -- TEXT     of the collective
  name,                   -- TEXT     Notify_Wait, Memcpy, RDMASend ...
  dur_ns,                 -- INTEGER  ns
  op_place,               -- INTEGER  _side_comm_op.place
  place_ns,               -- INTEGER  orders the tasks of one collective
  id                      -- INTEGER  prof_comm_task.id
) AS
WITH reach AS (           -- collectives by start; before earlier_end_ns an earlier one takes the tasks
  SELECT o.*, s.step, max(o.end_ns) OVER (PARTITION BY o.profile, o.rank ORDER BY o.start_ns, o.id
                                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS earlier_end_ns
    FROM _compare_side AS s
    JOIN _side_comm_op AS o ON o.profile = s.profile
   WHERE s.family = 'text'
)
SELECT r.profile, r.kind, t.name, t.dur_ns, r.place, t.start_ns, t.id
  FROM reach AS r
 CROSS JOIN prof_comm_task AS t
    ON t.profile = r.profile AND t.rank IS r.rank
   AND t.start_ns BETWEEN max(r.start_ns, coalesce(r.earlier_end_ns + 1, r.start_ns)) AND r.end_ns
 WHERE r.step IS NULL OR t.step = r.step
UNION ALL
SELECT o.profile, o.kind, t.name, t.dur_ns, o.place, 0, t.id
  FROM _compare_side AS s
  JOIN _side_comm_op AS o ON o.profile = s.profile
 CROSS JOIN prof_comm_task AS t ON t.profile = o.profile AND t.comm_op_id = o.id
 WHERE s.family = 'db' AND (s.step IS NULL OR t.step = s.step);

-- communication_compare: which collectives got slower, and which of their tasks?
--
-- A row for each kind of collective, in order of first appearance, base first; below it a row for each kind of
-- task, the two sides paired by the task's name.
-- Compare sheet: CommunicationCompare.
CREATE TEMP VIEW IF NOT EXISTS communication_compare(
  order_id,               -- INTEGER  position in the sheet
  kind,                   -- TEXT     allreduce, send ...
  task,                   -- TEXT     Notify_Wait, Memcpy ...; NULL: the collectives themselves
  base_calls,             -- INTEGER  NULL: none in base
  base_total_ns,          -- INTEGER  ns
  base_avg_ns,            -- REAL     ns
  base_max_ns,            -- INTEGER  ns
  base_min_ns,            -- INTEGER  ns
  base_median_ns,         -- REAL     ns, of the single durations
  base_spread_ns,         -- REAL     ns, between their quartiles
  comparison_calls,       -- INTEGER  NULL: none in comparison
  comparison_total_ns,    -- INTEGER  ns
  comparison_avg_ns,      -- REAL     ns
  comparison_max_ns,      -- INTEGER  ns
  comparison_min_ns,      -- INTEGER  ns
  comparison_median_ns,   -- REAL     ns
  comparison_spread_ns,   -- REAL     ns
  diff_total_ns,          -- INTEGER  ns, comparison - base
  total_ratio,            -- REAL     comparison / base; Inf: none in base
  noise,                  -- INTEGER  1: the medians differ by no more than the larger spread; NULL: one side only
  verdict                 -- TEXT     worse, better, same, base only, comparison only
) AS
WITH timed AS (           -- collectives and tasks alike
  SELECT profile, kind, NULL AS task, dur_ns, place AS op_place, 0 AS place_ns, id FROM _side_comm_op
  UNION ALL
  SELECT profile, kind, name, dur_ns, op_place, place_ns, id FROM _side_comm_task
),
ordered AS (
  SELECT *, row_number() OVER (PARTITION BY profile ORDER BY op_place, task IS NOT NULL, place_ns, id) AS place
    FROM timed
),
side AS (
  SELECT profile, kind, task, min(place) AS place, count(*) AS calls, sum(dur_ns) AS total_ns,
         max(dur_ns) AS max_ns, min(dur_ns) AS min_ns, quantile(dur_ns, 0.5) AS median_ns,
         quantile(dur_ns, 0.75) - quantile(dur_ns, 0.25) AS spread_ns
    FROM ordered
   GROUP BY profile, kind, task
),
paired AS (
  SELECT kind, task,
         max(place) FILTER (WHERE profile = 'base') AS base_place,
         max(calls) FILTER (WHERE profile = 'base') AS base_calls,
         max(total_ns) FILTER (WHERE profile = 'base') AS base_total_ns,
         max(max_ns) FILTER (WHERE profile = 'base') AS base_max_ns,
         max(min_ns) FILTER (WHERE profile = 'base') AS base_min_ns,
         max(median_ns) FILTER (WHERE profile = 'base') AS base_median_ns,
         max(spread_ns) FILTER (WHERE profile = 'base') AS base_spread_ns,
         max(place) FILTER (WHERE profile = 'comparison') AS comparison_place,
         max(calls) FILTER (WHERE profile = 'comparison') AS comparison_calls,
         max(total_ns) FILTER (WHERE profile = 'comparison') AS comparison_total_ns,
         max(max_ns) FILTER (WHERE profile = 'comparison') AS comparison_max_ns,
         max(min_ns) FILTER (WHERE profile = 'comparison') AS comparison_min_ns,
         max(median_ns) FILTER (WHERE profile = 'comparison') AS comparison_median_ns,
         max(spread_ns) FILTER (WHERE profile = 'comparison') AS comparison_spread_ns
    FROM side
   GROUP BY kind, task
),
placed AS (               -- where the collectives of the row's kind stand
  SELECT *, max(base_place) FILTER (WHERE task IS NULL) OVER (PARTITION BY kind) AS kind_base_place,
         max(comparison_place) FILTER (WHERE task IS NULL) OVER (PARTITION BY kind) AS kind_comparison_place
    FROM paired
)
SELECT row_number() OVER (ORDER BY kind_base_place IS NULL, kind_base_place, kind_comparison_place,
                          task IS NOT NULL, base_place IS NULL, base_place, comparison_place),
       kind, task,
       base_calls, base_total_ns, base_total_ns * 1.0 / base_calls, base_max_ns, base_min_ns, base_median_ns,
       base_spread_ns,
       comparison_calls, comparison_total_ns, comparison_total_ns * 1.0 / comparison_calls, comparison_max_ns,
       comparison_min_ns, comparison_median_ns, comparison_spread_ns,
       coalesce(comparison_total_ns, 0) - coalesce(base_total_ns, 0),
       compare_ratio(base_total_ns, comparison_total_ns),
       abs(comparison_median_ns - base_median_ns) <= max(base_spread_ns, comparison_spread_ns),
       compare_verdict(base_total_ns, comparison_total_ns)
  FROM placed
 ORDER BY 1;
