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
  parent_id,              -- INTEGER  prof_host_op.id; NULL: none
  root_id,                -- INTEGER  its top-level operator
  depth,                  -- INTEGER  depth in the tree
  input_shapes,           -- TEXT     dims by ',', tensors by ';\r\n'; GPU: JSON array; NULL unknown
  input_types,            -- TEXT     as input_shapes
  call_stack              -- TEXT     frames by ';\r\n'; NULL unknown
) AS
SELECT o.profile, o.rank, o.id, o.name, o.thread_id, o.start_ns, o.parent_id, o.root_id, o.depth, o.input_shapes,
       o.input_types, o.call_stack
  FROM _compare_side AS s
 CROSS JOIN prof_host_op AS o ON o.profile = s.profile
 WHERE o.root_id IS NOT NULL AND (s.step IS NULL OR o.step = s.step);

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
  key                     -- TEXT     equal keys match
) AS
WITH renamed AS MATERIALIZED (
  SELECT m.key AS name, m.value AS counts_as FROM _compare_setting AS g, json_each(g.op_name_map) AS m
),
setting AS MATERIALIZED (SELECT use_input_shape FROM _compare_setting)
SELECT o.profile, o.rank, o.id, o.thread_id, o.start_ns, o.parent_id, o.root_id, o.depth,
       coalesce(r.counts_as, e.a, o.name) ||
       CASE WHEN g.use_input_shape = 0 THEN ''
            WHEN o.input_shapes LIKE '[%'
              THEN trim(replace(trim(o.input_shapes, '[]'), '],[', ';' || char(13, 10)), '[]')
            ELSE coalesce(o.input_shapes, 'N/A') END
  FROM setting AS g
 CROSS JOIN _side_op AS o
  LEFT JOIN op_equivalent AS e ON e.b = o.name AND o.profile = 'comparison'
  LEFT JOIN renamed AS r ON r.name = coalesce(e.a, o.name);

-- _op_launch: what did each operator make the device do?
--
-- Every piece of device work that the profiler links to the host: kernels, copies, collectives; of a GPU no
-- memsets and no waits (Context Sync), as in the compare tool. A database links by connection id, and so also the
-- task that holds a collective, the one around a kernel of several cores, and waits: they take the time of
-- the work they serve once more and are left out. Flows between CANN calls and the device are not links to an
-- operator.
CREATE TEMP VIEW IF NOT EXISTS _op_launch(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  family,                 -- TEXT     text, db or gpu
  id,                     -- INTEGER  prof_launch.id
  host_op_id,             -- INTEGER  prof_host_op.id of the innermost operator; NULL: none found
  launch_ns,              -- INTEGER  ns
  name,                   -- TEXT     kernel, copy or collective
  task_id,                -- INTEGER  hardware task id; NULL unknown
  task_type,              -- TEXT     AI_CORE, SDMA_SQE ...; NULL: a collective
  kernel_id,              -- INTEGER  prof_kernel.id; NULL: no kernel
  dur_ns                  -- INTEGER  ns
) AS
SELECT l.profile, l.rank, s.family, l.id, l.host_op_id, l.launch_ns,
       CASE WHEN l.comm_op_id IS NULL THEN t.name ELSE c.name END,
       CASE WHEN l.comm_op_id IS NULL THEN t.task_id END,
       CASE WHEN l.comm_op_id IS NULL THEN t.task_type END,
       l.kernel_id,
       CASE WHEN l.comm_op_id IS NULL THEN t.dur_ns ELSE c.dur_ns END
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
               ELSE 1 END);

-- _op_launch_text: how do the detail sheets write a piece of work?
--
-- Ascend: name, task id, task type, [input shapes: ...] [duration: us]; the shapes only where they are known. GPU:
-- name [duration: us]. In a database the type is the one that the host declared.
CREATE TEMP VIEW IF NOT EXISTS _op_launch_text(
  profile,                -- TEXT     base or comparison
  id,                     -- INTEGER  prof_launch.id
  host_op_id,             -- INTEGER  prof_host_op.id of the innermost operator; NULL: none found
  dur_ns,                 -- INTEGER  ns
  text                    -- TEXT     the line, with its end
) AS
SELECT l.profile, l.id, l.host_op_id, l.dur_ns,
       CASE l.family WHEN 'gpu' THEN l.name
       ELSE l.name || ', ' || coalesce(l.task_id, 'None') || ', '
            || coalesce(CASE l.family WHEN 'db' THEN k.core_type END, l.task_type, 'None')
            || coalesce(', [input shapes: ' || k.input_shapes || ']', '') END
       || ' [duration: ' || repr_real(l.dur_ns / 1e3) || ']' || char(10)
  FROM _op_launch AS l
  LEFT JOIN prof_kernel AS k ON k.profile = l.profile AND k.id = l.kernel_id;

-- _op_pair_query: which operators of the two profiles belong together?
--
-- Top-level operators in order of start. Where both profiles have a backward thread, each sequence is cut into
-- stretches on and off that thread; if the first stretches differ in kind, the side with more of them begins
-- with its own alone (base if it has more, else comparison); stretches meet by number. Within a stretch the
-- setting match says how: longest common blocks, or longest common subsequence. A pair with more kernels than
-- max_kernel_num, and children on both sides, is replaced by the pairs of its children, and so on down.
-- Of several ranks the first meets the first.
CREATE TEMP VIEW IF NOT EXISTS _op_pair_query(
  place,                  -- INTEGER  orders the pairs
  base_id,                -- INTEGER  prof_host_op.id; NULL: only in comparison
  comparison_id           -- INTEGER  prof_host_op.id; NULL: only in base
) AS
WITH RECURSIVE setting AS MATERIALIZED (SELECT max_kernel_num, match FROM _compare_setting),
thread AS MATERIALIZED (  -- only where both sides have one
  SELECT profile, rank, thread_id FROM _backward_thread WHERE (SELECT count(DISTINCT profile) FROM _backward_thread) = 2
),
top AS (
  SELECT o.profile, o.id, o.key, o.start_ns, dense_rank() OVER (PARTITION BY o.profile ORDER BY o.rank) AS rank_place,
         CASE WHEN t.thread_id IS NULL THEN 0 ELSE o.thread_id IS t.thread_id END AS backward
    FROM _keyed_op AS o
    LEFT JOIN thread AS t ON t.profile = o.profile AND t.rank IS o.rank
   WHERE o.root_id = o.id
),
turned AS (
  SELECT *, backward IS NOT lag(backward) OVER (PARTITION BY profile, rank_place ORDER BY start_ns, id) AS turn
    FROM top
),
stretched AS MATERIALIZED (
  SELECT profile, rank_place, id, key, backward,
         sum(turn) OVER (PARTITION BY profile, rank_place ORDER BY start_ns, id ROWS UNBOUNDED PRECEDING) AS stretch,
         row_number() OVER (PARTITION BY profile, rank_place ORDER BY start_ns, id) AS place
    FROM turned
),
start AS MATERIALIZED (   -- the kind of the first stretch, and how many there are
  SELECT rank_place,
         max(backward) FILTER (WHERE profile = 'base' AND place = 1) AS base_kind,
         max(backward) FILTER (WHERE profile = 'comparison' AND place = 1) AS comparison_kind,
         max(stretch) FILTER (WHERE profile = 'base') AS base_stretches,
         max(stretch) FILTER (WHERE profile = 'comparison') AS comparison_stretches
    FROM stretched
   GROUP BY rank_place
),
slotted AS MATERIALIZED ( -- stretches with one number meet
  SELECT p.profile, p.rank_place, p.id, p.key, p.place,
         p.stretch - (coalesce(a.base_kind <> a.comparison_kind, 0)
                      AND p.profile = CASE WHEN a.base_stretches > a.comparison_stretches
                                      THEN 'base' ELSE 'comparison' END) AS slot
    FROM stretched AS p
    JOIN start AS a ON a.rank_place = p.rank_place
),
numbered AS MATERIALIZED (
  SELECT profile, rank_place, slot, id,
         CAST(row_number() OVER (PARTITION BY profile, rank_place, slot ORDER BY place) - 1 AS INTEGER) AS item
    FROM slotted
),
list AS (
  SELECT profile, rank_place, slot, json_group_array(key) AS keys
    FROM (SELECT * FROM slotted ORDER BY profile, rank_place, slot, place)
   GROUP BY profile, rank_place, slot
),
meeting AS (
  SELECT rank_place, slot, max(keys) FILTER (WHERE profile = 'base') AS base_keys,
         max(keys) FILTER (WHERE profile = 'comparison') AS comparison_keys
    FROM list
   GROUP BY rank_place, slot
),
matched AS MATERIALIZED (
  SELECT row_number() OVER (ORDER BY m.rank_place, m.slot, q.ordinal) AS place, b.id AS base_id, c.id AS comparison_id
    FROM setting AS g
   CROSS JOIN meeting AS m
   CROSS JOIN sequence_match(coalesce(m.base_keys, '[]'), coalesce(m.comparison_keys, '[]'), g.match) AS q
    LEFT JOIN numbered AS b ON b.profile = 'base' AND b.rank_place = m.rank_place AND b.slot = m.slot
                           AND b.item = q.base_index
    LEFT JOIN numbered AS c ON c.profile = 'comparison' AND c.rank_place = m.rank_place AND c.slot = m.slot
                           AND c.item = q.comparison_index
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
child AS MATERIALIZED (
  SELECT profile, parent_id, id, key,
         CAST(row_number() OVER (PARTITION BY profile, parent_id ORDER BY start_ns, id) - 1 AS INTEGER) AS item
    FROM node
   WHERE root_id <> id
),
family AS MATERIALIZED (
  SELECT profile, parent_id, json_group_array(key) AS keys
    FROM (SELECT * FROM child ORDER BY profile, parent_id, item)
   GROUP BY profile, parent_id
),
drilled(place, path, base_id, comparison_id, opened) AS (
  SELECT place, '', base_id, comparison_id, NULL FROM matched
   WHERE (SELECT max_kernel_num FROM setting) > 0 AND base_id IS NOT NULL AND comparison_id IS NOT NULL
  UNION ALL
  SELECT d.place, d.path || printf('%08d.', q.ordinal), b.id, c.id, d.base_id
    FROM drilled AS d
   CROSS JOIN setting AS g
    JOIN node AS nb ON nb.profile = 'base' AND nb.id = d.base_id
    JOIN node AS nc ON nc.profile = 'comparison' AND nc.id = d.comparison_id
    JOIN family AS fb ON fb.profile = 'base' AND fb.parent_id = d.base_id
    JOIN family AS fc ON fc.profile = 'comparison' AND fc.parent_id = d.comparison_id
   CROSS JOIN sequence_match(fb.keys, fc.keys, g.match) AS q
    LEFT JOIN child AS b ON b.profile = 'base' AND b.parent_id = d.base_id AND b.item = q.base_index
    LEFT JOIN child AS c ON c.profile = 'comparison' AND c.parent_id = d.comparison_id AND c.item = q.comparison_index
   WHERE max(nb.kernels, nc.kernels) > g.max_kernel_num
),
opened AS MATERIALIZED (SELECT DISTINCT opened AS base_id FROM drilled WHERE opened IS NOT NULL),
listed AS (
  SELECT place, '' AS path, base_id, comparison_id
    FROM matched
   WHERE (SELECT max_kernel_num FROM setting) = 0 OR base_id IS NULL OR comparison_id IS NULL
  UNION ALL
  SELECT place, path, base_id, comparison_id
    FROM drilled
   WHERE base_id IS NULL OR comparison_id IS NULL OR base_id NOT IN (SELECT base_id FROM opened)
)
SELECT row_number() OVER (ORDER BY place, path), base_id, comparison_id FROM listed;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._op_pair USING profana_memo(_op_pair_query);

-- _shown_op: which operators do the sheets list?
--
-- The top-level ones; where max_kernel_num is set, those that _op_pair comes down to.
CREATE TEMP VIEW IF NOT EXISTS _shown_op(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  id,                     -- INTEGER  prof_host_op.id
  name,                   -- TEXT     operator
  start_ns                -- INTEGER  ns
) AS
SELECT o.profile, o.rank, o.id, o.name, o.start_ns
  FROM _compare_setting AS g
 CROSS JOIN _side_op AS o
 WHERE CASE WHEN g.max_kernel_num = 0 THEN o.root_id = o.id
       ELSE (o.profile, o.id) IN (SELECT 'base', base_id FROM _op_pair
                                  UNION ALL SELECT 'comparison', comparison_id FROM _op_pair) END;

-- _op_owner: under which listed operator does an operator stand?
--
-- Its top-level operator; where max_kernel_num is set, the nearest listed one from itself upwards.
CREATE TEMP VIEW IF NOT EXISTS _op_owner(
  profile,                -- TEXT     base or comparison
  id,                     -- INTEGER  prof_host_op.id
  name,                   -- TEXT     operator
  depth,                  -- INTEGER  depth in the tree
  start_ns,               -- INTEGER  ns
  shown_id                -- INTEGER  prof_host_op.id of the listed operator; NULL: none
) AS
SELECT o.profile, o.id, o.name, o.depth, o.start_ns,
       CAST(CASE WHEN g.max_kernel_num = 0 THEN o.root_id
       ELSE (WITH RECURSIVE up(id, parent_id) AS (
               SELECT o.id, o.parent_id
               UNION ALL
               SELECT p.id, p.parent_id FROM up JOIN prof_host_op AS p ON p.profile = o.profile AND p.id = up.parent_id
             )
             SELECT up.id FROM up
              WHERE (o.profile, up.id) IN (SELECT 'base', base_id FROM _op_pair
                                           UNION ALL SELECT 'comparison', comparison_id FROM _op_pair)
              LIMIT 1) END AS INTEGER)
  FROM _compare_setting AS g
 CROSS JOIN prof_host_op AS o
 WHERE o.root_id IS NOT NULL;
