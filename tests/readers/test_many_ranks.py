"""Rows of several ranks and profiles, asked for by profile, rank and ids in every way, against plain tables with the same rows."""
import os
import random

from checks import LIBRARY, check, run
from held_against_oracle import GOLDEN, load

TABLES = {
    "prof_host_op": ["id", "parent_id", "root_id", "thread_parent_id"],
    "prof_kernel": ["id"],
    "prof_launch": ["id", "host_op_id", "kernel_id", "device_task_id", "comm_op_id"],
    "prof_device_task": ["id", "kernel_id"],
}
SOURCE = 1 << 32  # ids of one source


def opened(second):
    """Two ranks in one profile, the same again under a second alias, and a profile of one rank."""
    db = load(LIBRARY)
    for alias, path in (("run", "cluster/base"), (second, "cluster/base"), ("other", "db_db/base")):
        db.execute("SELECT profana_open(?, ?)", (alias, os.path.join(GOLDEN, path))).fetchall()
    for table in TABLES:
        # with the types of the columns, which decide how SQLite compares
        columns = ", ".join(f"{name} {type_}" for _, name, type_, *_ in db.execute(f"PRAGMA table_info({table})"))
        db.execute(f"CREATE TEMP TABLE plain_{table}({columns})")
        db.execute(f"INSERT INTO plain_{table} SELECT * FROM {table}")
    return db


def operand_of_id(db, rng, table, column):
    known = db.execute(f"SELECT {column} FROM plain_{table} WHERE {column} IS NOT NULL ORDER BY {column} LIMIT 1 OFFSET ?",
                       (rng.randrange(1000),)).fetchone()
    value = known[0] if known else rng.choice((1, SOURCE + 1))
    return rng.choice((value, value, value, value + SOURCE, value - SOURCE, -value, 0, float(value), str(value), f"{value}.0", "x",
                       None, 2**63 - 1, -2**63))


def random_query(db, rng, table):
    """-> (condition, operands)"""
    terms, operands = [], []

    def add(column, *values):
        operator = rng.choice(("=", "=", "IS", "IN"))
        terms.append(f"{column} IN (?, ?)" if operator == "IN" else f"{column} {operator} ?")
        operands.extend(rng.choices(values, k=2 if operator == "IN" else 1))

    if rng.random() < 0.9:
        add("profile", "run", "run", "other", "again", "7", 7, 7.0, "7.0", "none", None)
    if rng.random() < 0.5:
        add("rank", 0, 1, 1, 2, "1", 1.0, None)
    if rng.random() < 0.8:
        column = rng.choice(TABLES[table])
        add(column, *(operand_of_id(db, rng, table, column) for _ in range(3)))
    return " AND ".join(terms) or "1", operands


def against_plain_tables(_):
    for second in ("again", "7"):  # the planner's shortcuts do not hold where an alias may equal a number
        ask_at_random(opened(second), random.Random(1))


def ask_at_random(db, rng):
    found = 0
    for _ in range(1000):
        table = rng.choice(list(TABLES))
        condition, operands = random_query(db, rng, table)
        ask = f"SELECT profile, rank, id FROM {{}}{table} WHERE {condition} ORDER BY 1, 2, 3"
        want = db.execute(ask.format("plain_"), operands).fetchall()
        check(f"{table} WHERE {condition} {operands}", db.execute(ask.format(""), operands).fetchall(), want)
        found += bool(want)
    check("queries that find something", found > 150, True)


def joins(_):
    """Each row of one table asks the other for its own."""
    db = opened("again")
    for join in ("prof_launch AS a CROSS JOIN {0}prof_host_op AS b ON b.profile = a.profile AND b.id = a.host_op_id",
                 "prof_host_op AS a CROSS JOIN {0}prof_launch AS b ON b.profile = a.profile AND b.host_op_id = a.id",
                 "prof_host_op AS a CROSS JOIN {0}prof_launch AS b ON b.profile = a.profile AND b.rank IS a.rank AND b.host_op_id = a.id",
                 "prof_launch AS a CROSS JOIN {0}prof_kernel AS b ON b.profile = a.profile AND b.rank = a.rank AND b.id = a.kernel_id",
                 "prof_host_op AS a CROSS JOIN {0}prof_host_op AS b ON b.profile = a.profile AND b.parent_id = a.id"):
        ask = f"SELECT a.profile, a.id, b.id FROM {join} ORDER BY 1, 2, 3"
        want = db.execute(ask.format("plain_")).fetchall()
        check(join, db.execute(ask.format("")).fetchall(), want)
        check(join + ": rows", len(want) > 100, True)


run(against_plain_tables, joins)
