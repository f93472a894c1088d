"""What the host tests share: the example profile, the rows that every host must print, and how to say what is wrong."""
import glob
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROFILE = glob.glob(os.path.join(ROOT, "examples/tinymlp/04_pytorch/*_ascend_pt"))[0]
# op_statistic.csv of the example: 20 MatMulV2 in 136.160 us, 15 Gelu in 37.600 us.
ROWS = [("MatMulV2", 20, 136160), ("Gelu", 15, 37600)]


def library():
    return os.path.abspath(sys.argv[1])


def check(rows, host):
    if rows != ROWS:
        sys.exit(f"{host}: got {rows}, want {ROWS}")
    print(f"{host}: ok")


def words(text):
    """Rows of lines `MatMulV2 20 136160`."""
    return [(a, int(b), int(c)) for a, b, c in (line.split() for line in text.splitlines() if len(line.split()) == 3)]
