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

-- _flops_record_kernel_query: flops_record_kernel, to be kept.
CREATE TEMP VIEW IF NOT EXISTS _flops_record_kernel_query(
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
WITH placed AS (          -- in the order that decides which kernel is first and which of two alike stays
  SELECT l.*,
         row_number() OVER (PARTITION BY l.profile, l.record_id, k.start_ns, k.end_ns ORDER BY l.op_start_ns, k.id) AS copy,
         first_value(k.input_types) OVER (PARTITION BY l.profile, l.record_id
                                          ORDER BY l.op_start_ns, k.start_ns, k.end_ns, k.id) AS record_types
    FROM flops_record_launch AS l
   CROSS JOIN prof_kernel AS k ON k.profile = l.profile AND k.id = l.kernel_id
   WHERE k.input_shapes IS NOT NULL AND k.output_shapes IS NOT NULL
),
typed AS (
  SELECT *, substr(record_types, 1, instr(record_types || ';', ';') - 1) AS record_type
    FROM placed
   WHERE copy = 1
)
SELECT t.profile, t.rank, t.record_id, t.record_start_ns, t.flops, t.flops_op_name, t.op_id, t.op_name, t.op_start_ns,
       t.op_step, t.kernel_id, k.name, k.op_type, k.start_ns, k.end_ns, k.dur_ns, k.input_shapes, k.output_shapes, k.step,
       t.record_type, n.dtype, p.peak_flops, p.source
  FROM typed AS t
 CROSS JOIN prof_kernel AS k ON k.profile = t.profile AND k.id = t.kernel_id
  LEFT JOIN dtype_names AS n ON n.name = coalesce(nullif(lower(t.record_type), ''), 'fp16')
  LEFT JOIN _rank_peak AS p ON p.profile = t.profile AND p.rank IS t.rank AND p.dtype = n.dtype;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._flops_record_kernel USING profana_memo(_flops_record_kernel_query);

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
SELECT * FROM _flops_record_kernel;

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
WITH thread_event AS (    -- the backward pass by thread, calls of modules, and the records
  SELECT profile, rank, thread_id, start_ns, end_ns, id, 0 AS sort, CAST(NULL AS INTEGER) AS module_id,
         CAST(NULL AS INTEGER) AS record_id, name GLOB '*Checkpoint*' AS is_checkpoint
    FROM prof_host_op
   WHERE name GLOB '*Backward*' AND kind = 'op'
   UNION ALL
  SELECT profile, rank, thread_id, start_ns, end_ns, NULL, 1, id, NULL, NULL FROM prof_mstx_range
   WHERE domain = 'Module' AND event_type = 'start/end'
   UNION ALL
  SELECT profile, rank, thread_id, start_ns, end_ns, NULL, 2, NULL, record_id, NULL FROM flops_record
),
behind AS MATERIALIZED (  -- the innermost operator of the backward pass, and the innermost of those and modules
  SELECT *, CAST(nest_within(id, start_ns, end_ns) OVER by_time AS INTEGER) AS backward_id,
         CAST(nest_within(coalesce(id, -module_id), start_ns, end_ns) OVER by_time AS INTEGER) AS inner_id
    FROM thread_event
  WINDOW by_time AS (PARTITION BY profile, rank, thread_id ORDER BY start_ns, end_ns DESC, sort ROWS UNBOUNDED PRECEDING)
),
again AS (
  SELECT r.profile, r.record_id,
         CASE WHEN r.thread_id IS NULL THEN NULL
              WHEN r.backward_id IS NULL THEN 0
              WHEN r.inner_id < 0
                THEN nest_find((SELECT nest_index(backward_id IS NOT NULL, module_id, module_id, profile) FROM behind),
                               -r.inner_id, -r.inner_id, r.profile)
              WHEN nest_find((SELECT nest_index(is_checkpoint, id, id, profile) FROM behind), r.inner_id, r.inner_id, r.profile)
                THEN 1 END AS is_recompute
    FROM behind AS r
   WHERE r.record_id IS NOT NULL
),
found AS (                -- by the index of the kept kernels, whatever SQLite expects of the number of records
  SELECT r.*, a.is_recompute, count(k.kernel_id) AS kernels, group_concat(DISTINCT k.op_name) AS op_names,
         iif(count(k.kernel_id) > 0, interval_coverage(k.kernel_start_ns, k.kernel_end_ns), NULL) AS busy_ns,
         sum(k.kernel_duration_ns) AS kernel_ns, min(k.op_step) AS step, max(k.dtype) AS dtype,
         max(k.peak_flops) AS peak_flops, max(k.peak_source) AS peak_source
    FROM again AS a
   CROSS JOIN flops_record AS r ON r.profile = a.profile AND r.record_id = a.record_id
    LEFT JOIN _flops_record_kernel AS k ON k.profile = r.profile AND k.record_id = r.record_id
   GROUP BY r.profile, r.record_id
)
SELECT profile, rank, record_id, flops_op_name, op_names, start_ns, end_ns, step, flops, kernels, busy_ns, kernel_ns, dtype,
       peak_flops, actual_tflops(flops, busy_ns), mfu(flops, busy_ns, peak_flops), is_recompute, peak_source
  FROM found
 ORDER BY profile, rank, start_ns, record_id;

-- module_range: which modules ran, within which others?
--
-- A row for each range of domain Module. Ranges nest by containment, both ends included.
CREATE TEMP VIEW IF NOT EXISTS module_range(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  module_id,              -- INTEGER  prof_mstx_range.id
  parent_module,          -- TEXT     the modules around it, outermost first, by '/'; '' for none
  module,                 -- TEXT     class of the module
  module_start_ns,        -- INTEGER  ns
  module_end_ns           -- INTEGER  ns
) AS
WITH RECURSIVE module AS MATERIALIZED (
  SELECT profile, rank, id, message AS name, start_ns, end_ns,
         nest_within(id, start_ns, end_ns) OVER (PARTITION BY profile, rank ORDER BY start_ns, end_ns DESC, id
                                                 ROWS UNBOUNDED PRECEDING) AS parent_id
    FROM prof_mstx_range
   WHERE domain = 'Module' AND event_type = 'start/end'
),
path AS (
  SELECT profile, rank, id, '' AS above, name, start_ns, end_ns FROM module WHERE parent_id IS NULL
   UNION ALL
  SELECT m.profile, m.rank, m.id, ltrim(p.above || '/' || p.name, '/'), m.name, m.start_ns, m.end_ns
    FROM path AS p
    JOIN module AS m ON m.profile = p.profile AND m.parent_id = +p.id
)
SELECT profile, rank, id, above, name, start_ns, end_ns FROM path;

-- _mfu_module_op_query: in which run of a module did each operator that launched work run?
--
-- Kept in the order of the runs, and of the operators in each by start: rowids count the operators of a run.
CREATE TEMP VIEW IF NOT EXISTS _mfu_module_op_query(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  run_id,                 -- INTEGER  forward: module_range.module_id, backward: -2 - module_id; -1: a part of the backward
                          --          pass outside all modules; NULL: in no module
  op_id,                  -- INTEGER  prof_host_op.id
  op_name,                -- TEXT
  op_start_ns,            -- INTEGER  ns
  kernel_list,            -- TEXT     what it launched, by ', ': kernels by start, collectives, kernels that start them
  device_ns               -- INTEGER  ns, sum of their durations
) AS
WITH module AS (
  SELECT profile, rank, id, start_ns, end_ns FROM prof_mstx_range WHERE domain = 'Module' AND event_type = 'start/end'
),
other AS MATERIALIZED (   -- collectives, and the kernels that start them
  SELECT profile, op_id, ordered_concat(name, ', ', starts, start_ns, id) AS names, sum(dur_ns) AS dur_ns
    FROM (SELECT l.profile, l.host_op_id AS op_id, coalesce(c.op_type, c.name) AS name, 0 AS starts, c.start_ns, c.id, c.dur_ns
            FROM prof_comm_op AS c
           CROSS JOIN prof_launch AS l ON l.profile = c.profile AND l.comm_op_id = c.id
           WHERE l.host_op_id IS NOT NULL
           UNION ALL
          SELECT l.profile, l.host_op_id, t.name, 1, t.start_ns, t.id, t.dur_ns
            FROM prof_device_task AS t
           CROSS JOIN prof_launch AS l ON l.profile = t.profile AND l.device_task_id = t.id
           WHERE t.is_schedule = 1 AND l.host_op_id IS NOT NULL)
   GROUP BY profile, op_id
),
work AS (
  SELECT o.profile, o.rank, o.thread_id, o.id, o.name, o.start_ns, o.end_ns,
         CASE WHEN r.names IS NULL THEN o.kernel_names ELSE coalesce(o.kernel_names || ', ', '') || r.names END AS kernel_list,
         o.kernel_ns + coalesce(r.dur_ns, 0) AS device_ns
    FROM prof_host_op AS o
    LEFT JOIN other AS r ON r.op_id = o.id AND r.profile = +o.profile
   WHERE o.kernel_count > 0 AND EXISTS (SELECT 1 FROM module)
   UNION ALL
  SELECT o.profile, o.rank, o.thread_id, o.id, o.name, o.start_ns, o.end_ns, r.names, coalesce(r.dur_ns, 0)
    FROM other AS r
   CROSS JOIN prof_host_op AS o ON o.profile = r.profile AND o.id = r.op_id
   WHERE coalesce(o.kernel_count, 0) = 0
),
backward AS (             -- operators that a forward operator leads to, by the module of that one
  SELECT o.profile, o.rank, o.thread_id, o.start_ns, max(o.end_ns) AS end_ns,
         coalesce(-2 - nest_find((SELECT nest_index(id, start_ns, end_ns, profile, rank) FROM module),
                                 f.forward_ns, f.forward_ns, o.profile, o.rank), -1) AS run_id
    FROM prof_fwd_bwd AS f
   CROSS JOIN prof_host_op AS o
      ON o.profile = f.profile AND o.rank IS f.rank AND o.start_ns = f.backward_ns AND o.kind = 'op'
     AND (f.backward_thread_id IS NULL OR o.thread_id = f.backward_thread_id)
   WHERE f.forward_ns IS NOT NULL AND EXISTS (SELECT 1 FROM module)
   GROUP BY o.profile, o.rank, o.thread_id, o.start_ns
)
SELECT profile, rank,
       coalesce(nest_find((SELECT nest_index(id, start_ns, end_ns, profile, rank) FROM module),
                          start_ns, end_ns, profile, rank),
                nest_find((SELECT nest_index(run_id, start_ns, end_ns, profile, rank, thread_id) FROM backward),
                          start_ns, end_ns, profile, rank, thread_id)),
       id, name, start_ns, kernel_list, device_ns
  FROM work;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._mfu_module_op
 USING profana_memo(_mfu_module_op_query, ORDER BY profile, run_id, op_start_ns, op_id);

-- module_op: which operators ran in which module, and what did they launch?
--
-- A row for each operator that launched work inside a module range: it belongs to the innermost range that contains it
-- whole. An operator of the backward pass belongs to the module of the forward operator that it is linked to.
CREATE TEMP VIEW IF NOT EXISTS module_op(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  direction,              -- TEXT     forward or backward
  module_id,              -- INTEGER  module_range.module_id
  op_id,                  -- INTEGER  prof_host_op.id
  op_name,                -- TEXT
  op_start_ns,            -- INTEGER  ns
  kernel_list,            -- TEXT     what it launched, by ', ': kernels by start, collectives, kernels that start them
  device_ns               -- INTEGER  ns, sum of their durations
) AS
SELECT profile, rank, iif(run_id < 0, 'backward', 'forward'), iif(run_id < 0, -2 - run_id, run_id), op_id, op_name,
       op_start_ns, kernel_list, device_ns
  FROM _mfu_module_op
 WHERE run_id <> -1;

-- _mfu_run_query: what did each run of a module do?
--
-- A row for each run that launched work. Kept so that runs of one module, within the same modules, that did the same stand
-- next to one another, the first by start in front.
CREATE TEMP VIEW IF NOT EXISTS _mfu_run_query(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  direction,              -- TEXT     forward or backward
  parent_module,          -- TEXT     as module_range
  module,                 -- TEXT     as module_range
  op_names,               -- TEXT     JSON array of its operators' names
  kernel_lists,           -- TEXT     JSON array of what each of them launched
  module_start_ns,        -- INTEGER  ns
  module_id,              -- INTEGER  module_range.module_id
  run_id,                 -- INTEGER  _mfu_module_op.run_id
  first_row,              -- INTEGER  rowid of its first operator in _mfu_module_op
  ops                     -- INTEGER  number of its operators
) AS
WITH sequence AS (        -- rows of a group come in the order in which they are kept
  SELECT profile, run_id, iif(run_id < 0, -2 - run_id, run_id) AS module_id, json_group_array(op_name) AS op_names,
         json_group_array(kernel_list) AS kernel_lists, min(rowid) AS first_row, count(*) AS ops
    FROM _mfu_module_op
   WHERE run_id <> -1
   GROUP BY profile, run_id
)
SELECT r.profile, r.rank, iif(s.run_id < 0, 'backward', 'forward'), r.parent_module, r.module, s.op_names, s.kernel_lists,
       r.module_start_ns, r.module_id, s.run_id, s.first_row, s.ops
  FROM sequence AS s
 CROSS JOIN module_range AS r ON r.profile = s.profile AND r.module_id = s.module_id;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._mfu_run
 USING profana_memo(_mfu_run_query, ORDER BY profile, rank, direction, parent_module, module, op_names, kernel_lists,
                    module_start_ns, module_id);

-- _mfu_alike_query: which runs of modules are alike, and of one kind?
--
-- A row for the runs of one module, within the same modules, that did the same: runs rows of _mfu_run from first_run on. They
-- are of one kind with those of that module whose operators, if not what these launched, are the same.
CREATE TEMP VIEW IF NOT EXISTS _mfu_alike_query(
  kind_id,                -- INTEGER  numbers the kinds
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  direction,              -- TEXT     forward or backward
  parent_module,          -- TEXT     as module_range
  module,                 -- TEXT     as module_range
  seq_id,                 -- INTEGER  orders the kinds of a module by first appearance
  first_run,              -- INTEGER  rowid of the first of them in _mfu_run
  runs,                   -- INTEGER  how many there are
  first_row               -- INTEGER  rowid of its first operator in _mfu_module_op
) AS
WITH same AS (            -- the bare columns are those of the lowest rowid, the first by start
  SELECT profile, rank, direction, parent_module, module, op_names, min(rowid) AS first_run, count(*) AS runs, module_start_ns,
         module_id, first_row
    FROM _mfu_run
   GROUP BY profile, rank, direction, parent_module, module, op_names, kernel_lists
),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY profile, rank ORDER BY module_start_ns, module_id) AS place FROM same
),
numbered AS (             -- equal sequences of operators share a number in a rank, by first appearance
  SELECT *, min(place) OVER (PARTITION BY profile, rank, direction, op_names) AS seq_id FROM placed
)
SELECT dense_rank() OVER (ORDER BY profile, rank, direction, parent_module, module, seq_id), profile, rank, direction,
       parent_module, module, seq_id, first_run, runs, first_row
  FROM numbered;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._mfu_alike USING profana_memo(_mfu_alike_query);

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
  avg_mfu,                -- TEXT     JSON array: by position of the kernel, the mean MFU of the instances that have one;
                          --          NULL: no FLOPs were recorded for any
  direction,              -- TEXT     forward or backward
  op_order,               -- INTEGER  position of the operator in its module, from 0
  first_op_start_ns       -- INTEGER  ns, of the first instance
) AS
WITH kernel_mfu AS MATERIALIZED (          -- of records within one another the innermost counts
  SELECT profile, op_id, kernel_id, mfu, max(record_start_ns) FROM (
    SELECT profile, op_id, kernel_id, record_start_ns, mfu(flops, kernel_duration_ns, peak_flops) AS mfu
      FROM flops_record_kernel)
   GROUP BY profile, kernel_id
),
op_mfu AS MATERIALIZED (  -- of the operators that have any, kernel by kernel in the order of the list
  SELECT l.profile, l.host_op_id AS op_id,
         '[' || ordered_concat(coalesce(json_quote(v.mfu), 'null'), ',', k.start_ns, k.id) || ']' AS mfu_list
    FROM (SELECT profile, op_id FROM kernel_mfu GROUP BY profile, op_id) AS m
   CROSS JOIN prof_launch AS l ON l.profile = m.profile AND l.host_op_id = m.op_id
   CROSS JOIN prof_kernel AS k ON k.profile = l.profile AND k.id = l.kernel_id AND k.is_communication IS NOT 1
    LEFT JOIN kernel_mfu AS v ON v.profile = l.profile AND v.kernel_id = +l.kernel_id
   GROUP BY l.profile, l.host_op_id
),
op_sum AS MATERIALIZED (  -- the operators at one position of such runs; one number is sorted faster than two
  SELECT k.first_run << 32 | op.rowid - r.first_row AS place, sum(op.device_ns) AS total_ns, min(op.op_start_ns) AS first_ns
    FROM _mfu_alike AS k
   CROSS JOIN _mfu_run AS r ON r.rowid BETWEEN k.first_run AND k.first_run + k.runs - 1
   CROSS JOIN _mfu_module_op AS op ON op.rowid BETWEEN r.first_row AND r.first_row + r.ops - 1
   WHERE op.kernel_list IS NOT NULL
   GROUP BY 1
),
op_line AS MATERIALIZED ( -- those of one kind and position that launched the same count together, under the first of them
  SELECT CAST(s.place AS INTEGER) AS place, s.total_ns, k.runs, s.first_ns,
         CAST(min(s.place) OVER (PARTITION BY k.kind_id, s.place & 0xffffffff, op.kernel_list) AS INTEGER) AS line_id
    FROM op_sum AS s
   CROSS JOIN _mfu_alike AS k ON k.first_run = s.place >> 32
   CROSS JOIN _mfu_module_op AS op ON op.rowid = k.first_row + (s.place & 0xffffffff)
),
position_mfu AS (
  SELECT n.line_id, e.key AS position, avg(e.value) FILTER (WHERE e.value > 0) AS mfu
    FROM op_mfu AS m
   CROSS JOIN _mfu_module_op AS op ON op.profile = m.profile AND op.op_id = m.op_id
   CROSS JOIN _mfu_run AS r ON r.profile = op.profile AND r.run_id = op.run_id
   CROSS JOIN op_line AS n
      ON n.place = nest_find((SELECT nest_index(first_run, first_run, first_run + runs - 1) FROM _mfu_alike),
                             r.rowid, r.rowid) << 32
                   | op.rowid - r.first_row
   CROSS JOIN json_each(m.mfu_list) AS e
   GROUP BY n.line_id, e.key
),
line AS (
  SELECT line_id, sum(total_ns) AS total_ns, sum(runs) AS op_count, min(first_ns) AS first_ns,
         iif(count(mfu) > 0, '[' || ordered_concat(json_quote(mfu), ',', position) FILTER (WHERE position IS NOT NULL) || ']',
             NULL) AS avg_mfu
    FROM (SELECT line_id, total_ns, runs, first_ns, NULL AS position, NULL AS mfu FROM op_line
           UNION ALL
          SELECT line_id, NULL, NULL, NULL, position, mfu FROM position_mfu)
   GROUP BY line_id
),
described AS (
  SELECT k.profile, k.rank, k.direction, k.parent_module, k.module, k.seq_id, n.line_id & 0xffffffff AS op_order, op.op_name,
         op.kernel_list, n.total_ns, n.op_count, n.first_ns, n.avg_mfu
    FROM line AS n
   CROSS JOIN _mfu_alike AS k ON k.first_run = n.line_id >> 32
   CROSS JOIN _mfu_module_op AS op ON op.rowid = k.first_row + (n.line_id & 0xffffffff)
),
changed AS (
  SELECT *, (lag(parent_module) OVER line, lag(module) OVER line) IS NOT (parent_module, module) AS is_new
    FROM described
  WINDOW line AS (PARTITION BY profile, rank, direction ORDER BY first_ns, op_order)
),
stretch AS (              -- neighbouring rows of one module
  SELECT *, sum(is_new) OVER (PARTITION BY profile, rank, direction ORDER BY first_ns, op_order
                              ROWS UNBOUNDED PRECEDING) AS stretch_id
    FROM changed
),
variant AS (
  SELECT *, dense_rank() OVER (PARTITION BY profile, rank, direction, stretch_id ORDER BY seq_id) - 1 AS variant
    FROM stretch
)
SELECT profile, rank, parent_module,
       module || CASE WHEN max(variant) OVER (PARTITION BY profile, rank, direction, stretch_id) > 0
                      THEN '_' || variant ELSE '' END,
       op_name, kernel_list, total_ns, total_ns * 1.0 / op_count, op_count, avg_mfu, direction, op_order, first_ns
  FROM variant
 ORDER BY profile, rank, direction DESC, first_ns, op_order;

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
