-- Uncovered communication by process group: how long each group waits and transmits, and where groups overlap.

-- _group_wait: when does each group wait?
--
-- A Notify_Wait waits, unless it is part of a remote send: not after two RDMASend, nor after RDMASend, RDMASend,
-- Notify_Wait, RDMASend on its plane. The plane that waits least speaks for its group, the first of equals; in a
-- text export that may be a plane that never waits, in a database only planes that wait at all are asked.
CREATE TEMP VIEW IF NOT EXISTS _group_wait(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  group_index,            -- INTEGER  as prof_comm_op
  group_name,             -- TEXT     raw label
  waits,                  -- BLOB     interval set: the waits of the chosen plane
  wait_planes,            -- INTEGER  planes that were asked
  first_ns,               -- INTEGER  ns, start of the group's first wait; NULL: none
  first_id                -- INTEGER  prof_comm_task.id of that wait
) AS
WITH task AS (
  SELECT s.family, t.profile, t.rank, t.id, t.group_index, t.group_name, t.plane_id, t.plane_order, t.name, t.start_ns, t.end_ns,
         group_concat(CASE t.name WHEN 'RDMASend' THEN 'R' WHEN 'Notify_Wait' THEN 'N' ELSE 'O' END, '')
           OVER (PARTITION BY t.profile, t.rank, t.group_index, t.group_name, t.plane_id ORDER BY t.start_ns, t.id
                 ROWS BETWEEN 4 PRECEDING AND 1 PRECEDING) AS before
    FROM _side_rank AS s
   CROSS JOIN prof_comm_task AS t ON t.profile = s.profile AND t.rank IS s.rank
   WHERE s.step IS NULL OR t.start_ns BETWEEN s.step_start_ns AND s.step_end_ns
),
judged AS (
  SELECT *, name = 'Notify_Wait' AND coalesce(before NOT LIKE '%RR' AND before <> 'RRNR', 1) AS waits FROM task
),
plane AS (
  SELECT family, profile, rank, group_index, group_name, plane_id,
         coalesce(interval_agg(start_ns, end_ns) FILTER (WHERE waits), interval_union()) AS waits,
         coalesce(sum(end_ns - start_ns) FILTER (WHERE waits), 0) AS wait_ns,
         min(start_ns) FILTER (WHERE waits) AS first_ns, min(id) FILTER (WHERE waits) AS first_id,
         min(plane_order) AS plane_order
    FROM judged
   GROUP BY family, profile, rank, group_index, group_name, plane_id
),
ranked AS (
  SELECT *, count(*) OVER one_group AS wait_planes, min(first_ns) OVER one_group AS group_first_ns,
         min(first_id) OVER one_group AS group_first_id,
         row_number() OVER (PARTITION BY profile, rank, group_index, group_name
                            ORDER BY wait_ns, CASE family WHEN 'db' THEN first_ns END, plane_order, plane_id) AS place
    FROM plane
   WHERE family = 'text' OR first_id IS NOT NULL
  WINDOW one_group AS (PARTITION BY profile, rank, group_index, group_name)
)
SELECT profile, rank, group_index, group_name, waits, wait_planes, group_first_ns, group_first_id
  FROM ranked
 WHERE place = 1;

-- _overall_group_query: how much uncovered communication does each group cause?
--
-- True lengths of the group's waits and operations within the uncovered time. A plane without any task, told by
-- the number of the group's planes, never waits either. Databases list the groups that wait first, in order of
-- their first wait.
CREATE TEMP VIEW IF NOT EXISTS _overall_group_query(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  group_index,            -- INTEGER  as prof_comm_op
  label,                  -- TEXT     raw label of the group; N/A: none
  name,                   -- TEXT     name of the process group; NULL: not known
  place,                  -- INTEGER  orders the groups of a profile
  uncovered,              -- TEXT     JSON of the interval set: the group's operations within the uncovered time
  total_ns,               -- INTEGER  ns, its length
  wait_ns                 -- INTEGER  ns, waits within the uncovered time
) AS
WITH span AS MATERIALIZED (
  SELECT profile, rank, interval_from_json(uncovered) AS uncovered FROM _overall_span
),
working AS (
  SELECT s.family, c.profile, c.rank, c.group_index, c.group_name, max(nullif(c.process_group, '')) AS name,
         max(c.plane_count) AS planes, interval_agg(c.start_ns, c.end_ns) AS operations, min(c.id) AS first_id
    FROM _side_rank AS s
   CROSS JOIN prof_comm_op AS c ON c.profile = s.profile AND c.rank IS s.rank
   WHERE s.family <> 'gpu' AND (s.step IS NULL OR c.start_ns BETWEEN s.step_start_ns AND s.step_end_ns)
   GROUP BY c.profile, c.rank, c.group_index, c.group_name
),
waiting AS MATERIALIZED (SELECT * FROM _group_wait),
joined AS (               -- groups with operations, then, in databases, groups that only wait
  SELECT g.family, g.profile, g.rank, g.group_index, g.group_name, g.name, g.operations, g.first_id,
         CASE WHEN g.family = 'text' AND g.planes > w.wait_planes THEN NULL ELSE w.waits END AS waits,
         w.first_ns, w.first_id AS wait_id
    FROM working AS g
    LEFT JOIN waiting AS w ON w.profile = g.profile AND w.rank IS g.rank AND w.group_index IS g.group_index
                          AND w.group_name IS g.group_name
  UNION ALL
  SELECT 'db', w.profile, w.rank, w.group_index, w.group_name, NULL, interval_union(), NULL, w.waits, w.first_ns,
         w.first_id
    FROM waiting AS w
   WHERE w.profile IN (SELECT profile FROM _compare_side WHERE family = 'db')
     AND w.first_id IS NOT NULL AND w.group_name IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM working AS g
                      WHERE g.profile = w.profile AND g.rank IS w.rank AND g.group_name = w.group_name)
),
measured AS (
  SELECT j.*, interval_intersect(j.operations, s.uncovered) AS uncovered,
         coalesce(interval_length(interval_intersect(j.waits, s.uncovered)), 0) AS wait_ns
    FROM joined AS j
    JOIN span AS s ON s.profile = j.profile AND s.rank IS j.rank
)
SELECT profile, rank, group_index, coalesce(group_name, 'N/A'), name,
       row_number() OVER (PARTITION BY profile
                          ORDER BY rank, CASE family WHEN 'db' THEN first_ns IS NULL END,
                                   CASE family WHEN 'db' THEN first_ns END, CASE family WHEN 'db' THEN wait_id END,
                                   group_index, first_id),
       interval_json(uncovered), interval_length(uncovered), wait_ns
  FROM measured;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._overall_group USING profana_memo(_overall_group_query);

-- _overall_group_pair: where do two groups communicate uncovered at the same time?
--
-- Groups by the names shown, in order of the groups; a pair that base has the other way round goes by base's name.
CREATE TEMP VIEW IF NOT EXISTS _overall_group_pair(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  pair,                   -- TEXT     tp & dp
  place,                  -- INTEGER  orders the pairs of a profile
  dur_ns                  -- INTEGER  ns, length of the common uncovered time
) AS
WITH part AS MATERIALIZED (
  SELECT profile, rank, coalesce(name, label) AS shown, interval_from_json(uncovered) AS uncovered,
         row_number() OVER (PARTITION BY profile, rank ORDER BY group_index, place) AS place
    FROM _overall_group
),
common AS MATERIALIZED (
  SELECT a.profile, a.rank, a.shown AS one, b.shown AS other, a.place * 100000 + b.place AS place,
         interval_length(interval_intersect(a.uncovered, b.uncovered)) AS dur_ns
    FROM part AS a
    JOIN part AS b ON b.profile = a.profile AND b.rank IS a.rank AND b.place > a.place
)
SELECT c.profile, c.rank,
       CASE WHEN c.profile = 'comparison' AND NOT EXISTS (SELECT 1 FROM common AS b
                                                           WHERE b.profile = 'base' AND b.one = c.one AND b.other = c.other)
                 AND EXISTS (SELECT 1 FROM common AS b WHERE b.profile = 'base' AND b.one = c.other AND b.other = c.one)
            THEN c.other || ' & ' || c.one ELSE c.one || ' & ' || c.other END,
       c.place, c.dur_ns
  FROM common AS c
 WHERE c.dur_ns > 0;
