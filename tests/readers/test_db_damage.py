"""Damaged databases: whatever the bytes, there is an answer or an error, never a crash or a hang."""
import os
import random
import sqlite3
import sys
import tempfile
import time

from test_db_missing import ANALYSIS, DATABASE, GOLDEN, Reader, small_copy

ROUNDS, SEED, PATIENCE_S = 90, 20261129, 20


def flipped(data, rng):
    """A few bytes anywhere."""
    for _ in range(rng.choice((1, 3, 20, 200))):
        data[rng.randrange(len(data))] = rng.randrange(256)


def flipped_head(data, rng):
    """A few bytes of the header and the first page, which holds the schema."""
    for _ in range(rng.choice((1, 2, 8))):
        data[rng.randrange(min(4096, len(data)))] = rng.randrange(256)


def cut(data, rng):
    del data[rng.randrange(len(data)):]


def blank_page(data, rng):
    page = rng.randrange(len(data) // 4096) * 4096
    data[page:page + 4096] = bytes([rng.choice((0, 255))]) * 4096


def swapped_pages(data, rng):
    a, b = (rng.randrange(1, len(data) // 4096) * 4096 for _ in range(2))
    data[a:a + 4096], data[b:b + 4096] = data[b:b + 4096], data[a:a + 4096]


def main():
    reader, rng, failed, answers = Reader(sys.argv[1]), random.Random(SEED), 0, {}
    with tempfile.TemporaryDirectory() as scratch:
        whole = os.path.join(scratch, "whole.db")
        small_copy(os.path.join(GOLDEN, DATABASE), whole)
        with open(whole, "rb") as f:
            healthy = f.read()
        for number in range(ROUNDS):
            damage = (flipped, flipped_head, cut, blank_page, swapped_pages)[number % 5]
            data = bytearray(healthy)
            damage(data, rng)
            folder = os.path.join(scratch, str(number))
            os.mkdir(folder)
            with open(os.path.join(folder, DATABASE), "wb") as f:
                f.write(data)
            small_copy(os.path.join(GOLDEN, ANALYSIS), os.path.join(folder, ANALYSIS))
            begin = time.monotonic()
            try:
                reader.read(folder)
                answer = "rows"
            except sqlite3.Error as error:
                answer = "error"
                if "profana" not in str(error) and "not an error" in str(error):
                    failed += 1
                    print(f"round {number} ({damage.__name__}): an error that says nothing: {error}")
            answers[answer] = answers.get(answer, 0) + 1
            if time.monotonic() - begin > PATIENCE_S:
                failed += 1
                print(f"round {number} ({damage.__name__}): took {time.monotonic() - begin:.0f} s")
    print(f"{answers}, {failed} findings")
    return 1 if failed or answers.get("rows", 0) < 10 or answers.get("error", 0) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
