-- What kind of work each kernel is, by rules that users can read and change.

-- kernel_class: which names make a kernel what kind of work?
--
-- Of the rules whose pattern fits the kernel's type or its name, the one with the lowest priority counts. Add a
-- rule for a new library: INSERT INTO kernel_class VALUES (25, '%my_all_reduce%', 'communication', NULL).
CREATE TEMP TABLE IF NOT EXISTS kernel_class AS WITH given(
  priority,               -- INTEGER  the lowest that fits counts
  pattern,                -- TEXT     a LIKE pattern with '\' for escape; case does not matter
  class,                  -- TEXT     sync, memory, mc2, communication, attention, conv, matmul, move, conversion
  direction               -- TEXT     forward or backward; NULL: none
) AS (VALUES
  (10, '%stream wait event%', 'sync', NULL), (10, '%context sync%', 'sync', NULL),
  (10, '%stream sync%', 'sync', NULL), (10, '%event sync%', 'sync', NULL),
  (11, 'memcpy%', 'memory', NULL), (11, 'memset%', 'memory', NULL),
  (15, 'allgathermatmul%', 'mc2', NULL), (15, 'matmulreducescatter%', 'mc2', NULL),
  (15, 'matmulallreduce%', 'mc2', NULL), (15, '%alltoall%matmul%', 'mc2', NULL), (15, '%matmul%alltoall%', 'mc2', NULL),
  (20, 'nccl%', 'communication', NULL), (20, 'rccl%', 'communication', NULL), (20, 'hcom\_%', 'communication', NULL),
  (20, 'hccl%', 'communication', NULL), (20, 'kernel\_aivec', 'communication', NULL),
  (20, 'allreduce%', 'communication', NULL), (20, 'allgather%', 'communication', NULL),
  (20, 'reducescatter%', 'communication', NULL), (20, 'alltoall%', 'communication', NULL),
  (20, 'broadcastaicpu%', 'communication', NULL), (20, '%deep\_ep::%', 'communication', NULL),
  (20, '%cross\_device\_reduce%', 'communication', NULL), (20, '%nvshmem%', 'communication', NULL),
  (30, '%attention%grad%', 'attention', 'backward'), (30, '%attention%bwd%', 'attention', 'backward'),
  (30, '%attention%backward%', 'attention', 'backward'), (30, '%flash\_bwd%', 'attention', 'backward'),
  (30, '%fmha\_cutlassb%', 'attention', 'backward'), (30, '%fmha%bwd%', 'attention', 'backward'),
  (31, '%flashattention%', 'attention', 'forward'), (31, '%flash\_attention%', 'attention', 'forward'),
  (31, '%fusedinferattention%', 'attention', 'forward'), (31, '%pagedattention%', 'attention', 'forward'),
  (31, '%paged\_attention%', 'attention', 'forward'), (31, '%flash\_fwd%', 'attention', 'forward'),
  (31, '%fmha%', 'attention', 'forward'), (31, '%efficient\_attention%', 'attention', 'forward'),
  (40, 'conv%backprop%', 'conv', 'backward'), (40, 'conv%grad%', 'conv', 'backward'),
  (40, '%wgrad%', 'conv', 'backward'), (40, '%dgrad%', 'conv', 'backward'),
  (41, 'conv%d%', 'conv', 'forward'), (41, '%implicit\_convolve%', 'conv', 'forward'),
  (41, '%\_fprop\_%', 'conv', 'forward'),
  (50, '%matmul%', 'matmul', NULL), (50, '%gemm%', 'matmul', NULL), (50, '%gemv%', 'matmul', NULL),
  (50, '%cutlass%', 'matmul', NULL),
  (60, '%inplacecopy%tensormove%', 'move', NULL), (60, 'tensormove', 'move', NULL),
  (61, 'cast', 'conversion', NULL), (61, 'transdata', 'conversion', NULL), (61, 'transpose%', 'conversion', NULL)
)
SELECT priority, pattern, class, direction FROM given;

-- kernel_kind: what kind of work is each kernel?
--
-- One class per kernel: that of the first rule of kernel_class that fits, else by the core that it runs on. Every
-- open profile; collectives where they are kernels too (text exports and GPU traces; databases keep them apart).
CREATE TEMP VIEW IF NOT EXISTS kernel_kind(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  kernel_id,              -- INTEGER  prof_kernel.id
  name,                   -- TEXT     kernel name
  op_type,                -- TEXT     kernel type; NULL unknown
  class,                  -- TEXT     class of kernel_class; else vector, cube (by core) or other
  direction,              -- TEXT     forward or backward; NULL: none
  dur_ns                  -- INTEGER  ns
) AS
WITH alike AS (           -- kernels that no rule can tell apart
  SELECT DISTINCT name, op_type FROM prof_kernel
),
ruled AS MATERIALIZED (
  SELECT a.name, a.op_type, min(r.priority) AS priority, r.class, r.direction
    FROM alike AS a
    JOIN kernel_class AS r ON a.op_type LIKE r.pattern ESCAPE '\' OR a.name LIKE r.pattern ESCAPE '\'
   GROUP BY a.name, a.op_type
)
SELECT k.profile, k.rank, k.id, k.name, k.op_type,
       coalesce(r.class, CASE WHEN k.core_type IN ('AI_VECTOR_CORE', 'MIX_AIV') THEN 'vector'
                              WHEN k.core_type IN ('AI_CORE', 'MIX_AIC') THEN 'cube'
                              WHEN k.task_type = 'kernel' THEN 'vector'
                              ELSE 'other' END),
       r.direction, k.dur_ns
  FROM prof_kernel AS k
  LEFT JOIN ruled AS r ON r.name = k.name AND r.op_type IS k.op_type;

-- time_by_kind: how is the device's time shared among kinds of work?
--
-- The classes of a rank add up to all of its kernels.
CREATE TEMP VIEW IF NOT EXISTS time_by_kind(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  class,                  -- TEXT     as kernel_kind
  direction,              -- TEXT     forward or backward; NULL: none
  calls,                  -- INTEGER  kernels
  total_ns,               -- INTEGER  ns, sum of durations
  time_ratio              -- REAL     share of the rank's total, 0..1
) AS
WITH shared AS (
  SELECT profile, rank, class, direction, count(*) AS calls, sum(dur_ns) AS total_ns
    FROM kernel_kind
   GROUP BY profile, rank, class, direction
)
SELECT profile, rank, class, direction, calls, total_ns,
       total_ns * 1.0 / nullif(sum(total_ns) OVER (PARTITION BY profile, rank), 0)
  FROM shared
 ORDER BY profile, rank, total_ns DESC;
