"""The one-profile reports: readable on every example and golden profile, an empty one says why, and the figures are those of the
files, worked out here by themselves: the TinyMLP findings from its CSV files, everything else on small files made here."""
import csv
import glob
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = os.path.abspath(sys.argv[1]).removesuffix(".so")
ONE_PROFILE = ["hotspots", "host_bound", "pipe_bound", "cast_overhead", "step_breakdown", "communication", "memory_peak", "timeline"]
MARK = "=====report====="
WIDEST = 160  # characters of a terminal


def shell(opens, reports, mode):
    """The text that each report prints in one session of the sqlite3 shell."""
    script = [".bail on", f".load {LIBRARY}", ".headers on", f".mode {mode}"]
    for alias, path, *options in opens:
        script.append(f"SELECT profana_open('{alias}', '{path}', '{json.dumps(options[0] if options else {})}');")
    for report in reports:
        script += [f".print {MARK}", f".read sql/reports/{report}.sql"]
    done = subprocess.run(["sqlite3", "-batch", ":memory:"], input="\n".join(script) + "\n", text=True, capture_output=True, cwd=ROOT,
                          check=False)
    assert done.returncode == 0 and not done.stderr, (opens, done.stderr)
    return done.stdout.split(MARK + "\n")[1:]


def answers(report, *opens):
    """The report's answers, each a list of {head: value}: its rows where there are any, then why some profile has none."""
    text = shell(opens, [report], "json")[0]
    return [json.loads(part) for part in re.split(r"(?<=\])\n(?=\[)", text.strip()) if part]


def rows(report, *opens):
    return answers(report, *opens)[0]


def example(name):
    return f"{ROOT}/examples/tinymlp/{name}"


def readable():
    """Every report on every profile: an answer, in the width of a terminal, that opens with what it is about."""
    profiles = glob.glob(f"{ROOT}/examples/tinymlp/0*") + glob.glob(f"{ROOT}/tests/golden/*/base")
    assert len(profiles) >= 15, profiles
    for path in profiles:
        for report, text in zip(ONE_PROFILE, shell([("run", path)], ONE_PROFILE, "box"), strict=True):
            lines = text.splitlines()
            assert lines and lines[0].startswith("┌"), f"{report} on {path} prints nothing"
            assert max(map(len, lines)) <= WIDEST, f"{report} on {path} is {max(map(len, lines))} characters wide"
    for report in [*ONE_PROFILE, "collection_check"]:
        with open(f"{ROOT}/sql/reports/{report}.sql", encoding="utf-8") as f:
            first, second, third = (f.readline() for _ in range(3))
        assert re.match(r"-- .*\?\n", first) and second == "--\n" and third.startswith("-- "), report


def column(path, name):
    with open(glob.glob(path, recursive=True)[0], newline="", encoding="utf-8") as f:
        return [row[name] for row in csv.DictReader(f)]


def share(collection, op_type):
    """Of the kernels' durations, in the collection's own file, and how many kernels that are."""
    text = "ASCEND_PROFILER_OUTPUT" in str(glob.glob(f"{example(collection)}/*/*"))
    file, kind, dur = ("kernel_details.csv", "Type", "Duration(us)") if text else ("op_summary_*.csv", "OP Type", "Task Duration(us)")
    path = f"{example(collection)}/**/{file}"
    durations = list(zip(column(path, kind), map(float, column(path, dur)), strict=True))
    return 100 * sum(d for t, d in durations if t == op_type) / sum(d for _, d in durations), sum(t == op_type for t, _ in durations)


def findings():
    """What the four collections of TinyMLP show: about 78 % MatMulV2, 60 times as much free as computing, Cast in pyACL only."""
    for collection in ("01_cmdline", "04_pytorch"):
        found = {row["OP Type"]: row for row in rows("hotspots", ("run", example(collection)))}
        percent, calls = share(collection, "MatMulV2")
        assert abs(found["MatMulV2"]["Ratio(%)"] - percent) < 1e-3 and found["MatMulV2"]["Count"] == calls, found
        assert 77.5 < percent < 78.5 and "Cast" not in found, found
        assert rows("cast_overhead", ("run", example(collection)))[0]["No conversions because"] == "no kernel converts data"
    steps = rows("host_bound", ("run", example("04_pytorch")))
    computing = column(f"{example('04_pytorch')}/**/step_trace_time.csv", "Computing")
    free = column(f"{example('04_pytorch')}/**/step_trace_time.csv", "Free")
    assert [s["Free / Computing"] for s in steps] == [round(float(f) / float(c), 1) for f, c in zip(free, computing, strict=True)], steps
    assert all(58 < s["Free / Computing"] < 62 and s["Verdict"] == "host bound" for s in steps) and len(steps) == 5, steps
    casts = rows("cast_overhead", ("run", example("03_pyacl")))
    percent, calls = share("03_pyacl", "Cast")
    assert round(percent, 1) == 28.6 and all(abs(row["Type Ratio(%)"] - percent) < 1e-3 for row in casts), casts
    assert sum(row["Count"] for row in casts) == calls and {row["OP Type"] for row in casts} == {"Cast"}, casts
    add = rows("pipe_bound", ("run", example("02_ascendc")))
    assert [(r["Kernel"], r["Vector"], r["Bound"]) for r in add] == [("add_custom", 0.04, "scalar")], add
    assert rows("cast_overhead", ("run", example("02_ascendc")))[0]["No conversions because"] == "the kernels have no types"
    (only,) = rows("hotspots", ("run", example("02_ascendc")))
    assert (only["OP Type"], only["Count"], only["Ratio(%)"]) == ("add_custom", 20, 100), only


def agreement():
    verdicts = {r["OP Type"]: r["Verdict"] for r in rows("collection_check", ("base", example("01_cmdline")),
                                                         ("comparison", example("04_pytorch")))}
    assert verdicts == {"MatMulV2": "agree", "Gelu": "agree"}, verdicts
    verdicts = {r["OP Type"]: r["Verdict"] for r in rows("collection_check", ("base", example("01_cmdline")),
                                                         ("comparison", example("03_pyacl")))}
    assert verdicts == {"MatMulV2": "differ", "Gelu": "differ", "Cast": "comparison only"}, verdicts
    lonely = answers("collection_check", ("base", example("01_cmdline")))[-1]
    assert "profana_open('comparison', 'PATH')" in lonely[0]["No check because"], lonely


class Made:
    """A small PyTorch profile: the files given, as text."""

    def __init__(self, folder, name, rank, **files):
        self.path = f"{folder}/{name}_ascend_pt"
        os.makedirs(f"{self.path}/ASCEND_PROFILER_OUTPUT")
        with open(f"{self.path}/profiler_info_{rank}.json", "w", encoding="utf-8") as f:
            json.dump({"config": {"experimental_config": {"_profiler_level": "Level1"}}, "rank_id": rank}, f)
        for file, text in files.items():
            stem, _, suffix = file.rpartition("_")
            with open(f"{self.path}/ASCEND_PROFILER_OUTPUT/{stem}.{suffix}", "w", encoding="utf-8") as f:
                f.write(text)


HEAD = "Step Id,Device_id,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim"


def kernels(pmu_heads, *lines):
    return "\n".join([HEAD + "," + pmu_heads, *lines]) + "\n"


def pipes(folder):
    """Both generations of counters: cores apart (aic_, aiv_) and one set; weighted by duration, the busier half of a mixed kernel."""
    split = Made(folder, "split", 0, kernel_details_csv=kernels(
        "aicore_time(us),aic_mac_ratio,aic_scalar_ratio,aic_mte1_ratio,aic_mte2_ratio,aic_fixpipe_ratio,"
        "aiv_time(us),aiv_vec_ratio,aiv_scalar_ratio,aiv_mte2_ratio,aiv_mte3_ratio",
        "1,0,1,2,mm,MatMulV3,AI_CORE,1000.0,30.0,0,20,30,0.9,0.1,0.3,0.5,0.2,0,0,0,0,0",
        "1,0,2,2,mm,MatMulV3,AI_CORE,1100.0,10.0,0,20,10,0.5,0.1,0.3,0.7,0.2,0,0,0,0,0",
        "1,0,3,2,fa,FlashAttentionScore,MIX_AIC,1200.0,20.0,0,20,20,0.4,0.2,0.1,0.3,0.1,20,0.3,0.8,0.6,0.2",
        "1,0,4,2,cp,TensorMove,AI_VECTOR_CORE,1300.0,4.0,0,40,0,0,0,0,0,0,4,0.0,0.1,0.4,0.7"))
    found = {r["Kernel"]: r for r in rows("pipe_bound", ("run", split.path))}
    # mm: (30 * 0.9 + 10 * 0.5) / 40 = 0.8 cube, (30 * 0.5 + 10 * 0.7) / 40 = 0.55 mte2.
    assert (found["mm"]["Cube"], found["mm"]["MTE2"], found["mm"]["Total(us)"], found["mm"]["Bound"]) == (0.8, 0.55, 40, "cube"), found
    assert (found["fa"]["Scalar"], found["fa"]["MTE2"], found["fa"]["Cube"], found["fa"]["Bound"]) == (0.8, 0.6, 0.4, "scalar"), found
    assert (found["cp"]["MTE3"], found["cp"]["Bound"]) == (0.7, "mte3"), found
    one = Made(folder, "one", 0, kernel_details_csv=kernels(
        "aicore_time(us),total_cycles,vec_time(us),vec_ratio,mac_time(us),mac_ratio,scalar_ratio,mte1_ratio,mte2_ratio,mte3_ratio",
        "1,0,1,1,ca,Cast,AI_CORE,1000.0,10.0,0,32,9,100,1,0.1,0,0.0,0.02,0.0,0.9,0.7",
        "1,0,2,1,mm,MatMul,AI_CORE,1100.0,50.0,0,32,49,900,0,0.0,40,0.8,0.1,0.6,0.5,0.0"))
    found = {r["Kernel"]: r for r in rows("pipe_bound", ("run", one.path))}
    assert (found["ca"]["Vector"], found["ca"]["MTE2"], found["ca"]["Bound"]) == (0.1, 0.9, "mte2"), found
    assert (found["mm"]["Cube"], found["mm"]["Fixpipe"], found["mm"]["Bound"]) == (0.8, None, "cube"), found


def verdicts(folder):
    made = Made(folder, "steps", 3, step_trace_time_csv="Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free\n"
                "0,1,10,2,1,3,600\n0,2,10,30,1,31,20\n0,3,100,30,10,40,20\n0,4,0,0,0,0,5\n")
    found = rows("host_bound", ("run", made.path))
    assert [(r["Rank"], r["Step"], r["Free / Computing"], r["Verdict"]) for r in found] == [
        (3, 1, 60, "host bound"), (3, 2, 2, "communication bound"), (3, 3, 0.2, "compute bound"), (3, 4, None, "host bound")], found
    whole = rows("step_breakdown", ("run", made.path))
    assert [(r["Step"], r["Total(us)"], r["Source"]) for r in whole] == [(1, 612, "read"), (2, 60, "read"), (3, 150, "read"),
                                                                         (4, 5, "read")], whole
    # The same from kernels: [0,30) and [50,60) compute; without step markers one row for the whole.
    made = Made(folder, "nosteps", 0, kernel_details_csv=HEAD + "\n,0,1,1,a,Add,AI_CORE,1000.0,30.0,0,1\n,0,2,1,a,Add,AI_CORE,1050.0,10.0,0,1\n")
    found = rows("step_breakdown", ("run", made.path))
    assert [(r["Step"], r["Computing(us)"], r["Free(us)"], r["Total(us)"], r["Source"]) for r in found] == [
        (None, 40, 20, 60, "computed")], found


def collectives(folder):
    """A timeline of one allReduce on three planes, and the same told by communication.json alone."""
    def event(tid, name, start, dur, **args):
        return {"ph": "X", "pid": 1, "tid": tid, "name": name, "ts": f"{1_700_000_000_000_000 + start}.000", "dur": dur, "args": args}

    def link(kind, size):
        return {"size(Byte)": size, "transport type": "SDMA", "link type": kind}

    trace = [{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "Communication"}}]
    for tid, name in enumerate(["Group 7 Communication", "Plane 0", "Plane 1", "Plane 2"]):
        trace += [{"ph": "M", "name": "thread_name", "pid": 1, "tid": tid, "args": {"name": name}},
                  {"ph": "M", "name": "thread_sort_index", "pid": 1, "tid": tid, "args": {"sort_index": tid}}]
    trace += [event(0, "hcom_allReduce__777_0_1", 0, 100),
              event(1, "Memcpy", 1, 5, **link("ON_CHIP", 4000)),                          # plane 0 neither waits nor leaves the chip
              event(2, "Notify_Wait", 1, 30), event(2, "Memcpy", 40, 20, **link("HCCS", 40000)), event(2, "Notify_Wait", 61, 10),
              event(3, "Notify_Wait", 1, 90), event(3, "Memcpy", 92, 5, **link("HCCS", 10000))]
    made = Made(folder, "trace", 0, trace_view_json=json.dumps(trace))
    found = rows("communication", ("run", made.path))
    # The first plane that waits tells wait and transmit; 50000 byte in 25 us of all planes are 2 GB/s.
    assert [(r["Operation"], r["Count"], r["Total(us)"], r["Wait(us)"], r["Transmit(us)"], r["Size(MB)"], r["GB/s"], r["Ratio(%)"],
             r["Source"]) for r in found] == [("hcom_allReduce_", 1, 100, 40, 20, 0.05, 2, 100, "computed")], found
    assert found[0]["Idle(us)"] == 100 - 40 - 20, found
    times = {"Start Timestamp(us)": 1700000000000000.0, "Elapse Time(ms)": 0.1, "Transit Time(ms)": 0.02, "Wait Time(ms)": 0.04,
             "Synchronization Time(ms)": 0.03, "Idle Time(ms)": 0.04, "Wait Time Ratio": 0.6667, "Synchronization Time Ratio": 0.6}
    links = {kind: {"Transit Size(MB)": size, "Transit Time(ms)": ms, "Bandwidth(GB/s)": size and size / ms, "Large Packet Ratio": 0,
                    "Size Distribution": {}} for kind, size, ms in (("RDMA", 0, 0), ("HCCS", 0.05, 0.025), ("PCIE", 0, 0),
                                                                    ("SDMA", 0.05, 0.025), ("SIO", 0, 0))}
    info = {"Communication Time Info": times, "Communication Bandwidth Info": links}
    told = Made(folder, "told", 0, communication_json=json.dumps({"step1": {"p2p": {}, "collective": {
        "hcom_allReduce__777_0_1@99": info, "hcom_allReduce__777_1_1@99": info, "Total Op Info": info}}}))
    found = rows("communication", ("run", told.path))
    assert [(r["Group"], r["Operation"], r["Count"], r["Total(us)"], r["Wait(us)"], r["Transmit(us)"], r["Size(MB)"], r["GB/s"],
             r["Source"]) for r in found] == [("99", "hcom_allReduce_", 2, 200, 80, 40, 0.1, 2, "read")], found


def memory(folder):
    """The peak is the third record; alive then are a (two blocks) and c, not b (released) and not d (later)."""
    made = Made(folder, "memory", 0, memory_record_csv="Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type\n"
                "PTA,1000.0,10,64,NPU:0\nPTA,2000.0,20,64,NPU:0\nPTA,3000.0,40,64,NPU:0\nPTA,4000.0,30,64,NPU:0\n",
                operator_memory_csv="Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),Device Type\n"
                "a,1024,900.0,,,NPU:0\na,2048,2500.0,3500.0,1000,NPU:0\nb,4096,950.0,2900.0,1950,NPU:0\nc,512,3000.0,3001.0,1,NPU:0\n"
                "d,8192,3000.5,,,NPU:0\n")
    found = rows("memory_peak", ("run", made.path))
    assert [(r["At(ms)"], r["Allocated(MiB)"], r["Reserved(MiB)"], r["Operator"], r["Blocks"], r["Size(MiB)"]) for r in found] == [
        (2, 40, 64, "a", 2, 3), (2, 40, 64, "c", 1, 0.5)], found


def timeline():
    """The step asked for, its first kernel where kernel_details.csv has it, the host's top operators only."""
    path = example("04_pytorch")
    for options, step in (({}, "3"), ({"step": 5}, "5")):
        found = rows("timeline", ("run", path, options))
        names = [r["Name"] for r in found if r["Lane"] == "stream 2"]
        want = [n for n, s in zip(column(f"{path}/**/kernel_details.csv", "Name"), column(f"{path}/**/kernel_details.csv", "Step Id"), strict=True)
                if s == step]
        assert names == want and {r["Step"] for r in found} == {int(step)}, found
        host = [r["Name"] for r in found if r["Lane"].startswith("host")]
        assert set(host) == {"aten::linear", "aten::gelu"} and [r["At(us)"] for r in found] == sorted(r["At(us)"] for r in found), found


def first_of_the_timeline(folder):
    """The first 200 by start, and of those that start together the longer first."""
    lines = [f",0,{i},2,k{i},Add,AI_VECTOR_CORE,{1000 + i}.0,0.5,0,1" for i in range(2, 202)]
    lines += [",0,1,3,short,Add,AI_VECTOR_CORE,1000.0,0.1,0,1", ",0,0,4,long,Add,AI_VECTOR_CORE,1000.0,0.9,0,1"]
    made = Made(folder, "many", 0, kernel_details_csv="\n".join([HEAD, *lines]) + "\n")
    names = [r["Name"] for r in rows("timeline", ("run", made.path))]
    assert names == ["long", "short", *(f"k{i}" for i in range(2, 200))], names


def no_reason_needed(folder):
    """Times of a step, collectives or types that a file tells need no reason why there are no kernels."""
    told = Made(folder, "told_steps", 0, step_trace_time_csv="Step,Computing,Communication(Not Overlapped),Free\n1,10,0,1\n").path
    trace = [{"ph": "M", "name": "process_name", "pid": 3, "tid": 0, "args": {"name": "Communication"}},
             {"ph": "M", "name": "thread_name", "pid": 3, "tid": 0, "args": {"name": "Group g Communication"}},
             {"ph": "X", "name": "hcom_allReduce__1_0_1", "pid": 3, "tid": 0, "ts": "1000.000", "dur": 10, "args": {}}]
    collectives_only = Made(folder, "collectives_only", 0, trace_view_json=json.dumps(trace)).path
    types = Made(folder, "types", 0, op_statistic_csv="Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),"
                 "Ratio(%)\n0,Add,AI_VECTOR_CORE,1,5,5,5,5,100\n").path
    for report, path in (("host_bound", told), ("step_breakdown", told), ("host_bound", collectives_only), ("step_breakdown", collectives_only),
                         ("hotspots", types)):
        found = answers(report, ("run", path))
        assert len(found) == 1 and len(found[0]) == 1 and "Profile" in found[0][0] and len(found[0][0]) > 3, (report, path, found)


def other_reasons(folder):
    """Records of memory without a device tell of no peak, and kernels of a GPU have no types."""
    made = Made(folder, "no_device", 0, memory_record_csv="Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type\n"
                "PTA,1000.0,10,64,\n")
    (why,) = rows("memory_peak", ("run", made.path))
    assert why["No peak because"], why
    path = f"{folder}/gpu.pt.trace.json"
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [
            {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1000, "dur": 10, "args": {"stream": 7, "device": 0}}]}, f)
    (why,) = rows("cast_overhead", ("run", path))
    assert why["No conversions because"] == "kernels of GPU traces have no types", why


def reasons(folder):
    """An empty report tells why."""
    bare = Made(folder, "bare", 0, step_trace_time_csv="Step,Computing,Communication(Not Overlapped),Free\n1,1,0,1\n").path
    for report, head, why in (("hotspots", "No operators because", "kernel_details.csv"), ("pipe_bound", "No kernels because", "kernel_details.csv"),
                              ("cast_overhead", "No conversions because", "kernel_details.csv"),
                              ("communication", "No collectives because", "trace_view.json"),
                              ("operator_mfu", "No MFU because", "with_flops=True"), ("module_mfu", "No MFU because", "with_flops=True"),
                              ("memory_peak", "No peak because", "memory_record.csv"), ("timeline", "No work because", "kernel_details.csv")):
        found = rows(report, ("run", bare))
        assert len(found) == 1 and why in found[0][head], (report, found)


def nothing_open():
    """Every report on one profile says that there is none; with one open it does not."""
    names = sorted(os.path.basename(f).removesuffix(".sql") for f in glob.glob(f"{ROOT}/sql/reports/*.sql"))
    for report in set(names) - {"collection_check", "compare", "diagnose"}:  # these ask for two
        hint = {"Nothing to report": "no profile is open yet: SELECT profana_open('run', 'PATH')"}
        assert answers(report) == [[hint]], (report, answers(report))
        assert hint not in rows(report, ("run", "tests/golden/text_text/base")), report
    assert "not_open" in shell([], ["compare"], "csv")[0] and "profana_open" in shell([], ["diagnose"], "csv")[0]


def level0(folder):
    """Databases of Level0 have tasks that tell nothing (N/A, -1), kernels no types: unknown is empty, not 0, and not 'none'."""
    path = shutil.copytree(f"{ROOT}/tests/golden/db_db/base", f"{folder}/level0")
    (file,) = glob.glob(f"{path}/**/ascend_pytorch_profiler*.db", recursive=True)
    db = sqlite3.connect(file)
    db.execute("INSERT INTO STRING_IDS(id, value) VALUES (999999, 'N/A')")
    db.execute("UPDATE COMMUNICATION_TASK_INFO SET taskType = 999999, planeId = 4294967295, size = -1, transportType = 65534, linkType = 65534")
    db.execute("UPDATE COMPUTE_TASK_INFO SET opType = 999999")
    db.commit()
    db.close()
    found = rows("communication", ("run", path))
    assert found and all(r["Total(us)"] > 0 for r in found), found
    assert {r[head] for r in found for head in ("Wait(us)", "Transmit(us)", "Idle(us)", "Size(MB)", "GB/s")} == {None}, found
    (info,) = glob.glob(f"{path}/**/profiler_info_0.json", recursive=True)
    with open(info, encoding="utf-8") as f:
        config = f.read()
    for level, advice in (("Level0", ": collect at Level1"), ("Level1", "")):
        with open(info, "w", encoding="utf-8") as f:
            f.write(re.sub(r'Level\d', level, config))
        (why,) = rows("cast_overhead", ("run", path))
        assert why["No conversions because"] == "the kernels have no types" + advice, why


def embedded():
    """Hosts without .read have the same texts from the library."""
    listed = json.loads(subprocess.run(["sqlite3", "-batch", "-json", ":memory:", "-cmd", f".load {LIBRARY}",
                                        "SELECT name, title, sql FROM profana_report"], text=True, capture_output=True, check=True).stdout)
    files = {os.path.relpath(f, f"{ROOT}/sql/reports").removesuffix(".sql"): f for f in glob.glob(f"{ROOT}/sql/reports/**/*.sql", recursive=True)}
    shipped = {name: file for name, file in files.items() if not name.startswith("html/")}
    assert {entry["name"] for entry in listed} == set(shipped)
    for entry in listed:
        with open(shipped[entry["name"]], encoding="utf-8") as f:
            assert f.read() == entry["sql"] and entry["sql"].startswith(f"-- {entry['title']}\n"), entry


readable()
nothing_open()
embedded()
findings()
agreement()
timeline()
with tempfile.TemporaryDirectory() as place:
    for step in (pipes, verdicts, collectives, memory, first_of_the_timeline, reasons, no_reason_needed, other_reasons, level0):
        step(place)
print("reports: ok")
