"""docs/tables.md tells the truth: what it names as the source of a column fills it, and nothing else does.

Captures of each kind are opened; a column with a value in a capture of a kind must name that kind, and a column that names a
kind must have a value in one of its captures. LACKING lists what the captures do not hold: exactly that, so that no entry stays
longer than it is true.
"""
import json
import os
import sqlite3
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "docs"))
from generate import KINDS, is_profile_table, split_sources, table_columns  # noqa: E402

GOLDEN = "tests/golden"
CAPTURES = {
    "Text": [f"{GOLDEN}/text_text/base", f"{GOLDEN}/versions/base", f"{GOLDEN}/micro_class/base"],
    "Db": [f"{GOLDEN}/db_db/base", f"{GOLDEN}/db_db/comparison", f"{GOLDEN}/ms_db/base", f"{GOLDEN}/cluster/base"],
    "GPU": [f"{GOLDEN}/gpu_text/base", f"{GOLDEN}/micro_gpu/base", f"{GOLDEN}/micro_gpu/comparison", "tests/data/bugs/35/trace.json",
            "tests/data/bugs/50/trace.json"],
    "msprof": ["examples/tinymlp/01_cmdline", "examples/tinymlp/02_ascendc", "examples/tinymlp/03_pyacl"],
}
LACKING = {"Db": {"prof_kernel.mac_time_ns", "prof_mstx_range.connection_id"}}
ONE_WAY = {"msprof"}  # too few captures to show all that the kind can fill

# What the golden captures do not hold, in the form of each kind.
GPU_TRACE = {
    "distributedInfo": {"rank": 0, "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "ranks": [0, 1]}]},
    "deviceProperties": [], "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 1, "dur": 9,
         "args": {"Concrete Inputs": ["", "2"], "Call stack": "a.py(1): f", "External id": 3}},
        {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 2, "dur": 1,
         "args": {"device": 0, "stream": 7, "correlation": 5, "bytes": 64}},
        {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 9, "ts": 4, "dur": 1,
         "args": {"device": 0, "stream": 9, "correlation": 6, "Collective name": "allreduce", "Process Group Name": "0",
                  "Process Group Description": "default_pg"}}]}
UNSPLIT_KERNELS = ("Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Num,mac_time(us)\r\n"
                   "0,mm,MatMul,AI_CORE,100,50,0,32,40\r\n")
ASCEND_TRACE = [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python3"}},
    {"ph": "M", "name": "process_name", "pid": 2, "args": {"name": "Ascend Hardware"}},
    {"ph": "X", "name": "mark", "pid": 1, "tid": 1, "ts": "100.000", "dur": 5, "args": {"event_type": "start/end", "domain": "default"}},
    {"ph": "X", "name": "mark", "pid": 2, "tid": 3, "ts": "103.000", "dur": 5, "args": {"Physic Stream Id": 3, "Task Id": 8}},
    {"ph": "X", "name": "mm", "pid": 2, "tid": 3, "ts": "110.000", "dur": 5,
     "args": {"Task Type": "AI_CORE", "Physic Stream Id": 3, "Task Id": 9, "connection_id": 7}},
    {"ph": "s", "cat": "MsTx", "name": "MsTx_4", "id": "4", "pid": 1, "tid": 1, "ts": "100.000"},
    {"ph": "f", "bp": "e", "cat": "MsTx", "name": "MsTx_4", "id": "4", "pid": 2, "tid": 3, "ts": "103.000"}]


def write_captures(folder):
    """-> {kind: paths}"""
    def write(text, *place):
        path = os.path.join(folder, *place)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as f:
            f.write(text)
        return path
    write(UNSPLIT_KERNELS, "unsplit", "kernel_details.csv")
    return {"GPU": [write(json.dumps(GPU_TRACE), "x.pt.trace.json")],
            "Text": [os.path.join(folder, "unsplit"), write(json.dumps(ASCEND_TRACE), "trace_view.json")]}


def named_kinds(sources):
    """Kinds that fill a column; msprof and MindSpore are as Text unless they are named."""
    kinds = {kind for kind, where in sources if where != "NULL"}
    if "Text" in kinds:
        kinds |= {"msprof", "MindSpore"} - {kind for kind, where in sources if where == "NULL"}
    return kinds


def filled(library, paths, tables):
    """{(table, column)} that have a value in one of the captures."""
    out = set()
    for path in paths:
        db = sqlite3.connect(":memory:")
        db.enable_load_extension(True)
        db.load_extension(library)
        db.execute("SELECT profana_open('x', ?)", (os.path.join(ROOT, path),))
        for table, columns in tables.items():
            counts = db.execute(f"SELECT {', '.join(f'count({c})' for c in columns)} FROM {table}").fetchone()
            out |= {(table, c) for c, n in zip(columns, counts) if n}
    return out


def main():
    library = os.path.abspath(sys.argv[1])
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(library)
    rows = db.execute("SELECT name, kind, signature, doc FROM profana_help").fetchall()
    model = {name: (doc, table_columns(signature)) for name, kind, signature, doc in rows
             if is_profile_table(name, kind) and [c[0] for c in table_columns(signature)][:3] == ["profile", "rank", "id"]}
    problems = [] if len(model) == 20 else [f"{len(model)} model tables"]
    for name, (doc, columns) in model.items():
        if not split_sources(doc)[1]:
            problems.append(f"{name}: nothing says what its rows are")
        for column, kind, meaning, sources in columns:
            if kind not in ("INTEGER", "REAL", "TEXT") or not meaning:
                problems.append(f"{name}.{column}: type {kind!r}, meaning {meaning!r}")
            if column not in ("profile", "rank", "id") and (not sources or {k for k, _ in sources} - set(KINDS)):
                problems.append(f"{name}.{column}: comes from {sources}")
    tables = {name: [c[0] for c in columns[3:]] for name, (_, columns) in model.items()}
    named = {(name, c[0]): named_kinds(c[3]) for name, (_, columns) in model.items() for c in columns[3:]}
    with tempfile.TemporaryDirectory() as folder:
        more = write_captures(folder)
        have_by_kind = {kind: filled(library, paths + more.get(kind, []), tables) for kind, paths in CAPTURES.items()}
    for kind, have in have_by_kind.items():
        for place, kinds in named.items():
            lacking = ".".join(place) in LACKING.get(kind, ())
            if place in have and kind not in kinds:
                problems.append(f"{'.'.join(place)} has values in captures of kind {kind}, which it does not name")
            if place not in have and kind in kinds and not lacking and kind not in ONE_WAY:
                problems.append(f"{'.'.join(place)} has no value in captures of kind {kind}, which it names")
            if place in have and lacking:
                problems.append(f"{'.'.join(place)} has values in captures of kind {kind}: LACKING has it for nothing")
    print("\n".join(problems) or f"{len(named)} columns: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
