"""Debian's Python: the sqlite3 module, threads of their own connections, and the pandas example."""
import sqlite3
import subprocess
import threading

from common import PROFILE, ROOT, ROWS, check, library


def connect():
    connection = sqlite3.connect(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(library())
    return connection


def rows():
    connection = connect()
    connection.execute("SELECT profana_open('run', ?)", (PROFILE,)).fetchone()
    out = connection.execute("SELECT op_type, calls, total_ns FROM hot_op").fetchall()
    connection.close()
    return out


check(rows(), "python sqlite3")

results = []
threads = [threading.Thread(target=lambda: results.append(rows())) for _ in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert results == [ROWS] * 4, results

done = subprocess.run(["/usr/bin/python3", f"{ROOT}/examples/python/hot_operators.py", PROFILE, library()], text=True,
                      capture_output=True, check=False)
lines = [line.split() for line in done.stdout.splitlines()]
assert ["MatMulV2", "20", "136.160", "0.784"] in lines and ["Gelu", "15", "37.600", "0.216"] in lines, done.stdout + done.stderr
print("python pandas: ok")
