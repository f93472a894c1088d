"""operator_mfu and module_mfu at twice the size take about twice the work.

The work is counted, not timed: SQLite's virtual machine steps, which a nested scan (a join without an index) multiplies.
Tables in temp stand in for a profile: blocks of modules with operators, recorded products and a backward pass.
"""
import os
import re
import subprocess
import sys

LIBRARY = os.path.abspath(sys.argv[1]).removesuffix(".so")
ALLOWED = 2.3

PROFILE = """
CREATE TEMP TABLE prof_source(alias, rank, kind, chip_option);
CREATE TEMP TABLE prof_device(profile TEXT, rank INTEGER, chip, ai_core_num, aic_frequency_mhz);
CREATE TEMP TABLE prof_mstx_range(profile TEXT, rank INTEGER, id INTEGER PRIMARY KEY, thread_id, event_type, domain TEXT, message, start_ns, end_ns);
CREATE TEMP TABLE prof_host_op(profile TEXT, rank INTEGER, id INTEGER PRIMARY KEY, thread_id, name, kind, step, start_ns INTEGER, end_ns INTEGER,
  input_shapes, input_types, concrete_inputs, connection_id INTEGER, kernel_count INTEGER, kernel_names, kernel_ns);
CREATE TEMP TABLE prof_launch(profile TEXT, rank INTEGER, host_op_id INTEGER, kernel_id INTEGER, comm_op_id INTEGER, device_task_id INTEGER);
CREATE TEMP TABLE prof_kernel(profile TEXT, rank INTEGER, id INTEGER PRIMARY KEY, name, op_type, step, start_ns INTEGER, end_ns INTEGER, dur_ns INTEGER,
  input_shapes, input_types, input_formats, output_shapes, output_formats, is_communication);
CREATE TEMP TABLE prof_comm_op(profile TEXT, rank INTEGER, id INTEGER PRIMARY KEY, name, op_type, start_ns, dur_ns);
CREATE TEMP TABLE prof_device_task(profile TEXT, rank INTEGER, id INTEGER PRIMARY KEY, name, connection_id INTEGER, start_ns, dur_ns, is_schedule);
CREATE TEMP TABLE prof_fwd_bwd(profile TEXT, rank INTEGER, forward_ns INTEGER, backward_ns INTEGER, backward_thread_id);
CREATE INDEX temp.op_start ON prof_host_op(profile, rank, start_ns);
CREATE INDEX temp.launch_op ON prof_launch(profile, host_op_id);
INSERT INTO prof_source VALUES ('run', 0, 'db', 'Ascend910B3');
CREATE TEMP TABLE n AS WITH RECURSIVE c(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM c WHERE i < {ops} - 1) SELECT i FROM c;
-- a module of ten operators each 1000 ns, within one around all; every fifth operator recorded its FLOPs
INSERT INTO prof_mstx_range SELECT 'run', 0, 1 + i, 1, 'start/end', 'Module', 'Block', i * 100 - 5, i * 100 + 990 FROM n WHERE i % 10 = 0;
INSERT INTO prof_mstx_range VALUES ('run', 0, 0, 1, 'start/end', 'Module', 'Net', -10, {ops} * 200);
INSERT INTO prof_mstx_range SELECT 'run', 0, {ops} + 1 + i, 1, 'start/end', 'mfu_flops', '4194304-mm', i * 100, i * 100 + 50 FROM n WHERE i % 5 = 0;
INSERT INTO prof_host_op(profile, rank, id, thread_id, name, kind, start_ns, end_ns)
  SELECT 'run', 0, i, 1, 'aten::op' || (i % 10), 'op', i * 100 + 10, i * 100 + 40 FROM n;
INSERT INTO prof_host_op(profile, rank, id, thread_id, name, kind, start_ns, end_ns)
  SELECT 'run', 0, {ops} + i, 2, 'Backward' || (i % 10), 'op', ({ops} * 3 + i) * 100, ({ops} * 3 + i) * 100 + 50 FROM n;
INSERT INTO prof_fwd_bwd SELECT 'run', 0, i * 100 + 10, ({ops} * 3 + i) * 100, 2 FROM n;
INSERT INTO prof_kernel SELECT 'run', 0, i, 'Kernel' || (i % 10), 'MatMulV2', NULL, i * 100 + 70, i * 100 + 90, 20, '128,64;64,256', 'DT_BF16', NULL,
  '128,256', NULL, 0 FROM n;
INSERT INTO prof_kernel SELECT 'run', 0, {ops} + i, 'Grad' || (i % 10), 'MatMulV2', NULL, ({ops} * 3 + i) * 100 + 60, ({ops} * 3 + i) * 100 + 90, 30,
  '128,64;64,256', 'DT_BF16', NULL, '128,256', NULL, 0 FROM n;
INSERT INTO prof_launch SELECT 'run', 0, id, id, NULL, NULL FROM prof_kernel;
UPDATE prof_host_op SET (kernel_count, kernel_names, kernel_ns) = (SELECT 1, k.name, k.dur_ns FROM prof_kernel AS k WHERE k.id = prof_host_op.id);
"""


def steps(ops):
    """-> {report: (steps, rows)}"""
    script = [".bail on", ".load " + LIBRARY, PROFILE.format(ops=ops), ".stats vmstep"]
    reports = ("operator_mfu", "module_op", "module_mfu", "mfu_record", "kernel_mfu_estimate")
    script += [f"SELECT '{r}', count(*) FROM (SELECT * FROM {r});" for r in reports]
    done = subprocess.run(["sqlite3", "-batch", ":memory:"], input="\n".join(script) + "\n", text=True, capture_output=True, timeout=120)
    if done.returncode:
        sys.exit(f"sqlite3 failed: {done.stderr}")
    found = re.findall(r"^(\w+)\|(\d+)\nVM-steps: (\d+)", done.stdout, re.M)
    if len(found) != len(reports):
        sys.exit(f"no steps told: {done.stdout}")
    return {report: (int(count), int(rows)) for report, rows, count in found}


failures = []
small, large = steps(2000), steps(4000)
for report, (count, rows) in large.items():
    ratio = count / small[report][0]
    if ratio > ALLOWED:
        failures.append(f"{report}: {small[report][0]} steps, at twice the size {count}: {ratio:.2f} times, allowed {ALLOWED}")
# rows: a record has one kernel; every operator of ten lies in a Block, those of the backward pass too; two directions of ten kinds
for ops, got in ((2000, small), (4000, large)):
    expected = {"operator_mfu": ops // 5, "module_op": 2 * ops, "module_mfu": 20, "mfu_record": ops // 5, "kernel_mfu_estimate": 2 * ops}
    if {report: rows for report, (_, rows) in got.items()} != expected:
        failures.append(f"{ops} operators: {got}, expected rows {expected}")
print("\n".join(failures) or "twice the size, about twice the work: " + ", ".join(f"{r} {large[r][0] / small[r][0]:.2f}" for r in large))
sys.exit(1 if failures else 0)
