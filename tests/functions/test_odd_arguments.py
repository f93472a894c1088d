"""Every function with every kind of odd argument: a value, NULL, or an error that names the function, and nothing else.

The functions and the numbers of their arguments are those that profana_help lists. A call may not crash, hang or take much memory.
"""
import itertools
import os
import random
import re
import resource
import signal
import sqlite3
import sys

ODD = [None, "", "text", '{"a": 1}', "[1, 2]", "[[1, 2], [3, 4]]", "[[9223372036854775807, 1]]", "[", "1,2;3,4", 0, 1, -1, 2**63 - 1, -2**63, 0.5,
       1e308, float("inf"), float("-inf"), b"", b"\xff\x00", "\udcff".encode("utf-8", "surrogateescape").decode("latin-1"), "é" * 3000]
TABLES = {"interval_each": (1, 1), "interval_gaps": (2, 2), "interval_classes": (1, 3), "interval_join": (2, 2), "sequence_match": (2, 3)}
MOST_CALLS = 500    # of one function with one number of arguments


def connect(library):
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(os.path.abspath(library).removesuffix(".so"))
    return db


def functions(db):
    """{name: (fewest, most arguments)} of all that is called like a function; what opens files is for other tests."""
    out = dict(TABLES)
    for name, signature in db.execute("SELECT name, signature FROM profana_help WHERE kind = 'function' AND name NOT LIKE 'profana\\_%' ESCAPE '\\'"):
        inside = signature[signature.index("(") + 1:signature.rindex(")")]
        needed = [part for part in inside.split("[")[0].split(",") if part.strip()]
        every = [part for part in re.sub(r"[\[\]]", "", inside).split(",") if part.strip()]
        variadic = "..." in inside
        out[name] = (1, 3) if variadic else (len(needed), len(every))
    return out


def argument_lists(count, chance):
    if len(ODD)**count <= MOST_CALLS:
        return itertools.product(ODD, repeat=count)
    return ([chance.choice(ODD) for _ in range(count)] for _ in range(MOST_CALLS))


def call(db, name, values):
    marks = ", ".join("?" * len(values))
    if name in TABLES:
        return db.execute(f"SELECT * FROM {name}({marks}) LIMIT 100", values).fetchall()
    try:
        return db.execute(f"SELECT {name}({marks})", values).fetchall()
    except sqlite3.OperationalError as error:
        if "misuse of window function" not in str(error):
            raise
        return db.execute(f"SELECT {name}({marks}) OVER ()", values).fetchall()


def main():
    signal.alarm(120)
    if "asan" not in os.environ.get("LD_PRELOAD", ""):  # whose shadow memory takes more addresses than that
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    db = connect(sys.argv[1])
    chance = random.Random(1)
    wrong, calls, answers, refusals = [], 0, 0, 0
    for name, (fewest, most) in sorted(functions(db).items()):
        told = set()
        for count in range(fewest, most + 1):
            for values in argument_lists(count, chance):
                calls += 1
                try:
                    call(db, name, values)
                    answers += 1
                except sqlite3.Error as error:
                    refusals += 1
                    if not str(error).startswith(name + ": ") or re.search(r"std::|bad_alloc|vector|basic_string|out of memory", str(error)):
                        wrong.append(f"{name}{tuple(str(v)[:30] for v in values)}: {error}")
                    told.add(str(error))
        if any(len(text) > 1000 for text in told):
            wrong.append(f"{name}: an error of {max(map(len, told))} characters")
    print("\n".join(wrong[:40]))
    print(f"{calls} calls: {answers} answered, {refusals} refused, {len(wrong)} wrong")
    sys.exit(1 if wrong or refusals < 1000 or answers < 1000 else 0)


if __name__ == "__main__":
    main()
