"""Public reports against other tools about comparing and classifying, numbered as their inputs in tests/data/bugs.

The reports on overlaps (22, 24, 28, 30 to 33) are held by tests/unit/test_interval_functions.cpp, the one on sequences (39) by
tests/unit/test_sequence_match.cpp, those on links, streams and threads (25, 26, 35, 37, 38, 42, 44) by tests/readers/test_model_bugs.py.
"""
import csv
import math
import os
import shutil
import sys
import tempfile

from profiles import ROOT, Checks, Gpu, Session, Text

DATA = os.path.join(ROOT, "tests", "data", "bugs")


def only_in_one_profile(c, library, folder):
    """41: kinds of one side only, in another order, with another column: a row each, differences that add up."""
    paths = []
    for side in ("base", "new"):
        path = f"{folder}/{side}_ascend_pt"
        os.makedirs(f"{path}/ASCEND_PROFILER_OUTPUT")
        shutil.copy(f"{DATA}/41/{side}_op_statistic.csv", f"{path}/ASCEND_PROFILER_OUTPUT/op_statistic.csv")
        paths.append(path)
    s = Session(library, *paths)
    rows = {r[0]: r[1:] for r in s.rows("SELECT kernel_type, diff_total_ns, total_ratio, verdict FROM kernel_type_compare")}
    # 100 -> 76, 40 -> 44, 60 -> none, none -> 55 us; a ratio to nothing is infinite, in all sheets
    c.equal("41 rows", rows, {"MatMulV2": (-24000, 0.76, "better"), "Add": (4000, 1.1, "worse"), "TransData": (-60000, 0.0, "base only"),
                              "MatMulV3": (55000, math.inf, "comparison only")})
    c.equal("41 differences add up", sum(r[0] for r in rows.values()), (76 + 44 + 55 - 100 - 40 - 60) * 1000)


def kinds(library, path):
    return {name: (found, direction) for name, found, direction in
            Session(library, path).rows("SELECT coalesce(nullif(op_type, name), name), class, direction FROM kernel_kind WHERE profile = 'base'")}


def communication_by_name(c, library, folder):
    """45: kernels of many communication libraries; the word reduce is no sign of communication."""
    with open(f"{DATA}/45/names.csv", encoding="utf-8", newline="") as f:
        given = {row["name"]: row["class"] for row in csv.DictReader(f)}
    g = Gpu()
    for i, name in enumerate(given):
        g.kernel(name, i * 100, 10)
    found = {name: {"communication": "comm", "memory": "memory", "sync": "sync"}.get(kind, "compute")
             for name, (kind, _) in kinds(library, g.write(f"{folder}/45.pt.trace.json")).items()}
    c.equal("45 classes", found, given)
    c.equal("45 numbers", {k: list(found.values()).count(k) for k in set(found.values())}, {"comm": 10, "memory": 2, "compute": 3, "sync": 2})


def attention_by_type(c, library, folder):
    """46: attention of training and inference, forward and backward, by type on NPU and by name on GPU; flash alone is no sign."""
    with open(f"{DATA}/46/types.csv", encoding="utf-8", newline="") as f:
        given = {row["type"]: {"fwd": "forward", "bwd": "backward", "none": None}[row["direction"]] for row in csv.DictReader(f)}
    t, g = Text(), Gpu()
    for i, name in enumerate(given):
        t.kernel(f"aclnnX_{i}", i * 100, 10, name)
        g.kernel(name, i * 100, 10)
    for what, path in (("type", t.write(f"{folder}/46_ascend_pt")), ("name", g.write(f"{folder}/46.pt.trace.json"))):
        found = {name: direction if kind == "attention" else None for name, (kind, direction) in kinds(library, path).items()}
        c.equal(f"46 by {what}", found, given)
    c.equal("46 numbers", [list(given.values()).count(d) for d in ("forward", "backward", None)], [7, 3, 3])
    # In the sheet too, by the compare tool's own words.
    fused = Text()
    fused.kernel("aclnnFused", 0, 10, "FusedInferAttentionScore", "MIX_AIC")
    fused.lane("Computing", 0, 10)
    s = Session(library, fused.write(f"{folder}/fused_ascend_pt"), f"{folder}/fused_ascend_pt")
    c.equal("46 sheet", s.rows("SELECT base_ns FROM overall_metrics WHERE metric = 'Flash Attention (Forward)'"), [(10000,)])


def main():
    c = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for test in (only_in_one_profile, communication_by_name, attention_by_type):
            test(c, sys.argv[1], folder)
    sys.exit(c.report())


if __name__ == "__main__":
    main()
