"""The generated pages are what the library says of itself, and everything public is documented."""
import glob
import os
import re
import sqlite3
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TYPES = {"INTEGER", "REAL", "TEXT", "BLOB", "ANY"}
# Names that say it all with their unit or kind, and the quoted heads of tables that other tools define.
SELF_EVIDENT = r"(name|calls|count|rank|_id|_ratio|_ns|_bytes|flops|_shapes|module|_list|mfu|\")$"


def undocumented(rows):
    """Public functions without a doc, views without a question or with a column that lacks its type or meaning."""
    sys.path.insert(0, os.path.join(ROOT, "docs"))
    from generate import columns
    for name, kind, signature, doc in rows:
        if not doc.strip():
            yield f"{kind} {name} has no doc"
        if kind == "function" and (f"{name}(" not in signature or "->" not in signature):
            yield f"function {name}: the signature is {signature!r}"
        if kind == "view":
            if not doc.startswith(f"{name}: "):
                yield f"view {name}: its comment does not begin with '{name}: '"
            for column, declared, meaning in columns(signature):
                if declared not in TYPES:
                    yield f"view {name}: column {column} has no type"
                if not meaning and not re.search(SELF_EVIDENT, column):
                    yield f"view {name}: column {column} has no meaning"


def without_page(rows):
    """Public names that no page says more of than the generated lists do."""
    pages = set(glob.glob(f"{ROOT}/docs/*.md")) - {f"{ROOT}/docs/functions.md", f"{ROOT}/docs/views.md"}
    words = set()
    for page in pages:
        with open(page, encoding="utf-8") as f:
            words |= set(re.findall(r"\w+", f.read()))
    return [f"{kind} {name}: no page names it" for name, kind, *_ in rows if not name.startswith("_") and name not in words]


library = os.path.abspath(sys.argv[1])
done = subprocess.run(["/usr/bin/python3", os.path.join(ROOT, "docs/generate.py"), library, "--check"], text=True, capture_output=True,
                      check=False)
problems = [done.stderr.strip()] if done.returncode else []
connection = sqlite3.connect(":memory:")
connection.enable_load_extension(True)
connection.load_extension(library)
rows = connection.execute("SELECT name, kind, signature, doc FROM profana_help").fetchall()
problems += undocumented(rows)
problems += without_page(rows)
names = {row[0] for row in rows}
for (name,) in connection.execute("SELECT name FROM temp.sqlite_schema WHERE type = 'view'"):
    if name not in names:
        problems.append(f"view {name} is not in profana_help")
print("\n".join(problems) or f"{len(rows)} entries: ok")
sys.exit(1 if problems else 0)
