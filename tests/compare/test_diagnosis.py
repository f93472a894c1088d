"""What is said of a comparison: cautions before it, the diagnosis in words, verdicts, noise and spread, on runs of a few events.

Then both reports on pairs of odd profiles: no error, and nothing said that the figures do not bear out.
"""
import math
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

from profiles import ROOT, Checks, Db, Gpu, Session, Text, us

CAUTIONS = "SELECT profile, code FROM compare_diagnostic ORDER BY code, profile"


class Case:
    """Runs of one test, numbered, in one folder."""

    def __init__(self, library, folder, checks):
        self.library, self.folder, self.checks, self.count = library, folder, checks, 0

    def path(self, run):
        self.count += 1
        return run.write(f"{self.folder}/{self.count}" + (".pt.trace.json" if isinstance(run, Gpu) else "_ascend_pt"))

    def session(self, base=None, comparison=None, **options):
        paths = [run if run is None or isinstance(run, str) else self.path(run) for run in (base, comparison)]
        return Session(self.library, *paths, **options)


def run(mm=100, reduce=50, wait=10, memory=100, steps=1, add_calls=1):
    """A step of 1000 us: a matrix product, additions, a collective with a wait; lanes that agree with them."""
    t = Text()
    t.group("1")
    for step in range(steps):
        at = step * 1000
        t.op(f"ProfilerStep#{step + 1}", at, 990)
        t.op("aten::mm", at + 10, 50)
        t.kernel("MatMul", at + 200, mm, "MatMulV3", "AI_CORE", launch=at + 10, step=step + 1, shapes="2,3;3,4")
        t.block("x", 1024 * memory, at + 15, at + 900)
        for i in range(add_calls):
            t.op("aten::add", at + 100 + i * 10, 5)
            t.kernel("Add", at + 500 + i * 10, 5, "Add", launch=at + 100 + i * 10, step=step + 1)
        t.collective("1", "hcom_allReduce__1_0_1", at + 700, reduce, step=step + 1)
        t.comm_task("1", 0, "Notify_Wait", at + 700, wait)
        t.lane("Computing", at + 200, mm)
        for i in range(add_calls):
            t.lane("Computing", at + 500 + i * 10, 5)
        t.lane("Communication(Not Overlapped)", at + 700, reduce)
    t.reserved.append(["PTA", us(50), memory, memory, "NPU:0"])
    return t


def lanes(case):
    """Analysis lanes and intervals more than 0.1 % apart are told, with both figures; up to 0.1 % they are not."""
    def told(lane, kernel, uncovered, collective, copy_end):
        t = Text()
        t.group("1")
        t.kernel("k", 0, kernel)
        t.collective("1", "hcom_allReduce__1_0_1", 2000, collective)
        t.task("copy", copy_end - 1, 1, "SDMA_SQE")
        t.lane("Computing", 0, lane)
        t.lane("Communication(Not Overlapped)", 2000, uncovered)
        t.lane("Free", 2900, 100)                           # the lanes end at 3000
        return case.session(t, run()).rows("SELECT message FROM compare_diagnostic WHERE code = 'lanes_differ' AND profile = 'base'")
    said = "rank 0, {}: {} ms by the profiler's analysis lanes (shown), {} ms by kernels, collectives and tasks".format
    case.checks.equal("equal", told(1000, 1000, 500, 500, 3000), [])
    case.checks.equal("a thousandth apart", told(999, 1000, 500, "499.5", 3003), [])
    case.checks.equal("computing", told("998.9", 1000, 500, 500, 3000), [(said("Computing Time", "0.999", "1.000"),)])
    case.checks.equal("uncovered", told(1000, 1000, 500, 499, 3000), [(said("Uncovered Communication Time", "0.500", "0.499"),)])
    case.checks.equal("end to end", told(1000, 1000, 500, 500, 3004), [(said("E2E Time", "3.000", "3.004"),)])
    # a kernel over the collective: 700 of its 800 us are covered
    t = Text()
    t.group("1")
    t.kernel("k", 0, 700)
    t.collective("1", "hcom_allReduce__1_0_1", 0, 800)
    t.lane("Computing", 0, 700)
    t.lane("Communication(Not Overlapped)", 700, 100)
    case.checks.equal("covered", case.session(t, run()).rows("SELECT * FROM compare_diagnostic WHERE code = 'lanes_differ'"), [])


def profiling_marks(case):
    """Marks of the profiler itself, which text exports tell by name, do not stretch the time from end to end."""
    t = Text()
    t.kernel("k", 100, 10)
    t.task("PROFILING_ENABLE", 0, 1, "PLACE_HOLDER_SQE")
    t.task("PROFILING_DISABLE", 900, 1, "PLACE_HOLDER_SQE")
    t.task("EVENT_RECORD", 120, 1, "EVENT_RECORD_SQE")
    case.checks.equal("end to end", case.session(t, t.write(case.folder + "/marks_ascend_pt")).value(
        "SELECT base_ns FROM overall_metrics WHERE metric = 'E2E Time'"), 21000)


def cautions(case):
    """Each thing that makes a comparison doubtful, by itself."""
    case.checks.equal("nothing", case.session(run(), run(mm=150)).rows(CAUTIONS), [])
    case.checks.equal("none open", case.session().rows(CAUTIONS), [("base", "not_open"), ("comparison", "not_open")])
    case.checks.equal("one open", case.session(run()).rows("SELECT profile, message FROM compare_diagnostic"),
                      [("comparison", "no profile has this name yet: SELECT profana_open('comparison', 'PATH')")])
    one, two = case.path(run()), case.path(run(steps=2))
    steps = "SELECT message FROM compare_diagnostic WHERE code = 'steps_differ'"
    case.checks.equal("steps", case.session(one, two).rows(steps),
                      [("steps of base: 1, of comparison: 2; open both with option step to compare like with like",)])
    case.checks.equal("a step chosen on one side", case.session(two, two, base_options={"step": 2}).rows(steps),
                      [("steps of base: 1, of comparison: 2; open both with option step to compare like with like",)])
    case.checks.equal("a step chosen on both", case.session(two, two, base_options={"step": 2}, comparison_options={"step": 1}).rows(steps), [])
    bare = Text()
    bare.kernel("k", 0, 5, unmeasured=True)
    case.checks.equal("no steps", case.session(one, bare).rows(steps),
                      [("marked steps of base: 1, of comparison: 0; whether both did as much cannot be told",)])
    case.checks.equal("bare", [row for row in case.session(one, bare).rows(CAUTIONS) if row[1] != "steps_differ"],
                      [("comparison", "no_details"), ("comparison", "no_memory")])
    instant = Text()
    instant.kernel("k", 0, 0)
    case.checks.equal("no length", ("comparison", "no_end_to_end") in case.session(one, instant).rows(CAUTIONS), True)
    ranks = f"{case.folder}/ranks"
    for rank in (0, 1):
        run().write(f"{ranks}/{rank}_ascend_pt", rank=rank)
    case.checks.equal("ranks", case.session(ranks, one).rows(CAUTIONS), [(None, "ranks_differ")])
    case.checks.equal("a rank chosen", case.session(ranks, one, base_options={"rank": 1}).rows(CAUTIONS), [])
    out = f"{ranks}/1_ascend_pt/ASCEND_PROFILER_OUTPUT"
    os.remove(f"{out}/kernel_details.csv")
    os.remove(f"{out}/trace_view.json")
    s = case.session(ranks, ranks)
    told = "SELECT profile, message FROM compare_diagnostic WHERE code = 'rank_without_kernels'"
    case.checks.equal("a rank without kernels", s.rows(told),
                      [(side, "of 2 ranks, 1 without kernels (no kernel_details.csv and no trace_view.json): not in the sheets of kernels; overall "
                        "times may lack its computing") for side in ("base", "comparison")])
    listed = run()
    listed.stat.append([0, "MatMulV3", "AI_CORE", 1, 100, 100, 100, 100, 100])
    case.checks.equal("kernel types of one side", case.session(run(), listed).rows(CAUTIONS), [("base", "no_kernel_types")])
    database = Db()
    database.api("aten::mm", 0, 10, [1])
    database.kernel("MatMul", 100, 10, 1)
    case.checks.equal("two kinds of source", (None, "kernels_differ") in case.session(one, database).rows(CAUTIONS), True)
    case.checks.equal("two databases", (None, "kernels_differ") in case.session(database, database).rows(CAUTIONS), False)


def missing_step(case):
    """A step that one side has not is refused with the steps that there are."""
    two = case.path(run(steps=2))
    try:
        case.session(two, case.path(run()), base_options={"step": 2}, comparison_options={"step": 2}).rows("SELECT * FROM overall_metrics")
        case.checks.equal("refused", False, True)
    except sqlite3.Error as error:
        case.checks.equal("refused", str(error), "profana: profile 'comparison' has no step 2; its steps are [1]; open it with one of them, or "
                           "profana_close('comparison') leaves it out")


def findings(s):
    return [row[0] for row in s.rows("SELECT finding FROM diagnosis ORDER BY order_id")]


def worse(case):
    """Every area worsens: the worst first, each with what grew in it. All figures are differences of run()'s arguments."""
    s = case.session(run(), run(mm=160, reduce=90, wait=25, memory=300))
    case.checks.equal("cautions", s.rows(CAUTIONS), [])
    case.checks.equal("words", findings(s), [
        "End to end: 0.590 ms against 0.550 ms, +7.3 %.",                              # 200 to 700 + 50, to 700 + 90
        "Computing Time: 0.165 ms against 0.105 ms, +0.060 ms; end to end grew by 0.040 ms.",
        "  operator aten::mm: +0.060 ms (0.160 against 0.100; calls: 1 against 1)",
        "  kernel MatMulV3 [2,3;3,4]: +0.060 ms (0.160 against 0.100; calls: 1 against 1)",
        "Uncovered Communication Time: 0.090 ms against 0.050 ms, +0.040 ms; end to end grew by 0.040 ms.",
        "  collective allreduce: +0.040 ms (0.090 against 0.050; calls: 1 against 1)",
        "  Waits for other ranks, those behind computing too: 0.025 ms against 0.010 ms; where they grew, another rank is the slow one.",
        "Free Time: 0.335 ms against 0.395 ms, -0.060 ms: not worse.",
        "Memory in use: 0.29 GiB against 0.10 GiB, more than before.",
        "  operator aten::mm: +200.00 MB (300.00 against 100.00; calls: 1 against 1)"])
    case.checks.equal("figures", s.rows("SELECT area, base, comparison, diff FROM diagnosis WHERE subject = 'whole' ORDER BY order_id"),
                      [("end to end", 550000, 590000, 40000), ("computing", 105000, 165000, 60000), ("communication", 50000, 90000, 40000),
                       ("free", 395000, 335000, -60000), ("memory", 100 << 20, 300 << 20, 200 << 20)])


def better(case):
    """The same the other way round: nothing is blamed."""
    s = case.session(run(mm=160, reduce=90, memory=300), run())
    case.checks.equal("words", findings(s), [
        "End to end: 0.550 ms against 0.590 ms, -6.8 %.",
        "Free Time: 0.395 ms against 0.335 ms, +0.060 ms, longer though the whole is not.",
        "  No host call takes notably longer by itself: look for waits, copies and launches.",
        "Uncovered Communication Time: 0.050 ms against 0.090 ms, -0.040 ms: not worse.",
        "Computing Time: 0.105 ms against 0.165 ms, -0.060 ms: not worse.",
        "Memory in use: 0.10 GiB against 0.29 GiB: not worse."])


def margin(case):
    """An area is worse above half a percent of base's end to end: of 550 us that is 2.75 us."""
    for grown, is_worse in (("102.75", False), ("102.751", True)):
        line = [f for f in findings(case.session(run(), run(mm=float(grown)))) if f.startswith("Computing")][0]
        case.checks.equal(grown, line.endswith("not worse."), not is_worse)


def blame(case):
    """At most five are named, each with a hundredth of what the area grew by or more; nothing recorded is nothing blamed."""
    def kinds(factor):
        t = Text()
        for i, grows in enumerate((1, 1000, 2000, 3000, 4000, 5000, 6000)):
            t.op(f"op{i}", i * 100, 50)
            t.kernel(f"k{i}", 10000 + i * 10000, 100 + (factor - 1) * grows, f"Type{i}", launch=i * 100)
        return t
    s = case.session(kinds(1), kinds(2))
    named = "SELECT name, diff FROM diagnosis WHERE area = 'computing' AND subject = ? ORDER BY order_id"
    case.checks.equal("operators", s.rows(named, "operator"), [(f"op{i}", (i) * 1000000) for i in (6, 5, 4, 3, 2)])
    case.checks.equal("kernels", s.rows(named, "kernel"), [(f"Type{i}", i * 1000000) for i in (6, 5, 4, 3, 2)])
    few = case.session(run(), run(mm=300, add_calls=2))     # 5 us of 205: named; 1 us of 201 is not
    case.checks.equal("a fortieth", few.rows(named, "operator"), [("aten::mm", 200000), ("aten::add", 5000)])
    t = Text()
    t.reserved.append(["PTA", us(50), 1, 1024, "NPU:0"])
    u = Text()
    u.reserved.append(["PTA", us(50), 1, 2048, "NPU:0"])
    case.checks.equal("nothing recorded", findings(case.session(t, u))[-2:],
                      ["Memory in use: 2.00 GiB against 1.00 GiB, more than before.", "  What is to blame cannot be told: no host operators were recorded."])


def nothing_to_caution(case):
    """What both sides lack, or what takes no part in either, is no caution."""
    def codes(base, comparison=None):
        return case.session(base, comparison or base).rows("SELECT code FROM compare_diagnostic")
    t = Text()
    t.kernel("k", 0, 5)
    t.lane("Computing", 0, 5)
    case.checks.equal("no memory on either side", codes(case.path(t)), [])
    t = Text()
    t.group("g")
    t.collective("g", "hcom_allReduce__1_0_1", 0, 50)
    t.lane("Communication(Not Overlapped)", 0, 50)
    case.checks.equal("no computing to be split", codes(case.path(t)), [])
    t = Text()
    t.kernel("k", 100, 1000)
    t.task("PROFILING_ENABLE", 0, 1, "PLACE_HOLDER_SQE")
    t.lane("Computing", 100, 1000)
    case.checks.equal("marks of the profiler beside the lanes", codes(case.path(t)), [])
    t = Text()
    t.op("aten::add", 0, 5)
    case.checks.equal("the only rank has no kernels", codes(case.path(t)), [("no_end_to_end",)] * 2)
    marked, later = Text(), Text()
    for t in (marked, later):
        t.op("ProfilerStep#1", 0, 100)
        t.kernel("k", 10, 5, step=1)
    later.kernel("l", 200, 5, step=2)
    case.checks.equal("kernels of a step that is not marked", codes(case.path(later), case.path(marked)), [])
    t, d = Text(), Db()
    t.kernel("k", 0, 5)
    d.kernel("k", 0, 5)
    case.checks.equal("kinds of source without collectives", codes(case.path(t), case.path(d)), [("no_kernel_types",)])


def blame_of_kernels(case):
    """Collectives of a GPU are no computing, though they are kernels; what grew by less than a hundredth is not named."""
    def gpu(dur):
        g = Gpu()
        g.kernel("gemm", 0, dur)
        g.kernel("ncclDevKernel_AllReduce", 5000, dur, stream=9)
        return g
    named = "SELECT area, subject, name FROM diagnosis WHERE subject IN ('operator', 'kernel') ORDER BY order_id"
    case.checks.equal("collectives", case.session(gpu(100), gpu(1000)).rows(named), [("computing", "kernel", "gemm")])

    def two(big, small):
        t = Text()
        for name, at, dur in (("big", 1000, big), ("small", 100000, small)):
            t.op(name, at / 10, 5)
            t.kernel(name, at, dur, name, launch=at / 10)
            t.lane("Computing", at, dur)
        return t
    # a hundredth of 1000 + 10 us is more than 10, of 1000 + 11 it is less than 11
    for grown, also in ((10, []), (11, ["small"])):
        s = case.session(two(1000, 10), two(2000, 10 + grown))
        case.checks.equal(f"{grown} us", s.rows(named),
                          [("computing", subject, name) for subject in ("operator", "kernel") for name in ["big", *also]])


def single_calls(case):
    """Calls within their spread are said to be so where both sides have as many of them."""
    def calls(durs):
        t = Text()
        for i, dur in enumerate(durs):
            t.op("x", i * 10, 5)
            t.kernel("k", 1000 + i * 1000, dur, launch=i * 10)
            t.lane("Computing", 1000 + i * 1000, dur)
        return t
    said = "SELECT finding FROM diagnosis WHERE subject = 'operator'"
    case.checks.equal("as many", case.session(calls([10, 20, 60]), calls([20, 30, 61])).rows(said),
                      [("  operator x: +0.021 ms (0.111 against 0.090; calls: 3 against 3), single calls within their spread",)])
    case.checks.equal("one more", case.session(calls([10, 20, 60]), calls([10, 20, 60, 60])).rows(said),
                      [("  operator x: +0.060 ms (0.150 against 0.090; calls: 4 against 3)",)])


def waits_told(case):
    """Waits are those of the chosen step; where nobody waits there is no line about them."""
    def steps(waits, durs):
        t = Text()
        t.group("g")
        for i, (wait, dur) in enumerate(zip(waits, durs, strict=True)):
            t.op(f"ProfilerStep#{i + 1}", i * 1000, 990)
            t.kernel("k", i * 1000 + 10, 5, step=i + 1)
            t.collective("g", "hcom_allReduce__1_0_1", i * 1000 + 100, dur, step=i + 1)
            t.comm_task("g", 0, "Notify_Wait" if wait else "Memcpy", i * 1000 + 100, wait or 5)
        return t
    line = "SELECT base, comparison FROM diagnosis WHERE name = 'wait'"
    two, grown = case.path(steps((20, 10), (100, 100))), case.path(steps((20, 90), (100, 400)))
    s = case.session(two, grown, base_options={"step": 2}, comparison_options={"step": 2})
    case.checks.equal("step 2", s.rows(line), [(10000, 90000)])
    case.checks.equal("both steps", case.session(two, grown).rows(line), [(30000, 110000)])
    s = case.session(steps((0,), (50,)), steps((0,), (500,)))
    case.checks.equal("worse", s.value("SELECT count(*) FROM diagnosis WHERE area = 'communication' AND subject = 'collective'"), 1)
    case.checks.equal("nobody waits", s.rows(line), [])


def verdicts(case):
    """The five verdicts, the ratio that decides them, noise and spread, on every statistic sheet that has them."""
    def calls(durs, start=0):
        t = Text()
        t.group("1")
        at = start
        for name, values in durs.items():
            for dur in values:
                t.op("op" + name, at, 5)
                t.block("x", dur, at)
                t.kernel(name, 100000 + at, dur, "T" + name, launch=at)
                t.collective("1", f"hcom_{name}__1_{at}_1", 200000 + at, dur)
                at += 1000
        return t
    base = {"w": [10, 20, 30], "b": [30], "s": [50000], "o": [7], "z": [0], "n": [10, 20, 60]}
    comparison = {"w": [40, 50, 60], "b": [10], "s": [50001], "c": [9], "z": [0], "n": [20, 30, 61]}
    s = case.session(calls(base), calls(comparison))
    expected = {}
    for name in base.keys() | comparison.keys():
        b, c = base.get(name), comparison.get(name)
        ratio = (1.0 if sum(b or [0]) == sum(c or [0]) else math.inf if not sum(b or [0]) else sum(c or [0]) / sum(b))
        verdict = ("comparison only" if b is None else "base only" if c is None
                   else "worse" if round(ratio, 4) > 1 else "better" if round(ratio, 4) < 1 else "same")
        def middle(values):
            return None if values is None else sorted(values)[len(values) // 2]
        def spread(values):             # between the quartiles, which lie half way between neighbours of three
            if values is None or len(values) == 1:
                return None if values is None else 0
            low, mid, high = sorted(values)
            return (mid + high) / 2 - (low + mid) / 2
        noise = None if b is None or c is None else int(abs(middle(c) - middle(b)) <= max(spread(b), spread(c)))
        expected[name] = (verdict, ratio, noise, middle(b), spread(b), middle(c), spread(c))
    # 30 against 10: worse and outside of a spread of 10; medians 20 and 30 of n differ by less than its spread of 25
    case.checks.equal("what is to be shown", {n: e[:3] for n, e in expected.items()},
                      {"w": ("worse", 2.5, 0), "b": ("better", 1 / 3, 0), "s": ("same", 50001 / 50000, 0), "o": ("base only", 0.0, None),
                       "c": ("comparison only", math.inf, None), "z": ("same", 1.0, 1), "n": ("worse", 111 / 90, 1)})
    for view, name, ratio, unit, factor in (
            ("operator_compare_statistic", "substr(name, 3)", "device_ratio", "ns", 1000),
            ("memory_compare_statistic", "substr(name, 3)", "size_ratio", "bytes", 1024),
            ("kernel_compare", "substr(kernel_type, 2)", "total_ratio", "ns", 1000),
            ("communication_compare", "kind", "total_ratio", "ns", 1000)):
        rows = s.rows(f"SELECT {name}, verdict, {ratio}, noise, base_median_{unit}, base_spread_{unit}, comparison_median_{unit}, "
                      f"comparison_spread_{unit} FROM {view} WHERE length({name}) = 1")
        found = {r[0]: (*r[1:4], *(None if v is None else v / factor for v in r[4:])) for r in rows}
        case.checks.equal(view, found, expected)


def module_noise(case):
    """Modules tell noise too: calls of 10, 20 and 60 us against 20, 30 and 61."""
    def calls(durs):
        t = Text()
        for i, dur in enumerate(durs):
            t.python("nn.Module: Net_0", i * 1000, 500)
            t.op("aten::mm", i * 1000 + 10, 50)
            t.kernel("k", 100000 + i * 1000, dur, launch=i * 1000 + 10)
        return t
    columns = ("SELECT verdict, noise, base_median_ns, base_spread_ns, comparison_median_ns, comparison_spread_ns "
               "FROM module_compare_statistic WHERE operator IS NULL")
    case.checks.equal("within", case.session(calls([10, 20, 60]), calls([20, 30, 61])).rows(columns), [("worse", 1, 20000, 25000, 30000, 20500)])
    case.checks.equal("outside", case.session(calls([10, 20, 30]), calls([40, 50, 60])).rows(columns), [("worse", 0, 20000, 10000, 50000, 10000)])


def kernel_types(case):
    """In databases kinds of kernel have spreads; op_statistic.csv has sums only, so there noise is unknown."""
    def database(durs):
        d = Db()
        for i, dur in enumerate(durs):
            d.kernel("k", i * 1000, dur, "Add")
        return d
    columns = "SELECT verdict, noise, base_median_ns, base_spread_ns, comparison_median_ns FROM kernel_type_compare"
    case.checks.equal("database", case.session(database([10, 20, 60]), database([20, 30, 61])).rows(columns), [("worse", 1, 20000, 25000, 30000)])
    t = Text()
    t.kernel("k", 0, 5, "Add")
    t.stat.append([0, "Add", "AI_VECTOR_CORE", 1, 5, 5, 5, 5, 100])
    case.checks.equal("text", case.session(t, t.write(case.folder + "/stat_ascend_pt")).rows(columns), [("same", None, None, None, None)])


def negative_times(case):
    """Free time can be less than nothing; then the difference decides, for a ratio of such amounts says nothing."""
    def free(end):
        t = Text()
        t.kernel("k", 0, 100)
        t.lane("Computing", 0, 100)
        t.lane("Communication(Not Overlapped)", 50, 50)     # 150 us within 100: free -50
        t.lane("Free", end, 0)
        return t
    rows = "SELECT base_ns, comparison_ns, verdict FROM overall_metrics WHERE metric = 'Free Time'"
    case.checks.equal("free of less than nothing", case.session(free(100), free(180)).rows(rows), [(-50000, 30000, "worse")])
    case.checks.equal("and back", case.session(free(180), free(100)).rows(rows), [(30000, -50000, "better")])
    case.checks.equal("both below", case.session(free(100), free(130)).rows(rows), [(-50000, -20000, "worse")])


def odd_profiles(case):
    """Profiles that lack something, by name."""
    host = Text()
    host.op("aten::add", 0, 10)
    instant = Text()
    instant.kernel("k", 10, 0, "Nothing")
    one = Text()
    one.kernel("k", 10, 5, "One")
    words = Text()
    words.op("é操作 'quoted\" \t%s", 0, 10)
    words.kernel("核函数🙂", 10, 5, "类型'--", launch=0, shapes="1,2")
    host_gpu, gpu = Gpu(), Gpu()
    host_gpu.op("aten::add", 0, 10)
    gpu.op("aten::mm", 0, 10)
    gpu.kernel("gemm", 20, 10, launch=0)
    gpu.kernel("ncclDevKernel_AllReduce", 40, 10, stream=9)
    gpu.memory(5, 1024)
    db = Db()
    db.api("aten::mm", 0, 10, (1,))
    db.kernel("MatMul", 20, 5, "MatMulV3", core="AI_CORE", rts="KERNEL_AICORE", connection=1)
    db.collective("hcom_allReduce__1_0_1", "hcom_allReduce_", 30, 10, "g")
    steps = case.path(run(steps=2))
    made = {"steps": steps, "trace alone": f"{steps}/ASCEND_PROFILER_OUTPUT/trace_view.json", "empty": case.path(Text()),
            "csv alone": case.path(run(reduce=70)), "host only": case.path(host), "instant": case.path(instant), "one kernel": case.path(one),
            "words": case.path(words), "host of a GPU": case.path(host_gpu), "GPU": case.path(gpu), "empty GPU": case.path(Gpu()), "database": case.path(db)}
    os.remove(f"{made['csv alone']}/ASCEND_PROFILER_OUTPUT/trace_view.json")
    return made


def reports(case):
    """Both reports on odd pairs: no error; every line about an area is borne out by overall_summary, and none is said of what is unknown."""
    made = odd_profiles(case)
    full = made["steps"]
    pairs = [(f"{name} itself", path, path) for name, path in made.items()] + [
        pair for name, path in made.items() if path != full for pair in ((name, path, full), (f"steps against {name}", full, path))]
    pairs += [(f"{a} against {b}", made[a], made[b]) for a, b in (("words", "one kernel"), ("GPU", "database"), ("csv alone", "trace alone"))]
    script = [".bail on", f".load {os.path.abspath(case.library).removesuffix('.so')}"]
    for _, base, comparison in pairs:
        script += [f"SELECT profana_open('base', '{base}');", f"SELECT profana_open('comparison', '{comparison}');",
                   ".read sql/reports/compare.sql", ".read sql/reports/diagnose.sql", "SELECT profana_close('base'), profana_close('comparison');"]
    done = subprocess.run(["sqlite3", "-batch", ":memory:"], input="\n".join(script) + "\n", text=True, capture_output=True, cwd=ROOT, check=False)
    case.checks.equal("errors", (done.returncode, done.stderr), (0, ""))
    case.checks.equal("printed", done.stdout.count("\n") > 10 * len(pairs) and not re.search(r"\bnan\b|[^a-z]null\b", done.stdout, re.I), True)
    for name, base, comparison in pairs:
        s = case.session(base, comparison)
        summary = {row[0]: row[1:] for row in s.rows("SELECT profile, e2e_ns, computing_ns, uncovered_ns, free_ns, reserved_bytes FROM overall_summary")}
        known = summary["base"][0] > 0 and summary["comparison"][0] > 0
        expected = {"end to end": (summary["base"][0], summary["comparison"][0])}
        if known:
            expected |= {area: (summary["base"][i], summary["comparison"][i]) for i, area in enumerate(("computing", "communication", "free"), 1)}
        if summary["base"][4] and summary["comparison"][4]:
            expected["memory"] = (summary["base"][4], summary["comparison"][4])
        found = s.rows("SELECT area, base, comparison, finding FROM diagnosis WHERE subject = 'whole'")
        case.checks.equal(name, {row[0]: row[1:3] for row in found}, expected)
        for area, before, after, words in found:
            limit = 0.005 * (before if area == "memory" else summary["base"][0])
            if area != "end to end":
                case.checks.equal(f"{name}: {area}", words.endswith("not worse."), after - before <= limit)


def without_trace(case):
    """A text export without its trace has its collectives in kernel_details.csv."""
    path = case.path(run(reduce=70))
    os.remove(f"{path}/ASCEND_PROFILER_OUTPUT/trace_view.json")
    s = case.session(path, run(reduce=70))
    case.checks.equal("whole", s.rows("SELECT metric, base_ns FROM overall_metrics WHERE level = 0 ORDER BY order_id"),
                      [("Computing Time", 105000), ("Uncovered Communication Time", 70000), ("Free Time", 570000 - 105000 - 70000), ("E2E Time", 570000)])
    case.checks.equal("collectives", s.rows("SELECT kind, base_calls, base_total_ns, comparison_total_ns FROM communication_compare WHERE task IS NULL"),
                      [("allreduce", 1, 70000, 70000)])
    # Of two steps the kernels alone know which is which: 100 + 2 x 5 us computing, 70 us collective, from 200 to 770 us.
    path = case.path(run(reduce=70, steps=2, add_calls=2))
    os.remove(f"{path}/ASCEND_PROFILER_OUTPUT/trace_view.json")
    s = case.session(path, path, base_options={"step": 2}, comparison_options={"step": 2})
    case.checks.equal("a step", s.rows("SELECT metric, base_ns, comparison_ns FROM overall_metrics WHERE level = 0 ORDER BY order_id"),
                      [("Computing Time", 110000, 110000), ("Uncovered Communication Time", 70000, 70000),
                       ("Free Time", 390000, 390000), ("E2E Time", 570000, 570000)])
    whole = case.session(path, case.path(run(reduce=70, steps=2, add_calls=2)))
    case.checks.equal("as many steps", whole.rows("SELECT * FROM compare_diagnostic WHERE code = 'steps_differ'"), [])
    case.checks.equal("its parts", s.rows("SELECT step, computing_ns, communication_not_overlapped_ns, free_ns, total_ns FROM step_breakdown "
                                          "WHERE profile = 'base' ORDER BY step"),
                      [(1, 110000, 70000, 390000, 570000), (2, 110000, 70000, 390000, 570000)])
    case.checks.equal("its timeline", s.rows("SELECT step, span_ns, kind, count(*), sum(dur_ns) FROM step_timeline WHERE profile = 'base' GROUP BY kind"),
                      [(2, 570000, "communication", 1, 70000), (2, 570000, "computing", 3, 110000)])


def ranks_of_a_step(case):
    """Two ranks whose clocks are an hour apart, one of them without its trace: each has its own bounds of step 2, and both count."""
    def ranks(hour_us):
        case.count += 1
        for rank in (0, 1):
            t, at = Text(), rank * hour_us
            for step in (1, 2):
                t.op(f"ProfilerStep#{step}", at, 990)
                t.kernel("k", at + 100, 100 * step + rank, "Type", "AI_CORE", step=step)
                t.kernel("l", at + 800, 50, "Type", "AI_CORE", step=step)
                at += 1000
            path = t.write(f"{case.folder}/{case.count}/{rank}_ascend_pt", rank=rank)
            if rank == 1:
                os.remove(f"{path}/ASCEND_PROFILER_OUTPUT/trace_view.json")
        return f"{case.folder}/{case.count}"
    near, far = ranks(0), ranks(3600 * 10**6)
    times = "SELECT metric, base_ns, comparison_ns FROM overall_metrics WHERE level = 0 ORDER BY order_id"
    # step 2: 200 + 50 and 201 + 50 us of kernels, from 100 to 850 us on each rank
    case.checks.equal("step 2", case.session(near, far, base_options={"step": 2}, comparison_options={"step": 2}).rows(times),
                      [("Computing Time", 501000, 501000), ("Free Time", 999000, 999000), ("E2E Time", 1500000, 1500000)])
    # both: from 100 to 1850 us on each rank; 100 + 50 + 200 + 50 and 2 us more
    case.checks.equal("both steps", case.session(near, far).rows(times),
                      [("Computing Time", 802000, 802000), ("Free Time", 2698000, 2698000), ("E2E Time", 3500000, 3500000)])


def mixed_ranks(case):
    """A rank with the profiler's analysis lanes and one without: lanes of the one, intervals of the other."""
    case.count += 1
    for rank in (0, 1):
        path = run(mm=100).write(f"{case.folder}/{case.count}/{rank}_ascend_pt", rank=rank)
        if rank == 1:
            os.remove(f"{path}/ASCEND_PROFILER_OUTPUT/trace_view.json")
    both = f"{case.folder}/{case.count}"
    s = case.session(both, both)
    # each: 100 + 5 us computing, 50 us collective, from 200 to 750 us
    case.checks.equal("times", s.rows("SELECT metric, base_ns FROM overall_metrics WHERE level = 0 ORDER BY order_id"),
                      [("Computing Time", 210000), ("Uncovered Communication Time", 100000), ("Free Time", 790000), ("E2E Time", 1100000)])
    case.checks.equal("collectives", s.rows("SELECT base_calls, base_total_ns FROM communication_compare WHERE task IS NULL"), [(2, 100000)])


def one_sided_waits(case):
    """Nothing is said of waits where one side has no tasks of collectives."""
    path = case.path(run(reduce=90))
    os.remove(f"{path}/ASCEND_PROFILER_OUTPUT/trace_view.json")
    said = findings(case.session(run(), path))
    case.checks.equal("grew", [line[:28] for line in said if line.startswith("Uncovered")], ["Uncovered Communication Time"])
    case.checks.equal("waits", [line for line in said if "Waits" in line], [])


def own_times(case):
    """The verdicts of compare.sql are on the figures beside them: own times grew, the totals shrank."""
    def nested(outer, inner):
        t = Text()
        t.op("aten::outer", 0, outer)
        t.op("aten::inner", 1, inner)
        t.kernel("k", 200, 10, launch=2)
        return case.path(t)
    base, comparison = nested(100, 90), nested(90, 10)       # own times of outer: 10, then 80
    script = [f".load {os.path.abspath(case.library).removesuffix('.so')}", ".mode csv", f"SELECT profana_open('base', '{base}');",
              f"SELECT profana_open('comparison', '{comparison}');", ".read sql/reports/compare.sql"]
    said = subprocess.run(["sqlite3", "-batch", ":memory:"], input="\n".join(script) + "\n", text=True, capture_output=True, cwd=ROOT, check=True)
    case.checks.equal("host calls", [line for line in said.stdout.splitlines() if line.startswith("aten::outer,0.010")],
                      ["aten::outer,0.010,1,0.080,1,0.070,8.0,worse"])


def parts_of_the_report(case):
    """compare.sql shows what grew most first, modules, collectives and memory users alone, and noise of as many calls alone."""
    def two(small, big, counted=3):
        t = Text()
        t.group("g")
        for i, (name, dur) in enumerate((("Small", small), ("Big", big))):
            at = i * 10000
            t.python(f"nn.Module: {name}_0", at, 5000)
            for call in range(3):
                t.op("op" + name, at + 10 + call * 100, 50)
                t.kernel(name, 100000 + at + call * 1000, (10, 20, 60)[call] + dur, "Type" + name, launch=at + 10 + call * 100)
        t.op("aten::empty", 30000, 50)
        t.block("x", 64, 30010, 30020)
        for call in range(counted):
            t.op("aten::many", 40000 + call * 100, 50)
            t.kernel("many", 200000 + call * 1000, (10, 20, 60, 20)[call], "Many", launch=40000 + call * 100)
        t.collective("g", "hcom_allReduce__1_0_1", 300000, 50)
        t.comm_task("g", 0, "Memcpy", 300010, 5)
        return t
    s = case.session(two(0, 0), two(1, 5, counted=4))
    with open(os.path.join(ROOT, "sql", "reports", "compare.sql"), encoding="utf-8") as f:
        answers = [s.db.execute(statement) for statement in f.read().split(";\n") if statement.strip()]
    parts = {answer.description[0][0]: answer.fetchall() for answer in answers}
    case.checks.equal("modules", [row[0] for row in parts["Modules by own device time"]], ["/ Big_0", "/ Small_0"])
    # many grows by 20 us, Big by 3 x 5, Small by 3 x 1
    case.checks.equal("kernels", [row[0] for row in parts["Kernels"] if row[0] != "hcom_allReduce_"], ["Many", "TypeBig", "TypeSmall"])
    case.checks.equal("collectives", [row[0] for row in parts["Collectives"]], ["allreduce"])
    case.checks.equal("memory", [row[0] for row in parts["Operators by memory"]], ["aten::empty"])
    noise = {row[0]: row[-1] for part in ("Operators by device time", "Kernels") for row in parts[part]}
    case.checks.equal("noise", {name: noise[name] for name in ("opBig", "TypeBig", "aten::many", "Many")},
                      {"opBig": "within spread", "TypeBig": "within spread", "aten::many": None, "Many": None})


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        case = Case(sys.argv[1], folder, checks)
        for test in (lanes, profiling_marks, cautions, nothing_to_caution, missing_step, worse, better, margin, blame, blame_of_kernels, single_calls,
                     waits_told, verdicts, module_noise, kernel_types, negative_times, without_trace, ranks_of_a_step, mixed_ranks,
                     one_sided_waits, own_times, parts_of_the_report, reports):
            checks.run(test, case)
    sys.exit(checks.report())


if __name__ == "__main__":
    main()
