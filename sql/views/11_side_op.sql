-- Operators of the two profiles: the tree, the pairs and what each operator made the device do. The sheets for
-- operators and memory stand on these steps.

-- _side_op: which operators take part?
--
-- All nodes of the compare tool's operator tree but the steps themselves; of a step asked for, the operators
-- that start in it. root_id = id marks the top-level operators, which the detail sheets list.
CREATE TEMP VIEW IF NOT EXISTS _side_op(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  id,                     -- INTEGER  prof_host_op.id
  name,                   -- TEXT     operator
  thread_id,              -- INTEGER  thread
  start_ns,               -- INTEGER  ns
  dur_ns,                 -- INTEGER  ns
  self_ns,                -- INTEGER  ns, less its children
  parent_id,              -- INTEGER  prof_host_op.id; NULL: none
  root_id,                -- INTEGER  its top-level operator
  depth,                  -- INTEGER  depth in the tree
  input_shapes            -- TEXT     dims by ',', tensors by ';\r\n'; GPU: JSON array; NULL unknown
) AS
SELECT o.profile, o.rank, o.id, o.name, o.thread_id, o.start_ns, o.dur_ns, o.self_ns, o.parent_id, o.root_id, o.depth,
       o.input_shapes
  FROM prof_host_op AS o
 WHERE o.profile IN ('base', 'comparison') AND o.root_id IS NOT NULL
   AND o.step IS coalesce(iif(o.profile = 'base', (SELECT step FROM _compare_side WHERE profile = 'base'),
                              (SELECT step FROM _compare_side WHERE profile = 'comparison')), o.step);

-- _keyed_op: by what is an operator matched with one of the other side?
--
-- Its name, after op_equivalent (comparison only) and the setting op_name_map; with use_input_shape followed by
-- its input shapes as Ascend writes them.
CREATE TEMP VIEW IF NOT EXISTS _keyed_op(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  id,                     -- INTEGER  prof_host_op.id
  thread_id,              -- INTEGER  thread
  start_ns,               -- INTEGER  ns
  parent_id,              -- INTEGER  prof_host_op.id; NULL: none
  root_id,                -- INTEGER  its top-level operator
  depth,                  -- INTEGER  depth in the tree
  name,                   -- TEXT     operator
  key                     -- TEXT     equal keys match
) AS
WITH renamed AS MATERIALIZED (
  SELECT m.key AS name, m.value AS counts_as FROM _compare_setting AS g, json_each(g.op_name_map) AS m
),
setting AS MATERIALIZED (SELECT use_input_shape FROM _compare_setting)
SELECT o.profile, o.rank, o.id, o.thread_id, o.start_ns, o.parent_id, o.root_id, o.depth, o.name,
       coalesce(r.counts_as, e.a, o.name) ||
       CASE WHEN g.use_input_shape = 0 THEN ''
            WHEN o.input_shapes LIKE '[%'
              THEN trim(replace(trim(o.input_shapes, '[]'), '],[', ';' || char(13, 10)), '[]')
            ELSE coalesce(o.input_shapes, 'N/A') END
  FROM setting AS g
 CROSS JOIN _side_op AS o
  LEFT JOIN op_equivalent AS e ON e.b = o.name AND o.profile = 'comparison'
  LEFT JOIN renamed AS r ON r.name = coalesce(e.a, o.name);

-- _op_launch_query: what did each operator make the device do?
--
-- Every piece of device work that the profiler links to the host: kernels, copies, collectives; of a GPU no
-- memsets and no waits (Context Sync), as in the compare tool. A database links by connection id, and so also the
-- task that holds a collective, the one around a kernel of several cores, and waits: they take the time of
-- the work they serve once more and are left out. Flows between CANN calls and the device are not links to an
-- operator. The detail sheets write a piece so: Ascend: name, task id, task type, [input shapes: ...] [duration:
-- us], the shapes only where they are known, the type in a database the one that the host declared; GPU: name
-- [duration: us].
CREATE TEMP VIEW IF NOT EXISTS _op_launch_query(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  id,                     -- INTEGER  prof_launch.id
  host_op_id,             -- INTEGER  prof_host_op.id of the innermost operator; NULL: none found
  launch_ns,              -- INTEGER  ns
  name,                   -- TEXT     kernel, copy or collective
  dur_ns,                 -- INTEGER  ns
  text                    -- TEXT     the line of the detail sheets, with its end
) AS
WITH work AS (
  SELECT l.profile, l.rank, s.family, l.id, l.host_op_id, l.launch_ns,
         CASE WHEN l.comm_op_id IS NULL THEN t.name ELSE c.name END AS name,
         CASE WHEN l.comm_op_id IS NULL THEN t.task_id END AS task_id,
         CASE WHEN l.comm_op_id IS NULL THEN t.task_type END AS task_type,
         l.kernel_id,
         CASE WHEN l.comm_op_id IS NULL THEN t.dur_ns ELSE c.dur_ns END AS dur_ns
    FROM _compare_side AS s
   CROSS JOIN prof_launch AS l ON l.profile = s.profile
    LEFT JOIN prof_device_task AS t ON t.profile = l.profile AND t.id = l.device_task_id
    LEFT JOIN prof_comm_op AS c ON c.profile = l.profile AND c.id = l.comm_op_id
   WHERE l.category IS NOT 'HostToDevice'
     AND (l.comm_op_id IS NOT NULL
          OR l.device_task_id IS NOT NULL
             AND CASE s.family
                 WHEN 'gpu' THEN t.task_type IN ('kernel', 'gpu_memcpy')
                 WHEN 'db' THEN l.kernel_id IS NOT NULL OR t.task_type IN (SELECT task_type FROM _copy_type)
                 ELSE 1 END)
)
SELECT w.profile, w.rank, w.id, w.host_op_id, w.launch_ns, w.name, w.dur_ns,
       CASE w.family
       WHEN 'gpu' THEN python_format('{} [duration: {}]' || char(10), w.name, w.dur_ns / 1e3)
       ELSE python_format('{}, {}, {}{} [duration: {}]' || char(10), w.name, coalesce(w.task_id, 'None'),
                          coalesce(CASE w.family WHEN 'db' THEN k.core_type END, w.task_type, 'None'),
                          coalesce(', [input shapes: ' || k.input_shapes || ']', ''), w.dur_ns / 1e3) END
  FROM work AS w
  LEFT JOIN prof_kernel AS k ON k.profile = w.profile AND k.id = w.kernel_id;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._op_launch USING profana_memo(_op_launch_query, text);

-- _top_op_query: the top-level operators, and by what they are matched, to be kept in the order of the run.
--
-- So rowids of the kept rows count the operators of a rank by start.
CREATE TEMP VIEW IF NOT EXISTS _top_op_query(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  id,                     -- INTEGER  prof_host_op.id
  name,                   -- TEXT     operator
  thread_id,              -- INTEGER  thread
  start_ns,               -- INTEGER  ns
  key                     -- TEXT     as _keyed_op
) AS
SELECT profile, rank, id, name, thread_id, start_ns, key FROM _keyed_op WHERE root_id = id;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._top_op
 USING profana_memo(_top_op_query, ORDER BY profile, rank, start_ns, id);

-- _op_stretch_query: which stretches of the run are on the backward thread, and which are not?
--
-- Top-level operators in order of start. Where both profiles have a backward thread, each sequence is cut where it
-- enters or leaves that thread.
CREATE TEMP VIEW IF NOT EXISTS _op_stretch_query(
  profile,                -- TEXT     base or comparison
  rank_place,             -- INTEGER  1: first rank of the profile
  stretch,                -- INTEGER  1, 2, 3 ... in the rank
  backward,               -- INTEGER  1: on the backward thread
  first_row,              -- INTEGER  rowid of its first operator in _top_op
  last_row                -- INTEGER  rowid of its last one
) AS
WITH thread AS MATERIALIZED ( -- only where both sides have one
  SELECT profile, rank, thread_id FROM _backward_thread WHERE (SELECT count(DISTINCT profile) FROM _backward_thread) = 2
),
run AS MATERIALIZED (
  SELECT o.profile, o.rank, row_number() OVER (PARTITION BY o.profile ORDER BY o.rank) AS rank_place, o.first_row, o.last_row,
         t.thread_id
    FROM (SELECT profile, rank, min(rowid) AS first_row, max(rowid) AS last_row FROM _top_op GROUP BY profile, rank) AS o
    LEFT JOIN thread AS t ON t.profile = o.profile AND t.rank IS o.rank
),
backward AS (
  SELECT r.profile, r.rank_place, r.first_row, r.last_row, o.rowid AS row,
         (SELECT p.thread_id FROM _top_op AS p WHERE p.rowid = o.rowid - 1) IS NOT r.thread_id AS enters,
         (SELECT n.thread_id FROM _top_op AS n WHERE n.rowid = o.rowid + 1) IS NOT r.thread_id AS leaves
    FROM run AS r
   CROSS JOIN _top_op AS o ON o.profile = r.profile AND o.rank IS r.rank AND o.thread_id = r.thread_id
),
cut AS (
  SELECT profile, rank_place, last_row, first_row AS row,
         coalesce((SELECT o.thread_id = r.thread_id FROM _top_op AS o WHERE o.rowid = r.first_row), 0) AS backward
    FROM run AS r
   UNION ALL
  SELECT profile, rank_place, last_row, row, 1 FROM backward WHERE enters AND row > first_row
   UNION ALL
  SELECT profile, rank_place, last_row, row + 1, 0 FROM backward WHERE leaves AND row < last_row
)
SELECT profile, rank_place, row_number() OVER in_order, backward, row, lead(row, 1, last_row + 1) OVER in_order - 1
  FROM cut
WINDOW in_order AS (PARTITION BY profile, rank_place ORDER BY row);

CREATE VIRTUAL TABLE IF NOT EXISTS temp._op_stretch USING profana_memo(_op_stretch_query);

-- _op_pair_query: which operators of the two profiles belong together? To be kept in the order of the sheets.
--
-- Top-level operators in order of start. Where both profiles have a backward thread, each sequence is cut into
-- stretches on and off that thread; if the first stretches differ in kind, the side with more of them begins
-- with its own alone (base if it has more, else comparison); stretches meet by number. Within a stretch the
-- setting match says how: longest common blocks, or longest common subsequence. A pair with more kernels than
-- max_kernel_num, and children on both sides, is replaced by the pairs of its children, and so on down.
-- Of several ranks the first meets the first. Rowids of the kept rows count the pairs.
CREATE TEMP VIEW IF NOT EXISTS _op_pair_query(
  rank_place,             -- INTEGER  1: the first ranks of the profiles
  slot,                   -- INTEGER  orders the meetings of two stretches
  ordinal,                -- INTEGER  orders the pairs of a meeting
  path,                   -- TEXT     orders the pairs of children that a pair was replaced by; '': not replaced
  base_id,                -- INTEGER  prof_host_op.id; NULL: only in comparison
  comparison_id           -- INTEGER  prof_host_op.id; NULL: only in base
) AS
WITH RECURSIVE setting AS MATERIALIZED (SELECT max_kernel_num, match FROM _compare_setting),
start AS MATERIALIZED (   -- the kind of the first stretch, and how many there are
  SELECT rank_place,
         max(backward) FILTER (WHERE profile = 'base' AND stretch = 1) AS base_kind,
         max(backward) FILTER (WHERE profile = 'comparison' AND stretch = 1) AS comparison_kind,
         max(stretch) FILTER (WHERE profile = 'base') AS base_stretches,
         max(stretch) FILTER (WHERE profile = 'comparison') AS comparison_stretches
    FROM _op_stretch
   GROUP BY rank_place
),
meeting AS MATERIALIZED ( -- stretches with one slot meet
  SELECT p.rank_place,
         p.stretch - coalesce(a.base_kind <> a.comparison_kind
                              AND p.profile = CASE WHEN a.base_stretches > a.comparison_stretches
                                              THEN 'base' ELSE 'comparison' END, 0) AS slot,
         max(p.stretch) FILTER (WHERE p.profile = 'base') AS base_stretch,
         max(p.stretch) FILTER (WHERE p.profile = 'comparison') AS comparison_stretch
    FROM _op_stretch AS p
    JOIN start AS a ON a.rank_place = p.rank_place
   GROUP BY 1, 2
),
matched AS MATERIALIZED (
  SELECT m.rank_place, m.slot, q.ordinal, q.base_id, q.comparison_id
    FROM setting AS g
   CROSS JOIN meeting AS m
   CROSS JOIN sequence_match((SELECT sequence_agg(o.key, o.id, o.rowid)
                                FROM _op_stretch AS s
                               CROSS JOIN _top_op AS o ON o.rowid BETWEEN s.first_row AND s.last_row
                               WHERE s.profile = 'base' AND s.rank_place = m.rank_place AND s.stretch = m.base_stretch),
                             (SELECT sequence_agg(o.key, o.id, o.rowid)
                                FROM _op_stretch AS s
                               CROSS JOIN _top_op AS o ON o.rowid BETWEEN s.first_row AND s.last_row
                               WHERE s.profile = 'comparison' AND s.rank_place = m.rank_place
                                 AND s.stretch = m.comparison_stretch), g.match) AS q
),
-- What follows has rows only where max_kernel_num is set.
launching AS (
  SELECT l.profile, l.host_op_id, count(*) AS kernels
    FROM setting AS g
   CROSS JOIN _op_launch AS l
   WHERE g.max_kernel_num > 0
   GROUP BY l.profile, l.host_op_id
),
node AS MATERIALIZED (    -- kernels of each operator and all below it
  SELECT o.profile, o.id, o.parent_id, o.key, o.start_ns, o.root_id,
         nest_total(coalesce(k.kernels, 0), o.depth) OVER (PARTITION BY o.profile, o.root_id
                                                 ORDER BY o.start_ns DESC, o.id DESC ROWS UNBOUNDED PRECEDING) AS kernels
    FROM setting AS g
   CROSS JOIN _keyed_op AS o
    LEFT JOIN launching AS k ON k.profile = o.profile AND k.host_op_id = o.id
   WHERE g.max_kernel_num > 0
),
drilled(rank_place, slot, ordinal, path, base_id, comparison_id, opened) AS (
  SELECT rank_place, slot, ordinal, '', base_id, comparison_id, NULL FROM matched
   WHERE (SELECT max_kernel_num FROM setting) > 0 AND base_id IS NOT NULL AND comparison_id IS NOT NULL
  UNION ALL
  SELECT d.rank_place, d.slot, d.ordinal, d.path || printf('%08d.', q.ordinal), q.base_id, q.comparison_id, d.base_id
    FROM drilled AS d
   CROSS JOIN setting AS g
    JOIN node AS nb ON nb.profile = 'base' AND nb.id = d.base_id
    JOIN node AS nc ON nc.profile = 'comparison' AND nc.id = d.comparison_id
   CROSS JOIN sequence_match((SELECT sequence_agg(o.key, o.id, o.start_ns, o.id) FROM node AS o
                               WHERE o.profile = 'base' AND o.parent_id = d.base_id),
                             (SELECT sequence_agg(o.key, o.id, o.start_ns, o.id) FROM node AS o
                               WHERE o.profile = 'comparison' AND o.parent_id = d.comparison_id), g.match) AS q
   WHERE max(nb.kernels, nc.kernels) > g.max_kernel_num
     AND EXISTS (SELECT 1 FROM node AS o WHERE o.profile = 'base' AND o.parent_id = d.base_id)
     AND EXISTS (SELECT 1 FROM node AS o WHERE o.profile = 'comparison' AND o.parent_id = d.comparison_id)
),
opened AS MATERIALIZED (SELECT DISTINCT opened AS base_id FROM drilled WHERE opened IS NOT NULL),
listed AS (
  SELECT rank_place, slot, ordinal, '' AS path, base_id, comparison_id
    FROM matched
   WHERE (SELECT max_kernel_num FROM setting) = 0 OR base_id IS NULL OR comparison_id IS NULL
  UNION ALL
  SELECT rank_place, slot, ordinal, path, base_id, comparison_id
    FROM drilled
   WHERE base_id IS NULL OR comparison_id IS NULL OR base_id NOT IN (SELECT base_id FROM opened)
)
SELECT * FROM listed;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._op_pair
 USING profana_memo(_op_pair_query, ORDER BY rank_place, slot, ordinal, path);

-- _shown_op_query: which operators do the sheets list?
--
-- The top-level ones; where max_kernel_num is set, those that _op_pair comes down to.
CREATE TEMP VIEW IF NOT EXISTS _shown_op_query(
  profile,                -- TEXT     base or comparison
  id,                     -- INTEGER  prof_host_op.id
  name,                   -- TEXT     operator, by the name of op_equivalent where it has one
  start_ns                -- INTEGER  ns
) AS
WITH shown AS (
  SELECT o.profile, o.id, o.name, o.start_ns
    FROM _compare_setting AS g
   CROSS JOIN _top_op AS o
   WHERE g.max_kernel_num = 0
  UNION ALL
  SELECT o.profile, o.id, o.name, o.start_ns
    FROM _compare_setting AS g
   CROSS JOIN _side_op AS o
   WHERE g.max_kernel_num > 0
     AND (o.profile, o.id) IN (SELECT 'base', base_id FROM _op_pair
                               UNION ALL SELECT 'comparison', comparison_id FROM _op_pair)
)
SELECT s.profile, s.id, coalesce(e.a, s.name), s.start_ns
  FROM shown AS s
  LEFT JOIN op_equivalent AS e ON e.b = s.name AND s.profile = 'comparison';

CREATE VIRTUAL TABLE IF NOT EXISTS temp._shown_op USING profana_memo(_shown_op_query);

-- _op_owner: under which listed operator does an operator stand where max_kernel_num is set?
--
-- The nearest listed one from itself up to its top-level operator. Elsewhere it is the top-level operator, root_id,
-- and this view empty.
CREATE TEMP VIEW IF NOT EXISTS _op_owner(
  profile,                -- TEXT     base or comparison
  id,                     -- INTEGER  prof_host_op.id
  depth,                  -- INTEGER  depth in the tree
  start_ns,               -- INTEGER  ns
  shown_id                -- INTEGER  prof_host_op.id of the listed operator; NULL: none
) AS
SELECT o.profile, o.id, o.depth, o.start_ns,
       CAST((WITH RECURSIVE up(id, parent_id) AS (
               SELECT o.id, o.parent_id
               UNION ALL
               SELECT p.id, p.parent_id FROM up JOIN prof_host_op AS p ON p.profile = o.profile AND p.id = up.parent_id
                WHERE up.id <> o.root_id
             )
             SELECT up.id FROM up
              WHERE (o.profile, up.id) IN (SELECT 'base', base_id FROM _op_pair
                                           UNION ALL SELECT 'comparison', comparison_id FROM _op_pair)
              LIMIT 1) AS INTEGER)
  FROM _compare_setting AS g
 CROSS JOIN prof_host_op AS o
 WHERE g.max_kernel_num > 0 AND o.root_id IS NOT NULL;

-- _op_work_query: how long does the device work for each listed operator?
--
-- Its own work and that of all operators below it: its own first, then level by level.
CREATE TEMP VIEW IF NOT EXISTS _op_work_query(
  profile,                -- TEXT     base or comparison
  shown_id,               -- INTEGER  prof_host_op.id of the listed operator
  device_ns,              -- INTEGER  ns
  kernels                 -- TEXT     the lines of the detail sheets
) AS
SELECT o.profile, o.root_id, sum(l.dur_ns), ordered_concat(l.text, '', o.depth, o.start_ns, o.id, l.id)
  FROM prof_host_op AS o
 CROSS JOIN _op_launch AS l ON l.profile = o.profile AND l.host_op_id = o.id
 WHERE (SELECT max_kernel_num FROM _compare_setting) = 0
   AND o.profile IN ('base', 'comparison') AND o.root_id IS NOT NULL
 GROUP BY o.profile, o.root_id
 UNION ALL
SELECT o.profile, o.shown_id, sum(l.dur_ns), ordered_concat(l.text, '', o.depth, o.start_ns, o.id, l.id)
  FROM _op_owner AS o
 CROSS JOIN _op_launch AS l ON l.profile = o.profile AND l.host_op_id = o.id
 GROUP BY o.profile, o.shown_id;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._op_work USING profana_memo(_op_work_query, kernels);
