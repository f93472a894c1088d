"""What trace_event, communication and communication_matrix must hold of a file, by Python's json module alone."""
import decimal
import gzip
import json
from decimal import Decimal

decimal.getcontext().prec = 60
COLUMNS = "ph, cat, name, pid, tid, ts_ns, dur_ns, end_ns, id, bp, args, process_name, thread_name".split(", ")


class Unreadable(Exception):
    """Python's json refuses the file."""


def load(path):
    """-> the data, the diagnostics that it must bring."""
    bare = set()

    def constant(_):
        bare.add("json_bare_value")

    opener = gzip.open if open(path, "rb").read(2) == b"\x1f\x8b" else open
    try:
        with opener(path, "rb") as file:
            text = file.read().decode("utf-8-sig")
        return json.loads(text, parse_float=Decimal, parse_constant=constant), bare
    except (ValueError, EOFError, RecursionError) as error:
        raise Unreadable(str(error)) from None


def scaled(value, power):
    if value is None or value == "":
        return None
    return int((Decimal(str(value)) * 10**power).quantize(Decimal(1), rounding=decimal.ROUND_HALF_EVEN))


def same_type(value):
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, int) and not -2**63 <= value < 2**63:
        return str(value)
    return value


def expected_events(data):
    events = data["traceEvents"] if isinstance(data, dict) else data
    base = int(data.get("baseTimeNanoseconds", 0)) if isinstance(data, dict) else 0
    processes, threads = {}, {}
    for event in events:
        name = (event.get("args") or {}).get("name")
        if event.get("ph") == "M" and name is not None:
            pid, tid = (repr(event.get(key)) for key in ("pid", "tid"))
            if event["name"] == "process_name":
                processes[pid] = name
            elif event["name"] == "thread_name":
                threads[pid, tid] = name
    for event in events:
        ts, dur = scaled(event.get("ts"), 3), scaled(event.get("dur"), 3)
        ts = None if ts is None else ts + base
        pid, tid = event.get("pid"), event.get("tid")
        yield (event.get("ph"), event.get("cat"), event.get("name"), same_type(pid), same_type(tid), ts, dur,
               None if ts is None or dur is None else ts + dur, same_type(event.get("id")), event.get("bp"),
               event.get("args"), processes.get(repr(pid)), threads.get((repr(pid), repr(tid))))


def compare_trace(db, path, data):
    ours = db.execute(f"SELECT {', '.join(COLUMNS)} FROM trace_event(?)", (path,))
    rows = total = 0
    for expected in expected_events(data):
        row = ours.fetchone()
        if row is None:
            return f"has {rows} rows, too few"
        rows += 1
        total += expected[5] or 0
        total += expected[6] or 0
        for column, want, got in zip(COLUMNS, expected, row):
            if column == "args" and got is not None:
                got = json.loads(got, parse_float=Decimal)
            if want != got or type(want) is not type(got):
                return f"row {rows}, {column}: {got!r}, should be {want!r}"
    return "has more rows" if ours.fetchone() else (rows, total)


def operations(data):
    """(step, type, op@group, info) of communication.json or its matrix, in file order."""
    for step, types in data.items():
        for kind, ops in types.items():
            for op, info in ops.items():
                yield step, kind, op, info


def compare_communication(db, path, data):
    expected = []
    for step, kind, op, info in operations(data):
        name, _, group = op.rpartition("@") if "@" in op else (op, "", "")
        time = info.get("Communication Time Info", {})
        for transport, traffic in info.get("Communication Bandwidth Info", {None: {}}).items():
            size = traffic.get("Transit Size(MB)")
            expected.append((int(step[4:]) if step[4:] else None, kind, name, group or None, transport,
                             scaled(time.get("Start Timestamp(us)"), 3), scaled(time.get("Elapse Time(ms)"), 6),
                             scaled(time.get("Idle Time(ms)"), 6), None if size is None else float(size),
                             scaled(traffic.get("Transit Time(ms)"), 6)))
    ours = db.execute("SELECT step, type, name, group_name, transport, start_ns, elapse_ns, idle_ns, transit_size_mb, "
                      "transport_transit_ns FROM communication(?)", (path,)).fetchall()
    total = sum(value or 0 for row in expected for value in (*row[5:8], row[9]))
    return (len(ours), total) if ours == expected else f"{len(ours)} rows differ from {len(expected)}"


def compare_matrix(db, path, data):
    expected = []
    for step, kind, op, links in operations(data):
        name, _, group = op.rpartition("@") if "@" in op else (op, "", "")
        for link, info in links.items():
            source, target = link.split("-")
            expected.append((int(step[4:]) if step[4:] else None, kind, name, group or None, int(source), int(target),
                             info["Transport Type"], float(info["Transit Size(MB)"]),
                             scaled(info["Transit Time(ms)"], 6), info.get("Op Name")))
    ours = db.execute("SELECT step, type, name, group_name, source_rank, target_rank, transport, transit_size_mb, "
                      "transit_ns, op_name FROM communication_matrix(?)", (path,)).fetchall()
    total = sum(row[8] or 0 for row in expected)
    return (len(ours), total) if ours == expected else f"{len(ours)} rows differ from {len(expected)}"


def compare_function(name, data):
    if name == "communication.json":
        return compare_communication
    if name == "communication_matrix.json":
        return compare_matrix
    is_list = isinstance(data, list) and data and isinstance(data[0], dict) and "ph" in data[0]
    return compare_trace if is_list or (isinstance(data, dict) and "traceEvents" in data) else None


def compare(db, name, path):
    """-> (rows, sum of the times, [], expected diagnostics), a text: what differs, or None: no table takes it."""
    data, codes = load(path)
    function = compare_function(name, data)
    result = function and function(db, path, data)
    return result if function is None or isinstance(result, str) else (*result, [], codes)
