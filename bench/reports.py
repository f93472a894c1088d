#!/usr/bin/python3
"""How long do the reports take on given profiles, cold: from profana_open to the last row of the last report?

  reports.py [--lib build/libprofana.so] [--set mfu] [--runs 3] [--each] [--markdown] FOLDER...

Each FOLDER is a profile, or holds the profiles `base` and `comparison`, which are then both opened. A run is a new
process of the sqlite3 shell, set up as the command profana-compare does (docs/hosts.md), that loads the library, opens
the profiles and prints every report of the set. The sets `rows` and `columns` are no reports: they count the rows of
every model table, and the values of every column. `cpu` is user and system time, less than `wall` where the machine is
busy and more where threads help; memory is the peak of the process, rows are those printed. `of the first` compares
with the first FOLDER: give one of half the size first to see the growth.
With --each every report has a process, and a row, of its own.
"""
import argparse
import glob
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# As in examples/profana-compare.
SORT_IN_MEMORY = "PRAGMA cache_size = -262144;"


def scripts(*patterns):
    """Reports of sql/reports, in the order of the patterns."""
    return [path for p in patterns for path in sorted(glob.glob(os.path.join(PROJECT, "sql", "reports", p + ".sql")))]


# Report sets by name: the scripts (none: those of count_model_tables), and whether they need two profiles.
SETS = {
    "mfu": (scripts("operator_mfu", "module_mfu"), False),
    "compare": (scripts("compare/*"), True),
    "rows": ([], False),
    "columns": ([], False),
}


def count_model_tables(lib, what, folder):
    """Scripts, one a model table, that count its rows or the values of its columns."""
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(lib)
    for (table,) in db.execute("SELECT name FROM pragma_module_list WHERE name GLOB 'prof_*' ORDER BY name").fetchall():
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        if columns[:3] != ["profile", "rank", "id"]:
            continue
        counts = ", ".join(f"count({c})" for c in columns) if what == "columns" else "count(*)"
        path = os.path.join(folder, table + ".sql")
        with open(path, "w", encoding="utf-8") as out:
            out.write(f"SELECT {counts} FROM {table};\n")
        yield path


def profiles(folder):
    """-> [(alias, path)]"""
    sides = [(alias, os.path.join(folder, alias)) for alias in ("base", "comparison")]
    return sides if all(os.path.isdir(path) for _, path in sides) else [("base", folder)]


def bytes_of(folder):
    if os.path.isfile(folder):
        return os.path.getsize(folder)
    return sum(os.path.getsize(os.path.join(place, name)) for place, _, names in os.walk(folder) for name in names)


def measure(lib, opened, reports):
    """One cold run -> (wall seconds, cpu seconds, peak MiB, rows printed)."""
    lines = [".bail on", SORT_IN_MEMORY, f".load {lib}", ".mode csv", ".headers on", ".output /dev/null"]
    lines += ["SELECT profana_open('{}', '{}');".format(alias, path.replace("'", "''")) for alias, path in opened]
    lines += [".output stdout"] + [f".read {report}" for report in reports]
    with tempfile.TemporaryFile() as out:
        begin = time.monotonic()
        process = subprocess.Popen(["sqlite3", "-batch", ":memory:"], stdin=subprocess.PIPE, stdout=out)
        process.stdin.write(("\n".join(lines) + "\n").encode())
        process.stdin.close()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begin
        if status:
            sys.exit(f"sqlite3 failed on {opened}")
        out.seek(0)
        rows = sum(block.count(b"\n") for block in iter(lambda: out.read(1 << 20), b"")) - len(reports)
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, rows


def median_of(runs, *what):
    wall, cpu, peak, rows = zip(*(measure(*what) for _ in range(runs)))
    return statistics.median(wall), statistics.median(cpu), max(peak), rows[0]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folders", nargs="+", metavar="FOLDER")
    p.add_argument("--lib", default=os.path.join(PROJECT, "build", "libprofana.so"))
    p.add_argument("--set", dest="sets", default="mfu", help="report sets by comma: " + ", ".join(SETS))
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--each", action="store_true")
    p.add_argument("--markdown", action="store_true")
    a = p.parse_args()
    lib = os.path.abspath(a.lib).removesuffix(".so")
    row = ("| {} | {} | {} | {} | {} | {} | {} | {} |" if a.markdown else "{:<26} {:<32} {:>8} {:>8} {:>8} {:>9} {:>9} {:>12}").format
    print(row("profile", "reports", "MB", "wall s", "cpu s", "peak MiB", "rows", "of the first"))
    if a.markdown:
        print(row(*["---"] * 8))
    with tempfile.TemporaryDirectory() as scratch:
        run(a, p, lib, row, scratch)


def run(a, p, lib, row, scratch):
    for name in a.sets.split(","):
        if name not in SETS:
            p.error(f"--set {name}: there are {', '.join(SETS)}")
        reports, needs_pair = SETS[name]
        reports = reports or list(count_model_tables(lib, name, scratch))
        first = {}
        for folder in a.folders:
            opened = profiles(folder)
            if needs_pair and len(opened) < 2:
                p.error(f"{folder}: set {name} needs a folder with base and comparison")
            size = sum(bytes_of(path) for _, path in opened) / 1e6
            for group in [[r] for r in reports] if a.each else [reports]:
                label = os.path.basename(group[0]) if a.each else name
                wall, cpu, peak, rows = median_of(a.runs, lib, opened, group)
                begin = first.setdefault(label, cpu)
                print(row("/".join(os.path.abspath(folder).split(os.sep)[-2:]), label, f"{size:.0f}", f"{wall:.2f}", f"{cpu:.2f}",
                          f"{peak:.0f}", rows, f"{cpu / begin:.2f} x"), flush=True)


if __name__ == "__main__":
    main()
