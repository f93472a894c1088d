-- ModuleMFU: times and MFU of the operators of each module in the forward pass, in the columns of msprof-analyze.

SELECT * FROM cluster_module_mfu;
