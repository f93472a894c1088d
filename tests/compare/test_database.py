"""What databases can say and the compare tool does not hear: names of groups, operators with several launches ..."""
import random
import sqlite3
import sys
import tempfile

from profiles import Checks, Db, Session


class Case:
    def __init__(self, library, folder, checks):
        self.library, self.folder, self.checks, self.count = library, folder, checks, 0

    def session(self, base, comparison=None, groups=(None, None), **options):
        paths = []
        for run, names in zip((base, comparison or base), groups):
            self.count += 1
            paths.append(run.write(f"{self.folder}/{self.count}_ascend_pt", names))
        return Session(self.library, *paths, **options)


def one_call(case):
    """An operator is one call, whatever its number of connections, and its module has all of its kernels."""
    d = Db()
    d.api("nn.Module: Net_0", 0, 100, kind="trace")
    d.api("aten::mm", 10, 10, (11, 12, 999))
    d.kernel("k1", 200, 10, connection=11)
    d.kernel("k2", 220, 10, connection=12)
    s = case.session(d)
    case.checks.equal("api", s.rows("SELECT name, base_calls, base_total_ns, base_self_ns FROM api_compare"),
                      [("aten::mm", 1, 10000, 10000)])
    case.checks.equal("operator", s.rows("SELECT base_name, base_device_ns FROM operator_compare"), [("aten::mm", 20000)])
    case.checks.equal("module", s.rows("SELECT operator, base_self_ns, base_calls FROM module_compare_statistic ORDER BY order_id"),
                      [(None, 20000, 1), ("aten::mm", 20000, 1)])


def database_work(case):
    """Collectives and copies are work of the operator that launched them; a missing shape is N/A."""
    d = Db()
    d.api("c10d::allreduce_", 0, 10, (1,))
    d.api("aten::copy_", 20, 10, (2,), dims="4")
    d.collective("hcom_allReduce__1_0_1", "hcom_allReduce_", 100, 50, "111", connection=1)
    op = 1
    d.comm_task(op, "Notify_Wait", 100, 20, "111")
    d.task(200, 6, "SDMA_SQE", connection=2)
    d.kernel("k", 300, 1)
    s = case.session(d)
    case.checks.equal("work", s.rows("SELECT base_name, base_device_ns FROM operator_compare ORDER BY order_id"),
                      [("c10d::allreduce_", 50000), ("aten::copy_", 6000)])
    case.checks.equal("shapes", [row[2] for row in s.sheet("OperatorCompare")[1:]], ["N/A", "4"])


def work_once(case):
    """The task that holds a collective, the one around a kernel and waits have the same connection and are no work of their own."""
    d = Db()
    d.api("HcclAllreduce", 0, 10, (1,))
    d.api("aten::sum", 20, 10, (2,))
    d.task(90, 10, "EVENT_WAIT", connection=1)
    d.task(100, 50, "AI_CORE", connection=1)
    d.collective("hcom_allReduce__1_0_1", "hcom_allReduce_", 101, 48, "111", connection=1)
    d.task(200, 17, "KERNEL_AICORE", connection=2)
    d.kernel("ReduceSum", 201, 14, connection=2)
    s = case.session(d)
    case.checks.equal("work", s.rows("SELECT base_name, base_device_ns FROM operator_compare ORDER BY order_id"),
                      [("HcclAllreduce", 48000), ("aten::sum", 14000)])


def copy_names(case):
    """Older databases say MEMCPY_ASYNC for a copy and EVENT_WAIT for a wait, newer ones name the engine."""
    for copy, wait in (("SDMA_SQE", "EVENT_WAIT_SQE"), ("PCIE_DMA_SQE", "EVENT_WAIT_SQE"), ("MEMCPY_ASYNC", "EVENT_WAIT")):
        d = Db()
        for stream in (3, 4):
            d.kernel("k", 100 + stream * 10, 5, stream=stream)
            d.task(200 + stream * 10, stream, copy, stream=stream)
        d.task(300, 100, copy, stream=9)
        s = case.session(d)
        sdma = "SELECT base_ns FROM overall_metrics WHERE metric = 'SDMA'"
        case.checks.equal(copy + " on computing streams", s.value(sdma), 7000)
        d.task(50, 1, wait, stream=4)
        case.checks.equal(copy + " on the waiting stream", case.session(d).value(sdma), 4000)


def group_names(case):
    """Groups meet by the names that META_DATA gives them."""
    def run(ident):
        d = Db()
        d.kernel("k", 0, 10)
        op = d.collective("hcom_allReduce__1_0_1", "hcom_allReduce_", 100, 100, ident)
        d.comm_task(op, "Notify_Wait", 110, 30, ident)
        return d
    s = case.session(run("111"), run("999"), groups=({"111": "tp"}, {"999": "tp"}))
    case.checks.equal("groups", s.rows("SELECT metric, base_ns, comparison_ns FROM overall_metrics"
                                       " WHERE metric IN ('tp: Communication', 'Wait', 'Transmit') ORDER BY order_id"),
                      [("tp: Communication", 100000, 100000), ("Wait", 30000, 30000), ("Transmit", 70000, 70000)])


def engine_blocks(case):
    """A block of the graph engine belongs to the operator that enqueued its launch."""
    d = Db()
    d.api("aten::add", 0, 20)
    d.api("Enqueue@add", 5, 1, (77,), kind="queue")
    d.api("Dequeue@add", 100, 50, (77,), kind="queue", thread=2)
    d.block("cann::add", 1024, 120, 300)
    d.block("cann::late", 2048, 151)
    d.kernel("k", 400, 1)
    s = case.session(d)
    case.checks.equal("blocks", s.rows("SELECT base_name, base_size_bytes FROM memory_compare"), [("aten::add", 1024)])


def memory_times(case):
    """Times are exact: one ns decides whose block it is, and how long it is held."""
    d = Db()
    d.api("aten::outer", 100, 50)
    d.api("aten::inner", "110.1", 5)
    d.block("x", 1024, "110.101", "120.333")
    d.kernel("k", 400, 1)
    s = case.session(d)
    case.checks.equal("text", s.value("SELECT base_blocks FROM memory_compare"),
                      "aten::inner, (1719300000000110.101, 1719300000000120.333), [duration: 10.232], [size: 1.0]\n")


def span(case):
    """End to end reaches to other tasks of the device, but for kernels that were not recorded and profiling marks."""
    d = Db()
    d.kernel("k", 100, 10)
    for start, kind in ((0, "PROFILING_ENABLE"), (10, "KERNEL_AICORE"), (20, "KERNEL_AIVEC"), (30, "FFTS_PLUS"),
                        (40, "KERNEL_MIX_AIC"), (50, "KERNEL_MIX_AIV"), (60, "EVENT_RECORD"), (200, "PROFILING_DISABLE")):
        d.task(start, 5, kind)
    s = case.session(d)
    case.checks.equal("end to end", s.value("SELECT base_ns FROM overall_metrics WHERE metric = 'E2E Time'"), 110000 - 60000)


def cube_kernels(case):
    """Without any counters the task type tells a cube kernel; an AI_CPU kernel is vector work."""
    d = Db()
    d.kernel("a", 0, 1, core="AI_CORE", rts="KERNEL_AICORE")
    d.kernel("b", 10, 2, core="MIX_AIC", rts="KERNEL_MIX_AIC")
    d.kernel("c", 20, 4, core="AI_CPU", rts="KERNEL_AICPU")
    d.kernel("d", 30, 8, "FusedInferAttentionScore")
    s = case.session(d)
    case.checks.equal("kinds", s.rows("SELECT metric, base_ns, base_calls FROM overall_metrics WHERE level = 1 AND base_calls > 0"),
                      [("Vector", 12000, 2), ("Cube", 3000, 2)])


def cursor_over_operators(case):
    """Kernels in order of connection id ask one cursor over the operators by start, which never goes back."""
    kinds = {"aten::mm": "matmul", "aten::conv2d": "conv_forward", "npu_fusion_attention": "fa_forward"}
    chance = random.Random(27)
    for number in range(8):
        d = Db()
        cubes = sorted((chance.randrange(0, 200), place, chance.randrange(0, 60), chance.choice(list(kinds))) for place in range(12))
        for start, _, dur, name in cubes:
            d.api(name, start, dur)
        connections = chance.sample(range(100, 140), 30)
        launches = {connection: chance.randrange(0, 260) for connection in connections}
        for connection, launch in launches.items():
            d.api("aten::add", launch, 0.5, (connection,))
            d.kernel(f"k{connection}", 1000 + connection, 1, "Add", connection=connection)
        want, cursor = {}, 0
        for connection in sorted(connections):
            launch = launches[connection]
            while cursor < len(cubes) and cubes[cursor][0] + cubes[cursor][2] < launch:
                cursor += 1
            covered = cursor < len(cubes) and cubes[cursor][0] <= launch
            want[f"k{connection}"] = kinds[cubes[cursor][3]] if covered else "vector"
        case.checks.equal(f"cursor {number}", dict(case.session(d).rows("SELECT name, category FROM _overall_kernel WHERE profile = 'base'")),
                          want)


def unknown_names(case):
    """A null name, type, group or connection loses its own word only: every row counts, with N/A for what is unknown."""
    d = Db()
    d.api("aten::mm", 0, 10, (1,))
    d.kernel("good", 100, 1, "Add", connection=1)
    d.kernel("typeless", 110, 2, "X")
    d.kernel("nameless", 120, 4, "Mul")
    d.collective("hcom_allReduce__1_0_1", "hcom_allReduce_", 200, 8, "111")
    d.collective("hcom_allGather__1_0_1", "hcom_allGather_", 300, 16, "111")
    d.block("x", 1024, 5, 50)
    kernels, collectives = d.rows["COMPUTE_TASK_INFO"], d.rows["COMMUNICATION_OP"]
    kernels[1] = (*kernels[1][:5], None, *kernels[1][6:])                           # opType
    kernels[2] = (None, *kernels[2][1:])                                            # name
    collectives[1] = (None, *collectives[1][1:4], None, *collectives[1][5:11], None, 0)  # opName, groupName, opType
    d.rows["OP_MEMORY"] = [(None, *d.rows["OP_MEMORY"][0][1:])]
    d.rows["TASK"][1] = (*d.rows["TASK"][1][:3], None, *d.rows["TASK"][1][4:])      # connectionId
    s = case.session(d)
    case.checks.equal("kernels", s.rows("SELECT kernel_type, base_total_ns FROM kernel_compare ORDER BY 2"),
                      [("Add", 1000), ("N/A", 2000), ("Mul", 4000)])
    case.checks.equal("computing", s.value("SELECT base_ns FROM overall_metrics WHERE metric = 'Computing Time'"), 7000)
    case.checks.equal("uncovered", s.value("SELECT base_ns FROM overall_metrics WHERE metric = 'Uncovered Communication Time'"), 24000)
    case.checks.equal("collectives", s.rows("SELECT kind, base_total_ns FROM communication_compare WHERE task IS NULL"), [("allreduce", 8000)])
    case.checks.equal("memory", s.value("SELECT sum(base_size_bytes) FROM memory_compare"), 1024)
    case.checks.equal("operators", s.rows("SELECT base_name, base_device_ns FROM operator_compare"), [("aten::mm", 1000)])


def empty_tables(case):
    """A table without rows is a sheet without them, and of no other sheet."""
    d = Db()
    d.kernel("k", 100, 10, "Add")
    paths = [d.write(f"{case.folder}/empty_{i}_ascend_pt") for i in range(2)]
    for path in paths:
        with sqlite3.connect(f"{path}/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db") as db:
            db.executescript("CREATE TABLE MEMORY_RECORD(component INTEGER, timestamp INTEGER, totalAllocated INTEGER, totalReserved INTEGER,"
                             " totalActive INTEGER, streamPtr INTEGER, deviceId INTEGER); CREATE TABLE COMMUNICATION_OP(opName INTEGER);")
        db.close()
    s = Session(case.library, *paths)
    case.checks.equal("kernels", s.rows("SELECT kernel_type, base_total_ns FROM kernel_compare"), [("Add", 10000)])
    case.checks.equal("whole", s.rows("SELECT metric, base_ns FROM overall_metrics WHERE level = 0"), [("Computing Time", 10000), ("E2E Time", 10000)])
    case.checks.equal("printed", dict(r[:2] for r in s.sheet("terminal")[1:])["Computing Time"], "0.000s")


def devices(case):
    """Of a database with several devices the option device takes one; without it they add up."""
    d = Db()
    d.kernel("a", 0, 10, "Add")
    d.kernel("b", 0, 30, "Add")
    d.rows["TASK"][1] = (*d.rows["TASK"][1][:2], 1, *d.rows["TASK"][1][3:])
    total = "SELECT base_total_ns, base_calls FROM kernel_compare"
    case.checks.equal("both", case.session(d).rows(total), [(40000, 2)])
    for device, dur in ((0, 10000), (1, 30000)):
        s = case.session(d, base_options={"device": device}, comparison_options={"device": device})
        case.checks.equal(f"device {device}", s.rows(total), [(dur, 1)])
        case.checks.equal(f"computing of {device}", s.value("SELECT base_ns FROM overall_metrics WHERE metric = 'Computing Time'"), dur)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        case = Case(sys.argv[1], folder, checks)
        for test in (one_call, database_work, work_once, copy_names, group_names, engine_blocks, memory_times, span, cube_kernels,
                     cursor_over_operators, unknown_names, empty_tables, devices):
            checks.run(test, case)
    sys.exit(checks.report())


if __name__ == "__main__":
    main()
