"""Every file below some folders that a raw table function takes, read by plain Python and by the library.

  test_captures.py LIBRARY [FOLDER...]     without folders: the captures that the project carries

For your own captures: tests/captures/test_captures.py build/libprofana.so /path/to/captures

Row counts, every value of every column and the columns' sums must be equal; a CSV file is read through profiler_csv
as well. A file must give no error, and prof_diagnostic must tell of it what is wrong with it and nothing else. Heads
that went to `extra` are listed, files that Python's json cannot read are named and left out. Exit 0: all agree.
"""
import os
import re
import sqlite3
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import csv_oracle
import json_oracle

ROOT = os.path.dirname(os.path.dirname(HERE))
OWN_CAPTURES = [os.path.join(ROOT, "tests", "data"), os.path.join(ROOT, "examples", "tinymlp")]
CSV_TABLES = ("kernel_details", "op_summary", "op_statistic", "api_statistic", "step_trace_time", "operator_details",
              "operator_memory", "memory_record", "task_time")
CSV_NAME = re.compile(r"(.*_)?(" + "|".join(CSV_TABLES) + r")(_slice_\d+)?(_\d+)*\.csv(\.gz)?")


def connect(library):
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(library)
    return db


def check(db, compare, *arguments):
    """-> (rows, sum, heads in extra), a text: what differs, or None: no table takes the file."""
    result = compare(db, *arguments)
    if result is None or isinstance(result, str):
        return result
    rows, total, extra, codes = result
    found = {code for code, in db.execute("SELECT DISTINCT code FROM prof_diagnostic WHERE severity <> 'info'")}
    return (rows, total, extra) if found == codes else f"diagnostics {sorted(found)}, should be {sorted(codes)}"


def checks(name, path):
    """The comparisons that a file calls for: (table, function, arguments)."""
    match = CSV_NAME.fullmatch(name)
    if match:
        yield match[2], csv_oracle.compare, match[2], path
    if name.endswith((".csv", ".csv.gz")):
        yield "profiler_csv", csv_oracle.compare_as_it_is, path
    if name.endswith((".json", ".json.gz")):
        yield "json", json_oracle.compare, name, path


def main():
    library, folders = os.path.abspath(sys.argv[1]), sys.argv[2:] or OWN_CAPTURES
    counts, wrong, extras = {}, 0, {}
    for path in sorted(os.path.join(root, name) for folder in folders for root, _, names in os.walk(folder) for name in names):
        for table, *comparison in checks(os.path.basename(path), path):
            try:
                result = check(connect(library), *comparison)
            except json_oracle.Unreadable as error:
                print(f"{path}: left out: {error}")
                continue
            except sqlite3.Error as error:
                result = f"error: {error}"
            if isinstance(result, str):
                wrong += 1
                print(f"{path}: {table}: {result}")
            elif result is not None:
                count = counts.setdefault(table, [0, 0, 0])
                count[:] = count[0] + 1, count[1] + result[0], count[2] + result[1]
                for head in result[2]:
                    extras.setdefault((table, head), path)
    for (table, head), path in extras.items():
        print(f"{table}: {head!r} is in extra, first in {path}")
    for table, (files, rows, total) in sorted(counts.items()):
        print(f"{table}: {files} files, {rows} rows, sum of all integers {total}")
    print(f"{wrong} differ")
    return 1 if wrong or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
