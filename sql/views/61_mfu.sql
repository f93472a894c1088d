-- MFU from recorded FLOPs: how much of the chip's peak did the operators reach whose FLOPs the collection wrote down?
--
-- With with_flops=True and mstx on, torch_npu writes a range of domain mfu_flops around each supported operator, whose
-- message is '<FLOPs>-<operator>'. Rules of matching and of the module tree: msprof-analyze operator_mfu.

-- flops_record: which operators wrote down their FLOPs?
--
-- A row for each valid record; one of another form, without FLOPs or without length is left out (see mfu_diagnostic).
CREATE TEMP VIEW IF NOT EXISTS flops_record(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  record_id,              -- INTEGER  prof_mstx_range.id
  thread_id,              -- INTEGER  thread that wrote it
  start_ns,               -- INTEGER  ns
  end_ns,                 -- INTEGER  ns
  flops,                  -- INTEGER  operations, a multiply-add counts 2
  flops_op_name           -- TEXT     operator as the recorder names it: mm, linear, npu_fusion_attention ...
) AS
WITH split AS (
  SELECT profile, rank, id, thread_id, start_ns, end_ns, message, instr(message, '-') AS dash
    FROM prof_mstx_range
   WHERE domain = 'mfu_flops'
)
SELECT profile, rank, id, thread_id, start_ns, end_ns, CAST(substr(message, 1, dash - 1) AS INTEGER),
       substr(message, dash + 1)
  FROM split
 WHERE end_ns > start_ns
   AND dash > 1 AND length(message) > dash
   AND substr(message, 1, dash - 1) NOT GLOB '*[^0-9]*'
   AND CAST(substr(message, 1, dash - 1) AS INTEGER) BETWEEN 1 AND 9223372036854775806;

-- flops_record_launch: which kernels did the recorded operators launch?
--
-- A row for each record and launch: the host operators that start within the record, both ends included, and every kernel
-- that they launched, whenever it ran.
CREATE TEMP VIEW IF NOT EXISTS flops_record_launch(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  record_id,              -- INTEGER  flops_record.record_id
  record_start_ns,        -- INTEGER  ns
  flops,                  -- INTEGER  of the whole record
  flops_op_name,          -- TEXT     as flops_record
  op_id,                  -- INTEGER  prof_host_op.id of the operator that launched the kernel
  op_name,                -- TEXT     its name
  op_start_ns,            -- INTEGER  ns
  op_step,                -- INTEGER  step in which the operator starts
  kernel_id               -- INTEGER  prof_kernel.id
) AS
SELECT r.profile, r.rank, r.record_id, r.start_ns, r.flops, r.flops_op_name, o.id, o.name, o.start_ns, o.step, l.kernel_id
  FROM flops_record AS r
 CROSS JOIN prof_host_op AS o
    ON o.profile = r.profile AND o.rank IS r.rank AND o.start_ns BETWEEN r.start_ns AND r.end_ns
 CROSS JOIN prof_launch AS l ON l.profile = o.profile AND l.host_op_id = o.id
 WHERE l.kernel_id IS NOT NULL;

-- flops_record_kernel: which kernels do the recorded FLOPs belong to, and what is their peak?
--
-- flops_record_launch less the kernels whose shapes are not known; a kernel found twice counts once. The data type of a
-- record is that of the first input of its first kernel (by start of operator, then of kernel); no type: fp16.
CREATE TEMP VIEW IF NOT EXISTS flops_record_kernel(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  record_id,              -- INTEGER  flops_record.record_id
  record_start_ns,        -- INTEGER  ns
  flops,                  -- INTEGER  of the whole record
  flops_op_name,          -- TEXT     as flops_record
  op_id,                  -- INTEGER  prof_host_op.id of the operator that launched the kernel
  op_name,                -- TEXT     its name
  op_start_ns,            -- INTEGER  ns
  op_step,                -- INTEGER  step in which the operator starts
  kernel_id,              -- INTEGER  prof_kernel.id
  kernel_name,            -- TEXT
  op_type,                -- TEXT     kernel type
  kernel_start_ns,        -- INTEGER  ns
  kernel_end_ns,          -- INTEGER  ns
  kernel_duration_ns,     -- INTEGER  ns
  input_shapes,           -- TEXT     as prof_kernel
  output_shapes,          -- TEXT     as prof_kernel
  step,                   -- INTEGER  step of the kernel
  record_type,            -- TEXT     the data type's name in the profile
  dtype,                  -- TEXT     as dtype_names, of the record; NULL: a type without a peak
  peak_flops,             -- REAL     operations a second; NULL: not known for the type or chip
  peak_source             -- TEXT     where the peak comes from
) AS
WITH peak AS MATERIALIZED (
  SELECT * FROM rank_peak
),
hit AS (
  SELECT l.*, k.name AS kernel_name, k.op_type, k.start_ns, k.end_ns, k.dur_ns, k.input_shapes, k.output_shapes,
         k.input_types, k.step
    FROM flops_record_launch AS l
   CROSS JOIN prof_kernel AS k ON k.profile = l.profile AND k.id = l.kernel_id
   WHERE k.input_shapes IS NOT NULL AND k.output_shapes IS NOT NULL
),
placed AS (               -- in the order that decides which kernel is first and which of two alike stays
  SELECT *,
         row_number() OVER (PARTITION BY profile, record_id, start_ns, end_ns ORDER BY op_start_ns, kernel_id) AS copy,
         first_value(input_types) OVER (PARTITION BY profile, record_id
                                        ORDER BY op_start_ns, start_ns, end_ns, kernel_id) AS record_types
    FROM hit
),
typed AS (
  SELECT *, substr(record_types, 1, instr(record_types || ';', ';') - 1) AS record_type
    FROM placed
   WHERE copy = 1
)
SELECT t.profile, t.rank, t.record_id, t.record_start_ns, t.flops, t.flops_op_name, t.op_id, t.op_name, t.op_start_ns,
       t.op_step, t.kernel_id, t.kernel_name, t.op_type, t.start_ns, t.end_ns, t.dur_ns, t.input_shapes, t.output_shapes,
       t.step, t.record_type, n.dtype, p.peak_flops, p.source
  FROM typed AS t
  LEFT JOIN dtype_names AS n ON n.name = coalesce(nullif(lower(t.record_type), ''), 'fp16')
  LEFT JOIN peak AS p ON p.profile = t.profile AND p.rank IS t.rank AND p.dtype = n.dtype;

-- operator_mfu: how near to the peak did each kernel of a recorded operator come?
--
-- A row for each kernel and record, by start of operator, then of kernel. Each kernel is given the FLOPs of the whole
-- record, as the reference does, so that a layout kernel beside a matrix product may seem to beat the peak; mfu_record
-- has the figure for the operator as a whole. Kernels without duration are left out.
-- Report: operator_mfu.sql.
CREATE TEMP VIEW IF NOT EXISTS operator_mfu(
  profile,                -- TEXT     alias
  rank_id,                -- INTEGER  rank; NULL: unknown
  op_name,                -- TEXT     host operator that launched the kernel
  kernel_name,            -- TEXT
  kernel_start_ns,        -- INTEGER  ns
  kernel_end_ns,          -- INTEGER  ns
  kernel_duration_ns,     -- INTEGER  ns
  mfu,                    -- REAL     flops / (duration x peak), 1 = the peak; NULL: peak not known
  actual_tflops,          -- REAL     10^12 operations a second
  chip_peak_tflops,       -- REAL     10^12 operations a second, dense; NULL: not known for the type or chip
  flops,                  -- INTEGER  recorded operations of the whole record
  flops_op_name,          -- TEXT     operator as the recorder names it
  input_shapes,           -- TEXT     dims by ',', tensors by ';'
  output_shapes,          -- TEXT     as input_shapes
  dtype,                  -- TEXT     data type whose peak counts: that of the record's first kernel's first input
  peak_source,            -- TEXT     where the peak comes from
  step,                   -- INTEGER  step of the kernel; NULL: none
  op_start_ns,            -- INTEGER  ns, start of the host operator
  record_id,              -- INTEGER  flops_record.record_id
  kernel_id               -- INTEGER  prof_kernel.id
) AS
SELECT profile, rank, op_name, kernel_name, kernel_start_ns, kernel_end_ns, kernel_duration_ns,
       mfu(flops, kernel_duration_ns, peak_flops), actual_tflops(flops, kernel_duration_ns), peak_flops / 1e12, flops,
       flops_op_name, input_shapes, output_shapes, dtype, peak_source, step, op_start_ns, record_id, kernel_id
  FROM flops_record_kernel
 WHERE kernel_duration_ns > 0
 ORDER BY profile, rank, op_start_ns, kernel_start_ns, record_start_ns, kernel_id;

-- mfu_record: how near to the peak did each recorded operator come?
--
-- A row for each record, also those that no kernel was found for. The time is that in which at least one of its kernels
-- ran, so that operators with several kernels are not counted double. A record is work done again when it lies directly
-- in a checkpoint's operator of the backward pass, or in a module called during the backward pass; directly in another
-- operator of the backward pass it may be that or a product written by hand, which cannot be told.
CREATE TEMP VIEW IF NOT EXISTS mfu_record(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  record_id,              -- INTEGER  flops_record.record_id
  flops_op_name,          -- TEXT     operator as the recorder names it
  op_names,               -- TEXT     host operators that launched its kernels, by ','
  start_ns,               -- INTEGER  ns, of the record, on the host
  end_ns,                 -- INTEGER  ns
  step,                   -- INTEGER  step in which it starts; NULL: none
  flops,                  -- INTEGER  recorded operations
  kernels,                -- INTEGER  kernels found
  busy_ns,                -- INTEGER  ns covered by its kernels; NULL: none found
  kernel_ns,              -- INTEGER  ns, sum of their durations
  dtype,                  -- TEXT     data type whose peak counts
  peak_flops,             -- REAL     operations a second; NULL: not known
  actual_tflops,          -- REAL     10^12 operations a second of busy time
  mfu,                    -- REAL     flops / (busy time x peak)
  is_recompute,           -- INTEGER  1: forward work done again, 0: not, NULL: cannot be told
  peak_source             -- TEXT     where the peak comes from
) AS
WITH found AS (
  SELECT profile, record_id, count(*) AS kernels, group_concat(DISTINCT op_name) AS op_names,
         interval_coverage(kernel_start_ns, kernel_end_ns) AS busy_ns, sum(kernel_duration_ns) AS kernel_ns,
         min(op_step) AS step, max(dtype) AS dtype, max(peak_flops) AS peak_flops, max(peak_source) AS peak_source
    FROM flops_record_kernel
   GROUP BY profile, record_id
),
thread_event AS (         -- the backward pass by thread, calls of modules, and the records
  SELECT profile, rank, thread_id, start_ns, end_ns, id, 0 AS sort, NULL AS module_id, NULL AS record_id,
         name GLOB '*Checkpoint*' AS is_checkpoint
    FROM prof_host_op
   WHERE name GLOB '*Backward*' AND kind = 'op'
   UNION ALL
  SELECT profile, rank, thread_id, start_ns, end_ns, NULL, 1, id, NULL, NULL FROM prof_mstx_range
   WHERE domain = 'Module' AND event_type = 'start/end'
   UNION ALL
  SELECT profile, rank, thread_id, start_ns, end_ns, NULL, 2, NULL, record_id, NULL FROM flops_record
),
behind AS MATERIALIZED (  -- the innermost operator of the backward pass, and the innermost of those and modules
  SELECT *, nest_within(id, start_ns, end_ns) OVER by_time AS backward_id,
         nest_within(coalesce(id, -module_id), start_ns, end_ns) OVER by_time AS inner_id
    FROM thread_event
  WINDOW by_time AS (PARTITION BY profile, rank, thread_id ORDER BY start_ns, end_ns DESC, sort ROWS UNBOUNDED PRECEDING)
),
again AS (
  SELECT r.profile, r.record_id,
         CASE WHEN r.thread_id IS NULL THEN NULL
              WHEN r.backward_id IS NULL THEN 0
              WHEN r.inner_id < 0 THEN CASE WHEN m.backward_id IS NOT NULL THEN 1 ELSE 0 END
              WHEN o.is_checkpoint THEN 1 END AS is_recompute
    FROM behind AS r
    LEFT JOIN behind AS o ON o.profile = r.profile AND o.id = r.inner_id
    LEFT JOIN behind AS m ON m.profile = r.profile AND m.module_id = -r.inner_id
   WHERE r.record_id IS NOT NULL
)
SELECT r.profile, r.rank, r.record_id, r.flops_op_name, f.op_names, r.start_ns, r.end_ns, f.step, r.flops,
       coalesce(f.kernels, 0), f.busy_ns, f.kernel_ns, f.dtype, f.peak_flops, actual_tflops(r.flops, f.busy_ns),
       mfu(r.flops, f.busy_ns, f.peak_flops), a.is_recompute, f.peak_source
  FROM flops_record AS r
  JOIN again AS a ON a.profile = r.profile AND a.record_id = r.record_id
  LEFT JOIN found AS f ON f.profile = r.profile AND f.record_id = r.record_id
 ORDER BY r.profile, r.rank, r.start_ns, r.record_id;

-- module_op: which operators ran in which module, and what did they launch?
--
-- A row for each operator that launched work inside a module range. Ranges of domain Module nest by containment; an
-- operator belongs to the innermost range that contains it whole. An operator of the backward pass belongs to the module
-- of the forward operator that it is linked to.
CREATE TEMP VIEW IF NOT EXISTS module_op(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  direction,              -- TEXT     forward or backward
  module_id,              -- INTEGER  prof_mstx_range.id of the module's range
  parent_module,          -- TEXT     the modules around it, outermost first, by '/'
  module,                 -- TEXT     class of the module
  module_start_ns,        -- INTEGER  ns
  op_id,                  -- INTEGER  prof_host_op.id
  op_name,                -- TEXT
  op_start_ns             -- INTEGER  ns
) AS
WITH RECURSIVE module AS MATERIALIZED (
  SELECT profile, rank, id, message AS name, start_ns, end_ns,
         nest_within(id, start_ns, end_ns) OVER (PARTITION BY profile, rank ORDER BY start_ns, end_ns DESC, id
                                                 ROWS UNBOUNDED PRECEDING) AS parent_id
    FROM prof_mstx_range
   WHERE domain = 'Module' AND event_type = 'start/end'
),
path(profile, id, above, name) AS (
  SELECT profile, id, '', name FROM module WHERE parent_id IS NULL
   UNION ALL
  SELECT m.profile, m.id, ltrim(p.above || '/' || p.name, '/'), m.name
    FROM path AS p
    JOIN module AS m ON m.profile = p.profile AND m.parent_id = p.id
),
busy_op AS MATERIALIZED (             -- operators that launched anything
  SELECT DISTINCT profile, host_op_id AS id
    FROM prof_launch
   WHERE host_op_id IS NOT NULL AND (kernel_id IS NOT NULL OR comm_op_id IS NOT NULL)
     AND profile IN (SELECT profile FROM module)
   UNION
  SELECT o.profile, o.id
    FROM prof_device_task AS t
   CROSS JOIN prof_host_op AS o
      ON o.profile = t.profile AND o.rank IS t.rank AND o.connection_id = t.connection_id AND o.kind = 'op'
   WHERE t.is_schedule = 1
),
op AS MATERIALIZED (
  SELECT o.profile, o.rank, o.id, o.name, o.thread_id, o.start_ns, o.end_ns
    FROM busy_op AS b
   CROSS JOIN prof_host_op AS o ON o.profile = b.profile AND o.id = b.id
),
backward_root AS MATERIALIZED (       -- operators that a forward operator leads to
  SELECT o.profile, o.rank, o.thread_id, min(o.id) AS id, o.start_ns, max(o.end_ns) AS end_ns, f.forward_ns
    FROM prof_fwd_bwd AS f
   CROSS JOIN prof_host_op AS o
      ON o.profile = f.profile AND o.rank IS f.rank AND o.start_ns = f.backward_ns AND o.kind = 'op'
     AND (f.backward_thread_id IS NULL OR o.thread_id = f.backward_thread_id)
   WHERE f.forward_ns IS NOT NULL AND f.profile IN (SELECT profile FROM module)
   GROUP BY o.profile, o.rank, o.thread_id, o.start_ns
),
event AS (                            -- modules, and what may lie in one
  SELECT profile, rank, id, start_ns, end_ns, 0 AS asks, NULL AS op_id, NULL AS root_id FROM module
   UNION ALL
  SELECT profile, rank, NULL, start_ns, end_ns, 1, id, NULL FROM op
   UNION ALL
  SELECT profile, rank, NULL, forward_ns, forward_ns, 1, NULL, id FROM backward_root
),
inside AS MATERIALIZED (
  SELECT profile, op_id, root_id,
         nest_within(id, start_ns, end_ns) OVER (PARTITION BY profile, rank ORDER BY start_ns, end_ns DESC, asks, id
                                                 ROWS UNBOUNDED PRECEDING) AS module_id
    FROM event
),
thread_event AS (                     -- the backward pass by thread, and what may lie in it
  SELECT profile, rank, thread_id, id, start_ns, end_ns, 0 AS asks, NULL AS op_id FROM backward_root
   UNION ALL
  SELECT profile, rank, thread_id, NULL, start_ns, end_ns, 1, id FROM op WHERE EXISTS (SELECT 1 FROM backward_root)
),
behind AS (
  SELECT profile, op_id,
         nest_within(id, start_ns, end_ns) OVER (PARTITION BY profile, rank, thread_id
                                                 ORDER BY start_ns, end_ns DESC, asks, id
                                                 ROWS UNBOUNDED PRECEDING) AS root_id
    FROM thread_event
),
owner AS (
  SELECT profile, op_id, module_id, 'forward' AS direction FROM inside WHERE op_id IS NOT NULL AND module_id IS NOT NULL
   UNION ALL
  SELECT b.profile, b.op_id, r.module_id, 'backward'
    FROM behind AS b
    JOIN inside AS r ON r.profile = b.profile AND r.root_id = b.root_id
    JOIN inside AS i ON i.profile = b.profile AND i.op_id = b.op_id
   WHERE r.module_id IS NOT NULL AND i.module_id IS NULL
)
SELECT op.profile, op.rank, w.direction, w.module_id, p.above, p.name, m.start_ns, op.id, op.name, op.start_ns
  FROM owner AS w
  JOIN op ON op.profile = w.profile AND op.id = w.op_id
  JOIN module AS m ON m.profile = w.profile AND m.id = w.module_id
  JOIN path AS p ON p.profile = w.profile AND p.id = w.module_id;

-- module_mfu: which operators of which module ran how long and how near to the peak?
--
-- Instances of a module whose operators are the same count together: a row for each operator position and kernel list,
-- in order of first start. Where neighbouring rows of one module come from instances with different operators, the
-- module's name gets _0, _1 ...
-- Report: module_mfu.sql (the forward rows).
CREATE TEMP VIEW IF NOT EXISTS module_mfu(
  profile,                -- TEXT     alias
  rank_id,                -- INTEGER  rank; NULL: unknown
  parent_module,          -- TEXT     the modules around it, outermost first, by '/'; '' for none
  module,                 -- TEXT     class of the module, with _0, _1 ... where instances differ
  op_name,                -- TEXT     host operator
  kernel_list,            -- TEXT     what it launched, by ', ': kernels by start, collectives, kernels that start them
  total_kernel_duration_ns,  -- INTEGER  ns, over all instances
  avg_kernel_duration_ns, -- REAL     ns
  op_count,               -- INTEGER  instances
  avg_mfu,                -- TEXT     JSON array: by position of the kernel, the mean MFU of the instances that have one
  direction,              -- TEXT     forward or backward
  op_order,               -- INTEGER  position of the operator in its module, from 0
  first_op_start_ns       -- INTEGER  ns, of the first instance
) AS
WITH op AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY profile, module_id, direction ORDER BY op_start_ns, op_id) - 1 AS op_order
    FROM module_op
),
launched AS (             -- part: kernels stand before collectives, those before what starts them
  SELECT op.profile, op.op_id, 1 AS part, k.start_ns, k.id, k.name, k.dur_ns
    FROM op
   CROSS JOIN prof_launch AS l ON l.profile = op.profile AND l.host_op_id = op.op_id
   CROSS JOIN prof_kernel AS k ON k.profile = l.profile AND k.id = l.kernel_id
   WHERE k.is_communication IS NOT 1
   UNION ALL
  SELECT op.profile, op.op_id, 2, c.start_ns, c.id, coalesce(c.op_type, c.name), c.dur_ns
    FROM op
   CROSS JOIN prof_launch AS l ON l.profile = op.profile AND l.host_op_id = op.op_id
   CROSS JOIN prof_comm_op AS c ON c.profile = l.profile AND c.id = l.comm_op_id
   UNION ALL
  SELECT op.profile, op.op_id, 3, t.start_ns, t.id, t.name, t.dur_ns
    FROM prof_device_task AS t
   CROSS JOIN prof_host_op AS o
      ON o.profile = t.profile AND o.rank IS t.rank AND o.connection_id = t.connection_id AND o.kind = 'op'
    JOIN op ON op.profile = o.profile AND op.op_id = o.id
   WHERE t.is_schedule = 1
),
kernel_mfu AS (           -- of records within one another the innermost counts
  SELECT profile, kernel_id, mfu, max(record_start_ns) FROM (
    SELECT profile, kernel_id, record_start_ns, mfu(flops, kernel_duration_ns, peak_flops) AS mfu FROM flops_record_kernel)
   GROUP BY profile, kernel_id
),
work AS MATERIALIZED (
  SELECT l.profile, l.op_id, l.name, l.dur_ns, m.mfu,
         row_number() OVER (PARTITION BY l.profile, l.op_id ORDER BY l.part, l.start_ns, l.id) AS position
    FROM launched AS l
    LEFT JOIN kernel_mfu AS m ON l.part = 1 AND m.profile = l.profile AND m.kernel_id = l.id
),
op_work AS (
  SELECT profile, op_id, group_concat(name, ', ') AS kernel_list, sum(dur_ns) AS device_ns
    FROM (SELECT * FROM work ORDER BY profile, op_id, position)
   GROUP BY profile, op_id
),
instance AS (             -- the operators of each run of a module, in order
  SELECT profile, module_id, direction, group_concat(op_name, '/') AS sequence, min(place) AS place
    FROM (SELECT profile, module_id, direction, op_name,
                 row_number() OVER (ORDER BY profile, module_start_ns, module_id, op_start_ns, op_order) AS place
            FROM op
           ORDER BY profile, module_id, direction, op_order)
   GROUP BY profile, module_id, direction
),
numbered AS (             -- equal sequences share a number, by first appearance
  SELECT profile, module_id, direction, min(place) OVER (PARTITION BY profile, direction, sequence) AS seq_id
    FROM instance
),
group_op AS MATERIALIZED (
  SELECT op.*, w.kernel_list, w.device_ns, n.seq_id,
         dense_rank() OVER (ORDER BY op.profile, op.rank, op.direction, op.parent_module, op.module, op.op_name,
                                     op.op_order, w.kernel_list, n.seq_id) AS group_id
    FROM op
    JOIN op_work AS w ON w.profile = op.profile AND w.op_id = op.op_id
    JOIN numbered AS n ON n.profile = op.profile AND n.module_id = op.module_id AND n.direction = op.direction
),
position_mfu AS (
  SELECT g.group_id, w.position, avg(w.mfu) FILTER (WHERE w.mfu > 0) AS mfu
    FROM group_op AS g
    JOIN work AS w ON w.profile = g.profile AND w.op_id = g.op_id
   GROUP BY g.group_id, w.position
),
group_mfu AS (
  SELECT group_id, json_group_array(mfu) AS avg_mfu
    FROM (SELECT * FROM position_mfu ORDER BY group_id, position)
   GROUP BY group_id
),
grouped AS (
  SELECT group_id, profile, rank, direction, parent_module, module, op_name, op_order, kernel_list, seq_id,
         sum(device_ns) AS total_ns, avg(device_ns) AS avg_ns, count(*) AS op_count, min(op_start_ns) AS first_ns
    FROM group_op
   GROUP BY group_id
),
changed AS (
  SELECT *, (lag(parent_module) OVER line, lag(module) OVER line) IS NOT (parent_module, module) AS is_new
    FROM grouped
  WINDOW line AS (PARTITION BY profile, rank, direction ORDER BY first_ns, op_order)
),
run AS (                  -- neighbouring rows of one module
  SELECT *, sum(is_new) OVER (PARTITION BY profile, rank, direction ORDER BY first_ns, op_order
                              ROWS UNBOUNDED PRECEDING) AS run_id
    FROM changed
),
variant AS (
  SELECT *, dense_rank() OVER (PARTITION BY profile, rank, direction, run_id ORDER BY seq_id) - 1 AS variant
    FROM run
)
SELECT v.profile, v.rank, v.parent_module,
       v.module || CASE WHEN max(v.variant) OVER (PARTITION BY v.profile, v.rank, v.direction, v.run_id) > 0
                        THEN '_' || v.variant ELSE '' END,
       v.op_name, v.kernel_list, v.total_ns, v.avg_ns, v.op_count, m.avg_mfu, v.direction, v.op_order, v.first_ns
  FROM variant AS v
  JOIN group_mfu AS m ON m.group_id = v.group_id
 ORDER BY v.profile, v.rank, v.direction DESC, v.first_ns, v.op_order;

-- cluster_operator_mfu: what does msprof-analyze write into table OperatorMFU of cluster_analysis.db?
--
-- operator_mfu with the reference's column names and rounding, for all ranks.
CREATE TEMP VIEW IF NOT EXISTS cluster_operator_mfu(
  rank_id,                -- INTEGER
  op_name,                -- TEXT
  kernel_name,            -- TEXT
  "kernel_start(ns)",     -- INTEGER
  "kernel_end(ns)",       -- INTEGER
  "kernel_duration(ns)",  -- INTEGER
  mfu,                    -- REAL     4 digits
  actual_tflops,          -- REAL     2 digits
  chip_peak_tflops,       -- REAL     2 digits
  flops,                  -- INTEGER
  flops_op_name,          -- TEXT
  input_shapes,           -- TEXT
  output_shapes           -- TEXT
) AS
SELECT rank_id, op_name, kernel_name, kernel_start_ns, kernel_end_ns, kernel_duration_ns, round_even(mfu, 4),
       round_even(actual_tflops, 2), round_even(chip_peak_tflops, 2), flops, flops_op_name, input_shapes, output_shapes
  FROM operator_mfu;

-- cluster_module_mfu: what does msprof-analyze write into table ModuleMFU of cluster_analysis.db?
--
-- The forward rows of module_mfu with the reference's column names and rounding, for all ranks.
CREATE TEMP VIEW IF NOT EXISTS cluster_module_mfu(
  rank_id,                -- INTEGER
  parent_module,          -- TEXT
  module,                 -- TEXT
  op_name,                -- TEXT
  kernel_list,            -- TEXT
  "total_kernel_duration(ns)",  -- INTEGER
  "avg_kernel_duration(ns)",    -- REAL
  op_count,               -- INTEGER
  avg_mfu                 -- TEXT     percent with 2 digits for each kernel that has one, by ','
) AS
SELECT rank_id, parent_module, module, op_name, kernel_list, total_kernel_duration_ns, avg_kernel_duration_ns, op_count,
       (SELECT group_concat(repr_real(round_even(value * 100, 2)) || '%') FROM json_each(avg_mfu) WHERE value IS NOT NULL)
  FROM module_mfu
 WHERE direction = 'forward';

-- text_operator_mfu: what does msprof-analyze write into operator_mfu_kernel_<rank>?
--
-- cluster_operator_mfu under the heads of the text export.
CREATE TEMP VIEW IF NOT EXISTS text_operator_mfu(
  "Rank ID",              -- INTEGER
  "Op Name",              -- TEXT
  "Kernel Name",          -- TEXT
  "Kernel Start(ns)",     -- INTEGER
  "Kernel End(ns)",       -- INTEGER
  "Kernel Duration(ns)",  -- INTEGER
  "MFU",                  -- REAL
  actual_tflops,          -- REAL
  chip_peak_tflops,       -- REAL
  flops,                  -- INTEGER
  flops_op_name,          -- TEXT
  input_shapes,           -- TEXT
  output_shapes           -- TEXT
) AS
SELECT * FROM cluster_operator_mfu;

-- text_module_mfu: what does msprof-analyze write into operator_mfu_module_<rank>?
--
-- cluster_module_mfu under the heads of the text export.
CREATE TEMP VIEW IF NOT EXISTS text_module_mfu(
  "Rank ID",              -- INTEGER
  "Parent Module",        -- TEXT
  "Module",               -- TEXT
  "Op Name",              -- TEXT
  "Kernel List",          -- TEXT
  "Total Kernel Duration(ns)",  -- INTEGER
  "Avg Kernel Duration(ns)",    -- REAL
  "Op Count",             -- INTEGER
  "Avg MFU"               -- TEXT
) AS
SELECT * FROM cluster_module_mfu;
