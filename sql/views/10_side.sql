-- What every comparison starts from: the two profiles, their options and the settings.
--
-- Steps that many views share are kept: _compare_side is a table over the view _compare_side_query (docs/design.md).

-- _compare_side_query: which two profiles are compared, and what kind of source is each?
--
-- The profiles opened under the aliases base and comparison, a row each. Rules differ by family: an Ascend
-- text export brings its own analysis lanes, a database and a GPU trace bring intervals.
CREATE TEMP VIEW IF NOT EXISTS _compare_side_query(
  profile,                -- TEXT     base or comparison
  family,                 -- TEXT     text, db or gpu
  step                    -- INTEGER  step asked for in profana_open; NULL: everything
) AS
SELECT alias,
       CASE WHEN min(kind) = 'gpu' THEN 'gpu'
            WHEN min(kind) IN ('text', 'trace', 'msprof') THEN 'text'
            ELSE 'db' END,
       min(step_option)
  FROM prof_source
 WHERE alias IN ('base', 'comparison')
 GROUP BY alias;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._compare_side USING profana_memo(_compare_side_query);

-- _side_rank_query: the ranks of the two profiles, and when the step asked for begins and ends on each.
--
-- Clocks of ranks may differ. A step that only the kernels know (a text export without its trace) reaches from the
-- start of its first to the end of its last.
CREATE TEMP VIEW IF NOT EXISTS _side_rank_query(
  profile,                -- TEXT     base or comparison
  rank,                   -- INTEGER  rank of the source
  family,                 -- TEXT     as _compare_side
  step,                   -- INTEGER  as _compare_side
  step_start_ns,          -- INTEGER  ns, inclusive; NULL: no step asked for
  step_end_ns             -- INTEGER  ns, inclusive
) AS
SELECT s.profile, r.rank, s.family, s.step,
       coalesce((SELECT min(p.start_ns) FROM prof_step AS p
                  WHERE p.profile = s.profile AND p.rank IS r.rank AND p.step = s.step),
                (SELECT min(k.start_ns) FROM prof_kernel AS k
                  WHERE s.step IS NOT NULL AND k.profile = s.profile AND k.rank IS r.rank AND k.step = s.step)),
       coalesce((SELECT max(p.end_ns) FROM prof_step AS p
                  WHERE p.profile = s.profile AND p.rank IS r.rank AND p.step = s.step),
                (SELECT max(k.end_ns) FROM prof_kernel AS k
                  WHERE s.step IS NOT NULL AND k.profile = s.profile AND k.rank IS r.rank AND k.step = s.step))
  FROM _compare_side AS s
  JOIN (SELECT DISTINCT alias, rank FROM prof_source) AS r ON r.alias = s.profile;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._side_rank USING profana_memo(_side_rank_query);

-- _compare_setting_query: how are operators matched?
--
-- The settings of profana_set that hold for a comparison, on one row.
CREATE TEMP VIEW IF NOT EXISTS _compare_setting_query(
  use_input_shape,        -- INTEGER  1: input shapes are part of an operator's key
  max_kernel_num,         -- INTEGER  pairs with more kernels are compared by their children; 0: never
  op_name_map,            -- TEXT     JSON object: name -> name that it counts as
  match                   -- TEXT     block or lcs
) AS
SELECT max(CAST(value AS INTEGER)) FILTER (WHERE name = 'use_input_shape'),
       max(CAST(value AS INTEGER)) FILTER (WHERE name = 'max_kernel_num'),
       max(value) FILTER (WHERE name = 'op_name_map'),
       max(value) FILTER (WHERE name = 'match')
  FROM prof_setting;

CREATE VIRTUAL TABLE IF NOT EXISTS temp._compare_setting USING profana_memo(_compare_setting_query);

-- _copy_type: what do profilers of Ascend call a copy by the SDMA or PCIe engine?
--
-- Text exports and newer databases name the engine's queue entry, older databases the call of the runtime.
CREATE TEMP VIEW IF NOT EXISTS _copy_type(
  task_type               -- TEXT     as prof_device_task
) AS VALUES ('SDMA_SQE'), ('PCIE_DMA_SQE'), ('MEMCPY_ASYNC');

-- _silent_type: which tasks of the device do not stretch the time from end to end?
--
-- Kernels, whose own records do, and the marks of profiling, which text exports tell by name alone.
CREATE TEMP VIEW IF NOT EXISTS _silent_type(
  task_type               -- TEXT     type or name of a prof_device_task
) AS VALUES ('KERNEL_AICORE'), ('KERNEL_AIVEC'), ('KERNEL_MIX_AIC'), ('KERNEL_MIX_AIV'), ('AI_CORE'), ('AI_VECTOR_CORE'),
            ('MIX_AIC'), ('MIX_AIV'), ('FFTS_PLUS'), ('PROFILING_ENABLE'), ('PROFILING_DISABLE');

-- _collective: which collectives does each profile have?
--
-- Those of the trace or database. A text export without its trace knows them as rows of kernel_details.csv or
-- op_summary.csv: without a group, and each as long as its row.
CREATE TEMP VIEW IF NOT EXISTS _collective(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  rank of the source
  device_id,              -- INTEGER  NULL: unknown
  stream_id,              -- INTEGER  NULL: unknown
  group_name,             -- TEXT     process group, or the raw label where it has no name; NULL: unknown
  id,                     -- INTEGER  prof_comm_op.id; without a trace prof_kernel.id
  name,                   -- TEXT     hcom_allReduce__568_1_1
  op_type,                -- TEXT     hcom_allReduce_
  step,                   -- INTEGER  NULL: outside of all steps
  start_ns,               -- INTEGER  ns
  end_ns,                 -- INTEGER  ns
  dur_ns                  -- INTEGER  ns
) AS
SELECT profile, rank, device_id, stream_id, coalesce(nullif(process_group, ''), group_name), id, name, op_type, step,
       start_ns, end_ns, dur_ns
  FROM prof_comm_op
UNION ALL
SELECT k.profile, k.rank, k.device_id, k.stream_id, NULL, k.id, k.name, k.op_type, k.step, k.start_ns, k.end_ns, k.dur_ns
  FROM (SELECT alias, rank FROM prof_source GROUP BY alias, rank HAVING min(missing ->> 'prof_comm_op' IS NOT NULL)) AS f
 CROSS JOIN prof_kernel AS k ON k.profile = f.alias AND k.rank IS f.rank
 WHERE k.is_communication = 1;
