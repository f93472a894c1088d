-- What does each kind of collective cost in each group?
--
-- One row per group and operation. Much Wait: another rank comes late (look for the slow rank). Little Wait and low Bandwidth: the
-- link or small packets. Idle is what they leave of Total: the operation was on the device but did nothing.
-- Source: computed from the timeline, or read from communication.json. No figures: the collectives' tasks were not recorded.

SELECT profile AS 'Profile', rank AS 'Rank', elide(group_name, 22) AS 'Group', elide(op_type, 22) AS 'Operation', calls AS 'Count',
       round_even(total_ns / 1000.0, 3) AS 'Total(us)', round_even(wait_ns / 1000.0, 3) AS 'Wait(us)',
       round_even(transmit_ns / 1000.0, 3) AS 'Transmit(us)', round_even((total_ns - wait_ns - transmit_ns) / 1000.0, 3) AS 'Idle(us)',
       round_even(size_bytes / 1e6, 3) AS 'Size(MB)',
       round_even(bandwidth_gb_per_s, 3) AS 'GB/s', round_even(time_ratio * 100, 2) AS 'Ratio(%)', source AS 'Source'
  FROM communication_summary;

SELECT s.alias AS 'Profile', s.rank AS 'Rank', ifnull(s.missing ->> 'prof_comm_op', 'no collectives recorded') AS 'No collectives because'
  FROM prof_source AS s
  LEFT JOIN (SELECT DISTINCT profile, rank FROM communication_summary) AS c ON c.profile = s.alias AND c.rank IS s.rank
 WHERE c.profile IS NULL;

SELECT message AS 'Nothing to report' FROM report_hint;
