"""For developers: MFU of real captures against figures computed here by hand.

  mfu.py LIBRARY FOLDER

FOLDER holds the captures alexnet-910a, alexnet-910b (Ascend, Text and Db), gpu/*.json (a BERT on H100 and MI300X) and
triton-matmul-msprof/512_1024 (msprof command line). What is there is checked, what is missing is named. Exit 0 when all agree.

  AlexNet (torchvision), batch 32: FLOPs of every layer from its shapes, forward and both gradients.
  GPU traces: FLOPs of each GEMM operator from its input dims in the trace, read here by Python's json.
  Triton: 2 * 512^3 and 2 * 1024^3 operations at the median durations.
"""
import collections
import glob
import json
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mfu"))
from held import check, failures, finish, opened  # noqa: E402

FOLDER = sys.argv[2]

BATCH = 32
# out channels, in channels, kernel, output side
CONVOLUTIONS = [(64, 3, 11, 55), (192, 64, 5, 27), (384, 192, 3, 13), (256, 384, 3, 13), (256, 256, 3, 13)]
LINEARS = [(9216, 4096), (4096, 4096), (4096, 1000)]
CONV_FLOPS = [2 * BATCH * out * side * side * inner * kernel * kernel for out, inner, kernel, side in CONVOLUTIONS]
FC_FLOPS = [2 * BATCH * inner * out for inner, out in LINEARS]


def alexnet(path):
    """One training step: each product forward once and once for each gradient; the images need none."""
    db = opened(path, '{"chip":"Ascend910B3"}')
    rows = db.execute("SELECT lower(coalesce(op_type, op_name)), kernel_name, flops, mfu FROM kernel_mfu_estimate").fetchall()
    has_types = db.execute("SELECT count(op_type) FROM prof_kernel").fetchone()[0] > 0
    products = collections.Counter()
    convolutions = collections.Counter()
    for kind, name, flops, mfu in rows:
        if flops == 0 or "avgpool" in name.lower():          # a layout kernel; pooling done by a product
            continue
        if flops is None or not 0 < mfu <= 1:
            failures.append(f"{path}: {name}: {flops} FLOPs, MFU {mfu}")
        elif kind.startswith("conv"):
            convolutions[("dgrad" if "input" in kind else "wgrad" if "filter" in kind else "forward", flops)] += 1
        else:
            products[flops] += 1
    steps = max(1, products[FC_FLOPS[0]] // 3)
    check(f"{path}: fully connected layers", products, collections.Counter({f: 3 * steps for f in FC_FLOPS}))
    if has_types:                                            # without types or strides convolutions cannot be told
        expected = collections.Counter()
        for layer, flops in enumerate(CONV_FLOPS):
            expected[("forward", flops)] += steps
            expected[("wgrad", flops)] += steps
            if layer > 0:
                expected[("dgrad", flops)] += steps
        check(f"{path}: convolutions", convolutions, expected)


def gemm_flops(name, dims):
    """From the input dims as torch records them."""
    if name in ("aten::mm", "aten::addmm"):
        a, b = dims[name == "aten::addmm":][:2]
        return 2 * a[0] * a[1] * b[1]
    if name == "aten::bmm":
        a, b = dims[:2]
        return 2 * a[0] * a[1] * a[2] * b[2]
    return None


def gpu(path):
    """Each of mm, addmm, bmm that launched kernels has its FLOPs among the kernels' once."""
    with open(path, encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    ops = [e for e in events if e.get("cat") == "cpu_op" and e["name"] in ("aten::mm", "aten::addmm", "aten::bmm")]
    launches = {e["args"]["correlation"]: e for e in events
                if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})}
    kernels = [e for e in events if e.get("cat") == "kernel"]
    launched = [launches[e["args"]["correlation"]] for e in kernels if e["args"].get("correlation") in launches]
    expected = collections.Counter()
    for op in ops:
        inside = [e for e in launched if e["tid"] == op["tid"] and op["ts"] <= e["ts"] <= op["ts"] + op["dur"]]
        if inside:
            expected[(op["name"], gemm_flops(op["name"], op["args"]["Input Dims"]))] += 1
    db = opened(path)
    got = collections.Counter()
    for name, op_flops, total in db.execute(
            "SELECT op_name, op_flops, sum(flops) FROM kernel_mfu_estimate WHERE op_name IN ('aten::mm', 'aten::addmm', 'aten::bmm') "
            "GROUP BY op_id"):
        if abs(total - op_flops) > 1e-6 * op_flops:
            failures.append(f"{path}: {name}: kernels have {total} of {op_flops}")
        got[(name, op_flops)] += 1
    check(f"{path}: GEMMs", got, expected)
    check(f"{path}: there are some", len(expected) > 0, True)
    bad = db.execute("SELECT count(*) FROM kernel_mfu_estimate WHERE flops > 0 AND (mfu IS NULL OR mfu <= 0 OR mfu > 1)").fetchone()
    check(f"{path}: MFU in (0, 1]", bad, (0,))


def triton(path):
    db = opened(path)
    durations = collections.defaultdict(list)
    for name, duration in db.execute("SELECT name, dur_ns FROM prof_kernel WHERE name GLOB '*matmul*' ORDER BY id"):
        durations[name].append(duration)
    medians = sorted(statistics.median(d) for values in durations.values() for d in halves(values))
    rates = [db.execute("SELECT round(actual_tflops(flops_mm(?1, ?1), ?2), 2)", (f"[{n},{n}]", m)).fetchone()[0]
             for n, m in zip((512, 1024), (medians[0], medians[-1]))]
    check(f"{path}: medians", (round(medians[0] / 1e3, 1), round(medians[-1] / 1e3, 1)), (348.3, 2401.4))
    check(f"{path}: TFLOPS", rates, [0.77, 0.89])
    check("the same by hand", [round(2 * n**3 / us / 1e6, 2) for n, us in ((512, 348.3), (1024, 2401.4))], rates)


def halves(values):
    """Launches of two sizes under one name: the short ones and the long ones."""
    middle = (min(values) * max(values)) ** 0.5
    return [part for part in ([v for v in values if v < middle], [v for v in values if v >= middle]) if part]


def each(pattern, what):
    found = sorted(glob.glob(os.path.join(FOLDER, pattern)))
    if not found:
        print(f"not there: {pattern}")
    for path in found:
        what(path)


each("alexnet-910[ab]/*/level*/rank*_ascend_pt", alexnet)
each("gpu/bert*.json", gpu)
each("triton-matmul-msprof/512_1024", triton)
finish()
