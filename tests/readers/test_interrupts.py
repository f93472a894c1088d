"""An interrupt, a lock or a file that changes while it is read: the statement says so, and the next one has the right rows."""
import gzip
import os
import sqlite3
import time

from checks import LIBRARY, check, run, write
from held_against_oracle import load
from test_db_missing import ANALYSIS, DATABASE, GOLDEN, small_copy


def interrupt_at(db, call):
    """The progress handler's call-th answer is to stop."""
    calls = iter(range(1, 1 << 40))
    db.set_progress_handler(lambda: next(calls) >= call, 1)


def error_of(db, sql, *values):
    try:
        db.execute(sql, values).fetchall()
    except sqlite3.Error as error:
        return str(error)
    finally:
        db.set_progress_handler(None, 0)
    return "no error"


def is_open(path):
    """By this process"""
    names = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
    return any(os.path.islink(name) and os.readlink(name) == path for name in names)


def main_database(path):
    db = sqlite3.connect(path, timeout=0)
    db.enable_load_extension(True)
    db.load_extension(LIBRARY)
    return db


def main_after_interrupt(scratch):
    """A first look at the main database that was stopped is made up for by the next statement."""
    path = os.path.join(scratch, DATABASE)
    small_copy(os.path.join(GOLDEN, DATABASE), path)
    count = "SELECT count(*) FROM prof_kernel"
    want, stopped = main_database(path).execute(count).fetchall(), 0
    for call in range(1, 60):
        db = main_database(path)
        interrupt_at(db, call)
        stopped += error_of(db, count) == "interrupted"
        check(f"main after an interrupt at call {call}", db.execute(count).fetchall(), want)
    check("some were interrupted", stopped > 5, True)


def main_after_lock(scratch):
    """The connection itself holds the lock, so SQLite reads its own tables and only a reader of the file has to wait."""
    path = os.path.join(scratch, DATABASE)
    small_copy(os.path.join(GOLDEN, DATABASE), path)
    count = "SELECT count(*) FROM prof_kernel"
    want = main_database(path).execute(count).fetchall()
    db = main_database(path)
    db.isolation_level = None
    db.execute("BEGIN EXCLUSIVE")
    begin = time.monotonic()
    for _ in range(9):
        check("main while it is locked", db.execute(count).fetchall(), [(0,)])
    check("a look at a second, not at a statement", time.monotonic() - begin < 2, True)
    told = "SELECT message FROM prof_diagnostic WHERE code = 'main_not_opened'"
    check("told once", ["is locked" in message for (message,) in db.execute(told)], [True])
    db.execute("COMMIT")
    deadline = time.monotonic() + 20
    while db.execute(count).fetchall() != want and time.monotonic() < deadline:
        time.sleep(0.1)
    check("main after a lock", db.execute(count).fetchall(), want)


def folders(scratch):
    for number in range(300):
        os.makedirs(os.path.join(scratch, str(number)))
    db = load(LIBRARY)
    interrupt_at(db, 5)
    check("a long walk", error_of(db, "SELECT profana_open('x', ?)", scratch), "interrupted")


def empty_members(scratch):
    """Of gzip, and nothing inflates from them."""
    path = write(os.path.join(scratch, "kernel_details.csv.gz"), gzip.compress(b"") * 200_000)
    db = load(LIBRARY)
    db.set_progress_handler(lambda: is_open(path), 1)  # stops once the file is being read
    check("nothing but empty members", error_of(db, "SELECT count(*) FROM kernel_details(?)", path), "interrupted")


def replaced(scratch):
    """Args are read again from the trace; one that is another file by then is an error."""
    event = '{"ph":"X","name":"n%d","ts":%d,"dur":1,"args":{"number":%d}},'
    path = os.path.join(scratch, "trace_view.json")
    for what, change in (("removed", lambda: os.remove(path)),
                         ("another", lambda: os.replace(write(path + ".new", "[" + " " * 99 + event % (1, 1, 1) + "{}]"), path))):
        write(path, "[" + "".join(event % (n, n, n) for n in range(400_000)) + "{}]")
        db, changed = load(LIBRARY), []
        db.execute("SELECT profana_set('threads', 1)").fetchall()

        def once():
            if not changed and is_open(path):
                changed.append(change())

        db.set_progress_handler(once, 1)
        said = error_of(db, "SELECT args FROM trace_event(?)", path)
        check(f"a trace {what} while it is read: {said}", (len(changed), "has changed since it was first read" in said), (1, True))


def ranks_told_once(scratch):
    for name in ("1_20240101000000000_ascend_pt", "1_20240201000000000_ascend_pt"):
        for file in (DATABASE, ANALYSIS):
            folder = os.path.join(scratch, name, "ASCEND_PROFILER_OUTPUT")
            os.makedirs(folder, exist_ok=True)
            small_copy(os.path.join(GOLDEN, file), os.path.join(folder, os.path.basename(file)))
    db, told = load(LIBRARY), "SELECT count(*), sum(count) FROM prof_diagnostic WHERE code IN ('rank_twice', 'ranks_unknown')"
    for _ in range(3):
        db.execute("SELECT profana_open('x', ?)", (scratch,)).fetchall()
    check("told once", db.execute(told).fetchall(), [(1, 1)])
    db.execute("SELECT profana_close('x')").fetchall()
    check("forgotten", db.execute(told).fetchall(), [(0, None)])


if __name__ == "__main__":
    run(main_after_interrupt, main_after_lock, folders, empty_members, replaced, ranks_told_once)
