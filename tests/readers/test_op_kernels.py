"""What prof_host_op tells of launched kernels, against prof_launch and prof_kernel row by row; and the lookup of rows by alias and id."""
import collections
import glob
import os

from checks import LIBRARY, check, run
from held_against_oracle import GOLDEN, HERE, load


def expected(db):
    """{(profile, op): (count, names, ns)} of the operators that launched kernels, from the links and kernels alone"""
    kernels = {(profile, id): row for profile, id, *row in
               db.execute("SELECT profile, id, name, start_ns, dur_ns, is_communication FROM prof_kernel")}
    launched = collections.defaultdict(list)
    for profile, op, kernel in db.execute("SELECT profile, host_op_id, kernel_id FROM prof_launch"):
        if op is not None and kernel is not None:
            launched[profile, op].append(kernel)
    out = {}
    for (profile, op), ids in launched.items():
        computing = [(start is not None, start, id, name, dur) for id in ids
                     for name, start, dur, communication in [kernels[profile, id]] if communication != 1]
        names = [name for *_, name, _ in sorted(computing, key=lambda k: k[:3]) if name is not None]
        out[profile, op] = (len(ids), ", ".join(names) or None, sum(dur or 0 for *_, dur in computing))
    return out


def against_links(_):
    """The golden profiles of every kind, both sides open, so that ids of different profiles are alike."""
    seen = 0
    for case in sorted(glob.glob(os.path.join(GOLDEN, "*", ""))) + [os.path.join(HERE, "..", "data", "text_and_db", "")]:
        sides = [path for path in sorted(glob.glob(os.path.join(case, "*"))) if os.path.isdir(path) and "expected" not in path]
        db = load(LIBRARY)
        for i, path in enumerate(sides):
            db.execute("SELECT profana_open(?, ?)", (f"side {i}", path)).fetchall()
        want = expected(db)
        got = {(profile, op): tuple(row) for profile, op, *row in
               db.execute("SELECT profile, id, kernel_count, kernel_names, kernel_ns FROM prof_host_op WHERE kernel_count > 0")}
        check(f"{case}: operators with kernels", got, want)
        others = set(db.execute("SELECT kernel_count, kernel_names, kernel_ns FROM prof_host_op WHERE kernel_count IS NOT 0 "
                                "AND (profile, id) NOT IN (SELECT profile, host_op_id FROM prof_launch WHERE kernel_id NOT NULL "
                                "AND host_op_id NOT NULL)"))
        check(f"{case}: others", others - {(None, None, None)}, set())
        seen += len(want)
    check("operators were compared", seen > 1000, True)


def unknown(_):
    """A profile without launches does not know; what it lacks is NULL, the rest is there."""
    db = load(LIBRARY)
    path = os.path.join(GOLDEN, "ms_db", "base")
    db.execute("SELECT profana_open('x', ?)", (path,)).fetchall()
    has_launches = db.execute("SELECT count(*) FROM prof_launch").fetchone()[0] > 0
    rows = set(db.execute("SELECT kernel_count IS NULL, kernel_names IS NULL, kernel_ns IS NULL, name IS NULL FROM prof_host_op"))
    check("the case has none", has_launches, False)
    check("unknown", rows, {(1, 1, 1, 0)})


def by_alias_and_id(_):
    """Rows asked for by alias and id, as in joins: operands of every type, either order, aliases that look like numbers."""
    db = load(LIBRARY)
    path = os.path.join(GOLDEN, "db_db", "base")
    for alias in ("base", "1", "2"):
        db.execute("SELECT profana_open(?, ?)", (alias, path)).fetchall()
    db.execute("CREATE TEMP TABLE kernel AS SELECT profile, rank, id, name, start_ns FROM prof_kernel")
    db.execute("CREATE TEMP TABLE typed(profile TEXT, rank INTEGER, id INTEGER, name TEXT, start_ns INTEGER)")
    db.execute("INSERT INTO typed SELECT * FROM kernel")
    db.execute("CREATE TEMP TABLE asked(alias TEXT, id)")
    db.executemany("INSERT INTO asked VALUES (?, ?)",
                   [(alias, id) for alias in ("base", "1", "1.0", b"1", None, "BASE", "") for id in
                    (1, 2, 2.0, 2.5, "3", "x", b"3", None, 0, -1, 10**9, 2**62, 1e300)])
    for on in ("k.profile = a.alias AND k.id = a.id", "k.id = a.id AND k.profile = a.alias", "a.id IS k.id AND k.profile IS a.alias",
               "k.id = +a.id AND k.profile = CAST(a.alias AS TEXT)", "k.profile = a.alias AND k.id = a.id AND k.rank IS 0",
               "k.profile = a.alias AND k.id = a.id AND k.name NOT NULL"):
        for join in ("JOIN", "LEFT JOIN"):
            query = f"SELECT typeof(a.alias), a.alias, typeof(a.id), a.id, k.profile, k.id, k.start_ns FROM asked AS a {join} {{}} AS k ON {on}"
            got, want = (sorted(map(repr, db.execute(query.format(table)))) for table in ("prof_kernel", "typed"))
            check(f"{join} ON {on}: rows that only one has", sorted(set(got) ^ set(want))[:5], [])
            check(f"{join} ON {on}: number of rows", len(got), len(want))
    for where in ("profile = 1", "profile = '1'", "profile = 1.0", "profile IN (1, 2)", "profile = 3", "profile = '1.0'", "profile IS 1"):
        got, want = (db.execute(f"SELECT profile, count(*) FROM {table} WHERE {where} GROUP BY profile").fetchall()
                     for table in ("prof_kernel", "typed"))
        check(where, got, want)
    # A statement that was prepared before such an alias was opened.
    for query in ("SELECT count(*) FROM prof_kernel WHERE profile = 7", "SELECT count(*) FROM prof_kernel WHERE profile IS 7"):
        check(query, db.execute(query).fetchone(), (0,))
    db.execute("SELECT profana_open('7.0', ?)", (path,)).fetchall()
    for query in ("SELECT count(*) FROM prof_kernel WHERE profile = 7", "SELECT count(*) FROM prof_kernel WHERE profile IS 7"):
        check(f"{query}, with alias 7.0", db.execute(query).fetchone(), (0,))
    check("there are rows", db.execute("SELECT count(*) FROM asked AS a JOIN prof_kernel AS k ON k.profile = a.alias "
                                       "AND k.id = a.id").fetchone(), (8,))


run(against_links, unknown, by_alias_and_id)
