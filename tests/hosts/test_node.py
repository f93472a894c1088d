"""Node: better-sqlite3 12, a newer SQLite without double-quoted strings. Its package is installed by `npm ci` in examples/node.

SQLite of another version plans other ways: every view must give as many rows there as in this Python's SQLite.
"""
import os
import sqlite3
import subprocess
import sys

from common import PROFILE, ROOT, check, library, words


def node(script, *arguments):
    done = subprocess.run(["node", script, *arguments], text=True, capture_output=True, cwd=f"{ROOT}/examples/node")
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def rows_here(base, comparison):
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(library())
    db.execute("SELECT profana_open('base', ?), profana_open('comparison', ?)", (base, comparison)).fetchall()
    views = db.execute("SELECT name FROM sqlite_temp_schema WHERE type = 'view' AND name NOT GLOB '_*' ORDER BY name").fetchall()
    return "".join(f"{name} {len(db.execute(f'SELECT * FROM {name}').fetchall())}\n" for (name,) in views)


check(words(node(f"{ROOT}/examples/node/hot_operators.mjs", PROFILE, library())), "better-sqlite3")
for case in ("examples/tinymlp/04_pytorch examples/tinymlp/05_pytorch_slow", "tests/golden/db_db/base tests/golden/db_db/comparison",
             "tests/golden/gpu_text/base tests/golden/gpu_text/comparison", "tests/golden/text_text/base tests/golden/ms_db/base"):
    base, comparison = (os.path.join(ROOT, path) for path in case.split())
    there, here = node(f"{ROOT}/tests/hosts/every_view.mjs", library(), base, comparison), rows_here(base, comparison)
    if there != here:
        sys.exit(f"{case}: " + "\n".join(a for a, b in zip(there.splitlines(), here.splitlines(), strict=True) if a != b))
    print(f"{case}: {here.count(chr(10))} views")
