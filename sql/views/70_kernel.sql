-- Kernels of two profiles: by type and input shapes, and by type and core.

-- _side_kernel: which kernels of the compared profiles count, as what, and how long do they take?
--
-- A row or several for each type and shapes, in groups that prof_kernel gives in order. The step asked for is taken by
-- the kernel's own step: the profiler's Step Id (text), the step in which the kernel starts (database). A type that the
-- profiler does not know is left out of text exports, as the compare tool does, and called N/A in databases; GPU
-- kernels have no type, there the name stands for it.
CREATE TEMP VIEW IF NOT EXISTS _side_kernel(
  profile,                -- TEXT     base or comparison
  kernel_type,            -- TEXT     operator type, e.g. MatMulV3; the name of a GPU kernel
  input_shapes,           -- TEXT     dims by ',', tensors by ';'; NULL unknown
  first_id,               -- INTEGER  the lowest prof_kernel.id
  calls,                  -- INTEGER
  total_ns,               -- INTEGER  ns
  max_ns,                 -- INTEGER  ns
  min_ns,                 -- INTEGER  ns
  durations               -- BLOB     sample_agg of the single durations, ns
) AS
WITH kernel AS NOT MATERIALIZED (
  SELECT *
    FROM prof_kernel
   WHERE step IS coalesce(iif(profile = 'base', (SELECT step FROM _compare_side WHERE profile = 'base'),
                              (SELECT step FROM _compare_side WHERE profile = 'comparison')), step)
)
SELECT profile, coalesce(op_type, 'N/A'), input_shapes, min(id), count(*), sum(dur_ns), max(dur_ns), min(dur_ns),
       sample_agg(dur_ns)
  FROM kernel
 WHERE profile IN (SELECT profile FROM _compare_side WHERE family <> 'gpu')
   AND (op_type IS NOT NULL OR profile IN (SELECT profile FROM _compare_side WHERE family = 'db'))
 GROUP BY profile, op_type, input_shapes
 UNION ALL
SELECT profile, name, input_shapes, min(id), count(*), sum(dur_ns), max(dur_ns), min(dur_ns), sample_agg(dur_ns)
  FROM kernel
 WHERE profile IN (SELECT profile FROM _compare_side WHERE family = 'gpu')
 GROUP BY profile, name, input_shapes;

-- kernel_compare: which kernels, by type and input shapes, got slower?
--
-- A row for each (type, shapes) of either side; collectives' rows included. In order of first appearance:
-- of the type, then of the shapes within the type, base first.
-- Compare sheet: KernelCompare.
CREATE TEMP VIEW IF NOT EXISTS kernel_compare(
  order_id,               -- INTEGER  position in the sheet
  kernel_type,            -- TEXT     operator type; GPU: kernel name
  input_shapes,           -- TEXT     dims by ',', tensors by ';'; '' is a scalar, NULL unknown
  base_total_ns,          -- INTEGER  ns; NULL: none in base
  base_avg_ns,            -- REAL     ns
  base_max_ns,            -- INTEGER  ns
  base_min_ns,            -- INTEGER  ns
  base_calls,             -- INTEGER
  base_median_ns,         -- REAL     ns, of the single durations
  base_spread_ns,         -- REAL     ns, between the quartiles of the single durations
  comparison_total_ns,    -- INTEGER  ns; NULL: none in comparison
  comparison_avg_ns,      -- REAL     ns
  comparison_max_ns,      -- INTEGER  ns
  comparison_min_ns,      -- INTEGER  ns
  comparison_calls,       -- INTEGER
  comparison_median_ns,   -- REAL     ns
  comparison_spread_ns,   -- REAL     ns
  diff_total_ns,          -- INTEGER  ns, comparison - base
  total_ratio,            -- REAL     comparison / base; Inf: none in base
  avg_ratio,              -- REAL     the same of the averages
  noise,                  -- INTEGER  1: the medians differ by no more than the larger spread; NULL: one side only
  verdict                 -- TEXT     worse, better, same, base only, comparison only
) AS
WITH named AS (           -- equivalent types of the comparison under base's name
  SELECT k.*, coalesce(e.a, k.kernel_type) AS shown_type
    FROM _side_kernel AS k
    LEFT JOIN op_equivalent AS e ON e.b = k.kernel_type AND k.profile = 'comparison'
),
side AS (                 -- each side by itself
  SELECT profile, shown_type AS kernel_type, input_shapes, min(first_id) AS first_id, sum(total_ns) AS total_ns,
         sum(calls) AS calls, max(max_ns) AS max_ns, min(min_ns) AS min_ns, quantile(durations, 0.5) AS median_ns,
         quantile(durations, 0.75) - quantile(durations, 0.25) AS spread_ns
    FROM named
   GROUP BY profile, shown_type, input_shapes
),
placed AS (
  SELECT *, min(first_id) OVER (PARTITION BY profile, kernel_type) AS type_id FROM side
),
paired AS (               -- both sides of one group on one row
  SELECT kernel_type, input_shapes,
         max(type_id) FILTER (WHERE profile = 'base') AS base_type_id,
         max(first_id) FILTER (WHERE profile = 'base') AS base_id,
         max(type_id) FILTER (WHERE profile = 'comparison') AS comparison_type_id,
         max(first_id) FILTER (WHERE profile = 'comparison') AS comparison_id,
         max(total_ns) FILTER (WHERE profile = 'base') AS base_total_ns,
         max(calls) FILTER (WHERE profile = 'base') AS base_calls,
         max(max_ns) FILTER (WHERE profile = 'base') AS base_max_ns,
         max(min_ns) FILTER (WHERE profile = 'base') AS base_min_ns,
         max(median_ns) FILTER (WHERE profile = 'base') AS base_median_ns,
         max(spread_ns) FILTER (WHERE profile = 'base') AS base_spread_ns,
         max(total_ns) FILTER (WHERE profile = 'comparison') AS comparison_total_ns,
         max(calls) FILTER (WHERE profile = 'comparison') AS comparison_calls,
         max(max_ns) FILTER (WHERE profile = 'comparison') AS comparison_max_ns,
         max(min_ns) FILTER (WHERE profile = 'comparison') AS comparison_min_ns,
         max(median_ns) FILTER (WHERE profile = 'comparison') AS comparison_median_ns,
         max(spread_ns) FILTER (WHERE profile = 'comparison') AS comparison_spread_ns
    FROM placed
   GROUP BY kernel_type, input_shapes
)
SELECT row_number() OVER (ORDER BY base_id IS NULL, base_type_id, base_id, comparison_type_id, comparison_id),
       kernel_type, input_shapes,
       base_total_ns, base_total_ns * 1.0 / base_calls, base_max_ns, base_min_ns, base_calls,
       base_median_ns, base_spread_ns,
       comparison_total_ns, comparison_total_ns * 1.0 / comparison_calls, comparison_max_ns, comparison_min_ns,
       comparison_calls, comparison_median_ns, comparison_spread_ns,
       coalesce(comparison_total_ns, 0) - coalesce(base_total_ns, 0),
       compare_ratio(base_total_ns, comparison_total_ns),
       compare_ratio(base_total_ns * 1.0 / base_calls, comparison_total_ns * 1.0 / comparison_calls),
       abs(comparison_median_ns - base_median_ns) <= max(base_spread_ns, comparison_spread_ns),
       compare_verdict(base_total_ns, comparison_total_ns)
  FROM paired
 ORDER BY 1;

-- _side_kernel_type: what does each profile say about its kinds of kernel?
--
-- Without a step, a text export answers with its own op_statistic.csv, as the compare tool takes it, averages
-- included (of several ranks they are those of all kernels). Where a step is asked for, and in databases, the
-- kernels are counted (a step takes the kernels that start within it).
-- The compare tool has no such figures for GPU traces, nor has this view: kernel_compare lists GPU kernels.
CREATE TEMP VIEW IF NOT EXISTS _side_kernel_type(
  profile,                -- TEXT     base or comparison
  kernel_type,            -- TEXT     operator type
  core_type,              -- TEXT     AI_CORE, AI_VECTOR_CORE ...; NULL unknown
  first_id,               -- INTEGER  orders rows by first appearance
  calls,                  -- INTEGER
  total_ns,               -- INTEGER  ns
  avg_ns,                 -- REAL     ns
  max_ns,                 -- INTEGER  ns
  min_ns,                 -- INTEGER  ns
  durations               -- BLOB     sample_agg of the single durations, ns; NULL: the source has only sums
) AS
SELECT o.profile, o.op_type, o.core_type, min(o.id), sum(o.count), sum(o.total_ns),
       coalesce(CASE WHEN count(*) = 1 THEN max(o.avg_ns) * 1.0 END, sum(o.total_ns) * 1.0 / sum(o.count)),
       max(o.max_ns), min(o.min_ns), NULL
  FROM _compare_side AS s
  JOIN prof_op_stat AS o ON o.profile = s.profile
 WHERE s.family = 'text' AND s.step IS NULL
 GROUP BY o.profile, o.op_type, o.core_type
UNION ALL
SELECT profile, coalesce(op_type, 'N/A'), core_type, min(id), count(*), sum(dur_ns), sum(dur_ns) * 1.0 / count(*),
       max(dur_ns), min(dur_ns), sample_agg(dur_ns)
  FROM prof_kernel AS k
 WHERE k.profile IN (SELECT profile FROM _compare_side WHERE family = 'db' OR family = 'text' AND step IS NOT NULL)
   AND k.is_communication IS NOT 1
   AND (k.op_type IS NOT NULL OR k.profile IN (SELECT profile FROM _compare_side WHERE family = 'db'))
   AND (k.profile IN (SELECT profile FROM _compare_side WHERE step IS NULL)
        OR nest_find((SELECT nest_index(1, step_start_ns, step_end_ns, profile, rank) FROM _side_rank),
                     k.start_ns, k.start_ns, k.profile, k.rank) = 1)
 GROUP BY profile, op_type, core_type;

-- kernel_type_compare: which kinds of kernel got slower?
--
-- A row for each (type, core) of either side, worst ratio first, then in order of first appearance. Base may be
-- without any figure (a GPU trace).
-- Compare sheet: KernelTypeCompare.
CREATE TEMP VIEW IF NOT EXISTS kernel_type_compare(
  order_id,               -- INTEGER  position in the sheet
  kernel_type,            -- TEXT     operator type
  core_type,              -- TEXT     AI_CORE, AI_VECTOR_CORE ...
  base_total_ns,          -- INTEGER  ns; NULL: none in base
  base_avg_ns,            -- REAL     ns
  base_max_ns,            -- INTEGER  ns
  base_min_ns,            -- INTEGER  ns
  base_calls,             -- INTEGER
  base_median_ns,         -- REAL     ns, of the single durations; NULL: the source has only sums
  base_spread_ns,         -- REAL     ns, between their quartiles
  comparison_total_ns,    -- INTEGER  ns; NULL: none in comparison
  comparison_avg_ns,      -- REAL     ns
  comparison_max_ns,      -- INTEGER  ns
  comparison_min_ns,      -- INTEGER  ns
  comparison_calls,       -- INTEGER
  comparison_median_ns,   -- REAL     ns
  comparison_spread_ns,   -- REAL     ns
  diff_total_ns,          -- INTEGER  ns, comparison - base
  total_ratio,            -- REAL     comparison / base; Inf: none in base
  avg_ratio,              -- REAL     the same of the averages
  noise,                  -- INTEGER  1: the medians differ by no more than the larger spread; NULL: not known
  verdict                 -- TEXT     worse, better, same, base only, comparison only
) AS
WITH named AS (           -- equivalent types of the comparison under base's name
  SELECT k.*, coalesce(e.a, k.kernel_type) AS shown_type
    FROM _side_kernel_type AS k
    LEFT JOIN op_equivalent AS e ON e.b = k.kernel_type AND k.profile = 'comparison'
),
paired AS (               -- both sides of one kind on one row
  SELECT shown_type, core_type,
         min(first_id) FILTER (WHERE profile = 'base') AS base_id,
         sum(total_ns) FILTER (WHERE profile = 'base') AS base_total_ns,
         sum(calls) FILTER (WHERE profile = 'base') AS base_calls,
         max(avg_ns) FILTER (WHERE profile = 'base') AS base_listed_ns,
         count(*) FILTER (WHERE profile = 'base') AS base_kinds,
         max(max_ns) FILTER (WHERE profile = 'base') AS base_max_ns,
         min(min_ns) FILTER (WHERE profile = 'base') AS base_min_ns,
         quantile(durations, 0.5) FILTER (WHERE profile = 'base') AS base_median_ns,
         quantile(durations, 0.75) FILTER (WHERE profile = 'base')
           - quantile(durations, 0.25) FILTER (WHERE profile = 'base') AS base_spread_ns,
         min(first_id) FILTER (WHERE profile = 'comparison') AS comparison_id,
         sum(total_ns) FILTER (WHERE profile = 'comparison') AS comparison_total_ns,
         sum(calls) FILTER (WHERE profile = 'comparison') AS comparison_calls,
         max(avg_ns) FILTER (WHERE profile = 'comparison') AS comparison_listed_ns,
         count(*) FILTER (WHERE profile = 'comparison') AS comparison_kinds,
         max(max_ns) FILTER (WHERE profile = 'comparison') AS comparison_max_ns,
         min(min_ns) FILTER (WHERE profile = 'comparison') AS comparison_min_ns,
         quantile(durations, 0.5) FILTER (WHERE profile = 'comparison') AS comparison_median_ns,
         quantile(durations, 0.75) FILTER (WHERE profile = 'comparison')
           - quantile(durations, 0.25) FILTER (WHERE profile = 'comparison') AS comparison_spread_ns
    FROM named
   GROUP BY shown_type, core_type
),
rated AS (                -- of several kinds under one name the average is that of all
  SELECT *, compare_ratio(base_total_ns, comparison_total_ns) AS total_ratio,
         iif(base_kinds = 1, base_listed_ns, base_total_ns * 1.0 / base_calls) AS base_avg_ns,
         iif(comparison_kinds = 1, comparison_listed_ns, comparison_total_ns * 1.0 / comparison_calls) AS comparison_avg_ns
    FROM paired
)
SELECT row_number() OVER (ORDER BY round_even(total_ratio, 4) DESC, base_id IS NULL, base_id, comparison_id),
       shown_type, core_type,
       base_total_ns, base_avg_ns, base_max_ns, base_min_ns, base_calls, base_median_ns, base_spread_ns,
       comparison_total_ns, comparison_avg_ns, comparison_max_ns, comparison_min_ns, comparison_calls,
       comparison_median_ns, comparison_spread_ns,
       coalesce(comparison_total_ns, 0) - coalesce(base_total_ns, 0),
       total_ratio,
       compare_ratio(base_avg_ns, comparison_avg_ns),
       abs(comparison_median_ns - base_median_ns) <= max(base_spread_ns, comparison_spread_ns),
       compare_verdict(base_total_ns, comparison_total_ns)
  FROM rated
 ORDER BY 1;
