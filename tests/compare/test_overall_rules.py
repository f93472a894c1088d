"""Rules of the times as a whole and of what kernels count as, each in a run of a few events."""
from profiles import HARDWARE, Db, Gpu, Text, ns
from test_rules import metrics, run_cases, step


def backward_thread(case):
    """The backward pass runs on the thread where the last forward-backward flow of an Ascend trace ends, of a GPU trace the first."""
    t, g = Text(), Gpu()
    for run in (t, g):
        run.op("aten::mm", 0, 10)
        run.op("aten::conv2d", 400, 10, thread=2)
    t.fwd_bwd(0, 100, backward_thread=3)
    t.fwd_bwd(1, 400, backward_thread=2)
    t.kernel("k", 1000, 16, launch=400, thread=2)
    t.lane("Computing", 1000, 16)
    g.fwd_bwd(0, 400, backward_thread=2)
    g.fwd_bwd(1, 500, backward_thread=3)
    g.kernel("k", 1000, 16, launch=400, thread=2)
    for kind, path in (("last in text", case.text(t)), ("first in GPU", case.gpu(g))):
        case.checks.equal(kind, metrics(case.session(path)).get("Conv (Backward)"), 16000)


def launch_where_an_operator_ends(case):
    """A launch at the very end of an operator is still that operator's, though another one runs already."""
    t = Text()
    t.op("aten::conv2d", 0, 100)
    t.op("aten::mm", 50, 150)
    t.kernel("at_end", 1000, 7, launch=100)
    t.kernel("behind", 1010, 3, launch="100.001")
    t.lane("Computing", 1000, 20)
    m = metrics(case.session(case.text(t)))
    case.checks.equal("at its end", m.get("Conv (Forward)"), 7000)
    case.checks.equal("1 ns behind", m.get("Matmul"), 3000)


def words_of_operators(case):
    """Words are found in upper and lower case, and attention counts before matrix product."""
    t = Text()
    for i, name in enumerate(("aten::matmul_flash_attention", "FlashAttnFunc", "FlashAttnFuncBACKWARD")):
        t.op(name, i * 100, 50)
        t.kernel("k", 1000 + i * 10, 2**i, launch=i * 100)
    t.lane("Computing", 1000, 30)
    m = metrics(case.session(case.text(t)))
    case.checks.equal("forward", m.get("Flash Attention (Forward)"), 1000 + 2000)
    case.checks.equal("backward", m.get("Flash Attention (Backward)"), 4000)
    case.checks.equal("no matrix product", m.get("Matmul"), None)


def operators_of_a_step(case):
    """Of a chosen step, only operators that start in it claim kernels, and kernels of other steps do not hinder them."""
    db = Db()
    db.api("aten::mm", 10, 150)
    db.api("aten::add", 120, 10, (5,))
    db.kernel("k", 130, 7, connection=5)
    db.rows["STEP_TIME"] = [(1, ns(0), ns(100)), (2, ns(101), ns(300))]
    m = metrics(case.session(case.db(db), **step(2)))
    case.checks.equal("operator of the step before", (m.get("Matmul"), m.get("Vector")), (None, 7000))
    # by connection the kernel of the step behind comes first, launched when aten::mm has ended
    db = Db()
    db.api("aten::mm", 100, 40)
    db.api("aten::add", 120, 2, (2,))
    db.api("aten::add", 150, 2, (1,))
    db.kernel("behind", 400, 5, connection=1)
    db.kernel("within", 200, 7, connection=2)
    db.rows["STEP_TIME"] = [(1, ns(90), ns(300))]
    case.checks.equal("kernel of the step behind", metrics(case.session(case.db(db), **step(1))).get("Matmul"), 7000)


def flows_from_host_to_device(case):
    """Flows from the runtime to the device are no launches of operators."""
    t = Text()
    t.op("aten::mm", 0, 100)
    t.kernel("k", 1000, 7)
    t.link(10, HARDWARE, 7, 1000, cat="HostToDevice", name="HostToDevice")
    t.lane("Computing", 1000, 7)
    m = metrics(case.session(case.text(t)))
    case.checks.equal("not of the operator", (m.get("Matmul"), m.get("Vector")), (None, 7000))


def cube_kernels(case):
    """A kernel is a cube kernel where any of its cube counters ran; a rank of a database without counters goes by task types."""
    t = Text()
    t.kernel("mac_alone", 1000, 7, mac=3, vec=0)                        # its time on the AI cores is 0
    t.lane("Computing", 1000, 7)
    case.checks.equal("text", metrics(case.session(case.text(t))).get("Cube"), 7000)
    db = Db()
    db.kernel("unmeasured", 0, 5, core="AI_CORE", rts="KERNEL_AICORE")
    db.kernel("mac_alone", 10, 7, pipes={"aic_mac_time": 1})
    m = metrics(case.session(case.db(db)))
    case.checks.equal("database", (m.get("Cube"), m.get("Vector")), (7000, 5000))
    measured, bare = Db(), Db()
    measured.kernel("k", 0, 5, core="AI_CORE", rts="KERNEL_AICORE", pipes={"aic_total_time": 3})
    bare.kernel("k", 0, 6, core="AI_CORE", rts="KERNEL_AICORE")
    m = metrics(case.session(case.ranks(measured, bare)))
    case.checks.equal("rank without counters", (m.get("Cube"), m.get("Vector")), (5000 + 6000, None))


def order_of_fused_kernels(case):
    """Fused kernels stand in order of launch, not of start; one whose type is PagedAttention is paged attention."""
    t = Text()
    t.op("a", 0, 100)
    for name, op_type, start, launch in (("AllGatherMatmul", None, 1300, 50), ("MatmulAllReduce", None, 1500, 10),
                                         ("MatmulReduceScatter", "PagedAttention", 1700, 5)):
        t.kernel(name, start, 100, op_type, "MIX_AIC", launch=launch, pmu=(1, 1, 1))
    t.lane("Computing", 1300, 300)
    s = case.session(case.text(t))
    case.checks.equal("rows", s.rows("SELECT metric, base_ns FROM overall_metrics WHERE level = 1 ORDER BY order_id"),
                      [("MatmulAllReduce", 100000), ("AllGatherMatmul", 100000), ("Page Attention", 100000)])


def control_tasks(case):
    """A fused kernel communicates between the ends of control tasks of its own rank, whenever they begin."""
    def run(tasks):
        t = Text()
        t.kernel("AllGatherMatmul", 1300, 100, core="MIX_AIC", pmu=(1, 1, 1))
        for start, dur in tasks:
            t.task("C_CORE_SQE", start, dur, "C_CORE_SQE")
        t.lane("Computing", 1300, 100)
        return t
    communication = "SELECT base_ns FROM overall_metrics WHERE metric = 'Communication'"
    s = case.session(case.text(run([(1290, 15), (1320, 15)])))
    case.checks.equal("from 1305 to 1335", s.rows(communication), [(30000,)])
    s = case.session(case.ranks(run([(1328, 2), (1388, 2)]), run([(1318, 2), (1338, 2)])))
    case.checks.equal("from 1330 to 1390, from 1320 to 1340", s.rows(communication), [(60000 + 20000,)])


def computing_streams(case):
    """Streams of AI_CPU and FFTS_PLUS tasks compute; waits on stream 0 or on another rank do not narrow the choice."""
    t = Text()
    for stream, kind in ((2, "AI_CPU"), (3, "FFTS_PLUS")):
        t.task("t", stream * 10, 5, kind, stream=stream)
        t.task("copy", 50 + stream * 10, stream, "SDMA_SQE", stream=stream)
    t.lane("Computing", 0, 5)
    t.lane("Free", 5, 200)
    case.checks.equal("kinds of tasks", metrics(case.session(case.text(t))).get("SDMA"), 2000 + 3000)
    t.task("wait", 150, 1, "EVENT_WAIT_SQE", stream=0)
    case.checks.equal("wait on stream 0", metrics(case.session(case.text(t))).get("SDMA"), 2000 + 3000)
    free, waiting = Db(), Db()
    for db, dur in ((free, 2), (waiting, 4)):
        db.kernel("k", 0, 5, stream=3)
        db.task(10, dur, "SDMA_SQE", stream=3)
    waiting.task(20, 1, "EVENT_WAIT_SQE", stream=3)
    case.checks.equal("wait on the other rank", metrics(case.session(case.ranks(free, waiting))).get("SDMA"), 2000 + 4000)


def busiest_gpu_stream(case):
    """Copies of a GPU are those on the stream with most kernels, collectives apart; of equal streams on the one seen first."""
    def run(streams, collectives=()):
        g = Gpu()
        for i, stream in enumerate(streams):
            g.kernel("a", i * 10, 5, stream=stream)
        for i, stream in enumerate(collectives):
            g.kernel("ncclDevKernel_AllReduce", 100 + i * 10, 5, stream=stream)
        for stream in (7, 8):
            g.kernel("Memcpy HtoD", stream * 100, stream, stream=stream, cat="gpu_memcpy")
        return metrics(case.session(case.gpu(g))).get("SDMA")
    case.checks.equal("most kernels", run([7, 8, 8]), 8000)
    case.checks.equal("first of equals", run([7, 8, 8, 7]), 7000)
    case.checks.equal("collectives do not count", run([7], [8, 8, 8]), 7000)


def names_of_gpu_copies(case):
    """Copies of a GPU are told by name: htod, dtod, dtoh or memset (device), be they kernels or not."""
    g = Gpu()
    g.kernel("a", 0, 5)
    for i, (name, cat) in enumerate((("Memcpy DtoD", "gpu_memcpy"), ("Memcpy DtoH", "gpu_memcpy"), ("Memset (Device)", "kernel"),
                                     ("my_htod_kernel", "kernel"))):
        g.kernel(name, 10 + i * 20, 2**i, cat=cat)
    case.checks.equal("copies", metrics(case.session(case.gpu(g))).get("SDMA"), (1 + 2 + 4 + 8) * 1000)


def task_without_start(case):
    """A task that starts at 0 has no start: the time from end to end does not reach back to it."""
    db = Db()
    db.kernel("k", 100, 10)
    db.task(50, 5, "EVENT_RECORD")
    db.task(60, 5, "EVENT_RECORD")
    db.rows["TASK"][-1] = (0, *db.rows["TASK"][-1][1:])
    case.checks.equal("end to end", metrics(case.session(case.db(db))).get("E2E Time"), (110 - 50) * 1000)


if __name__ == "__main__":
    run_cases(backward_thread, launch_where_an_operator_ends, words_of_operators, operators_of_a_step, flows_from_host_to_device,
              cube_kernels, order_of_fused_kernels, control_tasks, computing_streams, busiest_gpu_stream, names_of_gpu_copies,
              task_without_start)
