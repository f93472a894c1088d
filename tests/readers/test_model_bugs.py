"""Public reports against other tools, as small captures: the model tables must not repeat them.

Each case tells what was reported; the numbers follow from the events in tests/data/bugs/NN by hand.
"""
import os
import shutil
import sqlite3
import tempfile

from checks import LIBRARY, check, finish
from held_against_oracle import load

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "bugs")


def opened(*parts):
    db = load(LIBRARY)
    db.execute("SELECT profana_open('x', ?)", (os.path.join(DATA, *parts),)).fetchall()
    return lambda sql: db.execute(sql).fetchall()


def times():
    q = opened("16", "trace_view.json")  # epoch us as text: exact to the ns, flow ids beyond 2^53 kept apart
    check("16 kernels", q("SELECT count(*), sum(dur_ns), max(end_ns) - min(start_ns) FROM prof_kernel"), [(5, 2400, 2440)])
    check("16 gaps", q("SELECT sum(g) FROM (SELECT start_ns - lag(end_ns) OVER (ORDER BY start_ns) AS g FROM prof_kernel)"), [(40,)])
    check("16 flows", q("SELECT l.connection_id, k.name FROM prof_launch AS l JOIN prof_kernel AS k ON k.id = l.kernel_id ORDER BY 1"),
          [(1778600000000000121, "MatMul_0"), (1778600000000000122, "MatMul_1")])
    ends = [opened("18", f"rank{r}.json")("SELECT start_ns, end_ns FROM prof_kernel")[0] for r in (0, 1)]
    check("18 base before and behind the events", [e for _, e in ends], [1704067200001050000] * 2)
    check("18 rank 0 waits", ends[1][0] - ends[0][0], 20000)
    q = opened("19", "trace.json")  # below a microsecond: no rounding of start and end
    check("19", q("SELECT count(*), sum(dur_ns), avg(dur_ns) FROM prof_kernel"), [(3, 900, 300.0)])
    q = opened("22", "trace.json")  # events of length 0 are rows
    check("22", q("SELECT count(*), sum(dur_ns = 0) FROM prof_device_task"), [(6, 4)])
    q = opened("24", "trace.json")  # rows that overlap on purpose; none is dropped
    check("24", q("SELECT count(*), sum(dur_ns) FROM prof_kernel"), [(2, 65000)])
    check("24 host", q("SELECT count(*), sum(dur_ns) FROM prof_host_op"), [(2, 150400)])
    q = opened("53", "trace.json")  # ts 0 and dur 0 among epoch times: unknown, but counted
    check("53", q("SELECT count(*), count(start_ns), count(dur_ns), sum(dur_ns), max(end_ns) - min(start_ns) FROM prof_kernel"),
          [(5, 3, 3, 60000, 130000)])
    check("53 flagged", q("SELECT sum(code = 'zero_time') FROM prof_diagnostic"), [(2,)])


def device_rows():
    q = opened("25", "trace.json")  # waiting is no work
    check("25 kernels", q("SELECT name, dur_ns, is_communication FROM prof_kernel"),
          [("gemm", 100000, 0), ("ncclDevKernel_AllReduce", 100000, 1)])
    check("25 sync rows", q("SELECT count(*), sum(stream_id = 7) FROM prof_device_task WHERE task_type = 'cuda_sync' AND kernel_id IS NULL"),
          [(3, 3)])
    q = opened("26", "trace.json")  # annotations mirrored to the device are no work, and its step is no host step
    check("26 kernels", q("SELECT sum(dur_ns) FROM prof_kernel"), [(100000,)])
    check("26 annotations", q("SELECT count(*) FROM prof_device_task WHERE task_type = 'gpu_user_annotation'"), [(2,)])
    check("26 steps", q("SELECT count(*) FROM prof_step"), [(0,)])
    q = opened("44", "trace.json")  # stream 7 as number, as text, in the tid; stream 0 is a stream
    check("44", q("SELECT stream_id, count(*), sum(dur_ns) FROM prof_kernel GROUP BY 1 ORDER BY 1"), [(0, 2, 9000), (7, 3, 60000)])
    q = opened("68", "ASCEND_PROFILER_OUTPUT")  # graph mode without kernel_details.csv
    check("68 kernels", q("SELECT count(*), sum(dur_ns), count(input_shapes), count(op_type) FROM prof_kernel"), [(2, 70000, 0, 0)])
    check("68 host", q("SELECT name FROM prof_host_op"), [("aten::mm",)])


def launches():
    q = opened("35", "trace.json")  # one graph launch, many kernels
    check("35 linked", q("SELECT count(*), count(DISTINCT runtime_op_id) FROM prof_launch WHERE kernel_id IS NOT NULL"), [(7, 3)])
    check("35 launch cost", q("SELECT sum(dur_ns) FROM prof_host_op WHERE id IN (SELECT runtime_op_id FROM prof_launch)"), [(29000,)])
    check("35 one node over replays", q("SELECT avg(dur_ns) FROM prof_kernel WHERE graph_id = 4 AND graph_node_id = 1"), [(11000.0,)])
    q = opened("37", "trace.json")  # a launch that outlasts its neighbour keeps its parent
    check("37 parent", q("SELECT p.name FROM prof_host_op AS c JOIN prof_host_op AS p ON p.id = c.thread_parent_id "
                         "WHERE c.name = 'hipLaunchKernel'"), [("aten::native_layer_norm_backward",)])
    q = opened("38", "trace.json")  # launches belong to the operator of their own thread
    check("38", q("SELECT p.name, k.dur_ns FROM prof_launch AS l JOIN prof_kernel AS k ON k.id = l.kernel_id "
                  "JOIN prof_host_op AS c ON c.id = l.runtime_op_id JOIN prof_host_op AS p ON p.id = c.thread_parent_id "
                  "ORDER BY k.id"), [("aten::mm", 30000), ("aten::add", 4000)])
    q = opened("42", "trace.json")  # (1, 23) and (12, 3) are two threads; so are ids equal in their low half
    check("42", q("SELECT name, thread_parent_id, dur_ns FROM prof_host_op"),
          [("a", None, 10000), ("b", None, 20000), ("c", None, 30000), ("d", None, 40000)])


def memory():
    q = opened("50", "trace.json")  # totals of the file, by kind of device and device
    check("50 totals", q("SELECT component, device_id, max(allocated_bytes) FROM prof_memory_usage GROUP BY 1, 2 ORDER BY 1, 2"),
          [("CPU", None, 64), ("CUDA", 0, 2048), ("CUDA", 1, 300)])
    # 1024 and 100 are freed, 200 stays; the free of 512 has no allocation here
    check("50 blocks", q("SELECT device_id, size_bytes, alloc_ns, release_ns FROM prof_memory_alloc ORDER BY id"),
          [(0, 1024, 3000, 6000), (1, 100, 2000, 7000), (1, 200, 4000, None)])


def csv_files():
    for name, block, shape, step, pmu in (("l0", None, None, None, 0), ("l1_old", 20, "16,16;16,16", 1, 1),
                                          ("l1_new", 20, "16,16;16,16", 1, 1), ("metrics_off", 20, None, 1, 0)):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(os.path.join(DATA, "48", name + ".csv"), os.path.join(folder, "kernel_details.csv"))
            db = load(LIBRARY)
            db.execute("SELECT profana_open('x', ?)", (folder,)).fetchall()
            check(f"48 {name}", db.execute("SELECT name, op_type, core_type, start_ns, dur_ns, end_ns, block_num, input_shapes, step, "
                                           "has_pmu FROM prof_kernel").fetchall(),
                  [("mm", "MatMulV3", "AI_CORE", 100000, 50000, 150000, block, shape, step, pmu)])
            check(f"48 {name} counters", db.execute("SELECT kernel_id, metric, value FROM prof_kernel_pmu").fetchall(),
                  [(1, "aic_mac_ratio", 0.9)] if pmu else [])
    q = opened("13", "kernel_details.csv")  # tabs behind numbers, three quotes around shapes
    check("13", q("SELECT start_ns, end_ns, input_shapes FROM prof_kernel"),
          [(1741234567890972912, 1741234567891156416, "4096,1024;1024,512"),
           (1741234567891200001, 1741234567891200021, "512;512")])
    for case, want in (("13", (None, "aten::mm", 197120, 1741234567890970100, 1741234567891300100, 330000)),
                       ("21", (0, "cann::Graph_7", 196608, 1698765432119902500, 1698765432119939200, 36700))):
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "ASCEND_PROFILER_OUTPUT")
            os.mkdir(output)
            shutil.copy(os.path.join(DATA, case, "operator_memory.csv"), output)
            db = load(LIBRARY)
            db.execute("SELECT profana_open('x', ?)", (folder,)).fetchall()
            check(f"{case} memory", db.execute("SELECT device_id, name, size_bytes, alloc_ns, release_ns, dur_ns FROM prof_memory_alloc")
                  .fetchall(), [want])


def folders():
    q = opened("67", "torch_trace")  # the first file by name is a warm-up of the same rank: the newer counts
    check("67 kernels", q("SELECT count(*), sum(dur_ns) FROM prof_kernel"), [(5, 1000000)])
    check("67 the other is named", q("SELECT source LIKE '%graph_capture_rank_0%', message LIKE '%, whose name has a time stamp;%' FROM prof_diagnostic WHERE code = 'rank_twice'"), [(1, 1)])


def database(folder, name, *place):
    """A database made of SQL text in tests/data/bugs."""
    path = os.path.join(folder, name)
    with open(os.path.join(DATA, *place), encoding="utf-8") as f, sqlite3.connect(path) as db:
        db.executescript(f.read())
    db.close()
    return path


def asked(path):
    db = load(LIBRARY)
    db.execute("SELECT profana_open('x', ?)", (path,)).fetchall()
    return lambda sql: db.execute(sql).fetchall()


def error_of(db, sql, *values):
    try:
        return db.execute(sql, values).fetchall()
    except sqlite3.Error as error:
        return str(error)


def databases():
    with tempfile.TemporaryDirectory() as folder:
        q = asked(database(folder, "ascend_pytorch_profiler_0.db", "21", "op_memory.sql"))
        check("21 database", q("SELECT name, size_bytes FROM prof_memory_alloc"), [("cann::Graph_7", 196608)])
    with tempfile.TemporaryDirectory() as folder:  # one card: no tables of collectives, none of columns that others have
        q = asked(database(folder, "ascend_pytorch_profiler.db", "51", "single_card.sql"))
        check("51 kernels", q("SELECT name, op_type, block_num, dur_ns, input_shapes FROM prof_kernel"),
              [("MatMul_1", "MatMulV2", 20, 5000, None)])
        check("51 collectives", q("SELECT count(*) FROM prof_comm_op") + q("SELECT count(*) FROM prof_comm_task"), [(0,), (0,)])
        check("51 says so", q("SELECT missing ->> 'prof_comm_op' FROM prof_source"), [("the database has no table COMMUNICATION_OP",)])
        other = database(folder, "nsys.db", "51", "nsys_like.sql")
        check("51 another tool's", "it has none of the tables of a profiler" in error_of(load(LIBRARY), "SELECT profana_open('x', ?)", other), True)
    with tempfile.TemporaryDirectory() as folder:  # JSON with and without backslashes, and a text with one that is no JSON
        q = asked(database(folder, "ascend_pytorch_profiler_0.db", "56", "mstx.sql"))
        check("56", q("SELECT message ->> 'streamId', message ->> 'count', message ->> 'groupName' FROM prof_mstx_range "
                      "WHERE json_valid(message)"), [("12", "1024", "g\\dp"), ("13", "1024", "g")])
        check("56 as it is", q("SELECT message FROM prof_mstx_range WHERE NOT json_valid(message)"), [('say \\"hi\\"',)])
    with tempfile.TemporaryDirectory() as folder:  # equal ids mean different things in two ranks
        for rank in (0, 1):
            database(folder, f"ascend_pytorch_profiler_{rank}.db", "66", f"rank{rank}.sql")
        q = asked(folder)
        check("66", q("SELECT name, sum(dur_ns), count(*) FROM prof_kernel GROUP BY name ORDER BY 1"), [("Add", 60000, 2), ("MatMul", 130000, 2)])
        check("66 ids", q("SELECT count(DISTINCT id), count(DISTINCT rank) FROM prof_kernel"), [(4, 2)])
    with tempfile.TemporaryDirectory() as folder:  # a database whose views call what reads files
        path = database(folder, "ascend_pytorch_profiler_0.db", "72", "trap.sql")
        shutil.copy(os.path.join(DATA, "13", "kernel_details.csv"), folder)
        db = load(LIBRARY)
        db.execute("SELECT profana_open('x', ?)", (path,))
        check("72 the view is no table", db.execute("SELECT count(*) FROM prof_device_task").fetchall(), [(0,)])
        check("72 nothing else is open", db.execute("SELECT alias FROM prof_source").fetchall(), [("x",)])
        db.execute("ATTACH ? AS trap", (path,))
        for view in ("TASK", "lines"):
            answer = error_of(db, f"SELECT * FROM trap.{view}")
            check(f"72 {view} asked for by name", "unsafe use" in str(answer) or answer, True)


for part in (times, device_rows, launches, memory, csv_files, folders, databases):
    part()
finish()
