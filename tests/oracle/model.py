"""The model tables as plain lists of rows, and what several sources need to fill them.

Slow and simple on purpose: this is what the readers are held against, so it shares no code with them.
"""
import bisect
import decimal
import glob
import json
import os
import re
import sqlite3

SPECS = os.path.join(os.path.dirname(__file__), "..", "..", "vtab", "model_specs_*.cpp")
STEP = "ProfilerStep#"


def ns(text):
    """Nanoseconds of microseconds given as decimal text, int or Decimal; finer decimals round half to even."""
    if text is None:
        return None
    try:
        number = decimal.Decimal(str(text).strip()) * 1000
    except decimal.InvalidOperation:
        return None
    if not number.is_finite():
        return None
    return int(number.to_integral_value(decimal.ROUND_HALF_EVEN))


def scaled(text, factor):
    """text * factor as an integer: sizes given in KB or MB."""
    try:
        return int((decimal.Decimal(str(text).strip()) * factor).to_integral_value(decimal.ROUND_HALF_EVEN))
    except (decimal.InvalidOperation, ValueError):
        return None


def load_json(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return json.load(f, parse_float=decimal.Decimal)


def columns_of_tables():
    """{prof_table: [column, ...]} as the library declares them: names only, no behaviour."""
    out = {}
    for path in sorted(glob.glob(SPECS)):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for part in re.split(r"\n}\n", text):
            table = re.search(r'Model::\w+,\s*"(prof_\w+)"', part)
            if table:
                names = re.findall(r'(?:\{|id_of\(\s*)"(\w+)",|(source_row)\(', part)
                out[table.group(1)] = ["profile", "rank", "id", *(a or b for a, b in names)]
    return out


class Model:
    """Rows of one profile: add() gives each its id, in input order."""

    def __init__(self, alias, rank=None):
        self.alias, self.rank = alias, rank
        self.columns = columns_of_tables()
        self.rows = {table: [] for table in self.columns}

    def add(self, table, **values):
        unknown = set(values) - set(self.columns[table])
        if unknown:
            raise KeyError(f"{table} has no column {sorted(unknown)}")
        values.update(profile=self.alias, rank=self.rank, id=len(self.rows[table]) + 1)
        self.rows[table].append(values)
        return values

    def save(self, db, source):
        """Adds the rows to an SQLite database, as ordinary tables."""
        for table, columns in self.columns.items():
            db.execute(f"CREATE TABLE IF NOT EXISTS {table}({', '.join(columns)}, PRIMARY KEY(profile, id))")
            db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})",
                           [[row.get(c) for c in columns] for row in self.rows[table]])
        db.execute(f"CREATE TABLE IF NOT EXISTS prof_source({', '.join(source)})")
        db.execute(f"INSERT INTO prof_source VALUES ({', '.join('?' * len(source))})", list(source.values()))
        db.commit()


def span(start, dur):
    """The three columns of an event's time."""
    return {"start_ns": start, "end_ns": start + dur, "dur_ns": dur}


def fill_steps(model, rows, windows=None):
    """step of each row: the last step, by start, that has the row's start within its bounds."""
    windows = windows or sorted((s["start_ns"], s["end_ns"], s["step"]) for s in model.rows["prof_step"])
    starts = [w[0] for w in windows]
    for row in rows:
        at = bisect.bisect_right(starts, row["start_ns"]) - 1
        row["step"] = next((w[2] for w in windows[at::-1] if w[1] >= row["start_ns"]), None) if at >= 0 else None


class OperatorTree:
    """The compare tool's tree: all threads together, by start; the cursor leaves a node that ended before."""

    def __init__(self, ops):
        self.ops = sorted(ops, key=lambda o: o["start_ns"])
        by_id, stack = {o["id"]: o for o in ops}, []
        for op in self.ops:
            while stack and op["start_ns"] > stack[-1]["end_ns"]:
                stack.pop()
            op["parent_id"] = stack[-1]["id"] if stack else None
            op["depth"] = len(stack)
            op["self_ns"] = op["dur_ns"]
            above = stack[-1] if stack and STEP not in stack[-1]["name"] else None
            op["root_id"] = None if STEP in op["name"] else above["root_id"] if above else op["id"]
            if stack and STEP not in op["name"]:
                by_id[op["parent_id"]]["self_ns"] -= op["dur_ns"]
            stack.append(op)
        self.by_start = {}
        for op in self.ops:
            self.by_start.setdefault(op["start_ns"], []).append(op)

    def starting_at(self, t, thread=None):
        """The innermost operator that starts exactly then, of that thread if there is one."""
        found = self.by_start.get(t, [])
        same = [o for o in found if (o["process_id"], o["thread_id"]) == thread]
        return (same or found or [None])[-1]

    def attach(self, records):
        """host_op_id of records with attach_ns: where the cursor stands then."""
        events = [(o["start_ns"], 0, o) for o in self.ops]
        events += [(r["attach_ns"], 1, r) for r in records if r.get("attach_ns") is not None]
        events.sort(key=lambda e: e[:2])
        stack = []
        for t, kind, what in events:
            while stack and t > stack[-1]["end_ns"]:
                stack.pop()
            if kind:
                what["host_op_id"] = stack[-1]["id"] if stack else None
            else:
                stack.append(what)


def fill_thread_tree(rows, thread, parent="thread_parent_id", depth="thread_depth"):
    """The smallest event of the same thread that contains each row whole."""
    threads = {}
    for row in rows:
        threads.setdefault(thread(row), []).append(row)
    for events in threads.values():
        events.sort(key=lambda e: (e["start_ns"], -e["end_ns"]))
        alive = []
        for event in events:
            alive = [a for a in alive if a["end_ns"] >= event["start_ns"]]
            instant = event["start_ns"] == event["end_ns"]  # is not in what ends there
            around = [a for a in alive if a["end_ns"] >= event["end_ns"] and not (instant and a["end_ns"] == event["start_ns"])]
            best = min(around, key=lambda a: (a["end_ns"] - a["start_ns"], -alive.index(a)), default=None)
            event[parent] = best["id"] if best else None
            event[depth] = best[depth] + 1 if best else 0
            alive.append(event)


def fill_kernels(model):
    """What each operator launched: kernels by start, collectives not named and not summed up."""
    kernels = {kernel["id"]: kernel for kernel in model.rows["prof_kernel"]}
    launched = {}
    for launch in model.rows["prof_launch"]:
        if launch.get("host_op_id") is not None and launch.get("kernel_id") is not None:
            launched.setdefault(launch["host_op_id"], []).append(kernels[launch["kernel_id"]])
    for op in model.rows["prof_host_op"]:
        own = launched.get(op["id"], [])
        computing = sorted((k for k in own if k.get("is_communication") != 1), key=lambda k: (k["start_ns"] or 0, k["id"]))
        names = [k["name"] for k in computing if k.get("name") is not None]
        op.update(kernel_count=len(own), kernel_names=", ".join(names) or None, kernel_ns=sum(k.get("dur_ns") or 0 for k in computing))


def op_type_of(collective):
    """hcom_allReduce__568_1_1 -> hcom_allReduce_"""
    return collective.split("__")[0] + "_" if "__" in collective else None


def fill_comm_parents(model):
    """comm_op_id of tasks: the operation of the same group that runs at the task's start."""
    for task in model.rows["prof_comm_task"]:
        runs = [o for o in model.rows["prof_comm_op"] if o["group_index"] == task["group_index"]
                and o["start_ns"] <= task["start_ns"] <= o["end_ns"]]
        task["comm_op_id"] = runs[-1]["id"] if runs else None


def process_groups(model, info):
    """Rows of prof_process_group from parallel_group_info; {group id: name}."""
    names = {}
    for place, (ident, about) in enumerate((info or {}).items(), 1):
        names[ident] = about.get("group_name", "")
        model.add("prof_process_group", group_id=ident, group_name=names[ident], group_rank=about.get("group_rank"),
                  source_row=place,
                  ranks=json.dumps(about["global_ranks"], separators=(",", ":")) if "global_ranks" in about else None)
    return names
