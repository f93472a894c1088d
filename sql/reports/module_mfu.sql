-- How well does each module use the chip in the forward pass?
--
-- One row per operator of a module, in the columns of msprof-analyze's table ModuleMFU: the times and MFU of its kernels. Modules
-- are ranges of the domain Module.

SELECT * FROM cluster_module_mfu;

SELECT profile AS 'Profile', rank AS 'Rank', message AS 'No MFU because'
  FROM mfu_diagnostic
 WHERE code IN ('no_flops_records', 'no_module_ranges');

SELECT message AS 'Nothing to report' FROM report_hint;
