"""Every sheet of every golden case agrees with what the compare tool prints, but for the named differences.

  test_golden.py LIBRARY [CASE ...]
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check


def main():
    library = os.path.abspath(sys.argv[1])
    names = sys.argv[2:] or sorted(n for n in os.listdir(check.HERE)
                                   if os.path.exists(os.path.join(check.HERE, n, "case.json")))
    judge = check.Judge(check.read_differences(os.path.join(check.HERE, "differences.tsv")))
    count, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            n, complaints = check.check_case(library, check.unpack(os.path.join(check.HERE, name), folder), judge)
            count += n
            wrong += complaints
    for line in wrong[:40]:
        print(line)
    print(f"{count} sheets, {len(wrong)} complaints, {judge.named} cells differ as named")
    sys.exit(1 if wrong or count == 0 else 0)


if __name__ == "__main__":
    main()
