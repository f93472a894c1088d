-- MFU of the whole: steps, data types, operators, profile; and why there is none.

-- mfu_total: how well were the matrix units used, all in all?
--
-- Three figures with different meanings, side by side: mfu is model work over wall time, hfu all work done over wall time
-- (with activation checkpointing forward work runs twice), kernel_eff all work done over the time kernels ran. Where work
-- done again cannot be told from other work (mfu_record.is_recompute), mfu is NULL. Recorded FLOPs come first; a rank
-- without any is judged by kernel_mfu_estimate. Only what was recorded or estimated counts: the recorder writes down calls
-- from Python, not the products of the backward pass.
CREATE TEMP VIEW IF NOT EXISTS mfu_total(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  scope,                  -- TEXT     profile, step, dtype, operator
  name,                   -- TEXT     step number, data type or operator; NULL: the whole profile
  flops_source,           -- TEXT     recorded or estimated
  flops,                  -- ANY      operations done
  model_flops,            -- ANY      of these, without work done again; NULL: cannot be told
  flops_without_peak,     -- ANY      of these, of a data type or chip whose peak is not known: left out of the ratios
  e2e_ns,                 -- INTEGER  ns of wall time: of the step; else from first to last step; where steps are not marked,
                          --          from first to last kernel
  computing_ns,           -- INTEGER  ns in which kernels ran, collectives apart; dtype, operator: its own kernels
  peak_flops,             -- REAL     operations a second; of several data types the peak that the mixture could reach
  mfu,                    -- REAL     model_flops / (e2e_ns x peak)
  hfu,                    -- REAL     flops / (e2e_ns x peak)
  kernel_eff,             -- REAL     flops / (computing_ns x peak)
  counted_ratio           -- REAL     share of computing_ns covered by kernels whose FLOPs are known
) AS
WITH record AS MATERIALIZED (
  SELECT * FROM mfu_record
),
estimate AS MATERIALIZED (
  SELECT e.*
    FROM kernel_mfu_estimate AS e
   WHERE e.flops > 0
     AND NOT EXISTS (SELECT 1 FROM record AS r WHERE r.profile = e.profile AND r.rank IS e.rank)
),
host AS (                 -- whether a rank has a backward pass; no row where its operators are not known
  SELECT profile, rank, max(name GLOB '*Backward*') AS trains FROM prof_host_op WHERE kind = 'op' GROUP BY profile, rank
),
part AS (
  SELECT profile, rank, 'recorded' AS flops_source, step, dtype, flops_op_name AS op_name, flops, peak_flops,
         CASE is_recompute WHEN 0 THEN flops WHEN 1 THEN 0 END AS model_flops
    FROM record
   UNION ALL
  SELECT e.profile, e.rank, 'estimated', e.step, e.dtype, coalesce(e.op_name, e.op_type), e.flops, e.peak_flops,
         CASE h.trains WHEN 0 THEN e.flops END
    FROM estimate AS e
    LEFT JOIN host AS h ON h.profile = e.profile AND h.rank IS e.rank
),
kernel AS (               -- when the kernels of that work ran
  SELECT profile, rank, op_step AS step, dtype, flops_op_name AS op_name, kernel_start_ns AS start_ns,
         kernel_end_ns AS end_ns
    FROM flops_record_kernel
   UNION ALL
  SELECT profile, rank, step, dtype, coalesce(op_name, op_type), start_ns, start_ns + dur_ns FROM estimate
),
scopes(scope) AS (VALUES ('profile'), ('step'), ('dtype'), ('operator')),
work AS (
  SELECT profile, rank, scope, CASE scope WHEN 'step' THEN step WHEN 'dtype' THEN dtype WHEN 'operator' THEN op_name END AS name,
         flops_source, sum(flops) AS flops,
         CASE WHEN count(model_flops) = count(*) THEN sum(model_flops) END AS model_flops,
         coalesce(sum(flops) FILTER (WHERE peak_flops IS NULL), 0) AS flops_without_peak,
         CASE WHEN min(peak_flops) = max(peak_flops) THEN min(peak_flops)
              ELSE sum(flops) FILTER (WHERE peak_flops IS NOT NULL) / sum(flops / peak_flops) END AS peak_flops,
         sum(flops / peak_flops) AS peak_s, sum(model_flops / peak_flops) AS model_peak_s
    FROM part
    JOIN scopes ON scope <> 'step' OR step IS NOT NULL
   GROUP BY 1, 2, 3, 4, 5
),
covered AS (
  SELECT profile, rank, scope, CASE scope WHEN 'step' THEN step WHEN 'dtype' THEN dtype WHEN 'operator' THEN op_name END AS name,
         interval_coverage(start_ns, end_ns) AS covered_ns
    FROM kernel
    JOIN scopes
   GROUP BY 1, 2, 3, 4
),
computing AS (
  SELECT profile, rank, 'profile' AS scope, NULL AS name, interval_coverage(start_ns, end_ns) AS computing_ns
    FROM prof_kernel
   WHERE is_communication IS NOT 1
   GROUP BY profile, rank
   UNION ALL
  SELECT profile, rank, 'step', step, interval_coverage(start_ns, end_ns)
    FROM prof_kernel
   WHERE is_communication IS NOT 1 AND step IS NOT NULL
   GROUP BY profile, rank, step
),
wall AS (
  SELECT profile, rank, 'step' AS scope, step AS name, max(end_ns) - min(start_ns) AS e2e_ns
    FROM prof_step
   GROUP BY profile, rank, step
   UNION ALL
  SELECT profile, rank, 'profile', NULL, max(end_ns) - min(start_ns) FROM prof_step GROUP BY profile, rank
   UNION ALL
  SELECT k.profile, k.rank, c.scope, CASE c.scope WHEN 'step' THEN k.step END, max(k.end_ns) - min(k.start_ns)
    FROM prof_kernel AS k
    JOIN scopes AS c ON c.scope = 'profile' OR c.scope = 'step' AND k.step IS NOT NULL
   WHERE NOT EXISTS (SELECT 1 FROM prof_step AS s WHERE s.profile = k.profile AND s.rank IS k.rank)
   GROUP BY 1, 2, 3, 4
),
timed AS (                -- where kernels have steps, in a step without any nothing ran
  SELECT w.*, e.e2e_ns, v.covered_ns,
         coalesce(c.computing_ns,
                  CASE WHEN w.scope = 'step' AND (w.profile, ifnull(w.rank, -1)) IN
                            (SELECT profile, ifnull(rank, -1) FROM computing WHERE scope = 'step') THEN 0 END,
                  v.covered_ns) AS computing_ns
    FROM work AS w
    LEFT JOIN wall AS e ON e.profile = w.profile AND e.rank IS w.rank
     AND e.scope = CASE w.scope WHEN 'step' THEN 'step' ELSE 'profile' END
     AND e.name IS CASE w.scope WHEN 'step' THEN w.name END
    LEFT JOIN computing AS c ON c.profile = w.profile AND c.rank IS w.rank AND c.scope = w.scope AND c.name IS w.name
    LEFT JOIN covered AS v ON v.profile = w.profile AND v.rank IS w.rank AND v.scope = w.scope AND v.name IS w.name
)
SELECT profile, rank, scope, CAST(name AS TEXT), flops_source, flops, model_flops, flops_without_peak, e2e_ns, computing_ns,
       peak_flops,
       CASE WHEN model_flops IS NOT NULL AND e2e_ns > 0 THEN model_peak_s / (e2e_ns * 1e-9) END,
       CASE WHEN e2e_ns > 0 THEN peak_s / (e2e_ns * 1e-9) END,
       CASE WHEN computing_ns > 0 THEN peak_s / (computing_ns * 1e-9) END,
       covered_ns * 1.0 / nullif(computing_ns, 0)
  FROM timed
 ORDER BY profile, rank, scope = 'profile' DESC, scope = 'step' DESC, scope = 'dtype' DESC, CAST(name AS INTEGER), name;

-- mfu_diagnostic: why does a rank have no MFU, or not for everything?
--
-- A row for each finding: what is missing, how much of it, and what to switch on or tell. prof_diagnostic shows them too,
-- once a profile's ranges have been asked for.
CREATE TEMP VIEW IF NOT EXISTS mfu_diagnostic(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  severity,               -- TEXT     info or warning
  code,                   -- TEXT     no_flops_records, flops_record_ignored, flops_record_without_kernel,
                          --          kernel_without_shapes, dtype_without_peak, chip_not_known, no_module_ranges
  count,                  -- INTEGER  records, kernels or types concerned
  message                 -- TEXT     what it means and what to do
) AS
WITH ranks AS (
  SELECT s.alias AS profile, s.rank, s.kind,
         (SELECT count(*) FROM prof_mstx_range AS m WHERE m.profile = s.alias AND m.rank IS s.rank) AS ranges,
         (SELECT count(*) FROM prof_mstx_range AS m
           WHERE m.profile = s.alias AND m.rank IS s.rank AND m.domain = 'mfu_flops') AS flops_ranges,
         (SELECT count(*) FROM prof_mstx_range AS m
           WHERE m.profile = s.alias AND m.rank IS s.rank AND m.domain = 'Module') AS module_ranges
    FROM prof_source AS s
),
valid AS (
  SELECT profile, rank, count(*) AS records FROM flops_record GROUP BY profile, rank
),
kernel AS MATERIALIZED (
  SELECT DISTINCT profile, rank, record_id, record_type, dtype FROM flops_record_kernel
)
SELECT profile, rank, 'info', 'no_flops_records', 0,
       CASE WHEN kind = 'gpu' THEN 'a GPU trace holds no recorded FLOPs; see kernel_mfu_estimate'
            WHEN ranges = 0 THEN 'no mstx ranges at all: collect with mstx=True and msprof_tx=True, with_flops=True, and '
                                 || 'an export_type that includes Db; kernel_mfu_estimate judges by shapes'
            ELSE 'there are mstx ranges but none of domain mfu_flops: collect with with_flops=True and msprof_tx=True, and '
                 || 'let mstx_domain_include keep mfu_flops; kernel_mfu_estimate judges by shapes' END
  FROM ranks
 WHERE flops_ranges = 0
 UNION ALL
SELECT r.profile, r.rank, 'warning', 'flops_record_ignored', r.flops_ranges - coalesce(v.records, 0),
       'records that are not "<FLOPs>-<operator>", count nothing or have no length are left out'
  FROM ranks AS r
  LEFT JOIN valid AS v ON v.profile = r.profile AND v.rank IS r.rank
 WHERE r.flops_ranges > coalesce(v.records, 0)
 UNION ALL
SELECT r.profile, r.rank, 'warning', 'flops_record_without_kernel', count(*),
       'records whose operators launched no kernel with shapes; shapes need profiler_level Level1 or higher'
  FROM flops_record AS r
  LEFT JOIN (SELECT DISTINCT profile, record_id FROM kernel) AS k ON k.profile = r.profile AND k.record_id = r.record_id
 WHERE k.record_id IS NULL
 GROUP BY r.profile, r.rank
 UNION ALL
SELECT l.profile, l.rank, 'warning', 'kernel_without_shapes', count(DISTINCT l.kernel_id),
       'kernels of recorded operators whose shapes are not known take no part in MFU'
  FROM flops_record_launch AS l
 CROSS JOIN prof_kernel AS k ON k.profile = l.profile AND k.id = l.kernel_id
 WHERE k.input_shapes IS NULL OR k.output_shapes IS NULL
 GROUP BY l.profile, l.rank
 UNION ALL
SELECT profile, rank, 'warning', 'dtype_without_peak', count(*),
       'records of type ' || record_type || ': no peak is known for it, mfu is NULL; dtype_names and chip_peaks take more'
  FROM kernel
 WHERE dtype IS NULL
 GROUP BY profile, rank, record_type
 UNION ALL
SELECT profile, rank, 'warning', 'chip_not_known', 1,
       coalesce((SELECT 'chip_peaks does not know the chip ''' || max(s.chip_option) || ''': mfu is NULL; give another {"chip": ...}'
                   FROM prof_source AS s WHERE s.alias = r.profile),
                'neither info.json nor the name of a known chip was found: mfu is NULL; give {"chip": ...}')
       || ' to profana_open, or add the chip to chip_peaks'
  FROM ranks AS r
 WHERE NOT EXISTS (SELECT 1 FROM rank_peak AS p WHERE p.profile = r.profile AND p.rank IS r.rank)
 UNION ALL
SELECT profile, rank, 'info', 'no_module_ranges', 0,
       'module_mfu needs ranges of domain Module around nn.Module calls (mstx.range_start with domain="Module")'
  FROM ranks
 WHERE flops_ranges > 0 AND module_ranges = 0;
