"""What a raw table must hold of a CSV file, by Python's csv module and the naming rule of the raw tables alone."""
import codecs
import csv
import decimal
import gzip
import io
import re
from decimal import Decimal

decimal.getcontext().prec = 60
csv.field_size_limit(1 << 27)

# Heads whose column is not the head in snake case with the unit behind it.
COLUMNS = {
    "Step Id": "step", "Type": "op_type", "Op Name": "name", "API Name": "name", "Start Time": "start_ns",
    "Task Start Time": "start_ns", "Duration": "dur_ns", "Task Duration": "dur_ns", "Wait Time": "wait_ns",
    "Task Wait Time": "wait_ns", "Block Dim": "block_num", "Mix Block Dim": "mix_block_num",
    "Input Data Types": "input_types", "Output Data Types": "output_types", "Total Time": "total_ns",
    "Min Time": "min_ns", "Avg Time": "avg_ns", "Max Time": "max_ns", "Allocation Time": "alloc_ns",
    "Release Time": "release_ns", "Timestamp": "ts_ns", "Device": "device_type"}
OF_TABLE = {
    "kernel_details": {"Task Type": "accelerator_core"},
    "op_summary": {"Accelerator Core": "task_type"},
    "api_statistic": {"Time": "total_ns"},
    "task_time": {"Type": "kernel_type", "Op Name": "kernel_name"},
    "memory_record": {"Total Allocated": "allocated_bytes", "Total Reserved": "reserved_bytes",
                      "Total Active": "active_bytes"}}
UNITS = {"us": "_ns", "ms": "_ns", "ns": "_ns", "B": "_bytes", "KB": "_bytes", "MB": "_bytes", "%": "_percent",
         "GB/s": "_gb_per_s"}
POWER_TO_NS = {"us": 3, "ms": 6, "ns": 0, "": 3}
BYTES = {"B": 1, "KB": 1024, "MB": 1024**2}
TIMES_WITHOUT_UNIT = {"computing", "communication_not_overlapped", "overlapped", "communication", "free", "stage",
                      "bubble", "communication_not_overlapped_and_exclude_receive", "preparing"}
TEXTS = {"name", "op_type", "op_state", "accelerator_core", "task_type", "core_type", "hf32_eligible", "input_shapes",
         "input_types", "input_formats", "output_shapes", "output_types", "output_formats", "model_name", "level",
         "call_stack", "device_type", "component", "kernel_name", "kernel_type", "api"}
IDS = {"step", "device_id", "model_id", "task_id", "stream_id", "block_num", "mix_block_num", "context_id", "infer_id"}
NO_ID = 4294967295

# One U+FFFD for each byte that is no UTF-8.
codecs.register_error("byte for byte", lambda e: ("\ufffd" * (e.end - e.start), e.end))


def read(path):
    """-> heads, rows (both lists of cells), is all of it UTF-8."""
    opener = gzip.open if open(path, "rb").read(2) == b"\x1f\x8b" else open
    with opener(path, "rb") as file:
        data = file.read()
    try:
        text, clean = data.decode("utf-8-sig"), True
    except UnicodeDecodeError:
        text, clean = data.decode("utf-8", "byte for byte").lstrip("\ufeff"), False
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    return [head.strip(" \t") for head in rows[0]], rows[1:], clean


def column_of(table, head):
    """-> name of the column, unit of the file."""
    name, unit = head, ""
    match = re.fullmatch(r"(.*)\(([^()]+)\)", head)
    if match and match[2] in UNITS:
        name, unit = match[1], match[2]
    known = OF_TABLE.get(table, {}).get(name) or COLUMNS.get(name)
    if known and not (unit == "%" and known.endswith("_ns")):
        return known, unit
    snake = re.sub("[^0-9a-z]+", "_", name.lower()).strip("_")
    return snake + ("_ns" if snake in TIMES_WITHOUT_UNIT else UNITS.get(unit, "")), unit


def bare(cell):
    """The cell without blanks, and without the quotes that profilers put around values. None: there is none."""
    cell = cell.strip(" \t")
    if cell in ("", "N/A"):
        return None
    if len(cell) >= 2 and cell[0] == cell[-1] == '"':
        return cell[1:-1].strip(" \t")
    return cell


def value_of(column, unit, cell):
    """What the column must hold. ValueError: the cell is no number."""
    text = bare(cell)
    if text is None or column in TEXTS:
        return text
    if column == "device_id" and text == "host":
        return None
    if column == "step" and text.startswith("step"):
        text = text[4:]
    try:
        number = Decimal(text)
    except decimal.InvalidOperation:
        raise ValueError(text) from None
    if column in IDS:
        return None if number == NO_ID else int(number)
    if column.endswith("_ns"):
        return int((number * 10**POWER_TO_NS[unit]).quantize(Decimal(1), rounding=decimal.ROUND_HALF_EVEN))
    if column.endswith("_bytes"):
        return int((number * BYTES[unit]).quantize(Decimal(1), rounding=decimal.ROUND_HALF_EVEN))
    if column in ("count", "stream_ptr") or column.endswith("cycles"):
        return int(number)
    return float(text)


def compare(db, table, path):
    """-> (rows, sum over all integer columns, heads in `extra`, expected diagnostics), or a text: what differs."""
    heads, rows, clean = read(path)
    there = {row[0] for row in db.execute("SELECT name FROM pragma_table_xinfo(?)", (table,))}
    codes, unknown, total = set() if clean else {"invalid_utf8"}, [], 0
    count = db.execute(f"SELECT count(*) FROM {table}(?)", (path,)).fetchone()[0]
    if count != len(rows):
        return f"{count} rows, should be {len(rows)}"
    for index, head in enumerate(heads):
        column, unit = column_of(table, head)
        if column not in there:
            unknown.append(head)
            continue
        ours = [row[0] for row in db.execute(f"SELECT {column} FROM {table}(?)", (path,))]
        for line, (row, got) in enumerate(zip(rows, ours), 2):
            if len(row) > len(heads):     # a comma without quotes: where it belongs is a guess
                codes.add("cells_surplus")
                continue
            if len(row) < len(heads):
                codes.add("cells_missing")
            try:
                want = value_of(column, unit, row[index] if index < len(row) else "")
            except ValueError:
                codes.add("not_a_number")
                want = None
            if want != got or type(want) is not type(got):
                return f"row {line}, {head}: {column} is {got!r}, should be {want!r}"
            total += want if isinstance(want, int) else 0
        if not any(isinstance(value, str) for value in ours):
            summed = db.execute(f"SELECT total({column}) FROM {table}(?)", (path,)).fetchone()[0]
            if abs(summed - sum(value or 0 for value in ours)) > 1e-12 * abs(summed):
                return f"{head}: total {summed}, should be {sum(value or 0 for value in ours)}"
    return count, total, unknown, codes


def compare_as_it_is(db, path):
    """The same of profiler_csv: every cell of every row, numbers by value."""
    heads, rows, clean = read(path)
    db.execute("DROP TABLE IF EXISTS temp.as_it_is")
    db.execute(f"CREATE VIRTUAL TABLE temp.as_it_is USING profiler_csv('{path}')")
    ours, count = db.execute("SELECT * FROM as_it_is"), 0
    codes = set() if clean else {"invalid_utf8"}
    for row in rows:
        got = ours.fetchone()
        if got is None:
            return f"{count} rows, should be {len(rows)}"
        count += 1
        if len(row) != len(heads):
            codes.add("cells_surplus" if len(row) > len(heads) else "cells_missing")
        for head, cell, value in zip(heads, row, got):
            cell = cell.strip(" \t")
            same = value is None if cell == "" else (
                value == cell if isinstance(value, str) else Decimal(cell) == Decimal(repr(value)))
            if not same:
                return f"row {count + 1}, {head}: {value!r}, should be {cell!r}"
    if ours.fetchone() is not None:
        return f"more than {len(rows)} rows"
    return count, 0, [], codes
