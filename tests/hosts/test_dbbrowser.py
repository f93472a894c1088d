"""DB Browser for SQLite, without a display: the example script makes its table in the opened file."""
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

from common import PROFILE, ROOT, check, library

PATIENCE_S = 60


def table_of(database):
    try:
        return sqlite3.connect(database).execute("SELECT op_type, calls, total_ns FROM hot_operators").fetchall()
    except sqlite3.OperationalError:
        return None  # not made yet


if shutil.which("sqlitebrowser") is None:
    print("DB Browser: skipped, there is no sqlitebrowser here (apt install sqlitebrowser)")
    sys.exit(0)
with open(f"{ROOT}/examples/dbbrowser/hot_operators.sql", encoding="utf-8") as f:
    sql = f.read().replace("@PROFILE@", PROFILE)
with tempfile.TemporaryDirectory() as folder:
    script, database = f"{folder}/hot_operators.sql", f"{folder}/run.db"
    with open(script, "w", encoding="utf-8") as f:
        f.write(sql)
    open(database, "w", encoding="utf-8").close()
    # It has no way to leave by itself after a script (-q leaves before it), and reads the settings of HOME.
    browser = subprocess.Popen(["sqlitebrowser", "-o", f"extensions/list={library()}", "-s", script, "-t", "hot_operators", database],
                               env=os.environ | {"QT_QPA_PLATFORM": "offscreen", "HOME": folder, "XDG_RUNTIME_DIR": folder},
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + PATIENCE_S
        while (rows := table_of(database)) is None and browser.poll() is None and time.monotonic() < end:
            time.sleep(0.2)
    finally:
        browser.kill()
        browser.wait()
    check(rows, "DB Browser")
