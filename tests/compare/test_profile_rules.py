"""Rules of the views of one profile that larger runs do not show: hot operators, steps, memory, timeline, kinds of kernel."""
import os

from profiles import Db, Gpu, Text, ns, us
from test_rules import run_cases


def without_trace(case, t):
    """A text export that has kernel_details.csv and no timeline."""
    path = case.text(t)
    os.remove(f"{path}/ASCEND_PROFILER_OUTPUT/trace_view.json")
    return path


def one_kernel(name, dur=10, op_type=None):
    t = Text()
    t.kernel(name, 0, dur, op_type)
    return t


def collectives_are_not_hot(case):
    """Collectives are left out of hot operators and hot kernels, also of a text export, which lists them among its kernels."""
    t = Text()
    t.group("g")
    t.collective("g", "hcom_allReduce__1_0_1", 0, 50)
    t.kernel("k", 100, 5)
    s = case.opened(t)
    case.checks.equal("operators", s.rows("SELECT op_type, time_ratio FROM hot_op"), [("k", 1.0)])
    case.checks.equal("kernels", s.rows("SELECT name, time_ratio FROM hot_kernel"), [("k", 1.0)])


def hot_by_rank(case):
    """A rank whose kernels have types is summed from them, one without such kernels is read from op_statistic.csv."""
    kernels, listed = one_kernel("k", 10, "Add"), Text()
    for t in (kernels, listed):
        t.stat.append([0, "Mul", "AI_VECTOR_CORE", 1, 5, 5, 5, 5, 100])
    path = case.ranks(kernels, listed)
    case.checks.equal("sources", case.opened(path).rows("SELECT rank, op_type, total_ns, source FROM hot_op"),
                      [(0, "Add", 10000, "computed"), (1, "Mul", 5000, "read")])


def steps(case):
    """Times of a step are read from step_trace_time.csv on the ranks that have it; collectives alone are exposed to the end."""
    times = "SELECT rank, computing_ns, communication_not_overlapped_ns, communication_ns, free_ns, source FROM step_breakdown"
    t = Text()
    t.group("g")
    t.collective("g", "hcom_allReduce__1_0_1", 10, 10)
    case.checks.equal("collectives alone", case.opened(t).rows(times), [(0, 0, 10000, 10000, 0, "computed")])
    path = case.ranks(one_kernel("k"), one_kernel("k"))
    with open(f"{path}/0_ascend_pt/ASCEND_PROFILER_OUTPUT/step_trace_time.csv", "w", encoding="utf-8") as f:
        f.write("Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free\n0,1,10,2,1,3,600\n")
    case.checks.equal("by rank", case.opened(path).rows(times), [(0, 10000, 2000, 3000, 600000, "read"), (1, 10000, 0, 0, 0, "computed")])
    d = Db()
    d.kernel("k", 0, 10)
    d.collective("hcom_allReduce__1_0_1", "hcom_allReduce_", 10, 10, "g")
    d.rows["STEP_TIME"] = [(1, ns(0), ns(100))]
    case.checks.equal("a step of both counts once", case.opened(d).rows("SELECT steps FROM overall"), [(1,)])


def conversions(case):
    """A conversion stands between the kernels of its own stream, and its type's share is that of its rank."""
    t = Text()
    t.kernel("before", 0, 5, stream=1)
    t.kernel("elsewhere", 10, 5, stream=2)
    t.kernel("c", 20, 5, "Cast", stream=1)
    t.kernel("elsewhere", 30, 5, stream=2)
    t.kernel("after", 40, 5, stream=1)
    case.checks.equal("neighbours", case.opened(t).rows("SELECT previous_op_type, next_op_type FROM cast_overhead"), [("before", "after")])
    runs = [one_kernel("k", 10, "Add") for _ in range(2)]
    for run, dur in zip(runs, (10, 30), strict=True):
        run.kernel("c", 20, dur, "Cast")
    path = case.ranks(*runs)
    case.checks.equal("shares", case.opened(path).rows("SELECT rank, time_ratio, type_time_ratio FROM cast_overhead"),
                      [(0, 10 / 20, 10 / 20), (1, 30 / 40, 30 / 40)])


def agreeing_collections(case):
    """Shares that differ by 2 points agree, by 2.5 points they do not."""
    def shares(x):
        t = Text()
        t.kernel("x", 0, x, "X")
        t.kernel("y", 1000, 1000 - x, "Y")
        return t
    verdict = "SELECT DISTINCT verdict FROM collection_check"
    for x, y, expected in ((20, 40, "agree"), (500, 525, "differ")):
        s = case.session(case.written(shares(x)), case.written(shares(y)))
        case.checks.equal(f"{x / 10} and {y / 10} %", s.rows(verdict), [(expected,)])


def kinds_of_counters(case):
    """The newer, the older and the 200I/500's counters of the vector unit all tell how busy it was."""
    for counter in ("aiv_vec_ratio", "vec_ratio", "vec_exe_ratio"):
        d = Db()
        d.kernel("k", 0, 10, "Add", pipes={counter: 0.5})
        case.checks.equal(counter, case.opened(d).rows("SELECT vector_ratio, bound FROM pipe_bound"), [(0.5, "vector")])


def gpu_collectives(case):
    """Collectives of a GPU are called by their kernel's name without its arguments."""
    g = Gpu()
    g.kernel("ncclDevKernel_AllReduce_Sum(ncclDevKernelArgs)", 0, 5, stream=9)
    g.kernel("k", 0, 1)
    case.checks.equal("name", case.opened(g).rows("SELECT op_type FROM communication_summary"), [("ncclDevKernel_AllReduce_Sum",)])


def alive_at_the_peak(case):
    """Blocks at the peak are those of its device, of a size, and not yet released in that very moment, under their own names."""
    held = "SELECT name, blocks, size_bytes FROM memory_peak"

    def blocks(*made, peaks=(50,)):
        t = Text()
        t.op("aten::empty", 0, 5)
        for name, kb, alloc, release, device in made:
            t.block(name, kb, alloc, release)
            t.blocks[-1][-1] = device
        t.reserved += [["PTA", us(peak), 5, 5, "NPU:0"] for peak in peaks]
        return case.opened(t)
    case.checks.equal("released at the peak", blocks(("a", 1, 10, 50, "NPU:0"), ("b", 2, 10, 60, "NPU:0")).rows(held), [("b", 1, 2048)])
    case.checks.equal("another device", blocks(("a", 1, 10, 60, "NPU:0"), ("b", 2, 10, 60, "NPU:1")).rows(held), [("a", 1, 1024)])
    case.checks.equal("no size", blocks(("a", 1, 10, 60, "NPU:0"), ("b", -1, 10, None, "NPU:0")).rows(held), [("a", 1, 1024)])
    case.checks.equal("asked for by another", blocks(("a", 1, 2, 60, "NPU:0")).rows(held), [("a", 1, 1024)])
    s = blocks(("a", 1, 0, 50, "NPU:0"), peaks=(10, 90))
    case.checks.equal("the first of equal peaks", s.rows("SELECT peak_ns - first_ns, name FROM memory_peak"), [(0, "a")])


def verdicts_of_equals(case):
    """Free time as long as computing is host bound; communication as long as computing is compute bound."""
    parts = "SELECT computing_ns, communication_not_overlapped_ns, free_ns, verdict FROM host_bound"
    t = Text()
    t.kernel("a", 0, 10)
    t.kernel("b", 30, 10)
    case.checks.equal("free", case.opened(t).rows(parts), [(20000, 0, 20000, "host bound")])
    d = Db()
    d.kernel("a", 0, 10)
    d.collective("hcom_allReduce__1_0_1", "hcom_allReduce_", 10, 10, "g")
    case.checks.equal("communication", case.opened(d).rows(parts), [(10000, 10000, 0, "compute bound")])


def span_of_the_timeline(case):
    """The timeline is of the first rank and the first step, bounds included, and reaches to the end of what starts in it."""
    path = case.ranks(one_kernel("k0"), one_kernel("k1"))
    case.checks.equal("rank", case.opened(path).rows("SELECT rank, name FROM step_timeline"), [(0, "k0")])
    t = Text()
    t.kernel("before", 0, 5)
    t.kernel("k", 100, 5, step=3)
    path = without_trace(case, t)
    case.checks.equal("kernels of no step", case.opened(path).rows("SELECT step, name FROM step_timeline"), [(3, "k")])
    t = Text()
    t.op("ProfilerStep#1", 0, 100)
    t.kernel("k", 100, 500, step=1)
    t.kernel("late", "100.001", 5, step=1)
    case.checks.equal("start at the end", case.opened(t).rows("SELECT name, at_ns, span_ns FROM step_timeline WHERE kind = 'computing'"),
                      [("k", 100000, 600000)])


def lanes_of_the_timeline(case):
    """Host lanes hold operators alone; a GPU's collectives are on their stream, and a kernel whose stream is not known is on '?'."""
    g = Gpu()
    g.op("mark", 0, 50, cat="user_annotation")
    g.op("aten::a", 60, 5)
    g.op("cudaLaunchKernel", 70, 3, cat="cuda_runtime")
    g.kernel("k", 0, 500)
    g.kernel("ncclDevKernel", 100, 5, stream=9)
    s = case.opened(g)
    case.checks.equal("host", s.rows("SELECT name FROM step_timeline WHERE kind = 'host'"), [("aten::a",)])
    case.checks.equal("collectives", s.rows("SELECT lane, name FROM step_timeline WHERE kind = 'communication'"), [("stream 9", "ncclDevKernel")])
    t = one_kernel("k")
    t.kernels[-1][1][3] = "N/A"
    case.checks.equal("no stream", case.opened(without_trace(case, t)).rows("SELECT lane FROM step_timeline"), [("stream ?",)])
    d = Db()
    d.kernel("k", 0, 50)
    d.collective("hcom_allReduce__1_0_1", "hcom_allReduce_", 10, 5, "111")
    path = case.db(d, {"111": "tp"})
    case.checks.equal("process group", case.opened(path).rows("SELECT lane FROM step_timeline WHERE kind = 'communication'"), [("group tp",)])


def kinds_by_core(case):
    """What no rule names is of the kind of its core, mixed cores too; a GPU's kernel is vector."""
    t = Text()
    for i, core in enumerate(("AI_VECTOR_CORE", "MIX_AIV", "AI_CORE", "MIX_AIC", "AI_CPU")):
        t.kernel(core.lower(), i * 10, 5, "Mine", core)
    case.checks.equal("NPU", dict(case.opened(t).rows("SELECT name, class FROM kernel_kind")),
                      {"ai_vector_core": "vector", "mix_aiv": "vector", "ai_core": "cube", "mix_aic": "cube", "ai_cpu": "other"})
    g = Gpu()
    g.kernel("void add", 0, 5)
    case.checks.equal("GPU", case.opened(g).rows("SELECT class FROM kernel_kind"), [("vector",)])


def kinds_by_name(case):
    """The rule of the lowest priority counts, for the type or the name, in any case of letters."""
    t = Text()
    expected = {"FlashAttentionScoreGrad": ("attention", "backward"), "AllGatherMatmul": ("mc2", None), "AllToAllQuantMatmul": ("mc2", None),
                "rcclKernel": ("communication", None), "my_flash_bwd_x": ("attention", "backward"), "sm80_dgrad_x": ("conv", "backward"),
                "MEMSET_ASYNC": ("memory", None), "ConvGradX": ("conv", "backward"), "TransData": ("conversion", None),
                "TransposeD": ("conversion", None)}
    for i, name in enumerate(expected):
        t.kernel(name, i * 10, 5, name)
    case.checks.equal("by type", {row[0]: row[1:] for row in case.opened(t).rows("SELECT op_type, class, direction FROM kernel_kind")}, expected)
    case.checks.equal("by name", case.opened(one_kernel("my_flash_fwd", 5, "Custom")).rows("SELECT class, direction FROM kernel_kind"),
                      [("attention", "forward")])
    g = Gpu()
    g.kernel("sgemm", 0, 5)
    case.checks.equal("without a type", case.opened(g).rows("SELECT class FROM kernel_kind"), [("matmul",)])


def shares_of_kinds(case):
    """The shares of the kinds of kernel add up to 1 on each rank."""
    path = case.ranks(one_kernel("k", 10, "Add"), one_kernel("k", 30, "Add"))
    case.checks.equal("shares", case.opened(path).rows("SELECT rank, total_ns, time_ratio FROM time_by_kind"), [(0, 10000, 1.0), (1, 30000, 1.0)])


if __name__ == "__main__":
    run_cases(collectives_are_not_hot, hot_by_rank, steps, conversions, agreeing_collections, kinds_of_counters, gpu_collectives,
              alive_at_the_peak, verdicts_of_equals, span_of_the_timeline, lanes_of_the_timeline, kinds_by_core, kinds_by_name, shares_of_kinds)
