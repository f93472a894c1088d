-- Modules of the two profiles: calls of nn.Module and of optimizers, their backward halves, and the operators and
-- device work inside. The module sheets stand on these steps.

-- _module_side: the ranks of the compared profiles, if modules can be compared at all: both sides must have some.
CREATE TEMP VIEW IF NOT EXISTS _module_side(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  first_ns,               -- INTEGER  ns, start of the step asked for, NULL: the rank has none; else the beginning of time
  last_ns                 -- INTEGER  ns, its end, inclusive; else the end of time
) AS
SELECT s.profile, s.rank, CASE WHEN s.step IS NULL THEN -9223372036854775807 ELSE s.step_start_ns END,
       CASE WHEN s.step IS NULL THEN 9223372036854775807 ELSE s.step_end_ns END
  FROM _side_rank AS s
 WHERE 2 = (SELECT count(*) FROM _compare_side AS t
             WHERE EXISTS (SELECT 1 FROM prof_python_call AS p WHERE p.profile = t.profile AND p.is_module = 1));

-- _module_forward_query: calls of modules and optimizers as a tree.
--
-- All threads together by start, the parent being the last call begun that has not ended before (nest_parent).
CREATE TEMP VIEW IF NOT EXISTS _module_forward_query(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  id,                     -- INTEGER  of the call
  parent_id,              -- INTEGER  id of the calling module; NULL: none
  depth,                  -- INTEGER  0: called by no module
  start_ns,               -- INTEGER  ns
  end_ns,                 -- INTEGER  ns
  name,                   -- TEXT     nn.Module: Linear_0
  full_name,              -- TEXT     /nn.Module: Net_0/nn.Module: Linear_0
  path                    -- TEXT     names from the outermost module to this one, by ';\n'
) AS
WITH RECURSIVE call AS (
  SELECT p.profile, p.rank, p.id * 4 AS id, p.name, p.start_ns, p.end_ns
    FROM _module_side AS s
   CROSS JOIN prof_python_call AS p ON p.profile = s.profile AND p.rank IS s.rank AND p.is_module = 1
   WHERE p.start_ns BETWEEN s.first_ns AND s.last_ns
  UNION ALL
  SELECT o.profile, o.rank, o.id * 4 + 1, o.name, o.start_ns, o.end_ns
    FROM _module_side AS s
   CROSS JOIN prof_host_op AS o ON o.profile = s.profile AND o.rank IS s.rank
   WHERE o.name LIKE 'optimizer%' AND o.root_id IS NOT NULL AND o.start_ns BETWEEN s.first_ns AND s.last_ns
),
nested AS MATERIALIZED (
  SELECT *, CAST(nest_parent(id, start_ns, end_ns) OVER call AS INTEGER) AS parent_id
    FROM call
  WINDOW call AS (PARTITION BY profile, rank ORDER BY start_ns, id % 4, id ROWS UNBOUNDED PRECEDING)
),
named AS (
  SELECT profile, rank, id, parent_id, 0 AS depth, start_ns, end_ns, name, '/' || name AS full_name, name AS path
    FROM nested
   WHERE parent_id IS NULL
  UNION ALL
  SELECT n.profile, n.rank, n.id, n.parent_id, p.depth + 1, n.start_ns, n.end_ns, n.name,
         p.full_name || '/' || n.name, p.path || ';' || char(10) || n.name
    FROM named AS p
    JOIN nested AS n ON n.profile = p.profile AND n.parent_id = p.id
)
SELECT * FROM named;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._module_forward USING profana_memo(_module_forward_query);

-- _module_backward_query: the backward halves of modules, as a tree.
--
-- Each flow from a forward operator inside a module to a backward operator makes a call of its own, as long as
-- that operator (the last that starts exactly at the flow's end), called [ BACKWARD ] and the module's name.
CREATE TEMP VIEW IF NOT EXISTS _module_backward_query(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  id,                     -- INTEGER  of the call
  parent_id,              -- INTEGER  id of the enclosing backward call; NULL: none
  depth,                  -- INTEGER  0: within no other
  start_ns,               -- INTEGER  ns
  end_ns,                 -- INTEGER  ns
  name,                   -- TEXT     name of the module
  full_name,              -- TEXT     /[ BACKWARD ]/nn.Module: Net_0/nn.Module: Linear_0
  path                    -- TEXT     names from the outermost backward call to this one, by ';\n'
) AS
WITH RECURSIVE asked AS ( -- the modules, and the moments at which the flows begin
  SELECT profile, rank, id, start_ns, end_ns, NULL AS backward_ns FROM _module_forward
  UNION ALL
  SELECT f.profile, f.rank, f.id * 4 + 2, f.forward_ns, NULL, f.backward_ns
    FROM _module_side AS s
   CROSS JOIN prof_fwd_bwd AS f ON f.profile = s.profile AND f.rank IS s.rank
   WHERE f.forward_ns IS NOT NULL
),
flow AS (
  SELECT profile, rank, id, backward_ns,
         CAST(nest_inside(id, start_ns, end_ns) OVER (PARTITION BY profile, rank ORDER BY start_ns, id % 4, id
                                                      ROWS UNBOUNDED PRECEDING) AS INTEGER) AS inside_id
    FROM asked
),
call AS (
  SELECT f.profile, f.rank, f.id, f.inside_id, max(o.id) AS op_id, o.start_ns, o.end_ns
    FROM _module_side AS s
    JOIN flow AS f ON f.profile = s.profile AND f.rank IS s.rank
   CROSS JOIN prof_host_op AS o ON o.profile = f.profile AND o.start_ns = f.backward_ns AND o.rank IS f.rank
   WHERE f.inside_id IS NOT NULL AND f.backward_ns BETWEEN s.first_ns AND s.last_ns AND o.root_id IS NOT NULL
   GROUP BY f.profile, f.id
),
nested AS MATERIALIZED (
  SELECT *, CAST(nest_parent(id, start_ns, end_ns) OVER call AS INTEGER) AS parent_id
    FROM call
  WINDOW call AS (PARTITION BY profile, rank ORDER BY start_ns, id ROWS UNBOUNDED PRECEDING)
),
titled AS MATERIALIZED (
  SELECT n.profile, n.rank, n.id, n.parent_id, n.start_ns, n.end_ns, m.name, '[ BACKWARD ]' || m.full_name AS title
    FROM nested AS n
    JOIN _module_forward AS m ON m.profile = n.profile AND m.id = n.inside_id
),
named AS (
  SELECT profile, rank, id, parent_id, 0 AS depth, start_ns, end_ns, name, '/' || title AS full_name, title AS path
    FROM titled
   WHERE parent_id IS NULL
  UNION ALL
  SELECT t.profile, t.rank, t.id, t.parent_id, p.depth + 1, t.start_ns, t.end_ns, t.name,
         p.full_name || '/' || t.title, p.path || ';' || char(10) || t.title
    FROM named AS p
    JOIN titled AS t ON t.profile = p.profile AND t.parent_id = p.id
)
SELECT * FROM named;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._module_backward USING profana_memo(_module_backward_query);

-- _module_piece_query: which call is at work when?
--
-- Between two ends of calls nothing changes, so a few pieces of time answer for every moment: which call of each
-- tree is under the cursor, and strictly inside of which call it is (begun before, ending after, as all calls
-- around it): the deepest such forward call, else such a backward call.
CREATE TEMP VIEW IF NOT EXISTS _module_piece_query(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  first_ns,               -- INTEGER  ns
  last_ns,                -- INTEGER  ns, inclusive
  forward_id,             -- INTEGER  the forward call under the cursor; NULL: none
  backward_id,            -- INTEGER  the backward call under the cursor; NULL: none
  inside_tree,            -- TEXT     forward or backward: the tree of inside_id
  inside_id               -- INTEGER  the call that contains the piece strictly; NULL: none
) AS
WITH call AS MATERIALIZED (
  SELECT profile, rank, start_ns, id, end_ns AS forward_end_ns, NULL AS backward_end_ns FROM _module_forward
  UNION ALL
  SELECT profile, rank, start_ns, id, NULL, end_ns FROM _module_backward
),
moment AS (               -- at which an answer may change
  SELECT profile, rank, start_ns AS time_ns FROM call
  UNION
  SELECT profile, rank, start_ns + 1 FROM call
  UNION
  SELECT profile, rank, coalesce(forward_end_ns, backward_end_ns) FROM call
  UNION
  SELECT profile, rank, coalesce(forward_end_ns, backward_end_ns) + 1 FROM call
),
stream AS (
  SELECT profile, rank, start_ns AS time_ns, id, forward_end_ns, backward_end_ns FROM call
  UNION ALL
  SELECT profile, rank, time_ns, NULL, NULL, NULL FROM moment
),
answered AS (             -- a call of the other tree is a point
  SELECT profile, rank, time_ns, id,
         nest_parent(id, time_ns, forward_end_ns) OVER call AS forward_id,
         nest_parent(id, time_ns, backward_end_ns) OVER call AS backward_id,
         nest_inside(id, time_ns, forward_end_ns) OVER call AS inside_forward_id,
         nest_inside(id, time_ns, backward_end_ns) OVER call AS inside_backward_id,
         lead(time_ns) OVER moment - 1 AS last_ns
    FROM stream
  WINDOW call AS (PARTITION BY profile, rank ORDER BY time_ns, id IS NULL, id % 4, id ROWS UNBOUNDED PRECEDING),
         moment AS (PARTITION BY profile, rank, id IS NULL ORDER BY time_ns)
)
SELECT profile, rank, time_ns, last_ns, forward_id, backward_id,
       CASE WHEN inside_forward_id IS NOT NULL THEN 'forward' WHEN inside_backward_id IS NOT NULL THEN 'backward' END,
       coalesce(inside_forward_id, inside_backward_id)
  FROM answered
 WHERE id IS NULL AND coalesce(forward_id, backward_id, inside_forward_id, inside_backward_id) IS NOT NULL;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._module_piece USING profana_memo(_module_piece_query);

-- _module_stack_query: from where in the Python source is each module called?
--
-- The functions around the call, outermost first: the deepest function that contains its start strictly, as do
-- all functions around it, and those. No row where there is none.
CREATE TEMP VIEW IF NOT EXISTS _module_stack_query(
  profile,                -- TEXT     base or comparison
  start_ns,               -- INTEGER  ns, start of module calls
  rank,                   -- INTEGER  rank of the source
  call_stack              -- TEXT     functions by ';\n'
) AS
WITH RECURSIVE asked AS (
  SELECT profile, rank, start_ns FROM _module_forward
  UNION
  SELECT profile, rank, start_ns FROM _module_backward
),
stream AS (
  SELECT p.profile, p.rank, p.start_ns AS time_ns, p.id, p.end_ns, p.name
    FROM _module_side AS s
   CROSS JOIN prof_python_call AS p ON p.profile = s.profile AND p.rank IS s.rank AND p.is_module = 0
   WHERE p.end_ns >= s.first_ns AND p.start_ns <= s.last_ns
  UNION ALL
  SELECT profile, rank, start_ns, NULL, NULL, NULL FROM asked
),
nested AS MATERIALIZED (
  SELECT profile, rank, time_ns, id, name, CAST(nest_parent(id, time_ns, end_ns) OVER call AS INTEGER) AS parent_id,
         CAST(nest_inside(id, time_ns, end_ns) OVER call AS INTEGER) AS inside_id
    FROM stream
  WINDOW call AS (PARTITION BY profile, rank ORDER BY time_ns, id IS NULL, id ROWS UNBOUNDED PRECEDING)
),
up(profile, leaf_id, id, parent_id, name, level) AS (
  SELECT f.profile, f.id, f.id, f.parent_id, f.name, 0
    FROM (SELECT DISTINCT profile, inside_id FROM nested WHERE id IS NULL AND inside_id IS NOT NULL) AS d
    JOIN nested AS f ON f.profile = d.profile AND f.id = d.inside_id
  UNION ALL
  SELECT u.profile, u.leaf_id, f.id, f.parent_id, f.name, u.level + 1
    FROM up AS u
    JOIN nested AS f ON f.profile = u.profile AND f.id = u.parent_id
),
stack AS MATERIALIZED (
  SELECT profile, leaf_id, group_concat(name, ';' || char(10)) AS call_stack
    FROM (SELECT * FROM up ORDER BY profile, leaf_id, level DESC)
   GROUP BY profile, leaf_id
)
SELECT n.profile, n.time_ns, n.rank, s.call_stack
  FROM nested AS n
  JOIN stack AS s ON s.profile = n.profile AND s.leaf_id = n.inside_id
 WHERE n.id IS NULL;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._module_stack USING profana_memo(_module_stack_query);

-- _module: every call of both trees, with where it is called from.
CREATE TEMP VIEW IF NOT EXISTS _module(
  tree,                   -- TEXT     forward or backward
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  id,                     -- INTEGER  of the call
  parent_id,              -- INTEGER  id of the call around it; NULL: none
  depth,                  -- INTEGER  0: within no other of its tree
  start_ns,               -- INTEGER  ns
  end_ns,                 -- INTEGER  ns
  class,                  -- TEXT     nn.Module: Linear
  full_name,              -- TEXT     path of names from the outermost call
  call_stack              -- TEXT     Python functions by ';\n'; without any, the modules of the path
) AS
WITH call AS (
  SELECT 'forward' AS tree, * FROM _module_forward
  UNION ALL
  SELECT 'backward', * FROM _module_backward
)
SELECT c.tree, c.profile, c.rank, c.id, c.parent_id, c.depth, c.start_ns, c.end_ns,
       CASE WHEN rtrim(c.name, '0123456789') <> c.name AND substr(rtrim(c.name, '0123456789'), -1) = '_'
            THEN substr(rtrim(c.name, '0123456789'), 1, length(rtrim(c.name, '0123456789')) - 1)
            ELSE c.name END,
       c.full_name, coalesce(s.call_stack, c.path)
  FROM call AS c
  LEFT JOIN _module_stack AS s ON s.profile = c.profile AND s.rank IS c.rank AND s.start_ns = c.start_ns;

-- _module_work_query: which device work is launched in which call?
--
-- Each piece of work belongs to the call under the cursor at its launch, of either tree.
CREATE TEMP VIEW IF NOT EXISTS _module_work_query(
  tree,                   -- TEXT     forward or backward
  module_id,              -- INTEGER  id of the call
  profile,                -- TEXT     base or comparison
  launch_id,              -- INTEGER  prof_launch.id
  launch_ns,              -- INTEGER  ns
  dur_ns                  -- INTEGER  ns
) AS
SELECT 'forward', p.forward_id, l.profile, l.id, l.launch_ns, l.dur_ns
  FROM _module_piece AS p
 CROSS JOIN _op_launch AS l ON l.profile = p.profile AND l.rank IS p.rank
                           AND l.launch_ns BETWEEN p.first_ns AND p.last_ns
 WHERE p.forward_id IS NOT NULL
 UNION ALL
SELECT 'backward', p.backward_id, l.profile, l.id, l.launch_ns, l.dur_ns
  FROM _module_piece AS p
 CROSS JOIN _op_launch AS l ON l.profile = p.profile AND l.rank IS p.rank
                           AND l.launch_ns BETWEEN p.first_ns AND p.last_ns
 WHERE p.backward_id IS NOT NULL;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._module_work USING profana_memo(_module_work_query);

-- _module_op_query: which operators does each call make itself?
--
-- An operator belongs to the deepest forward call that contains its start strictly, else to such a backward
-- call. Of those of one call, the ones that no other of them encloses are listed.
CREATE TEMP VIEW IF NOT EXISTS _module_op_query(
  tree,                   -- TEXT     forward or backward
  module_id,              -- INTEGER  id of the call
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  id,                     -- INTEGER  prof_host_op.id
  name,                   -- TEXT     operator
  start_ns,               -- INTEGER  ns
  end_ns                  -- INTEGER  ns
) AS
WITH inside AS (
  SELECT p.inside_tree AS tree, p.inside_id, o.profile, o.rank, o.id, o.name, o.start_ns, o.end_ns
    FROM _module_piece AS p
   CROSS JOIN prof_host_op AS o ON o.profile = p.profile AND o.rank IS p.rank
                               AND o.start_ns BETWEEN p.first_ns AND p.last_ns
   WHERE p.inside_id IS NOT NULL AND o.root_id IS NOT NULL AND o.name NOT LIKE 'optimizer%'
),
nested AS (
  SELECT *, nest_parent(id, start_ns, end_ns) OVER (PARTITION BY inside_id, profile ORDER BY start_ns, id
                                                    ROWS UNBOUNDED PRECEDING) AS parent_id
    FROM inside
)
SELECT tree, inside_id, profile, rank, id, name, start_ns, end_ns FROM nested WHERE parent_id IS NULL;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._module_op USING profana_memo(_module_op_query);

-- _module_op_work_query: which of a call's device work is done for which of its operators?
--
-- Work launched from an operator's start to its end, both included.
CREATE TEMP VIEW IF NOT EXISTS _module_op_work_query(
  profile,                -- TEXT     base or comparison
  tree,                   -- TEXT     forward or backward
  module_id,              -- INTEGER  id of the call
  op_id,                  -- INTEGER  prof_host_op.id
  launch_id,              -- INTEGER  prof_launch.id
  launch_ns,              -- INTEGER  ns
  dur_ns                  -- INTEGER  ns
) AS
SELECT w.profile, w.tree, w.module_id, o.id, w.launch_id, w.launch_ns, w.dur_ns
  FROM _module_op AS o
 CROSS JOIN _module_work AS w ON w.module_id = o.module_id AND w.profile = o.profile AND w.tree = o.tree
                             AND w.launch_ns BETWEEN o.start_ns AND o.end_ns;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._module_op_work USING profana_memo(_module_op_work_query);

-- _module_time_query: every call with the time that the device works for it.
CREATE TEMP VIEW IF NOT EXISTS _module_time_query(
  tree,                   -- TEXT     forward or backward
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  id,                     -- INTEGER  of the call
  parent_id,              -- INTEGER  id of the call around it; NULL: none
  depth,                  -- INTEGER  0: within no other of its tree
  start_ns,               -- INTEGER  ns
  class,                  -- TEXT     nn.Module: Linear
  full_name,              -- TEXT     path of names from the outermost call
  call_stack,             -- TEXT     from where it is called
  place,                  -- INTEGER  orders the calls of a profile, both trees together, by start
  first_place,            -- INTEGER  place of the first call with the same full name
  self_ns,                -- INTEGER  ns, device work launched in the call itself
  total_ns                -- INTEGER  ns, that and the work of all calls inside
) AS
WITH work AS MATERIALIZED (
  SELECT profile, tree, module_id, sum(dur_ns) AS self_ns FROM _module_work GROUP BY profile, tree, module_id
),
timed AS (
  SELECT m.*, coalesce(w.self_ns, 0) AS self_ns,
         row_number() OVER (PARTITION BY m.profile ORDER BY m.rank, m.start_ns, m.tree = 'backward', m.id % 4, m.id)
           AS place
    FROM _module AS m
    LEFT JOIN work AS w ON w.profile = m.profile AND w.tree = m.tree AND w.module_id = m.id
)
SELECT tree, profile, rank, id, parent_id, depth, start_ns, class, full_name, call_stack, place,
       min(place) OVER (PARTITION BY profile, full_name), self_ns,
       nest_total(self_ns, depth) OVER (PARTITION BY profile, tree, rank ORDER BY start_ns DESC, id % 4 DESC, id DESC
                                        ROWS UNBOUNDED PRECEDING)
  FROM timed;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._module_time USING profana_memo(_module_time_query);

-- _module_op_time_query: every operator of a call with the time that the device works for it there.
CREATE TEMP VIEW IF NOT EXISTS _module_op_time_query(
  profile,                -- TEXT     base or comparison
  id,                     -- INTEGER  prof_host_op.id
  name,                   -- TEXT     operator
  start_ns,               -- INTEGER  ns
  place,                  -- INTEGER  of the call, as _module_time
  first_place,            -- INTEGER  of the call, as _module_time
  self_ns,                -- INTEGER  ns
  kernels                 -- TEXT     lines as operator_compare.base_kernels; NULL: no work
) AS
SELECT o.profile, o.id, o.name, o.start_ns, m.place, m.first_place, coalesce(sum(w.dur_ns), 0),
       ordered_concat(l.text, '', w.launch_ns, w.launch_id)
  FROM _module_op AS o
 CROSS JOIN _module_time AS m ON m.profile = o.profile AND m.tree = o.tree AND m.id = o.module_id
  LEFT JOIN _module_op_work AS w ON w.profile = o.profile AND w.op_id = o.id
  LEFT JOIN _op_launch AS l ON l.profile = w.profile AND l.id = w.launch_id
 GROUP BY o.profile, o.id;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._module_op_time USING profana_memo(_module_op_time_query, kernels);
