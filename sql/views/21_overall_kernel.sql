-- What each kernel counts as: attention, convolution, matrix product, vector work ...
--
-- First hit wins: PagedAttention by type; tensor moves by name; fused communication kernels by whole name; the
-- host operator that launched the kernel (attention, convolution, matrix product, by the words of op_mask);
-- the kernel's type; whether it ran on the cube cores.

-- _backward_thread_query: which thread runs the backward pass?
--
-- The thread on which the forward-backward flows end: of the last such flow in an Ascend trace, of the first in
-- a GPU trace. A database does not say, so it has no row.
CREATE TEMP VIEW IF NOT EXISTS _backward_thread_query(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  thread_id               -- INTEGER  thread
) AS
WITH placed AS (
  SELECT f.profile, f.rank, f.backward_thread_id,
         row_number() OVER (PARTITION BY f.profile, f.rank
                            ORDER BY CASE s.family WHEN 'gpu' THEN f.id ELSE -f.id END) AS place
    FROM _compare_side AS s
   CROSS JOIN prof_fwd_bwd AS f ON f.profile = s.profile
   WHERE f.backward_thread_id IS NOT NULL
)
SELECT profile, rank, backward_thread_id FROM placed WHERE place = 1;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._backward_thread USING profana_memo(_backward_thread_query);

-- _cube_op_query: which host operators are attention, convolution or matrix product?
CREATE TEMP VIEW IF NOT EXISTS _cube_op_query(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  id,                     -- INTEGER  prof_host_op.id
  category,               -- TEXT     fa_forward, fa_backward, conv_forward, conv_backward or matmul
  start_ns,               -- INTEGER  ns
  end_ns,                 -- INTEGER  ns
  earlier_end_ns          -- INTEGER  ns, latest end of those of the rank that come before it by start; NULL: none does
) AS
WITH named AS (           -- the names there are, before any operator is looked at
  SELECT DISTINCT o.profile, o.name
    FROM _compare_side AS s
   CROSS JOIN prof_host_op AS o ON o.profile = s.profile
   WHERE o.depth IS NOT NULL
),
masked AS (
  SELECT n.profile, n.name,
         min(CASE m.mask WHEN 'FA_MASK' THEN 1 WHEN 'CONV_MASK' THEN 2 ELSE 3 END) AS kind,
         EXISTS (SELECT 1 FROM op_mask AS b
                  WHERE b.mask = 'BACKWARD_MASK' AND instr(lower(n.name), b.keyword) > 0) AS is_backward
    FROM named AS n
    JOIN op_mask AS m ON instr(lower(n.name), m.keyword) > 0
   WHERE m.mask IN ('FA_MASK', 'CONV_MASK', 'MATMUL_MASK')
   GROUP BY n.profile, n.name
)
SELECT o.profile, o.rank, o.id,
       CASE m.kind
       WHEN 1 THEN CASE WHEN m.is_backward THEN 'fa_backward' ELSE 'fa_forward' END
       WHEN 2 THEN CASE WHEN m.is_backward OR o.thread_id = b.thread_id THEN 'conv_backward' ELSE 'conv_forward' END
       ELSE 'matmul' END,
       o.start_ns, o.end_ns,
       max(o.end_ns) OVER (PARTITION BY o.profile, o.rank ORDER BY o.start_ns, o.id
                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
  FROM masked AS m
 CROSS JOIN prof_host_op AS o ON o.profile = m.profile AND o.name = m.name
  JOIN _side_rank AS s ON s.profile = o.profile AND s.rank IS o.rank
  LEFT JOIN _backward_thread AS b ON b.profile = o.profile AND b.rank IS o.rank
 WHERE o.depth IS NOT NULL AND (s.step IS NULL OR o.start_ns BETWEEN s.step_start_ns AND s.step_end_ns);

CREATE VIRTUAL TABLE IF NOT EXISTS temp._cube_op USING profana_memo(_cube_op_query);

-- _kernel_host: which of these operators covers a kernel's launch?
--
-- Of those that cover it, the first by start: an outer aten::matmul before the aten::mm inside, a long operator
-- of another thread before both: until earlier_end_ns an operator before it takes the launches. In databases
-- kernels are asked in order of connection id by a cursor over the operators that never goes back, as the
-- compare tool does; it can pass operators that a later id needs.
CREATE TEMP VIEW IF NOT EXISTS _kernel_host(
  profile,                -- TEXT     base or comparison
  kernel_id,              -- INTEGER  prof_kernel.id
  category                -- TEXT     as _cube_op
) AS
WITH launched AS (        -- databases: launches by connection id; the cursor has seen reach_ns by then
  SELECT l.profile, l.rank, l.kernel_id, l.launch_ns,
         max(l.launch_ns) OVER (PARTITION BY l.profile, l.rank ORDER BY l.connection_id, l.kernel_id
                                ROWS UNBOUNDED PRECEDING) AS reach_ns
    FROM _side_rank AS s
   CROSS JOIN prof_launch AS l ON l.profile = s.profile AND l.rank IS s.rank
   WHERE s.family = 'db' AND l.kernel_id IS NOT NULL
     AND (s.step IS NULL OR l.launch_ns BETWEEN s.step_start_ns AND s.step_end_ns
                            AND l.device_ns BETWEEN s.step_start_ns AND s.step_end_ns)
),
covered AS (              -- the first operator by start that ends no earlier than the cursor has seen
  SELECT profile, kernel_id, launch_ns,
         CAST(nest_find((SELECT nest_index(id, coalesce(earlier_end_ns + 1, -9223372036854775807), end_ns, profile, rank)
                           FROM _cube_op WHERE end_ns > coalesce(earlier_end_ns, end_ns - 1)),
                        reach_ns, reach_ns, profile, rank) AS INTEGER) AS op_id
    FROM launched
   LIMIT -1               -- each looked up once
)
SELECT l.profile, l.kernel_id, c.category
  FROM _compare_side AS s
 CROSS JOIN _cube_op AS c ON c.profile = s.profile
 CROSS JOIN prof_launch AS l
         ON l.profile = c.profile AND l.rank IS c.rank
        AND l.launch_ns BETWEEN max(c.start_ns, coalesce(c.earlier_end_ns + 1, c.start_ns)) AND c.end_ns
 WHERE s.family <> 'db' AND l.kernel_id IS NOT NULL AND l.category IS NOT 'HostToDevice'
UNION ALL
SELECT k.profile, k.kernel_id, c.category
  FROM covered AS k
 CROSS JOIN _cube_op AS c ON c.profile = k.profile AND c.id = k.op_id
 WHERE k.op_id IS NOT NULL AND c.start_ns <= k.launch_ns;

-- _overall_kernel_query: how much time do kernels take, by what they count as?
--
-- Text exports: kernels with a measured vector or cube pipe; AI_CPU and collectives are left to Other, as in
-- the compare tool. Databases: all kernels. GPU: kernels that are neither collectives nor copies.
-- A kernel is a cube kernel where the cube pipe or the AI cores were busy (text), where its counters say so or,
-- in a database without any counter, its task type (database), by a word of CUBE_MASK in its name (GPU).
CREATE TEMP VIEW IF NOT EXISTS _overall_kernel_query(
  profile,                -- TEXT     base or comparison
  category,               -- TEXT     page_attention, tensor_move, mc2, fa_forward, fa_backward, conv_forward,
                          --          conv_backward, matmul, vector or cube
  bucket,                 -- TEXT     cube or vector; of category vector trans or no_trans; else NULL
  name,                   -- TEXT     kernel name
  calls,                  -- INTEGER
  dur_ns                  -- INTEGER  ns, sum
) AS
WITH side AS MATERIALIZED (
  SELECT s.*, EXISTS (SELECT 1 FROM prof_kernel AS k
                       WHERE s.family = 'db' AND k.profile = s.profile AND k.rank IS s.rank AND k.has_pmu = 1) AS has_counters
    FROM _side_rank AS s
),
counted AS (              -- kernels alike in everything that decides
  SELECT k.profile, s.family, k.name, k.op_type, h.category AS host_category,
         CASE s.family
         WHEN 'text' THEN coalesce(k.mac_time_ns > 0, 0) OR coalesce(k.aicore_time_ns > 0, 0)
         WHEN 'db' THEN CASE WHEN s.has_counters
                        THEN coalesce(k.aicore_time_ns <> 0, 0) OR coalesce(k.aic_mac_time_ns <> 0, 0)
                        ELSE coalesce(k.task_type IN ('KERNEL_AICORE', 'KERNEL_MIX_AIC'), 0) END
         END AS is_cube,
         count(*) AS calls, sum(k.dur_ns) AS dur_ns
    FROM side AS s
   CROSS JOIN prof_kernel AS k ON k.profile = s.profile AND k.rank IS s.rank
    LEFT JOIN (SELECT profile, CAST(kernel_id AS INTEGER) AS kernel_id, max(category) AS category
                 FROM _kernel_host
                GROUP BY profile, kernel_id) AS h
           ON h.kernel_id = k.id AND h.profile = k.profile
   WHERE (s.family <> 'text' OR k.aiv_vec_time_ns IS NOT NULL OR k.mac_time_ns IS NOT NULL)
     AND (s.family <> 'gpu' OR k.is_communication IS NOT 1
                               AND nest_find((SELECT nest_index(kernel_id, kernel_id, kernel_id, profile) FROM _side_copy),
                                             k.id, k.id, k.profile) IS NULL)
     AND (s.step IS NULL OR k.start_ns BETWEEN s.step_start_ns AND s.step_end_ns)
   GROUP BY k.name, k.op_type, 5, 6, k.profile, s.family
),
worded AS (
  SELECT *, lower(name) AS word, coalesce(lower(op_type), '') AS type,
         coalesce(is_cube, EXISTS (SELECT 1 FROM op_mask AS m
                                    WHERE m.mask = 'CUBE_MASK' AND instr(lower(name), m.keyword) > 0)) AS cube
    FROM counted
),
classed AS (
  SELECT *,
         CASE
         WHEN family <> 'gpu' AND type LIKE '%pagedattention%' THEN 'page_attention'
         WHEN family <> 'gpu' AND word LIKE 'aclnninplacecopy%' AND word LIKE '%tensormove%' THEN 'tensor_move'
         WHEN family <> 'gpu' AND word IN (SELECT keyword FROM op_mask WHERE mask = 'MC2_KERNEL') THEN 'mc2'
         WHEN host_category IS NOT NULL THEN host_category
         WHEN family <> 'gpu' AND (type LIKE '%flashattention%'
                                   OR family = 'text' AND type LIKE '%fusedinferattention%')
           THEN CASE WHEN type LIKE '%bwd%' OR type LIKE '%grad%' THEN 'fa_backward' ELSE 'fa_forward' END
         WHEN family <> 'gpu' AND type LIKE 'conv%'
           THEN CASE WHEN EXISTS (SELECT 1 FROM op_mask AS m
                                   WHERE m.mask = 'BACKWARD_MASK' AND instr(type, m.keyword) > 0)
                THEN 'conv_backward' ELSE 'conv_forward' END
         WHEN family <> 'gpu' AND type LIKE '%matmul%' THEN 'matmul'
         WHEN cube THEN 'cube'
         ELSE 'vector' END AS category
    FROM worded
)
SELECT profile, category,
       CASE
       WHEN category IN ('page_attention', 'tensor_move', 'mc2', 'cube') THEN NULL
       WHEN category = 'vector'
         THEN CASE WHEN family <> 'gpu'
                    AND EXISTS (SELECT 1 FROM op_mask AS m WHERE m.mask = 'TRANS_MASK' AND instr(word, m.keyword) > 0)
              THEN 'trans' ELSE 'no_trans' END
       WHEN host_category IS NULL OR cube THEN 'cube'
       ELSE 'vector' END,
       name, calls, dur_ns
  FROM classed;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._overall_kernel USING profana_memo(_overall_kernel_query);

-- _overall_mc2_query: how do fused communication kernels share their time?
--
-- One row per name, in order of launch. Computing is the busier of cube pipe and its memory pipe, plus the
-- vector cores' time; communication is counted between the ends of the control core's tasks (C_CORE_SQE) that
-- end within the kernel: from the first to the second, from the third to the fourth ..., a last odd one left out.
CREATE TEMP VIEW IF NOT EXISTS _overall_mc2_query(
  profile,                -- TEXT     base or comparison
  name,                   -- TEXT     kernel name
  place,                  -- INTEGER  orders the names of a profile
  calls,                  -- INTEGER
  dur_ns,                 -- INTEGER  ns, sum
  computing_ns,           -- INTEGER  ns, sum
  communication_ns        -- INTEGER  ns, sum
) AS
WITH fused AS MATERIALIZED (
  SELECT k.profile, k.rank, k.id, k.name, k.start_ns, k.end_ns, k.dur_ns,
         max(coalesce(k.aic_mac_time_ns, 0), coalesce(k.aic_mte2_time_ns, 0)) + coalesce(k.aiv_time_ns, 0)
           AS computing_ns,
         CASE s.family WHEN 'db' THEN k.connection_id
         ELSE coalesce((SELECT max(l.launch_ns) FROM prof_launch AS l
                         WHERE l.profile = k.profile AND l.kernel_id = k.id), 0) END AS turn
    FROM _side_rank AS s
   CROSS JOIN prof_kernel AS k ON k.profile = s.profile AND k.rank IS s.rank
   WHERE s.family <> 'gpu' AND lower(k.name) IN (SELECT keyword FROM op_mask WHERE mask = 'MC2_KERNEL')
     AND coalesce(lower(k.op_type) NOT LIKE '%pagedattention%', 1)
     AND (s.family <> 'text' OR k.aiv_vec_time_ns IS NOT NULL OR k.mac_time_ns IS NOT NULL)
     AND (s.step IS NULL OR k.start_ns BETWEEN s.step_start_ns AND s.step_end_ns)
),
placed AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY profile ORDER BY turn, id) AS place FROM fused
),
control AS (              -- each task of the control core in the first kernel that it ends within
  SELECT t.profile, t.id, t.start_ns, t.end_ns, k.id AS kernel_id, min(k.place)
    FROM placed AS k
   CROSS JOIN prof_device_task AS t ON t.profile = k.profile AND t.rank IS k.rank AND t.name = 'C_CORE_SQE'
   WHERE t.end_ns BETWEEN k.start_ns AND k.end_ns
   GROUP BY t.profile, t.id
),
paired AS (
  SELECT profile, kernel_id, lead(end_ns) OVER kernel - end_ns AS between_ns, row_number() OVER kernel AS place
    FROM control
  WINDOW kernel AS (PARTITION BY profile, kernel_id ORDER BY start_ns, id)
),
talk AS (
  SELECT profile, kernel_id, sum(between_ns) AS communication_ns
    FROM paired
   WHERE place % 2 = 1
   GROUP BY profile, kernel_id
)
SELECT k.profile, k.name, min(k.place), count(*), sum(k.dur_ns), sum(k.computing_ns),
       sum(coalesce(t.communication_ns, 0))
  FROM placed AS k
  LEFT JOIN talk AS t ON t.profile = k.profile AND t.kernel_id = k.id
 GROUP BY k.profile, k.name;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._overall_mc2 USING profana_memo(_overall_mc2_query);
