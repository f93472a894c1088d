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
-- Of equal starts the module is above the optimizer, and so has the smaller id.
CREATE TEMP VIEW IF NOT EXISTS _module_forward_query(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  id,                     -- INTEGER  prof_python_call.id; of an optimizer prof_host_op.id + 2^60
  parent_id,              -- INTEGER  id of the calling module; NULL: none
  depth,                  -- INTEGER  0: called by no module
  start_ns,               -- INTEGER  ns
  end_ns,                 -- INTEGER  ns
  name,                   -- TEXT     nn.Module: Linear_0
  full_name,              -- TEXT     /nn.Module: Net_0/nn.Module: Linear_0
  path                    -- TEXT     names from the outermost module to this one, by ';\n'
) AS
WITH RECURSIVE call AS (
  SELECT p.profile, p.rank, p.id, p.name, p.start_ns, p.end_ns
    FROM _module_side AS s
   CROSS JOIN prof_python_call AS p ON p.profile = s.profile AND p.rank IS s.rank AND p.is_module = 1
   WHERE p.start_ns BETWEEN s.first_ns AND s.last_ns
  UNION ALL
  SELECT o.profile, o.rank, o.id + (1 << 60), o.name, o.start_ns, o.end_ns
    FROM _module_side AS s
   CROSS JOIN prof_host_op AS o ON o.profile = s.profile AND o.rank IS s.rank
   WHERE o.name LIKE 'optimizer%' AND o.root_id IS NOT NULL AND o.start_ns BETWEEN s.first_ns AND s.last_ns
),
nested AS MATERIALIZED (
  SELECT *, CAST(nest_parent(id, start_ns, end_ns) OVER call AS INTEGER) AS parent_id
    FROM call
  WINDOW call AS (PARTITION BY profile, rank ORDER BY start_ns, id ROWS UNBOUNDED PRECEDING)
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
  id,                     -- INTEGER  prof_fwd_bwd.id + 2^61
  parent_id,              -- INTEGER  id of the enclosing backward call; NULL: none
  depth,                  -- INTEGER  0: within no other
  start_ns,               -- INTEGER  ns
  end_ns,                 -- INTEGER  ns
  name,                   -- TEXT     name of the module
  full_name,              -- TEXT     /[ BACKWARD ]/nn.Module: Net_0/nn.Module: Linear_0
  path                    -- TEXT     names from the outermost backward call to this one, by ';\n'
) AS
WITH RECURSIVE flow AS (
  SELECT f.profile, f.rank, f.id + (1 << 61) AS id, f.backward_ns, s.first_ns, s.last_ns,
         nest_tree_inside((SELECT nest_tree(id, start_ns, end_ns, profile, rank) FROM _module_forward),
                          f.forward_ns, f.profile, f.rank) AS inside_id
    FROM _module_side AS s
   CROSS JOIN prof_fwd_bwd AS f ON f.profile = s.profile AND f.rank IS s.rank
   LIMIT -1               -- all rows, but each looked up once: without a limit SQLite looks again for every use
),
call AS (
  SELECT f.profile, f.rank, f.id, f.inside_id, max(o.id) AS op_id, o.start_ns, o.end_ns
    FROM flow AS f
   CROSS JOIN prof_host_op AS o ON o.profile = f.profile AND o.start_ns = f.backward_ns AND o.rank IS f.rank
   WHERE f.inside_id IS NOT NULL AND f.backward_ns BETWEEN f.first_ns AND f.last_ns AND o.root_id IS NOT NULL
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
WITH RECURSIVE function AS (
  SELECT p.profile, p.rank, p.id, p.start_ns, p.end_ns
    FROM _module_side AS s
   CROSS JOIN prof_python_call AS p ON p.profile = s.profile AND p.rank IS s.rank AND p.is_module = 0
   WHERE p.end_ns >= s.first_ns AND p.start_ns <= s.last_ns
),
asked AS (
  SELECT profile, rank, start_ns FROM _module_forward
  UNION
  SELECT profile, rank, start_ns FROM _module_backward
),
leaf AS MATERIALIZED (
  SELECT profile, rank, start_ns,
         nest_tree_inside((SELECT nest_tree(id, start_ns, end_ns, profile, rank) FROM function),
                          start_ns, profile, rank) AS id
    FROM asked
),
up AS (                   -- a row beyond the outermost function has no id
  SELECT DISTINCT profile, rank, id AS leaf_id, id, 0 AS level FROM leaf WHERE id IS NOT NULL
  UNION ALL
  SELECT profile, rank, leaf_id,
         nest_tree_parent((SELECT nest_tree(id, start_ns, end_ns, profile, rank) FROM function), id, profile, rank),
         level + 1
    FROM up
   WHERE id IS NOT NULL
),
stack AS MATERIALIZED (
  SELECT u.profile, u.leaf_id, ordered_concat(p.name, ';' || char(10), -u.level, NULL) AS call_stack
    FROM up AS u
   CROSS JOIN prof_python_call AS p ON p.profile = u.profile AND p.id = u.id
   GROUP BY u.profile, u.leaf_id
)
SELECT n.profile, n.start_ns, n.rank, s.call_stack
  FROM leaf AS n
  JOIN stack AS s ON s.profile = n.profile AND s.leaf_id = n.id;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._module_stack USING profana_memo(_module_stack_query);

-- _module: every call of both trees, with where it is called from.
CREATE TEMP VIEW IF NOT EXISTS _module(
  tree,                   -- TEXT     forward or backward
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  id,                     -- INTEGER  of the call: _module_forward.id or _module_backward.id, never the same
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
WITH launch AS (
  SELECT l.profile, l.id, l.launch_ns, l.dur_ns,
         nest_tree_at((SELECT nest_tree(id, start_ns, end_ns, profile, rank) FROM _module_forward),
                      l.launch_ns, l.profile, l.rank) AS forward_id,
         nest_tree_at((SELECT nest_tree(id, start_ns, end_ns, profile, rank) FROM _module_backward),
                      l.launch_ns, l.profile, l.rank) AS backward_id
    FROM _module_side AS s
   CROSS JOIN _op_launch AS l ON l.profile = s.profile AND l.rank IS s.rank
   LIMIT -1               -- as in _module_backward_query
)
SELECT 'forward', forward_id, profile, id, launch_ns, dur_ns FROM launch WHERE forward_id IS NOT NULL
 UNION ALL
SELECT 'backward', backward_id, profile, id, launch_ns, dur_ns FROM launch WHERE backward_id IS NOT NULL;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._module_work USING profana_memo(_module_work_query);

-- _module_op_query: which operators does each call make itself?
--
-- An operator belongs to the deepest forward call that contains its start strictly, else to such a backward
-- call. Of those of one call, the ones that no other of them encloses are listed.
CREATE TEMP VIEW IF NOT EXISTS _module_op_query(
  tree,                   -- TEXT     forward or backward
  module_id,              -- INTEGER  id of the call
  profile,                -- TEXT     base or comparison
  id,                     -- INTEGER  prof_host_op.id
  name,                   -- TEXT     operator
  start_ns,               -- INTEGER  ns
  end_ns                  -- INTEGER  ns
) AS
WITH op AS (
  SELECT o.profile, o.id, o.name, o.start_ns, o.end_ns,
         nest_tree_inside((SELECT nest_tree(id, start_ns, end_ns, profile, rank) FROM _module_forward),
                          o.start_ns, o.profile, o.rank) AS forward_id,
         nest_tree_inside((SELECT nest_tree(id, start_ns, end_ns, profile, rank) FROM _module_backward),
                          o.start_ns, o.profile, o.rank) AS backward_id
    FROM _module_side AS s
   CROSS JOIN prof_host_op AS o ON o.profile = s.profile AND o.rank IS s.rank
   WHERE o.root_id IS NOT NULL AND o.name NOT LIKE 'optimizer%'
   LIMIT -1               -- as in _module_backward_query
),
inside AS MATERIALIZED (
  SELECT iif(forward_id IS NULL, 'backward', 'forward') AS tree, coalesce(forward_id, backward_id) AS module_id,
         profile, id, name, start_ns, end_ns
    FROM op
   WHERE coalesce(forward_id, backward_id) IS NOT NULL
)
SELECT tree, module_id, profile, id, name, start_ns, end_ns
  FROM inside
 WHERE nest_tree_parent((SELECT nest_tree(id, start_ns, end_ns, profile, module_id) FROM inside),
                        id, profile, module_id) IS NULL;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._module_op USING profana_memo(_module_op_query);

-- _module_op_work_query: which of a call's device work is done for which of its operators? To be kept by launch.
--
-- Work launched from an operator's start to its end, both included.
CREATE TEMP VIEW IF NOT EXISTS _module_op_work_query(
  profile,                -- TEXT     base or comparison
  op_id,                  -- INTEGER  prof_host_op.id
  launch_id,              -- INTEGER  prof_launch.id
  launch_ns,              -- INTEGER  ns
  dur_ns                  -- INTEGER  ns
) AS
SELECT w.profile, o.id, w.launch_id, w.launch_ns, w.dur_ns
  FROM _module_op AS o
 CROSS JOIN _module_work AS w ON w.module_id = o.module_id AND w.profile = o.profile AND w.tree = o.tree
                             AND w.launch_ns BETWEEN o.start_ns AND o.end_ns;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._module_op_work
 USING profana_memo(_module_op_work_query, ORDER BY profile, op_id, launch_ns, launch_id);

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
         row_number() OVER (PARTITION BY m.profile ORDER BY m.rank, m.start_ns, m.id) AS place
    FROM _module AS m
    LEFT JOIN work AS w ON w.profile = m.profile AND w.tree = m.tree AND w.module_id = m.id
)
SELECT tree, profile, rank, id, parent_id, depth, start_ns, class, full_name, call_stack, place,
       min(place) OVER (PARTITION BY profile, full_name), self_ns,
       nest_total(self_ns, depth) OVER (PARTITION BY profile, tree, rank ORDER BY start_ns DESC, id DESC
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
