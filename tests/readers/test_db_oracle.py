"""The tables that the reader makes of a database against the oracle, which reads it with plain SQL and Python."""
import os
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden")
ORACLE = os.path.join(HERE, "..", "oracle", "model_oracle.py")
PROFILES = ["db_db/base", "db_db/comparison", "ms_db/base", "ms_db/comparison", "cluster/base"]
SHOWN = 3


def rank_folders(path):
    return [os.path.join(path, name) for name in sorted(os.listdir(path)) if name.endswith(("_ascend_pt", "_ascend_ms"))]


def close(a, b):
    if isinstance(a, float) and isinstance(b, (int, float)):
        return abs(a - b) <= 1e-9 * max(1.0, abs(a))
    return a == b and type(a) is type(b)


def compare(library, folder, scratch):
    """-> list of differences"""
    oracle = os.path.join(scratch, "oracle.db")
    subprocess.run(["/usr/bin/python3", ORACLE, oracle, f"x={folder}"], check=True, stdout=subprocess.DEVNULL)
    expected = sqlite3.connect(oracle)
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(library)
    db.execute("SELECT profana_open('x', ?)", (folder,))
    differences = []
    tables = [row[0] for row in expected.execute("SELECT name FROM sqlite_master WHERE name LIKE 'prof\\_%' ESCAPE '\\' "
                                                 "AND name <> 'prof_source' AND type = 'table'")]
    for table in tables:
        columns = [row[1] for row in expected.execute(f"PRAGMA table_info({table})")]
        query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY id"
        want, got = expected.execute(query).fetchall(), db.execute(query).fetchall()
        if len(want) != len(got):
            differences.append(f"{table}: {len(got)} rows, the oracle has {len(want)}")
            continue
        for place, column in enumerate(columns):
            wrong = [(w[0:3], w[place], g[place]) for w, g in zip(want, got) if not close(w[place], g[place])]
            if wrong:
                differences.append(f"{table}.{column}: {len(wrong)} of {len(want)} differ, first (row, oracle, ours): "
                                   f"{wrong[:SHOWN]}")
    expected.close()
    os.remove(oracle)
    return len(tables), differences


def main():
    library, failed = sys.argv[1], 0
    with tempfile.TemporaryDirectory() as scratch:
        for profile in PROFILES:
            for folder in rank_folders(os.path.join(GOLDEN, profile)):
                tables, differences = compare(library, folder, scratch)
                failed += len(differences)
                for text in differences:
                    print(f"{profile}: {text}")
                if tables < 15:
                    failed += 1
                    print(f"{profile}: the oracle made only {tables} tables")
    print("FAILED" if failed else "ok")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
