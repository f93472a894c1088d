-- What does each kind of collective cost in each group?
--
-- One row per group and operation. Much Wait: another rank comes late (look for the slow rank). Little Wait and low bandwidth: the
-- link or small packets. Bandwidth counts the tasks that move bytes.

SELECT profile AS 'Profile', rank AS 'Rank', group_name AS 'Group', op_type AS 'Operation', calls AS 'Count',
       round_even(total_ns / 1000.0, 3) AS 'Total Time(us)', round_even(wait_ns / 1000.0, 3) AS 'Wait(us)',
       round_even(transmit_ns / 1000.0, 3) AS 'Transmit(us)', round_even(size_bytes / 1e6, 3) AS 'Size(MB)',
       round_even(bandwidth_gb_per_s, 3) AS 'Bandwidth(GB/s)', round_even(time_ratio * 100, 3) AS 'Ratio(%)'
  FROM communication_summary;
