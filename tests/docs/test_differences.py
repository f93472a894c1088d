"""Each difference on docs/differences.md names the tests that hold it, and those tests exist.

  test_differences.py LIBRARY
"""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main():
    with open(os.path.join(ROOT, "docs", "differences.md"), encoding="utf-8") as f:
        page = f.read()
    known = set()
    for path in glob.glob(os.path.join(ROOT, "tests", "*", "test_*.py")):
        known.add(os.path.basename(path).removesuffix(".py"))
        if os.path.basename(os.path.dirname(path)) == "compare":
            with open(path, encoding="utf-8") as f:
                known.update(re.findall(r"^def (\w+)\(c(?:ase)?\b", f.read(), re.M))
    items = [" ".join(item.split()) for item in re.findall(r"^- .*?(?=^- |^## |\Z)", page, re.M | re.S)]
    wrong = []
    for item in items:
        named = [name for names in re.findall(r"\[([a-z_, ]+)\](?!\()", item) for name in names.split(", ")]
        if not named:
            wrong.append(f"no test is named: {item[:90]}")
        wrong += [f"there is no test {name}: {item[:60]}" for name in named if name not in known]
    print("\n".join(wrong))
    print(f"{len(items)} differences, {len(wrong)} wrong")
    sys.exit(1 if wrong or len(items) < 30 else 0)


if __name__ == "__main__":
    main()
