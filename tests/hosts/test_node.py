"""Node: better-sqlite3 12, a newer SQLite without double-quoted strings. Its package is installed by `npm ci` in examples/node."""
import subprocess
import sys

from common import PROFILE, ROOT, check, library, words

done = subprocess.run(["node", f"{ROOT}/examples/node/hot_operators.mjs", PROFILE, library()], text=True, capture_output=True)
if done.returncode:
    sys.exit(done.stderr)
check(words(done.stdout), "better-sqlite3")
