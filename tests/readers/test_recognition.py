"""What profana_open makes of whatever a user has in hand, and what it says when that is nothing."""
import glob
import gzip
import json
import os
import shutil
import sqlite3
import tempfile
import time

from checks import LIBRARY, check, opened, refused, run, write
from held_against_oracle import GOLDEN, load, rank_folders, unpacked

GPU_EVENTS = [
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1700000000000000.5, "dur": 9, "args": {}},
    {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1700000000000003, "dur": 4,
     "args": {"device": 0, "stream": 7, "correlation": 5}},
]
NPU_EVENTS = [
    {"ph": "M", "name": "process_name", "pid": 9, "tid": 0, "args": {"name": "Ascend Hardware"}},
    {"ph": "M", "name": "process_labels", "pid": 9, "tid": 0, "args": {"labels": "NPU 3"}},
    {"ph": "X", "name": "MatMul", "pid": 9, "tid": 2, "ts": "1700000000000001.250", "dur": 2,
     "args": {"Task Type": "AI_CORE", "Stream Id": 2, "Task Id": 4}},
    {"ph": "X", "cat": "cpu_op", "name": "ProfilerStep#4", "pid": 5, "tid": 5, "ts": "1700000000000000.000", "dur": 90,
     "args": {}},
]
KERNELS = "Name,Type,Accelerator Core,Start Time(us),Duration(us)\nMatMul,MatMulV3,AI_CORE,1700000000000001.250\t,2.000\n"
SUMMARY = "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"
GROUPS = [{"pg_name": "0", "pg_desc": "default_pg", "ranks": [2, 6]}, {"pg_name": "1", "pg_desc": "tp", "ranks": [2, 3]}]
DEVICES = [{"id": 0, "name": "A", "numSms": 108, "totalGlobalMem": 80}, {"id": 1, "name": "B", "numSms": 132}]


def facts(path, options=None):
    """(kind, framework, rank) of every rank"""
    return opened(path, options).execute("SELECT kind, framework, rank FROM prof_source").fetchall()


def side(tmp, case, name):
    return rank_folders(unpacked(os.path.join(GOLDEN, case, name), tmp))[0]


def traces(tmp):
    list_form = write(f"{tmp}/list.json", json.dumps(GPU_EVENTS))
    object_form = write(f"{tmp}/a.pt.trace.json", json.dumps({"schemaVersion": 1, "distributedInfo": {"rank": 6, "pg_config": GROUPS},
                                                             "deviceProperties": DEVICES, "traceEvents": GPU_EVENTS}))
    zipped = write(f"{tmp}/b_rank3.pt.trace.json.gz", gzip.compress(json.dumps({"traceEvents": GPU_EVENTS}).encode()))
    lone = write(f"{tmp}/trace_view.json", json.dumps(NPU_EVENTS))
    check("list of GPU events", facts(list_form), [("gpu", "PyTorch", None)])
    check("object with a rank", facts(object_form), [("gpu", "PyTorch", 6)])
    check("gzip, rank in the name", facts(zipped), [("gpu", "PyTorch", 3)])
    check("lone trace_view.json", facts(lone), [("trace", "PyTorch", None)])
    db = opened(object_form)
    check("groups of a GPU trace", db.execute("SELECT group_id, group_name, group_rank, ranks, source_row FROM prof_process_group").fetchall(),
          [("0", "default_pg", 1, "[2,6]", 1), ("1", "tp", None, "[2,3]", 2)])
    check("devices of a GPU trace", db.execute("SELECT device_id, chip, ai_core_num, memory_bytes, source_row FROM prof_device").fetchall(),
          [(0, "A", 108, 80, 1), (1, "B", 132, None, 2)])
    db = opened(lone)
    check("kernels of a lone trace", db.execute("SELECT name, device_id, start_ns, dur_ns, step FROM prof_kernel").fetchall(),
          [("MatMul", 3, 1700000000000001250, 2000, 4)])
    check("steps of a lone trace", db.execute("SELECT steps, devices FROM prof_source").fetchall(), [("[4]", "[3]")])
    refused("JSON that is no trace", ["other.json", "looked for", "_ascend_pt"], "SELECT profana_open('x', ?)",
            write(f"{tmp}/other.json", '{"schemaVersion": 1, "deviceProperties": [{"id": 0}]}'))


def folders(tmp):
    text, db = side(tmp, "text_text", "base"), side(tmp, "db_db", "base")
    output = os.path.join(text, "ASCEND_PROFILER_OUTPUT")
    check("*_ascend_pt, text", facts(text), [("text", "PyTorch", 0)])
    check("ASCEND_PROFILER_OUTPUT", facts(output), [("text", "PyTorch", 0)])
    check("*_ascend_pt, db", facts(db), [("db", "PyTorch", 0)])
    check("a database", facts(glob.glob(f"{db}/ASCEND_PROFILER_OUTPUT/ascend_*.db")[0]), [("db", "PyTorch", 0)])
    check("*_ascend_ms, db", facts(side(tmp, "ms_db", "base")), [("db", "MindSpore", 0)])
    both = f"{tmp}/both_1_20240625000026809_ascend_pt"
    shutil.copytree(text, both)
    for file in glob.glob(f"{db}/ASCEND_PROFILER_OUTPUT/*.db"):
        shutil.copy(file, f"{both}/ASCEND_PROFILER_OUTPUT")
    check("both: the database wins", facts(both), [("db", "PyTorch", 0)])
    check("both: source text", facts(both, {"source": "text"}), [("text", "PyTorch", 0)])
    check("both: source db", facts(both, {"source": "db"}), [("db", "PyTorch", 0)])
    refused("no source db", ["source 'db'"], "SELECT profana_open('x', ?, '{\"source\":\"db\"}')", text)
    refused("an empty folder", ["looked for", "PROF_*"], "SELECT profana_open('x', ?)", tempfile.mkdtemp(dir=tmp))
    refused("no such path", ["no such file or folder", "looked for"], "SELECT profana_open('x', ?)", f"{tmp}/nowhere")
    os.symlink(f"{tmp}/nowhere", f"{tmp}/link")
    refused("a link to nothing", ["'" + f"{tmp}/link'", "symbolic link to something that is not there", "looked for"], "SELECT profana_open('x', ?)", f"{tmp}/link")
    os.symlink(f"{tmp}/loop", f"{tmp}/loop")
    refused("a link to itself", ["symbolic links", "looked for"], "SELECT profana_open('x', ?)", f"{tmp}/loop")
    write(f"{tmp}/raw_1_20240625000026809_ascend_pt/FRAMEWORK/torch.op_range", b"\0")
    refused("not analysed", ["not analysed yet"], "SELECT profana_open('x', ?)", f"{tmp}/raw_1_20240625000026809_ascend_pt")
    db = opened(text)
    missing = json.loads(db.execute("SELECT missing FROM prof_source").fetchone()[0] or "{}")
    empty = {t for (t,) in db.execute("SELECT name FROM pragma_module_list WHERE name LIKE 'prof\\_%' ESCAPE '\\'")
             if t in missing and db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] > 0}
    check("tables said to be missing are empty", empty, set())


def msprof(tmp):
    prof = f"{tmp}/PROF_000001_20260402160352_AAAAAAAA"
    out = f"{prof}/mindstudio_profiler_output"
    write(f"{out}/op_summary_20260402160352.csv", SUMMARY + "old,T,AI_CORE,1.000\t,1.000\n")
    for part in (0, 1):
        write(f"{out}/op_summary_slice_{part}_20260402160400.csv", SUMMARY + f"k{part},T,AI_CORE,{part + 5}.000\t,1.500\n")
    write(f"{prof}/device_2/info.json.2", '{"rank_id": -1, "platform_version": "5", "DeviceInfo": [{"id": 2, "ai_core_num": 20}]}')
    write(f"{prof}/device_2/info.json.2.done", "filesize:99")
    for path in (prof, out):
        check("msprof", facts(path), [("msprof", "msprof", None)])
    db = opened(prof)
    check("slices of the newest export", db.execute("SELECT name, core_type, device_id, start_ns, end_ns FROM prof_kernel").fetchall(),
          [("k0", "AI_CORE", 2, 5000, 6500), ("k1", "AI_CORE", 2, 6000, 7500)])
    check("device of info.json", db.execute("SELECT device_id, chip, ai_core_num, source_row FROM prof_device").fetchall(),
          [(2, "Ascend910B", 20, 1)])
    check("chip option", opened(prof, {"chip": "Ascend910B3"}).execute("SELECT chip FROM prof_device").fetchall(), [("Ascend910B3",)])
    write(f"{tmp}/PROF_000009_20260402160352_BBBBBBBB/device_0/data/aicore.bin", b"\0")
    refused("raw data", ["raw data only"], "SELECT profana_open('x', ?)", f"{tmp}/PROF_000009_20260402160352_BBBBBBBB")


def older_exports(tmp):
    """Where the newest export of msprof cannot be used, an older one stands in, and that is told."""
    out = f"{tmp}/PROF_000001_20260402160352_AAAAAAAA/mindstudio_profiler_output"
    old = write(f"{out}/op_summary_20260402160352.csv", SUMMARY + "old,T,AI_CORE,1.000\t,1.000\n")
    new = write(f"{out}/op_summary_20260402160400.csv", "")
    told = "SELECT code, file FROM prof_diagnostic ORDER BY code"
    def names(db):
        return [name for (name,) in db.execute("SELECT name FROM prof_kernel")]
    db = opened(out)
    check("older export", (names(db), db.execute(told).fetchall()), (["old"], [("file_unusable", new), ("older_export", old)]))
    write(new, SUMMARY + "new,T,AI_CORE,1.000\t,1.000\n")
    check("the newer export is mended", names(db), ["new"])
    check("nothing to tell", opened(out).execute(told).fetchall(), [])
    write(f"{out}/op_summary_slice_0_20260402160500.csv", "")
    write(f"{out}/op_summary_slice_1_20260402160500.csv", SUMMARY + "slice,T,AI_CORE,1.000\t,1.000\n")
    check("a slice that can be used", names(opened(out)), ["slice"])
    write(new, "")
    write(f"{out}/op_summary_slice_1_20260402160500.csv", "")
    check("the third newest", names(opened(out)), ["old"])
    write(old, "")
    refused("none can be used", ["nothing that can be read"], "SELECT profana_open('x', ?)", out)
    of_db = f"{tmp}/PROF_000002_20260402160352_AAAAAAAA"
    os.makedirs(of_db)
    for stamp, operator in (("20260402160352", "old"), ("20260402160400", "new")):
        make = sqlite3.connect(f"{of_db}/msprof_{stamp}.db")
        make.executescript(f"CREATE TABLE STRING_IDS(id, value); INSERT INTO STRING_IDS VALUES (1, '{operator}');"
                           "CREATE TABLE TASK(startNs, endNs, deviceId, connectionId, globalTaskId, streamId, taskId); INSERT INTO TASK VALUES (1, 2, 0, 1, 1, 1, 1);"
                           "CREATE TABLE COMPUTE_TASK_INFO(name, globalTaskId); INSERT INTO COMPUTE_TASK_INFO VALUES (1, 1);")
        make.close()
    check("the newest database", names(opened(of_db)), ["new"])
    new = write(f"{of_db}/msprof_20260402160400.db", "")
    db = opened(of_db)
    check("older database", (names(db), db.execute(told).fetchall()), (["old"], [("db_unreadable", new), ("older_export", f"{of_db}/msprof_20260402160352.db")]))


def slices_that_lack(tmp):
    out = f"{tmp}/PROF_000001_20260402160352_AAAAAAAA/mindstudio_profiler_output"
    state = "SELECT state FROM prof_source"
    for part in (0, 2):
        write(f"{out}/op_summary_slice_{part}_20260402160400.csv", SUMMARY + f"k{part},T,AI_CORE,{part + 5}.000\t,1.500\n")
    check("a slice lacks", opened(out).execute(state).fetchall(), [("partial",)])
    write(f"{out}/op_summary_slice_2_20260402160400.csv", SUMMARY + "k2,T,AI_CORE,7.000\t")
    db = opened(out)
    db.execute("SELECT count(dur_ns) FROM prof_kernel").fetchall()
    check("a slice lacks, another is cut", db.execute(state).fetchall(), [("truncated",)])
    write(f"{out}/op_summary_slice_2_20260402160400.csv", "")
    check("a slice lacks, another is empty", opened(out).execute(state).fetchall(), [("corrupt",)])
    os.remove(f"{out}/op_summary_slice_2_20260402160400.csv")
    check("no slice lacks", opened(out).execute(state).fetchall(), [("complete",)])


def ranks(tmp):
    cluster = f"{tmp}/cluster"
    for rank, stamp, deep in ((0, "20240625000026809", "a"), (1, "20240625000026809", "b/c/d/e"), (1, "20250101000000000", "b")):
        write(f"{cluster}/{deep}/h_{rank}_{stamp}_ascend_pt/profiler_info_{rank}.json", "{}")
        write(f"{cluster}/{deep}/h_{rank}_{stamp}_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv", KERNELS)
    write(f"{cluster}/1/2/3/4/5/6/h_9_20240625000026809_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv", KERNELS)
    write(f"{cluster}/cluster_analysis_output/kernel_details.csv", KERNELS)
    os.symlink(cluster, f"{cluster}/a/again")
    db = opened(cluster)
    check("ranks of a parent folder", db.execute("SELECT rank, path FROM prof_source").fetchall(),
          [(0, f"{cluster}/a/h_0_20240625000026809_ascend_pt"), (1, f"{cluster}/b/h_1_20250101000000000_ascend_pt")])
    check("ids over ranks", db.execute("SELECT rank, id FROM prof_kernel").fetchall(), [(0, 1), (1, 1 + 2**32)])
    check("the older folder", db.execute("SELECT source FROM prof_diagnostic WHERE code = 'rank_twice'").fetchall(),
          [(f"{cluster}/b/c/d/e/h_1_20240625000026809_ascend_pt",)])
    told = "SELECT substr(message, instr(message, ', which')) FROM prof_diagnostic WHERE code = 'rank_twice'"
    check("why the other counts", db.execute(told).fetchall(), [(", which is newer; this one is left out",)])
    for name, content, age in (("a", KERNELS, 10**18), ("b", KERNELS, 10**18)):
        write(f"{tmp}/twice/{name}/profiler_info_0.json", "{}")
        write(f"{tmp}/twice/{name}/ASCEND_PROFILER_OUTPUT/kernel_details.csv", content)
        for file in ("profiler_info_0.json", "ASCEND_PROFILER_OUTPUT/kernel_details.csv"):
            os.utime(f"{tmp}/twice/{name}/{file}", ns=(age, age))
    check("two as old", opened(f"{tmp}/twice").execute(told).fetchall(), [(", which is as old; this one is left out",)])
    os.utime(f"{tmp}/twice/b/profiler_info_0.json", ns=(10**18 + 1, 10**18 + 1))
    db = opened(f"{tmp}/twice")
    check("by the files' age", db.execute("SELECT path FROM prof_source").fetchall() + db.execute(told).fetchall(), [(f"{tmp}/twice/b",), (", which is newer; this one is left out",)])
    write(f"{tmp}/twice/b/ASCEND_PROFILER_OUTPUT/kernel_details.csv", "")
    check("one that can be read", opened(f"{tmp}/twice").execute(told).fetchall(), [(", which can be read; this one is left out",)])
    write(f"{tmp}/twice/c/profiler_info_1.json", "{}")
    write(f"{tmp}/twice/c/ASCEND_PROFILER_OUTPUT/kernel_details.csv", KERNELS)
    write(f"{tmp}/twice/a/ASCEND_PROFILER_OUTPUT/kernel_details.csv", "")
    for name in ("a", "b"):
        os.utime(f"{tmp}/twice/{name}/profiler_info_0.json", ns=(10**18, 10**18))
    check("neither can be read", opened(f"{tmp}/twice").execute(told).fetchall(), [(", which is as old; this one is left out",)])
    db = opened(cluster)
    check("known ranks", db.execute("SELECT 1 FROM prof_diagnostic WHERE code = 'ranks_unknown'").fetchall(), [])
    for name in ("one", "two"):
        write(f"{tmp}/parts/{name}/ASCEND_PROFILER_OUTPUT/kernel_details.csv", KERNELS)
    check("ranks that are not known", opened(f"{tmp}/parts").execute(
        "SELECT source, substr(message, 1, 41) FROM prof_diagnostic WHERE code = 'ranks_unknown'").fetchall(),
          [(f"{tmp}/parts", "the rank of 2 captures is not known, only")])
    check("one rank of many", facts(cluster, {"rank": 1}), [("text", "PyTorch", 1)])
    refused("a rank that is not there", ["rank 7", "0, 1"], "SELECT profana_open('x', ?, '{\"rank\":7}')", cluster)
    strange = os.fsencode(tmp) + b"/caf\xe9_ascend_pt/ASCEND_PROFILER_OUTPUT"
    os.makedirs(strange)
    with open(strange + b"/kernel_details.csv", "w", encoding="utf-8") as out:
        out.write(KERNELS)
    db = load(LIBRARY)
    db.text_factory = bytes
    db.execute("SELECT profana_open('x', CAST(? AS TEXT))", (os.path.dirname(strange),))
    check("a name that is not UTF-8", db.execute("SELECT count(*), path FROM prof_kernel, prof_source").fetchall(),
          [(1, os.path.dirname(strange))])


def pack(path):
    with open(path, "rb") as plain:
        write(f"{path}.gz", gzip.compress(plain.read()))
    os.remove(path)


def rows_of_models(db):
    tables = [t for (t,) in db.execute("SELECT name FROM pragma_module_list WHERE name LIKE 'prof\\_%' ESCAPE '\\' ORDER BY 1")]
    return {t: db.execute(f"SELECT * FROM {t}").fetchall() for t in tables if t not in ("prof_source", "prof_diagnostic", "prof_setting")}


def traces_beside_others(tmp):
    """What the files' names tell of a trace stays when it has been read."""
    out = f"{tmp}/mindstudio_profiler_output"
    for part in (0, 2):
        write(f"{out}/msprof_slice_{part}_20260402160400.json", json.dumps([{"name": "e", "ph": "X", "ts": part, "dur": 1, "pid": 1, "tid": 1}]))
    db = opened(out)
    told = "SELECT (SELECT state FROM prof_source), code FROM prof_diagnostic"
    before = db.execute(told).fetchall()
    check("a slice of a trace lacks", before, [("partial", "slice_missing")])
    db.execute("SELECT count(*) FROM prof_device_task").fetchall()
    check("also when it has been read", db.execute(told).fetchall(), before)
    write(f"{out}/msprof_slice_1_20260402160400.json", "[]")
    check("it came", db.execute("SELECT state FROM prof_source").fetchall(), [("complete",)])
    check("nothing more to tell", db.execute(told).fetchall(), [])


def one_rank_in_two_databases(tmp):
    """RANK_DEVICE_MAP alone names the rank: it counts once."""
    for name in ("ascend_pytorch_profiler.db", "ascend_pytorch_profiler_0.db"):
        os.makedirs(f"{tmp}/two", exist_ok=True)
        file = sqlite3.connect(f"{tmp}/two/{name}")
        file.executescript("CREATE TABLE PYTORCH_API(startNs, endNs, name, globalTid); INSERT INTO PYTORCH_API VALUES (1, 2, 1, 1);"
                           "CREATE TABLE STRING_IDS(id, value); INSERT INTO STRING_IDS VALUES (1, 'a');"
                           "CREATE TABLE RANK_DEVICE_MAP(rankId, deviceId); INSERT INTO RANK_DEVICE_MAP VALUES (0, 3)")
        file.close()
    db = opened(f"{tmp}/two")
    check("the rank counts once", db.execute("SELECT rank, count(*) FROM prof_host_op GROUP BY rank").fetchall(), [(0, 1)])
    check("and is told", db.execute("SELECT code FROM prof_diagnostic WHERE code LIKE 'rank%'").fetchall(), [("rank_twice",)])


def compressed(tmp):
    """Every CSV and JSON file may as well be compressed, as it may for the raw tables."""
    (data,) = glob.glob(os.path.join(os.path.dirname(GOLDEN), "data", "text_and_db", "made_1*"))
    rank = shutil.copytree(data, f"{tmp}/r_ascend_pt", ignore=shutil.ignore_patterns("*.db"))
    output = f"{rank}/ASCEND_PROFILER_OUTPUT"
    about = "SELECT kind, framework, rank, level, versions, steps, state, missing, replace(files, '.gz', '') FROM prof_source"
    db = opened(rank)
    want, facts_of_plain = rows_of_models(db), db.execute(about).fetchall()
    for folder, _, names in os.walk(rank):
        for name in names:
            if name.endswith((".csv", ".json")):
                pack(f"{folder}/{name}")
    db = opened(rank)
    for table, rows in rows_of_models(db).items():
        check(f"compressed: {table}", rows == want[table], True)
    check("compressed: tables with rows", sum(len(rows) > 0 for rows in want.values()) > 15, True)
    check("compressed: source", db.execute(about).fetchall(), facts_of_plain)
    check("compressed: raw table", db.execute("SELECT count(*) FROM kernel_details(?)", (output,)).fetchall(), [(len(want["prof_kernel"]),)])
    alone = opened(f"{output}/kernel_details.csv.gz")
    check("compressed: alone", alone.execute("SELECT count(*) FROM prof_kernel").fetchall(), [(len(want["prof_kernel"]),)])
    write(f"{output}/kernel_details.csv", KERNELS)
    check("both: the plain file counts", opened(rank).execute("SELECT count(*) FROM prof_kernel").fetchall(), [(1,)])
    out = f"{tmp}/PROF_000001_20260402160352_AAAAAAAA/mindstudio_profiler_output"
    for part in (0, 1, 3):
        pack(write(f"{out}/op_summary_slice_{part}_20260402160400.csv", SUMMARY + f"k{part},T,AI_CORE,{part + 5}.000\t,1.500\n"))
    db = opened(out)
    check("compressed slices", db.execute("SELECT name FROM prof_kernel").fetchall(), [("k0",), ("k1",), ("k3",)])
    check("the slice that lacks", db.execute("SELECT message LIKE '%slice 2 is not%' FROM prof_diagnostic WHERE code = 'slice_missing'").fetchall(), [(1,)])


def options(tmp):
    path = write(f"{tmp}/opt_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json", json.dumps(NPU_EVENTS))
    path = os.path.dirname(os.path.dirname(path))
    for text, words in (('{"ranks":1}', ["'ranks'", "gpu_flow_cat"]), ('{"rank":"1"}', ["'rank'", "integer"]),
                        ('{"step":1.5}', ["'step'", "integer"]), ('{"chip":3}', ["'chip'", "text"]),
                        ('{"source":"csv"}', ["'source'", "'text' or 'db'"]), ("[1]", ["JSON object"]), ("{", ["JSON object"])):
        refused(f"options {text}", words, "SELECT profana_open('x', ?, ?)", path, text)
    db = opened(path, {"step": 5})
    refused("a step that is not there", ["no step 5", "[4]"], "SELECT * FROM prof_kernel", db=db)
    db = opened(path, {"step": 4, "device": 3})
    check("options in prof_source", db.execute("SELECT step_option, device_option, rank_option FROM prof_source").fetchall(), [(4, 3, None)])
    db = opened(path, {"device": 0})
    for table in ("prof_device_task", "prof_host_op"):
        refused("a device that is not there", ["'x'", "no device 0", "[3]", "profana_close('x')"], f"SELECT count(*) FROM {table}", db=db)
    check("device option", opened(path, {"device": 3}).execute("SELECT count(*) > 0 FROM prof_device_task").fetchall(), [(1,)])
    details = write(f"{tmp}/kernel_details.csv", KERNELS)
    check("no row names a device", opened(details, {"device": 5}).execute("SELECT count(*) FROM prof_kernel").fetchall(), [(1,)])
    refused("an alias that is NULL", ["alias"], "SELECT profana_open(NULL, ?)", path)
    refused("too few arguments", ["(alias, path [, options])"], "SELECT profana_open('x')")
    refused("an alias that is not open", ["'y'", "x"], "SELECT profana_close('y')", db=db)
    check("close", db.execute("SELECT profana_close('x')").fetchall(), [("x",)])
    check("after close", db.execute("SELECT count(*) FROM prof_kernel").fetchall(), [(0,)])


def relative_paths(tmp):
    """What was opened by a relative path stays open when the program goes to another folder."""
    output = os.path.dirname(write(f"{tmp}/h_4_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv", KERNELS))
    write(f"{tmp}/h_4_ascend_pt/profiler_info_4.json", "{}")
    db, home = load(LIBRARY), os.getcwd()
    try:
        os.chdir(output)
        for alias, path in (("file", "kernel_details.csv"), ("dot", "."), ("above", "../../h_4_ascend_pt"), ("slashes", f"{tmp}//h_4_ascend_pt//")):
            db.execute("SELECT profana_open(?, ?)", (alias, path)).fetchall()
        refused("a relative path that is none", ["'../nowhere'", "no such file"], "SELECT profana_open('x', '../nowhere')", db=db)
        os.chdir("/")
        check("kernels from elsewhere", db.execute("SELECT profile, rank, count(*) FROM prof_kernel GROUP BY profile ORDER BY profile").fetchall(),
              [("above", 4, 1), ("dot", 4, 1), ("file", None, 1), ("slashes", 4, 1)])
        check("paths from elsewhere", db.execute("SELECT alias, path FROM prof_source ORDER BY alias").fetchall(),
              [("above", f"{tmp}/h_4_ascend_pt"), ("dot", f"{tmp}/h_4_ascend_pt"), ("file", f"{output}/kernel_details.csv"), ("slashes", f"{tmp}/h_4_ascend_pt")])
        time.sleep(0.02)
        write(f"{output}/kernel_details.csv", KERNELS + "Add,Add,AI_VECTOR_CORE,1700000000000009.250\t,2.000\n")
        check("a change seen from elsewhere", db.execute("SELECT profile, count(*) FROM prof_kernel GROUP BY 1 ORDER BY 1").fetchall(),
              [("above", 2), ("dot", 2), ("file", 2), ("slashes", 2)])
    finally:
        os.chdir(home)


def changes(tmp):
    path = write(f"{tmp}/live_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv", KERNELS)
    db = opened(f"{tmp}/live_ascend_pt")
    check("before the change", db.execute("SELECT count(*) FROM prof_kernel").fetchall(), [(1,)])
    time.sleep(0.02)
    write(path, KERNELS + "Add,Add,AI_VECTOR_CORE,1700000000000009.250\t,2.000\n")
    check("after the change", db.execute("SELECT count(*) FROM prof_kernel").fetchall(), [(2,)])
    os.remove(path)
    refused("a file that is gone", ["live_ascend_pt"], "SELECT count(*) FROM prof_kernel", db=db)


def main_database(tmp):
    file = shutil.copy(glob.glob(f"{side(tmp, 'db_db', 'base')}/ASCEND_PROFILER_OUTPUT/ascend_*.db")[0], f"{tmp}/ascend_pytorch_profiler_0.db")
    db = sqlite3.connect(file)
    db.enable_load_extension(True)
    db.load_extension(LIBRARY)
    check("main", db.execute("SELECT alias, kind, rank, path FROM prof_source").fetchall(), [("main", "db", 0, file)])
    check("kernels of main", db.execute("SELECT count(*) > 0, profile FROM prof_kernel").fetchall(), [(1, "main")])
    empty = sqlite3.connect(f"{tmp}/plain.db")
    empty.execute("CREATE TABLE t(a)")
    empty.enable_load_extension(True)
    empty.load_extension(LIBRARY)
    check("a main that is no profile", empty.execute("SELECT count(*) FROM prof_source").fetchall(), [(0,)])


run(traces, folders, msprof, older_exports, slices_that_lack, ranks, traces_beside_others, one_rank_in_two_databases, compressed, options, relative_paths, changes, main_database)
