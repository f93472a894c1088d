"""Rules of the MFU views that larger profiles do not show, each in a run of a few events."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "compare"))
from profiles import ROOT, Db, Gpu, ns  # noqa: E402
from test_rules import run_cases  # noqa: E402

CHIP = "Ascend910B3"
PEAK = 20 * 1800e6 * 8192                   # operations a second of its 20 cores at 1800 MHz, BF16


def opened(case, run, chip=CHIP):
    """As case.opened, on a chip whose peak is known."""
    return case.opened(run, json.dumps({"chip": chip} if chip else {}))


def of_ranks(case, *runs):
    """Databases as ranks 0, 1 ... of one profile."""
    for rank, run in enumerate(runs):
        run.rows["RANK_DEVICE_MAP"] = [(rank, rank)]
    return case.ranks(*runs)


def launched(d, name, start, dur, connection, kernel_start, kernel_dur, kernel="K", thread=1, types="BF16", shapes="2,2"):
    """An operator of a database and the kernel that it launches."""
    d.api(name, start, dur, (connection,), thread=thread)
    d.kernel(kernel, kernel_start, kernel_dur, kernel, connection=connection, types=types, shapes=shapes, outputs=shapes)


def product(d):
    """A matrix product of 2 x 3 and 3 x 4, which is 2 * 2 * 3 * 4 = 48 operations, by its shapes alone."""
    d.api("aten::mm", 15, 10, (1,))
    d.kernel("MatMul", 100, 5, "MatMulV2", connection=1, types="FLOAT16;FLOAT16", shapes="2,3;3,4", outputs="2,4")


def gpu_product(g, at, dims, name="aten::mm", kernels=(("gemm", 5),), thread=1, cat="cpu_op", dur=50, concrete=None):
    """An operator of a GPU trace with its input dims, and the kernels that it launches, 1 ms later."""
    arguments = {"Input Dims": dims, "Input type": ["c10::Half"] * len(dims)}
    if concrete:
        arguments["Concrete Inputs"] = concrete
    g.op(name, at, dur, thread=thread, cat=cat, **arguments)
    for i, (kernel, kernel_dur) in enumerate(kernels):
        g.op("cudaLaunchKernel", at + 1 + i * 3, 2, thread=thread, cat="cuda_runtime")
        g.kernel(kernel, at + 1000 + i * 20, kernel_dur, launch=at + 1 + i * 3, thread=thread)


def kernels_found_twice(case):
    """Of kernels with one start and one end the operator that starts first keeps its own; with other ends both stay."""
    d = Db()
    d.range("mfu_flops", "1000-mm", 100, 100)
    launched(d, "early", 110, 5, 1, 500, 5, kernel="A")
    launched(d, "late", 150, 5, 2, 500, 5, kernel="B")
    case.checks.equal("same end", opened(case, d).rows("SELECT op_name, kernel_name FROM operator_mfu"), [("early", "A")])
    d = Db()
    d.range("mfu_flops", "1000-mm", 100, 100)
    d.api("aten::mm", 110, 50, (1, 2))
    for connection, dur in ((1, 5), (2, 7)):
        d.kernel("K", 500, dur, "K", connection=connection, types="BF16", shapes="2", outputs="2")
    case.checks.equal("other ends", opened(case, d).rows("SELECT kernel_duration_ns FROM operator_mfu"), [(5000,), (7000,)])


def first_operator(case):
    """The operator that starts first gives a record its data type and stands first, though its kernel runs last."""
    d = Db()
    d.range("mfu_flops", "1000-mm", 100, 100)
    launched(d, "early", 110, 5, 1, 900, 5, types="INT8")
    launched(d, "late", 150, 5, 2, 500, 5, types="BF16")
    case.checks.equal("rows", opened(case, d).rows("SELECT op_name, dtype FROM operator_mfu"), [("early", "int8"), ("late", "int8")])


def step_of_a_record(case):
    """A record that reaches into the next step belongs to the step of its first operator."""
    d = Db()
    d.range("mfu_flops", "1000-mm", 90, 100)
    launched(d, "a", 95, 2, 1, 900, 5)
    launched(d, "b", 150, 5, 2, 950, 5)
    d.rows["STEP_TIME"] = [(1, ns(0), ns(100)), (2, ns(101), ns(2000))]
    case.checks.equal("step", opened(case, d).rows("SELECT step FROM mfu_record"), [(1,)])


def work_done_again(case):
    """A record is work done again in a checkpoint's backward operator of its own thread; without a thread that cannot be told."""
    def record(backward_thread, record_thread=1, kind="op"):
        d = Db()
        d.range("mfu_flops", "1000-mm", 100, 50, thread=1)
        if record_thread is None:
            event = d.rows["MSTX_EVENTS"][-1]
            d.rows["MSTX_EVENTS"][-1] = (*event[:6], None, None, *event[8:])
        launched(d, "aten::mm", 110, 5, 1, 900, 5)
        d.api("CheckpointFunctionBackward", 50, 500, thread=backward_thread, kind=kind)
        return opened(case, d).rows("SELECT is_recompute FROM mfu_record")
    case.checks.equal("same thread", record(1), [(1,)])
    case.checks.equal("other thread", record(2), [(0,)])
    case.checks.equal("thread unknown", record(1, None), [(None,)])
    case.checks.equal("a call of the task queue is no operator", record(1, kind="queue"), [(0,)])


def record_without_kernels(case):
    """What an operator launches that is no kernel, such as a collective, is no launch of its record."""
    d = Db()
    d.range("mfu_flops", "1000-mm", 100, 50)
    d.api("all_reduce", 110, 5, (1,))
    d.collective("hcom_allReduce__1_0_1", "hcom_allReduce_", 200, 5, "g", connection=1)
    case.checks.equal("launches", opened(case, d).value("SELECT count(*) FROM flops_record_launch"), 0)


def modules_within_modules(case):
    """Of modules that start together the longer is around the other; marks are no modules, and ranks have their own."""
    tree = "SELECT rank, parent_module, module FROM module_range ORDER BY rank, module_end_ns DESC"
    d = Db()
    d.range("Module", "Inner", 100, 50)
    d.range("Module", "Outer", 100, 500)
    launched(d, "aten::mm", 110, 5, 1, 900, 5)
    s = opened(case, d)
    case.checks.equal("same start", s.rows(tree), [(0, "", "Outer"), (0, "Outer", "Inner")])
    case.checks.equal("its operators", s.rows("SELECT parent_module, module, op_name FROM module_mfu"), [("Outer", "Inner", "aten::mm")])
    d = Db()
    d.range("Module", "Net", 100, 500)
    d.range("Module", "Mark", 105, 50)
    launched(d, "aten::mm", 110, 5, 1, 900, 5)
    d.rows["ENUM_MSTX_EVENT_TYPE"] = [(0, "marker"), (2, "start/end")]
    event = d.rows["MSTX_EVENTS"][-1]
    d.rows["MSTX_EVENTS"][-1] = (*event[:2], 0, *event[3:])
    s = opened(case, d)
    case.checks.equal("a mark", s.rows(tree), [(0, "", "Net")])
    case.checks.equal("operators under a mark", s.rows("SELECT parent_module, module FROM module_mfu"), [("", "Net")])
    wide, narrow = Db(), Db()
    wide.range("Module", "Wide", 0, 500)
    narrow.range("Module", "Narrow", 10, 50)
    for run in (wide, narrow):
        launched(run, "aten::mm", 15, 10, 1, 900, 5)
    case.checks.equal("ranks", opened(case, of_ranks(case, wide, narrow)).rows(tree), [(0, "", "Wide"), (1, "", "Narrow")])


def records_within_records(case):
    """A module's MFU takes the innermost record of a kernel: half a million operations in 5 us, not the million around them."""
    d = Db()
    d.range("Module", "Net", 50, 500)
    d.range("mfu_flops", "1000000-outer", 100, 100)
    d.range("mfu_flops", "500000-inner", 105, 20)
    launched(d, "aten::mm", 110, 5, 1, 900, 5)
    s = opened(case, d)
    case.checks.close("module", json.loads(s.value("SELECT avg_mfu FROM module_mfu"))[0], 500000 / 5e-6 / PEAK)
    case.checks.equal("records", s.rows("SELECT flops_op_name, flops FROM operator_mfu"), [("outer", 1000000), ("inner", 500000)])


def backward_of_modules(case):
    """An operator of the backward pass belongs to the module of its forward operator, and to none where that is outside of all."""
    def modules(inner_dur=None, outside=False):
        d = Db()
        d.range("Module", "Net", 0, 1000)
        d.api("aten::mm", 35, 10, (1, 77))
        d.kernel("Forward", 3000, 5, "Forward", connection=1)
        d.api("MmBackward0", 2000, 100, (77,), thread=2)
        if inner_dur:
            d.api("inner", 2000, inner_dur, thread=2)
        if outside:
            d.api("aten::out", 1500, 10, (2, 78))
            d.kernel("Outside", 3100, 5, "Outside", connection=2)
            d.api("OutBackward0", 2010, 80, (78,), thread=2)
        d.api("work", 2050, 5, (5,), thread=2)
        d.kernel("Backward", 4000, 5, "Backward", connection=5)
        return opened(case, d).rows("SELECT direction, module, op_name FROM module_mfu")
    forward, backward = ("forward", "Net", "aten::mm"), ("backward", "Net", "work")
    case.checks.equal("linked", modules(), [forward, backward])
    case.checks.equal("a shorter operator at the same start", modules(inner_dur=20), [forward, backward])
    case.checks.equal("outside", modules(outside=True), [forward])


ESTIMATES = "SELECT kernel_name, op_name, flops FROM kernel_mfu_estimate ORDER BY start_ns"


def kernels_beside_the_product(case):
    """A kernel whose name has a word of the main kernels and one of those beside them stands beside: it gets none of the FLOPs."""
    for beside in ("gemm_splitKreduce", "gemm_cast"):
        g = Gpu()
        gpu_product(g, 0, [[2, 3], [3, 4]], kernels=(("gemm", 5), (beside, 5)))
        case.checks.equal(beside, opened(case, g).rows(ESTIMATES), [("gemm", "aten::mm", 2 * 2 * 3 * 4), (beside, "aten::mm", 0)])


def rules_of_operators(case):
    """A dot product of K counts 2 K; attention whose argument is_causal is True counts what lies on and below the diagonal."""
    g = Gpu()
    gpu_product(g, 0, [[5], [5]], name="aten::dot")
    case.checks.equal("dot", opened(case, g).rows(ESTIMATES), [("gemm", "aten::dot", 2 * 5)])
    for causal, elements in (("True", 1 + 2 + 3 + 4), ("False", 4 * 4)):
        g = Gpu()
        name = "aten::_scaled_dot_product_flash_attention"
        gpu_product(g, 0, [[1, 1, 4, 2]] * 3 + [[]] * 4, name=name, concrete=["", "", "", "0.", causal, "False", ""])
        case.checks.equal(f"causal {causal}", opened(case, g).rows(ESTIMATES), [("gemm", name, 2 * elements * (2 + 2))])


def operators_that_count(case):
    """Products on two threads both count; marks with an operator's name do not, nor do collectives and transposed convolutions."""
    g = Gpu()
    gpu_product(g, 0, [[4], [2, 3], [3, 4]], name="aten::addmm", dur=200)
    gpu_product(g, 50, [[2, 3], [3, 4]], thread=2)
    case.checks.equal("two threads", opened(case, g).rows(ESTIMATES), [("gemm", "aten::addmm", 48), ("gemm", "aten::mm", 48)])
    g = Gpu()
    gpu_product(g, 0, [[2, 3], [3, 4]], cat="user_annotation")
    case.checks.equal("a mark", opened(case, g).rows(ESTIMATES), [])
    g = Gpu()
    gpu_product(g, 0, [[2, 3], [3, 4]], kernels=(("gemm", 5), ("ncclDevKernel", 5)))
    case.checks.equal("a collective", opened(case, g).rows(ESTIMATES), [("gemm", "aten::mm", 48)])
    d = Db()
    d.api("aten::conv_transpose2d", 0, 50, (1,))
    d.kernel("k", 100, 5, "Conv2DTranspose", connection=1, types="FLOAT16;FLOAT16", shapes="1,3,8,8;4,3,3,3", outputs="1,4,8,8")
    case.checks.equal("transposed", opened(case, d).rows(ESTIMATES), [])


def two_products_of_an_operator(case):
    """Where an operator launches two products in a format that pads, each counts by its own shapes."""
    d = Db()
    d.api("aten::mm", 10, 50, (1, 2), dims="4,8;\r\n8,16")
    for connection in (1, 2):
        d.kernel("MatMul", 100 * connection, 5, "MatMulV2", connection=connection, types="FLOAT16;FLOAT16", shapes="4,8;1,1,16,16", outputs="4,16")
    d.rows["COMPUTE_TASK_INFO"] = [(*row[:6], d.text("ND;FRACTAL_NZ"), *row[7:9], d.text("ND"), *row[10:]) for row in d.rows["COMPUTE_TASK_INFO"]]
    case.checks.equal("each", opened(case, d).rows("SELECT flops, shapes_from FROM kernel_mfu_estimate"), [(2 * 4 * 8 * 16, "kernel")] * 2)


def padded_formats(case):
    """Columns that a format pads, 10 to 16, are those of the operator where it recorded its shapes, of grouped products too."""
    for op_type in ("MatMulV2", "GroupedMatmul"):
        d = Db()
        d.api("aten::mm", 10, 50, (1,), dims="4,8;\r\n8,10")
        d.kernel("k", 100, 5, op_type, connection=1, types="FLOAT16;FLOAT16", shapes="4,8;1,1,16,16", outputs="4,16")
        row = d.rows["COMPUTE_TASK_INFO"][0]
        d.rows["COMPUTE_TASK_INFO"] = [(*row[:6], d.text("ND;FRACTAL_NZ"), *row[7:9], d.text("FRACTAL_NZ"), *row[10:])]
        case.checks.equal(op_type, opened(case, d).rows("SELECT flops, op_flops, shapes_from FROM kernel_mfu_estimate"),
                          [(2 * 4 * 8 * 10, 2 * 4 * 8 * 10, "operator")])


def estimates_by_rank(case):
    """A rank that recorded FLOPs counts those, one that did not is judged by shapes."""
    recorded, bare = Db(), Db()
    recorded.range("mfu_flops", "1000-mm", 10, 50)
    for run in (recorded, bare):
        product(run)
    s = opened(case, of_ranks(case, recorded, bare))
    case.checks.equal("sources", s.rows("SELECT rank, flops_source, flops FROM mfu_total WHERE scope = 'profile'"),
                      [(0, "recorded", 1000), (1, "estimated", 48)])


def model_work(case):
    """Estimates cannot tell model work apart in a backward pass, for that may do forward work again; without one all is model work."""
    totals = "SELECT flops, model_flops FROM mfu_total WHERE scope = 'profile'"
    d = Db()
    product(d)
    case.checks.equal("forward", opened(case, d).rows(totals), [(48, 48)])
    d.api("MmBackward0", 50, 10)
    case.checks.equal("backward", opened(case, d).rows(totals), [(48, None)])
    g = Gpu()
    gpu_product(g, 0, [[2, 3], [3, 4]])
    g.op("Backward mark", 0, 20, cat="user_annotation")
    case.checks.equal("a mark is no backward pass", opened(case, g).rows(totals), [(48, 48)])


def steps_of_totals(case):
    """Each step has its own wall time, and a record's kernels count in the step of the operator; without steps there is no such row."""
    d = Db()
    for step, length, kernel_at in ((1, 90, 160), (2, 99, 170)):
        at = step * 100
        d.range("mfu_flops", "1000-mm", at - 90, 50)
        launched(d, "aten::mm", at - 85, 2, step, kernel_at, 5)
        d.rows["STEP_TIME"].append((step, ns(at - 100), ns(at - 100 + length)))
    s = opened(case, d)
    # both kernels run in step 2, 5 us each, the one of step 1's operator too
    case.checks.equal("wall", s.rows("SELECT name, e2e_ns FROM mfu_total WHERE scope = 'step'"), [("1", 90000), ("2", 99000)])
    case.checks.equal("counted", s.rows("SELECT name, computing_ns, counted_ratio FROM mfu_total WHERE scope = 'step'"),
                      [("1", 0, None), ("2", 10000, 5 / 10)])
    d.rows["STEP_TIME"] = []
    case.checks.equal("no steps", opened(case, d).rows("SELECT scope, name FROM mfu_total"),
                      [("profile", None), ("dtype", "bf16"), ("operator", "mm")])


def wall_by_rank(case):
    """Wall time is that of the steps on a rank that has them, and from first to last kernel on one that has not."""
    def rank(steps):
        d = Db()
        d.range("mfu_flops", "1000-mm", 10, 50)
        launched(d, "aten::mm", 15, 10, 1, 100, 5)
        d.rows["STEP_TIME"] = steps
        return d
    s = opened(case, of_ranks(case, rank([(1, ns(0), ns(500))]), rank([])))
    case.checks.equal("wall", s.rows("SELECT rank, e2e_ns FROM mfu_total WHERE scope = 'profile'"), [(0, 500000), (1, 5000)])


def collectives_are_no_computing(case):
    """Time of collectives is no computing, of a step as of the whole."""
    g = Gpu()
    g.op("ProfilerStep#1", 0, 2000, cat="user_annotation")
    gpu_product(g, 0, [[2, 3], [3, 4]])
    g.kernel("ncclDevKernel", 1500, 30, stream=9)
    s = opened(case, g)
    case.checks.equal("computing", s.rows("SELECT scope, computing_ns FROM mfu_total WHERE scope IN ('profile', 'step')"),
                      [("profile", 5000), ("step", 5000)])


def why_not(case):
    """Reasons are told for what lacks: modules where there are records, kernels once, the chip by rank, and a GPU's own words."""
    codes = "SELECT code FROM mfu_diagnostic ORDER BY code"
    d = Db()
    d.kernel("k", 0, 5)
    case.checks.equal("no records", opened(case, d).rows(codes), [("no_flops_records",)])
    d = Db()
    d.range("mfu_flops", "1000-outer", 100, 100)
    d.range("mfu_flops", "1000-inner", 101, 99)
    launched(d, "aten::mm", 110, 5, 1, 900, 5, shapes=None)
    s = opened(case, d)
    case.checks.equal("records", s.rows(codes), [("flops_record_without_kernel",), ("kernel_without_shapes",), ("no_module_ranges",)])
    case.checks.equal("a kernel of two records", s.rows("SELECT count FROM mfu_diagnostic WHERE code = 'kernel_without_shapes'"), [(1,)])
    with open(os.path.join(ROOT, "sql", "reports", "module_mfu.sql"), encoding="utf-8") as f:
        parts = [s.rows(statement) for statement in f.read().split(";\n") if statement.strip()]
    reason = s.rows("SELECT profile, rank, message FROM mfu_diagnostic WHERE code = 'no_module_ranges'")
    case.checks.equal("report without modules", parts, [[], reason, []])
    g = Gpu()
    g.kernel("k", 0, 5)
    case.checks.equal("GPU", opened(case, g).rows("SELECT message FROM mfu_diagnostic WHERE code = 'no_flops_records'"),
                      [("a GPU trace holds no recorded FLOPs; see kernel_mfu_estimate",)])
    known, unknown = Db(), Db()
    for run in (known, unknown):
        run.kernel("k", 100, 5)
    known.rows["NPU_INFO"] = [(0, CHIP)]
    s = opened(case, of_ranks(case, known, unknown), chip=None)
    case.checks.equal("chip", s.rows("SELECT rank FROM mfu_diagnostic WHERE code = 'chip_not_known'"), [(1,)])


if __name__ == "__main__":
    run_cases(kernels_found_twice, first_operator, step_of_a_record, work_done_again, record_without_kernels, modules_within_modules,
              records_within_records, backward_of_modules, kernels_beside_the_product, rules_of_operators, operators_that_count,
              two_products_of_an_operator, padded_formats, estimates_by_rank, model_work, steps_of_totals, wall_by_rank,
              collectives_are_no_computing, why_not)
