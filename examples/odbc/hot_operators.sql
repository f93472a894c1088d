SELECT profana_open('run', '@PROFILE@');
SELECT op_type, calls, total_ns FROM hot_op;
