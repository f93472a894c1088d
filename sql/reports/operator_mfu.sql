-- How well does each operator whose FLOPs were recorded use the chip?
--
-- One row per kernel of such an operator, in the columns of msprof-analyze's table OperatorMFU: an MFU of 0.4 reaches 40 % of the
-- chip's peak for that data type. Without recorded FLOPs see kernel_mfu_estimate, which judges by shapes.

SELECT * FROM cluster_operator_mfu;

SELECT profile AS 'Profile', rank AS 'Rank', message AS 'No MFU because'
  FROM mfu_diagnostic
 WHERE code = 'no_flops_records';

SELECT message AS 'Nothing to report' FROM report_hint;
