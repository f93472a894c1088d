-- OperatorMFU: MFU of every kernel of the operators whose FLOPs were recorded, in the columns of msprof-analyze.

SELECT * FROM cluster_operator_mfu;
