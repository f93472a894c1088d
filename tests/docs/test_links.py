"""No link of README, CHANGELOG and docs/ leads nowhere, and every page can be reached from README."""
import os
import re
import sys
import tempfile

from links import broken, pages

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def check_finds_faults():
    """The checker itself, on a page with one good and two bad links and one in code."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/a.md", "w", encoding="utf-8") as f:
            f.write("# One, `two`\n## One two\n[](a.md#one-two) [](#one-two-1) [](b.md) [](#three) `[](c.md)`\n```\n[](d.md)\n# three\n```\n")
        count, wrong = broken(folder)
        assert count == 4 and [w.split(": ")[1] for w in wrong] == ["b.md", "#three"], (count, wrong)


def reached(page, known):
    known.add(page)
    with open(page, encoding="utf-8") as f:
        for target in re.findall(r"\]\(([^)#\s]+\.md)[^)]*\)", f.read()):
            path = os.path.normpath(os.path.join(os.path.dirname(page), target))
            if path not in known and os.path.exists(path):
                reached(path, known)
    return known


check_finds_faults()
links, faults = broken(ROOT)
from_readme = reached(f"{ROOT}/README.md", set())
faults += [f"{os.path.relpath(page, ROOT)}: no page leads here" for page in pages(ROOT) if page not in from_readme]
print("\n".join(faults) or f"{links} links: ok")
sys.exit(1 if faults or links < 20 else 0)
