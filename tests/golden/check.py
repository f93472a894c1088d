"""Prints sheets of the golden cases through the sqlite3 shell and holds them against the expected ones.

A number agrees within 1e-9 of its size or 2e-6; in a column of differences, ratios or averages also within one
unit of the last digit shown, since those are rounded. Texts agree when white space, quotes and the way numbers
in them are written do not count. Rows of OverallMetrics are found by their path, rows of the statistic and
kernel sheets by name, the tasks of CommunicationCompare side by side by name; all other rows stand in order.
"""
import csv
import dataclasses
import decimal
import fnmatch
import gzip
import io
import json
import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MARK = "-----sheet-----"
NAMED = {"OperatorCompareStatistic": (1, 2), "MemoryCompareStatistic": (1, 2), "KernelTypeCompare": (1, 3),
         "KernelCompare": (1, 3)}               # which columns name a row


def quoted(text):
    return "'" + str(text).replace("'", "''") + "'"


def unpack(case, into):
    """A copy of the case in which every .json.gz of a profile is a .json again."""
    there = shutil.copytree(case, os.path.join(into, os.path.basename(case)))
    for folder, _, files in os.walk(there):
        for name in files:
            if name.endswith(".json.gz"):
                packed = os.path.join(folder, name)
                with gzip.open(packed) as source, open(packed[:-3], "wb") as target:
                    shutil.copyfileobj(source, target)
                os.remove(packed)
    return there


def sheets(library, opens, settings, names, script="sql/reports/compare/{}.sql"):
    """{name: rows, header first} of several reports in one session; opens: [(alias, path, options)]."""
    lines = [".bail on", ".load " + library.removesuffix(".so"), ".headers off"]
    for alias, path, options in opens:
        lines.append(f"SELECT profana_open({quoted(alias)}, {quoted(path)}, {quoted(json.dumps(options or {}))});")
    for name, value in settings.items():
        lines.append(f"SELECT profana_set({quoted(name)}, {quoted(json.dumps(value) if isinstance(value, dict) else value)});")
    lines += [".headers on", ".mode csv"]
    for name in names:
        lines += [f".print {MARK}", f".read {script.format(name)}"]
    done = subprocess.run(["sqlite3", "-batch", ":memory:"], input="\n".join(lines) + "\n", text=True, encoding="utf-8",
                          capture_output=True, cwd=ROOT, check=False)
    parts = done.stdout.split(MARK)[1:]
    if done.returncode or len(parts) != len(names):
        raise RuntimeError(f"{done.stderr.strip() or 'sqlite3 failed'} (after {len(parts)} of {len(names)} sheets)")
    return {name: list(csv.reader(io.StringIO(part.lstrip("\r\n"), newline=""))) for name, part in zip(names, parts)}


def number(text):
    try:
        return float({"inf": "inf", "9.0e+999": "inf"}.get(text.strip().lower(), text))
    except ValueError:
        return None


def shortest(found):
    """One spelling for a number in a text; what is finer than ns is rounded to it."""
    value = decimal.Decimal(found.group()).quantize(decimal.Decimal("0.001"), decimal.ROUND_HALF_EVEN)
    return format(value.normalize(), "f")


def plain(text):
    text = " ".join(text.replace('"', "").split())
    text = re.sub(r",? \[input shapes: N/A\]", "", text)            # unknown is unknown
    text = re.sub(r"\[duration_ms: [\d.]+\]", "", text)             # also a column
    return re.sub(r"(?<![\w.])\d+\.\d+(?![\w.])", shortest, text)


def agree(ours, theirs, head):
    a, b = number(ours), number(theirs)
    if a is None or b is None:
        return plain(ours) == plain(theirs)
    if a == b or abs(a - b) <= max(2e-6, 1e-9 * abs(b)):
        return True
    slack = 1.01e-4 if "Ratio" in head else 0.0101 if re.search("Diff|Avg", head) else 0
    return abs(a - b) <= slack


@dataclasses.dataclass
class Sheet:
    head: list
    rows: dict                   # by what finds a row: a path, a name or its number

    @classmethod
    def of(cls, name, table):
        head, rows = (table[0] if table else []), {}
        stack, kind = [], ""
        for place, cells in enumerate(table[1:], 1):
            if name == "OverallMetrics":
                level = len(cells[0]) - len(cells[0].lstrip("\t"))
                stack = stack[:level] + [cells[0].strip()]
                key = "/".join(stack)
            elif name in NAMED:
                key, cells = "/".join(map(plain, cells[slice(*NAMED[name])])), ["", *cells[1:]]
            elif name == "CommunicationCompare":
                for side, at in (("base", 1), ("comparison", 8)):
                    if cells[at + 1]:
                        rows[f"{side}: {kind}/{cells[at + 1]}"] = ["", *cells[at + 2:at + 7]]
                if "|" in (cells[1], cells[8]):
                    continue
                kind = key = cells[1] or cells[8]
                cells = ["", *cells[1:]]
            else:
                key = f"row {place} {next((plain(c) for c in cells if c.strip() and number(c) is None), '')}"
            while key in rows:
                key += "'"
            rows[key] = cells
        return cls(head, rows)


def read_differences(path):
    with open(path, encoding="utf-8") as f:
        return [line.rstrip("\n").split("\t") for line in f if line.strip() and not line.startswith("#")]


class Judge:
    """Compares sheets; cells named in differences.tsv may differ."""

    def __init__(self, differences):
        self.differences = differences
        self.named = 0

    def excused(self, where, key, head):
        row = re.sub(r"^(base|comparison): ", "", key)
        label = re.sub(r"^row \d+ ", "", row)
        names = (head, "row:" + row, "row:" + label)
        return any(all(fnmatch.fnmatchcase(part, pattern) for part, pattern in zip(where, d))
                   and any(fnmatch.fnmatchcase(n, d[3]) for n in names) for d in self.differences)

    def complaints(self, where, ours, theirs):
        """where: (case, run, sheet)"""
        name = where[2]
        a, b = Sheet.of(name, ours), Sheet.of(name, theirs)
        out = []
        if [plain(h) for h in a.head] != [plain(h) for h in b.head]:
            return [f"heads are {a.head}, expected {b.head}"]
        for key in [*b.rows, *(k for k in a.rows if k not in b.rows)]:
            if key not in a.rows or key not in b.rows:
                found = [f"{'no' if key in b.rows else 'unexpected'} row {key}"]
                heads = [""]
            else:
                heads = b.head if len(b.rows[key]) == len(b.head) else ["Avg"] * len(b.rows[key])
                wrong = [i for i, (x, y) in enumerate(zip(a.rows[key], b.rows[key])) if not agree(x, y, heads[i])]
                found = [f"{key} [{heads[i]}]: {a.rows[key][i][:80]!r}, expected {b.rows[key][i][:80]!r}" for i in wrong]
                heads = [heads[i] for i in wrong]
            for text, head in zip(found, heads):
                if self.excused(where, key, head):
                    self.named += 1
                else:
                    out.append(text)
        if name not in ("KernelCompare", *NAMED) and [k for k in a.rows if k in b.rows] != [k for k in b.rows if k in a.rows] \
                and name != "CommunicationCompare":
            out.append("rows stand in another order")
        if name in NAMED and name != "KernelCompare":
            falling = [number(r[-2]) for r in ours[1:]]
            if any(x < y - 1e-9 for x, y in zip(falling, falling[1:])):
                out.append(f"not in descending order of {a.head[-2]}")
        return out


def check_case(library, case, judge, only=()):
    """Complaints about every sheet of every run of an unpacked case."""
    with open(os.path.join(case, "case.json"), encoding="utf-8") as f:
        about = json.load(f)
    name, out, count = os.path.basename(case), [], 0
    for run, how in about["runs"].items():
        expected = os.path.join(case, "expected", run)
        if run.startswith("mfu_"):
            side = run.removeprefix("mfu_")
            opens = [("run", os.path.join(case, about[side]), how.get(side + "_options"))]
            script = {"OperatorMFU": "operator_mfu", "ModuleMFU": "module_mfu"}
        else:
            opens = [(s, os.path.join(case, about[s]), how.get(s + "_options")) for s in ("base", "comparison")]
            script = None
        names = [f[:-4] for f in sorted(os.listdir(expected)) if f.endswith(".csv") and (not only or f[:-4] in only)]
        if not names:
            continue
        try:
            if script:
                printed = sheets(library, opens, {}, [script[n] for n in names], "sql/reports/{}.sql")
                printed = {n: printed[script[n]] for n in names}
            else:
                printed = sheets(library, opens, how.get("settings", {}), names)
        except RuntimeError as error:
            out.append(f"{name} {run}: {error}")
            continue
        for sheet in names:
            with open(os.path.join(expected, sheet + ".csv"), newline="", encoding="utf-8") as f:
                theirs = list(csv.reader(f))
            out += [f"{name} {run} {sheet}: {text}" for text in judge.complaints((name, run, sheet), printed[sheet], theirs)]
            count += 1
    return count, out
