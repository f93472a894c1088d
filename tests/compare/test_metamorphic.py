"""What must hold for any two profiles, whatever they contain.

A profile against itself differs nowhere; swapping the sides negates differences and inverts ratios; parts add up to the whole;
ratios are those of the amounts beside them, and verdicts follow from them.

  test_metamorphic.py LIBRARY [PROFILE ...]     on given profiles, each against the next; without any, on the golden cases
                                                and on one of every other kind of profile
"""
import glob
import itertools
import json
import math
import os
import shutil
import sys
import tempfile

from profiles import ROOT, Checks, Session

sys.path.insert(0, os.path.join(ROOT, "tests", "golden"))
from check import unpack  # noqa: E402

# Views by what names a row on either side; None: rows are told apart by their place only.
SHEETS = {
    "overall_metrics": None, "operator_compare": None, "module_compare": None, "memory_compare": None,
    "operator_compare_statistic": ("name",), "module_compare_statistic": ("module_name", "operator"),
    "communication_compare": ("kind", "task"), "memory_compare_statistic": ("name",),
    "kernel_compare": ("kernel_type", "input_shapes"), "kernel_type_compare": ("kernel_type", "core_type"), "api_compare": ("name",),
}


def table(s, view):
    cursor = s.db.execute(f"SELECT * FROM {view}")
    heads = [c[0] for c in cursor.description]
    return [dict(zip(heads, row)) for row in cursor]


def differences(row):
    return [h for h in row if h.startswith("diff_") and h != "diff_ratio"]


def ratios(row):
    """Ratios of the two sides, not shares of one side's whole."""
    return [h for h in row if h.endswith("_ratio") and not h.startswith(("base_", "comparison_"))]


def against_itself(c, what, s):
    for view in SHEETS:
        for row in table(s, view):
            where = f"{what} {view} {row['order_id']}"
            c.equal(where + " differences", [row[h] for h in differences(row) if row[h] not in (0, None)], [])
            c.equal(where + " ratios", [(h, row[h]) for h in ratios(row) if row[h] != 1], [])
            c.equal(where + " verdict", row["verdict"], "same")
            if row.get("noise") is not None:
                c.equal(where + " noise", row["noise"], 1)


# Each ratio is of these amounts (base_X, comparison_X); of none at all as of zero.
AMOUNTS = {
    "overall_metrics": {"diff_ratio": "ns"}, "operator_compare": {"device_ratio": "device_ns"},
    "operator_compare_statistic": {"device_ratio": "device_ns"}, "module_compare": {"time_ratio": "total_ns"},
    "module_compare_statistic": {"time_ratio": "total_ns"}, "communication_compare": {"total_ratio": "total_ns"},
    "memory_compare": {"size_ratio": "size_bytes"}, "memory_compare_statistic": {"size_ratio": "size_bytes"},
    "kernel_compare": {"total_ratio": "total_ns", "avg_ratio": "avg_ns"}, "kernel_type_compare": {"total_ratio": "total_ns", "avg_ratio": "avg_ns"},
    "api_compare": {"total_ratio": "total_ns", "self_ratio": "self_ns", "avg_ratio": "avg_ns", "calls_ratio": "calls"},
}


def formula(c, what, s):
    """Ratios are comparison / base, 1 where both are equal, Inf where only base is nothing; never NULL. Verdicts follow from them."""
    for view, amounts in AMOUNTS.items():
        for row in table(s, view):
            where = f"{what} {view} {row['order_id']}"
            c.equal(where + " ratios", sorted(ratios(row)), sorted(amounts))
            for h, amount in amounts.items():
                if view.startswith("module") and row.get("is_total") == 0 or row.get("operator") is not None:
                    amount = "self_ns"                     # an operator of a module has time of its own only
                base, comparison = (row[f"{side}_{amount}"] or 0 for side in ("base", "comparison"))
                expected = 1.0 if base == comparison else math.inf if base == 0 else comparison / base
                if math.isinf(expected):
                    c.equal(f"{where} {h}", row[h], expected)
                else:
                    c.close(f"{where} {h}", row[h], expected)
            first = row[next(iter(amounts))]
            if row["verdict"] in ("worse", "better", "same") and first >= 0 and (row.get("base_ns") or 0) >= 0:
                c.equal(where + " verdict", row["verdict"], "worse" if round(first, 4) > 1 else "better" if round(first, 4) < 1 else "same")


def inverse(ratio):
    if ratio is None:
        return None
    return math.inf if ratio == 0 else 0.0 if math.isinf(ratio) else 1 / ratio


VERDICTS = {"worse": "better", "better": "worse", "same": "same", "base only": "comparison only", "comparison only": "base only"}


def swapped(c, what, s, t):
    """Sheets of s against those of t, whose sides are exchanged."""
    for view, key in SHEETS.items():
        if key is None:
            continue
        there = {tuple(r[k] for k in key): r for r in table(s, view)}
        back = {tuple(r[k] for k in key): r for r in table(t, view)}
        c.equal(f"{what} {view} rows", sorted(map(repr, there)), sorted(map(repr, back)))
        for name, row in there.items():
            other = back.get(name)
            if other is None:
                continue
            where = f"{what} {view} {name}"
            c.equal(where + " verdict", other["verdict"], VERDICTS[row["verdict"]])
            for h in differences(row):
                c.equal(f"{where} {h}", other[h], None if row[h] is None else -row[h])
            for h in ratios(row):
                if row[h] is not None and row[h] < 0:      # self times may be negative, and are not ratios of amounts then
                    continue
                expected = inverse(row[h])
                if expected is None or math.isinf(expected):
                    c.equal(f"{where} {h}", other[h], expected)
                else:
                    c.close(f"{where} {h}", other[h], expected)


def whole_and_parts(c, what, s):
    for side in ("base", "comparison"):
        rows = [(r["level"], r["metric"], r[side + "_ns"]) for r in table(s, "overall_metrics")]
        if not rows:
            continue
        tree, path = {}, []
        for level, metric, ns in rows:
            path = path[:level] + [metric]
            tree.setdefault(tuple(path[:-1]), []).append((metric, ns))
        amount = dict(tree[()])
        where = f"{what} {side}"
        bare = s.value("SELECT lccl_ns FROM overall_summary WHERE profile = ?", side)
        c.equal(where + " end to end", amount.get("Computing Time", 0) + amount.get("Uncovered Communication Time", 0)
                + amount.get("Free Time", 0) + bare, amount["E2E Time"])
        if "Free Time" in amount:
            c.equal(where + " free", sum(ns for _, ns in tree.get(("Free Time",), [])), amount["Free Time"])
        parts = tree.get(("Computing Time",), [])
        total = sum(ns for _, ns in parts)
        if dict(parts).get("Other", 0) > 0:
            c.equal(where + " computing", total, amount["Computing Time"])
        elif parts:                                        # kernels that overlap add up to more than the union
            c.equal(where + " computing is no more than its parts", amount["Computing Time"] <= total, True)
        for metric, ns in parts:
            below = [part for name, part in tree.get(("Computing Time", metric), [])]
            if below and not {"Computing", "Communication"} & {n for n, _ in tree[("Computing Time", metric)]}:
                c.equal(f"{where} {metric}", sum(below), ns)


def cases():
    """(name, base, comparison) of every golden case."""
    with tempfile.TemporaryDirectory() as folder:
        for case in sorted(glob.glob(os.path.join(ROOT, "tests", "golden", "*", "case.json"))):
            there = unpack(os.path.dirname(case), folder)
            with open(case, encoding="utf-8") as f:
                about = json.load(f)
            if "base" in about and "comparison" in about:
                yield os.path.basename(there), os.path.join(there, about["base"]), os.path.join(there, about["comparison"])


def other_kinds(folder):
    """(name, base, comparison): the command line's output, several ranks, MindSpore, a text export without its trace, and mixtures."""
    data, tinymlp, golden = (os.path.join(ROOT, *parts) for parts in (("tests", "data", "text_and_db"), ("examples", "tinymlp"), ("tests", "golden")))
    pytorch, mindspore, changed = sorted(glob.glob(os.path.join(data, "made_*")))
    csv_only = shutil.copytree(pytorch, os.path.join(folder, "csv_only_ascend_pt"))
    for file in glob.glob(os.path.join(csv_only, "ASCEND_PROFILER_OUTPUT", "*")):
        if file.endswith(".db") or "trace_view" in file:
            os.remove(file)
    command, framework = os.path.join(tinymlp, "01_cmdline"), os.path.join(tinymlp, "04_pytorch")
    ranks, one = os.path.join(golden, "cluster", "base"), os.path.join(golden, "db_db", "base")
    gpu = glob.glob(os.path.join(golden, "micro_gpu", "base", "*"))[0]
    return [("command line", command, framework), ("ranks", ranks, one), ("MindSpore", mindspore, pytorch), ("csv only", csv_only, changed),
            ("GPU and MindSpore", gpu, mindspore), ("GPU and csv only", gpu, csv_only), ("command line and ranks", command, ranks)]


def main():
    c = Checks()
    given = sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        pairs = ([(os.path.basename(a.rstrip("/")), a, b) for a, b in zip(given, given[1:] + given[:1])] if given
                 else itertools.chain(cases(), other_kinds(folder)))
        for name, base, comparison in pairs:
            s = Session(sys.argv[1], base, comparison)
            whole_and_parts(c, name, s)
            formula(c, name, s)
            swapped(c, name, s, Session(sys.argv[1], comparison, base))
            against_itself(c, name + " itself", Session(sys.argv[1], base, base))
    sys.exit(c.report())


if __name__ == "__main__":
    main()
