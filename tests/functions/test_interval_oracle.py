"""Every interval function on small universes against a bitmap, and the aggregates against SQLite's own window functions.

An instant is a bit: [2, 5) is the instants 2, 3 and 4. What a function must answer is counted from the bits.
"""
import itertools
import json
import os
import random
import sqlite3
import sys

LOW, HIGH = -6, 18
ROUNDS = 400
FAILURES = []


def check(what, got, want):
    if got != want:
        FAILURES.append(f"{what}: got {got!r}, want {want!r}")


def instants(intervals):
    return {t for start, end in intervals for t in range(start, end)}


def runs(bits):
    """The sorted intervals that bits make up; what touches is one."""
    out = []
    for t in sorted(bits):
        if out and out[-1][1] == t:
            out[-1][1] = t + 1
        else:
            out.append([t, t + 1])
    return out


def some(chance, most=6):
    return [sorted(chance.choices(range(LOW, HIGH + 1), k=2)) for _ in range(chance.randrange(most))]


class Bitmaps:
    def __init__(self, db):
        self.db = db

    def value(self, sql, *values):
        return self.db.execute("SELECT " + sql, values).fetchone()[0]

    def rows(self, sql, *values):
        return self.db.execute(sql, values).fetchall()

    def set_of(self, intervals):
        return self.value("interval_from_json(?)", json.dumps(intervals))

    def shown(self, blob):
        return json.loads(self.value("interval_json(?)", blob))

    def aggregates(self, intervals):
        self.db.execute("DELETE FROM span")
        self.db.executemany("INSERT INTO span VALUES (?, ?)", intervals)
        bits = instants(intervals)
        (blob, covered, depth), = self.rows("SELECT interval_agg(a, b), interval_coverage(a, b), interval_depth_max(a, b) FROM span")
        # No rows make NULL, as for sum(); intervals without length cover nothing.
        check(f"interval_agg {intervals}", blob if blob is None else self.shown(blob), runs(bits) if intervals else None)
        check(f"interval_coverage {intervals}", covered, len(bits) if intervals else None)
        deepest = max(sum(a <= t < b for a, b in intervals) for t in range(LOW, HIGH))
        check(f"interval_depth_max {intervals}", depth, deepest if intervals else None)
        # The same by window functions: islands by the highest end so far, depth by a running sum of starts and ends.
        check(f"islands {intervals}", covered or 0, self.value(
            "coalesce(sum(max(b - max(a, coalesce(reached, a)), 0)), 0) FROM (SELECT a, b, max(b) OVER (ORDER BY a, b ROWS BETWEEN UNBOUNDED "
            "PRECEDING AND 1 PRECEDING) AS reached FROM span WHERE b > a)"))
        check(f"running sum {intervals}", depth or 0, self.value(
            "coalesce(max(open), 0) FROM (SELECT sum(step) OVER (ORDER BY t, step ROWS UNBOUNDED PRECEDING) AS open FROM "
            "(SELECT a AS t, 1 AS step FROM span WHERE b > a UNION ALL SELECT b, -1 FROM span WHERE b > a))"))
        for (a, b, covered), seen in zip(self.rows("SELECT a, b, interval_coverage(a, b) OVER (ORDER BY rowid) FROM span"),
                                         range(1, len(intervals) + 1)):
            check(f"running coverage {intervals} {a} {b}", covered, len(instants(intervals[:seen])))

    def one_set(self, intervals, chance):
        blob, bits = self.set_of(intervals), instants(intervals)
        islands = runs(bits)
        check(f"interval_json {intervals}", self.shown(blob), islands)
        check(f"interval_length {intervals}", self.value("interval_length(?)", blob), len(bits))
        check(f"interval_count {intervals}", self.value("interval_count(?)", blob), len(islands))
        check(f"interval_each {intervals}", self.rows('SELECT start, "end" FROM interval_each(?)', blob), [tuple(i) for i in islands])
        for t in range(LOW - 1, HIGH + 1):
            check(f"interval_contains {intervals} {t}", self.value("interval_contains(?, ?)", blob, t), int(t in bits))
        low, high = sorted(chance.choices(range(LOW - 2, HIGH + 3), k=2))
        window = set(range(low, high))
        check(f"interval_clip {intervals} {low} {high}", self.shown(self.value("interval_clip(?, ?, ?)", blob, low, high)), runs(bits & window))
        rest = self.shown(self.value("interval_complement(?, ?, ?)", blob, low, high))
        check(f"interval_complement {intervals} {low} {high}", rest, runs(window - bits))
        for shortest in (None, 1, 2, 4):
            gaps = [(a[1], b[0], b[0] - a[1]) for a, b in itertools.pairwise(islands) if b[0] - a[1] >= (shortest or 1)]
            asked = (blob,) if shortest is None else (blob, shortest)
            marks = ", ".join("?" * len(asked))
            check(f"interval_gaps {intervals} {shortest}", self.rows(f'SELECT start, "end", length FROM interval_gaps({marks})', *asked), gaps)

    def several_sets(self, lists):
        blobs, bits = [self.set_of(i) for i in lists], [instants(i) for i in lists]
        marks = ", ".join("?" * len(lists))
        check(f"interval_union {lists}", self.shown(self.value(f"interval_union({marks})", *blobs)), runs(set().union(*bits)))
        check(f"interval_intersect {lists}", self.shown(self.value(f"interval_intersect({marks})", *blobs)), runs(set.intersection(*bits)))
        rows = ", ".join("(?)" for _ in lists)
        merged = self.shown(self.value(f"interval_union_agg(column1) FROM (VALUES {rows})", *blobs))
        check(f"interval_union_agg {lists}", merged, runs(set().union(*bits)))
        classes = {}
        for t in set().union(*bits):
            mask = sum(1 << i for i, b in enumerate(bits) if t in b)
            classes[mask] = classes.get(mask, 0) + 1
        check(f"interval_classes {lists}", dict(self.rows(f"SELECT mask, length FROM interval_classes({marks})", *blobs)), classes)

    def two_sets(self, a, b):
        first, second, bits, others = self.set_of(a), self.set_of(b), instants(a), instants(b)
        check(f"interval_difference {a} {b}", self.shown(self.value("interval_difference(?, ?)", first, second)), runs(bits - others))
        overlaps = sorted((max(p[0], q[0]), min(p[1], q[1]), *p, *q) for p in runs(bits) for q in runs(others) if max(p[0], q[0]) < min(p[1], q[1]))
        found = self.rows('SELECT start, "end", a_start, a_end, b_start, b_end FROM interval_join(?, ?)', first, second)
        check(f"interval_join {a} {b}", found, overlaps)


def main():
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(os.path.abspath(sys.argv[1]).removesuffix(".so"))
    db.execute("CREATE TABLE span(a, b)")
    maps, chance = Bitmaps(db), random.Random(20)
    for _ in range(ROUNDS):
        maps.aggregates(some(chance))
        maps.one_set(some(chance), chance)
        maps.two_sets(some(chance), some(chance))
        maps.several_sets([some(chance) for _ in range(chance.randrange(1, 5))])
    known = {name for (name,) in db.execute("SELECT name FROM profana_help WHERE name LIKE 'interval%'")}
    with open(__file__, encoding="utf-8") as f:
        asked = f.read()
    check("functions that nothing asks", sorted(name for name in known if name + "(" not in asked), [])
    print("\n".join(FAILURES[:20]))
    print(f"{ROUNDS} rounds, {len(FAILURES)} wrong")
    sys.exit(1 if FAILURES else 0)


if __name__ == "__main__":
    main()
