#!/usr/bin/python3
"""Write docs/functions.md, docs/views.md and docs/tables.md from what the library says of itself (profana_help).

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
    return connection.execute("SELECT name, kind, signature, doc FROM profana_help").fetchall()


def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def functions_page(rows):
    out = ["# Functions", "", "Made by docs/generate.py from the library's own help; `SELECT * FROM profana_help WHERE kind = 'function'`",
           "shows the same. Functions that give rows, called in FROM, are below. Examples are on the pages of each family.", "", "| function | what it does |", "|---|---|"]
    out += [f"| `{cell(signature)}` | {cell(doc)} |" for _, kind, signature, doc in sorted(rows) if kind == "function"]
    for name, kind, signature, doc in sorted(rows):
        if is_table_function(name, kind, signature):
            what, _, parts = doc.partition("\n")
            out += ["", f"## {name}", "", f"`{cell(signature)}`", "", cell(what), "", "| column or argument | meaning |", "|---|---|"]
            out += [f"| {part} | {cell(meaning)} |" for part, _, meaning in (line.partition(": ") for line in parts.splitlines())]
    return "\n".join(out) + "\n"


def is_table_function(name, kind, signature):
    return kind == "table" and signature.startswith(name + "(")


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
           "Names that begin with `_` are steps that the others share. The tables of profiles (`prof_*`) are on a [page of "
           "their own](tables.md).", ""]
    for name, kind, signature, doc in sorted(rows, key=lambda row: (row[1], row[0])):
        if kind not in ("view", "table") or not doc or is_profile_table(name, kind) or is_table_function(name, kind, signature):
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


KINDS = ("Text", "Db", "GPU", "MindSpore", "msprof")
UNITS = {"_ns": "ns", "_bytes": "byte", "_ms": "ms", "_mb": "MB", "_mhz": "MHz", "_percent": "%", "_gb_per_s": "GB/s", "_ratio": "ratio"}
TABLES_HEAD = """# Tables of profiles

Made by docs/generate.py from the library's own help (`SELECT * FROM profana_help WHERE name = 'prof_kernel'`).

[`profana_open`](profiles.md) makes one set of tables out of every kind of capture. `prof_source` says what was opened; the
model tables hold what it measured. The first three columns of each model table are the same and are left out below:

| column | type | meaning |
|---|---|---|
| profile | TEXT | alias given to profana_open |
| rank | INTEGER | rank of the source; NULL: unknown |
| id | INTEGER | counts rows in input order; unique in the profile, so that `prof_kernel.id` is what `prof_launch.kernel_id` names |

Times are INTEGER nanoseconds, half to even where the file is finer; sizes are bytes. **Unknown is NULL**: never 0, -1, `N/A` or
4294967295. The unit of a column is the end of its name.

*From* tells where a value is taken, by kind of capture:

| kind | captures |
|---|---|
| Text | CSV files and `trace_view.json` of torch_npu |
| Db | `ascend_pytorch_profiler*.db`, `ascend_mindspore_profiler*.db`, `msprof_*.db`, `msmonitor_*.db`, with `analysis.db` beside them |
| GPU | traces of torch.profiler |
| MindSpore | files of MindSpore: as Text where it is not named |
| msprof | files of the `msprof` command line: as Text where it is not named |

A kind that is named neither so nor by that rule leaves the column NULL. *args* are those of a trace's event, `pid`, `tid`, `ts`, `dur`,
`name` and `id` its own fields; a bare name is a column of the CSV file or database table that the section names.
A table that a capture cannot fill is empty, and `prof_source.missing` says why.

`source_row` leads from a row back to its file. It is NULL where no single row stands behind one: statistics that are computed
(`prof_api_stat` of a database), and a device that only the option `device` or `chip`, or a database's RANK_DEVICE_MAP or info.json, names.
"""


def is_profile_table(name, kind):
    return kind == "table" and name.startswith("prof_")


def split_sources(text):
    """Lines `Kind: where` at the end of a text -> (what stands before, [(kind, where)])."""
    lines = text.strip().splitlines()
    named = [line.partition(": ") for line in lines]
    first = next((i for i, (kind, _, _) in enumerate(named) if i > 0 and kind in KINDS), len(lines))
    return " ".join(lines[:first]), [(kind, where) for kind, _, where in named[first:]]


def table_columns(signature):
    """-> [(column, type, meaning, [(kind, where)])], sources being the comment lines below a column."""
    out = []
    for line in signature.splitlines():
        name, _, comment = line.partition("--")
        if name.strip():
            kind, _, meaning = comment.strip().partition(" ")
            out.append((name.strip().rstrip(","), kind, meaning.strip(), []))
        else:
            kind, _, where = comment.strip().partition(": ")
            out[-1][3].append((kind, where))
    return out


def unit(column):
    return next((u for end, u in UNITS.items() if column.endswith(end)), "")


def grouped(sources):
    """Kinds that take a value from the same place are named together."""
    places = {}
    for kind, where in sources:
        places.setdefault(where, []).append(kind)
    return "; ".join(f"*{', '.join(kinds)}*: {where}" for where, kinds in places.items())


def tables_page(rows):
    out = [TABLES_HEAD]
    for name, kind, signature, doc in rows:
        if not is_profile_table(name, kind):
            continue
        opening, sources = split_sources(doc)
        out += [f"## {name}", "", opening, ""]
        out += [f"- *{k}*: {where}" for k, where in sources] + ([""] if sources else [])
        found = table_columns(signature)
        if [c[0] for c in found[:3]] == ["profile", "rank", "id"]:
            found = found[3:]
        any_source = any(c[3] for c in found)
        out += ["| column | type | unit | meaning |" + (" from |" if any_source else ""), "|---|---|---|---|" + ("---|" if any_source else "")]
        out += [f"| {c} | {t} | {unit(c)} | {cell(m)} |" + (f" {cell(grouped(s))} |" if any_source else "") for c, t, m, s in found] + [""]
    return "\n".join(out).rstrip() + "\n"


def main():
    rows = entries(sys.argv[1])
    stale = []
    for name, text in (("functions.md", functions_page(rows)), ("views.md", views_page(rows)),
                       ("tables.md", tables_page(rows))):
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
