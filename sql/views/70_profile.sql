-- Views of one profile: where its time goes. Each has the columns profile and rank first, so several open profiles
-- stand side by side.

-- report_hint: why does a report say nothing at all?
--
-- A row where no profile is open.
CREATE TEMP VIEW IF NOT EXISTS report_hint(
  message                 -- TEXT     in words
) AS
SELECT 'no profile is open yet: SELECT profana_open(''run'', ''PATH'')' WHERE NOT EXISTS (SELECT 1 FROM prof_source);

-- hot_op: which kinds of operator take the device's time?
--
-- One row per (op_type, core_type), largest total first; collectives are left out, as in op_statistic.csv.
-- Rule: computed from the kernels, a kernel without a type under its own name (GPU, Level0, custom kernels); where a source
-- has no kernel with a type, read from op_statistic.csv if that has some. Durations that no sum of 64 bits holds (broken files)
-- are summed as seconds and rest, which SQLite adds up as REAL where it must: sum() would fail.

CREATE TEMP VIEW IF NOT EXISTS hot_op(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  op_type,                -- TEXT     operator type; the kernel's name where it has none
  core_type,              -- TEXT     accelerator core
  calls,                  -- INTEGER
  total_ns,               -- INTEGER  ns
  min_ns,                 -- INTEGER  ns
  avg_ns,                 -- REAL     ns
  max_ns,                 -- INTEGER  ns
  time_ratio,             -- REAL     share of the rank's total, 0..1
  source                  -- TEXT     computed (from kernels) or read (from op_statistic.csv)
) AS
WITH computed AS (
  SELECT profile, rank, ifnull(op_type, name) AS op_type, core_type, count(*) AS calls,
         sum(dur_ns / 1000000000) * 1000000000 + sum(dur_ns % 1000000000) AS total_ns,
         min(dur_ns) AS min_ns, avg(dur_ns) AS avg_ns, max(dur_ns) AS max_ns, 'computed' AS source, max(op_type) AS known_type
    FROM prof_kernel
   WHERE is_communication IS NOT 1
   GROUP BY profile, rank, 3, core_type
),
typed AS (               -- the ranks whose kernels have types
  SELECT DISTINCT profile, rank FROM computed WHERE known_type IS NOT NULL
),
listed AS (              -- the ranks whose types only op_statistic.csv knows
  SELECT DISTINCT profile, rank
    FROM prof_op_stat AS s
   WHERE op_type IS NOT NULL AND NOT EXISTS (SELECT 1 FROM typed WHERE typed.profile = s.profile AND typed.rank IS s.rank)
),
chosen AS (
  SELECT profile, rank, op_type, core_type, calls, total_ns, min_ns, avg_ns, max_ns, source FROM computed
   WHERE NOT EXISTS (SELECT 1 FROM listed WHERE listed.profile = computed.profile AND listed.rank IS computed.rank)
   UNION ALL
  SELECT s.profile, s.rank, s.op_type, s.core_type, s.count, s.total_ns, s.min_ns, s.avg_ns, s.max_ns, 'read'
    FROM listed
    JOIN prof_op_stat AS s ON s.profile = listed.profile AND s.rank IS listed.rank
)
SELECT profile, rank, op_type, core_type, calls, total_ns, min_ns, avg_ns, max_ns,
       total_ns * 1.0 / nullif(total(total_ns) OVER (PARTITION BY profile, rank), 0), source
  FROM chosen
 ORDER BY profile, rank, total_ns DESC;

-- hot_kernel: which kernels take the device's time?
--
-- One row per kernel name and input shapes, largest total first; collectives are left out. Sums as in hot_op.

CREATE TEMP VIEW IF NOT EXISTS hot_kernel(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  name,                   -- TEXT     kernel name
  op_type,                -- TEXT     operator type
  input_shapes,           -- TEXT     NULL: unknown
  calls,                  -- INTEGER
  total_ns,               -- INTEGER  ns
  avg_ns,                 -- REAL     ns
  min_ns,                 -- INTEGER  ns
  max_ns,                 -- INTEGER  ns
  time_ratio              -- REAL     share of the rank's total, 0..1
) AS
WITH kernel_sum AS (
  SELECT profile, rank, name, op_type, input_shapes, count(*) AS calls,
         sum(dur_ns / 1000000000) * 1000000000 + sum(dur_ns % 1000000000) AS total_ns, avg(dur_ns) AS avg_ns,
         min(dur_ns) AS min_ns, max(dur_ns) AS max_ns
    FROM prof_kernel
   WHERE is_communication IS NOT 1
   GROUP BY profile, rank, name, op_type, input_shapes
)
SELECT profile, rank, name, op_type, input_shapes, calls, total_ns, avg_ns, min_ns, max_ns,
       total_ns * 1.0 / nullif(total(total_ns) OVER (PARTITION BY profile, rank), 0)
  FROM kernel_sum
 ORDER BY profile, rank, total_ns DESC;

-- _device_busy: when did each device compute and communicate in each step?
--
-- One row per step and device for each of the two that there is. Collectives that name no device are those of the rank's
-- only one, as its kernels tell.

CREATE TEMP VIEW IF NOT EXISTS _device_busy(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  device_id,              -- INTEGER  NULL: unknown
  step,                   -- INTEGER  NULL: no step markers
  computing,              -- BLOB     interval set of the kernels that are no collectives; NULL: the row of communication
  communication,          -- BLOB     interval set of the collectives; NULL: the row of computing
  first_ns,               -- INTEGER  ns, start of the first
  last_ns                 -- INTEGER  ns, end of the last
) AS
WITH only_device AS MATERIALIZED (
  SELECT profile, rank, min(device_id) AS device_id FROM prof_kernel GROUP BY profile, rank HAVING min(device_id) = max(device_id)
)
SELECT profile, rank, device_id, step, interval_agg(start_ns, end_ns), NULL, min(start_ns), max(end_ns)
  FROM prof_kernel
 WHERE is_communication IS NOT 1
 GROUP BY profile, rank, device_id, step
UNION ALL
SELECT c.profile, c.rank, coalesce(c.device_id, (SELECT d.device_id FROM only_device AS d WHERE d.profile = c.profile AND d.rank IS c.rank)),
       c.step, NULL, interval_union_agg(c.communication), min(c.first_ns), max(c.last_ns)
  FROM (SELECT profile, rank, device_id, step, interval_agg(start_ns, end_ns) AS communication, min(start_ns) AS first_ns,
               max(end_ns) AS last_ns
          FROM _collective
         GROUP BY profile, rank, device_id, step
         LIMIT -1) AS c  -- few rows, so that few devices are looked up
 GROUP BY 1, 2, 3, 4;

-- step_breakdown: what was the device doing in each step?
--
-- One row per step and device. Rule: step_trace_time.csv (StepTraceTime) where the source has it; else from the kernels and
-- collectives of the step as interval sets: exposed communication is what no kernel covers, free is the rest of the time
-- between the first and the last of them. Without steps one row, step NULL, for the whole profile.

CREATE TEMP VIEW IF NOT EXISTS step_breakdown(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  device_id,              -- INTEGER  NULL: unknown
  step,                   -- INTEGER  NULL: no step markers
  computing_ns,           -- INTEGER  ns
  communication_not_overlapped_ns, -- INTEGER  ns, communication that no computing hides
  overlapped_ns,          -- INTEGER  ns, communication hidden by computing
  communication_ns,       -- INTEGER  ns
  free_ns,                -- INTEGER  ns, neither
  total_ns,               -- INTEGER  ns, computing + communication_not_overlapped + free
  source                  -- TEXT     read or computed
) AS
WITH computed AS (            -- either half may be missing
  SELECT profile, rank, device_id, step, ifnull(interval_length(max(computing)), 0) AS computing_ns,
         ifnull(interval_length(ifnull(interval_difference(max(communication), max(computing)), max(communication))), 0) AS exposed_ns,
         ifnull(interval_length(max(communication)), 0) AS communication_ns, max(last_ns) - min(first_ns) AS total_ns
    FROM _device_busy
   GROUP BY profile, rank, device_id, step
)
SELECT profile, rank, device_id, step, computing_ns, communication_not_overlapped_ns, overlapped_ns, communication_ns, free_ns,
       computing_ns + communication_not_overlapped_ns + free_ns, 'read'
  FROM prof_step_time
UNION ALL
SELECT profile, rank, device_id, step, computing_ns, exposed_ns, communication_ns - exposed_ns, communication_ns,
       total_ns - computing_ns - exposed_ns, total_ns, 'computed'
  FROM computed AS c
 WHERE NOT EXISTS (SELECT 1 FROM prof_step_time AS s WHERE s.profile = c.profile AND s.rank IS c.rank)
 ORDER BY 1, 2, 3, 4;

-- overall: what was the device doing, all in all?
--
-- One row per rank and device, whatever the profile's alias. Rule: as step_breakdown, but the steps and what lies between
-- them together: kernels and collectives as interval sets, from the first to the last of them. (overall_metrics takes a
-- text export's times from the profiler's own analysis lanes, as the compare tool does.)

CREATE TEMP VIEW IF NOT EXISTS overall(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  device_id,              -- INTEGER  NULL: unknown
  steps,                  -- INTEGER  steps with kernels or collectives
  computing_ns,           -- INTEGER  ns
  communication_not_overlapped_ns, -- INTEGER  ns, communication that no computing hides
  overlapped_ns,          -- INTEGER  ns, communication hidden by computing
  communication_ns,       -- INTEGER  ns
  free_ns,                -- INTEGER  ns, neither
  e2e_ns                  -- INTEGER  ns, computing + communication_not_overlapped + free
) AS
WITH busy AS (
  SELECT profile, rank, device_id, count(DISTINCT step) AS steps,
         coalesce(interval_union_agg(computing), interval_union()) AS computing,
         coalesce(interval_union_agg(communication), interval_union()) AS communication, max(last_ns) - min(first_ns) AS e2e_ns
    FROM _device_busy
   GROUP BY profile, rank, device_id
),
measured AS (
  SELECT profile, rank, device_id, steps, e2e_ns, interval_length(computing) AS computing_ns,
         interval_length(communication) AS communication_ns,
         interval_length(interval_difference(communication, computing)) AS exposed_ns
    FROM busy
)
SELECT profile, rank, device_id, steps, computing_ns, exposed_ns, communication_ns - exposed_ns, communication_ns,
       e2e_ns - computing_ns - exposed_ns, e2e_ns
  FROM measured
 ORDER BY profile, rank, device_id;

-- host_bound: does the device wait for the host, for the network, or work?
--
-- One row per step and device. Rule: the largest of the three parts of the step names it: free time, host bound; exposed
-- communication, communication bound; computing, compute bound.

CREATE TEMP VIEW IF NOT EXISTS host_bound(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  device_id,              -- INTEGER  NULL: unknown
  step,                   -- INTEGER  NULL: no step markers
  computing_ns,           -- INTEGER  ns
  communication_not_overlapped_ns, -- INTEGER  ns
  free_ns,                -- INTEGER  ns
  free_to_computing_ratio, -- REAL    free / computing; NULL: no computing
  verdict                 -- TEXT     host bound, communication bound, compute bound
) AS
SELECT profile, rank, device_id, step, computing_ns, communication_not_overlapped_ns, free_ns,
       free_ns * 1.0 / nullif(computing_ns, 0),
       CASE WHEN free_ns >= computing_ns AND free_ns >= communication_not_overlapped_ns THEN 'host bound'
            WHEN communication_not_overlapped_ns > computing_ns THEN 'communication bound'
            ELSE 'compute bound' END
  FROM step_breakdown;

-- pmu_pipe: which counter tells how busy which pipe was. Users may add rows.
--
-- Split chips count cube (aic_) and vector (aiv_) cores apart; older ones have one set; the 200I/500 writes *_exe_*.

CREATE TEMP TABLE IF NOT EXISTS pmu_pipe(
  metric TEXT PRIMARY KEY, -- TEXT    prof_kernel_pmu.metric
  pipe TEXT               -- TEXT     cube, vector, scalar, mte1, mte2, mte3, fixpipe
);
INSERT OR IGNORE INTO pmu_pipe(metric, pipe) VALUES
  ('aic_mac_ratio', 'cube'), ('mac_ratio', 'cube'), ('mac_exe_ratio', 'cube'),
  ('aiv_vec_ratio', 'vector'), ('vec_ratio', 'vector'), ('vec_exe_ratio', 'vector'),
  ('aic_scalar_ratio', 'scalar'), ('aiv_scalar_ratio', 'scalar'), ('scalar_ratio', 'scalar'), ('scalar_exe_ratio', 'scalar'),
  ('aic_mte1_ratio', 'mte1'), ('aiv_mte1_ratio', 'mte1'), ('mte1_ratio', 'mte1'), ('mte1_exe_ratio', 'mte1'),
  ('aic_mte2_ratio', 'mte2'), ('aiv_mte2_ratio', 'mte2'), ('mte2_ratio', 'mte2'), ('mte2_exe_ratio', 'mte2'),
  ('aic_mte3_ratio', 'mte3'), ('aiv_mte3_ratio', 'mte3'), ('mte3_ratio', 'mte3'), ('mte3_exe_ratio', 'mte3'),
  ('aic_fixpipe_ratio', 'fixpipe'), ('fixpipe_ratio', 'fixpipe'), ('fixpipe_exe_ratio', 'fixpipe');

-- pipe_bound: which pipe of the core bounds each kind of kernel?
--
-- One row per (op_type, name), largest total first, for kernels with pipe counters. Rule: a pipe's figure is its busy share,
-- averaged over the calls with their durations as weights; of a mixed kernel's cube and vector half the busier counts; the
-- largest figure names the bound. Shares of different pipes overlap, so they may add up to more than 1.

CREATE TEMP VIEW IF NOT EXISTS pipe_bound(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  op_type,                -- TEXT     operator type
  name,                   -- TEXT     kernel name
  calls,                  -- INTEGER  with counters
  total_ns,               -- INTEGER  ns
  cube_ratio,             -- REAL     0..1; NULL: not counted
  vector_ratio,           -- REAL     0..1
  scalar_ratio,           -- REAL     0..1
  mte1_ratio,             -- REAL     0..1, L1 to L0
  mte2_ratio,             -- REAL     0..1, memory to the core
  mte3_ratio,             -- REAL     0..1, the core to memory
  fixpipe_ratio,          -- REAL     0..1, L0C to memory
  bound                   -- TEXT     the pipe with the largest share
) AS
WITH kernel_pipe AS (     -- the busier half of a kernel for each pipe, kernel by kernel as the table has them
  SELECT p.profile, p.kernel_id,
         max(p.value) FILTER (WHERE m.pipe = 'cube') AS cube,
         max(p.value) FILTER (WHERE m.pipe = 'vector') AS vector,
         max(p.value) FILTER (WHERE m.pipe = 'scalar') AS scalar,
         max(p.value) FILTER (WHERE m.pipe = 'mte1') AS mte1,
         max(p.value) FILTER (WHERE m.pipe = 'mte2') AS mte2,
         max(p.value) FILTER (WHERE m.pipe = 'mte3') AS mte3,
         max(p.value) FILTER (WHERE m.pipe = 'fixpipe') AS fixpipe
    FROM prof_kernel_pmu AS p
   CROSS JOIN pmu_pipe AS m ON m.metric = p.metric
   GROUP BY p.profile, p.kernel_id
),
pipe_mean AS (
  SELECT k.profile, k.rank, k.op_type, k.name, count(*) AS calls, sum(k.dur_ns) AS total_ns,
         sum(cube * k.dur_ns) / nullif(sum(k.dur_ns) FILTER (WHERE cube IS NOT NULL), 0) AS cube,
         sum(vector * k.dur_ns) / nullif(sum(k.dur_ns) FILTER (WHERE vector IS NOT NULL), 0) AS vector,
         sum(scalar * k.dur_ns) / nullif(sum(k.dur_ns) FILTER (WHERE scalar IS NOT NULL), 0) AS scalar,
         sum(mte1 * k.dur_ns) / nullif(sum(k.dur_ns) FILTER (WHERE mte1 IS NOT NULL), 0) AS mte1,
         sum(mte2 * k.dur_ns) / nullif(sum(k.dur_ns) FILTER (WHERE mte2 IS NOT NULL), 0) AS mte2,
         sum(mte3 * k.dur_ns) / nullif(sum(k.dur_ns) FILTER (WHERE mte3 IS NOT NULL), 0) AS mte3,
         sum(fixpipe * k.dur_ns) / nullif(sum(k.dur_ns) FILTER (WHERE fixpipe IS NOT NULL), 0) AS fixpipe
    FROM kernel_pipe AS kp
   CROSS JOIN prof_kernel AS k ON k.profile = kp.profile AND k.id = kp.kernel_id
   GROUP BY k.profile, k.rank, k.op_type, k.name
),
largest AS (
  SELECT *, max(coalesce(cube, -1), coalesce(vector, -1), coalesce(scalar, -1), coalesce(mte1, -1), coalesce(mte2, -1),
                coalesce(mte3, -1), coalesce(fixpipe, -1)) AS share
    FROM pipe_mean
)
SELECT profile, rank, op_type, name, calls, total_ns, cube, vector, scalar, mte1, mte2, mte3, fixpipe,
       CASE share WHEN cube THEN 'cube' WHEN fixpipe THEN 'fixpipe' WHEN mte1 THEN 'mte1' WHEN mte2 THEN 'mte2'
                  WHEN mte3 THEN 'mte3' WHEN scalar THEN 'scalar' WHEN vector THEN 'vector' END
  FROM largest
 ORDER BY profile, rank, total_ns DESC;

-- cast_overhead: how much device time goes into converting data, and between which operators?
--
-- One row per conversion type and its neighbours on the stream, largest total first. A conversion changes a type or layout and
-- computes nothing: the kernels that kernel_class calls so (Cast, TransData, Transpose...).

CREATE TEMP VIEW IF NOT EXISTS cast_overhead(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  op_type,                -- TEXT     Cast, TransData, Transpose...
  previous_op_type,       -- TEXT     the kernel before it on its stream; NULL: none
  next_op_type,           -- TEXT     the kernel after it on its stream; NULL: none
  calls,                  -- INTEGER
  total_ns,               -- INTEGER  ns
  time_ratio,             -- REAL     share of all kernel time of the rank, 0..1
  type_time_ratio         -- REAL     the same for all conversions of this type, 0..1
) AS
WITH neighbour AS (
  SELECT profile, rank, id, ifnull(op_type, name) AS op_type, dur_ns, lag(ifnull(op_type, name)) OVER stream AS previous_op_type,
         lead(ifnull(op_type, name)) OVER stream AS next_op_type
    FROM prof_kernel
   WHERE is_communication IS NOT 1
  WINDOW stream AS (PARTITION BY profile, rank, device_id, stream_id ORDER BY start_ns, id)
),
whole AS (
  SELECT profile, rank, sum(dur_ns) AS total_ns FROM prof_kernel WHERE is_communication IS NOT 1 GROUP BY profile, rank
),
kind AS MATERIALIZED (
  SELECT profile, kernel_id FROM kernel_kind WHERE class = 'conversion'
),
conversion AS (
  SELECT n.profile, n.rank, n.op_type, n.previous_op_type, n.next_op_type, count(*) AS calls, sum(n.dur_ns) AS total_ns
    FROM kind
    JOIN neighbour AS n ON n.profile = kind.profile AND n.id = kind.kernel_id
   GROUP BY n.profile, n.rank, n.op_type, n.previous_op_type, n.next_op_type
)
SELECT c.profile, c.rank, c.op_type, c.previous_op_type, c.next_op_type, c.calls, c.total_ns,
       c.total_ns * 1.0 / nullif(w.total_ns, 0),
       sum(c.total_ns) OVER (PARTITION BY c.profile, c.rank, c.op_type) * 1.0 / nullif(w.total_ns, 0)
  FROM conversion AS c
  JOIN whole AS w ON w.profile = c.profile AND w.rank IS c.rank
 ORDER BY c.profile, c.rank, c.total_ns DESC;

-- collection_check: do two collections of the same load agree on where the time goes?
--
-- One row per operator type of the profiles 'base' and 'comparison': its share of device time on each side. They agree where the
-- shares differ by at most 2 points; a type on one side only never agrees.

CREATE TEMP VIEW IF NOT EXISTS collection_check(
  op_type,                -- TEXT     operator type
  base_calls,             -- INTEGER  NULL: not there
  base_time_ratio,        -- REAL     0..1
  comparison_calls,       -- INTEGER  NULL: not there
  comparison_time_ratio,  -- REAL     0..1
  diff_time_ratio,        -- REAL     comparison - base; a missing side counts 0
  verdict                 -- TEXT     agree, differ, base only, comparison only
) AS
WITH share AS (
  SELECT profile, op_type, sum(calls) AS calls, total(total_ns) / nullif(sum(total(total_ns)) OVER (PARTITION BY profile), 0) AS time_ratio
    FROM hot_op
   WHERE profile IN ('base', 'comparison')
   GROUP BY profile, op_type
),
paired AS (
  SELECT ifnull(b.op_type, c.op_type) AS op_type, b.calls AS base_calls, b.time_ratio AS base_ratio, c.calls AS comparison_calls,
         c.time_ratio AS comparison_ratio
    FROM (SELECT * FROM share WHERE profile = 'base') AS b
    FULL JOIN (SELECT * FROM share WHERE profile = 'comparison') AS c ON c.op_type IS b.op_type
)
SELECT op_type, base_calls, base_ratio, comparison_calls, comparison_ratio, ifnull(comparison_ratio, 0) - ifnull(base_ratio, 0),
       CASE WHEN base_calls IS NULL THEN 'comparison only' WHEN comparison_calls IS NULL THEN 'base only'
            WHEN round_even(abs(comparison_ratio - base_ratio), 9) <= 0.02 THEN 'agree' ELSE 'differ' END
  FROM paired
 ORDER BY max(ifnull(base_ratio, 0), ifnull(comparison_ratio, 0)) DESC, op_type;

-- _collective_task: how long does each collective wait and transmit?
--
-- Of the planes of one operation the first that waits speaks for it; size and link time are of all planes, copies within the
-- chip left out.
CREATE TEMP VIEW IF NOT EXISTS _collective_task(
  profile,                -- TEXT     alias
  comm_op_id,             -- INTEGER  prof_comm_op.id
  wait_ns,                -- INTEGER  ns, Notify_Wait
  transmit_ns,            -- INTEGER  ns
  link_ns,                -- INTEGER  ns, the planes' transmit times added up; NULL: nothing moved
  size_bytes              -- INTEGER  bytes over the links; NULL: none recorded
) AS
WITH plane AS (
  SELECT profile, comm_op_id, plane_id, sum(dur_ns) FILTER (WHERE name = 'Notify_Wait') AS wait_ns,
         sum(dur_ns) FILTER (WHERE size_bytes > 0 AND link_type IS NOT 'ON_CHIP') AS transmit_ns,
         sum(size_bytes) FILTER (WHERE size_bytes > 0 AND link_type IS NOT 'ON_CHIP') AS size_bytes
    FROM prof_comm_task
   WHERE comm_op_id IS NOT NULL AND name IS NOT NULL  -- databases of Level0 have rows that tell nothing
   GROUP BY profile, comm_op_id, plane_id
),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY profile, comm_op_id ORDER BY wait_ns IS NULL, plane_id) AS place FROM plane
)
SELECT profile, comm_op_id, max(ifnull(wait_ns, 0)) FILTER (WHERE place = 1), max(ifnull(transmit_ns, 0)) FILTER (WHERE place = 1),
       sum(transmit_ns), sum(size_bytes)
  FROM ranked
 GROUP BY profile, comm_op_id;

-- communication_summary: what does each kind of collective cost in each group?
--
-- One row per group and operation type, largest total first. Rule: that of the profiler's own communication.json. Of an
-- operation's planes the first that waits tells its wait (Notify_Wait) and transmit time, so that total = wait + transmit + idle;
-- size and bandwidth are of all planes, copies within the chip left out. Where there is no timeline to compute it from,
-- communication.json is read.

CREATE TEMP VIEW IF NOT EXISTS communication_summary(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  group_name,             -- TEXT     process group, or the raw label where it has no name
  op_type,                -- TEXT     kind of operation; GPU: kernel name without its arguments
  calls,                  -- INTEGER
  total_ns,               -- INTEGER  ns
  wait_ns,                -- INTEGER  ns; NULL: no tasks recorded
  transmit_ns,            -- INTEGER  ns; NULL: no tasks recorded
  size_bytes,             -- INTEGER  bytes over the links; NULL: none recorded
  bandwidth_gb_per_s,     -- REAL     10^9 byte/s, size over the planes' summed transmit time; NULL: nothing moved
  time_ratio,             -- REAL     share of all communication of the rank, 0..1
  source                  -- TEXT     computed (from the timeline) or read (from communication.json)
) AS
WITH computed AS (
  SELECT o.profile, o.rank, ifnull(nullif(o.process_group, ''), o.group_name) AS group_name, ifnull(o.op_type, substr(o.name, 1, instr(o.name || '(', '(') - 1)) AS op_type,
         count(*) AS calls, sum(o.dur_ns) AS total_ns, sum(t.wait_ns) AS wait_ns, sum(t.transmit_ns) AS transmit_ns,
         sum(t.size_bytes) AS size_bytes, sum(t.link_ns) AS link_ns, 'computed' AS source
    FROM prof_comm_op AS o
    LEFT JOIN _collective_task AS t ON t.profile = o.profile AND t.comm_op_id = o.id
   GROUP BY 1, 2, 3, 4
),
recording AS (           -- sources without collectives of their own; LIMIT: chosen before a file of theirs is opened
  SELECT s.alias, s.rank, s.path
    FROM prof_source AS s
   WHERE s.missing ->> 'prof_comm_op' IS NOT NULL
     AND EXISTS (SELECT 1 FROM json_each(s.files) AS f
                  WHERE '/' || f.value LIKE '%/communication.json' OR '/' || f.value LIKE '%/communication.json.gz')
   LIMIT -1
),
recorded AS (            -- SDMA is the sum of HCCS, PCIE and SIO
  SELECT s.alias AS profile, s.rank, c.group_name, substr(c.name, 1, max(instr(c.name, '__'), 0)) AS op_type, c.name, c.start_ns,
         c.elapse_ns, c.wait_ns, c.transit_ns, sum(c.transit_size_mb) FILTER (WHERE c.transport IN ('SDMA', 'RDMA')) AS size_mb,
         sum(c.transport_transit_ns) FILTER (WHERE c.transport IN ('SDMA', 'RDMA')) AS link_ns
    FROM recording AS s
   CROSS JOIN communication(s.path) AS c
   WHERE c.name <> 'Total Op Info'
   GROUP BY s.alias, s.rank, c.group_name, c.name, c.start_ns
),
summed AS (
  SELECT * FROM computed
  UNION ALL
  SELECT profile, rank, group_name, ifnull(nullif(op_type, ''), name), count(*), sum(elapse_ns), sum(wait_ns), sum(transit_ns),
         CAST(round_even(sum(size_mb) * 1e6) AS INTEGER), sum(link_ns), 'read'
    FROM recorded
   GROUP BY 1, 2, 3, 4
)
SELECT profile, rank, group_name, op_type, calls, total_ns, wait_ns, transmit_ns, size_bytes,
       size_bytes * 1.0 / nullif(link_ns, 0), total_ns * 1.0 / nullif(sum(total_ns) OVER (PARTITION BY profile, rank), 0), source
  FROM summed
 ORDER BY profile, rank, total_ns DESC;

-- memory_peak: when was most device memory in use, and for what?
--
-- One row per operator that held memory at the peak, largest first. The peak is the first record with the largest allocated
-- bytes of any one component of a device; alive is what was allocated at or before it and not yet released.

CREATE TEMP VIEW IF NOT EXISTS memory_peak(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  device_id,              -- INTEGER  device
  component,              -- TEXT     PTA, PTA+GE, GE, MindSpore, CUDA ...
  peak_ns,                -- INTEGER  ns, when
  first_ns,               -- INTEGER  ns, the device's first record
  allocated_bytes,        -- INTEGER  bytes in use at the peak
  reserved_bytes,         -- INTEGER  bytes reserved then
  name,                   -- TEXT     operator; NULL: nothing known alive
  blocks,                 -- INTEGER  blocks of that operator alive
  size_bytes              -- INTEGER  their bytes
) AS
WITH most AS (            -- of each device, which the table gives in order
  SELECT profile, rank, device_id, max(allocated_bytes) AS allocated_bytes, min(ts_ns) AS first_ns
    FROM prof_memory_usage
   WHERE allocated_bytes IS NOT NULL AND device_id IS NOT NULL
   GROUP BY profile, rank, device_id
),
ranked AS (
  SELECT u.*, m.first_ns, row_number() OVER (PARTITION BY u.profile, u.rank, u.device_id ORDER BY u.ts_ns, u.id) AS place
    FROM most AS m
   CROSS JOIN prof_memory_usage AS u ON u.profile = m.profile AND u.rank IS m.rank AND u.device_id = m.device_id
                                    AND u.allocated_bytes = m.allocated_bytes
),
peak AS (
  SELECT * FROM ranked WHERE place = 1
)
SELECT p.profile, p.rank, p.device_id, p.component, p.ts_ns, p.first_ns, p.allocated_bytes, p.reserved_bytes, ifnull(a.name, o.name),
       count(a.id), sum(a.size_bytes)
  FROM peak AS p
  LEFT JOIN prof_memory_alloc AS a
         ON a.profile = p.profile AND a.rank IS p.rank AND a.device_id = p.device_id AND a.alloc_ns <= p.ts_ns
        AND (a.release_ns IS NULL OR a.release_ns > p.ts_ns) AND a.size_bytes > 0
  LEFT JOIN prof_host_op AS o ON o.profile = a.profile AND o.id = a.host_op_id
 GROUP BY p.profile, p.rank, p.device_id, ifnull(a.name, o.name)
 ORDER BY p.profile, p.rank, p.device_id, sum(a.size_bytes) DESC;
