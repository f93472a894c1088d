"""Exports of the TinyMLP pair: a database and CSV files that need no extension, a workbook that LibreOffice reads, an HTML page
that Chromium draws; nothing is overwritten unasked and nothing half-written is left behind."""
import csv
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = os.path.abspath(sys.argv[1])


def run_program(argv, **options):
    """Another program; what a sanitized library needs preloaded is not for it."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    subprocess.run(argv, env=environment, check=True, capture_output=True, **options)


def connect():
    connection = sqlite3.connect(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(LIBRARY)
    connection.execute("SELECT profana_open('base', ?)", (f"{ROOT}/examples/tinymlp/04_pytorch",)).fetchone()
    connection.execute("SELECT profana_open('comparison', ?)", (f"{ROOT}/examples/tinymlp/05_pytorch_slow",)).fetchone()
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
    assert error_of(connection, "SELECT profana_export(?)", f"{folder}/none/x.db") != "no error"
    assert "is the path to write" in error_of(connection, "SELECT profana_export(NULL)")
    left = [name for name in os.listdir(folder) if ".part" in name or name.startswith("x.")]
    assert not left, left


def sheet_rows(folder, sheet):
    with open(f"{folder}/book-{sheet}.csv", newline="", encoding="utf-8") as f:
        return list(csv.reader(f))


def workbook(connection, folder):
    path = f"{folder}/book.xlsx"
    connection.execute("SELECT profana_export(?)", (path,)).fetchone()
    with zipfile.ZipFile(path) as book:
        styles = book.read("xl/styles.xml").decode()
        assert "FFFF0000" in styles and "FF00BFFF" in styles, "no red cell, or no coloured row"
    run_program(["soffice", "--headless", f"-env:UserInstallation=file://{folder}/office", "--convert-to",
                 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1', "--outdir", folder, path])
    overall = sheet_rows(folder, "OverallMetrics")
    assert overall[0][1].startswith("Base Profiling: ") and overall[0][4].startswith("Comparison Profiling: "), overall[0]
    assert overall[1] == [""] * len(overall[1]), "the second row is blank"
    assert overall[2][:4] == ["Index", "Duration(ms)", "Duration Ratio", "Number"], overall[2]
    # Computing bars of trace_view.json are step_trace_time's Computing: 34.38 + 35.2 + 34.88 + 34.6 + 34.7 us.
    computing = next(r for r in overall if r[0].strip() == "Computing Time")
    assert computing[1] == "0.17376", computing
    kinds = sheet_rows(folder, "KernelTypeCompare")
    cast = next(r for r in kinds if r[1] == "Cast")
    assert cast[-2] == "INF" and cast[12] == "20", cast
    names = [name for name in os.listdir(folder) if name.startswith("book-")]
    assert len(names) >= 6, names


def page(connection, folder):
    path = f"{folder}/page.html"
    connection.execute("SELECT profana_export(?)", (path,)).fetchone()
    with open(path, encoding="utf-8") as f:
        text = f.read()
    assert not re.search(r"(src|href)=|https?://|@import", text), "the page must stand alone"
    for word in ("Computing Time", "Cast", "stream 2", "base", "comparison"):
        assert word in text, word
    picture = f"{folder}/page.png"
    run_program(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                 "--disable-component-update", "--disable-sync", f"--user-data-dir={folder}/chromium", "--window-size=1240,1800",
                 f"--screenshot={picture}", f"file://{path}"], timeout=120)
    assert os.path.getsize(picture) > 40_000, "the picture is almost empty"


with tempfile.TemporaryDirectory() as place:
    link = connect()
    for step in (database, csv_folder, errors, workbook, page):
        step(link, place)
        print(f"{step.__name__}: ok")
