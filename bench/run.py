#!/usr/bin/python3
"""Ask libprofana and the tools people use now the same questions, in one run, and print seconds, memory and ratios.

  run.py [--lib build/libprofana.so] [--data DIR] [--runs 5] [--only kernels,trace,large,join,intervals,sequences] [--markdown]
  run.py --quick     every question once, on inputs of a few thousand rows: does the benchmark itself still work?

Inputs are made in DIR (several GB with `large`) by generate.py when they are not there. DuckDB comes from npm
(`npm install` in bench/peers), pandas from Debian's python3-pandas; a tool that is not there is left out and named.
Every tool's answer is compared with ours: `equal`, or by how much its sums are off (times as doubles). Exit 1: an
answer has other groups or counts than ours, or a tool that is there failed.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
NODE = ["node", os.path.join(HERE, "peers", "duckdb.mjs")]
PANDAS = "import pandas as pd, json, sys; f = sys.argv[1]\n"
FAULTS = []


def answers(argv):
    try:
        return subprocess.run(argv, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def missing_tools():
    """{first word of a tool's name: how to get it}"""
    missing = {}
    if not answers(NODE + ["SELECT 1"]):
        missing["DuckDB"] = "npm install in bench/peers"
    if not answers(["/usr/bin/python3", "-c", "import pandas"]):
        missing["pandas"] = "apt install python3-pandas"
    return missing


def measure(argv, runs):
    """-> (median seconds, peak MiB, output), or None when the tool fails."""
    seconds, peak, output = [], 0, ""
    for _ in range(runs):
        begin = time.monotonic()
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=errors, text=True)
            output = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            seconds.append(time.monotonic() - begin)
            errors.seek(0)
            if status:
                FAULTS.append(f"{argv[0]} {argv[1]}: {errors.read().strip()[-300:]}")
                return None
        peak = max(peak, usage.ru_maxrss / 1024)
    return statistics.median(seconds), peak, output


def rows_of_shell(text):
    return {key: (int(n), float(total or 0)) for key, n, total in (line.split("|") for line in text.split("\n") if line.count("|") == 2)}


def rows_of_json(text):
    data = json.loads(text)
    return {key or "": (int(n), float(total or 0)) for key, n, total in (data["rows"] if isinstance(data, dict) else data)}


def verdict(ours_ns, theirs_us):
    """Ours: {key: (count, ns)}; theirs: {key: (count, us)}."""
    if {k: v[0] for k, v in ours_ns.items()} != {k: v[0] for k, v in theirs_us.items()}:
        FAULTS.append(f"other groups or counts: {theirs_us} instead of {ours_ns}"[:500])
        return "COUNTS DIFFER"
    worst = max((abs(theirs_us[k][1] * 1000 - ns) for k, (_, ns) in ours_ns.items()), default=0)
    return "equal" if worst < 0.5 else f"off by up to {worst:.3g} ns"


class Table:
    def __init__(self, markdown, missing):
        self.markdown = markdown
        self.missing = missing

    def head(self, title):
        print(f"\n{'### ' if self.markdown else ''}{title}\n")
        print("| tool | seconds | peak MiB | times ours | answer |\n|---|---|---|---|---|")

    def row(self, tool, seconds, peak, ratio, answer):
        print(f"| {tool} | {seconds:.3f} | {peak:.0f} | {ratio:.1f} | {answer} |", flush=True)

    def lacks(self, tool):
        """Says so when a tool is not there."""
        needs = next((how for name, how in self.missing.items() if name in tool), None)
        if needs:
            print(f"| {tool} | left out: not there ({needs}) | | | |", flush=True)
        return needs is not None


def shell(lib, *sql):
    return ["sqlite3", "-batch", ":memory:", "-cmd", f".load {lib}", *sql]


def question(table, title, ours, peers, runs):
    """ours: argv; peers: [(name, argv, parse)]. Prints a table; returns our figures."""
    table.head(title)
    mine = measure(ours, runs)
    if mine is None:
        sys.exit(f"our own query failed: {ours}")
    answer = rows_of_shell(mine[2])
    table.row("profana", mine[0], mine[1], 1, f"{len(answer)} groups, exact")
    for name, argv, parse in peers:
        if table.lacks(name):
            continue
        got = measure(argv, runs)
        if got is None:
            print(f"| {name} | failed | | | |", flush=True)
            continue
        table.row(name, got[0], got[1], got[0] / mine[0], verdict(answer, parse(got[2])))
    return mine


def kernels(table, lib, csv, runs):
    sql = f"SELECT op_type, count(*), sum(dur_ns) FROM kernel_details('{csv}') GROUP BY 1;"
    duck = "SELECT \"Type\", count(*), sum(\"Duration(us)\") FROM {} GROUP BY 1"
    question(table, f"kernel_details.csv, {os.path.getsize(csv) >> 20} MiB: time by operator type, cold", shell(lib, sql), [
        ("DuckDB read_csv", NODE + [duck.format(f"read_csv('{csv}')")], rows_of_json),
        ("pandas read_csv + groupby", ["/usr/bin/python3", "-c", PANDAS + "g = pd.read_csv(f).groupby('Type')['Duration(us)'].agg("
         "['count', 'sum']); print(json.dumps([[k, int(r['count']), r['sum']] for k, r in g.iterrows()]))", csv], rows_of_json),
        ("sqlite3 .import", ["sqlite3", "-batch", ":memory:", "-cmd", ".mode csv", "-cmd", f".import {csv} t", "-cmd",
                             ".mode list", "SELECT \"Type\", count(*), sum(\"Duration(us)\") FROM t GROUP BY 1;"], rows_of_shell)], runs)
    table.head("the same, warm (second time in one session; only the query's own time)")
    warm = timed(lib, runs, sql, sql)
    table.row("profana", warm, 0, 1, "")
    if table.lacks("DuckDB table"):
        return
    got = measure(NODE + ["--warm", f"CREATE TABLE t AS SELECT * FROM read_csv('{csv}')", duck.format("t")], runs)
    if got is not None:
        table.row("DuckDB table", json.loads(got[2])["seconds"], 0, json.loads(got[2])["seconds"] / warm, "")


def timed(lib, runs, *sql, answer=None, cpu=False):
    """What the sqlite3 shell's timer says of the last statement, median. The timer works on statements from stdin only.
    answer: a list that gets what the last statement printed. cpu: user and system time, else the clock's."""
    script = "\n".join([f".load {lib}", ".timer on", *sql]) + "\n"
    def once():
        done = subprocess.run(["sqlite3", "-batch", ":memory:"], input=script, text=True, capture_output=True, check=True)
        if answer is not None:
            answer.append([line for line in done.stdout.split("\n") if line and not line.startswith("Run Time")][-1])
        real, user, system = map(float, re.findall(r"Run Time: real ([\d.]+) user ([\d.]+) sys ([\d.]+)", done.stdout)[-1])
        return max(user + system if cpu else real, 0.0005)
    return statistics.median(once() for _ in range(runs))


def trace(table, lib, path, runs, title):
    sql = f"SELECT cat, count(*), sum(dur_ns) FROM trace_event('{path}') GROUP BY 1;"
    duck = ("SELECT e.cat, count(*), sum(e.dur) FROM (SELECT unnest(traceEvents) AS e FROM "
            f"read_json('{path}', maximum_object_size=4000000000)) GROUP BY 1")
    peers = [("DuckDB read_json", NODE + [duck], rows_of_json)]
    if os.path.getsize(path) < 900_000_000 and not path.endswith(".gz"):
        peers.append(("json_each(readfile())", ["sqlite3", "-batch", ":memory:", "SELECT value->>'cat', count(*), sum(value->>'dur') "
                      f"FROM json_each(readfile('{path}'), '$.traceEvents') GROUP BY 1;"], rows_of_shell))
        peers.append(("Python json + pandas", ["/usr/bin/python3", "-c", PANDAS + "e = pd.DataFrame(json.load(open(f))['traceEvents'])"
                      ".groupby('cat')['dur'].agg(['size', 'sum']); print(json.dumps([[k, int(r['size']), r['sum']] for k, r in e.iterrows()]))",
                      path], rows_of_json))
    mine = question(table, f"{os.path.basename(path)}, {os.path.getsize(path) >> 20} MiB, {title}", shell(lib, sql), peers, runs)
    size = re.search(r"tables: (\d+)", measure(shell(lib, sql, "SELECT profana_debug();"), 1)[2])
    print(f"\nThe loaded table takes {int(size.group(1)) / 2**20:.0f} MiB; peak over it: {mine[1] - int(size.group(1)) / 2**20:.0f} MiB.")


def join(table, lib, csv, runs):
    kernels_table = f"kernel_details('{csv}')"
    for source, column, note in ((kernels_table, "start_ns", "distinct integers"), (kernels_table, "line", "row numbers"),
                                 ("temp.raw", '"Start Time(us)"', "distinct texts"),
                                 ("temp.raw", '"Duration(us)"', "reals, some rows with each")):
        made = f"CREATE VIRTUAL TABLE temp.raw USING profiler_csv('{csv}');"
        sql = f"SELECT count(*) FROM {source} AS a JOIN {source} AS b ON a.{column} = b.{column};"
        found = []
        ours, first = timed(lib, runs, made, sql, sql, answer=found), timed(lib, 1, made, sql)
        tables = [f"CREATE TABLE {t} AS SELECT {column} AS k FROM {source}; CREATE INDEX i{t} ON {t}(k);" for t in "xy"]
        theirs = timed(lib, runs, made, *tables, "SELECT count(*) FROM x JOIN y ON x.k = y.k;", answer=found)
        table.head(f"join of two tables of all kernels on {column} ({note})")
        table.row("profana, index there", ours, 0, 1, f"{found[0]} rows; first time, with loading and index: {first:.3f} s")
        same = len(set(found)) == 1
        table.row("SQLite tables with an index", theirs, 0, theirs / ours, "equal" if same else "COUNTS DIFFER")
        if not same:
            FAULTS.append(f"join on {column}: {found}")


ISLANDS = ("SELECT sum(max(b - max(a, coalesce(reached, a)), 0)) FROM (SELECT a, b, max(b) OVER (ORDER BY a ROWS BETWEEN "
           "UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached FROM ev);")


def intervals(table, lib, count, runs):
    """The union's length of intervals of which nearly half touch or overlap the next; processor time, second time in a session."""
    for order, what in (("i", "in order of start"), ("(i * 2654435761) % 4294967291", "in no order")):
        made = ("CREATE TABLE ev AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT "
                f"{count}) SELECT i * 100 AS a, i * 100 + (i * 7919) % 180 AS b FROM n ORDER BY {order};")
        found = []
        scan, ours, theirs = (timed(lib, runs, made, sql, sql, answer=answer, cpu=True) for sql, answer in (
            ("SELECT sum(b - a) FROM ev;", None), ("SELECT interval_coverage(a, b) FROM ev;", found), (ISLANDS, found)))
        table.head(f"union of {count} intervals {what}, in memory: processor time, warm")
        table.row("scan of the rows alone", scan, 0, scan / ours, "")
        table.row("interval_coverage", ours, 0, 1, f"{1000 * (ours - scan):.0f} ms beyond the scan")
        same = len(set(found)) == 1
        table.row("SQLite window function", theirs, 0, theirs / ours, "equal" if same else "LENGTHS DIFFER")
        if not same:
            FAULTS.append(f"intervals {what}: {sorted(set(found))}")


SEQUENCES = (  # what, the items of base and comparison in SQL, both lists in Python
    ("a loop, one item in 5000 renamed", "'op' || (i % 997)", "CASE WHEN i % 5000 = 17 THEN 'new' || i ELSE 'op' || (i % 997) END",
     "[f'op{i % 997}' for i in range(n)], [f'new{i}' if i % 5000 == 17 else f'op{i % 997}' for i in range(n)]"),
    ("one name, and once another", "'add'", "CASE WHEN i = n.size / 3 THEN 'mul' ELSE 'add' END",
     "['add'] * n, ['mul' if i == n // 3 else 'add' for i in range(n)]"))


def sequences(table, lib, count, runs):
    """Two lists of names matched by blocks: a training loop against one with other names here and there, and one name over and over."""
    def made(size, item):
        return (f"(WITH RECURSIVE n(i, size) AS (SELECT 0, {size} UNION ALL SELECT i + 1, size FROM n LIMIT {size}) "
                f"SELECT json_group_array({item}) FROM n)")
    for what, base, comparison, python in SEQUENCES:
        def query(size):
            return ("SELECT 'pairs', count(base_index + comparison_index), 0 FROM "
                    f"sequence_match({made(size, base)}, {made(size, comparison)}, 'block');")
        few = max(count // 500, 200)
        mine, small = measure(shell(lib, query(count)), runs), measure(shell(lib, query(few)), 1)
        lists = measure(shell(lib, f"SELECT length({made(count, base)}), length({made(count, comparison)});"), runs)
        theirs = measure(["/usr/bin/python3", "-c", f"import difflib; n = {few}; m = difflib.SequenceMatcher(None, {python}, autojunk=False); "
                          "print(sum(b.size for b in m.get_matching_blocks()))"], 1)
        table.head(f"sequence_match of two lists of {count} names: {what}")
        table.row("making the lists alone", lists[0], lists[1], lists[0] / mine[0], "")
        table.row("profana", mine[0], mine[1], 1, f"{rows_of_shell(mine[2])['pairs'][0]} pairs")
        same = int(theirs[2]) == rows_of_shell(small[2])["pairs"][0]
        table.row(f"Python difflib, {few} names", theirs[0], theirs[1], theirs[0] / mine[0], "equal" if same else "PAIRS DIFFER")
        if not same:
            FAULTS.append(f"sequences, {what}: {theirs[2].strip()} pairs of difflib, {small[2].strip()}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--lib", default="build/libprofana.so")
    p.add_argument("--data", default="bench/data")
    p.add_argument("--runs", type=int, default=5)
    p.add_argument("--only", default="kernels,trace,large,join,intervals,sequences")
    p.add_argument("--markdown", action="store_true")
    p.add_argument("--quick", action="store_true")
    a = p.parse_args()
    if a.quick:
        with tempfile.TemporaryDirectory() as folder:
            a.data, a.runs = folder, 1
            run(a, {"--rows": "3000"}, {"--events": "2000"}, {"--events": "4000"}, {"--bytes": "3000000"}, 3000)
    else:
        os.makedirs(a.data, exist_ok=True)
        run(a, {}, {}, {"--events": "5000000"}, {}, 1000000)
    for fault in FAULTS:
        print("FAULT:", fault)
    sys.exit(1 if FAULTS else 0)


def run(a, kernel_size, trace_size, large_size, repeat_size, items):
    lib = os.path.abspath(a.lib).removesuffix(".so")

    def made(name, kind, size):
        path = os.path.join(a.data, name)
        if not os.path.exists(path):
            print(f"making {path}", file=sys.stderr)
            options = [word for option in size.items() for word in option]
            subprocess.run([sys.executable, os.path.join(HERE, "generate.py"), kind, path, *options], check=True)
        return path

    only, table = set(a.only.split(",")), Table(a.markdown, missing_tools())
    if only & {"kernels", "join"}:
        csv = made("kernel_details_1m.csv", "kernels", kernel_size)
    if "kernels" in only:
        kernels(table, lib, csv, a.runs)
    if "trace" in only:
        trace(table, lib, made("trace_1m.json", "trace", trace_size), a.runs, "trace: time by category, cold")
        trace(table, lib, made("trace_1m.json.gz", "trace", trace_size), a.runs, "the same, gzip")
    if "large" in only:
        trace(table, lib, made("trace_5m.json", "trace", large_size), min(a.runs, 3), "a larger trace: the same, cold")
        five = made("trace_5gb.json", "repeat", repeat_size)
        mine = measure(shell(lib, f"SELECT cat, count(*), sum(dur_ns) FROM trace_event('{five}') GROUP BY 1;", "SELECT profana_debug();"), 1)
        size = int(re.search(r"tables: (\d+)", mine[2]).group(1)) / 2**20
        print(f"\nA trace of {os.path.getsize(five) / 1e9:.1f} GB: {mine[0]:.1f} s, peak {mine[1]:.0f} MiB, table {size:.0f} MiB.")
    if "join" in only:
        join(table, lib, csv, a.runs)
    if "intervals" in only:
        intervals(table, lib, items, a.runs)
    if "sequences" in only:
        sequences(table, lib, items, min(a.runs, 3))


if __name__ == "__main__":
    main()
