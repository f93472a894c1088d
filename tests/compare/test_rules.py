"""Rules of the sheets that larger runs do not show, each in a run of a few events."""
import sys
import tempfile

from profiles import Checks, Db, Gpu, Session, Text, ns


class Case:
    """Runs of one test, numbered, in one folder."""

    def __init__(self, library, folder, checks):
        self.library, self.folder, self.checks, self.count = library, folder, checks, 0

    def text(self, run, names=None):
        self.count += 1
        return run.write(f"{self.folder}/{self.count}_ascend_pt", names)

    def db(self, run, groups=None):
        return self.text(run, groups)

    def ranks(self, *runs):
        """One profile of several ranks."""
        self.count += 1
        for rank, run in enumerate(runs):
            run.write(f"{self.folder}/{self.count}/{rank}_ascend_pt", rank=rank)
        return f"{self.folder}/{self.count}"

    def gpu(self, run):
        self.count += 1
        return run.write(f"{self.folder}/{self.count}.pt.trace.json")

    def written(self, run):
        return self.gpu(run) if isinstance(run, Gpu) else self.text(run)

    def opened(self, run, options="{}"):
        """The profile of a run, or of a path, alone in a session."""
        s = Session(self.library)
        s.rows("SELECT profana_open('run', ?, ?)", run if isinstance(run, str) else self.written(run), options)
        return s

    def session(self, base, comparison=None, **options):
        return Session(self.library, base, comparison or base, **options)


def step(number):
    """Options of a session that ask for one step of both sides."""
    return {"base_options": {"step": number}, "comparison_options": {"step": number}}


def metrics(s, side="base"):
    """{metric: ns} of OverallMetrics; the first of equal names."""
    out = {}
    for name, ns in s.rows(f"SELECT metric, {side}_ns FROM overall_metrics ORDER BY order_id"):
        out.setdefault(name, ns)
    return out


def shown(s):
    return s.rows("SELECT base_name, comparison_name FROM operator_compare ORDER BY order_id")


def nesting(case):
    """A child may begin exactly where its parent ends; threads are one tree; self time can be negative."""
    t = Text()
    t.op("aten::outer", 0, 10)
    t.op("aten::touching", 10, 30, thread=2)
    t.op("aten::last", 41, 5)
    t.kernel("k1", 100, 7, launch=10, thread=2)
    t.lane("Computing", 100, 7)
    s = case.session(case.text(t))
    case.checks.equal("top-level operators", shown(s), [("aten::outer",) * 2, ("aten::last",) * 2])
    case.checks.equal("work of the child counts", s.value("SELECT base_device_ns FROM operator_compare WHERE order_id = 1"), 7000)
    case.checks.equal("self time", s.value("SELECT base_self_ns FROM api_compare WHERE name = 'aten::outer'"), 10000 - 30000)


def innermost_owner(case):
    """Of operators that start together the innermost owns the launch, once."""
    t = Text()
    t.op("aten::linear", 0, 100)
    t.op("aten::addmm", 0, 90)
    t.kernel("k", 200, 20, launch=0)
    s = case.session(case.text(t))
    case.checks.equal("not doubled", s.rows("SELECT base_name, base_device_ns FROM operator_compare"), [("aten::linear", 20000)])


def backward_split(case):
    """Five stretches against three: base's first stays alone, the rest meet by number."""
    def run(names):
        t, at = Text(), 0
        for thread, name in names:
            t.op(name, at, 5, thread=thread)
            at += 10
        t.fwd_bwd(0, next(i * 10 for i, (thread, _) in enumerate(names) if thread == 2))
        return t
    base = run([(1, "a"), (2, "x"), (1, "b"), (2, "y"), (1, "c")])
    comparison = run([(2, "x"), (1, "a"), (2, "y")])
    s = case.session(case.text(base), case.text(comparison))
    case.checks.equal("stretches", shown(s), [("a", None), ("x", "x"), ("b", None), (None, "a"), ("y", "y"), ("c", None)])
    # the same without a backward thread: the longest common block of a x b y c and x a y is a single name
    for run_ in (base, comparison):
        run_.events = [e for e in run_.events if e.get("cat") != "fwdbwd"]
    s = case.session(case.text(base), case.text(comparison))
    case.checks.equal("one sequence", shown(s),
                      [(None, "x"), ("a", "a"), ("x", None), ("b", None), ("y", "y"), ("c", None)])


def matching(case):
    """Blocks, the longest first; the settings that change what matches."""
    def run(names, **args):
        t = Text()
        for i, name in enumerate(names):
            t.op(name, i * 10, 5, **args)
        return t
    base, comparison = case.text(run("abcd")), case.text(run("bxcd"))
    s = case.session(base, comparison)
    case.checks.equal("blocks", shown(s), [("a", None), ("b", "b"), (None, "x"), ("c", "c"), ("d", "d")])
    s = case.session(base, comparison, settings={"op_name_map": {"a": "x"}})
    case.checks.equal("op_name_map", shown(s), [(None, "b"), ("a", "x"), ("b", None), ("c", "c"), ("d", "d")])
    case.checks.equal("statistic keeps own names", s.value("SELECT count(*) FROM operator_compare_statistic"), 5)
    s = case.session(base, comparison)
    s.rows("INSERT INTO op_equivalent VALUES ('a', 'x')")
    case.checks.equal("op_equivalent", shown(s), [(None, "b"), ("a", "x"), ("b", None), ("c", "c"), ("d", "d")])
    case.checks.equal("statistic joins them", s.value("SELECT count(*) FROM operator_compare_statistic"), 4)
    base, comparison = case.text(run("aba")), case.text(run("bca"))
    case.checks.equal("block is not lcs", sum(None not in p for p in shown(case.session(base, comparison))), 1)
    s = case.session(base, comparison, settings={"match": "lcs"})
    case.checks.equal("lcs", sum(None not in p for p in shown(s)), 2)
    base, comparison = case.text(run("ab", dims="2,3")), case.text(run("ab", dims="4"))
    case.checks.equal("shapes do not count", shown(case.session(base, comparison)), [("a", "a"), ("b", "b")])
    s = case.session(base, comparison, settings={"use_input_shape": 1})
    case.checks.equal("use_input_shape", shown(s), [("a", None), ("b", None), (None, "a"), (None, "b")])


def empty_side(case):
    """Operators of one side alone are listed, whichever side it is."""
    t, none = Text(), Text()
    t.op("aten::add", 0, 10)
    t.op("aten::mul", 20, 10)
    t.kernel("k", 100, 3, launch=0)
    none.kernel("k", 100, 4)
    full, bare = case.text(t), case.text(none)
    work = "SELECT base_name, base_device_ns, comparison_name, comparison_device_ns, verdict FROM operator_compare ORDER BY order_id"
    case.checks.equal("base only", case.session(full, bare).rows(work),
                      [("aten::add", 3000, None, None, "base only"), ("aten::mul", 0, None, None, "base only")])
    case.checks.equal("comparison only", case.session(bare, full).rows(work),
                      [(None, None, "aten::add", 3000, "comparison only"), (None, None, "aten::mul", 0, "comparison only")])


def empty_side_with_backward_thread(case):
    """Stretches on and off the backward thread are all listed where the other side has no operators, or has them on fewer ranks."""
    t, none = Text(), Text()
    for at, name, thread in ((0, "a", 1), (10, "b", 2), (20, "c", 1)):
        t.op(name, at, 5, thread=thread)
    for run in (t, none):
        run.fwd_bwd(0, 10)
    full, bare = case.text(t), case.text(none)
    case.checks.equal("comparison only", shown(case.session(bare, full)), [(None, "a"), (None, "b"), (None, "c")])
    case.checks.equal("base only", shown(case.session(full, bare)), [("a", None), ("b", None), ("c", None)])
    case.count += 1
    two = f"{case.folder}/{case.count}"
    for rank in (0, 1):
        t.write(f"{two}/{rank}_ascend_pt", rank=rank)
    listed = [(name, name) for name in "abc"]
    case.checks.equal("second rank in comparison", shown(case.session(full, two)), listed + [(None, name) for name in "abc"])
    case.checks.equal("second rank in base", shown(case.session(two, full)), listed + [(name, None) for name in "abc"])


def drill_down(case):
    """A pair with more kernels than max_kernel_num gives way to its children; its own kernel is not shown."""
    t = Text()
    t.op("aten::big", 0, 100)
    for i in range(3):
        t.op("aten::part", 10 + i * 20, 15)
    t.kernel("own", 200, 7, launch=0)
    for i in range(5):
        t.kernel("k", 210 + i * 10, 3, launch=10 + i % 3 * 20)
    path = case.text(t)
    work = "SELECT base_name, base_device_ns FROM operator_compare ORDER BY order_id"
    s = case.session(path, settings={"max_kernel_num": 6})
    case.checks.equal("six kernels are not more than six", s.rows(work), [("aten::big", 7000 + 5 * 3000)])
    s = case.session(path, settings={"max_kernel_num": 5})
    case.checks.equal("six are more than five", s.rows(work), [("aten::part", 6000), ("aten::part", 6000), ("aten::part", 3000)])
    case.checks.equal("statistic drills too", s.rows("SELECT name, base_calls, base_device_ns FROM operator_compare_statistic"),
                      [("aten::part", 3, 15000)])


def drill_down_after_overlap(case):
    """What hangs on a pair that gave way is not shown, though an operator of the step before encloses its step."""
    def run(before):
        t = Text()
        t.op("ProfilerStep#1", 0, 100)
        if before:
            t.op("aten::x", 80, 40)
        t.op("ProfilerStep#2", 100, 200)
        t.op("aten::p", 150, 100)
        for at in (160, 200):
            t.op("aten::q", at, 20)
        for launch in (150, 160, 200, 150, 150):
            t.kernel("k", 1000 + t.task_id * 10, 3, launch=launch)
        return case.text(t)
    s = case.session(run(False), run(True), settings={"max_kernel_num": 4})
    case.checks.equal("work", s.rows("SELECT comparison_name, base_device_ns, comparison_device_ns FROM operator_compare ORDER BY order_id"),
                      [("aten::x", None, 0), ("aten::q", 3000, 3000), ("aten::q", 3000, 3000)])


def step_with_its_first_operator(case):
    """Work belongs to the operator, not to the step that starts in the same instant, whichever the file has first."""
    t, g = Text(), Gpu()
    t.op("aten::a", 0, 10)
    t.op("ProfilerStep#1", 0, 100)
    t.kernel("k", 200, 7, launch=0)
    g.op("aten::a", 0, 10)
    g.op("ProfilerStep#1", 0, 100, cat="user_annotation")
    g.kernel("k", 200, 7, launch=0)
    for path in (case.text(t), case.gpu(g)):
        case.checks.equal("its work", case.session(path).rows("SELECT base_name, base_device_ns FROM operator_compare"), [("aten::a", 7000)])


def host_operators(case):
    """A launch belongs to the first cube operator, by start, that covers it, ends included."""
    t = Text()
    t.op("aten::matmul", 0, 100)
    t.op("aten::mm", 10, 80)
    t.op("npu::npu_fusion_attention", 200, 100)
    t.op("aten::mm", 210, 50)
    t.op("aten::conv2d", 400, 10, thread=2)
    t.fwd_bwd(0, 400)
    t.kernel("in_mm", 1000, 1, "X", launch=10)
    t.kernel("at_end", 1010, 2, "X", launch=100)
    t.kernel("in_attention", 1020, 4, "X", "AI_CORE", launch=210)
    t.kernel("behind", 1030, 8, "X", launch=301)
    t.kernel("conv", 1040, 16, "X", "AI_CORE", launch=400, thread=2)
    t.lane("Computing", 1000, 60)
    m = metrics(case.session(case.text(t)))
    case.checks.equal("matmul", m.get("Matmul (Vector)"), 3000)
    case.checks.equal("attention", m.get("Flash Attention (Forward) (Cube)"), 4000)
    case.checks.equal("1 us behind", m.get("Vector (No Trans)"), 8000)
    case.checks.equal("convolution on the backward thread", m.get("Conv (Backward) (Cube)"), 16000)


def kernel_types(case):
    """Without a host operator the type decides, conversions by name, the rest by pipes."""
    t = Text()
    for i, (name, op_type, core) in enumerate((
            ("fa", "FlashAttentionScore", "AI_VECTOR_CORE"), ("fag", "FlashAttentionScoreGrad", "MIX_AIC"),
            ("fia", "FusedInferAttentionScore", "MIX_AIC"), ("conv", "Conv2DBackpropFilter", "AI_CORE"),
            ("convf", "Conv2D", "AI_CORE"), ("mm", "BatchMatMulV2", "AI_VECTOR_CORE"), ("depth", "DepthwiseConv2D", "AI_CORE"),
            ("MyCastKernel", "Add", "AI_VECTOR_CORE"), ("Add", "Cast", "AI_VECTOR_CORE"),
            ("page", "PagedAttentionMaskNdKernel", "MIX_AIC"), ("aclnnInplaceCopy_TensorMove_x", "TensorMove", "AI_VECTOR_CORE"))):
        t.kernel(name, 100 + i * 10, 2**i / 8, op_type, core)
    t.kernel("aicpu", 300, 500, "Index", "AI_CPU", unmeasured=True)
    t.lane("Computing", 100, 1000)
    m = metrics(case.session(case.text(t)))
    for metric, bit in (("Flash Attention (Backward) (Cube)", 1), ("Conv (Backward) (Cube)", 3), ("Conv (Forward) (Cube)", 4),
                        ("Matmul (Cube)", 5), ("Cube", 6), ("Vector (Trans)", 7), ("Vector (No Trans)", 8),
                        ("Page Attention", 9), ("SDMA (Tensor Move)", 10)):
        case.checks.equal(metric, m.get(metric), 2**bit * 125)
    case.checks.equal("attention forward", m.get("Flash Attention (Forward) (Cube)"), (1 + 4) * 125)
    case.checks.equal("AI_CPU is Other", m.get("Other"), 1000000 - (2**11 - 1) * 125)


def copies(case):
    """Copies count on computing streams; where streams wait for events, only on those; never on stream 0."""
    t = Text()
    for stream in (0, 3, 4):
        t.kernel("k", 100 + stream * 10, 5, stream=stream)
        t.task("copy", 200 + stream * 10, 1 + stream, "SDMA_SQE", stream=stream)
    t.task("copy", 300, 100, "PCIE_DMA_SQE", stream=9)
    t.lane("Computing", 100, 500)
    t.lane("Free", 600, 500)
    case.checks.equal("all computing streams", metrics(case.session(case.text(t))).get("SDMA"), (1 + 3 + 1 + 4) * 1000)
    t.task("wait", 400, 1, "EVENT_WAIT_SQE", stream=4)
    case.checks.equal("waiting streams", metrics(case.session(case.text(t))).get("SDMA"), 5000)


def fused_kernels(case):
    """Control tasks pair up by their ends inside a fused kernel; a last odd one is left out."""
    t = Text()
    t.kernel("AllGatherMatmul", 1300, 100, "AllGatherMatmul", "MIX_AIC", pmu=(40, 50, 7))
    for end in (1290, 1315, 1345, 1365):
        t.task("C_CORE_SQE", end - 2, 2, "C_CORE_SQE")
    t.lane("Computing", 1300, 100)
    s = case.session(case.text(t))
    case.checks.equal("fused kernel", s.rows("SELECT metric, base_ns, base_calls FROM overall_metrics WHERE order_id IN (2, 3, 4)"),
                      [("AllGatherMatmul", 100000, 1), ("Computing", 57000, None), ("Communication", 30000, None)])


def fused_kernels_without_launch(case):
    """Each fused kernel has the control tasks inside it, whether or not its launch is known."""
    t = Text()
    t.op("aten::m", 0, 10)
    for start, launch in ((2000, None), (3000, 0)):     # the second is launched, so the tool asks it first
        t.kernel("AllGatherMatmul", start, 100, "AllGatherMatmul", "MIX_AIC", launch=launch, pmu=(40, 50, 7))
        for end in (20, 50):
            t.task("C_CORE_SQE", start + end - 2, 2, "C_CORE_SQE")
    t.lane("Computing", 2000, 1100)
    s = case.session(case.text(t))
    case.checks.equal("communication of both", s.rows("SELECT base_ns FROM overall_metrics WHERE metric = 'Communication'"), [(2 * 30000,)])


def waits(case):
    """Waits of a remote send do not count; lanes are told apart by group and plane."""
    t = Text()
    t.group("g1", planes=1)
    t.group("g2", planes=1)
    for label, at in (("g1", 0), ("g2", 500)):
        t.collective(label, "hcom_send__1_0_1", at, 100)
    tasks = (("RDMASend", 1), ("RDMASend", 1), ("Notify_Wait", 10), ("RDMASend", 1), ("Notify_Wait", 20), ("Notify_Wait", 5))
    at = 0
    for name, dur in tasks:
        t.comm_task("g1", 0, name, at, dur)
        at += dur
    t.comm_task("g2", 0, "Notify_Wait", 510, 40)
    t.lane("Communication(Not Overlapped)", 0, 100)
    t.lane("Communication(Not Overlapped)", 500, 100)
    s = case.session(case.text(t))
    # after two sends: a part of them; after send, send, wait, send: another; the third waits
    case.checks.equal("waits", s.rows("SELECT base_ns FROM overall_metrics WHERE metric = 'Wait' ORDER BY order_id"),
                      [(5000,), (40000,)])


def planes_that_wait_alike(case):
    """Of planes that wait as long as each other the first by sort index speaks for the group, whatever its thread's number."""
    t = Text()
    t.group("g", planes=2)
    for event in t.events:  # the planes, threads 1 and 2, change places
        if event["name"] == "thread_sort_index" and event["tid"] > 0:
            event["args"]["sort_index"] = 3 - event["tid"]
    t.collective("g", "hcom_allReduce__1_0_1", 0, 300)
    t.comm_task("g", 0, "Notify_Wait", 10, 30)
    t.comm_task("g", 1, "Notify_Wait", 210, 30)
    t.lane("Communication(Not Overlapped)", 200, 100)
    case.checks.equal("the second thread's wait", metrics(case.session(case.text(t))).get("Wait"), 30000)


def comm_task_edges(case):
    """A task at the very end of a collective is its own; one before the first start is lost."""
    t = Text()
    t.group("g", planes=1)
    t.collective("g", "hcom_allReduce__1_0_1", 100, 50)
    for at in (99, 100, 150, 151):
        t.comm_task("g", 0, "Memcpy", at, 2)
    s = case.session(case.text(t))
    case.checks.equal("tasks", s.rows("SELECT base_calls FROM communication_compare WHERE task = 'Memcpy'"), [(2,)])


def memory_edges(case):
    """A block asked for at an operator's very start or end is the operator's; later it is nobody's."""
    t = Text()
    t.op("aten::empty", 100, 50)
    t.block("x", 1, 100, 400)
    t.block("x", 2, 150)
    t.block("x", 4, "150.001", 400)
    s = case.session(case.text(t))
    case.checks.equal("blocks", s.rows("SELECT base_size_bytes FROM memory_compare"), [(3 * 1024,)])
    case.checks.equal("held", s.rows("SELECT base_held_ns FROM memory_compare_statistic"), [(300000,)])


def gpu_memory(case):
    """A free of another size loses the block; an address used again leaves the first block open."""
    g = Gpu()
    g.op("aten::empty", 0, 1000)
    g.kernel("k", 2000, 5)
    g.memory(10, 1024, address=1)
    g.memory(20, -1024, address=1)
    g.memory(30, 2048, address=2)
    g.memory(40, -1024, address=2)
    g.memory(50, 4096, address=3)
    g.memory(60, 8192, address=3)
    g.memory(70, -512, address=9)
    g.memory(80, 16384, address=4, device=-1)
    s = case.session(case.gpu(g))
    case.checks.equal("blocks", s.rows("SELECT base_size_bytes, base_held_ns FROM memory_compare_statistic"),
                      [(1024 + 4096 + 8192, 10000)])
    case.checks.equal("texts", s.value("SELECT base_blocks FROM memory_compare"),
                      "aten::empty, (10.000, 20.000), [duration: 10.0], [size: 1.0]\n"
                      "aten::empty, (50.000, None), [duration: 0.0], [size: 4.0]\n"
                      "aten::empty, (60.000, None), [duration: 0.0], [size: 8.0]\n")


def steps(case):
    """A step's bounds belong to it; kernels are the profiler's Step Id, collectives those that start within."""
    t = Text()
    t.op("ProfilerStep#5", 0, 100)
    t.op("aten::first", 10, 5)
    t.op("ProfilerStep#6", 200, 100)
    t.op("aten::second", 210, 5)
    t.op("ProfilerStep#7", 301, 100)
    t.kernel("k", 250, 1, "Tail", launch=10, step=5)
    t.kernel("k", 500, 2, "Late", launch=210, step=6)
    t.group("g")
    for at, dur in (("199.999", 1), (200, 2), (300, 4), ("300.001", 8)):
        t.collective("g", "hcom_allReduce__1_0_1", at, dur)
    s = case.session(case.text(t), base_options={"step": 6}, comparison_options={"step": 6})
    case.checks.equal("kernels", s.rows("SELECT kernel_type FROM kernel_compare"), [("Late",)])
    case.checks.equal("operators", s.rows("SELECT base_name, base_device_ns FROM operator_compare"), [("aten::second", 2000)])
    case.checks.equal("collectives", s.rows("SELECT base_calls, base_total_ns FROM communication_compare"), [(2, 6000)])
    case.checks.equal("computing", metrics(s).get("Computing Time"), 1000)      # what runs within the step


def work_behind_its_step(case):
    """Work that an operator of the step launched is the operator's also where the device does it after the step; memory that is not
    released counts, too."""
    d = Db()
    for number, start in ((1, 0), (2, 110)):
        d.api(f"ProfilerStep#{number}", start, 90)
        d.api("aten::add", start + 10, 10, (number,))
        d.rows["STEP_TIME"].append((number, ns(start), ns(start + 90)))
    d.kernel("Add", 30, 10, connection=1)
    d.kernel("AddTail", 150, 5, connection=1)
    d.kernel("Add", 160, 10, connection=2)
    d.block("x", 1024, 15)
    d.block("x", 2048, 16, 40)
    s = case.session(case.db(d), **step(1))
    case.checks.equal("work", s.rows("SELECT base_name, base_device_ns FROM operator_compare"), [("aten::add", 15000)])
    case.checks.equal("memory", s.rows("SELECT base_size_bytes FROM memory_compare"), [(1024 + 2048,)])
    case.checks.equal("kernels by their own start", s.rows("SELECT kernel_type, base_calls FROM kernel_compare"), [("Add", 1)])


def trace_alone(case):
    """A trace without kernel_details.csv says nothing of cube and vector work, and the printed table shows no rows of 0 for them."""
    t = Text()
    t.kernel("k", 100, 10)
    t.lane("Computing", 100, 10)
    folder = case.text(t)
    rows = "SELECT count(*) FROM _terminal_table WHERE metric LIKE 'Cube Time%' OR metric LIKE 'Vector Time%'"
    case.checks.equal("with its kernels", case.session(folder).value(rows), 2)
    case.checks.equal("alone", case.session(f"{folder}/ASCEND_PROFILER_OUTPUT/trace_view.json").value(rows), 0)


def nested_steps(case):
    """A step that begins before the last operator of the one before has ended is a step all the same."""
    t = Text()
    t.op("ProfilerStep#1", 0, 100)
    t.op("aten::long", 50, 70)
    t.op("ProfilerStep#2", 110, 100)
    t.op("aten::next", 150, 5)
    t.kernel("k", 300, 3, launch=150)
    path = case.text(t)
    s = case.session(path)
    case.checks.equal("all steps", s.rows("SELECT base_name, base_device_ns FROM operator_compare"),
                      [("aten::long", 0), ("aten::next", 3000)])
    case.checks.equal("the step is no API", s.value("SELECT count(*) FROM api_compare WHERE name LIKE 'Profiler%'"), 0)
    case.checks.equal("nor time of its parent", s.value("SELECT base_self_ns FROM api_compare WHERE name = 'aten::long'"), 70000)
    s = case.session(path, base_options={"step": 2}, comparison_options={"step": 2})
    case.checks.equal("one step", s.rows("SELECT base_name FROM operator_compare"), [("aten::next",)])


def gpu_times(case):
    """Exact ns, stream 0 included; copies on the busiest stream; driver launches count for their operator."""
    g = Gpu()
    g.op("aten::linear", 0, 100)
    g.op("aten::mm", 10, 50)
    g.op("cuLaunchKernel", 20, 5, cat="cuda_driver")
    g.kernel("gemm", "120.6", "10.3", stream=0, launch=20)
    g.kernel("void add", 220, 20, stream=0)
    g.kernel("Memcpy HtoD (Pageable -> Device)", 250, 6, stream=0, cat="gpu_memcpy")
    g.kernel("Memcpy HtoD (Pageable -> Device)", 260, 7, stream=5, cat="gpu_memcpy")
    g.kernel("Memset (Device)", 270, 9, stream=0, cat="gpu_memset", launch=10)
    g.kernel("ncclDevKernel_AllReduce_Sum", 230, "60.5", stream=20)
    s = case.session(case.gpu(g))
    m = metrics(s)
    case.checks.equal("computing", m.get("Computing Time"), 10300 + 20000)
    case.checks.equal("uncovered", m.get("Uncovered Communication Time"), 50500)
    case.checks.equal("copies", m.get("SDMA"), 6000)
    case.checks.equal("end to end", m.get("E2E Time"), 290500 - 120600)
    case.checks.equal("launched through the driver", s.rows("SELECT base_name, base_device_ns FROM operator_compare"),
                      [("aten::linear", 10300)])
    case.checks.equal("driver calls are no APIs", s.value("SELECT count(*) FROM api_compare WHERE name = 'cuLaunchKernel'"), 0)


def groups(case):
    """Groups meet by process-group name where one of each side has it, then by label; pairs by what is shown."""
    def run(labels, names):
        t = Text()
        for i, label in enumerate(labels):
            t.group(label)
            t.collective(label, "hcom_allReduce__1_0_1", i * 100, 50)
        t.lane("Communication(Not Overlapped)", 0, 1000)
        return case.text(t, names)
    s = case.session(run(["1", "2", "3", "4"], {"1": "tp", "3": "dp", "4": "dp"}),
                     run(["9", "2", "3"], {"9": "tp", "3": "dp"}))
    case.checks.equal("labels", s.rows("SELECT metric, base_ns, comparison_ns FROM overall_metrics WHERE level = 1 ORDER BY order_id"),
                      [("tp: Communication", 50000, 50000), ("Group 2 Communication", 50000, 50000),
                       ("dp: Group 3 Communication", 50000, 50000), ("dp: Group 4 Communication", 50000, 0)])


def group_called_unknown(case):
    """The profiler's word for a group without a name is none."""
    t = Text()
    t.group("1")
    t.collective("1", "hcom_allReduce__1_0_1", 0, 50)
    t.lane("Communication(Not Overlapped)", 0, 1000)
    s = case.session(case.text(t, {"1": "unknown"}))
    case.checks.equal("label", s.value("SELECT metric FROM overall_metrics WHERE level = 1"), "Group 1 Communication")


def listed_averages(case):
    """Averages of kernel types are those of op_statistic.csv; of several rows under one name, that of all."""
    t = Text()
    t.stat = [[0, "A", "AI_CORE", 3, "10.0", "3.0", "3.333", "4.0", 50], [0, "B", "AI_CORE", "N/A", "10.0", "3.0", "5.0", "7.0", 50]]
    s = case.session(case.text(t))
    averages = "SELECT kernel_type, base_avg_ns, comparison_avg_ns, avg_ratio FROM kernel_type_compare ORDER BY order_id"
    case.checks.equal("as listed", s.rows(averages), [("A", 3333.0, 3333.0, 1.0), ("B", 5000.0, 5000.0, 1.0)])
    t.stat[1][3] = 2
    s = case.session(case.text(t))
    s.rows("INSERT INTO op_equivalent VALUES ('A', 'B')")
    case.checks.equal("of all", s.rows(averages), [("A", 3333.0, (10000 + 10000) / 5, 4000 / 3333), ("B", 5000.0, None, 0.0)])


def groups_of_ranks(case):
    """A process group has other ids on other ranks: it meets by its name, ranks added up, and so do pairs of groups."""
    def run(ids, tp):
        case.count += 1
        for rank, (one, other) in enumerate(ids):
            t = Text()
            for label, start, dur in ((one, 0, tp + rank), (other, 10, 20)):
                t.group(label)
                t.collective(label, "hcom_allReduce__1_0_1", start, dur)
            t.lane("Communication(Not Overlapped)", 0, 1000)
            t.write(f"{case.folder}/{case.count}/{rank}_ascend_pt", {one: "tp", other: "dp"}, rank)
        return f"{case.folder}/{case.count}"
    s = case.session(run([("1", "2"), ("3", "4")], 15), run([("5", "6"), ("7", "8")], 25))
    # 15 + 16 against 25 + 26 us; in common from 10 to the end of tp: 5 + 6 against 15 + 16 us
    case.checks.equal("groups", s.rows("SELECT metric, base_ns, comparison_ns FROM overall_metrics "
                                       "WHERE metric LIKE '%: Comm%' OR metric LIKE '%&%' OR metric LIKE '% Overlapped' ORDER BY order_id"),
                      [("tp: Communication", 31000, 51000), ("dp: Communication", 40000, 40000),
                       ("Uncovered Communication Overlapped", 11000, 31000), ("tp & dp", 11000, 31000)])


def pairs_of_groups(case):
    """Two groups are one pair whichever comes first in either profile."""
    def run(labels):
        t = Text()
        for label in labels:
            t.group(label)
            t.collective(label, "hcom_allReduce__1_0_1", 0, 50 + len(labels) * 10 * (label == labels[0]))
        t.lane("Communication(Not Overlapped)", 0, 1000)
        return case.text(t)
    s = case.session(run(["1", "2"]), run(["2", "1", "3"]))
    case.checks.equal("pairs", s.rows("SELECT metric, base_ns, comparison_ns FROM overall_metrics WHERE metric LIKE '% & %' ORDER BY order_id"),
                      [("Group 1 Communication & Group 2 Communication", 50000, 50000),
                       ("Group 2 Communication & Group 3 Communication", 0, 50000),
                       ("Group 1 Communication & Group 3 Communication", 0, 50000)])


def overlaps(case):
    """Time that two collectives of a group share counts once."""
    t = Text()
    t.group("1")
    t.collective("1", "hcom_allReduce__1_0_1", 100, 50)
    t.collective("1", "hcom_allReduce__1_1_1", 120, 30)
    t.lane("Communication(Not Overlapped)", 100, 50)
    case.checks.equal("group", metrics(case.session(case.text(t))).get("Group 1 Communication"), 50000)


def time_spelling(case):
    """1650.0 and 1650.000 are one time."""
    t = Text()
    t.op("aten::div", 0, 40)
    t.kernel("Div1", 1650, 5, launch=0)
    for e in t.events:
        if e.get("name") == "Div1":
            e["ts"] = e["ts"][:-2]
    s = case.session(case.text(t))
    case.checks.equal("work", s.value("SELECT base_device_ns FROM operator_compare"), 5000)


def stream_spelling(case):
    """Newer traces call the stream Physic Stream Id."""
    t = Text()
    t.kernel("k", 100, 5)
    t.task("copy", 200, 6, "SDMA_SQE")
    t.lane("Computing", 100, 5)
    t.lane("Free", 105, 200)
    for e in t.events:
        if "Stream Id" in e.get("args", {}):
            e["args"]["Physic Stream Id"] = e["args"].pop("Stream Id")
    case.checks.equal("copies", metrics(case.session(case.text(t))).get("SDMA"), 6000)


def flow_category(case):
    """gpu_flow_cat is found in any case."""
    g = Gpu()
    g.op("aten::mm", 0, 100)
    g.kernel("gemm", 200, 7, launch=0)
    for e in g.events:
        if e["cat"] == "ac2g":
            e["cat"] = "My_Flow"
    path = case.gpu(g)
    options = {"gpu_flow_cat": "MY_FLOW"}
    s = case.session(path, base_options=options, comparison_options=options)
    case.checks.equal("work", s.value("SELECT base_device_ns FROM operator_compare"), 7000)


def tasks_by_name(case):
    """Tasks of the two sides stand beside those of the same name."""
    def run(tasks):
        t = Text()
        t.group("1")
        t.collective("1", "hcom_send__1_0_1", 0, 100)
        for i, name in enumerate(tasks):
            t.comm_task("1", 0, name, i * 10, 5)
        return case.text(t)
    s = case.session(run(["Notify_Record", "Notify_Wait"]), run(["Notify_Wait", "RDMASend"]))
    case.checks.equal("tasks", s.rows("SELECT task, base_calls, comparison_calls FROM communication_compare ORDER BY order_id"),
                      [(None, 1, 1), ("Notify_Record", 1, None), ("Notify_Wait", 1, 1), ("RDMASend", None, 1)])


def glued_keys(case):
    """Type A with shapes 12 and type A1 with shapes 2 are two groups; so are a scalar's and unknown shapes."""
    t = Text()
    t.kernel("k", 0, 1, "A", shapes="12")
    t.kernel("k", 10, 2, "A1", shapes="2")
    t.kernel("k", 20, 4, "A", shapes="")
    t.kernel("k", 30, 8, "A")
    s = case.session(case.text(t))
    case.checks.equal("groups", s.rows("SELECT kernel_type, input_shapes, base_total_ns FROM kernel_compare ORDER BY order_id"),
                      [("A", "12", 1000), ("A", "", 4000), ("A", None, 8000), ("A1", "2", 2000)])


def gpu_kernels(case):
    """GPU kernels have no type; their names stand for it."""
    g = Gpu()
    g.kernel("gemm", 0, 3)
    g.kernel("gemm", 10, 4)
    s = case.session(case.gpu(g))
    case.checks.equal("kernels", s.rows("SELECT kernel_type, base_calls, base_total_ns FROM kernel_compare"), [("gemm", 2, 7000)])


def unknown_times(case):
    """An operator without end is within another and encloses none; work of unknown length or size makes no line."""
    g = Gpu()
    g.op("nn.Module: Net_0", 110, 500, cat="python_function")
    g.op("aten::outer", 120, 100)
    g.op("aten::inner", 130, 1)
    del g.events[-1]["dur"]
    g.kernel("k", 150, 2, launch=140)
    del g.events[-3]["dur"]
    s = case.session(case.gpu(g))
    case.checks.equal("operators of the module", s.rows("SELECT base_operator FROM module_compare WHERE NOT is_total"), [("aten::outer",)])
    case.checks.equal("line", s.rows("SELECT base_kernels FROM module_compare_statistic WHERE operator IS NOT NULL"), [(None,)])
    t = Text()
    t.op("aten::mm", 10, 50)
    t.block("aten::mm", "N/A", 20, 30)
    s = case.session(case.text(t))
    case.checks.equal("block", s.rows("SELECT base_blocks FROM memory_compare"), [(None,)])


def launches_in_time(case):
    """Kernels of an operator stand in order of launch, whatever the file's, with another module in between."""
    g = Gpu()
    g.op("nn.Module: Net_0", 110, 500, cat="python_function")
    g.op("nn.Module: Linear_0", 135, 5, cat="python_function")
    g.op("aten::a", 120, 100)
    for name, start, launch in (("k1", 160, 150), ("k2", 158, 148), ("k1", 140, 130)):
        g.kernel(name, start, 2, launch=launch)
    s = case.session(case.gpu(g))
    lines = s.value("SELECT base_kernels FROM module_compare_statistic WHERE operator = 'aten::a'").splitlines()
    case.checks.equal("lines", lines, ["k1, [number: 2], [duration_ms: 0.004]", "k2, [number: 1], [duration_ms: 0.002]"])


def merged_types(case):
    """The median of two types that count as one is that of their kernels together."""
    def run(types):
        db = Db()
        for i, (op_type, dur) in enumerate(types):
            db.kernel("k", 10 * i, dur, op_type, connection=i + 1)
        case.count += 1
        return db.write(f"{case.folder}/{case.count}_ascend_pt")
    s = case.session(run([("Add", 1)]), run([("Plus", 1), ("Plus", 2), ("Plus", 9), ("Sum", 3), ("Sum", 4)]))
    s.rows("INSERT INTO op_equivalent(a, b) VALUES ('Add', 'Plus'), ('Add', 'Sum')")
    for view in ("kernel_compare", "kernel_type_compare"):
        case.checks.equal(view, s.rows(f"SELECT comparison_calls, comparison_median_ns, comparison_spread_ns FROM {view}"),
                          [(5, 3000.0, 2000.0)])  # of 1, 2, 3, 4, 9 us: median 3, quartiles 2 and 4


def bad_row(case):
    """A start time that is no number is unknown and said so; the kernel's duration counts all the same."""
    t = Text()
    t.kernel("good", 0, 3)
    t.kernel("bad", 10, 4)
    t.kernels[-1][1][7] = "1x2"
    s = case.session(case.text(t))
    case.checks.equal("kernels", s.rows("SELECT kernel_type FROM kernel_compare ORDER BY 1"), [("bad",), ("good",)])
    case.checks.equal("known starts", s.value("SELECT count(start_ns) FROM prof_kernel WHERE profile = 'base'"), 1)
    case.checks.equal("said so", s.value("SELECT count(*) > 0 FROM prof_diagnostic WHERE source LIKE '%kernel_details.csv%'"), 1)


def odd_files(case):
    """What ends the whole run elsewhere: no bandwidths, a plane of no group, counters that are N/A, a step that is no number."""
    t = Text()
    t.tids = 1
    t._meta(3, 0, "thread_name", {"name": "Plane 9"})                # stands before every group
    t._meta(3, 0, "thread_sort_index", {"sort_index": -1})
    t._span("Notify_Wait", 3, 0, 100, 5, args={})
    t.group("g")
    t.collective("g", "hcom_allReduce__1_0_1", 200, 50)
    t.kernel("AllGatherMatmul", 300, 100, "AllGatherMatmul", "MIX_AIC", pmu=("N/A", "N/A", "N/A"), step="first")
    t.lane("Computing", 300, 100)
    t.lane("Communication(Not Overlapped)", 200, 50)
    t.bands = {"step1": {"p2p": {"hcom_send__1_0_1@g": {"Communication Time Info": {"Elapse Time(ms)": 1}}}, "collective": {}}}
    s = case.session(case.text(t))
    case.checks.equal("whole", s.rows("SELECT metric, base_ns FROM overall_metrics WHERE level = 0 ORDER BY order_id"),
                      [("Computing Time", 100000), ("Uncovered Communication Time", 50000), ("Free Time", 50000), ("E2E Time", 200000)])
    case.checks.equal("fused kernel", s.rows("SELECT base_ns, base_calls FROM overall_metrics WHERE metric = 'AllGatherMatmul'"), [(100000, 1)])
    case.checks.equal("group", metrics(s).get("Group g Communication"), 50000)
    case.checks.equal("no bandwidth", [r[0] for r in s.sheet("terminal") if "Bandwidth" in r[0]], [])
    case.checks.equal("kernels", s.rows("SELECT kernel_type, base_total_ns FROM kernel_compare ORDER BY order_id"),
                      [("hcom_allReduce_", 50000), ("AllGatherMatmul", 100000)])


def scalar_dims(case):
    """A bare number among the dims of a GPU operator is part of its key as any other."""
    def run(number):
        g = Gpu()
        g.op("aten::add", 0, 10, **{"Input Dims": [[2, 3], number]})
        g.kernel("k", 20, 5, launch=0)
        return case.gpu(g)
    one, two = run(7), run(8)
    case.checks.equal("equal", shown(case.session(one, one, settings={"use_input_shape": 1})), [("aten::add", "aten::add")])
    case.checks.equal("different", shown(case.session(one, two, settings={"use_input_shape": 1})), [("aten::add", None), (None, "aten::add")])


def both_kinds(case):
    """Operators are compared where modules are, and modules of a chosen step are those of the step."""
    t = Text()
    for step in (1, 2):
        at = step * 1000
        t.op(f"ProfilerStep#{step}", at, 900)
        t.python("nn.Module: Net_0", at + 10, 500)
        t.op("aten::mm", at + 20, 50)
        t.kernel("k", at + 600, step, launch=at + 20, step=step)
    path = case.text(t)
    modules = "SELECT base_calls, base_total_ns FROM module_compare_statistic WHERE operator IS NULL"
    s = case.session(path)
    case.checks.equal("modules", s.rows(modules), [(2, 3000)])
    case.checks.equal("operators", s.rows("SELECT base_name, base_device_ns FROM operator_compare"), [("aten::mm", 1000), ("aten::mm", 2000)])
    s = case.session(path, base_options={"step": 2}, comparison_options={"step": 2})
    case.checks.equal("modules of step 2", s.rows(modules), [(1, 2000)])


def run_cases(*tests):
    """Runs tests with the library that the command line names, and ends the program."""
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        case = Case(sys.argv[1], folder, checks)
        for test in tests:
            checks.run(test, case)
    sys.exit(checks.report())


if __name__ == "__main__":
    run_cases(nesting, innermost_owner, backward_split, matching, empty_side, empty_side_with_backward_thread, drill_down,
              drill_down_after_overlap, step_with_its_first_operator, host_operators, kernel_types, listed_averages, copies,
              fused_kernels, fused_kernels_without_launch, waits, planes_that_wait_alike, comm_task_edges, memory_edges, gpu_memory, steps, work_behind_its_step, trace_alone, nested_steps, gpu_times, groups,
              group_called_unknown, groups_of_ranks, pairs_of_groups, overlaps, time_spelling, stream_spelling, flow_category,
              tasks_by_name, glued_keys, gpu_kernels, unknown_times, launches_in_time, merged_types, bad_row, odd_files,
              scalar_dims, both_kinds)
