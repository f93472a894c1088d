"""What tests of MFU share: a connection with one profile open, and the figures that are not as expected."""
import os
import sqlite3
import sys

LIBRARY = os.path.abspath(sys.argv[1])
failures, checked = [], []


def check(what, got, expected):
    checked.append(what)
    if got != expected:
        failures.append(f"{what}: {got!r}, expected {expected!r}")


def opened(path, options="{}"):
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(LIBRARY)
    db.execute("SELECT profana_open('run', ?, ?)", (path, options))
    return db


def finish():
    print("\n".join(failures) or f"{len(checked)} figures agree")
    sys.exit(1 if failures or not checked else 0)
