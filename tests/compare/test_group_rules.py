"""Rules of communication groups and of the overall sheet and table, each in a run of a few events."""
from profiles import Db, Gpu, Text, ns, us
from test_rules import metrics, run_cases, step

PAIRS = "SELECT metric, base_ns, comparison_ns FROM overall_metrics WHERE metric LIKE '%&%' ORDER BY order_id"


def waiting_plane(case):
    """The plane that waits least speaks for its group; in a text export also one that never waits, in a database only waiting ones."""
    t = Text()
    t.group("g", planes=2)
    t.collective("g", "hcom_allReduce__1_0_1", 0, 100)
    t.comm_task("g", 0, "Notify_Wait", 10, 30)
    t.lane("Communication(Not Overlapped)", 0, 100)
    case.checks.equal("a plane without tasks", metrics(case.session(case.text(t))).get("Wait"), None)
    db = Db()
    db.kernel("k", 0, 2)
    op = db.collective("hcom_x__1", "hcom_allReduce_", 100, 100, "g")
    db.comm_task(op, "Notify_Wait", 110, 30, "g", plane=0)
    db.comm_task(op, "Memcpy", 110, 30, "g", plane=1)
    case.checks.equal("a plane of other tasks", metrics(case.session(case.db(db))).get("Wait"), 30000)


def planes_that_wait_equally(case):
    """Of planes of a database that wait equally long, the one that waits first speaks for the group, then the lower number."""
    def wait(*waits):
        db = Db()
        db.kernel("k", 148, 20)                         # what waits from 148 to 168 is covered
        op = db.collective("hcom_x__1", "hcom_allReduce_", 100, 100, "g")
        for plane, start in waits:
            db.comm_task(op, "Notify_Wait", start, 5, "g", plane)
        return metrics(case.session(case.db(db))).get("Wait")
    case.checks.equal("plane 1 waits first, covered", wait((0, 180), (1, 150)), None)
    case.checks.equal("plane 0 waits first", wait((0, 110), (1, 150)), 5000)
    case.checks.equal("both wait first", wait((0, 100), (0, 150), (1, 100), (1, 110)), 5000)


def groups_of_a_step(case):
    """Of a chosen step, groups have only the operations and the waits that start in it."""
    db = Db()
    db.kernel("k", 300, 1)
    db.rows["STEP_TIME"] = [(1, ns(0), ns(100)), (2, ns(101), ns(400))]
    db.collective("hcom_x__1", "hcom_allReduce_", 80, 60, "g")
    before = db.collective("hcom_x__2", "hcom_allReduce_", 90, 40, "h")
    within = db.collective("hcom_x__3", "hcom_allReduce_", 120, 50, "h")
    # plane 1 waits less in both steps together, plane 0 in the step
    for op, plane, start, dur in ((before, 0, 90, 35), (before, 1, 90, 1), (within, 0, 130, 10), (within, 1, 130, 20)):
        db.comm_task(op, "Notify_Wait", start, dur, "h", plane)
    s = case.session(case.db(db), **step(2))
    case.checks.equal("groups", s.rows("SELECT metric, base_ns FROM overall_metrics WHERE metric IN ('g', 'h', 'Wait') ORDER BY order_id"),
                      [("h", 50000), ("Wait", 10000)])


def no_group(case):
    """Neither the collectives of a GPU nor the waits of no group make a row of a group."""
    g = Gpu()
    g.kernel("k", 0, 5)
    g.kernel("ncclDevKernel_AllReduce", 10, 5, stream=9)
    db = Db()
    db.kernel("k", 0, 2)
    op = db.collective("hcom_x__1", "hcom_allReduce_", 100, 100, "g")
    for group in ("g", None):
        db.comm_task(op, "Notify_Wait", 110, 30, group)
    below = """SELECT metric, base_ns FROM overall_metrics
                WHERE order_id > (SELECT order_id FROM overall_metrics WHERE metric = 'Uncovered Communication Time')
                  AND order_id < (SELECT order_id FROM overall_metrics WHERE metric = 'Free Time') ORDER BY order_id"""
    case.checks.equal("GPU", case.session(case.gpu(g)).rows(below), [])
    case.checks.equal("database", case.session(case.db(db)).rows(below), [("g", 100000), ("Wait", 30000), ("Transmit", 70000)])


def groups_in_order_of_waits(case):
    """A database lists the groups that wait first, in order of their first wait; pairs go by the first operations."""
    def rows(waits):
        db = Db()
        db.kernel("k", 0, 2)
        ops = {group: db.collective(f"hcom_x__{group}", "hcom_allReduce_", start, 80, group) for group, start in (("a", 200), ("b", 190))}
        for group, start in waits:
            db.comm_task(ops[group], "Notify_Wait", start, 10, group)
        s = case.session(case.db(db))
        return [name for name, in s.rows("SELECT metric FROM overall_metrics WHERE metric IN ('a', 'b') OR metric LIKE '%&%' ORDER BY order_id")]
    case.checks.equal("b waits first", rows([("a", 210), ("b", 195)]), ["b", "a", "a & b"])
    case.checks.equal("b alone waits", rows([("b", 195)]), ["b", "a", "a & b"])
    case.checks.equal("nobody waits", rows([]), ["a", "b", "a & b"])


def order_of_pairs(case):
    """Pairs of groups that overlap in base stand first, then those that overlap in the comparison alone."""
    def run(starts):
        t = Text()
        for label in "123":
            t.group(label)
        for label, start in zip("123", starts):
            t.collective(label, "hcom_allReduce__1_0_1", start, 10)
        t.lane("Communication(Not Overlapped)", 0, 200)
        return case.text(t)

    def pair(one, other):
        return f"Group {one} Communication & Group {other} Communication"
    case.checks.equal("none in common", case.session(run((0, 50, 50)), run((0, 0, 100))).rows(PAIRS),
                      [(pair(2, 3), 10000, 0), (pair(1, 2), 0, 10000)])
    case.checks.equal("one in common", case.session(run((0, 50, 4)), run((0, 4, 4))).rows(PAIRS),
                      [(pair(1, 3), 6000, 6000), (pair(1, 2), 0, 6000), (pair(2, 3), 0, 10000)])


def pairs_of_one_name(case):
    """Of pairs with one name the last one's time stands at the first one's place, and the sum has both."""
    t = Text()
    for label, dur in (("1", 50), ("2", 50), ("3", 40), ("4", 20)):
        t.group(label)
        t.collective(label, "hcom_allReduce__1_0_1", 0, dur)
    t.lane("Communication(Not Overlapped)", 0, 100)
    s = case.session(case.text(t, {"1": "tp", "2": "dp", "3": "pp", "4": "dp"}))
    case.checks.equal("pairs", s.rows(PAIRS), [(name, time, time) for name, time in (
        ("tp & dp", 20000), ("tp & pp", 40000), ("dp & pp", 40000), ("dp & dp", 20000), ("pp & dp", 20000))])
    case.checks.equal("sum", metrics(s).get("Uncovered Communication Overlapped"), (50 + 40 + 20 + 40 + 20 + 20) * 1000)


def pairs_both_ways_round(case):
    """Where base has a pair of names both ways round, those of the comparison keep their own way."""
    t = Text()
    for label, dur in (("1", 50), ("2", 30), ("3", 20)):
        t.group(label)
        t.collective(label, "hcom_allReduce__1_0_1", 0, dur)
    t.lane("Communication(Not Overlapped)", 0, 100)
    s = case.session(case.text(t, {"1": "tp", "2": "dp", "3": "tp"}))
    case.checks.equal("pairs", s.rows(PAIRS), [(name, time, time) for name, time in (("tp & dp", 30000), ("tp & tp", 20000), ("dp & tp", 20000))])


def bandwidths(case):
    """Bandwidths are those of the collectives of the last step in communication.json, or of the step asked for."""
    def total(rdma, sdma):
        return {"Total Op Info": {"Communication Time Info": {}, "Communication Bandwidth Info": {
            kind: {"Transit Size(MB)": size, "Transit Time(ms)": 1} for kind, size in (("RDMA", rdma), ("SDMA", sdma))}}}
    t = Text()
    t.op("ProfilerStep#1", 0, 50)
    t.op("ProfilerStep#2", 60, 500)
    t.kernel("k", 100, 10)
    t.lane("Computing", 100, 10)
    t.bands = {"step1": {"p2p": {}, "collective": total(1, 2)}, "step2": {"p2p": total(100, 100), "collective": total(3, 4)}}
    path = case.text(t)
    shown = "SELECT rdma_gb_per_s, sdma_gb_per_s FROM overall_summary WHERE profile = 'base'"
    case.checks.equal("last step", case.session(path).rows(shown), [(3.0, 4.0)])
    case.checks.equal("step 1", case.session(path, **step(1)).rows(shown), [(1.0, 2.0)])


def reserved_memory(case):
    """Reserved memory is the most of the step asked for, on a GPU that of the device, not of the host."""
    t = Text()
    t.op("ProfilerStep#1", 0, 100)
    t.op("ProfilerStep#2", 200, 100)
    t.kernel("k", 250, 5, step=2)
    for time, megabytes in ((50, 900), (250, 5)):
        t.reserved.append(["PTA", us(time), megabytes, megabytes, "NPU:0"])
    reserved = "SELECT reserved_bytes FROM overall_summary WHERE profile = 'base'"
    path = case.text(t)
    case.checks.equal("all", case.session(path).value(reserved), 900 << 20)
    case.checks.equal("step 2", case.session(path, **step(2)).value(reserved), 5 << 20)
    g = Gpu()
    g.kernel("k", 0, 5)
    for device, size in ((0, 1000), (-1, 900000)):
        g.memory(10, 1024, device=device)
        g.events[-1]["args"]["Total Reserved"] = size
    case.checks.equal("GPU", case.session(case.gpu(g)).value(reserved), 1000)


def rows_of_the_sheet(case):
    """A row is left out where both sides are 0, not where they cancel out; the sheet where a side has no time from end to end."""
    def run(free_at):
        t = Text()
        t.kernel("k", 0, 100)
        t.lane("Computing", 0, 100)
        t.lane("Communication(Not Overlapped)", 50, 50)
        t.lane("Free", free_at, 0)
        return case.text(t)
    # what computes and communicates is 150 us, of 100 us from end to end and of 200 us
    s = case.session(run(100), run(200))
    case.checks.equal("free time", s.rows("SELECT base_ns, comparison_ns FROM overall_metrics WHERE metric = 'Free Time'"), [(-50000, 50000)])
    t = Text()
    t.op("a", 0, 5)
    case.checks.equal("no device", case.session(run(100), case.text(t)).value("SELECT count(*) FROM overall_metrics"), 0)
    case.checks.equal("no device in base", case.session(case.text(t), run(100)).value("SELECT count(*) FROM overall_metrics"), 0)


def names_of_fused_kernels(case):
    """Fused kernels stand in order of base, then of the comparison, not by name."""
    def run(*names):
        t = Text()
        for i, name in enumerate(names):
            t.kernel(name, 1300 + i * 200, 100, core="MIX_AIC", pmu=(1, 1, 1))
        t.lane("Computing", 1300, len(names) * 100)
        return case.text(t)
    s = case.session(run("MatmulAllReduce"), run("MatmulReduceScatter", "MatmulAllReduce", "AllGatherMatmul"))
    case.checks.equal("names", s.rows("SELECT metric, base_ns, comparison_ns FROM overall_metrics WHERE level = 1 ORDER BY order_id"),
                      [("MatmulAllReduce", 100000, 100000), ("MatmulReduceScatter", 0, 100000), ("AllGatherMatmul", 0, 100000)])


def sums_of_the_table(case):
    """The table's cube time has fused kernels, which it does not count; its copies have tensor moves, which it counts."""
    t = Text()
    t.kernel("AllGatherMatmul", 1300, 100, core="MIX_AIC", pmu=(1, 1, 1))
    t.kernel("MatMul", 1400, 30, "MatMulV2", "AI_CORE")
    t.kernel("aclnnInplaceCopy_TensorMove", 1500, 10, "TensorMove")
    t.task("copy", 1600, 4, "SDMA_SQE")
    t.lane("Computing", 1300, 140)
    s = case.session(case.text(t))
    case.checks.equal("cube", s.rows("SELECT cube_ns, cube_calls FROM overall_summary WHERE profile = 'base'"), [(100000 + 30000, 1)])
    case.checks.equal("copies", s.rows("SELECT copy_ns, copy_calls FROM overall_summary WHERE profile = 'base'"), [(10000 + 4000, 2)])


def lines_of_the_table(case):
    """Cube and vector are hidden where either side is a text export without counters; any NPU makes the profile not minimal."""
    def run(unmeasured):
        t = Text()
        t.kernel("k", 0, 5, unmeasured=unmeasured)
        t.lane("Computing", 0, 5)
        return case.text(t)

    def lines(base, comparison):
        names = ("Cube Time(Num)", "Vector Time(Num)", "E2E Time", "E2E Time(Not minimal profiling)")
        return [row[0] for row in case.session(base, comparison).sheet("terminal")[1:] if row[0] in names]
    db, g = Db(), Gpu()
    for profile in (db, g):
        profile.kernel("k", 0, 5)
    db, gpu = case.db(db), case.gpu(g)
    details = ["Cube Time(Num)", "Vector Time(Num)"]
    case.checks.equal("counters on both sides", lines(run(False), run(False)), [*details, "E2E Time(Not minimal profiling)"])
    case.checks.equal("counters in base alone", lines(run(False), run(True)), ["E2E Time(Not minimal profiling)"])
    case.checks.equal("database and GPU", lines(db, gpu), [*details, "E2E Time(Not minimal profiling)"])
    case.checks.equal("GPU and database", lines(gpu, db), [*details, "E2E Time(Not minimal profiling)"])
    case.checks.equal("two GPUs", lines(gpu, gpu), [*details, "E2E Time"])


def no_wait_in_the_table(case):
    """Where nothing waits, the table shows a slash for base and 0.000s for the comparison, as the compare tool does."""
    t = Text()
    t.group("g")
    t.collective("g", "hcom_allReduce__1_0_1", 0, 2000)
    t.lane("Communication(Not Overlapped)", 0, 2000)
    shown = [row for row in case.session(case.text(t)).sheet("terminal") if row[0].startswith("Uncovered")]
    case.checks.equal("line", shown, [("Uncovered Communication Time(Wait Time)", "0.002s( / )", "0.002s(0.000s)")])


if __name__ == "__main__":
    run_cases(waiting_plane, planes_that_wait_equally, groups_of_a_step, no_group, groups_in_order_of_waits, order_of_pairs,
              pairs_of_one_name, pairs_both_ways_round, bandwidths, reserved_memory, rows_of_the_sheet, names_of_fused_kernels,
              sums_of_the_table, lines_of_the_table, no_wait_in_the_table)
