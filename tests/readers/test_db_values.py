"""Small databases made by hand: what every odd value, old name and missing piece must become."""
import json
import os
import sqlite3
import sys
import tempfile
import time

LIBRARY = sys.argv[1]
NONE = 4294967295
TASK = "CREATE TABLE TASK(startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER, " \
       "globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER)"
API = "CREATE TABLE PYTORCH_API(startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER, " \
      "sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, callchainId INTEGER, " \
      "type INTEGER)"
STRINGS = "CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT)"
TESTS = []


def test(function):
    TESTS.append(function)
    return function


class Profile:
    """A database made from SQL and opened as profile x."""

    def __init__(self, folder, *statements, name="ascend_pytorch_profiler_0.db", options=None, beside=None):
        self.folder = tempfile.mkdtemp(dir=folder)
        self.path = os.path.join(self.folder, name)
        self.write(self.path, statements)
        if beside:
            self.write(os.path.join(self.folder, beside[0]), beside[1:])
        self.db = connect()
        self.db.execute("SELECT profana_open('x', ?, ?)", (self.path, json.dumps(options or {})))

    @staticmethod
    def write(path, statements):
        db = sqlite3.connect(path)
        for statement in statements:
            if isinstance(statement, str):
                db.execute(statement)
            else:
                table, rows = statement
                db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        db.commit()
        db.close()

    def rows(self, sql):
        return self.db.execute(sql).fetchall()

    def codes(self):
        return {row[0] for row in self.rows("SELECT code FROM prof_diagnostic")}


def connect():
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(LIBRARY)
    return db


def equal(got, want):
    assert got == want, f"\n  got  {got}\n  want {want}"


def task(start, end, ident, kind=1, device=0, connection=-1, stream=2, number=7):
    return (start, end, device, connection, ident, 1, kind, NONE, stream, number, NONE)


@test
def single_card(folder):
    """No table about communication, and no error either."""
    p = Profile(folder, "CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT)",
                "CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, "
                "globalTaskId INTEGER, taskType INTEGER, streamId INTEGER)",
                "CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER, blockDim INTEGER, opType INTEGER)",
                ("STRING_IDS", [(1, "MatMul_1"), (2, "MatMulV2"), (3, "KERNEL_AICORE")]),
                ("TASK", [(1000, 6000, 0, 1, 1, 3, 2)]), ("COMPUTE_TASK_INFO", [(1, 1, 20, 2)]))
    equal(p.rows("SELECT name, op_type, task_type, block_num, dur_ns, stream_id, connection_id, core_type, input_shapes, "
                 "task_id FROM prof_kernel"),
          [("MatMul_1", "MatMulV2", "KERNEL_AICORE", 20, 5000, 2, 1, None, None, None)])
    equal(p.rows("SELECT count(*), coalesce(sum(dur_ns), 0) FROM prof_comm_op"), [(0, 0)])
    missing = json.loads(p.rows("SELECT missing FROM prof_source")[0][0])
    assert "COMMUNICATION_OP" in missing["prof_comm_op"], missing
    assert "prof_kernel" not in missing, missing


@test
def numbers_in_any_form(folder):
    """Times as text, whole numbers as reals, and what is no number."""
    p = Profile(folder, STRINGS, "CREATE TABLE TASK(startNs, endNs, deviceId, connectionId, globalTaskId, taskType, streamId)",
                ("STRING_IDS", [(1, "EVENT_WAIT")]),
                ("TASK", [("1736414119620696762", "1736414119620696862", 0.0, "5", 1, 1.0, "2"),
                          (5000.0, 6000, 0, 6, 2, 1, 2), ("later", 6000, 0, 7, 3, 1, 2),
                          (1e30, "9223372036854775808", 0, 8, 4, 1, 2), (b"\x01", None, 0, 9, 5, 1, 2),
                          (-9223372036854775808, 9223372036854775807, 0, 9, 6, 1, 2)]))
    equal(p.rows("SELECT start_ns, end_ns, dur_ns, device_id, connection_id, stream_id FROM prof_device_task"),
          [(1736414119620696762, 1736414119620696862, 100, 0, 5, 2), (5000, 6000, 1000, 0, 6, 2),
           (None, 6000, None, 0, 7, 2), (None, None, None, 0, 8, 2), (None, None, None, 0, 9, 2),
           (None, None, None, 0, 9, 2)])
    assert {"bad_number", "implausible_value"} <= set(p.codes()), p.codes()


@test
def sentinels(folder):
    p = Profile(folder, STRINGS, TASK,
                "CREATE TABLE COMPUTE_TASK_INFO(name, globalTaskId INTEGER PRIMARY KEY, blockNum, mixBlockNum, taskType, "
                "opType, inputShapes, inputDataTypes, outputShapes)",
                ("STRING_IDS", [(1, "N/A"), (2, '"4,8;8,16"'), (3, '""'), (4, "KERNEL_AICORE"), (5, ""), (6, "Mul")]),
                ("TASK", [task(10, 20, 1, 4, number=NONE, stream=NONE), task(30, 40, 2, 4, connection=0),
                          task(50, 60, 3, 77, device=NONE, connection=NONE)]),
                ("COMPUTE_TASK_INFO", [(6, 1, NONE, NONE, 1, 1, 2, 1, 3), (6, 2, 8, 0, 4, NONE, 3, 5, 1),
                                       (99, 3, 8, 0, 4, -1, None, 6, 5)]))
    equal(p.rows("SELECT name, task_id, stream_id, device_id, connection_id, block_num, mix_block_num, core_type, op_type, "
                 "input_shapes, input_types, output_shapes, task_type FROM prof_kernel"),
          [("Mul", None, None, 0, None, None, None, None, None, "4,8;8,16", None, "", "KERNEL_AICORE"),
           ("Mul", 7, 2, 0, None, 8, 0, "KERNEL_AICORE", None, "", None, None, "KERNEL_AICORE"),
           (None, 7, 2, None, None, 8, 0, "KERNEL_AICORE", None, None, "Mul", None, None)])
    assert "dangling_string_id" in p.codes(), p.codes()


@test
def core_counts(folder):
    """blockDim is the number of cores, or, beside blockNum, a text about threads."""
    for columns, want in (("blockDim, mixBlockDim", (20, 3)), ("block_dim, mix_block_dim", (20, 3)),
                          ("blockNum, mixBlockNum", (20, 3)), ("blockNum, mixBlockNum, gridDim, blockDim", (20, 3))):
        extra = ", 1, 1" if "gridDim" in columns else ""
        p = Profile(folder, STRINGS, TASK, f"CREATE TABLE COMPUTE_TASK_INFO(globalTaskId, {columns})",
                    f"INSERT INTO COMPUTE_TASK_INFO VALUES (1, 20, 3{extra})", ("STRING_IDS", [(1, "1,1,1")]),
                    ("TASK", [task(1, 2, 1)]))
        equal(p.rows("SELECT block_num, mix_block_num FROM prof_kernel"), [want])


@test
def no_strings(folder):
    """A killed export has written everything but the strings."""
    p = Profile(folder, TASK, ("TASK", [task(1, 2, 1)]))
    equal(p.rows("SELECT task_type, name, dur_ns FROM prof_device_task"), [(None, None, 1)])
    equal(p.rows("SELECT state FROM prof_source"), [("truncated",)])
    assert "no_strings" in p.codes(), p.codes()


@test
def other_encodings(folder):
    """Texts that are no UTF-8, or hold a NUL, are repaired and counted, whatever table they stand in."""
    p = Profile(folder, STRINGS, TASK, "CREATE TABLE COMPUTE_TASK_INFO(globalTaskId INTEGER PRIMARY KEY, name)",
                "CREATE TABLE NPU_INFO(id INTEGER, name TEXT)",
                ("STRING_IDS", [(1, b"mat\xd6\xdcmul"), (2, "caf\u00e9"), (3, b"a\x00b"), (4, "AI_CORE")]),
                "UPDATE STRING_IDS SET value = CAST(value AS TEXT)",
                ("TASK", [task(1, 2, i, kind=4) for i in (1, 2, 3)]),
                ("COMPUTE_TASK_INFO", [(name, name) for name in (1, 2, 3)]),
                ("NPU_INFO", [(0, b"Ascend\xff")]), "UPDATE NPU_INFO SET name = CAST(name AS TEXT)")
    equal(p.rows("SELECT name FROM prof_kernel ORDER BY id"), [("mat\ufffd\ufffdmul",), ("caf\u00e9",), ("a\ufffdb",)])
    equal(p.rows("SELECT chip FROM prof_device"), [("Ascend\ufffd",)])
    bad = "values of %s that are no UTF-8; U+FFFD stands for each bad byte"
    equal(p.rows("SELECT message, count FROM prof_diagnostic WHERE code = 'invalid_utf8'"),
          [(bad % 'STRING_IDS."value"', 2 + 1), (bad % 'NPU_INFO."name"', 1)])  # the first counts all of the file


@test
def names_in_place(folder):
    """Exports of early 2024: snake_case columns, names as text, times as text."""
    p = Profile(folder, STRINGS, TASK, ("STRING_IDS", [(1, "x")]), ("TASK", [task(1, 2, 1)]),
                "CREATE TABLE MEMORY_RECORD(component TEXT, time_stamp TEXT, total_allocated NUMERIC, total_reserved NUMERIC, "
                "total_active NUMERIC, stream_ptr INTEGER, device_id INTEGER)",
                "CREATE TABLE OP_MEMORY(name TEXT, size INTEGER, allocation_time NUMERIC, release_time NUMERIC, "
                "active_release_time NUMERIC, active_duration NUMERIC, duration NUMERIC, stream_ptr INTEGER, "
                "device_id INTEGER)",
                ("MEMORY_RECORD", [("PTA", "1700000000000000001", 10, 20.0, 30, 5, 0)]),
                ("OP_MEMORY", [("aten::add", 512, 100, 400, None, None, 300, 5, 0)]))
    equal(p.rows("SELECT component, ts_ns, allocated_bytes, reserved_bytes, active_bytes, device_id FROM prof_memory_usage"),
          [("PTA", 1700000000000000001, 10, 20, 30, 0)])
    equal(p.rows("SELECT name, size_bytes, alloc_ns, release_ns, dur_ns, stream_ptr FROM prof_memory_alloc"),
          [("aten::add", 512, 100, 400, 300, 5)])


@test
def steps(folder):
    """A step holds both its ends; of two that touch the later one has the common point."""
    p = Profile(folder, STRINGS, TASK, "CREATE TABLE STEP_TIME(id, startNs, endNs)",
                ("STEP_TIME", [(10, 100, 200), (11, 200, 300), (12, 400, 500), (12, 410, 500)]),
                ("TASK", [task(t, t + 1, i) for i, t in enumerate((99, 100, 199, 200, 300, 301, 405, 450, 500))]))
    equal([r[0] for r in p.rows("SELECT step FROM prof_device_task ORDER BY id")],
          [None, 10, 10, 11, 11, None, 12, 12, 12])
    equal(p.rows("SELECT step, start_ns, end_ns FROM prof_step"), [(10, 100, 200), (11, 200, 300), (12, 410, 500)])
    assert "repeated_step" in p.codes(), p.codes()


OPS = [  # startNs, endNs, globalTid, connectionId, name, sequenceNumber, fwdThreadId, types, shapes, chain, type
    ("0", "100", (5 << 32) | 8, None, 1, -1, 0, None, None, None, 50001),
    ("10", "50", (5 << 32) | 8, 1, 2, 3, 0, 20, 21, 0, 50001),
    ("50", "60", (5 << 32) | 8, None, 3, -1, 0, None, None, None, 50001),
    ("55", "58", (5 << 32) | 9, 2, 4, 3, 8, None, None, None, 50001),
    ("20", "25", (5 << 32) | 8, 3, 5, None, None, None, None, None, 50002),
    ("30", "45", (5 << 32) | 9, 4, 6, None, None, None, None, None, 50002),
    ("5", "95", (5 << 32) | 8, None, 7, None, None, None, None, None, 50003),
    ("6", "94", (5 << 32) | 8, None, 8, None, None, None, None, None, 50003),
]
NAMES = [(1, "ProfilerStep#3"), (2, "aten::mm"), (3, "aten::add"), (4, "MmBackward0"), (5, "Enqueue@mm"),
         (6, "Dequeue@mm"), (7, "train.py(3): main"), (8, "nn.Module: Linear_0"), (20, "float;\r\nfloat"),
         (21, "2,3;\r\n3,4"), (30, "b.py(2): f"), (31, "a.py(1): g"), (40, "KERNEL_AICORE"), (41, "launch"),
         (42, "MatMulV3")]
LINKS = [(1, 100), (1, 101), (1, (5 << 28) + 9), (2, (5 << 28) + 9), (3, (5 << 28) + 7), (4, (5 << 28) + 7)]


def host(folder, api=API, rows=None, **more):
    return Profile(folder, STRINGS, api, "CREATE TABLE CONNECTION_IDS(id, connectionId)", TASK,
                   "CREATE TABLE PYTORCH_CALLCHAINS(id, stack, stackDepth)",
                   "CREATE TABLE CANN_API(startNs, endNs, type, globalTid, connectionId INTEGER PRIMARY KEY, name)",
                   "CREATE TABLE COMPUTE_TASK_INFO(globalTaskId INTEGER PRIMARY KEY, name)",
                   ("STRING_IDS", NAMES), ("CONNECTION_IDS", LINKS), ("PYTORCH_API", rows or OPS),
                   ("PYTORCH_CALLCHAINS", [(0, 31, 1), (0, 30, 0)]),
                   ("CANN_API", [(32, 40, 10000, (5 << 32) | 9, 100, 41)]),
                   ("COMPUTE_TASK_INFO", [(1, 42), (2, 42)]),
                   ("TASK", [task(200, 210, 1, 40, connection=100), task(220, 230, 2, 40, connection=101),
                             task(240, 241, 3, 40, connection=555)]), **more)


@test
def host_operators(folder):
    p = host(folder)
    equal(p.rows("SELECT name, kind, process_id, thread_id, start_ns, end_ns, input_types, input_shapes, call_stack, "
                 "connection_id, sequence_number, fwd_thread_id FROM prof_host_op ORDER BY id"),
          [("ProfilerStep#3", "op", 5, 8, 0, 100, None, None, None, None, None, None),
           ("aten::mm", "op", 5, 8, 10, 50, "float;\r\nfloat", "2,3;\r\n3,4", "b.py(2): f;\r\na.py(1): g", 100, 3, None),
           ("aten::add", "op", 5, 8, 50, 60, None, None, None, None, None, None),
           ("MmBackward0", "op", 5, 9, 55, 58, None, None, None, None, 3, 8),
           ("Enqueue@mm", "queue", 5, 8, 20, 25, None, None, None, 7, None, None),
           ("Dequeue@mm", "queue", 5, 9, 30, 45, None, None, None, 7, None, None),
           ("Node@launch", "api", 5, 9, 32, 40, None, None, None, 100, None, None)])
    # aten::add starts exactly where aten::mm ends, MmBackward0 on another thread: children all the same.
    equal(p.rows("SELECT id, parent_id, depth, root_id, self_ns FROM prof_host_op WHERE kind = 'op' ORDER BY id"),
          [(1, None, 0, None, 60), (2, 1, 1, 2, 30), (3, 2, 2, 2, 7), (4, 3, 3, 2, 3)])
    equal(p.rows("SELECT id, thread_parent_id, thread_depth FROM prof_host_op ORDER BY id"),
          [(1, None, 0), (2, 1, 1), (3, 1, 1), (4, None, 0), (5, 2, 2), (6, None, 0), (7, 6, 1)])
    equal(p.rows("SELECT name, thread_id, start_ns, parent_id, depth, is_module FROM prof_python_call"),
          [("train.py(3): main", 8, 5, None, 0, 0), ("nn.Module: Linear_0", 8, 6, 1, 1, 1)])
    equal(p.rows("SELECT forward_ns, backward_ns, backward_process_id, flow_id FROM prof_fwd_bwd"),
          [(10, 55, 5, (5 << 28) + 9)])
    equal(p.rows("SELECT host_op_id, device_task_id, kernel_id, comm_op_id, launch_ns, device_ns, connection_id "
                 "FROM prof_launch"), [(2, 1, 1, None, 10, 200, 100), (2, 2, 2, None, 10, 220, 101)])


@test
def kinds_without_type(folder):
    """Exports before August 2024 do not say what a row of PYTORCH_API is."""
    p = host(folder, API.replace(", type INTEGER", ""), [row[:-1] for row in OPS])
    equal(p.rows("SELECT name, kind FROM prof_host_op WHERE kind <> 'api' ORDER BY id"),
          [("ProfilerStep#3", "op"), ("aten::mm", "op"), ("aten::add", "op"), ("MmBackward0", "op"),
           ("Enqueue@mm", "queue"), ("Dequeue@mm", "queue")])
    equal(p.rows("SELECT count(*) FROM prof_python_call"), [(2,)])


@test
def memory(folder):
    """Bytes as they are; blocks of CANN belong to the operator that filled the queue."""
    p = Profile(folder, STRINGS, API, "CREATE TABLE CONNECTION_IDS(id, connectionId)",
                "CREATE TABLE OP_MEMORY(name, size, allocationTime, releaseTime, duration, allocationTotalReserved, "
                "streamPtr, deviceId)",
                ("STRING_IDS", NAMES + [(50, "MatMul"), ((2 << 28) + 1, "aten::mm"), (51, "cann::Graph_7")]),
                ("CONNECTION_IDS", LINKS), ("PYTORCH_API", OPS),
                ("OP_MEMORY", [((2 << 28) + 1, 196608, 1698765432119902500, 1698765432119939200, 36700, 253755392, 9, 0),
                               ((2 << 28) + 1, 64, 11, 0, None, None, 9, 0), (50, 32, 40, 44, 4, 0, None, 0),
                               (51, 16, 46, None, None, 0, None, 0), ((2 << 28) + 1, 8, 0, 15, None, 0, 9, 1)]))
    equal(p.rows("SELECT name, size_bytes, alloc_ns, release_ns, dur_ns, attach_ns, host_op_id, device_id "
                 "FROM prof_memory_alloc ORDER BY id"),
          [("aten::mm", 196608, 1698765432119902500, 1698765432119939200, 36700, 1698765432119902500, None, 0),
           ("aten::mm", 64, 11, None, None, 11, 2, 0), ("cann::MatMul", 32, 40, 44, 4, 20, 2, 0),
           ("cann::Graph_7", 16, 46, None, None, None, None, 0), ("aten::mm", 8, None, 15, None, None, None, 1)])


@test
def memory_of_cann_alone(folder):
    """Without a framework only NPU_OP_MEM is there: allocations and releases in single rows."""
    p = Profile(folder, STRINGS, "CREATE TABLE NPU_OP_MEM(operatorName, addr, type, size, timestampNs, globalTid, "
                "totalAllocate, totalReserve, component, deviceId)", "CREATE TABLE SESSION_TIME_INFO(startTimeNs, endTimeNs)",
                "CREATE TABLE NPU_MEM(type, ddr, hbm, timestampNs, deviceId)",
                ("STRING_IDS", [(1, "allocate"), (2, "release"), (3, "Conv"), (4, "GE"), (5, "app"), (6, "device")]),
                ("NPU_OP_MEM", [(3, 77, 1, 100, 10, 0, 100, 500, 4, 0), (3, 78, 1, 50, 12, 0, 150, 500, 4, 0),
                                (3, 77, 2, 100, 15, 0, 50, 500, 4, 0), (3, 99, 2, 8, 16, 0, 42, 500, 4, 0)]),
                ("NPU_MEM", [(5, 1, 1000, 20, 0), (6, 5, 5, 20, 0)]), name="msprof_20260101000000.db")
    equal(p.rows("SELECT name, size_bytes, alloc_ns, release_ns, dur_ns, source_row FROM prof_memory_alloc"),
          [("cann::Conv", 100, 10, 15, 5, 1), ("cann::Conv", 50, 12, None, None, 2), ("cann::Conv", -8, None, 16, None, 4)])
    equal(p.rows("SELECT component, ts_ns, allocated_bytes, reserved_bytes, active_bytes FROM prof_memory_usage"),
          [("GE", 10, 100, 500, None), ("GE", 12, 150, 500, None), ("GE", 15, 50, 500, None), ("GE", 16, 42, 500, None),
           ("APP", 20, None, 1001, None)])


@test
def damaged_memory_of_cann(folder):
    """A size or a time that no capture can have is NULL and told there, too."""
    p = Profile(folder, STRINGS, "CREATE TABLE NPU_OP_MEM(operatorName, addr, type, size, timestampNs, deviceId)",
                "CREATE TABLE SESSION_TIME_INFO(startTimeNs, endTimeNs)",
                ("STRING_IDS", [(1, "allocate"), (3, "Conv")]),
                ("NPU_OP_MEM", [(3, 77, 1, 2**62, 10, 0), (3, 78, 1, 50, -2**62 - 1, 0), (3, 79, 1, 60, 12, 0)]), name="msprof_20260101000000.db")
    equal(p.rows("SELECT size_bytes, alloc_ns FROM prof_memory_alloc"), [(None, 10), (50, None), (60, 12)])
    equal(p.rows("SELECT sum(count) FROM prof_diagnostic WHERE code = 'implausible_value'"), [(2,)])


@test
def escaped_messages(folder):
    """Quotes of JSON with backslashes are undone, other texts and valid JSON stay as they are."""
    plain = '{"streamId": "12","count": "1024","groupName": "g\\\\dp"}'
    p = Profile(folder, STRINGS, "CREATE TABLE MSTX_EVENTS(startNs, endNs, eventType, globalTid, domainId, message, connectionId)",
                ("STRING_IDS", [(1, plain), (2, '{\\"streamId\\": \\"13\\",\\"count\\": \\"1024\\"}'), (3, 'say \\"hi\\"'),
                                (4, "communication"), (5, '{\\"torn')]),
                ("MSTX_EVENTS", [(0, 10, 2, 9, 4, 1, 4000000001), (20, 30, 2, 9, 4, 2, 4000000000), (40, 50, 0, 9, 4, 3, NONE),
                                 (60, 60, 9, 9, NONE, 5, -1)]))
    equal(p.rows("SELECT message, event_type, domain, connection_id FROM prof_mstx_range"),
          [(plain, "start/end", "communication", 4000000001), ('{"streamId": "13","count": "1024"}', "start/end",
                                                               "communication", None),
           ('say \\"hi\\"', "marker", "communication", None), ('{\\"torn', None, None, None)])


@test
def collectives(folder):
    """Groups, planes and tasks; a type that the collector left out stands in the name."""
    groups = {"group_name_0": {"group_name": "dp", "group_rank": 1, "global_ranks": [0, 4]}, "ghost": {"group_name": "tp"}}
    p = Profile(folder, STRINGS, TASK, "CREATE TABLE META_DATA(name TEXT, value TEXT)",
                "CREATE TABLE COMMUNICATION_OP(opName, startNs, endNs, connectionId, groupName, opId INTEGER PRIMARY KEY, opType)",
                "CREATE TABLE COMMUNICATION_TASK_INFO(name, globalTaskId, taskType, planeId, groupName, srcRank, dstRank, "
                "transportType, size, linkType, opId)",
                ("META_DATA", [("parallel_group_info", json.dumps(groups))]),
                ("STRING_IDS", [(1, "hcom_allReduce__586_0_1"), (2, "hcom_allReduce_"), (3, "5862276093215481612"), (4, "N/A"),
                                (5, "Notify_Wait"), (6, "Memcpy"), (7, "SDMA"), (8, "aivec"), (9, "ghost")]),
                ("COMMUNICATION_OP", [(1, 100, 200, 10, 3, 5, 2), (1, 300, 400, 11, 3, 2, 4), (8, 500, 600, 12, 4, 7, 8),
                                      (1, 700, 800, 13, 9, 9, 2)]),
                ("TASK", [task(110, 120, 1, 7, device=3, connection=10), task(130, 140, 2, 7, device=3, connection=10),
                          task(310, 320, 3, 7, device=3, connection=11)]),
                ("COMMUNICATION_TASK_INFO", [(1, 3, 5, 1, 3, 0, NONE, 65534, -1, 65534, 2), (1, 1, 5, 0, 3, 0, 1, 0, 0, 1, 5),
                                             (1, 2, 6, 1, 3, 0, 1, 1, 4096, 77, 99), (1, 44, 6, 1, 3, 0, 1, 1, 4096, 1, 5)]))
    # Rows of COMMUNICATION_OP come in order of opId.
    equal(p.rows("SELECT name, op_type, group_name, process_group, group_index, plane_count, device_id, source_row "
                 "FROM prof_comm_op ORDER BY id"),
          [("hcom_allReduce__586_0_1", "hcom_allReduce_", "5862276093215481612", "dp", 1, 2, 3, 2),
           ("hcom_allReduce__586_0_1", "hcom_allReduce_", "5862276093215481612", "dp", 1, 2, 3, 5),
           ("aivec", "aivec", None, None, 2, None, None, 7),
           ("hcom_allReduce__586_0_1", "hcom_allReduce_", "ghost", "tp", 3, None, None, 9)])
    equal(p.rows("SELECT comm_op_id, name, group_index, plane_id, start_ns, size_bytes, transport, link_type, src_rank, "
                 "dst_rank FROM prof_comm_task ORDER BY id"),
          [(2, "Notify_Wait", 1, 0, 110, 0, "SDMA", "HCCS", 0, 1), (None, "Memcpy", 1, 1, 130, 4096, "RDMA", None, 0, 1),
           (1, "Notify_Wait", 1, 1, 310, None, None, None, 0, None)])
    assert "comm_task_without_task" in p.codes(), p.codes()
    equal(p.rows("SELECT group_id, group_name, group_rank, ranks, source_row FROM prof_process_group"),
          [("5862276093215481612", "dp", 1, "[0,4]", 1), ("ghost", "tp", None, None, 2)])


@test
def several_devices(folder):
    """One process may drive several devices: the option takes one of them."""
    statements = (STRINGS, TASK, "CREATE TABLE COMPUTE_TASK_INFO(globalTaskId INTEGER PRIMARY KEY, name)",
                  "CREATE TABLE NPU_INFO(id, name)", "CREATE TABLE RANK_DEVICE_MAP(rankId, deviceId)",
                  "CREATE TABLE TASK_PMU_INFO(globalTaskId, name, value)",
                  ("STRING_IDS", [(1, "K"), (2, "A"), (3, "B"), (4, "aic_mac_time"), (5, "ub_read_bw")]),
                  ("TASK", [task(10, 20, 1, device=0), task(30, 40, 2, device=1), task(50, 60, 3, device=1),
                            task(70, 80, 4, device=0)]),
                  ("COMPUTE_TASK_INFO", [(1, 2), (2, 3), (4, 3)]), ("NPU_INFO", [(0, "Ascend910B"), (1, "UNKNOWN"), (7, "x")]),
                  ("RANK_DEVICE_MAP", [(3, 0), (3, 1)]),
                  ("TASK_PMU_INFO", [(1, 4, 12.5), (2, 4, 13.5), (2, 5, 3 << 30), (3, 4, 9)]))
    p = Profile(folder, *statements)
    equal(p.rows("SELECT device_id, name, aic_mac_time_ns, has_pmu FROM prof_kernel"),
          [(0, "A", 12, 1), (1, "B", 14, 1), (0, "B", None, 0)])
    equal(p.rows("SELECT device_id, chip, source_row FROM prof_device"), [(0, "Ascend910B", 1), (1, None, 2)])
    p = Profile(folder, *statements, options={"device": 1, "chip": "Ascend910B3"})
    equal(p.rows("SELECT id, device_id, name FROM prof_kernel"), [(1, 1, "B")])
    equal(p.rows("SELECT id, start_ns, kernel_id FROM prof_device_task"), [(1, 30, 1), (2, 50, None)])
    equal(p.rows("SELECT kernel_id, metric, value, source_row FROM prof_kernel_pmu"),
          [(1, "aic_mac_time", 13.5, 2), (1, "ub_read_bw", 3.0, 3)])
    equal(p.rows("SELECT device_id, chip FROM prof_device"), [(1, "Ascend910B3")])


@test
def ids_of_two_ranks(folder):
    """String 1 is MatMul in one rank and Add in the other."""
    root = tempfile.mkdtemp(dir=folder)
    for rank, strings, tasks in ((0, [(1, "MatMul"), (2, "Add")], [(0, 100000, 1, 1), (200000, 250000, 2, 2)]),
                                 (1, [(1, "Add"), (2, "MatMul")], [(0, 10000, 1, 1), (200000, 230000, 2, 2)])):
        out = os.path.join(root, f"host_{rank}_20260101000000000_ascend_pt", "ASCEND_PROFILER_OUTPUT")
        os.makedirs(out)
        Profile.write(os.path.join(out, f"ascend_pytorch_profiler_{rank}.db"),
                      (STRINGS, TASK, "CREATE TABLE COMPUTE_TASK_INFO(globalTaskId INTEGER PRIMARY KEY, name)",
                       ("STRING_IDS", strings), ("TASK", [task(a, b, i, kind) for a, b, i, kind in tasks]),
                       ("COMPUTE_TASK_INFO", [(1, 1), (2, 2)])))
    db = connect()
    db.execute("SELECT profana_open('x', ?)", (root,))
    equal(db.execute("SELECT name, sum(dur_ns) FROM prof_kernel GROUP BY 1 ORDER BY 1").fetchall(),
          [("Add", 60000), ("MatMul", 130000)])
    equal(db.execute("SELECT rank, count(DISTINCT id), count(*) FROM prof_kernel GROUP BY 1").fetchall(), [(0, 2, 2), (1, 2, 2)])
    equal(db.execute("SELECT count(*), count(DISTINCT t.id) FROM prof_device_task t JOIN prof_kernel k ON k.id = t.kernel_id "
                     "AND k.profile = t.profile WHERE k.name = t.name AND k.rank = t.rank").fetchall(), [(4, 4)])


@test
def analysis_database(folder):
    p = Profile(folder, STRINGS, TASK, ("TASK", [task(1, 2, 1)]), beside=(
        "analysis.db", "CREATE TABLE StepTraceTime(step TEXT, computing NUMERIC, communication_not_overlapped NUMERIC, "
        "free NUMERIC, communication_not_overlapped_and_exclude_receive NUMERIC)",
        "CREATE TABLE CommAnalyzerTime(hccl_op_name TEXT, group_name TEXT, elapse_time NUMERIC, wait_time NUMERIC, step TEXT, "
        "type TEXT)",
        "CREATE TABLE CommAnalyzerBandwidth(hccl_op_name TEXT, group_name TEXT, transport_type TEXT, transit_size NUMERIC, "
        "transit_time NUMERIC, bandwidth NUMERIC, package_size NUMERIC, step TEXT, type TEXT)",
        ("StepTraceTime", [("50", 14302.4705, 1, 0.1, None), (None, "2.5", None, -3, 7)]),
        ("CommAnalyzerTime", [("a", "11978775601474615865", 2.5, 1, "step50", "collective"), ("b", "1", 3, 0, "step", "p2p")]),
        ("CommAnalyzerBandwidth", [("a", "11978775601474615865", "HCCS", 8, 2, 4.0, 4, "step50", "collective"),
                                   ("a", "11978775601474615865", "HCCS", 8, 2, 4.0, 8, "step50", "collective"),
                                   ("a", "11978775601474615865", "SDMA", 8, 2, 4.0, 8, "step50", "collective")])))
    # Half of a nanosecond goes to the even neighbour.
    equal(p.rows("SELECT step, computing_ns, communication_not_overlapped_ns, free_ns, "
                 "communication_not_overlapped_exclude_receive_ns, stage_ns FROM prof_step_time"),
          [(50, 14302470, 1000, 100, None, None), (None, 2500, None, -3000, 7000, None)])
    equal(p.rows("SELECT step, type, op_name, group_name, transport, transit_size_mb, transit_time_ms, bandwidth_gb_per_s, "
                 "elapse_time_ms, wait_time_ms FROM prof_comm_bandwidth"),
          [(50, "collective", "a", "11978775601474615865", "HCCS", 8.0, 2.0, 4.0, 2.5, 1.0),
           (50, "collective", "a", "11978775601474615865", "SDMA", 8.0, 2.0, 4.0, 2.5, 1.0),
           (None, "p2p", "b", "1", None, None, None, None, 3.0, 0.0)])


@test
def api_statistics(folder):
    p = Profile(folder, STRINGS, "CREATE TABLE CANN_API(startNs, endNs, type, globalTid, connectionId INTEGER PRIMARY KEY, name)",
                "CREATE TABLE ENUM_API_TYPE(id INTEGER PRIMARY KEY, name TEXT)",
                ("ENUM_API_TYPE", [(5500, "hccl"), (10000, "node")]), ("STRING_IDS", [(1, "launch"), (2, "reduce")]),
                ("CANN_API", [(0, 1000, 10000, 1, 1, 1), (0, 2000, 5500, 1, 2, 2), (0, 2001, 10000, 1, 3, 1),
                              (0, 4, 10000, 1, 4, 1)]))
    # 3005 / 3 = 1001.67; the squared deviations of 1, 2.001 and 0.004 us, by their mean, over three.
    mean = 3.005 / 3
    variance = sum((x - mean) ** 2 for x in (1, 2.001, 0.004)) / 3
    rows = p.rows("SELECT level, name, count, total_ns, avg_ns, min_ns, max_ns FROM prof_api_stat")
    equal(rows, [("node", "launch", 3, 3005, 1002, 4, 2001), ("communication", "reduce", 1, 2000, 2000, 2000, 2000)])
    assert abs(p.rows("SELECT variance FROM prof_api_stat WHERE name = 'launch'")[0][0] - variance) < 1e-12


@test
def lanes_of_a_viewer(folder):
    """The lanes count if the profiler wrote them; a viewer leaves a table of the same name, without the enumeration."""
    lanes = ("CREATE TABLE OVERLAP_ANALYSIS(id INTEGER PRIMARY KEY, deviceId, startNs, endNs, type)",
             ("OVERLAP_ANALYSIS", [(1, 0, 0, 10, 0), (2, 0, 10, 20, 2), (3, 0, 20, 30, 3), (4, 0, 30, 40, 65535)]))
    p = Profile(folder, STRINGS, TASK, *lanes)
    equal(p.rows("SELECT count(*) FROM prof_overlap_bar"), [(0,)])
    for enum in ("ENUM_OVERLAY_ANALYSIS_TYPE", "ENUM_OVERLAP_ANALYSIS_TYPE"):
        p = Profile(folder, STRINGS, TASK, *lanes, f"CREATE TABLE {enum}(id INTEGER PRIMARY KEY, name TEXT)",
                    (enum, [(0, "COMPUTE"), (2, "COMM_NOT_OVERLAP_COMP")]))
        equal(p.rows("SELECT name, start_ns, dur_ns FROM prof_overlap_bar"),
              [("Computing", 0, 10), ("Communication(Not Overlapped)", 10, 10), ("Free", 20, 10)])


@test
def traps(folder):
    """A view in the place of a table is no table, and what it calls is never run."""
    p = Profile(folder, STRINGS, "CREATE TABLE CANN_API(startNs, endNs, connectionId INTEGER PRIMARY KEY)",
                "CREATE VIEW TASK AS SELECT load_extension('/nowhere') AS startNs, 2 AS endNs, 1 AS globalTaskId",
                "CREATE TABLE COMPUTE_TASK_INFO(globalTaskId INTEGER PRIMARY KEY, name)", ("COMPUTE_TASK_INFO", [(1, 1)]),
                ("CANN_API", [(1, 2, 3)]))
    for table in ("prof_device_task", "prof_kernel", "prof_launch"):
        equal(p.rows(f"SELECT count(*) FROM {table}"), [(0,)])
    equal(p.rows("SELECT count(*) FROM prof_host_op"), [(1,)])


@test
def odd_schemas(folder):
    """Columns in another order, columns and tables of other tools, tables without rowid, quoted names."""
    p = Profile(folder, 'CREATE TABLE STRING_IDS("value" TEXT, depth, id INTEGER PRIMARY KEY) WITHOUT ROWID',
                "CREATE TABLE task(waitNs, streamId, taskType, endNs, startNs, globalTaskId, \"od\"\"d\")",
                "CREATE TABLE \"connectionCats\"(a)", "CREATE INDEX TaskIndex ON task(startNs, globalTaskId)",
                "INSERT INTO STRING_IDS VALUES ('KERNEL_AICORE', 0, 1)",
                ("task", [(0, 2, 1, 20, 15, 9, 0), (0, 2, 1, 12, 10, 8, 0)]))
    # In order of rowid, whatever an index offers.
    equal(p.rows("SELECT start_ns, task_type, source_row FROM prof_device_task"), [(15, "KERNEL_AICORE", 1), (10, "KERNEL_AICORE", 2)])


@test
def locked(folder):
    """A database that another program writes gives an error that says so, soon."""
    path = os.path.join(tempfile.mkdtemp(dir=folder), "ascend_pytorch_profiler_0.db")
    Profile.write(path, (STRINGS, TASK))
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    begin = time.monotonic()
    try:
        connect().execute("SELECT profana_open('x', ?)", (path,))
        raise AssertionError("opened a locked database")
    except sqlite3.OperationalError as error:
        assert "locked" in str(error), error
    assert time.monotonic() - begin < 20
    writer.execute("ROLLBACK")
    connect().execute("SELECT profana_open('x', ?)", (path,))


@test
def write_ahead(folder):
    """A database with a write-ahead log: the log counts, and reading leaves no file behind."""
    path = os.path.join(tempfile.mkdtemp(dir=folder), "msmonitor_1_20260101000000000_0.db")
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute(STRINGS)
    writer.execute(TASK)
    writer.executemany("INSERT INTO TASK VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", [task(1, 2, 1), task(3, 4, 2)])
    writer.commit()
    db = connect()
    db.execute("SELECT profana_open('x', ?)", (path,))
    equal(db.execute("SELECT count(*) FROM prof_device_task").fetchall(), [(2,)])
    equal(db.execute("SELECT kind FROM prof_source").fetchall(), [("msmonitor",)])
    writer.close()
    before = sorted(os.listdir(os.path.dirname(path)))
    db = connect()
    db.execute("SELECT profana_open('x', ?)", (path,))
    equal(db.execute("SELECT count(*) FROM prof_device_task").fetchall(), [(2,)])
    equal(sorted(os.listdir(os.path.dirname(path))), before)
    writer = sqlite3.connect(path)  # again, and into the log alone
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.executemany("INSERT INTO TASK VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", [task(5, 6, 3)])
    writer.commit()
    equal(db.execute("SELECT count(*) FROM prof_device_task").fetchall(), [(3,)])
    writer.close()


@test
def main_database(folder):
    """The connection's own database is the profile main, also within a transaction."""
    path = os.path.join(tempfile.mkdtemp(dir=folder), "ascend_pytorch_profiler_4.db")
    Profile.write(path, (STRINGS, TASK, ("STRING_IDS", [(1, "EVENT_WAIT")]), ("TASK", [task(1, 2, 1)])))
    db = sqlite3.connect(path)
    db.enable_load_extension(True)
    db.load_extension(LIBRARY)
    equal(db.execute("SELECT profile, rank, task_type FROM prof_device_task").fetchall(), [("main", 4, "EVENT_WAIT")])
    db.execute("BEGIN")
    equal(db.execute("SELECT t.startNs, d.start_ns FROM TASK t JOIN prof_device_task d ON d.source_row = t.rowid").fetchall(),
          [(1, 1)])


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for function in TESTS:
            try:
                function(folder)
            except Exception as error:  # each test on its own
                failed += 1
                print(f"{function.__name__}: {type(error).__name__}: {error}")
    print(f"{len(TESTS) - failed} of {len(TESTS)} pass")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
