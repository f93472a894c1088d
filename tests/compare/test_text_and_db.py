"""One pair of runs, each exported as text and as a database: every sheet must say the same of both.

The runs are made up: a PyTorch training of two steps against a changed one, and a MindSpore step against the first. What the
formats cannot both carry is an exception below, a function of its own whose first line is the reason: it turns what the text
export shows into what the database must show, by figures from the model tables. An exception that changes nothing fails.
"""
import os
import re
import sys

from profiles import ROOT, Checks, Session

DATA = os.path.join(ROOT, "tests", "data", "text_and_db")
RUN, CHANGED, MINDSPORE = (os.path.join(DATA, f"made_{i}_20260101000000000_ascend_{kind}") for i, kind in ((1, "pt"), (3, "pt"), (2, "ms")))
SIDES = ("base", "comparison")
UNCOVERED = "Uncovered Communication Time"


class Pair:
    """Both forms of two runs, and what only one form can say."""

    def __init__(self, library, base, comparison, step=None):
        options = {} if step is None else {"step": step}
        self.step = step
        self.text, self.db = (Session(library, base, comparison, base_options={"source": form, **options},
                                      comparison_options={"source": form, **options}) for form in ("text", "db"))

    def in_step(self):
        return "" if self.step is None else (f" AND start_ns BETWEEN (SELECT start_ns FROM prof_step AS s WHERE s.profile = {{0}}.profile"
                                             f" AND step = {self.step}) AND (SELECT end_ns FROM prof_step AS s WHERE s.profile = "
                                             f"{{0}}.profile AND step = {self.step})")

    def ai_cpu(self, side):
        """Duration and number of the kernels on the AI CPU."""
        return self.text.rows("SELECT sum(dur_ns), count(*) FROM prof_kernel WHERE profile = ? AND core_type = 'AI_CPU'"
                              + self.in_step().format("prof_kernel"), side)[0]

    def bare(self, side):
        """Duration and number of the LCCL kernels, which belong to no group."""
        return self.text.rows("SELECT sum(dur_ns), count(*) FROM prof_device_task WHERE profile = ? AND lower(name) = 'kernel_aivec'"
                              + self.in_step().format("prof_device_task"), side)[0]

    def around(self, side):
        """Time that the device's tasks reach beyond the analysis lanes; a step has no lanes of its own."""
        if self.step is not None:
            return 0
        return self.text.value("SELECT min(b.start_ns) - min(t.start_ns, min(b.start_ns)) + max(t.end_ns, max(b.end_ns)) - max(b.end_ns)"
                               " FROM prof_overlap_bar AS b, (SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns"
                               " FROM prof_device_task WHERE profile = ?1) AS t WHERE b.profile = ?1", side)


def tree(rows):
    """{path of names: [base ns, base number, comparison ns, comparison number]} of a printed OverallMetrics."""
    out, path = {}, []
    for index, base, _, base_number, comparison, _, comparison_number, *_ in rows[1:]:
        path = path[:index.count("\t")] + [index.lstrip("\t")]
        out[tuple(path)] = [round(base * 1e6), base_number, round(comparison * 1e6), comparison_number]
    return out


def printed(amounts):
    """The cells of OverallMetrics that follow from a tree: shares of the whole, difference and ratio."""
    whole = amounts[("E2E Time",)]
    return {path: (path[-1], base / 1e6, base / whole[0], base_number, comparison / 1e6, comparison / whole[2], comparison_number,
                   round((comparison - base) / 1e6, 2), round(comparison / base, 4) if base else float("inf"))
            for path, (base, base_number, comparison, comparison_number) in amounts.items()}


def rows_by_path(rows):
    return {path: (row[0].lstrip("\t"), *row[1:]) for path, row in zip(tree(rows), rows[1:], strict=True)}


def ai_cpu_is_vector(amounts, pair):
    """kernel_details.csv has no counters for AI CPU kernels, so they are Other; a database counts every kernel, these as vector."""
    for at, side in ((0, "base"), (2, "comparison")):
        dur, number = pair.ai_cpu(side)
        for path in (("Computing Time", "Vector"), ("Computing Time", "Vector", "Vector (No Trans)")):
            amounts[path][at] += dur
            amounts[path][at + 1] += number
        amounts[("Computing Time",)][at + 1] += number
        amounts[("Computing Time", "Other")][at] = max(0, amounts[("Computing Time", "Other")][at] - dur)
    if amounts[("Computing Time", "Other")][::2] == [0, 0]:
        del amounts[("Computing Time", "Other")]


def bare_kernels_communicate(amounts, pair):
    """LCCL kernels are collectives of no group in a database; the analysis lanes of text leave them out."""
    group = [0, "/", 0, "/"]
    for at, side in ((0, "base"), (2, "comparison")):
        group[at] = pair.bare(side)[0]
        amounts[(UNCOVERED,)][at] += group[at]
        for path in (("Free Time",), ("Free Time", "Free")):
            amounts[path][at] -= group[at]
    amounts[(UNCOVERED, "N/A")] = group
    amounts[(UNCOVERED, "N/A", "Transmit")] = list(group)


def tasks_reach_further(amounts, pair):
    """Text takes end to end from the analysis lanes; a database from all tasks of the device, copies among them."""
    for at, side in ((0, "base"), (2, "comparison")):
        for path in (("E2E Time",), ("Free Time",), ("Free Time", "Free")):
            amounts[path][at] += pair.around(side)


def overall(c, what, pair):
    text, database = tree(pair.text.sheet("OverallMetrics")), pair.db.sheet("OverallMetrics")
    for exception in (ai_cpu_is_vector, bare_kernels_communicate, tasks_reach_further):
        before = {path: list(row) for path, row in text.items()}
        exception(text, pair)
        if exception is not tasks_reach_further or pair.step is None:
            c.equal(f"{what}: {exception.__name__} is needed", text != before, True)
    c.equal(what, rows_by_path(database), printed(text))
    # Groups stand in order of their threads in a trace, of their first wait in a database; all else in one order.
    c.equal(f"{what}: order", [path for path in tree(database) if UNCOVERED not in path], [path for path in text if UNCOVERED not in path])


def collectives(c, what, pair):
    """Kinds and their tasks stand by start in a trace, by row in a database; a task's row shows no difference."""
    def kinds(rows):
        out = {}
        for row in rows[1:]:
            name = next(n for n in (row[1], row[8]) if n)
            kind = kind if name == "|" else name
            out.setdefault(kind, []).append(row[1:])
        return {kind: sorted(lines, key=repr) for kind, lines in out.items()}
    text, database = kinds(pair.text.sheet("CommunicationCompare")), kinds(pair.db.sheet("CommunicationCompare"))
    (base, base_calls), (comparison, comparison_calls) = (pair.bare(side) for side in SIDES)
    c.equal(f"{what}: LCCL kernels, as above", [(r[2], r[3], r[9], r[10]) for r in database.pop("kernel", [])],
            [(base_calls, base / 1e3, comparison_calls, comparison / 1e3)])
    c.equal(what, database, text)
    c.equal(f"{what}: differences of tasks", {line[-2:] for lines in text.values() for line in lines if "|" in line} - {(None, None)}, set())


def kernels(c, what, pair):
    """kernel_details.csv lists collectives among the kernels, by start; a database has them in a table of their own, and its own order."""
    text, database = pair.text.sheet("KernelCompare"), pair.db.sheet("KernelCompare")
    kinds = {name for (name,) in pair.db.rows("SELECT DISTINCT op_type FROM prof_comm_op WHERE group_name IS NOT NULL")}
    listed = [row[1:] for row in text[1:] if row[1] not in kinds]
    c.equal(f"{what}: collectives in text", {row[1] for row in text[1:]} >= kinds and len(kinds) > 0, True)
    for at, side in ((3, "base"), (8, "comparison")):
        calls = "SELECT op_type, sum(dur_ns) / 1e3, count(*) FROM prof_comm_op WHERE profile = ? AND group_name IS NOT NULL" + (
            "" if pair.step is None else f" AND step = {pair.step}") + " GROUP BY 1 ORDER BY 1"
        c.equal(f"{what}: collectives of {side}", sorted((r[1], r[at], r[at + 4]) for r in text[1:] if r[1] in kinds),
                [(name, round(total, 2), count) for name, total, count in pair.db.rows(calls, side)])
    c.equal(what, sorted((row[1:] for row in database[1:]), key=repr), sorted(listed, key=repr))


def copies_by_engine(row):
    """A trace names the runtime's call that started a copy; a database knows the engine only."""
    return tuple(re.sub(r"^MEMCPY_ASYNC, (\d+), (\w+)", r"\2, \1, \2", cell, flags=re.M) if isinstance(cell, str) else cell for cell in row)


def operators(c, what, pair):
    text, database = pair.text.sheet("OperatorCompare"), pair.db.sheet("OperatorCompare")
    c.equal(f"{what}: copies_by_engine is needed", database == text, False)
    c.equal(what, database, [copies_by_engine(row) for row in text])


def terminal(c, what, pair):
    """Bandwidths are in communication.json alone; what the process holds is in no table of this database; AI CPU as above."""
    text, database = (dict((row[0], row[1:]) for row in s.sheet("terminal")[1:]) for s in (pair.text, pair.db))
    for metric in ("RDMA Bandwidth", "SDMA Bandwidth", "Other Time"):
        c.equal(f"{what}: {metric} in text only", (metric in text, metric in database), (True, False))
        text.pop(metric, None)
    for metric in ("Mem Usage", "Vector Time(Num)"):
        c.equal(f"{what}: {metric} differs", text.pop(metric) == database.pop(metric), False)
    c.equal(what, database, text)


def averages_as_listed(rows):
    """op_statistic.csv has averages with three decimals of a us; of a database's kernels they are exact."""
    out = []
    for row in rows:
        row = list(row)
        for total, average, calls in ((3, 4, 7), (8, 9, 12)):
            exact = round(row[total] * 1000) / row[calls] / 1e3 if row[calls] else 0.0
            assert abs(row[average] - exact) <= 0.0005001, row
            row[average] = exact
        base, comparison = row[4], row[9]
        row[14] = round(comparison / base, 4) if base else float("inf") if comparison else 1.0
        out.append(tuple(row))
    assert out != rows
    return out


EQUAL = ("OperatorCompareStatistic", "ModuleCompareStatistic", "ModuleCompare", "MemoryCompareStatistic", "MemoryCompare", "ApiCompare")


def pytorch(c, library, step):
    pair = Pair(library, RUN, CHANGED, step)
    name = "PyTorch" if step is None else f"PyTorch step {step}"
    overall(c, f"{name} OverallMetrics", pair)
    collectives(c, f"{name} CommunicationCompare", pair)
    operators(c, f"{name} OperatorCompare", pair)
    kernels(c, f"{name} KernelCompare", pair)
    terminal(c, f"{name} terminal", pair)
    for sheet in EQUAL:
        text, database = pair.text.sheet(sheet), pair.db.sheet(sheet)
        c.equal(f"{name} {sheet} has rows", len(text) > 1, True)
        c.equal(f"{name} {sheet}", database, text)
    text, database = (s.sheet("KernelTypeCompare") for s in (pair.text, pair.db))
    c.equal(f"{name} KernelTypeCompare", database[1:], text[1:] if step is not None else averages_as_listed(text[1:]))


def mindspore(c, library):
    """The database of MindSpore holds nothing of the host: operators, and what is told by them, are in the trace alone."""
    pair = Pair(library, MINDSPORE, RUN)
    text, database = (tree(s.sheet("OverallMetrics")) for s in (pair.text, pair.db))
    bare_kernels_communicate(text, pair)
    tasks_reach_further(text, pair)
    c.equal("MindSpore times as a whole", {path: row[::2] for path, row in database.items() if path[0] != "Computing Time" or len(path) == 1},
            {path: row[::2] for path, row in text.items() if path[0] != "Computing Time" or len(path) == 1})
    collectives(c, "MindSpore CommunicationCompare", pair)
    kernels(c, "MindSpore KernelCompare", pair)
    # Kinds of one ratio stand as op_statistic.csv lists them, or as kernels come.
    text, database = (s.sheet("KernelTypeCompare")[1:] for s in (pair.text, pair.db))
    c.equal("MindSpore KernelTypeCompare", *(sorted((row[1:] for row in rows), key=repr) for rows in (database, averages_as_listed(text))))
    for sheet in ("OperatorCompare", "OperatorCompareStatistic", "MemoryCompare", "MemoryCompareStatistic", "ApiCompare"):
        c.equal(f"MindSpore {sheet}: nothing of base in the database",
                pair.db.value("SELECT count(*) FROM prof_host_op WHERE profile = 'base' AND root_id IS NOT NULL"), 0)
        c.equal(f"MindSpore {sheet}: text has more", len(pair.text.sheet(sheet)) > len(pair.db.sheet(sheet)) > 1, True)


def main():
    c = Checks()
    pytorch(c, sys.argv[1], None)
    pytorch(c, sys.argv[1], 11)
    mindspore(c, sys.argv[1])
    sys.exit(c.report())


if __name__ == "__main__":
    main()
