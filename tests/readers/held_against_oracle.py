"""Holds the model tables that the library makes of a profile against those of the oracle, value by value."""
import gzip
import json
import os
import re
import shutil
import sqlite3
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden")
ORACLE = os.path.join(HERE, "..", "oracle", "model_oracle.py")
SHOWN = 3


def unpacked(path, scratch):
    """A golden profile as its profiler left it: large traces are stored with gzip."""
    copy = os.path.join(scratch, os.path.relpath(path, GOLDEN))
    if os.path.isdir(copy):
        return copy
    shutil.copytree(path, copy)
    for folder, _, names in os.walk(copy):
        for name in names:
            file = os.path.join(folder, name)
            if name.endswith(".json.gz"):
                with gzip.open(file, "rb") as packed, open(file.removesuffix(".gz"), "wb") as plain:
                    shutil.copyfileobj(packed, plain)
                os.remove(file)
    return copy


def rank_folders(path):
    """The ranks' folders of one side of a golden case, or the trace that is all of it."""
    names = sorted(os.listdir(path))
    folders = [os.path.join(path, n) for n in names if n.endswith(("_ascend_pt", "_ascend_ms"))]
    return folders or [os.path.join(path, n) for n in names if n.endswith(".json")]


def load(library):
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(library)
    return db


def close(a, b):
    if isinstance(a, float) and isinstance(b, (int, float)):
        return abs(a - b) <= 1e-9 * max(1.0, abs(a))
    return a == b and type(a) is type(b)


# Which of a kernel's counters comes first in kernel_details.csv is nobody's business.
COUNTERS_IN_ANY_ORDER = {"prof_kernel_pmu": "kernel_id, metric"}


# Tables of rows that a trace's events are.
EVENTS = ("prof_device_task", "prof_host_op", "prof_launch", "prof_python_call", "prof_fwd_bwd", "prof_step", "prof_comm_op",
          "prof_comm_task", "prof_overlap_bar", "prof_mstx_range")
GPU_EVENTS = EVENTS + ("prof_kernel", "prof_memory_alloc", "prof_memory_usage")


def trace_of(path):
    """The trace at a path that profana_open takes; None: it has none, or slices of one."""
    if path.endswith((".json", ".json.gz")):
        return path
    found = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names
             if re.fullmatch(r"trace_view\.json|msprof_\d+\.json", name)]
    return found[0] if len(found) == 1 else None


def event_places(path):
    """{byte offset: number from 0} of the events of a trace: the library counts bytes, the oracle events."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        text = f.read().decode("latin-1")
    decode, blanks = json.JSONDecoder().raw_decode, re.compile(r"[\s,]*")
    top = blanks.match(text.removeprefix("\xef\xbb\xbf")).end() + 3 * text.startswith("\xef\xbb\xbf")
    at = top + 1 if text[top] == "[" else re.compile(r'"traceEvents"\s*:\s*\[').search(text).end()
    places = {}
    while text[at := blanks.match(text, at).end()] != "]":
        event, end = decode(text, at)
        if isinstance(event, dict):
            places[at] = len(places)
        at = end
    return places


def compare(library, path, scratch, options=None, excused=(), any_order=COUNTERS_IN_ANY_ORDER, events=()):
    """-> (tables, differences); excused: "table.column" or "table" that the two sides hold apart by design;
    any_order: table -> what its rows are sorted by where their ids may differ; events: tables whose rows are events of the trace."""
    oracle = os.path.join(scratch, "oracle.db")
    command = ["/usr/bin/python3", ORACLE, oracle, f"x={path}"]
    for name, value in (options or {}).items():
        command += ["--option", f"x.{name}={value}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    expected, db = sqlite3.connect(oracle), load(library)
    db.execute("SELECT profana_open('x', ?, ?)", (path, json.dumps(options or {})))
    differences, trace = [], trace_of(path) if events else None
    places = event_places(trace) if trace else {}
    tables = [row[0] for row in expected.execute("SELECT name FROM sqlite_master WHERE name LIKE 'prof\\_%' ESCAPE '\\' "
                                                 "AND name <> 'prof_source' AND type = 'table'")]
    for table in tables:
        if table in excused:
            continue
        columns = [row[1] for row in expected.execute(f"PRAGMA table_info({table})")]
        order = any_order.get(table, "id")
        if table in any_order:
            columns.remove("id")
        query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}"
        want, got = expected.execute(query).fetchall(), db.execute(query).fetchall()
        if len(want) != len(got):
            differences.append(f"{table}: {len(got)} rows, the oracle has {len(want)}")
            continue
        for place, column in enumerate(columns):
            if f"{table}.{column}" in excused:
                continue
            shown = places.get if column == "source_row" and table in events else (lambda value: value)
            wrong = [(w[0:3], w[place], g[place]) for w, g in zip(want, got) if not close(w[place], shown(g[place]))]
            if wrong:
                differences.append(f"{table}.{column}: {len(wrong)} of {len(want)} differ, first (row, oracle, ours): "
                                   f"{wrong[:SHOWN]}")
    expected.close()
    os.remove(oracle)
    return len(tables), differences
