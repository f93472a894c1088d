"""Functions that promise what Python does, held against Python itself: rounding, texts of numbers and lists,
and the block matcher against difflib."""
import difflib
import json
import random
import sqlite3
import struct
import sys

db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
rng = random.Random(20240911)
failures = 0


def check(call, arguments, expected):
    global failures
    found = db.execute("SELECT " + call, arguments).fetchone()[0]
    same = type(found) is type(expected) and repr(found) == repr(expected)
    if not same:
        failures += 1
        if failures <= 20:
            print(f"{call} of {arguments!r}: {found!r}, expected {expected!r}")


def reals():
    """Doubles of all sizes: any bits, short decimals, exact ties, and the edges."""
    yield from (0.0, -0.0, 0.5, 1.5, 2.5, 0.015, 2.675, 1.005, -0.001, 1e15, 1e16, 9999999999999998.0, 1e22, 1e23,
                5e-324, 1.7976931348623157e308, 2.0**53, 2.0**63, 0.1, 1 / 3, float("inf"), float("-inf"))
    for _ in range(3000):
        bits = rng.getrandbits(64)
        value = struct.unpack("<d", struct.pack("<Q", bits))[0]
        if value == value:
            yield value
    for _ in range(3000):
        yield round(rng.uniform(-1000, 1000), rng.randrange(6))
    for _ in range(3000):  # a tie at the last binary digits
        yield rng.randrange(-(10**6), 10**6) / 2 ** rng.randrange(8)
    for _ in range(1000):
        yield rng.uniform(-1, 1) * 10 ** rng.randrange(-20, 25)


for x in reals():
    for digits in (rng.randrange(-5, 0), rng.randrange(8), 2, 4):
        if x in (float("inf"), float("-inf")):
            check("round_even(?, ?)", (x, digits), x)
        else:
            try:
                check("round_even(?, ?)", (x, digits), round(x, digits))
            except OverflowError:  # Python refuses to round up to infinity
                check("round_even(?, ?)", (x, digits), float("inf") if x > 0 else float("-inf"))
    check("repr_real(?)", (x,), repr(x))
    check("python_format('<{}|{}>', ?, ?)", (x, digits), "<{}|{}>".format(x, digits))
    digits = rng.randrange(20)
    check("fixed(?, ?)", (x, digits), f"{x:.{digits}f}")
    check("round_even(?)", (x,), x if x in (float("inf"), float("-inf")) else round(x, 0))

for _ in range(3000):
    n = rng.randrange(-(10 ** rng.randrange(1, 18)), 10 ** rng.randrange(1, 18))
    digits = rng.randrange(-19, 3)
    check("round_even(?, ?)", (n, digits), round(n, digits))
    sign, size = ("-" if n < 0 else ""), abs(n)
    check("format_us(?)", (n,), f"{sign}{size // 1000}.{size % 1000:03d}")
for n, digits in ((2**63 - 1, -30), (-(2**63), 0), (-(2**63), -30)):
    check("round_even(?, ?)", (n, digits), round(n, digits))
try:
    db.execute("SELECT round_even(9223372036854775807, -1)").fetchone()
    failures += 1
    print("round_even beyond 64 bits is no error")
except sqlite3.OperationalError as error:
    assert "is larger than a 64-bit INTEGER" in str(error), error


def value(depth):
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.randrange(-(2**63), 2**64)
    if kind == 2:
        return rng.choice([rng.random() * 10 ** rng.randrange(-12, 30), 1e16, 0.1, 10.0, -0.0])
    if kind <= 5:
        return "".join(rng.choice("ab'\"\\\n\r\t\x01\x7f\x85\xa0\xe9\u4e2d\U0001f600 ") for _ in range(rng.randrange(6)))
    if kind == 6:
        return {f"k{i}'": value(depth + 1) for i in range(rng.randrange(3))}
    return [value(depth + 1) for _ in range(rng.randrange(4))]


for _ in range(4000):
    v = value(0)
    text = json.dumps(v, ensure_ascii=rng.random() < 0.5)
    check("python_repr(?)", (text,), repr(v) if isinstance(v, (list, dict)) else text)
for text in ("", "  ", "N/A", "34,4096;7,128", "[1,", "{", "[1] x", "float"):
    check("python_repr(?)", (text,), text)
check("python_repr(?)", (" [ [2,3] , [] ]",), "[[2, 3], []]")


def blocks(a, b):
    rows, i, j = [], 0, 0
    for x, y, length in difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks():
        rows += [(k, None) for k in range(i, x)] + [(None, k) for k in range(j, y)]
        rows += [(x + k, y + k) for k in range(length)]
        i, j = x + length, y + length
    return rows


def mutated(items, names):
    out = list(items)
    for _ in range(rng.randrange(12)):
        at = rng.randrange(len(out) + 1)
        if rng.random() < 0.5 and at < len(out):
            del out[at]
        else:
            out.insert(at, rng.randrange(names + 1))
    return out


for round_number in range(1500):
    names, size = rng.choice([1, 2, 3, 8, 30]), rng.choice([5, 20, 80, 200])
    a = [rng.randrange(names) for _ in range(rng.randrange(size))]
    if round_number % 3 == 0:
        a = (a[: rng.randrange(1, 8)] * size)[:size]
    b = mutated(a, names) if round_number % 2 else [rng.randrange(names) for _ in range(rng.randrange(size))]
    found = db.execute("SELECT base_index, comparison_index FROM sequence_match(?, ?) ORDER BY ordinal",
                       (json.dumps(a), json.dumps(b))).fetchall()
    if found != blocks(a, b):
        failures += 1
        print(f"sequence_match of {a} and {b}")

if failures:
    sys.exit(f"{failures} differences from Python")
