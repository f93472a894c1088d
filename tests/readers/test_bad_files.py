"""One bad file never loses the rest: what prof_source, prof_diagnostic and the other ranks say of it."""
import glob
import json
import os
import shutil
import sqlite3

from checks import LIBRARY, check, opened, refused, run, write
from held_against_oracle import GOLDEN, load

JOB = os.path.join(GOLDEN, "cluster", "base")
KERNELS = 203  # of each rank of JOB: rows of COMPUTE_TASK_INFO
TEXT = os.path.join(os.path.dirname(GOLDEN), "data", "text_and_db")
P = os.path.join(os.path.dirname(GOLDEN), "..", "examples", "tinymlp", "04_pytorch")


def job(tmp):
    """A copy of the job, and the results of its rank 0"""
    shutil.copytree(JOB, f"{tmp}/job")
    ranks = sorted(glob.glob(f"{tmp}/job/*_ascend_pt"))
    return f"{tmp}/job", [r for r in ranks if glob.glob(f"{r}/ASCEND_PROFILER_OUTPUT/*_0.db")][0] + "/ASCEND_PROFILER_OUTPUT"


def states(db):
    return db.execute("SELECT rank, kind, state, missing ->> 'prof_kernel' IS NOT NULL FROM prof_source ORDER BY rank").fetchall()


def kernels(db):
    return db.execute("SELECT rank, count(*) FROM prof_kernel GROUP BY rank").fetchall()


def unreadable_database(tmp):
    for name, content in (("empty", b""), ("garbage", b"\x07" * 5000), ("cut schema", None)):
        path, output = job(f"{tmp}/{name}")
        database = f"{output}/ascend_pytorch_profiler_0.db"
        with open(database, "rb") as whole:
            head = whole.read(100)
        write(database, head + b"\xff" * 60000 if content is None else content)
        db = opened(path)
        check(f"{name}: states", states(db), [(0, "db", "corrupt", 1), (1, "db", "complete", 0)])
        check(f"{name}: kernels", kernels(db), [(1, KERNELS)])
        check(f"{name}: diagnostic", db.execute("SELECT DISTINCT file FROM prof_diagnostic WHERE code = 'db_unreadable'").fetchall(), [(database,)])
        check(f"{name}: step times of the analysis beside it",
              db.execute("SELECT count(*) > 0 FROM prof_step_time WHERE rank = 0").fetchall(), [(1,)])
        strict = load(LIBRARY)
        strict.execute("SELECT profana_set('strict', 1)")
        refused(f"{name}: strict", ["ascend_pytorch_profiler_0.db"], "SELECT profana_open('x', ?)", path, db=strict)
        write(f"{output}/analysis.db", b"")
        db = opened(path)
        check(f"{name}: nothing of rank 0 can be read", states(db), [(0, "db", "corrupt", 1), (1, "db", "complete", 0)])
        refused(f"{name}: alone", ["nothing that can be read", "ascend_pytorch_profiler_0.db"],
                "SELECT profana_open('x', ?)", os.path.dirname(output))


def unreadable_analysis(tmp):
    _, output = job(tmp)
    write(f"{output}/analysis.db", b"")
    db = opened(os.path.dirname(output))
    check("analysis: kernels", kernels(db), [(0, KERNELS)])
    check("analysis: source", db.execute("SELECT state, missing ->> 'prof_step_time' LIKE '%analysis.db%' FROM prof_source").fetchall(),
          [("corrupt", 1)])
    database = f"{output}/ascend_pytorch_profiler_0.db"
    os.rename(database, f"{tmp}/kept")
    os.mkfifo(database)
    job_db = opened(f"{tmp}/job")
    check("a pipe", kernels(job_db), [(1, KERNELS)])
    os.remove(database)
    os.rename(f"{tmp}/kept", database)
    check("a database in the place of the pipe", kernels(job_db), [(0, KERNELS), (1, KERNELS)])
    check("analysis: diagnostic", db.execute("SELECT file FROM prof_diagnostic WHERE code = 'db_unreadable'").fetchall(),
          [(f"{output}/analysis.db",)])


def rank_without_results(tmp):
    path, output = job(tmp)
    shutil.rmtree(output)
    db = opened(path)
    check("no results", states(db), [(1, "db", "complete", 0)])
    check("no results: diagnostic", db.execute("SELECT file FROM prof_diagnostic WHERE code = 'rank_not_analysed'").fetchall(),
          [(os.path.dirname(output),)])


def text_rank(tmp):
    """A rank's folder without databases, and its results"""
    rank = shutil.copytree(glob.glob(f"{TEXT}/made_1*")[0], f"{tmp}/r_ascend_pt")
    for database in glob.glob(f"{rank}/**/*.db", recursive=True):
        os.remove(database)
    return rank, f"{rank}/ASCEND_PROFILER_OUTPUT"


def text_beside(tmp):
    rank = shutil.copytree(glob.glob(f"{TEXT}/made_1*")[0], f"{tmp}/r_ascend_pt")
    database = glob.glob(f"{rank}/ASCEND_PROFILER_OUTPUT/ascend_*.db")[0]
    write(database, b"")
    db = opened(rank)
    check("text beside: kind", db.execute("SELECT kind FROM prof_source").fetchall(), [("text",)])
    check("text beside: diagnostic", db.execute("SELECT file FROM prof_diagnostic WHERE code = 'db_unreadable'").fetchall(), [(database,)])


OF_TRACE = ("comm_op", "comm_task", "device_task", "fwd_bwd", "host_op", "launch", "mstx_range", "overlap_bar", "python_call", "step")


def missing(db):
    return json.loads(db.execute("SELECT missing FROM prof_source").fetchone()[0] or "{}")


def unreadable_trace(tmp):
    """Whether it shows at the begin or when it is read: `missing` says why of every table that the trace would have filled."""
    rank, output = text_rank(tmp)
    trace = f"{output}/trace_view.json"
    mindspore = shutil.copytree(rank, f"{tmp}/r_ascend_ms")
    want = missing(opened(rank))
    for path in (rank, mindspore):
        bad = f"{path}/ASCEND_PROFILER_OUTPUT/trace_view.json"
        for content, why in ((b"", "the file is empty"), (b"\x07garbage" * 99, "no trace: the file begins neither"), (b"{}", "no events: the object has no list under the key traceEvents")):
            write(bad, content)
            db = opened(path)
            check("trace: missing", missing(db), want | {f"prof_{table}": missing(db)["prof_step"] for table in OF_TRACE})
            check("trace: why", missing(db)["prof_step"].startswith(f"{bad}: {why}"), True)
            check("trace: no row", [t for t in OF_TRACE if db.execute(f"SELECT count(*) FROM prof_{t}").fetchone()[0]], [])
            check("trace: kernels of the CSV file", db.execute("SELECT count(*) > 0 FROM prof_kernel").fetchall(), [(1,)])
            check("trace: diagnostic", db.execute("SELECT file FROM prof_diagnostic WHERE code = 'file_unusable'").fetchall(), [(bad,)])
            check("trace: state", db.execute("SELECT state FROM prof_source").fetchall(), [("corrupt",)])
            strict = load(LIBRARY)
            strict.execute("SELECT profana_set('strict', 1)")
            refused("trace: strict", ["trace_view.json"], "SELECT profana_open('x', ?)", path, db=strict)
    for content, state in ((b"[\x07garbage", "corrupt"), (b"[", "truncated"), (b'[{"ph":"X","ts":', "truncated")):
        write(trace, content)
        db = opened(rank)
        db.execute("SELECT count(*) FROM prof_host_op").fetchall()
        check("trace that breaks off: missing", missing(db), want | {f"prof_{table}": f"{trace}: no event in it can be read" for table in OF_TRACE})
        check("trace that breaks off: state", db.execute("SELECT state FROM prof_source").fetchall(), [(state,)])
    os.remove(f"{output}/kernel_details.csv")
    db = opened(rank)
    db.execute("SELECT count(*) FROM prof_kernel").fetchall()
    check("kernels of a trace that breaks off", missing(db)["prof_kernel"], f"no kernel_details.csv and {trace}: no event in it can be read")
    write(trace, b'[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}, \x07garbage')
    db = opened(rank)
    db.execute("SELECT count(*) FROM prof_host_op").fetchall()
    check("trace with an event", [t for t in OF_TRACE if missing(db).get(f"prof_{t}", "").startswith(trace)], [])
    check("trace without host operators", missing(db)["prof_host_op"], "what was read has no row for it")
    write(trace, b"[]")
    db = opened(rank)
    db.execute("SELECT count(*) FROM prof_host_op").fetchall()
    check("trace without events", (missing(db).get("prof_step"), db.execute("SELECT state FROM prof_source").fetchall()), (None, [("complete",)]))
    for name, table in (("communication.json", "prof_comm_bandwidth"), ("profiler_metadata.json", "prof_process_group")):
        path = f"{output}/{name}" if name == "communication.json" else f"{rank}/{name}"
        for content in (b"", b" \n", b"\x07garbage"):
            write(path, content)
            db = opened(rank)
            check(f"{name}: missing", missing(db)[table].startswith(f"{path}: "), True)
            check(f"{name}: told", db.execute("SELECT count(*) FROM prof_diagnostic WHERE file = ?", (path,)).fetchall(), [(1,)])


def unreadable_gpu_trace(tmp):
    trace = write(f"{tmp}/w.pt.trace.json", b'{"schemaVersion":1,"traceEvents":[')
    db = opened(trace)
    before = missing(db)
    db.execute("SELECT count(*) FROM prof_kernel").fetchall()
    tables = {t for (t,) in db.execute("SELECT name FROM pragma_module_list WHERE name LIKE 'prof\\_%' ESCAPE '\\'")} - {"prof_source", "prof_diagnostic", "prof_setting"}
    check("GPU: never there", sorted(before), [f"prof_{t}" for t in ("api_stat", "comm_bandwidth", "comm_task", "kernel_pmu", "mstx_range", "op_stat", "overlap_bar", "step_time")])
    check("GPU: missing", missing(db), {t: f"{trace}: no event in it can be read" for t in tables} | before)
    check("GPU: state", db.execute("SELECT state FROM prof_source").fetchall(), [("truncated",)])


def unusable_files(tmp):
    """One that is there by its name but is no such file: another fills its tables, or `missing` has the reason."""
    ways = {"empty": (lambda path: write(path, b""), "is empty"),
            "other heads": (lambda path: write(path, b"a,b\n1,2\n"), "no head 'Name'"),
            "UTF-16": (lambda path: write(path, "Name,Duration(us)\n".encode("utf-16")), "UTF-16"),
            "pipe": (os.mkfifo, "is a pipe"),
            "folder": (os.mkdir, "is a folder"),
            "link to nothing": (lambda path: os.symlink(f"{tmp}/nowhere", path), "symbolic link to a file that is not there")}
    rank, output = text_rank(tmp)
    for name, table in (("kernel_details.csv", "prof_kernel_pmu"), ("operator_memory.csv", "prof_memory_alloc")):
        path, kept = f"{output}/{name}", f"{tmp}/{name}"
        db = opened(rank)
        there = db.execute(f"SELECT count(*) > 0, (SELECT count(*) FROM prof_kernel) FROM {table}").fetchall()[0]
        os.rename(path, kept)
        of_trace = opened(rank).execute("SELECT count(*) FROM prof_kernel").fetchone()[0]
        for way, (make, why) in ways.items():
            what = f"{name}, {way}"
            make(path)
            db = opened(rank)
            check(f"{what}: table", db.execute(f"SELECT count(*) FROM {table}").fetchall(), [(0,)])
            check(f"{what}: kernels", db.execute("SELECT count(*) FROM prof_kernel").fetchall(), [(of_trace,)])
            check(f"{what}: source", db.execute("SELECT state, instr(missing ->> ?, ?) > 0, missing ->> 'prof_kernel' FROM prof_source", (table, why)).fetchall(),
                  [("corrupt", 1, None)])
            check(f"{what}: diagnostic", db.execute("SELECT file, instr(message, ?) > 0 FROM prof_diagnostic WHERE code = 'file_unusable'", (why,)).fetchall(), [(path, 1)])
            if way == "folder":
                os.rmdir(path)
            else:
                os.remove(path)
        make(path)
        db = opened(rank)
        os.remove(path)
        os.rename(kept, path)
        check(f"{name} is there again", db.execute(f"SELECT count(*) > 0, (SELECT count(*) FROM prof_kernel) FROM {table}").fetchall(), [there])
        check(f"{name} is there again: nothing to tell", db.execute("SELECT count(*) FROM prof_diagnostic WHERE code = 'file_unusable'").fetchall(), [(0,)])
    check("kernels of the trace are others than those of the file", of_trace == there[1], True)
    for left in os.listdir(output):
        if not left.startswith("kernel"):
            os.remove(f"{output}/{left}")
    write(f"{output}/kernel_details.csv", b"")
    refused("nothing left", ["nothing that can be read", "kernel_details.csv: is empty"], "SELECT profana_open('x', ?)", rank)
    refused("named alone", ["nothing that can be read", "kernel_details.csv: is empty"], "SELECT profana_open('x', ?)", f"{output}/kernel_details.csv")
    other = write(f"{tmp}/h_7_2_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv", b"Name,Duration(us)\nA,1\n")
    write(f"{os.path.dirname(os.path.dirname(other))}/profiler_info_7.json", b"{}")
    db = opened(tmp)
    check("among others", db.execute("SELECT rank, state, missing ->> 'prof_kernel' LIKE '%is empty%' FROM prof_source ORDER BY rank").fetchall(),
          [(0, "corrupt", 1), (7, "complete", None)])
    check("the others", kernels(db), [(7, 1)])


def unusable_slices(tmp):
    """Of the slices that op_summary and trace_event find in a folder one cannot be read: the others are, also of a link to nothing."""
    ways = {"pipe": (os.mkfifo, "is a pipe"), "folder": (os.mkdir, "is a folder"),
            "link to nothing": (lambda path: os.symlink("nowhere", path), "symbolic link to a file that is not there"),
            "link to itself": (lambda path: os.symlink(os.path.basename(path), path), "too many symbolic links")}
    for way, (make, why) in ways.items():
        folder = f"{tmp}/{way}"
        summary, trace = (f"{folder}/mindstudio_profiler_output/{name}" for name in
                          ("op_summary_slice_{}_20260402160400.csv", "msprof_slice_{}_20260402160400.json"))
        for part in (0, 2):
            write(summary.format(part), f"Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\nk{part},T,AI_CORE,{part}.5,1\n".encode())
            write(trace.format(part), json.dumps([{"name": f"e{part}", "ph": "X", "ts": f"{part}.5", "dur": 1, "pid": 1, "tid": 1, "args": {"part": part}}]).encode())
        questions = (("SELECT name, start_ns FROM op_summary(?)", [("k0", 500), ("k2", 2500)], summary.format(1), "file_unusable"),
                     ("SELECT name, ts_ns, args ->> 'part' FROM trace_event(?)", [("e0", 500, 0), ("e2", 2500, 2)], trace.format(1), "trace_unreadable"))
        for sql, rows, path, code in questions:
            make(path)
            db = load(LIBRARY)
            check(f"{way}: {code}: the others", db.execute(sql, (folder,)).fetchall(), rows)
            (message,), = db.execute("SELECT message FROM prof_diagnostic WHERE (file, code) = (?, ?)", (path, code)).fetchall()
            check(f"{way}: {code}: why", (why in message, path in message), (True, False))
            db.execute("SELECT profana_set('strict', 1)")
            for what, asked in (("set afterwards", db), ("alone", load(LIBRARY))):
                asked.execute("SELECT profana_set('strict', 1)")
                try:
                    asked.execute(sql, (folder,)).fetchall()
                    check(f"{way}: {code}: strict, {what}", "no error", "an error")
                except sqlite3.Error as error:
                    check(f"{way}: {code}: strict, {what}", (str(error).count(path), str(error).count("profana_set('strict', 0)"), why in str(error)), (1, 1, True))


def side_files(tmp):
    """Small files beside the results that are pipes or lead nowhere: nothing waits for them, each is told."""
    rank, _ = text_rank(tmp)
    want = opened(rank).execute("SELECT count(*) FROM prof_kernel").fetchall()
    (info,) = glob.glob(f"{rank}/PROF_*/device_0/info.json.0")
    for way, make in (("pipe", os.mkfifo), ("link to nothing", lambda path: os.symlink(f"{tmp}/nowhere", path))):
        paths = sorted([info, f"{rank}/profiler_info_0.json", f"{rank}/profiler_metadata.json"])
        for path in paths:
            os.remove(path)
            make(path)
        db = opened(rank)
        check(f"{way}: kernels", db.execute("SELECT count(*) FROM prof_kernel").fetchall(), want)
        db.execute("SELECT count(*) FROM prof_process_group").fetchall()
        check(f"{way}: told", db.execute("SELECT DISTINCT file FROM prof_diagnostic WHERE code = 'side_file_unreadable' ORDER BY file").fetchall(), [(path,) for path in paths])


def traces_of_many(tmp):
    """One trace of several ranks that is empty, garbage or a pipe: the others are there, and it is told."""
    def trace(rank):
        event = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {"device": 0, "stream": 7}}
        return json.dumps({"schemaVersion": 1, "distributedInfo": {"rank": rank}, "traceEvents": [event]})
    for rank in (0, 2):
        write(f"{tmp}/w{rank}.pt.trace.json", trace(rank))
    bad = f"{tmp}/w1.pt.trace.json"
    for way, make in (("empty", lambda path: write(path, b"")), ("garbage", lambda path: write(path, b"\x07garbage" * 99)), ("pipe", os.mkfifo),
                      ("link to nothing", lambda path: os.symlink(f"{tmp}/nowhere", path))):
        make(bad)
        db = opened(tmp)
        check(f"trace of many, {way}", kernels(db), [(0, 1), (2, 1)])
        check(f"trace of many, {way}: told", db.execute("SELECT file FROM prof_diagnostic WHERE code = 'trace_unreadable'").fetchall(), [(bad,)])
        os.remove(bad)


class Nobody:
    """Root may read everything: files of mode 0 are closed only to another user."""

    @staticmethod
    def is_possible():
        try:
            with Nobody():
                return True
        except OSError as error:
            print("skipped, this root cannot become another user:", error)
            return False

    def __enter__(self):
        if os.geteuid() == 0:
            os.seteuid(65534)

    def __exit__(self, *_):
        if os.getuid() == 0:
            os.seteuid(0)


def closed_files(tmp):
    """Files of mode 0, as a user who may not read them."""
    os.chmod(tmp, 0o755)
    db = load(LIBRARY)
    if not Nobody.is_possible():
        return
    path, output = job(f"{tmp}/of_db")
    database = f"{output}/ascend_pytorch_profiler_0.db"
    rank, results = text_rank(tmp)
    (of_trace,) = opened(f"{results}/trace_view.json").execute("SELECT count(*) FROM prof_kernel").fetchone()
    details, trace = f"{results}/kernel_details.csv", f"{results}/trace_view.json"
    info = f"{rank}/profiler_info_0.json"
    for file in (database, details, info):
        os.chmod(file, 0)
    with Nobody():
        db.execute("SELECT profana_open('x', ?)", (path,)).fetchall()
        check("a closed database", states(db), [(0, "db", "corrupt", 1), (1, "db", "complete", 0)])
        check("the other rank", kernels(db), [(1, KERNELS)])
        check("a closed database: told", db.execute("SELECT DISTINCT file FROM prof_diagnostic WHERE code = 'db_unreadable'").fetchall(), [(database,)])
        refused("a closed database alone", ["ascend_pytorch_profiler_0.db", "no permission to read it"], "SELECT profana_open('y', ?)", database, db=db)
        refused("a closed CSV file alone", ["kernel_details.csv", "no permission to read it"], "SELECT profana_open('y', ?)", details, db=db)
        db.execute("SELECT profana_open('x', ?)", (rank,)).fetchall()
        check("a closed CSV file", db.execute("SELECT count(*) FROM prof_kernel").fetchall(), [(of_trace,)])
        check("a closed CSV file: why", db.execute("SELECT missing ->> 'prof_kernel_pmu' LIKE '%kernel_details.csv: no permission%' FROM prof_source").fetchall(), [(1,)])
        check("a closed side file", db.execute("SELECT file FROM prof_diagnostic WHERE code = 'side_file_unreadable' AND message LIKE '%no permission%'").fetchall(), [(info,)])
    os.chmod(details, 0o644)
    os.chmod(trace, 0)
    with Nobody():
        db.execute("SELECT profana_open('x', ?)", (rank,)).fetchall()
        check("a closed trace", db.execute("SELECT (SELECT count(*) > 0 FROM prof_kernel), (SELECT count(*) FROM prof_host_op)").fetchall(), [(1, 0)])
        refused("a closed trace alone", ["trace_view.json", "no permission to read it"], "SELECT profana_open('y', ?)", trace, db=db)


def closed_folders(tmp):
    """Results in a folder of mode 0: nobody says that there is only raw data."""
    os.chmod(tmp, 0o755)
    if not Nobody.is_possible():
        return
    db = load(LIBRARY)
    rank, output = text_rank(tmp)
    prof = f"{tmp}/PROF_000001_20260402160352_AAAAAAAA"
    exported = f"{prof}/mindstudio_profiler_output"
    write(f"{prof}/device_0/data/aicore.bin", b"\0")
    write(f"{exported}/op_summary_20260402160352.csv", b"Name,Task Duration(us)\nA,1\n")
    write(f"{tmp}/other/ASCEND_PROFILER_OUTPUT/kernel_details.csv", b"Name,Duration(us)\nA,1\n")
    for folder in (output, exported):
        os.chmod(folder, 0)
    try:
        with Nobody():
            for path, folder in ((rank, output), (output, output), (prof, exported), (exported, exported)):
                refused(f"closed: {path}", [f"no permission to read the folder '{folder}'"], "SELECT profana_open('y', ?)", path, db=db)
            db = load(LIBRARY)
            db.execute("SELECT profana_open('x', ?)", (tmp,)).fetchall()
            check("closed: the others", db.execute("SELECT count(*) FROM prof_kernel").fetchall(), [(1,)])
            check("closed: told", db.execute("SELECT code, source FROM prof_diagnostic ORDER BY source").fetchall(), [("folder_not_readable", exported), ("folder_not_readable", output)])
    finally:
        for folder in (output, exported):
            os.chmod(folder, 0o755)


def strict_afterwards(tmp):
    """strict, set once a profile is open, reaches every file that was told of, also one that is not there or counts for nothing."""
    rank, output = text_rank(tmp)
    os.remove(f"{output}/kernel_details.csv")
    os.symlink(f"{tmp}/nowhere", f"{output}/kernel_details.csv")
    many = f"{tmp}/many"
    write(f"{many}/a/ASCEND_PROFILER_OUTPUT/kernel_details.csv", b"Name,Duration(us)\nA,1\n")
    os.symlink(f"{tmp}/nowhere", f"{many}/w.pt.trace.json")
    both, good = f"{tmp}/both_ascend_pt/ASCEND_PROFILER_OUTPUT", f"{tmp}/many_more/ASCEND_PROFILER_OUTPUT"
    for folder in (both, good):
        write(f"{folder}/kernel_details.csv", b"Name,Duration(us)\nA,1\n")
    os.symlink(f"{tmp}/nowhere", f"{both}/ascend_pytorch_profiler_0.db")
    for path, file in ((rank, "kernel_details.csv"), (many, "w.pt.trace.json"), (both, "ascend_pytorch_profiler_0.db")):
        db = opened(path)
        want = db.execute("SELECT count(*) FROM prof_kernel").fetchall()
        check(f"{file}: rows", want[0][0] > 0, True)
        db.execute("SELECT profana_open('good', ?)", (good,))
        db.execute("SELECT profana_set('strict', 1)")
        refused(f"strict afterwards: {file}", [file, "strict"], "SELECT count(*) FROM prof_kernel WHERE profile = 'x'", db=db)
        check(f"strict afterwards: {file}: another profile", db.execute("SELECT count(*) FROM prof_kernel WHERE profile = 'good'").fetchall(), [(1,)])
        db.execute("SELECT profana_set('strict', 0)")
        check(f"no longer strict: {file}", db.execute("SELECT count(*) FROM prof_kernel WHERE profile = 'x'").fetchall(), want)


def other_profiles(tmp):
    db = opened(P)
    want = db.execute("SELECT count(*) FROM prof_kernel").fetchall()
    db.execute("SELECT profana_open('bad', ?, '{\"step\":99}')", (P,)).fetchall()
    check("a step that is not there: another profile", db.execute("SELECT count(*) FROM prof_kernel WHERE profile = 'x'").fetchall(), want)
    refused("a step that is not there", ["'bad'", "no step 99", "[3,4,5,6,7]", "profana_close('bad')"], "SELECT count(*) FROM prof_kernel", db=db)
    db.execute("SELECT profana_close('bad')").fetchall()
    gone = shutil.copytree(P, f"{tmp}/gone")
    db.execute("SELECT profana_open('gone', ?)", (gone,)).fetchall()
    shutil.rmtree(gone)
    check("gone: another profile", db.execute("SELECT count(*) FROM prof_kernel WHERE profile = 'x'").fetchall(), want)
    refused("gone", ["'gone'", "no such file or folder", "profana_close('gone')"], "SELECT count(*) FROM prof_kernel", db=db)
    check("gone: source", db.execute("SELECT state, steps FROM prof_source WHERE alias = 'gone'").fetchall(), [("corrupt", None)])
    db.execute("SELECT count(*) FROM prof_diagnostic").fetchall()
    shutil.copytree(P, gone)
    check("back again", db.execute("SELECT count(*) FROM prof_kernel WHERE profile = 'gone'").fetchall(), want)
    shutil.rmtree(gone)
    db.execute("SELECT profana_close('gone')").fetchall()
    check("closed", db.execute("SELECT count(*) FROM prof_kernel").fetchall(), want)


def state_follows_reading(tmp):
    rank, output = text_rank(tmp)
    details = f"{output}/kernel_details.csv"
    with open(details, "rb") as whole:
        content = whole.read()
    write(details, content[:content.rindex(b",")])
    db = opened(rank)
    db.execute("SELECT count(name) FROM prof_kernel").fetchall()
    check("cut rows", db.execute("SELECT state FROM prof_source").fetchall(), [("truncated",)])
    _, output = job(tmp)
    database = f"{output}/ascend_pytorch_profiler_0.db"
    (root,) = sqlite3.connect(database).execute("SELECT rootpage FROM sqlite_schema WHERE name = 'TASK'").fetchone()
    with open(database, "r+b") as out:
        out.seek((root - 1) * 4096)
        out.write(b"\xff" * 4096)
    db = opened(os.path.dirname(output))
    db.execute("SELECT count(start_ns) FROM prof_device_task").fetchall()
    check("a bad page", db.execute("SELECT state FROM prof_source").fetchall(), [("corrupt",)])


def no_end(tmp):
    _, output = job(tmp)
    database = f"{output}/ascend_pytorch_profiler_0.db"
    change = sqlite3.connect(database)
    change.execute("ALTER TABLE TASK RENAME COLUMN endNs TO other")
    change.commit()
    change.close()
    db = opened(database)
    check("no endNs", db.execute("SELECT count(dur_ns), count(*) FROM prof_kernel").fetchall(), [(0, KERNELS)])
    check("no endNs: diagnostic", db.execute("SELECT message FROM prof_diagnostic WHERE code = 'column_missing'").fetchall(),
          [("TASK has no column endNs, so ends and durations are NULL",)])


def far_times(tmp):
    """What is no time when base, start and duration are added is NULL, and told."""
    far = 2**62 - 2**20  # ns, as the us of a trace below
    def us(ns):
        return f"{ns // 1000}.{ns % 1000:03}"
    def event(ts, dur, **more):
        return {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": us(ts), "dur": us(dur), "args": {"device": 0, "stream": 7}, **more}
    trace = write(f"{tmp}/a.pt.trace.json", json.dumps({"baseTimeNanoseconds": 10, "traceEvents": [
        event(1000, 5000), event(2**63 - 5, 1), event(far, 2**21), event(far, 1000), event(far, 2**21, cat="user_annotation", name="ProfilerStep#1")]}))
    db = opened(trace)
    check("far: kernels", db.execute("SELECT start_ns, dur_ns, end_ns FROM prof_kernel ORDER BY id").fetchall(),
          [(1010, 5000, 6010), (None, 1, None), (far + 10, 2**21, None), (far + 10, 1000, far + 1010)])
    check("far: steps", db.execute("SELECT count(*) FROM prof_step").fetchall(), [(0,)])
    check("far: told", db.execute("SELECT instr(message, 'base') > 0, instr(message, 'end') > 0 FROM prof_diagnostic WHERE code = 'trace_time_out_of_range'").fetchall(),
          [(1, 0), (0, 1), (0, 1)])
    details = write(f"{tmp}/kernel_details.csv", f"Name,Start Time(us),Duration(us)\na,{us(far)},{us(2**21)}\nb,1.000,2.000\n".encode())
    db = opened(details)
    check("far: of a CSV file", db.execute("SELECT start_ns, dur_ns, end_ns FROM prof_kernel ORDER BY id").fetchall(), [(far, 2**21, None), (1000, 2000, 3000)])
    check("far: told of a CSV file", db.execute("SELECT file, count FROM prof_diagnostic WHERE code = 'implausible_value'").fetchall(), [(details, 1)])


def far_sums(tmp):
    """Durations that add up beyond 64 bits lose no view."""
    far = 2**55  # ns, the longest that counts
    details = write(f"{tmp}/kernel_details.csv", "Name,Type,Start Time(us),Duration(us)\n" + "".join(f"{name},{name},1.000,{dur // 1000}.{dur % 1000:03}\n" for name, dur in
                                                 [("a", far)] * 300 + [("b", far)] * 100 + [("c", 5), ("c", 7)]))
    db = opened(details)
    for view, name in (("hot_op", "op_type"), ("hot_kernel", "name")):
        rows = db.execute(f"SELECT {name}, calls, total_ns, typeof(total_ns), time_ratio FROM {view}").fetchall()
        check(f"{view}: sums", [(n, calls, total, kind) for n, calls, total, kind, _ in rows], [("a", 300, 300.0 * far, "real"), ("b", 100, 100 * far, "integer"), ("c", 2, 12, "integer")])
        check(f"{view}: shares", [round(share, 9) for *_, share in rows], [0.75, 0.25, 0])
    check("collection_check", db.execute("SELECT count(*) FROM collection_check").fetchall(), [(0,)])
    db.execute("SELECT profana_open('base', ?), profana_open('comparison', ?)", (details, details)).fetchall()
    check("collection_check", db.execute("SELECT op_type, round(base_time_ratio, 9), verdict FROM collection_check").fetchall(), [("a", 0.75, "agree"), ("b", 0.25, "agree"), ("c", 0, "agree")])


def halved_events(tmp):
    """Begin and end as two events: profilers do not write them so; that they make no rows is told."""
    trace = write(f"{tmp}/a.pt.trace.json", json.dumps({"schemaVersion": 1, "traceEvents": [
        {"ph": ph, "cat": cat, "name": "a", "pid": 0, "tid": 7, "ts": ts, "dur": 1} for ph, cat, ts in
        (("X", "kernel", 1), ("B", "cpu_op", 2), ("B", "cpu_op", 3), ("E", "cpu_op", 4), ("E", "cpu_op", 5), ("B", "Trace", 6))]}))
    db = opened(trace)
    check("halved: rows", db.execute("SELECT (SELECT count(*) FROM prof_kernel), (SELECT count(*) FROM prof_host_op)").fetchall(), [(1, 0)])
    check("halved: told", db.execute("SELECT sum(code = 'trace_begin_without_dur'), max(count) FROM prof_diagnostic").fetchall(), [(2, 2)])


def not_a_table(tmp):
    """A view in place of a table, and a main database that has no file: neither is read, both are told."""
    _, output = job(tmp)
    database = f"{output}/ascend_pytorch_profiler_0.db"
    change = sqlite3.connect(database)
    change.executescript("ALTER TABLE TASK RENAME TO T; CREATE VIEW TASK AS SELECT * FROM T")
    db = opened(database)
    check("a view", db.execute("SELECT missing ->> 'prof_kernel' LIKE 'TASK is a view%', missing ->> 'prof_host_op' FROM prof_source").fetchall(), [(1, None)])
    db = load(LIBRARY)
    db.execute("SELECT count(*) FROM prof_kernel").fetchall()
    check("main without a profiler's tables", db.execute("SELECT count(*) FROM prof_diagnostic").fetchall(), [(0,)])
    change.backup(db)
    change.close()
    check("main in memory", db.execute("SELECT count(*) FROM prof_kernel").fetchall(), [(0,)])
    check("main in memory: again", db.execute("SELECT count(*) FROM prof_kernel").fetchall(), [(0,)])
    check("main in memory: told", db.execute("SELECT message LIKE '%VACUUM INTO%', count FROM prof_diagnostic WHERE code = 'main_not_opened'").fetchall(), [(1, 1)])


def small(tmp):
    _, output = job(tmp)
    db = sqlite3.connect(f"{output}/ascend_pytorch_profiler_0.db")
    db.enable_load_extension(True)
    db.load_extension(LIBRARY)
    check("main", kernels(db), [(0, KERNELS)])
    db.execute("SELECT profana_close('main')").fetchall()
    check("main stays closed", kernels(db), [])
    db.execute("CREATE TABLE own(a)")
    db.commit()
    check("main stays closed after a change", kernels(db), [])
    refused("a negative device", ["'device'", "-5"], "SELECT profana_open('x', ?, '{\"device\":-5}')", output)
    info = f"{tmp}/i_ascend_pt/profiler_info_0.json"
    os.makedirs(f"{tmp}/i_ascend_pt/ASCEND_PROFILER_OUTPUT")
    write(info, b"{")
    write(f"{tmp}/i_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv", b"Name,Duration(us)\n")
    check("profiler_info", opened(f"{tmp}/i_ascend_pt").execute("SELECT file FROM prof_diagnostic WHERE code = 'side_file_unreadable'").fetchall(), [(info,)])


run(unreadable_database, unreadable_analysis, rank_without_results, text_beside, unreadable_trace, unreadable_gpu_trace, unusable_files, unusable_slices, side_files,
    traces_of_many, closed_files, closed_folders, strict_afterwards, other_profiles, state_follows_reading, no_end, far_times, far_sums, halved_events, not_a_table,
    small)
