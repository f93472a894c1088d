"""Holds the model tables of any captures against the oracle, by hand.

  compare_captures.py LIBRARY PATH ...     a path is what profana_open takes: a file, a rank's folder, a folder of ranks

For each rank it prints what prof_source says and how many rows each model table has, and every column in which the library
and the oracle differ. Exit status 1 if any does.
"""
import json
import os
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "readers"))
from held_against_oracle import EVENTS, GPU_EVENTS, compare, load  # noqa: E402


def opened(library, path):
    db = load(library)
    db.row_factory = sqlite3.Row
    db.execute("SELECT profana_open('x', ?)", (path,)).fetchall()
    return db


def rows_by_table(db):
    tables = [r[0] for r in db.execute("SELECT name FROM pragma_module_list WHERE name GLOB 'prof_*'")]
    tables = [t for t in tables if [r[1] for r in db.execute(f"PRAGMA table_info({t})")][:3] == ["profile", "rank", "id"]]
    counts = {t: db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in tables}
    return {t: n for t, n in counts.items() if n}


def ranks(library, path):
    """What prof_source says of each rank, and the rank's rows."""
    for row in opened(library, path).execute("SELECT * FROM prof_source").fetchall():
        db = opened(library, row["path"])
        counts = rows_by_table(db)
        yield dict(db.execute("SELECT * FROM prof_source").fetchone()) | {"path": row["path"], "rank": row["rank"]}, counts
        for note in db.execute("SELECT severity, code, file, message, count FROM prof_diagnostic").fetchall():
            print("  {} {} {}: {} ({} times)".format(*note[:2], os.path.basename(note["file"] or ""), note["message"], note["count"]))


def main():
    library, failed = os.path.abspath(sys.argv[1]), 0
    for path in sys.argv[2:]:
        print(path)
        for source, counts in ranks(library, path):
            missing = json.loads(source.pop("missing") or "{}")
            print("  " + ", ".join(f"{k} {v}" for k, v in source.items() if v is not None and k not in ("alias", "files")))
            print("  rows: " + ", ".join(f"{t.removeprefix('prof_')} {n}" for t, n in counts.items()))
            print("  missing: " + "; ".join(f"{t.removeprefix('prof_')}: {why}" for t, why in missing.items()))
            events = GPU_EVENTS if source["kind"] == "gpu" else () if source["kind"] in ("db", "msprof_db", "msmonitor") else EVENTS
            with tempfile.TemporaryDirectory() as scratch:
                options = {"source": source["source_option"]} if source["source_option"] else {}
                tables, differences = compare(library, source["path"], scratch, options, events=events)
            failed += len(differences)
            print(f"  {tables} tables held against the oracle, {len(differences)} differences")
            for text in differences:
                print(f"    {text}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
