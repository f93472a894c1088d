"""The tables that the reader makes of a database against the oracle, which reads it with plain SQL and Python."""
import os
import sys
import tempfile

from held_against_oracle import GOLDEN, compare, rank_folders

PROFILES = ["db_db/base", "db_db/comparison", "ms_db/base", "ms_db/comparison", "cluster/base"]


def main():
    library, failed = sys.argv[1], 0
    with tempfile.TemporaryDirectory() as scratch:
        for profile in PROFILES:
            for folder in rank_folders(os.path.join(GOLDEN, profile)):
                tables, differences = compare(library, folder, scratch, any_order={})
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
