#!/usr/bin/python3
"""Write docs/functions.md and docs/views.md from what the library says of itself (profana_help).

  generate.py LIBRARY            writes the pages
  generate.py LIBRARY --check    exit 1 when a page is not what it would write
"""
import os
import sqlite3
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def entries(library):
    connection = sqlite3.connect(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(os.path.abspath(library))
    return connection.execute("SELECT name, kind, signature, doc FROM profana_help ORDER BY kind, name").fetchall()


def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def functions_page(rows):
    out = ["# Functions", "", "Made by docs/generate.py from the library's own help; `SELECT * FROM profana_help WHERE kind = 'function'`",
           "shows the same. Examples are on the pages of each family.", "", "| function | what it does |", "|---|---|"]
    out += [f"| `{cell(signature)}` | {cell(doc)} |" for _, kind, signature, doc in rows if kind == "function"]
    return "\n".join(out) + "\n"


def columns(signature):
    """Lines `name, -- TYPE  meaning`, a meaning going on in comment lines, -> [(name, type, meaning)]."""
    out = []
    for line in signature.splitlines():
        name, _, comment = line.partition("--")
        name, comment = name.strip().rstrip(",").strip(), comment.strip()
        if name:
            column = name[:name.index('"', 1) + 1] if name.startswith('"') else name.split()[0]
            kind, _, meaning = comment.partition(" ")
            if kind not in ("INTEGER", "REAL", "TEXT", "BLOB", "ANY"):
                kind, meaning = "", comment
            out.append([column, kind, meaning.strip()])
        elif out and comment:
            out[-1][2] += " " + comment
    return out


def views_page(rows):
    out = ["# Views", "", "Made by docs/generate.py from the comments in sql/views; the files are the place to read the rules themselves.",
           "Names that begin with `_` are steps that the others share.", ""]
    for name, kind, signature, doc in rows:
        if kind not in ("view", "table") or not doc:
            continue
        lines = doc.strip().splitlines()
        title = lines[0].removeprefix(name + ":").strip()
        out += [f"## {name}", "", title, ""]
        out += ["\n".join(lines[1:]).strip(), ""] if "\n".join(lines[1:]).strip() else []
        found = columns(signature)
        if found:
            out += ["| column | type | meaning |", "|---|---|---|"]
            out += [f"| {c} | {t} | {cell(m)} |" for c, t, m in found] + [""]
    return "\n".join(out).rstrip() + "\n"


def main():
    rows = entries(sys.argv[1])
    stale = []
    for name, text in (("functions.md", functions_page(rows)), ("views.md", views_page(rows))):
        path = os.path.join(HERE, name)
        before = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
        if before == text:
            continue
        stale.append(name)
        if "--check" not in sys.argv:
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
    if stale and "--check" in sys.argv:
        sys.exit(f"docs/{', docs/'.join(stale)} are not up to date: run docs/generate.py {sys.argv[1]}")


if __name__ == "__main__":
    main()
