"""Times, lengths and sizes that no capture can have: NULL and told, and every view still gives its rows. An end of 0 or of all ones
is what profilers leave of work that they did not see end."""
import csv
import glob
import json
import os
import shutil
import sqlite3

from checks import LIBRARY, check, run
from held_against_oracle import GOLDEN, load, unpacked

ROWS = 12


def opened(base, comparison):
    db = load(LIBRARY)
    db.execute("SELECT profana_open('base', ?), profana_open('comparison', ?)", (base, comparison)).fetchall()
    return db


def all_views(db, what):
    views = "SELECT name FROM sqlite_temp_schema WHERE type = 'view' AND name NOT GLOB '_*'"
    for (view,) in db.execute(views).fetchall():
        try:
            db.execute(f"SELECT * FROM {view}").fetchall()
        except sqlite3.Error as error:
            check(f"{what}: {view}", str(error), "no error")


def told(db, what):
    check(f"{what} is told", db.execute("SELECT count(*) > 0 FROM prof_diagnostic WHERE code = 'implausible_value'").fetchall(), [(1,)])


def database(scratch):
    comparison = os.path.join(GOLDEN, "db_db/comparison")
    times, size = (0, 2**63 - 1, -9 * 10**18), (4 * 10**18,)
    for table, column, model, values in (
            ("TASK", "endNs", "prof_device_task", times), ("TASK", "startNs", "prof_device_task", times),
            ("PYTORCH_API", "endNs", "prof_host_op", times), ("COMMUNICATION_OP", "endNs", "prof_comm_op", times),
            ("COMMUNICATION_OP", "startNs", "prof_comm_op", times), ("OP_MEMORY", "releaseTime", "prof_memory_alloc", times[2:]),
            ("OP_MEMORY", "size", "prof_memory_alloc", times[1:]), ("COMMUNICATION_TASK_INFO", "size", "prof_comm_task", size),
            ("MEMCPY_INFO", "size", "prof_device_task", size)):
        for far in values:
            what = f"{table}.{column} = {far}"
            base = os.path.join(scratch, f"{table}{column}{far}")
            shutil.copytree(os.path.join(GOLDEN, "db_db/base"), base)
            file = sqlite3.connect(glob.glob(f"{base}/*/*/ascend_pytorch_profiler_0.db")[0])
            file.execute(f"UPDATE {table} SET {column} = ? WHERE rowid IN (SELECT rowid FROM {table} ORDER BY rowid LIMIT {ROWS})", (far,))
            file.commit()
            db = opened(base, comparison)
            if column != "size":
                start, end = ("startNs", "endNs") if column != "releaseTime" else ("allocationTime", "releaseTime")
                want = file.execute(f"SELECT total({end} - {start}), count(*) FROM (SELECT * FROM {table} ORDER BY rowid LIMIT -1 OFFSET {ROWS})").fetchall()
                if model != "prof_host_op":  # which has other rows, too
                    check(what, db.execute(f"SELECT total(dur_ns), count(dur_ns) FROM {model} WHERE profile = 'base'").fetchall(), want)
            else:
                db.execute(f"SELECT count(size_bytes) FROM {model}").fetchall()
            all_views(db, what)
            told(db, what)


def text(scratch):
    base, comparison = (unpacked(os.path.join(GOLDEN, "text_text", side), scratch) for side in ("base", "comparison"))
    (trace,), (kernels,) = glob.glob(f"{base}/*/*/trace_view.json"), glob.glob(f"{base}/*/*/kernel_details.csv")
    with open(kernels, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    duration = rows[0].index("Duration(us)")
    for row in rows[1:ROWS]:
        row[duration] = "9000000000000000.5"
    with open(kernels, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    with open(trace, encoding="utf-8") as file:
        events = json.load(file)
    for sign, event in enumerate([e for e in events if e.get("ph") == "X"][::9]):
        event["dur"] = 9e15 * (-1) ** sign
    for event in events:
        if "size(Byte)" in (event.get("args") or {}):
            event["args"]["size(Byte)"] = 4 * 10**18
    with open(trace, "w", encoding="utf-8") as file:
        json.dump(events, file)
    db = opened(base, comparison)
    check("kernels without a length", db.execute("SELECT count(*) FROM prof_kernel WHERE profile = 'base' AND dur_ns IS NULL AND end_ns IS NULL").fetchall(), [(ROWS - 1,)])
    all_views(db, "text")
    told(db, "text")


if __name__ == "__main__":
    run(database, text)
