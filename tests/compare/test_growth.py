"""At twice the size every public view takes about twice the work, asked as the first thing of a new session or after others,
be it twice the rows or twice the ranks.

The work is counted, not timed: steps of SQLite's virtual machine, those of the kept steps included, which a join without an
index multiplies. What SQLite expects of a table depends on whether it is read already, and so does the join that it
chooses: hence a new session for each view, and one in which all are asked, each way round.

  test_growth.py LIBRARY
"""
import os
import sqlite3
import sys
import tempfile

from profiles import Db, Gpu, Session, Text

LIBRARY = sys.argv[1]
BLOCKS = 300          # of the smaller profile
RANKS = 10            # of the smaller profile of many ranks, with
BLOCKS_OF_A_RANK = 20  # each
ALLOWED = 2.3
STEPS_A_CALL = 100    # of the virtual machine between two calls of the handler
# So few tell nothing. A join of every block with every other takes more.
FEW = 500 * STEPS_A_CALL
# Readers run this every ten milliseconds, to see whether the user has asked to stop: that is time, and not work.
POLL = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100) SELECT count(*) FROM n"

# A block of 100 us, whatever the source: a module with two operators in it, a backward operator that belongs to the first,
# two kernels, a copy, and blocks of memory. Every tenth begins a step, every fifth has a collective.


def fill_text(p, blocks, slow):
    p.group("group_a")
    for i in range(blocks):
        at = i * 100
        if i % 10 == 0:
            p.op(f"ProfilerStep#{i // 10}", at, 995)
        p.python("train.py(1): step", at + 1, 90)
        p.python(f"nn.Module: Linear_{i % 7}", at + 2, 60)
        p.op("aten::linear", at + 5, 30, dims="2,3;3,4", types="float;float")
        p.op("aten::mm", at + 8, 20, dims="2,3;3,4", types="float;float")
        p.op("MmBackward0", at + 70, 20, thread=2)
        p.fwd_bwd(at + 5, at + 70)
        p.kernel(f"MatMul{i % 3}", at + 20, 10 + slow, "MatMulV2", "AI_CORE", launch=at + 10, shapes="2,3;3,4")
        p.kernel("Add", at + 40, 5, "Add", launch=at + 75, thread=2, shapes="2,4")
        p.task("MEMCPY", at + 50, 2, "SDMA_SQE", launch=at + 30)
        p.lane("Computing", at + 20, 10)
        p.lane("Communication(Not Overlapped)", at + 60, 10)
        if i % 5 == 0:
            p.collective("group_a", f"hcom_allReduce__1_{i}_1", at + 60, 20, launch=at + 33)
            p.comm_task("group_a", 0, "Notify_Wait", at + 60, 8)
            p.comm_task("group_a", 0, "Memcpy", at + 69, 9)
        p.block("aten::mm", 4 + i % 3, at + 9, at + 80)
        p.reserved.append(["PTA", f"{1719300000000000 + at}.000\t", i % 50, 100, "NPU:0"])


def fill_db(p, blocks, slow):
    p.rows["NPU_INFO"] = [(0, "Ascend910B3")]
    for i in range(blocks):
        at, c = i * 100, 10 * i + 1
        if i % 10 == 0:
            p.rows["STEP_TIME"].append((i // 10, 1719300000000000000 + at * 1000, 1719300000000000000 + (at + 995) * 1000))
        p.api(f"nn.Module: Linear_{i % 7}", at + 2, 60, kind="trace")
        p.api("aten::linear", at + 5, 30, dims="2,3;3,4")
        p.api("aten::mm", at + 8, 20, [c], dims="2,3;3,4")
        p.api("MmBackward0", at + 70, 20, [c + 1], thread=2)
        p.range("Module", "Linear", at + 3, 50)
        p.range("mfu_flops", "48-mm", at + 6, 25)
        p.kernel(f"MatMul{i % 3}", at + 20, 10 + slow, "MatMulV2", "AI_CORE", "KERNEL_AICORE", c, shapes="2,3;3,4",
                 types="DT_BF16;DT_BF16", outputs="2,4", pipes={"aic_mac_ratio": 0.5, "aic_mte2_ratio": 0.25})
        p.kernel("Cast", at + 40, 5, "Cast", connection=c + 1, shapes="2,4")
        p.task(at + 50, 2, "SDMA_SQE", c)
        if i % 5 == 0:
            op = p.collective(f"hcom_allReduce__1_{i}_1", "hcom_allReduce_", at + 60, 20, "group_a", c)
            p.comm_task(op, "Notify_Wait", at + 60, 8, "group_a")
            p.comm_task(op, "Memcpy", at + 69, 9, "group_a")
        p.block("aten::mm", 4096 + i % 3, at + 9, at + 80)


def fill_gpu(p, blocks, slow):
    for i in range(blocks):
        at = i * 100
        if i % 10 == 0:
            p.op(f"ProfilerStep#{i // 10}", at, 995)
        p.op("train.py(1): step", at + 1, 90, cat="python_function")
        p.op(f"nn.Module: Linear_{i % 7}", at + 2, 60, cat="python_function")
        shapes = {"Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}
        p.op("aten::linear", at + 5, 30, **shapes)
        p.op("aten::matmul", at + 7, 22, **shapes)
        p.op("aten::mm", at + 8, 20, **shapes)
        p.op("MmBackward0", at + 70, 20, thread=2)
        p.kernel(f"gemm_{i % 3}", at + 20, 10 + slow, launch=at + 10)
        p.kernel("CopyDtoD", at + 40, 5, launch=at + 75, thread=2)
        p.kernel("Memcpy DtoD", at + 50, 2, launch=at + 26, cat="gpu_memcpy")
        p.kernel("ncclKernel_AllReduce", at + 60, 20, stream=9, launch=at + 27)
        p.memory(at + 9, 4096 + i % 3, 4096 + i)
        p.memory(at + 80, -4096 - i % 3, 4096 + i)


KINDS = {"text": (Text, fill_text, ""), "db": (Db, fill_db, ""), "gpu": (Gpu, fill_gpu, ".pt.trace.json")}


def write(folder, kind, blocks):
    make, fill, suffix = KINDS[kind]
    paths = []
    for slow, side in enumerate(("base", "comparison")):
        profile = make()
        fill(profile, blocks, slow)
        paths.append(profile.write(os.path.join(folder, f"{kind}_{blocks}_{side}{suffix}")))
    return paths


def write_ranks(folder, ranks):
    """Databases, for these are what a cluster leaves behind."""
    paths = []
    for slow, side in enumerate(("base", "comparison")):
        top = os.path.join(folder, f"{ranks}_ranks_{side}")
        for rank in range(ranks):
            profile = Db()
            fill_db(profile, BLOCKS_OF_A_RANK, slow)
            profile.write(os.path.join(top, f"host_{rank}_ascend_pt"), rank=rank)
        paths.append(top)
    return paths


class Steps:
    """Counts the steps of a connection, but for those of POLL."""

    def __init__(self, db):
        self.calls = self.polls = 0
        db.set_progress_handler(self._call, STEPS_A_CALL)
        db.set_trace_callback(self._statement)

    def _call(self):
        self.calls += 1

    def _statement(self, sql):
        self.polls += sql == POLL

    def taken(self):
        """Since the last time it was asked."""
        calls = max(0, self.calls - self.polls * CALLS_A_POLL)
        self.calls = self.polls = 0
        return calls * STEPS_A_CALL


def calls_a_poll():
    db = sqlite3.connect(":memory:")
    steps = Steps(db)
    for _ in range(100):
        db.execute(POLL).fetchone()
    return steps.calls / 100


CALLS_A_POLL = calls_a_poll()


def work(pair, *asked):
    """-> [(steps, rows)] of a new session that asks for these views, one after the other."""
    session = Session(LIBRARY, *pair)
    steps = Steps(session.db)
    out = []
    for view in asked:
        steps.taken()
        rows = sum(1 for _ in session.db.execute(f"SELECT * FROM {view}"))
        out.append((steps.taken(), rows))
    session.db.close()
    return out


def hold(what, small, large):
    """The steps of one question to the smaller and the larger profiles."""
    global most
    ratio = large / max(small, FEW)
    most = max(most, (ratio, what))
    if ratio > ALLOWED:
        failures.append(f"{what}: {small:.0f} steps, at twice the size {large:.0f}: {ratio:.2f} times, allowed {ALLOWED}")


ONLY_WITHOUT_PROFILES = {"report_hint"}
failures, most = [], (0, "")
views = [name for name, in Session(LIBRARY).rows(
    "SELECT name FROM temp.sqlite_schema WHERE type = 'view' AND name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY name")]
with tempfile.TemporaryDirectory() as scratch:
    filled = set()
    pairs = {kind: [write(scratch, kind, blocks) for blocks in (BLOCKS, 2 * BLOCKS)] for kind in KINDS}
    pairs["ranks"] = [write_ranks(scratch, ranks) for ranks in (RANKS, 2 * RANKS)]
    for kind, (small, large) in pairs.items():
        for view in views:
            [(before, _)], [(after, rows)] = work(small, view), work(large, view)
            if rows:
                filled.add(view)
            hold(f"{view} of {kind}", before, after)
        for order in (views, views[::-1]):
            for view, (before, _), (after, _) in zip(order, work(small, *order), work(large, *order)):
                hold(f"{view} of {kind}, behind those {'before' if order is views else 'after'} it by name", before, after)
for view in sorted(set(views) - filled - ONLY_WITHOUT_PROFILES):
    failures.append(f"{view}: no rows of any profile, so nothing is known of it")
print("\n".join(failures) or f"{len(views)} views, at most {most[0]:.2f} times the work at twice the size: {most[1]}")
sys.exit(1 if failures else 0)
