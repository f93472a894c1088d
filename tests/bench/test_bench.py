"""The benchmark works: every question on small inputs, the answers of the tools that are there equal to ours.

  test_bench.py LIBRARY
"""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECTIONS = ("kernel_details.csv,", "the same, warm", "trace_1m.json,", "trace_1m.json.gz,", "trace_5m.json,", "A trace of ",
            "join of two tables", "DuckDB read_csv", "pandas read_csv", "sqlite3 .import", "DuckDB read_json", "json_each",
            "SQLite tables with an index", "peak over it", "intervals in order", "intervals in no order", "SQLite window function",
            "a loop, one item", "one name, and once", "Python difflib")


def main():
    done = subprocess.run([sys.executable, os.path.join(ROOT, "bench", "run.py"), "--quick", "--lib", sys.argv[1]],
                          capture_output=True, text=True, check=False)
    missing = [section for section in SECTIONS if section not in done.stdout]
    answers = [line for line in done.stdout.split("\n") if "sqlite3 .import" in line or "json_each" in line]
    wrong = [line for line in answers if "equal" not in line and "off by up to" not in line]
    if done.returncode or missing or wrong:
        print(done.stdout, done.stderr, f"missing: {missing}", f"wrong: {wrong}", sep="\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
