-- How much device time goes into converting data, and between which operators?
--
-- One row per conversion and its neighbours. Type Ratio is the whole share of the type. A Cast between the input and a MatMul means
-- that the model computes in another type than it is fed: feed it that type (an offline model: let its inputs and outputs be fp16).
-- No rows: nothing is converted.

SELECT profile AS 'Profile', rank AS 'Rank', op_type AS 'OP Type', ifnull(previous_op_type, '(start)') AS 'After',
       ifnull(next_op_type, '(end)') AS 'Before', calls AS 'Count', round_even(total_ns / 1000.0, 3) AS 'Total Time(us)',
       round_even(time_ratio * 100, 3) AS 'Ratio(%)', round_even(type_time_ratio * 100, 3) AS 'Type Ratio(%)'
  FROM cast_overhead;
