"""One bad file never loses the rest: what prof_source, prof_diagnostic and the other ranks say of it."""
import glob
import json
import os
import shutil
import sqlite3
import sys
import tempfile

from held_against_oracle import GOLDEN, load

LIBRARY = sys.argv[1]
JOB = os.path.join(GOLDEN, "cluster", "base")
KERNELS = 203  # of each rank of JOB: rows of COMPUTE_TASK_INFO
TEXT = os.path.join(os.path.dirname(GOLDEN), "data", "text_and_db")
FAILURES = []


def check(what, got, want):
    if got != want:
        FAILURES.append(f"{what}: got {got!r}, want {want!r}")


def refused(what, words, db, sql, *values):
    try:
        db.execute(sql, values).fetchall()
    except sqlite3.Error as error:
        missing = [w for w in words if w not in str(error)]
        if missing:
            FAILURES.append(f"{what}: the message lacks {missing}: {error}")
    else:
        FAILURES.append(f"{what}: no error")


def opened(path, options=None):
    db = load(LIBRARY)
    db.execute("SELECT profana_open('x', ?, ?)", (path, json.dumps(options) if options else None)).fetchall()
    return db


def job(tmp):
    """A copy of the job, and the results of its rank 0"""
    shutil.copytree(JOB, f"{tmp}/job")
    ranks = sorted(glob.glob(f"{tmp}/job/*_ascend_pt"))
    return f"{tmp}/job", [r for r in ranks if glob.glob(f"{r}/ASCEND_PROFILER_OUTPUT/*_0.db")][0] + "/ASCEND_PROFILER_OUTPUT"


def states(db):
    return db.execute("SELECT rank, kind, state, missing ->> 'prof_kernel' IS NOT NULL FROM prof_source ORDER BY rank").fetchall()


def kernels(db):
    return db.execute("SELECT rank, count(*) FROM prof_kernel GROUP BY rank").fetchall()


def fill(path, content):
    with open(path, "wb") as out:
        out.write(content)


def unreadable_database(tmp):
    for name, content in (("empty", b""), ("garbage", b"\x07" * 5000), ("cut schema", None)):
        path, output = job(f"{tmp}/{name}")
        database = f"{output}/ascend_pytorch_profiler_0.db"
        with open(database, "rb") as whole:
            head = whole.read(100)
        fill(database, head + b"\xff" * 60000 if content is None else content)
        db = opened(path)
        check(f"{name}: states", states(db), [(0, "db", "corrupt", 1), (1, "db", "complete", 0)])
        check(f"{name}: kernels", kernels(db), [(1, KERNELS)])
        check(f"{name}: diagnostic", db.execute("SELECT DISTINCT file FROM prof_diagnostic WHERE code = 'db_unreadable'").fetchall(), [(database,)])
        check(f"{name}: step times of the analysis beside it",
              db.execute("SELECT count(*) > 0 FROM prof_step_time WHERE rank = 0").fetchall(), [(1,)])
        strict = load(LIBRARY)
        strict.execute("SELECT profana_set('strict', 1)")
        refused(f"{name}: strict", ["ascend_pytorch_profiler_0.db"], strict, "SELECT profana_open('x', ?)", path)
        fill(f"{output}/analysis.db", b"")
        db = opened(path)
        check(f"{name}: nothing of rank 0 can be read", states(db), [(0, "db", "corrupt", 1), (1, "db", "complete", 0)])
        refused(f"{name}: alone", ["nothing that can be read", "ascend_pytorch_profiler_0.db"], load(LIBRARY),
                "SELECT profana_open('x', ?)", os.path.dirname(output))


def unreadable_analysis(tmp):
    _, output = job(tmp)
    fill(f"{output}/analysis.db", b"")
    db = opened(os.path.dirname(output))
    check("analysis: kernels", kernels(db), [(0, KERNELS)])
    check("analysis: source", db.execute("SELECT state, missing ->> 'prof_step_time' LIKE '%analysis.db%' FROM prof_source").fetchall(),
          [("corrupt", 1)])
    check("analysis: diagnostic", db.execute("SELECT file FROM prof_diagnostic WHERE code = 'db_unreadable'").fetchall(),
          [(f"{output}/analysis.db",)])


def rank_without_results(tmp):
    path, output = job(tmp)
    shutil.rmtree(output)
    db = opened(path)
    check("no results", states(db), [(1, "db", "complete", 0)])
    check("no results: diagnostic", db.execute("SELECT file FROM prof_diagnostic WHERE code = 'rank_not_analysed'").fetchall(),
          [(os.path.dirname(output),)])


def text_beside(tmp):
    rank = shutil.copytree(glob.glob(f"{TEXT}/made_1*")[0], f"{tmp}/r_ascend_pt")
    database = glob.glob(f"{rank}/ASCEND_PROFILER_OUTPUT/ascend_*.db")[0]
    fill(database, b"")
    db = opened(rank)
    check("text beside: kind", db.execute("SELECT kind FROM prof_source").fetchall(), [("text",)])
    check("text beside: diagnostic", db.execute("SELECT file FROM prof_diagnostic WHERE code = 'db_unreadable'").fetchall(), [(database,)])


for part in (unreadable_database, unreadable_analysis, rank_without_results, text_beside):
    with tempfile.TemporaryDirectory() as scratch:
        part(os.path.realpath(scratch))
print("\n".join(FAILURES) or "ok")
sys.exit(1 if FAILURES else 0)
