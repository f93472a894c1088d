"""operator_mfu and module_mfu of the golden profiles: reports, export to a database and export by rank.

Expected sheets: tests/golden/*/expected/mfu_*, as msprof-analyze writes them. Numbers agree within 1e-9 or one unit of
the last printed digit of a mean.
"""
import csv
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

LIBRARY = os.path.abspath(sys.argv[1]).removesuffix(".so")
GOLDEN = os.path.join("tests", "golden")
SHEETS = {"OperatorMFU": "operator_mfu", "ModuleMFU": "module_mfu"}
failures = []


def shell(*commands):
    script = "\n".join([".bail on", ".load " + LIBRARY, ".mode csv", *commands]) + "\n"
    done = subprocess.run(["sqlite3", "-batch", ":memory:"], input=script, text=True, capture_output=True, timeout=60)
    if done.returncode:
        sys.exit(f"sqlite3 failed: {done.stderr}\n{script}")
    return done.stdout


def rows_of(text):
    return list(csv.reader(io.StringIO(text, newline="")))


def same(ours, expected, head):
    try:
        a, b = float(ours), float(expected)
        return abs(a - b) <= max(2e-6, 1e-9 * abs(b), 0.0101 if "avg" in head else 0)
    except ValueError:
        return re.sub(r"\s+", " ", ours.replace('"', "")) == re.sub(r"\s+", " ", expected.replace('"', ""))


def compare(what, ours, expected):
    if not ours or len(ours) != len(expected):
        failures.append(f"{what}: {len(ours)} lines, expected {len(expected)}")
        return
    for n, (a, b) in enumerate(zip(ours[1:], expected[1:]), 1):
        for head, x, y in zip(expected[0], a, b):
            if not same(x, y, head):
                failures.append(f"{what}: row {n}, {head}: {x!r}, expected {y!r}")
                return


def read(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.reader(f))


def case(folder):
    with open(os.path.join(folder, "case.json"), encoding="utf-8") as f:
        spec = json.load(f)
    for run in (r for r in spec["runs"] if r.startswith("mfu_")):
        opened = f"SELECT profana_open('run', '{os.path.join(folder, spec[run.removeprefix('mfu_')])}');"
        expected = {s: read(os.path.join(folder, "expected", run, s + ".csv")) for s in SHEETS}
        for sheet, report in SHEETS.items():
            out = shell(".headers off", ".output /dev/null", opened, ".output stdout", ".headers on",
                        f".read sql/reports/{report}.sql")
            ours = rows_of(out)
            if ours and ours[0] != expected[sheet][0]:
                failures.append(f"{folder} {run} {sheet}: heads {ours[0]}")
            compare(f"{folder} {run} {sheet}", ours, expected[sheet])
        exports(f"{folder} {run}", opened, expected)


def exports(what, opened, expected):
    with tempfile.TemporaryDirectory() as place:
        database, folder = os.path.join(place, "cluster_analysis.db"), os.path.join(place, "csv")
        shell(opened, f"SELECT profana_export('{database}');", f"SELECT profana_export('{folder}');")
        db = sqlite3.connect(database)
        for sheet, rows in expected.items():
            cursor = db.execute(f"SELECT * FROM {sheet}")
            ours = [[d[0] for d in cursor.description]]
            ours += [["" if v is None else str(v) for v in row] for row in cursor]
            if ours[0] != rows[0]:
                failures.append(f"{what} exported {sheet}: columns {ours[0]}")
            compare(f"{what} exported {sheet}", ours, rows)
        db.close()
        for sheet, name in (("OperatorMFU", "operator_mfu_kernel"), ("ModuleMFU", "operator_mfu_module")):
            for rank in sorted({row[0] for row in expected[sheet][1:]}):
                ours = read(os.path.join(folder, f"{name}_{rank}.csv"))
                if ours[0][:2] != ["Rank ID", "Op Name" if sheet == "OperatorMFU" else "Parent Module"]:
                    failures.append(f"{what} {name}_{rank}.csv: heads {ours[0]}")
                compare(f"{what} {name}_{rank}.csv", ours,
                        [expected[sheet][0]] + [row for row in expected[sheet][1:] if row[0] == rank])


for name in ("db_db", "cluster"):
    case(os.path.join(GOLDEN, name))
print("\n".join(failures) or "operator_mfu and module_mfu agree")
sys.exit(1 if failures else 0)
