"""The tables that the reader makes of a database against the oracle, which reads it with plain SQL and Python."""
import os
import sys
import tempfile

from held_against_oracle import GOLDEN, compare, load, rank_folders

PROFILES = ["db_db/base", "db_db/comparison", "ms_db/base", "ms_db/comparison", "cluster/base"]


def model_rows(library, folder, threads):
    db = load(library)
    db.execute("SELECT profana_set('threads', ?)", (threads,)).fetchall()
    db.execute("SELECT profana_open('x', ?)", (folder,)).fetchall()
    tables = [row[0] for row in db.execute("SELECT name FROM pragma_module_list WHERE name GLOB 'prof_*' ORDER BY name")]
    return {table: db.execute(f"SELECT * FROM {table}").fetchall() for table in tables if table not in ("prof_setting", "prof_diagnostic")}


def main():
    library, failed = sys.argv[1], 0
    with tempfile.TemporaryDirectory() as scratch:
        for profile in PROFILES:
            for folder in rank_folders(os.path.join(GOLDEN, profile)):
                tables, differences = compare(library, folder, scratch, any_order={})
                failed += len(differences)
                for text in differences:
                    print(f"{profile}: {text}")
                # What two connections read side by side is what one reads.
                one, two = (model_rows(library, folder, threads) for threads in (1, 2))
                for table in (t for t in one if one[t] != two[t]):
                    failed += 1
                    print(f"{profile}: {table} differs by the number of threads")
                if tables < 15:
                    failed += 1
                    print(f"{profile}: the oracle made only {tables} tables")
    print("FAILED" if failed else "ok")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
