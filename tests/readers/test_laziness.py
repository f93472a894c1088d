"""When files are read, and when what was read is let go: tables on demand, aliases opened anew, closing, interrupts."""
import json
import os
import re
import sqlite3
import threading
import time

from checks import FAILURES, LIBRARY, check, run
from held_against_oracle import GOLDEN, load

KERNELS = "Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"


def held(db):
    """Bytes that loaded tables hold."""
    return int(re.search(r"tables: (\d+) bytes", db.execute("SELECT profana_debug()").fetchone()[0]).group(1))


def capture(folder, name, kernels, trace="no trace at all"):
    output = os.path.join(folder, name, "ASCEND_PROFILER_OUTPUT")
    os.makedirs(output)
    with open(os.path.join(output, "kernel_details.csv"), "w", encoding="utf-8") as f:
        f.write(KERNELS + "".join(f"k{i},MatMul,AI_CORE,{i}.000\t,1.000\n" for i in range(kernels)))
    with open(os.path.join(output, "trace_view.json"), "w", encoding="utf-8") as f:
        f.write(trace)
    return os.path.join(folder, name)


def tables_on_demand(folder):
    """A trace that cannot be read disturbs nobody who asks for kernels alone."""
    path, db = capture(folder, "a_ascend_pt", 1000), load(LIBRARY)
    db.execute("SELECT profana_open('x', ?)", (path,))
    check("opening holds nothing", held(db), 0)
    check("kernels", db.execute("SELECT count(*), sum(dur_ns) FROM prof_kernel").fetchall(), [(1000, 1000000)])
    after = held(db)
    check("one column is held", 1000 * 8 <= after < 4 * 1000 * 8 + 65536, True)
    db.execute("SELECT sum(dur_ns) FROM prof_kernel").fetchall()
    check("asked again, nothing more is held", held(db), after)
    db.execute("SELECT max(name) FROM prof_kernel").fetchall()
    check("another column is held too", held(db) > after, True)
    check("nothing of the trace", db.execute("SELECT count(*) FROM prof_host_op").fetchall(), [(0,)])
    found = db.execute("SELECT file FROM prof_diagnostic WHERE code = 'file_unusable'").fetchall()
    check("the diagnostic names the file", [os.path.basename(file) for (file,) in found], ["trace_view.json"])
    db.close()


def letting_go(folder):
    paths, db = [capture(folder, f"{n}_ascend_pt", n) for n in (2000, 10)], load(LIBRARY)
    query = "SELECT count(*), max(name), max(end_ns) FROM prof_kernel"
    for path in paths:
        db.execute("SELECT profana_open('x', ?)", (path,))
        db.execute(query).fetchall()
    check("an alias opened again names the new profile", db.execute("SELECT count(*) FROM prof_kernel").fetchall(), [(10,)])
    check("and the old one is let go", held(db) < 60000, True)
    db.execute("SELECT profana_open('y', ?)", (paths[0],))
    db.execute(query).fetchall()
    check("two profiles are held", held(db) > 60000, True)
    db.execute("SELECT profana_close('y')").fetchall()
    check("closing lets go", held(db) < 60000, True)
    db.execute("SELECT profana_close('x')").fetchall()
    check("all is let go", held(db), 0)
    db.execute("SELECT profana_open('x', ?)", (os.path.join(GOLDEN, "db_db", "base"),))
    db.execute("SELECT count(name), max(start_ns) FROM prof_kernel").fetchall()
    check("a database's tables are held", held(db) > 0, True)
    db.close()
    other = load(LIBRARY)
    check("a connection that is closed lets go", held(other), 0)


def interrupting(folder):
    """A load stops soon, and the same query then reads anew."""
    events = 250000
    trace = "[" + ",".join(f'{{"ph":"X","cat":"cpu_op","name":"aten::op_{i % 50}","pid":1,"tid":1,"ts":"{i}.000","dur":0.5,"args":{{}}}}'
                           for i in range(events)) + "]"
    db = sqlite3.connect(":memory:", check_same_thread=False)
    db.enable_load_extension(True)
    db.load_extension(LIBRARY)
    db.execute("SELECT profana_open('x', ?)", (capture(folder, "long_ascend_pt", 1, trace),))
    done, at = threading.Event(), []

    def stop():
        while not done.is_set():
            at.append(time.monotonic())
            db.interrupt()
            time.sleep(0.02)

    thread = threading.Timer(0.02, stop)
    thread.start()
    try:
        db.execute("SELECT sum(dur_ns) FROM prof_host_op").fetchall()
        FAILURES.append("the load was over before it could be interrupted: make it longer")
    except sqlite3.OperationalError as error:
        check("interrupted", str(error), "interrupted")
        check("soon after it was asked", time.monotonic() - at[0] < 5, True)
    done.set()
    thread.join()
    check("nothing of a load that stopped is held", held(db) < 2000, True)
    check("the next query reads anew", db.execute("SELECT count(*), sum(dur_ns) FROM prof_host_op").fetchall(), [(events, events * 500)])
    db.close()


def step_errors(_):
    """A step that is not there is said as soon as anything is asked, with those there are."""
    db = load(LIBRARY)
    side = os.path.join(GOLDEN, "db_db", "base")
    db.execute("SELECT profana_open('x', ?, ?)", (side, json.dumps({"step": 99})))
    steps = load(LIBRARY)
    steps.execute("SELECT profana_open('x', ?)", (side,))
    known = steps.execute("SELECT steps FROM prof_source").fetchone()[0]
    try:
        db.execute("SELECT count(*) FROM prof_comm_op").fetchall()
        FAILURES.append("step 99: no error")
    except sqlite3.Error as error:
        check("no step 99", "no step 99" in str(error) and f"its steps are {known}" in str(error), True)


def files_that_come(folder):
    """A file that was away for a query, or comes later, is read; what SQLite makes beside a database changes nothing."""
    trace = '[{"ph":"X","name":"e","cat":"async_npu","pid":1,"tid":1,"ts":"1.000","dur":1}]'
    path, db = capture(folder, "c_ascend_pt", 7, trace), load(LIBRARY)
    kernels = os.path.join(path, "ASCEND_PROFILER_OUTPUT", "kernel_details.csv")
    db.execute("SELECT profana_open('x', ?)", (path,))
    count = "SELECT count(*) FROM prof_kernel"
    check("at first", db.execute(count).fetchone(), (7,))
    os.rename(kernels, kernels + ".away")
    check("away", (db.execute(count).fetchone(), db.execute("SELECT missing ->> 'prof_kernel_pmu' FROM prof_source").fetchone()), ((0,), ("no kernel_details.csv",)))
    os.rename(kernels + ".away", kernels)
    check("back", db.execute(count).fetchone(), (7,))
    memory = os.path.join(path, "ASCEND_PROFILER_OUTPUT", "operator_memory.csv")
    check("not yet there", db.execute("SELECT count(*) FROM prof_memory_alloc").fetchone(), (0,))
    with open(memory, "w", encoding="utf-8") as f:
        f.write("Name,Size(KB),Allocation Time(us),Release Time(us)\na,1,1.000,2.000\n")
    check("it came later", db.execute("SELECT count(*) FROM prof_memory_alloc").fetchone(), (1,))
    os.rename(os.path.dirname(kernels), os.path.join(folder, "away"))
    try:
        db.execute(count).fetchall()
        FAILURES.append("the folder of results is away: no error")
    except sqlite3.Error:
        pass
    os.rename(os.path.join(folder, "away"), os.path.dirname(kernels))
    check("the folder is back", db.execute(count).fetchone(), (7,))


def device_errors(folder):
    """A query that fails for its device tells nothing, however often it is asked."""
    db = load(LIBRARY)
    db.execute("SELECT profana_open('x', ?, '{\"device\":77}')", (os.path.join(GOLDEN, "db_db", "base"),))
    told = []
    for _ in range(3):
        try:
            db.execute("SELECT count(*) FROM prof_host_op").fetchall()
            FAILURES.append("device 77: no error")
        except sqlite3.Error as error:
            check("no device 77", "no device 77" in str(error), True)
        told.append(db.execute("SELECT count(*), sum(count) FROM prof_diagnostic").fetchone())
    check("told once", told[1:], told[:1] * 2)


run(tables_on_demand, letting_go, interrupting, step_errors, files_that_come, device_errors)
