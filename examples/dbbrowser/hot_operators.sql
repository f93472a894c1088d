-- touch run.db
-- sqlitebrowser -o extensions/list=/usr/lib/libprofana.so -s hot_operators.sql -t hot_operators run.db
--
-- Put the profile's real path below. The table stays in run.db; the shipped views are in the list of tables as temp.hot_op, ...
SELECT profana_open('run', '@PROFILE@');
CREATE TABLE hot_operators AS SELECT op_type, calls, total_ns FROM hot_op;
