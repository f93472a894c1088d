"""Exports of the TinyMLP pair: a database and CSV files that need no extension, a workbook that LibreOffice reads, an HTML page
that Chromium draws; nothing is overwritten unasked and nothing half-written is left behind."""
import csv
import itertools
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(f"{ROOT}/tests/golden")
import check
from workbook import Workbook

LIBRARY = os.path.abspath(sys.argv[1])


def run_program(argv, **options):
    """Another program; what a sanitized library needs preloaded is not for it."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    return subprocess.run(argv, env=environment, check=True, capture_output=True, **options)


def connect(base=f"{ROOT}/examples/tinymlp/04_pytorch", comparison=f"{ROOT}/examples/tinymlp/05_pytorch_slow"):
    connection = sqlite3.connect(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(LIBRARY)
    connection.execute("SELECT profana_open('base', ?)", (base,)).fetchone()
    connection.execute("SELECT profana_open('comparison', ?)", (comparison,)).fetchone()
    return connection


def error_of(connection, sql, *values):
    try:
        connection.execute(sql, values).fetchall()
    except sqlite3.Error as error:
        return str(error)
    return "no error"


def database(connection, folder):
    path = f"{folder}/out.db"
    connection.execute("SELECT profana_export(?)", (path,)).fetchone()
    plain = sqlite3.connect(path)
    for table in ("overall_metrics", "kernel_type_compare", "hot_op"):
        ours = connection.execute(f"SELECT * FROM {table}").fetchall()
        assert plain.execute(f"SELECT * FROM {table}").fetchall() == ours and ours, table
    types = {name: kind for _, name, kind, *_ in plain.execute("PRAGMA table_info(hot_op)")}
    assert (types["op_type"], types["calls"], types["total_ns"], types["time_ratio"]) == ("TEXT", "INTEGER", "INTEGER", "REAL"), types
    assert "is there already" in error_of(connection, "SELECT profana_export(?)", path)
    connection.execute("SELECT profana_export(?, 'hot_op', 1)", (path,)).fetchone()
    names = {name for (name,) in sqlite3.connect(path).execute("SELECT name FROM sqlite_schema")}
    assert names == {"hot_op"}, names


def csv_folder(connection, folder):
    connection.execute("SELECT profana_export(?, 'hot_op, prof_source')", (f"{folder}/csv",)).fetchone()
    with open(f"{folder}/csv/hot_op.csv", newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    # op_statistic.csv of the first profile: MatMulV2 136.160 us in 20 calls.
    first = next(r for r in rows if r["profile"] == "base" and r["op_type"] == "MatMulV2")
    assert (first["calls"], first["total_ns"]) == ("20", "136160"), first


def errors(connection, folder):
    assert "there is no table or view 'nothing'" in error_of(connection, "SELECT profana_export(?, 'nothing')", f"{folder}/x.db")
    assert "ends in .doc" in error_of(connection, "SELECT profana_export(?)", f"{folder}/x.doc")
    wrong = error_of(connection, "SELECT profana_export(?, 'Other')", f"{folder}/x.xlsx")
    assert "no sheet 'Other'" in wrong, wrong
    for name in ("x.db", "x.xlsx", "x.html", "x"):
        assert f"there is no folder '{folder}/none'" in error_of(connection, "SELECT profana_export(?)", f"{folder}/none/{name}"), name
    for name, views in (("x.db", "prof_source"), ("x", "prof_source"), ("x.xlsx", "ApiCompare")):
        assert error_of(connection, "SELECT profana_export(?, ?)", f"/proc/{name}", views).startswith("profana_export: "), name
    for wrong in (2, "yes", 1.5):
        assert f"argument overwrite is '{wrong}'; accepted: 0 or 1" in error_of(connection, "SELECT profana_export(?, NULL, ?)", f"{folder}/x.db", wrong)
    assert "is the path to write" in error_of(connection, "SELECT profana_export(NULL)")
    left = [name for name in os.listdir(folder) if ".part" in name or name.startswith("x")]
    assert not left, left


def listed_names(connection, folder):
    """A list names each thing once, of a workbook as of a database; a list of nothing is refused."""
    connection.execute("SELECT profana_export(?, 'ApiCompare, ApiCompare,,OverallMetrics')", (f"{folder}/twice.xlsx",)).fetchone()
    assert list(Workbook(f"{folder}/twice.xlsx").cells) == ["ApiCompare", "OverallMetrics"]
    for end in ("x.xlsx", "x.db", "x"):
        for nothing in ("", " , "):
            assert "names nothing" in error_of(connection, "SELECT profana_export(?, ?)", f"{folder}/{end}", nothing), end
    connection.execute("SELECT profana_export(?)", (f"{folder}/all.db",)).fetchone()
    there = {name for (name,) in sqlite3.connect(f"{folder}/all.db").execute("SELECT name FROM sqlite_schema")}
    assert {"overall_metrics", "diagnosis", "compare_diagnostic", "time_by_kind", "hot_op"} <= there, there
    assert "kernel_kind" not in there


def kept(connection, folder):
    """Told to overwrite, an export still never takes what is not an export: a folder with other files, a folder for a file."""
    os.makedirs(f"{folder}/home")
    for name in ("old.csv", "thesis.txt"):
        with open(f"{folder}/home/{name}", "w", encoding="utf-8") as f:
            f.write("mine")
    assert "holds more than CSV files (thesis.txt)" in error_of(connection, "SELECT profana_export(?, 'prof_source', 1)", f"{folder}/home")
    assert sorted(os.listdir(f"{folder}/home")) == ["old.csv", "thesis.txt"]
    os.remove(f"{folder}/home/thesis.txt")
    connection.execute("SELECT profana_export(?, 'prof_source', 1)", (f"{folder}/home",)).fetchone()
    assert os.listdir(f"{folder}/home") == ["prof_source.csv"]
    os.makedirs(f"{folder}/folder.db")
    assert "is a folder" in error_of(connection, "SELECT profana_export(?, 'prof_source', 1)", f"{folder}/folder.db")


def in_use(connection, folder):
    """Nor what is open: a database of the connection, a file of a profile, a folder that holds one."""
    def refused(what, path):
        words = error_of(connection, "SELECT profana_export(?, 'prof_source', 1)", path)
        assert what in words and "not replaced, even with overwrite" in words, words

    connection.execute("ATTACH ? AS own", (f"{folder}/own.db",))
    connection.execute("CREATE TABLE own.mine(a)")
    refused("the open database own", f"{folder}/own.db")
    os.symlink("own.db", f"{folder}/link.db")
    refused("the open database own", f"{folder}/link.db")
    here = os.getcwd()
    os.chdir(folder)  # a name, not a URI of the file behind it
    connection.execute("SELECT profana_export('file:own.db?y=.db', 'prof_source', 1)").fetchall()
    os.chdir(here)
    assert os.path.exists(f"{folder}/file:own.db?y=.db")
    connection.execute("DETACH own")
    assert sqlite3.connect(f"{folder}/own.db").execute("SELECT name FROM sqlite_schema").fetchall() == [("mine",)]
    with sqlite3.connect(f"{folder}/kernels.db") as db:
        db.execute("CREATE TABLE TASK(startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER, taskType INTEGER)")
    os.makedirs(f"{folder}/capture/ASCEND_PROFILER_OUTPUT")
    kernels = f"{folder}/capture/ASCEND_PROFILER_OUTPUT/kernel_details.csv"
    with open(kernels, "w", encoding="utf-8") as f:
        f.write("Name,Type,Start Time(us),Duration(us)\nMatMul,MatMul,1,2\n")
    for opened in (f"{folder}/kernels.db", f"{folder}/capture", f"{folder}/capture/ASCEND_PROFILER_OUTPUT", kernels):
        connection.execute("SELECT profana_open('read', ?)", (opened,)).fetchall()
        refused("a file of the open profile read", opened if opened.endswith(".db") else os.path.dirname(kernels))
        connection.execute("SELECT profana_close('read')").fetchall()
    assert os.path.exists(kernels)


def interrupted(connection, folder):
    """Ctrl-C in the middle of an export of any kind: an error, nothing left, and what was there stays."""
    place = f"{folder}/interrupted"
    os.makedirs(f"{place}/old")
    for name in ("old.db", "old.xlsx", "old.html", "old/old.csv"):
        with open(f"{place}/{name}", "w", encoding="utf-8") as f:
            f.write("mine")
    before = sorted(os.listdir(place))
    connection.execute("CREATE TEMP VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
    for name, views in (("old.db", "endless"), ("old", "endless"), ("old.xlsx", None), ("old.html", None)):
        for after in (1, 20, 400) if views is None else (400,):  # at the start, in the middle, late
            calls = itertools.count()
            connection.set_progress_handler(lambda calls=calls, after=after: next(calls) >= after, 100)
            failed = error_of(connection, "SELECT profana_export(?, ?, 1)", f"{place}/{name}", views)
            connection.set_progress_handler(None, 0)
            assert "interrupted" in failed and sorted(os.listdir(place)) == before, (name, after, failed, os.listdir(place))
    connection.execute("DROP VIEW temp.endless")
    for name in ("old.db", "old.xlsx", "old.html", "old/old.csv"):
        with open(f"{place}/{name}", encoding="utf-8") as f:
            assert f.read() == "mine", name


def odd_names(connection, folder):
    """Names that are odd on a command line are ordinary here, also of columns and views; a trailing slash is the folder's."""
    place = f"{folder}/it's a \"run\" \N{LATIN SMALL LETTER U WITH DIAERESIS}\N{CJK UNIFIED IDEOGRAPH-597D}\nof 100%; $HOME"
    os.makedirs(place)
    connection.execute("""CREATE TEMP VIEW "odd ""view"" '1'" AS SELECT 1 AS "a, ""b\""", 'x,y' AS c""")
    for name in ("o'ut.db", "o ut", "\N{CJK UNIFIED IDEOGRAPH-597D}.xlsx", "-o.html"):
        connection.execute("SELECT profana_export(?)", (f"{place}/{name}",)).fetchone()
        assert os.path.exists(f"{place}/{name}"), name
    done, = connection.execute("SELECT profana_export(?, ?)", (f"{place}/slash///", """odd "view" '1', ODD "VIEW" '1'""")).fetchone()
    assert done == f"{place}/slash: 1 table" and os.listdir(f"{place}/slash") == ["""odd "view" '1'.csv"""], (done, os.listdir(place))
    with open(f"""{place}/slash/odd "view" '1'.csv""", newline="", encoding="utf-8") as f:
        assert list(csv.reader(f)) == [['a, "b"', "c"], ["1", "x,y"]]
    connection.execute("SELECT profana_export(?, 'prof_source', 1)", (f"{place}/slash/",)).fetchone()
    assert os.listdir(f"{place}/slash") == ["prof_source.csv"]
    assert not [name for name in os.listdir(place) if ".part" in name]
    connection.execute("""DROP VIEW temp."odd ""view"" '1'" """)
    connection.execute("CREATE TEMP VIEW \"../up\" AS SELECT 1 AS a")
    assert "no file can have the name" in error_of(connection, "SELECT profana_export(?, '../up')", f"{place}/up")
    connection.execute("DROP VIEW temp.\"../up\"")


def at_once(_, folder):
    """Of several exports to one place at the same time one wins, with a whole file; the others are told."""
    for name, overwrite in (("race.db", 0), ("race", 0), ("again.db", 1)):
        path, start, answers = f"{folder}/{name}", threading.Barrier(4), []

        def export(path=path, start=start, answers=answers, overwrite=overwrite):
            connection = connect()
            start.wait()
            answers.append(error_of(connection, "SELECT profana_export(?, 'hot_op, prof_source', ?)", path, overwrite))

        threads = [threading.Thread(target=export) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lost = [answer for answer in answers if answer != "no error"]
        assert len(answers) == 4 and len(lost) == (0 if overwrite else 3) and all("is there already" in answer for answer in lost), answers
        if name.endswith(".db"):
            assert sqlite3.connect(path).execute("SELECT count(*) FROM prof_source").fetchone() == (2,)
        else:
            assert sorted(os.listdir(path)) == ["hot_op.csv", "prof_source.csv"]
        assert not [entry for entry in os.listdir(folder) if ".part" in entry]


def no_permission(_, folder):
    """Another user's folder: an export says that it cannot be written into."""
    if os.getuid() != 0:
        print("no_permission: skipped, only root can become another user")
        return
    os.chmod(folder, 0o755)
    os.makedirs(f"{folder}/theirs", mode=0o755)
    connection = connect()
    os.setreuid(65534, 0)  # access() asks for the real user
    try:
        for name in ("x.db", "x.xlsx", "x.html", "x"):
            failed = error_of(connection, "SELECT profana_export(?)", f"{folder}/theirs/{name}")
            assert f"cannot write into the folder '{folder}/theirs': Permission denied" in failed, (name, failed)
    finally:
        os.setreuid(0, 0)


def full_disk(connection, folder):
    """On a disk without room every kind of export fails and leaves nothing behind. Only root can make such a disk."""
    place = f"{folder}/small"
    os.makedirs(place)
    if os.getuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", place], check=False, capture_output=True).returncode:
        print("full_disk: skipped, no right to mount")
        return
    try:
        for name, views in (("x.db", "prof_host_op"), ("x", "prof_host_op"), ("x.xlsx", "ApiCompare"), ("x.html", None)):
            failed = error_of(connection, "SELECT profana_export(?, ?)", f"{place}/{name}", views)
            assert failed.startswith("profana_export: ") and not os.listdir(place), (name, failed, os.listdir(place))
    finally:
        subprocess.run(["umount", place], check=True)


def as_libreoffice_reads(path, folder):
    """{sheet: rows, head first} of the workbook, converted to CSV without a display."""
    run_program(["soffice", "--headless", f"-env:UserInstallation=file://{folder}/office", "--convert-to",
                    'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1', "--outdir", folder, path])
    out = {}
    for name in os.listdir(folder):
        if name.startswith("book-"):
            with open(f"{folder}/{name}", newline="", encoding="utf-8") as f:
                rows = list(csv.reader(f))[2:]
            out[name[5:-4]] = [[re.sub(r"^([\d.]+)%$", lambda m: repr(float(m.group(1)) / 100), c) for c in row] for row in rows]
    return out


def workbook(_, folder):
    """Sheets, figures and looks of a golden case; LibreOffice reads the same figures."""
    case = f"{ROOT}/tests/golden/micro_class"
    path = f"{folder}/book.xlsx"
    connect(f"{case}/base/x_ascend_pt", f"{case}/comparison/x_ascend_pt").execute("SELECT profana_export(?)", (path,)).fetchone()
    book = Workbook(path)
    assert book.names == ["OverallMetrics", "CommunicationCompare", "OperatorCompareStatistic", "OperatorCompare", "MemoryCompareStatistic",
                          "MemoryCompare", "ApiCompare", "KernelCompare"], book.names
    judge = check.Judge(check.read_differences(f"{ROOT}/tests/golden/differences.tsv"))
    converted = as_libreoffice_reads(path, folder)
    assert set(converted) == set(book.names), set(converted)
    for name in book.names:
        with open(f"{case}/expected/all/{name}.csv", newline="", encoding="utf-8") as f:
            golden = list(csv.reader(f))
        for kind, rows in (("xlsx", book.rows(name)), ("LibreOffice", converted[name])):
            wrong = judge.complaints(("micro_class", "all", name), rows, golden)
            assert not wrong, (kind, name, wrong[:5])
    looks(book)


def looks(book):
    """Heads in two rows, green and yellow; sky for the overall wholes; red, as percent, where a ratio is above 1 and nowhere else."""
    sheet = "OverallMetrics"
    assert book.merged[sheet] == ["B1:D1", "E1:G1"] and book.cells[sheet][1, 1][0].startswith("Base Profiling: "), book.merged
    assert book.cells[sheet][1, 4][0].startswith("Comparison Profiling: ") and not [c for c in book.cells[sheet] if c[0] == 2]
    assert [book.look(sheet, 3, c)[0] for c in range(9)] == ["00FF00"] * 4 + ["FFFF00"] * 3 + ["00FF00"] * 2
    assert book.look(sheet, 4, 0)[0] == "00BFFF" and [book.look(sheet, 4, c)[1] for c in (1, 2, 3)] == ["#,##0.00", "0.00%", "#,##0"]
    levels = {text.count("\t"): book.look(sheet, row, 0) for (row, c), (text, _) in book.cells[sheet].items() if c == 0 and row > 4}
    assert {level: look[3] for level, look in levels.items()} == {0: 0, 1: 1, 2: 2} and levels[2][0] is None, levels
    assert book.look("KernelCompare", 4, 1)[2] and not book.look("KernelCompare", 4, 2)[2], "the kernel's name is bold"
    red = plain = 0
    for sheet in book.names:
        heads = {c: text for (row, c), (text, _) in book.cells[sheet].items() if row == 3}
        for (row, c), (text, _) in book.cells[sheet].items():
            if row < 4:
                continue
            fill, number, _, _ = book.look(sheet, row, c)
            above = "Diff" in heads[c] and "Ratio" in heads[c] and text != "" and (text == "INF" or float(text) > 1)
            assert (fill == "FF0000") == above and (not above or number == "0.00%"), (sheet, row, heads[c], text, fill, number)
            red, plain = red + above, plain + (not above)
    assert red > 20 and plain > 200, (red, plain)


# Runs in a copy of the page: what cannot be read there, a line each.
CHECK_LABELS = """
const wrong = [], crosses = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
for (const svg of document.querySelectorAll('svg')) {
  const texts = [...svg.querySelectorAll('text')].map(t => [t, t.getBoundingClientRect()]);
  texts.forEach(([t, a], i) => texts.slice(i + 1).forEach(([u, b]) => { if (crosses(a, b)) wrong.push(`${t.textContent} lies on ${u.textContent}`); }));
  for (const [t, a] of texts) {
    if (parseFloat(getComputedStyle(t).fontSize) < 11) wrong.push(`${t.textContent} is tiny`);
    if (t.classList.contains('inside') && a.right > t.previousElementSibling.getBoundingClientRect().right) wrong.push(`${t.textContent} leaves its box`);
  }
}
for (const e of document.querySelectorAll('.bar i, .row > span:not(.bar), td')) if (e.scrollWidth > e.clientWidth + 1) wrong.push(`${e.textContent} is cut`);
if (document.querySelectorAll('text, .row').length < 10) wrong.push('nothing is drawn');
document.body.textContent = 'LABELS ' + (wrong.join(' | ') || 'fine') + ' END';
"""


def chromium(folder, *options):
    return run_program(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                           "--disable-component-update", "--disable-sync", f"--user-data-dir={folder}/chromium", *options], text=True,
                       timeout=120).stdout


def check_labels(text, folder):
    """Chromium draws every label whole, apart from others and large enough."""
    with open(f"{folder}/checked.html", "w", encoding="utf-8") as f:
        f.write(text.replace("</body>", f"<script>{CHECK_LABELS}</script></body>"))
    found = re.search("LABELS (.*?) END", chromium(folder, "--window-size=1240,1800", "--dump-dom", f"file://{folder}/checked.html"), re.S)
    assert found and found.group(1) == "fine", found and found.group(1)


def page(connection, folder):
    path = f"{folder}/page.html"
    connection.execute("SELECT profana_export(?)", (path,)).fetchone()
    with open(path, encoding="utf-8") as f:
        text = f.read()
    assert not re.search(r"(src|href)=|https?://|@import|<script", text), "the page must stand alone"
    # Of the pair's files: E2E and Free of both sides; Cast, which only the comparison has; both steps' streams.
    for words in (">10.457 ms<", ">15.737 ms<", "Free Time 15.459 ms", "0.000 to 0.062 ms", "npu::_npu_dtype_cast", ">stream 2<",
                  "base, step 3, 2.052 ms", "comparison, step 3, 3.208 ms", "neither profile recorded any"):
        assert words in text, words
    picture = f"{folder}/page.png"
    chromium(folder, "--window-size=1240,1800", f"--screenshot={picture}", f"file://{path}")
    assert os.path.getsize(picture) > 40_000, "the picture is almost empty"
    check_labels(text, folder)


def gpu_page(_, folder):
    """Kernels of GPU traces have no types: their names are drawn, whole however long."""
    case, long_name = f"{ROOT}/tests/golden/micro_gpu", "void at::native::" + "vectorized_elementwise_kernel<4, at::native::AddFunctor>" * 8
    for side in ("base", "comparison"):
        with open(f"{case}/{side}/x.pt.trace.json", encoding="utf-8") as f:
            trace = f.read()
        assert '"small_kernel"' in trace
        with open(f"{folder}/{side}.pt.trace.json", "w", encoding="utf-8") as f:
            f.write(trace.replace('"small_kernel"', f'"{long_name}"'))
    path = f"{folder}/gpu.html"
    connect(f"{folder}/base.pt.trace.json", f"{folder}/comparison.pt.trace.json").execute("SELECT profana_export(?)", (path,)).fetchone()
    with open(path, encoding="utf-8") as f:
        text = f.read()
    # The case's gemm takes 30 us in base, 45 us in comparison; the small kernel 15 and 16 us.
    kernels = text[text.index("<h3>Kernels, by type</h3>"):text.index("<h3>Collectives</h3>")]
    for words in ("cutlass_80_tensorop_gemm", "0.030 to 0.045 ms", long_name.replace("<", "&lt;").replace(">", "&gt;"), "0.015 to 0.016 ms"):
        assert words in kernels, (words, kernels)
    check_labels(text, folder)


with tempfile.TemporaryDirectory() as place:
    link = connect()
    for step in (database, csv_folder, errors, listed_names, kept, in_use, interrupted, odd_names, at_once, no_permission, full_disk, workbook, page, gpu_page):
        step(link, place)
        print(f"{step.__name__}: ok")
