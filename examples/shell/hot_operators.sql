-- sqlite3 -cmd '.load libprofana' -cmd ".param set :profile 'PROFILE'" < hot_operators.sql
SELECT profana_open('run', :profile);
SELECT op_type, calls, total_ns FROM hot_op;
