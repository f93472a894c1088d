"""Fills the prof_* tables from a profile, slowly and plainly, into an ordinary SQLite database.

  model_oracle.py OUT.db ALIAS=PATH [ALIAS=PATH ...] [--option ALIAS.NAME=VALUE ...]

What the readers of the library give must equal what this program gives; views can be tried on its tables
without any reader. It shares no code with the library: only the names of tables and columns are taken from
vtab/model_specs_*.cpp. Options are those of profana_open (step, gpu_flow_cat).
"""
import argparse
import json
import os
import sqlite3

import db as database
import gpu
import model as m
import text


def rank_of(path):
    """The rank in profiler_info_<rank>.json beside or above the output folder."""
    for folder in (path, os.path.dirname(os.path.abspath(path))):
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            stem = name.removeprefix("profiler_info_").removesuffix(".json")
            if name.startswith("profiler_info_") and stem.isdigit():
                return int(stem)
    return None


def is_object(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read(1 << 16).lstrip("\ufeff \t\r\n").startswith("{")


def read(alias, path, options):
    """-> (model, the row of prof_source)"""
    single = os.path.isfile(path) and not path.endswith(".db")
    model = m.Model(alias, None if single else rank_of(path))
    if database.find(path):
        kind, facts = "db", database.read(model, path)
    elif single and (path.endswith(".gz") or is_object(path)):
        kind, facts = "gpu", gpu.read(model, path, options.get("gpu_flow_cat", ""))
    else:
        kind, facts = "trace" if single else "text", text.read(model, path)
    if facts.get("has_launches", True):
        m.fill_kernels(model)
    step = options.get("step")
    return model, {"alias": alias, "rank": model.rank, "path": path, "kind": kind,
                   "framework": facts["framework"],
                   "step_option": int(step) if step is not None else None, "time_base_ns": facts["time_base_ns"]}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out")
    p.add_argument("profiles", nargs="+")
    p.add_argument("--option", action="append", default=[])
    a = p.parse_args()
    options = {}
    for given in a.option:
        name, _, value = given.partition("=")
        alias, _, option = name.partition(".")
        options.setdefault(alias, {})[option] = value
    with sqlite3.connect(a.out) as out:
        for given in a.profiles:
            alias, _, path = given.partition("=")
            model, source = read(alias, path, options.get(alias, {}))
            model.save(out, source)
            print(json.dumps({t: len(r) for t, r in model.rows.items() if r}))


if __name__ == "__main__":
    main()
