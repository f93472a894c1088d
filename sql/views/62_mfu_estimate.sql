-- MFU from shapes: what did kernels reach whose FLOPs nobody recorded? Estimates, and marked as such. The tables belong to
-- the connection and its users; a row of your own changes the view at once.

-- kernel_flops_rules: which NPU kernels are matrix products, and what do their shapes mean?
--
-- The longest pattern that fits the kernel's type decides; rule NULL: no estimate. Rules: function kernel_flops.
CREATE TEMP TABLE IF NOT EXISTS kernel_flops_rules AS WITH given(
  pattern,                -- TEXT     GLOB over the lower-case kernel type
  rule,                   -- TEXT     rule of kernel_flops(); NULL: none
  formula                 -- TEXT     what the rule counts
) AS (VALUES
  ('matmul*', 'gemm', '2*M*K*N'), ('batchmatmul*', 'gemm', '2*B*M*K*N'), ('gemm*', 'gemm', '2*M*K*N'),
  ('quantbatchmatmul*', 'gemm', '2*B*M*K*N'), ('weightquantbatchmatmul*', 'gemm', '2*B*M*K*N'),
  ('allgathermatmul*', 'gemm', '2*M*K*N, M gathered'), ('matmulreducescatter*', 'gemm_scatter', '2*M*K*N, M before scattering'),
  ('groupedmatmul*', 'grouped_gemm', 'sum of 2*rows*K*N, each row meets one expert'),
  ('flashattentionscore', 'attention', '2*elements*(dim_qk+dim_v), causal_exact under the compressed mask, else full'),
  ('flashattentionscoregrad', 'attention_backward', '2.5 x forward; causal_exact under the compressed mask, else full'),
  ('fusedinferattentionscore*', 'attention', '2*elements*(dim_qk+dim_v), causal_exact under the compressed mask, else full'),
  ('promptflashattention*', 'attention', '2*elements*(dim_qk+dim_v), causal_exact under the compressed mask, else full'),
  ('increflashattention*', 'attention', '2*elements*(dim_qk+dim_v), full'),
  ('conv2d*', 'convolution', '2*positions*prod(weight)'), ('conv3d*', 'convolution', '2*positions*prod(weight)'),
  ('conv2dbackpropinput*', 'convolution_dgrad', '2*positions*prod(weight)'),
  ('conv3dbackpropinput*', 'convolution_dgrad', '2*positions*prod(weight)'),
  ('conv2dbackpropfilter*', 'convolution_wgrad', '2*positions*prod(weight)'),
  ('conv3dbackpropfilter*', 'convolution_wgrad', '2*positions*prod(weight)'),
  ('conv2dtranspose*', NULL, NULL), ('conv3dtranspose*', NULL, NULL)
)
SELECT pattern, rule, formula FROM given;

-- op_flops_rules: which framework operators are matrix products, and what do their inputs mean?
--
-- For kernels without a type: GPU traces, and NPU profiles of Level0. Rules: function op_flops.
CREATE TEMP TABLE IF NOT EXISTS op_flops_rules AS WITH given(
  op_name,                -- TEXT     operator
  rule,                   -- TEXT     rule of op_flops()
  first,                  -- INTEGER  input at which the operands begin
  causal_at,              -- INTEGER  scalar argument is_causal; NULL: none
  weight_at,              -- INTEGER  input that is the weight of a convolution; NULL: none
  formula                 -- TEXT     what the rule counts
) AS (VALUES
  ('aten::mm', 'mm', 0, NULL, NULL, '2*M*K*N'), ('aten::addmm', 'mm', 1, NULL, NULL, '2*M*K*N'),
  ('aten::_addmm_activation', 'mm', 1, NULL, NULL, '2*M*K*N'), ('aten::_scaled_mm', 'mm', 0, NULL, NULL, '2*M*K*N'),
  ('aten::_int_mm', 'mm', 0, NULL, NULL, '2*M*K*N'), ('aten::bmm', 'bmm', 0, NULL, NULL, '2*B*M*K*N'),
  ('aten::baddbmm', 'bmm', 1, NULL, NULL, '2*B*M*K*N'), ('aten::addbmm', 'bmm', 1, NULL, NULL, '2*B*M*K*N'),
  ('aten::matmul', 'matmul', 0, NULL, NULL, '2*prod(batch)*M*K*N'), ('aten::mv', 'matmul', 0, NULL, NULL, '2*M*K'),
  ('aten::addmv', 'matmul', 1, NULL, NULL, '2*M*K'), ('aten::dot', 'matmul', 0, NULL, NULL, '2*K'),
  ('aten::linear', 'linear', 0, NULL, NULL, '2*rows*in*out'),
  ('aten::convolution', 'convolution', 0, NULL, 1, '2*positions*prod(weight)'),
  ('aten::_convolution', 'convolution', 0, NULL, 1, '2*positions*prod(weight)'),
  ('aten::convolution_backward', 'convolution_backward', 0, NULL, 2, '2*positions*prod(weight) for each gradient wanted'),
  ('aten::scaled_dot_product_attention', 'attention_bnsd', 0, 5, NULL, '2*elements*(dim_qk+dim_v), causal_exact'),
  ('aten::_scaled_dot_product_flash_attention', 'attention_bnsd', 0, 4, NULL, '2*elements*(dim_qk+dim_v), causal_exact'),
  ('aten::_scaled_dot_product_efficient_attention', 'attention_bnsd', 0, 6, NULL,
   '2*elements*(dim_qk+dim_v), causal_exact'),
  ('aten::_scaled_dot_product_cudnn_attention', 'attention_bnsd', 0, 6, NULL, '2*elements*(dim_qk+dim_v), causal_exact'),
  ('aten::_flash_attention_forward', 'attention_bsnd', 0, 8, NULL, '2*elements*(dim_qk+dim_v), causal_exact'),
  ('flash_attn::_flash_attn_forward', 'attention_bsnd', 0, 5, NULL, '2*elements*(dim_qk+dim_v), causal_exact'),
  ('aten::_scaled_dot_product_flash_attention_backward', 'attention_bnsd_backward', 1, 11, NULL,
   '2.5 x forward, causal_exact'),
  ('aten::_scaled_dot_product_efficient_attention_backward', 'attention_bnsd_backward', 1, 11, NULL,
   '2.5 x forward, causal_exact'),
  ('aten::_scaled_dot_product_cudnn_attention_backward', 'attention_bnsd_backward', 1, 14, NULL,
   '2.5 x forward, causal_exact'),
  ('aten::_flash_attention_backward', 'attention_bsnd_backward', 1, 11, NULL, '2.5 x forward, causal_exact'),
  ('flash_attn::_flash_attn_backward', 'attention_bsnd_backward', 1, 11, NULL, '2.5 x forward, causal_exact')
)
SELECT op_name, rule, first, causal_at, weight_at, formula FROM given;
CREATE UNIQUE INDEX IF NOT EXISTS temp.op_flops_rules_key ON op_flops_rules(op_name);

-- main_kernel_words: which kernels of an operator do its matrix product?
--
-- Words looked for in the lower-case kernel name: one that says yes and none that says no. The kernels found share the
-- operator's FLOPs by time, its other kernels get none; where none is found, all share.
CREATE TEMP TABLE IF NOT EXISTS main_kernel_words AS WITH given(
  word,                   -- TEXT     lower case
  is_main                 -- INTEGER  1: says yes, 0: says no
) AS (VALUES
  ('gemm', 1), ('gemv', 1), ('cutlass', 1), ('cijk_', 1), ('nvjet', 1), ('xmma', 1), ('matmul', 1), ('conv', 1),
  ('wgrad', 1), ('dgrad', 1), ('fprop', 1), ('flash', 1), ('fmha', 1), ('attention', 1), ('attn', 1),
  ('memset', 0), ('memcpy', 0), ('splitkreduce', 0), ('transdata', 0), ('transpose', 0), ('tensormove', 0), ('cast', 0)
)
SELECT word, is_main FROM given;

-- kernel_mfu_estimate: what did each matrix product reach, judged by its shapes?
--
-- A row for each kernel that a rule applies to; flops is NULL where its shapes do not tell. NPU: from the kernel's own
-- shapes and formats; channels that a format pads are taken from the operator where it recorded its shapes. GPU and Level0:
-- from the input dims of the innermost operator with a rule, its FLOPs dealt out to its main kernels by time, so that sums
-- over kernels are those of the operators; an operator that encloses a counted one counts nothing of its own.
CREATE TEMP VIEW IF NOT EXISTS kernel_mfu_estimate(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  kernel_id,              -- INTEGER  prof_kernel.id
  kernel_name,            -- TEXT
  op_type,                -- TEXT     kernel type; NULL: none (GPU, Level0)
  op_id,                  -- INTEGER  prof_host_op.id of the operator whose shapes count; NULL: the kernel's own
  op_name,                -- TEXT     its name
  step,                   -- INTEGER  step of the kernel
  start_ns,               -- INTEGER  ns
  dur_ns,                 -- INTEGER  ns
  flops,                  -- ANY      operations of this kernel, whole or a share; 0: a kernel beside the main ones;
                          --          NULL: shapes do not tell
  op_flops,               -- INTEGER  operations of the whole operator; NULL: counted by kernel
  dtype,                  -- TEXT     first data type of the inputs that has a peak
  peak_flops,             -- REAL     operations a second; NULL: not known
  actual_tflops,          -- REAL     10^12 operations a second
  mfu,                    -- REAL     flops / (duration x peak)
  formula,                -- TEXT     what was counted, by which convention
  shapes_from,            -- TEXT     kernel, operator, or kernel and operator
  estimated,              -- INTEGER  1, always: from shapes, not recorded
  is_recorded,            -- INTEGER  1: an operator that recorded its FLOPs launched this kernel (see operator_mfu)
  peak_source             -- TEXT     where the peak comes from
) AS
WITH recorded AS MATERIALIZED (
  SELECT DISTINCT profile, kernel_id FROM flops_record_kernel
),
type_rule AS MATERIALIZED (           -- the kernel types that occur, each with its rule
  SELECT t.op_type,
         (SELECT r.rowid FROM kernel_flops_rules AS r WHERE lower(t.op_type) GLOB r.pattern
           ORDER BY length(r.pattern) DESC LIMIT 1) AS rule_id
    FROM (SELECT DISTINCT op_type FROM prof_kernel WHERE op_type IS NOT NULL) AS t
),
kernel AS MATERIALIZED (
  SELECT k.profile, k.rank, k.id, k.name, k.op_type, k.step, k.start_ns, k.dur_ns, k.input_shapes, k.input_types,
         k.input_formats, k.output_shapes, k.output_formats, r.rule, r.formula,
         k.op_type IS NULL OR r.rule GLOB 'convolution*' OR k.input_formats GLOB '*NZ*' AS needs_op
    FROM prof_kernel AS k
    LEFT JOIN type_rule AS t ON t.op_type = k.op_type
    LEFT JOIN kernel_flops_rules AS r ON r.rowid = t.rule_id
   WHERE (r.rule IS NOT NULL OR k.op_type IS NULL) AND k.is_communication IS NOT 1
),
ruled AS MATERIALIZED (               -- operators whose input dims tell something, and the one around each
  SELECT *, CAST(nest_within(id, start_ns, end_ns)
                   OVER (PARTITION BY profile, rank, thread_id
                         ORDER BY start_ns, end_ns DESC, id ROWS UNBOUNDED PRECEDING) AS INTEGER) AS outer_id
    FROM (
    SELECT o.profile, o.rank, o.thread_id, o.id, o.name, o.start_ns, o.end_ns, o.input_types, r.formula,
           op_flops(r.rule, r.first, o.input_shapes, o.concrete_inputs, r.causal_at) AS flops,
           shape_dims(o.input_shapes) -> r.weight_at AS weight
      FROM op_flops_rules AS r
     CROSS JOIN prof_host_op AS o ON o.name = r.op_name AND o.kind = 'op'
     WHERE o.input_shapes IS NOT NULL AND EXISTS (SELECT 1 FROM kernel WHERE needs_op))
   WHERE flops IS NOT NULL OR weight IS NOT NULL
),
rule_op AS MATERIALIZED (             -- what an inner operator counts, the one around it does not count again
  SELECT r.*
    FROM ruled AS r
    LEFT JOIN (SELECT DISTINCT profile, outer_id FROM ruled WHERE flops IS NOT NULL) AS i
           ON i.outer_id = r.id AND i.profile = r.profile
   WHERE i.outer_id IS NULL
),
launch AS (                           -- the host event that launched the kernel
  SELECT k.profile, k.id AS kernel_id, min(l.host_op_id) AS host_op_id
    FROM kernel AS k
   CROSS JOIN prof_launch AS l ON l.profile = k.profile AND l.kernel_id = k.id
   WHERE (k.needs_op OR k.profile IN (SELECT profile FROM kernel WHERE op_type IS NULL))
     AND l.host_op_id IS NOT NULL AND EXISTS (SELECT 1 FROM rule_op)
   GROUP BY k.profile, k.id
),
owner AS MATERIALIZED (               -- the innermost operator with a rule around it
  SELECT l.profile, l.kernel_id,
         nest_find((SELECT nest_index(id, start_ns, end_ns, profile, rank, thread_id) FROM rule_op),
                   o.start_ns, o.end_ns, o.profile, o.rank, o.thread_id) AS op_id
    FROM launch AS l
   CROSS JOIN prof_host_op AS o ON o.profile = l.profile AND o.id = l.host_op_id
),
candidate AS MATERIALIZED (
  SELECT k.*, o.id AS op_id, o.name AS op_name, o.flops AS op_flops, o.weight, o.input_types AS op_types,
         o.formula AS op_formula,
         kernel_flops(k.rule, k.input_shapes, k.input_formats, k.output_shapes, k.output_formats, o.weight) AS own_flops,
         coalesce((SELECT min(w.is_main) FROM main_kernel_words AS w WHERE instr(lower(k.name), w.word) > 0), 0) AS has_word
    FROM kernel AS k
    LEFT JOIN owner AS w ON w.profile = k.profile AND w.kernel_id = +k.id
    LEFT JOIN rule_op AS o ON o.profile = w.profile AND o.id = +w.op_id
   WHERE k.rule IS NOT NULL OR o.flops IS NOT NULL
),
main AS (                             -- which kernels of an operator share its FLOPs: none beside one that tells its own
  SELECT *, has_word = max(has_word) OVER (PARTITION BY profile, op_id, rule)
              AND (rule IS NOT NULL
                   OR max(own_flops IS NOT NULL OR rule IS NOT NULL AND input_formats GLOB '*NZ*') OVER (PARTITION BY profile, op_id) = 0)
              AS is_main
    FROM candidate
),
shared AS (
  SELECT *, sum(dur_ns) FILTER (WHERE is_main AND needs_op) OVER of_op AS main_ns,
         count(*) FILTER (WHERE is_main AND needs_op) OVER of_op AS mains
    FROM main
  WINDOW of_op AS (PARTITION BY profile, op_id, rule)
),
counted AS (
  SELECT *,
         CASE WHEN shapes_from = 'operator' AND NOT is_main THEN 0
              WHEN shapes_from = 'operator' AND mains = 1 THEN op_flops
              WHEN shapes_from = 'operator' THEN op_flops * 1.0 * dur_ns / nullif(main_ns, 0)
              ELSE own_flops END AS flops
    FROM (SELECT *,
                 CASE WHEN rule IS NULL THEN 'operator'
                      WHEN rule GLOB 'convolution*' AND weight IS NOT NULL THEN 'kernel and operator'
                      WHEN rule IN ('gemm', 'grouped_gemm') AND input_formats GLOB '*NZ*' AND op_flops IS NOT NULL
                           AND mains = 1 THEN 'operator'
                      ELSE 'kernel' END AS shapes_from
            FROM shared)
),
types AS MATERIALIZED (               -- the first type of a list that has a peak
  SELECT list, (SELECT n.dtype
                  FROM json_each(CASE WHEN json_valid(list) THEN list
                                      ELSE '[' || replace(json_quote(replace(replace(list, char(13), ''), char(10), '')),
                                                          ';', '","') || ']' END) AS e
                  JOIN dtype_names AS n ON n.name = lower(e.value)
                 ORDER BY e.key LIMIT 1) AS dtype
    FROM (SELECT DISTINCT coalesce(input_types, op_types) AS list FROM candidate)
)
SELECT c.profile, c.rank, c.id, c.name, c.op_type, CASE WHEN c.shapes_from <> 'kernel' THEN c.op_id END,
       CASE WHEN c.shapes_from <> 'kernel' THEN c.op_name END, c.step, c.start_ns, c.dur_ns, c.flops,
       CASE WHEN c.shapes_from = 'operator' THEN c.op_flops END, t.dtype, p.peak_flops,
       actual_tflops(c.flops, c.dur_ns), mfu(c.flops, c.dur_ns, p.peak_flops),
       CASE WHEN c.rule IS NULL THEN c.op_formula ELSE c.formula END, c.shapes_from, 1,
       f.kernel_id IS NOT NULL, p.source
  FROM counted AS c
  LEFT JOIN recorded AS f ON f.profile = c.profile AND f.kernel_id = c.id
  LEFT JOIN types AS t ON t.list = coalesce(c.input_types, c.op_types)
  LEFT JOIN _rank_peak AS p ON p.profile = c.profile AND p.rank IS c.rank AND p.dtype = t.dtype
 ORDER BY c.profile, c.rank, c.start_ns, c.id;
