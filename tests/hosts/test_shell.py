"""The sqlite3 shell: .load, load_extension(), a second load, and the example script."""
import subprocess

from common import PROFILE, ROOT, check, library

LOAD = library().removesuffix(".so")


def shell(*argv, script=""):
    return subprocess.run(["sqlite3", "-batch", ":memory:", *argv], input=script, text=True, capture_output=True, check=True).stdout


with open(f"{ROOT}/examples/shell/hot_operators.sql", encoding="utf-8") as f:
    text = shell("-cmd", f".load {LOAD}", "-cmd", f".param set :profile '{PROFILE}'", script=f.read())
check([(a, int(b), int(c)) for a, b, c in (line.split("|") for line in text.splitlines() if line.count("|") == 2)], "sqlite3 shell")

assert shell(f"SELECT load_extension('{LOAD}')", "SELECT profana_version()").strip().startswith("v")
twice = shell("-cmd", f".load {LOAD}", "-cmd", f".load {LOAD}", "SELECT count(*) > 0 FROM profana_help")
assert twice.strip() == "1", twice
