-- api_compare: which host calls take longer, in all and by themselves?
--
-- A row for each name of the operator tree, all levels, steps left out; self time is the duration less that of
-- the children. In order of first appearance: by start, or level by level within a chosen step; base first. The
-- verdict is on the totals.
-- GPU traces list runtime calls and user annotations too.
-- Compare sheet: ApiCompare.
CREATE TEMP VIEW IF NOT EXISTS api_compare(
  order_id,               -- INTEGER  position in the sheet
  name,                   -- TEXT     host call
  base_total_ns,          -- INTEGER  ns; NULL: none in base
  base_self_ns,           -- INTEGER  ns; negative where children outlast their parent
  base_avg_ns,            -- REAL     ns
  base_calls,             -- INTEGER
  comparison_total_ns,    -- INTEGER  ns; NULL: none in comparison
  comparison_self_ns,     -- INTEGER  ns
  comparison_avg_ns,      -- REAL     ns
  comparison_calls,       -- INTEGER
  diff_total_ns,          -- INTEGER  ns, comparison - base
  diff_self_ns,           -- INTEGER  ns
  total_ratio,            -- REAL     comparison / base; Inf: none in base
  self_ratio,             -- REAL
  avg_ratio,              -- REAL
  calls_ratio,            -- REAL
  verdict                 -- TEXT     worse, better, same, base only, comparison only
) AS
WITH level AS (           -- each name of each side, by its depth in the tree
  SELECT profile, name, depth, sum(dur_ns) AS total_ns, sum(self_ns) AS self_ns, count(*) AS calls,
         min(start_ns) AS first_ns, id AS first_id
    FROM _side_op
   GROUP BY profile, name, depth
),
seen AS (
  SELECT l.profile, coalesce(e.a, l.name) AS name, l.total_ns, l.self_ns, l.calls,
         row_number() OVER (PARTITION BY l.profile ORDER BY iif(s.step IS NULL, 0, l.depth), l.first_ns IS NULL, l.first_ns,
                            l.first_id) AS turn
    FROM level AS l
    JOIN _compare_side AS s ON s.profile = l.profile
    LEFT JOIN op_equivalent AS e ON e.b = l.name AND l.profile = 'comparison'
),
placed AS (               -- each name of each side
  SELECT profile, name, min(turn) AS place, sum(total_ns) AS total_ns, sum(self_ns) AS self_ns, sum(calls) AS calls
    FROM seen
   GROUP BY profile, name
),
paired AS (               -- both sides of one name on one row
  SELECT name,
         max(place) FILTER (WHERE profile = 'base') AS base_place,
         max(place) FILTER (WHERE profile = 'comparison') AS comparison_place,
         max(total_ns) FILTER (WHERE profile = 'base') AS base_total_ns,
         max(self_ns) FILTER (WHERE profile = 'base') AS base_self_ns,
         max(calls) FILTER (WHERE profile = 'base') AS base_calls,
         max(total_ns) FILTER (WHERE profile = 'comparison') AS comparison_total_ns,
         max(self_ns) FILTER (WHERE profile = 'comparison') AS comparison_self_ns,
         max(calls) FILTER (WHERE profile = 'comparison') AS comparison_calls
    FROM placed
   GROUP BY name
)
SELECT row_number() OVER (ORDER BY base_place IS NULL, base_place, comparison_place), name,
       base_total_ns, base_self_ns, base_total_ns * 1.0 / base_calls, base_calls,
       comparison_total_ns, comparison_self_ns, comparison_total_ns * 1.0 / comparison_calls, comparison_calls,
       coalesce(comparison_total_ns, 0) - coalesce(base_total_ns, 0),
       coalesce(comparison_self_ns, 0) - coalesce(base_self_ns, 0),
       compare_ratio(base_total_ns, comparison_total_ns),
       compare_ratio(base_self_ns, comparison_self_ns),
       compare_ratio(base_total_ns * 1.0 / base_calls, comparison_total_ns * 1.0 / comparison_calls),
       compare_ratio(base_calls, comparison_calls),
       compare_verdict(base_total_ns, comparison_total_ns)
  FROM paired
 ORDER BY 1;
