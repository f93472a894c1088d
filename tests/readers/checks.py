"""What tests of the readers share: a profile opened, errors that must come, and a list of what is not as expected."""
import json
import os
import sqlite3
import sys
import tempfile

from held_against_oracle import load

LIBRARY = sys.argv[1]
FAILURES = []


def check(what, got, want):
    if got != want:
        FAILURES.append(f"{what}: got {got!r}, want {want!r}")


def refused(what, words, sql, *values, db=None):
    """The statement must fail, with these words in its message."""
    try:
        (db or load(LIBRARY)).execute(sql, values).fetchall()
    except sqlite3.Error as error:
        missing = [w for w in words if w not in str(error)]
        if missing:
            FAILURES.append(f"{what}: the message lacks {missing}: {error}")
    else:
        FAILURES.append(f"{what}: no error")


def opened(path, options=None):
    db = load(LIBRARY)
    db.execute("SELECT profana_open('x', ?, ?)", (path, json.dumps(options) if options else None)).fetchall()
    return db


def write(path, content):
    """A file and the folders above it"""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(content if isinstance(content, bytes) else content.encode())
    return path


def finish():
    print("\n".join(FAILURES) or "ok")
    sys.exit(1 if FAILURES else 0)


def run(*parts):
    """Each part with an empty folder of its own."""
    for part in parts:
        with tempfile.TemporaryDirectory() as scratch:
            part(os.path.realpath(scratch))
    finish()
