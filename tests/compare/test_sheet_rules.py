"""Rules of the sides and of the sheets of operators, memory, collectives, kernels and APIs, each in a run of a few events."""
import os

from profiles import Db, Gpu, Text, ns
from test_rules import metrics, run_cases, shown, step


def trace_alone(case):
    """A trace_view.json by itself is a text export: its lanes say how long the device computes, and nothing is classified."""
    t = Text()
    t.kernel("k", 100, 10, "MatMul")
    t.lane("Computing", 100, 12)
    path = case.text(t) + "/ASCEND_PROFILER_OUTPUT/trace_view.json"
    case.checks.equal("times", metrics(case.session(path)), {"Computing Time": 12000, "Other": 12000, "E2E Time": 12000})


def export_of_msprof(case):
    """An export of msprof is a text export: kernels without counters, those of AI_CPU, are classified as nothing."""
    case.count += 1
    folder = f"{case.folder}/{case.count}/PROF_000001_20260402160352_AAAAAAAA"
    os.makedirs(folder + "/mindstudio_profiler_output")
    with open(folder + "/mindstudio_profiler_output/op_summary_20260402160352.csv", "w", encoding="utf-8") as f:
        f.write("Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),aiv_vec_time(us)\n"
                "add,Add,AI_VECTOR_CORE,1.000\t,7.000,3.000\n"
                "index,Index,AI_CPU,8.000\t,5.000,N/A\n")
    m = metrics(case.session(folder))
    case.checks.equal("times", (m.get("Computing Time"), m.get("Vector"), m.get("Other")), (7000 + 5000, 7000, 5000))


def step_without_trace(case):
    """Without its trace, a step of a text export lasts from the start of its first kernel to the end of its last."""
    t = Text()
    for name, start, dur, number in (("a", 0, 100, 1), ("b", 50, 500, 1), ("c", 300, 10, 2), ("d", 551, 1, 2)):
        t.kernel(name, start, dur, step=number)
    path = case.text(t)
    os.remove(path + "/ASCEND_PROFILER_OUTPUT/trace_view.json")
    m = metrics(case.session(path, **step(1)))
    case.checks.equal("kernels from 0 to 550", (m.get("Computing Time"), m.get("Vector")), (550000, 100000 + 500000 + 10000))


def tasks_of_kernels(case):
    """Tasks of kernels do not stretch the time from end to end, where kernels are known by themselves; other tasks do."""
    t = Text()
    t.kernel("k", 100, 10)
    for i, kind in enumerate(("AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV")):
        t.task("t", i * 10, 5, kind)
    case.checks.equal("kernel alone", metrics(case.session(case.text(t))).get("E2E Time"), 10000)
    t.task("t", 50, 5, "EVENT_RECORD_SQE")
    case.checks.equal("and an event", metrics(case.session(case.text(t))).get("E2E Time"), (110 - 50) * 1000)


def lane_of_a_process_group(case):
    """Collectives of a group stand under the name of its process group where it has one."""
    db = Db()
    db.kernel("k", 0, 50)
    for group, start in (("111", 10), ("222", 20)):
        db.collective("hcom_a__1", "hcom_allReduce_", start, 5, group)
    s = case.session(case.db(db, {"111": "tp"}))
    case.checks.equal("lanes", s.rows("SELECT lane FROM step_timeline WHERE profile = 'base' AND kind = 'communication' ORDER BY lane"),
                      [("group 222",), ("group tp",)])


def equivalent_operators(case):
    """A name that op_equivalent gives to the comparison's operators changes none of base's, and op_name_map comes after it."""
    def run(*names):
        t = Text()
        for i, name in enumerate(names):
            t.op(name, i * 10, 5)
            t.kernel("k", 100 + i * 10, 1, launch=i * 10)
        return case.text(t)

    def equivalent(base, comparison, **options):
        s = case.session(base, comparison, **options)
        s.rows("INSERT INTO op_equivalent VALUES ('a', 'x')")
        return s
    case.checks.equal("x of base is not a", shown(equivalent(run("x"), run("a"))), [("x", None), (None, "a")])
    case.checks.equal("x counts as a, and a as z", shown(equivalent(run("a"), run("x"), settings={"op_name_map": {"a": "z"}})), [("a", "x")])
    s = equivalent(run("a", "x"), run("x"))
    case.checks.equal("pairs", shown(s), [("a", "x"), ("x", None)])
    case.checks.equal("names", s.rows("SELECT name, base_calls, comparison_calls FROM operator_compare_statistic ORDER BY name"),
                      [("a", 1, 1), ("x", 1, None)])


def equivalent_names_of_other_sheets(case):
    """Equivalent APIs, collectives and kernel types of the comparison go by base's name, those of base by their own."""
    def run(*names):
        t = Text()
        t.group("g")
        for i, name in enumerate(names):
            t.op(name, i * 10, 5)
            t.kernel("k", 100 + i * 10, 1, op_type=name)
            t.collective("g", name + "_1", 200 + i * 10, 1)
        return case.text(t)
    s = case.session(run("a", "x"), run("x"))
    s.rows("INSERT INTO op_equivalent VALUES ('a', 'x')")
    for name, view in (("name", "api_compare"), ("kind", "communication_compare"), ("kernel_type", "kernel_compare")):
        case.checks.equal(view, s.rows(f"SELECT {name}, base_calls, comparison_calls FROM {view} WHERE {name} IN ('a', 'x') ORDER BY order_id"),
                          [("a", 1, 1), ("x", 1, None)])


def shapes_of_scalars(case):
    """A kernel whose inputs are scalars has shapes, which are empty; one of unknown shapes has none."""
    t = Text()
    t.op("aten::add", 0, 10)
    t.kernel("k", 100, 5, launch=0, shapes="")
    t.kernel("k", 110, 6, launch=0)
    case.checks.equal("lines", case.session(case.text(t)).value("SELECT base_kernels FROM operator_compare").splitlines(),
                      ["k, 1, AI_VECTOR_CORE, [input shapes: ] [duration: 5.0]", "k, 2, AI_VECTOR_CORE [duration: 6.0]"])


def backward_split_needs_both(case):
    """The backward thread splits operators only where both sides have one; of as many stretches the comparison's first stays alone."""
    def run(operators, backward):
        t = Text()
        for i, (thread, name) in enumerate(operators):
            t.op(name, i * 10, 5, thread=thread)
        if backward is not None:
            t.fwd_bwd(0, backward)
        return case.text(t)
    three = ((1, "a"), (2, "b"), (1, "c"))
    case.checks.equal("of base alone", shown(case.session(run(three, 10), run(three, None))), [("a", "a"), ("b", "b"), ("c", "c")])
    case.checks.equal("two and two", shown(case.session(run(((1, "a"), (2, "x")), 10), run(((2, "x"), (1, "a")), 0))),
                      [(None, "x"), ("a", "a"), ("x", None)])


def operators_of_ranks(case):
    """Operators meet rank by rank: the first rank of base meets the first of the comparison."""
    def run(rank):
        t = Text()
        t.op(f"aten::op{rank}", 20, 10)
        t.kernel("k", 500, 1, launch=20)
        return t
    s = case.session(case.ranks(run(0), run(1)), case.ranks(run(0)))
    case.checks.equal("pairs", shown(s), [("aten::op0", "aten::op0"), ("aten::op1", None)])


def order_of_names(case):
    """Names whose differences look alike as shown, in ms and MB of two decimals, stand in order of their first operators."""
    def run(*operators):
        t = Text()
        for i, (name, dur, kilobytes) in enumerate(operators):
            t.op(name, i * 10, 5)
            t.kernel("k", 400 + i * 10, dur, launch=i * 10)
            t.block("x", kilobytes, i * 10 + 1, 300)
        return case.text(t)
    s = case.session(run(("zeta", 1, 1), ("alpha", 1, 1), ("zeta", 1, 1)), run(("zeta", 1, 1), ("alpha", 3, 3), ("zeta", 1, 1)))
    for view in ("operator_compare_statistic", "memory_compare_statistic"):
        case.checks.equal(view, s.rows(f"SELECT name FROM {view} ORDER BY order_id"), [("zeta",), ("alpha",)])


def noise_of_operators(case):
    """Medians that differ by no more than the larger of both spreads are noise, though the other spread is small."""
    def run(*durations):
        t = Text()
        for i, dur in enumerate(durations):
            t.op("x", i * 10, 5)
            t.kernel("k", 100 + i * 100, dur, launch=i * 10)
        return case.text(t)
    s = case.session(run(10, 20, 60), run(21, 22, 23))
    # medians 20 and 22 us; quartiles 15 and 40, 21.5 and 22.5
    case.checks.equal("noise", s.rows("SELECT noise, base_spread_ns, comparison_spread_ns FROM operator_compare_statistic"),
                      [(1, 25000.0, 1000.0)])


def order_of_blocks(case):
    """Blocks of an operator stand before those of its children, all children's before those of their children."""
    t = Text()
    t.op("aten::top", 0, 200)
    for name, start, dur in (("A", 1, 100), ("B", 10, 40), ("C", 20, 10), ("D", 60, 20)):       # A calls B and D, B calls C
        t.op(name, start, dur)
        t.block("x", 1, start + 1, 300)
    for i in range(5):
        t.kernel("k", 400 + i * 10, 1, launch=0)
    path = case.text(t)
    for what, settings in (("of the top", {}), ("of A", {"max_kernel_num": 4})):
        s = case.session(path, settings=settings)
        lines = s.value("SELECT base_blocks FROM memory_compare").splitlines()
        case.checks.equal(what, [line[0] for line in lines], ["A", "B", "D", "C"])


def block_times_of_gpu_traces(case):
    """The times of a block are those of its own trace's clock, though the two traces count from different moments."""
    def run(start):
        g = Gpu()
        g.op("aten::empty", 0, 100)
        g.kernel("k", 200, 5)
        g.memory(10, 1024)
        path = case.gpu(g)
        with open(path, encoding="utf-8") as f:
            trace = f.read()
        with open(path, "w", encoding="utf-8") as f:
            f.write(trace.replace("{", f'{{"baseTimeNanoseconds": {start}, ', 1))
        return path
    s = case.session(run(1000000000), run(5000000000))
    line = "aten::empty, (10.000, None), [duration: 0.0], [size: 1.0]\n"
    case.checks.equal("lines", s.rows("SELECT base_blocks, comparison_blocks FROM memory_compare"), [(line, line)])


def collectives_of_a_database(case):
    """Collectives of a database stand as the database has them, not by start, and are of the kind that their type says."""
    db = Db()
    db.kernel("k", 0, 1)
    db.collective("hcom_other__1", "hcom_broadcast_", 500, 5, "g")
    db.collective("hcom_other__2", "hcom_allGather_", 100, 5, "g")
    s = case.session(case.db(db))
    case.checks.equal("kinds", s.rows("SELECT kind FROM communication_compare ORDER BY order_id"), [("broadcast",), ("allgather",)])


def tasks_of_collectives(case):
    """Collectives have the tasks of their own rank, and of a chosen step those that start in it."""
    tasks = "SELECT task, base_calls FROM communication_compare ORDER BY order_id"
    t = Text()
    t.group("g")
    t.collective("g", "hcom_allReduce__1_0_1", 0, 100)
    t.comm_task("g", 0, "Memcpy", 10, 5)
    case.checks.equal("two ranks", case.session(case.ranks(t, t)).rows(tasks), [(None, 2), ("Memcpy", 2)])
    db = Db()
    db.kernel("k", 10, 1)
    op = db.collective("hcom_x__1", "hcom_allReduce_", 80, 100, "g")
    for start in (85, 120):
        db.comm_task(op, "Memcpy", start, 5, "g")
    db.rows["STEP_TIME"] = [(1, ns(0), ns(100)), (2, ns(101), ns(300))]
    case.checks.equal("step 1", case.session(case.db(db), **step(1)).rows(tasks), [(None, 1), ("Memcpy", 1)])


def order_of_kinds(case):
    """Kinds of collectives stand in order of base, then of the comparison."""
    def run(*kinds):
        t = Text()
        t.group("g")
        for i, kind in enumerate(kinds):
            t.collective("g", f"hcom_{kind}__1", i * 100, 10)
        return case.text(t)
    s = case.session(run("a", "b"), run("c", "b", "a"))
    case.checks.equal("kinds", s.rows("SELECT kind FROM communication_compare ORDER BY order_id"), [("a",), ("b",), ("c",)])


def order_of_kernels(case):
    """Kernels stand in order of their types, of one type in order of their shapes, first those of base."""
    def run(*kernels):
        t = Text()
        for i, (op_type, shapes) in enumerate(kernels):
            t.kernel("k", i * 10, 1, op_type, shapes=shapes)
        return case.text(t)
    s = case.session(run("A1", "B1", "A2"), run("C1", "D1", "C2"))
    case.checks.equal("kernels", s.rows("SELECT kernel_type, input_shapes FROM kernel_compare ORDER BY order_id"),
                      [tuple(kernel) for kernel in ("A1", "A2", "B1", "C1", "C2", "D1")])


def order_of_kernel_types(case):
    """Kernel types whose ratios are alike to four decimals stand in order of first appearance."""
    def run(**durations):
        db = Db()
        for i, (op_type, dur) in enumerate(durations.items()):
            db.kernel("k", i * 1000, dur, op_type)
        return case.db(db)
    s = case.session(run(Zeta=100, Alpha=100), run(Zeta=100.001, Alpha=100.002))
    case.checks.equal("types", s.rows("SELECT kernel_type FROM kernel_type_compare ORDER BY order_id"), [("Zeta",), ("Alpha",)])


def kernel_types_of_a_step(case):
    """Of a chosen step, the sheet of types has the kernels that start in it; in a text export those whose type is known."""
    types = "SELECT kernel_type FROM kernel_type_compare ORDER BY kernel_type"
    t = Text()
    t.op("ProfilerStep#1", 0, 1000)
    t.kernel("a", 10, 5, "A", step=1)
    t.kernel("b", 20, 5, "N/A", step=1)
    case.checks.equal("text", case.session(case.text(t), **step(1)).rows(types), [("A",)])
    db = Db()
    db.kernel("a", 90, 20, "A")
    db.kernel("b", 10, 5, "B")
    db.kernel("c", 101, 5, "C")
    db.rows["STEP_TIME"] = [(1, ns(0), ns(100)), (2, ns(101), ns(200))]
    case.checks.equal("database", case.session(case.db(db), **step(1)).rows(types), [("A",), ("B",)])


def kernel_of_unknown_type(case):
    """A kernel of a database whose type is unknown is of type N/A."""
    db = Db()
    db.kernel("k", 0, 5)
    db.rows["COMPUTE_TASK_INFO"] = [(*row[:5], None, *row[6:]) for row in db.rows["COMPUTE_TASK_INFO"]]      # without opType
    case.checks.equal("type", case.session(case.db(db)).rows("SELECT kernel_type FROM kernel_type_compare"), [("N/A",)])


def extremes_of_merged_types(case):
    """The longest and the shortest kernel of types that count as one are those of all of them."""
    def run(**durations):
        db = Db()
        for i, (op_type, dur) in enumerate(durations.items()):
            db.kernel("k", 10 * i, dur, op_type)
        return case.db(db)
    s = case.session(run(Add=1), run(Plus=1, Sum=3))
    s.rows("INSERT INTO op_equivalent(a, b) VALUES ('Add', 'Plus'), ('Add', 'Sum')")
    case.checks.equal("times", s.rows("SELECT comparison_min_ns, comparison_max_ns FROM kernel_type_compare"), [(1000, 3000)])


if __name__ == "__main__":
    run_cases(trace_alone, export_of_msprof, step_without_trace, tasks_of_kernels, lane_of_a_process_group, equivalent_operators,
              equivalent_names_of_other_sheets, shapes_of_scalars, backward_split_needs_both, operators_of_ranks, order_of_names,
              noise_of_operators, order_of_blocks, block_times_of_gpu_traces, collectives_of_a_database, tasks_of_collectives,
              order_of_kinds, order_of_kernels, order_of_kernel_types, kernel_types_of_a_step, kernel_of_unknown_type,
              extremes_of_merged_types)
