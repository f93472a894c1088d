-- What got worse between two profiles, and what is to blame.

-- compare_diagnostic: what should one know before trusting the comparison?
--
-- Things that make two profiles differ for no reason of the program's: other numbers of steps or ranks, several devices
-- in a rank, missing parts, kinds of source that list different kernels, a text export whose analysis lanes and device events tell
-- different times (more than 0.1 % apart).
CREATE TEMP VIEW IF NOT EXISTS compare_diagnostic(
  profile,                -- TEXT     base or comparison; NULL: both
  code,                   -- TEXT     not_open, steps_differ, ranks_differ, several_devices, rank_without_kernels,
                          --          kernels_differ, no_kernel_types, lanes_differ, no_end_to_end, no_details, no_memory
  message                 -- TEXT     in words
) AS
WITH known_step AS (
  SELECT profile, step FROM prof_step
  UNION
  SELECT k.profile, k.step          -- a text export without its trace
    FROM _compare_side AS s
   CROSS JOIN prof_kernel AS k ON k.profile = s.profile
   WHERE NOT EXISTS (SELECT 1 FROM prof_step AS p WHERE p.profile = s.profile)
),
step AS (                 -- a profile opened with a step has one
  SELECT s.profile, CASE WHEN s.step IS NULL THEN count(DISTINCT p.step) ELSE 1 END AS steps
    FROM _compare_side AS s
    LEFT JOIN known_step AS p ON p.profile = s.profile
   GROUP BY s.profile
),
ranks AS (
  SELECT alias AS profile, count(*) AS ranks FROM prof_source WHERE alias IN ('base', 'comparison') GROUP BY alias
),
kernel_type_side AS MATERIALIZED (SELECT DISTINCT profile FROM _side_kernel_type),
bare_rank AS (            -- where others of the profile have kernels
  SELECT s.alias AS profile, r.ranks, group_concat(coalesce(s.rank, 'unknown'), ', ') AS names,
         coalesce(min(s.missing ->> 'prof_kernel'), 'none recorded') AS reason
    FROM ranks AS r
    JOIN prof_source AS s ON s.alias = r.profile
   WHERE NOT EXISTS (SELECT 1 FROM prof_kernel AS k WHERE k.profile = s.alias AND k.rank IS s.rank)
   GROUP BY s.alias
  HAVING count(*) < r.ranks
),
lane AS MATERIALIZED (SELECT * FROM _overall_lane),
kernels AS (
  SELECT k.profile, k.rank, interval_agg(k.start_ns, k.end_ns) AS busy, min(k.start_ns) AS first_ns, max(k.end_ns) AS last_ns
    FROM lane AS l
   CROSS JOIN prof_kernel AS k ON k.profile = l.profile AND k.rank IS l.rank
   WHERE k.is_communication IS NOT 1
   GROUP BY k.profile, k.rank
),
collectives AS (
  SELECT c.profile, c.rank, interval_agg(c.start_ns, c.end_ns) AS busy, min(c.start_ns) AS first_ns, max(c.end_ns) AS last_ns
    FROM lane AS l
   CROSS JOIN prof_comm_op AS c ON c.profile = l.profile AND c.rank IS l.rank
   GROUP BY c.profile, c.rank
),
tasks AS (
  SELECT t.profile, t.rank, min(t.start_ns) AS first_ns, max(t.end_ns) AS last_ns
    FROM lane AS l
   CROSS JOIN prof_device_task AS t ON t.profile = l.profile AND t.rank IS l.rank
   WHERE t.task_type NOT IN (SELECT task_type FROM _silent_type)
     AND coalesce(t.name, '') NOT IN (SELECT task_type FROM _silent_type)
   GROUP BY t.profile, t.rank
),
reach AS (
  SELECT profile, rank, max(last_ns) - min(first_ns) AS set_ns
    FROM (SELECT profile, rank, first_ns, last_ns FROM kernels
           UNION ALL SELECT profile, rank, first_ns, last_ns FROM collectives
           UNION ALL SELECT profile, rank, first_ns, last_ns FROM tasks)
   GROUP BY profile, rank
),
told AS (                 -- the same times from both sources
  SELECT l.profile, l.rank, 'Computing Time' AS metric, l.computing_ns AS lane_ns, interval_length(k.busy) AS set_ns
    FROM lane AS l JOIN kernels AS k ON k.profile = l.profile AND k.rank IS l.rank
  UNION ALL
  SELECT l.profile, l.rank, 'Uncovered Communication Time', interval_length(l.uncovered),
         interval_length(interval_difference(c.busy, k.busy))
    FROM lane AS l
    JOIN kernels AS k ON k.profile = l.profile AND k.rank IS l.rank
    JOIN collectives AS c ON c.profile = l.profile AND c.rank IS l.rank
  UNION ALL
  SELECT l.profile, l.rank, 'E2E Time', l.e2e_ns, r.set_ns
    FROM lane AS l JOIN reach AS r ON r.profile = l.profile AND r.rank IS l.rank
),
summary AS MATERIALIZED (SELECT * FROM overall_summary)
SELECT column1 AS profile, 'not_open',
       printf('no profile has this name yet: SELECT profana_open(''%s'', ''PATH'')', column1)
  FROM (VALUES ('base'), ('comparison'))
 WHERE column1 NOT IN (SELECT profile FROM _compare_side)
UNION ALL
SELECT NULL, 'steps_differ',
       CASE WHEN b.steps > 0 AND c.steps > 0
            THEN printf('steps of base: %d, of comparison: %d; open both with option step to compare like with like', b.steps, c.steps)
            ELSE printf('marked steps of base: %d, of comparison: %d; whether both did as much cannot be told', b.steps, c.steps) END
  FROM step AS b
  JOIN step AS c ON c.profile = 'comparison'
 WHERE b.profile = 'base' AND b.steps <> c.steps
UNION ALL
SELECT NULL, 'ranks_differ',
       printf('ranks of base: %d, of comparison: %d; times add up over ranks: open both with option rank', b.ranks, c.ranks)
  FROM ranks AS b
  JOIN ranks AS c ON c.profile = 'comparison'
 WHERE b.profile = 'base' AND b.ranks <> c.ranks
UNION ALL
SELECT profile, 'several_devices',
       printf('kernels of %d devices in %s: their times add up, computing and end to end are of all together; open with option device',
              max(devices), CASE WHEN count(*) > 1 THEN printf('each of %d ranks', count(*)) ELSE coalesce('rank ' || max(rank), 'one rank') END)
  FROM (SELECT profile, rank, count(DISTINCT device_id) AS devices
          FROM (SELECT DISTINCT profile, rank, device_id FROM prof_kernel WHERE profile IN ('base', 'comparison'))
         GROUP BY profile, rank)
 WHERE devices > 1
 GROUP BY profile
UNION ALL
SELECT profile, 'rank_without_kernels',
       printf('of %d ranks, %s without kernels (%s): not in the sheets of kernels; overall times may lack its computing',
              ranks, names, reason)
  FROM bare_rank
UNION ALL
SELECT NULL, 'kernels_differ',
       'kernels of text exports and GPU traces include collectives, those of databases do not: they are one-sided in kernel_compare'
 WHERE EXISTS (SELECT 1 FROM _compare_side AS s JOIN prof_kernel AS k ON k.profile = s.profile
                WHERE s.family <> 'db' AND k.is_communication = 1)
   AND EXISTS (SELECT 1 FROM _compare_side WHERE family = 'db')
UNION ALL
SELECT s.profile, 'no_kernel_types',
       'no op_statistic.csv, or a GPU trace: kernel_type_compare has figures of the other side only; kernel_compare has both'
  FROM _compare_side AS s
 WHERE s.profile NOT IN (SELECT profile FROM kernel_type_side) AND EXISTS (SELECT 1 FROM kernel_type_side)
UNION ALL
SELECT profile, 'lanes_differ',
       printf('%s%s: %s ms by the profiler''s analysis lanes (shown), %s ms by kernels, collectives and tasks',
              coalesce('rank ' || rank || ', ', ''), metric, fixed(lane_ns / 1e6, 3), fixed(set_ns / 1e6, 3))
  FROM told
 WHERE abs(lane_ns - set_ns) > 0.001 * max(lane_ns, set_ns)
UNION ALL
SELECT profile, 'no_end_to_end', 'no kernel, collective or analysis lane of any length: overall times cannot be told'
  FROM summary
 WHERE e2e_ns = 0
UNION ALL
SELECT profile, 'no_details', 'no pipe counters (Level0, or a trace alone): Computing Time cannot be split into kinds of kernel'
  FROM summary
 WHERE hides_details AND computing_ns > 0
UNION ALL
SELECT profile, 'no_memory', 'memory in use was not recorded (profile_memory), so it cannot be compared'
  FROM summary
 WHERE coalesce(reserved_bytes, 0) = 0 AND (SELECT max(reserved_bytes) FROM summary) > 0;

-- diagnosis: which of computing, communication, free time or memory worsened, by how much, and what is to blame?
--
-- The reading guide of the compare tool in words. End to end first; then each of computing, uncovered
-- communication, free time and memory, the worst first, as far as both profiles know it. An area is worse where it
-- grew by more than 0.5 % of base's end-to-end time (memory: by more than 0.5 %); then follow up to five operators,
-- modules, kernels, collectives, host calls or memory users that grew most, each by a hundredth of it or more.
CREATE TEMP VIEW IF NOT EXISTS diagnosis(
  order_id,               -- INTEGER  position in the reading
  area,                   -- TEXT     caution, end to end, computing, communication, free or memory
  subject,                -- TEXT     whole, operator, module, kernel, collective, host call or hint
  name,                   -- TEXT     of the subject; NULL: the area itself
  base,                   -- INTEGER  ns; bytes in area memory
  comparison,             -- INTEGER  ns; bytes in area memory
  diff,                   -- INTEGER  comparison - base
  finding                 -- TEXT     the same in words
) AS
WITH summary AS MATERIALIZED (SELECT * FROM overall_summary),
whole AS MATERIALIZED (
  SELECT b.e2e_ns AS base_e2e_ns, c.e2e_ns AS comparison_e2e_ns, b.computing_ns AS base_computing_ns,
         c.computing_ns AS comparison_computing_ns, b.uncovered_ns AS base_uncovered_ns,
         c.uncovered_ns AS comparison_uncovered_ns, b.free_ns AS base_free_ns, c.free_ns AS comparison_free_ns,
         b.reserved_bytes AS base_reserved_bytes, c.reserved_bytes AS comparison_reserved_bytes
    FROM summary AS b
    JOIN summary AS c ON c.profile = 'comparison'
   WHERE b.profile = 'base'
),
wait AS MATERIALIZED (    -- the sheet's own figure takes a plane that never waits for its group
  SELECT sum(t.wait_ns) FILTER (WHERE s.profile = 'base') AS base_ns,
         sum(t.wait_ns) FILTER (WHERE s.profile = 'comparison') AS comparison_ns
    FROM _compare_side AS s
   CROSS JOIN prof_comm_op AS o ON o.profile = s.profile AND (s.step IS NULL OR o.step = s.step)
    JOIN _collective_task AS t ON t.profile = o.profile AND t.comm_op_id = o.id
),
area AS (                 -- what both sides know; above the margin it is worse
  SELECT 'computing' AS area, 'Computing Time' AS metric, base_computing_ns AS base, comparison_computing_ns AS comparison,
         0.005 * base_e2e_ns AS margin
    FROM whole
   WHERE base_e2e_ns > 0 AND comparison_e2e_ns > 0
  UNION ALL
  SELECT 'communication', 'Uncovered Communication Time', base_uncovered_ns, comparison_uncovered_ns, 0.005 * base_e2e_ns
    FROM whole
   WHERE base_e2e_ns > 0 AND comparison_e2e_ns > 0
  UNION ALL
  SELECT 'free', 'Free Time', base_free_ns, comparison_free_ns, 0.005 * base_e2e_ns
    FROM whole
   WHERE base_e2e_ns > 0 AND comparison_e2e_ns > 0
  UNION ALL
  SELECT 'memory', 'Memory in use', base_reserved_bytes, comparison_reserved_bytes, 0.005 * base_reserved_bytes
    FROM whole
   WHERE base_reserved_bytes > 0 AND comparison_reserved_bytes > 0
),
judged AS MATERIALIZED (  -- turn: times by how much they grew, memory last
  SELECT *, comparison - base AS grew, comparison - base > margin AS worse,
         row_number() OVER (ORDER BY area = 'memory', comparison - base DESC, area) AS turn
    FROM area
),
suspect AS MATERIALIZED (
  SELECT 'computing' AS area, 1 AS list, 'operator' AS subject, name, base_device_ns AS base,
         comparison_device_ns AS comparison, diff_device_ns AS diff, base_calls, comparison_calls, noise
    FROM operator_compare_statistic
  UNION ALL
  SELECT 'computing', 2, 'module', module_name, base_self_ns, comparison_self_ns, diff_self_ns, base_calls,
         comparison_calls, noise
    FROM module_compare_statistic
   WHERE operator IS NULL
  UNION ALL
  SELECT 'computing', 3, 'kernel', kernel_type || coalesce(' [' || nullif(input_shapes, '') || ']', ''), base_total_ns,
         comparison_total_ns, diff_total_ns, base_calls, comparison_calls, noise
    FROM kernel_compare
   WHERE kernel_type NOT LIKE 'hcom\_%' ESCAPE '\' AND kernel_type NOT LIKE 'nccl%'
  UNION ALL
  SELECT 'communication', 4, 'collective', kind, base_total_ns, comparison_total_ns, diff_total_ns, base_calls,
         comparison_calls, noise
    FROM communication_compare
   WHERE task IS NULL
  UNION ALL
  SELECT 'free', 5, 'host call', name, base_self_ns, comparison_self_ns, diff_self_ns, base_calls, comparison_calls, NULL
    FROM api_compare
  UNION ALL
  SELECT 'memory', 6, 'operator', name, base_size_bytes, comparison_size_bytes, diff_size_bytes, base_calls,
         comparison_calls, noise
    FROM memory_compare_statistic
),
blamed AS MATERIALIZED (  -- at least a hundredth of what the area grew by
  SELECT s.*, a.turn, row_number() OVER (PARTITION BY s.list ORDER BY s.diff DESC, s.name) AS place
    FROM judged AS a
    JOIN suspect AS s ON s.area = a.area
   WHERE a.worse AND s.diff >= 0.01 * a.grew
),
said(turn, list, place, area, subject, name, base, comparison, finding) AS (
  SELECT 0, 0, 0, 'caution', 'hint', code, NULL, NULL, 'Caution: ' || coalesce(profile || ': ', '') || message
    FROM compare_diagnostic
  UNION ALL
  SELECT -1, 0, 0, 'end to end', 'whole', NULL, base_e2e_ns, comparison_e2e_ns,
         CASE WHEN base_e2e_ns = 0 OR comparison_e2e_ns = 0 THEN 'Overall times cannot be compared.'
         ELSE printf('End to end: %s ms against %s ms, %s %%.', fixed(comparison_e2e_ns / 1e6, 3), fixed(base_e2e_ns / 1e6, 3),
                     CASE WHEN comparison_e2e_ns >= base_e2e_ns THEN '+' ELSE '' END ||
                     fixed((comparison_e2e_ns - base_e2e_ns) * 100.0 / base_e2e_ns, 1)) END
    FROM whole
  UNION ALL
  SELECT a.turn, 0, 0, a.area, 'whole', NULL, a.base, a.comparison,
         CASE WHEN a.area = 'memory'
         THEN printf('%s: %s GiB against %s GiB%s', a.metric, fixed(a.comparison / 1073741824.0, 2), fixed(a.base / 1073741824.0, 2),
                     CASE WHEN a.worse THEN ', more than before.' ELSE ': not worse.' END)
         ELSE printf('%s: %s ms against %s ms, %s%s ms%s', a.metric, fixed(a.comparison / 1e6, 3), fixed(a.base / 1e6, 3),
                     CASE WHEN a.grew >= 0 THEN '+' ELSE '' END, fixed(a.grew / 1e6, 3),
                     CASE WHEN NOT a.worse THEN ': not worse.'
                          WHEN w.comparison_e2e_ns > w.base_e2e_ns
                            THEN printf('; end to end grew by %s ms.', fixed((w.comparison_e2e_ns - w.base_e2e_ns) / 1e6, 3))
                          ELSE ', longer though the whole is not.' END) END
    FROM judged AS a
   CROSS JOIN whole AS w
  UNION ALL
  SELECT b.turn, b.list, b.place, b.area, b.subject, b.name, b.base, b.comparison,
         printf('  %s %s: +%s (%s against %s; calls: %d against %d)%s', b.subject, b.name,
                CASE b.area WHEN 'memory' THEN fixed(b.diff / 1048576.0, 2) || ' MB' ELSE fixed(b.diff / 1e6, 3) || ' ms' END,
                CASE b.area WHEN 'memory' THEN fixed(coalesce(b.comparison, 0) / 1048576.0, 2)
                ELSE fixed(coalesce(b.comparison, 0) / 1e6, 3) END,
                CASE b.area WHEN 'memory' THEN fixed(coalesce(b.base, 0) / 1048576.0, 2)
                ELSE fixed(coalesce(b.base, 0) / 1e6, 3) END,
                coalesce(b.comparison_calls, 0), coalesce(b.base_calls, 0),
                CASE WHEN b.noise AND b.base_calls = b.comparison_calls THEN ', single calls within their spread' ELSE '' END)
    FROM blamed AS b
   WHERE b.place <= 5
  UNION ALL
  SELECT a.turn, 90, 0, a.area, 'hint', NULL, NULL, NULL,
         CASE WHEN NOT EXISTS (SELECT 1 FROM suspect AS s WHERE s.area = a.area)
         THEN printf('  What is to blame cannot be told: no %s were recorded.',
                     CASE a.area WHEN 'computing' THEN 'operators, modules or kernels' WHEN 'communication' THEN 'collectives'
                     WHEN 'free' THEN 'host calls' ELSE 'host operators' END)
         ELSE CASE a.area
              WHEN 'communication' THEN '  No collective takes notably longer: communication is hidden worse behind computing.'
              WHEN 'memory' THEN '  No operator asks for notably more memory: blocks are held longer or released later.'
              WHEN 'free' THEN '  No host call takes notably longer by itself: look for waits, copies and launches.'
              ELSE '  No operator, module or kernel takes notably longer: kernels overlap less.' END END
    FROM judged AS a
   WHERE a.worse AND NOT EXISTS (SELECT 1 FROM blamed AS b WHERE b.area = a.area)
  UNION ALL
  SELECT a.turn, 91, 0, a.area, 'hint', 'wait', w.base_ns, w.comparison_ns,
         printf('  Waits for other ranks, those behind computing too: %s ms against %s ms; where they grew, another rank is the slow one.',
                fixed(w.comparison_ns / 1e6, 3), fixed(w.base_ns / 1e6, 3))
    FROM judged AS a
   CROSS JOIN wait AS w
   WHERE a.area = 'communication' AND a.worse AND w.base_ns IS NOT NULL AND w.comparison_ns IS NOT NULL
     AND max(w.base_ns, w.comparison_ns) > 0
)
SELECT row_number() OVER (ORDER BY turn, list, place), area, subject, name, base, comparison,
       comparison - base, finding
  FROM said
 ORDER BY 1;
