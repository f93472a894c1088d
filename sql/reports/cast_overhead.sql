-- How much device time goes into converting data, and between which operators?
--
-- One row per conversion (Cast, TransData, Transpose) and its neighbours on the stream. Type Ratio is the whole share of the type.
-- A Cast between the input and a MatMul means that the model computes in another type than it is fed: feed it that type (an
-- offline model: let its inputs and outputs be fp16). TransData changes the layout: use operators that share one.

SELECT profile AS 'Profile', rank AS 'Rank', op_type AS 'OP Type', elide(ifnull(previous_op_type, '(start)'), 28) AS 'After',
       elide(ifnull(next_op_type, '(end)'), 28) AS 'Before', calls AS 'Count', round_even(total_ns / 1000.0, 3) AS 'Total Time(us)',
       round_even(time_ratio * 100, 3) AS 'Ratio(%)', round_even(type_time_ratio * 100, 3) AS 'Type Ratio(%)'
  FROM cast_overhead;

SELECT s.alias AS 'Profile', s.rank AS 'Rank',
       coalesce(s.missing ->> 'prof_kernel',
                CASE WHEN EXISTS (SELECT 1 FROM prof_kernel AS k WHERE k.profile = s.alias AND k.rank IS s.rank AND k.op_type IS NOT NULL)
                       THEN 'no kernel converts data'
                     WHEN s.kind = 'gpu' THEN 'kernels of GPU traces have no types'
                     ELSE 'the kernels have no types' || iif(s.level = 'Level0', ': collect at Level1', '') END) AS 'No conversions because'
  FROM prof_source AS s
  LEFT JOIN (SELECT DISTINCT profile, rank FROM cast_overhead) AS c ON c.profile = s.alias AND c.rank IS s.rank
 WHERE c.profile IS NULL;

SELECT message AS 'Nothing to report' FROM report_hint;
