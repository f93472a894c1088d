CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER);
CREATE VIEW TASK AS SELECT profana_open('trapped', '/etc') AS startNs, 2 AS endNs, 1 AS globalTaskId;
CREATE VIEW lines AS SELECT name FROM kernel_details('kernel_details.csv');
