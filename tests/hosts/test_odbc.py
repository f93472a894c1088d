"""ODBC: isql on a data source with LoadExt, as spreadsheets and BI tools use it."""
import os
import re
import subprocess
import tempfile

from common import PROFILE, ROOT, check, library

with open(f"{ROOT}/examples/odbc/odbc.ini", encoding="utf-8") as f:
    ini = re.sub(r"LoadExt = .*", f"LoadExt = {library()}", f.read())
with open(f"{ROOT}/examples/odbc/hot_operators.sql", encoding="utf-8") as f:
    sql = f.read().replace("@PROFILE@", PROFILE)
with tempfile.NamedTemporaryFile("w", suffix=".ini") as file:
    file.write(ini)
    file.flush()
    done = subprocess.run(["isql", "profana", "-b", "-d|"], input=sql.replace(";\n", "\n"), text=True, capture_output=True, check=False,
                          env=os.environ | {"ODBCINI": file.name})
rows = [line.split("|") for line in done.stdout.splitlines() if line.count("|") == 2]
check([(a, int(b), int(c)) for a, b, c in rows], "odbc")
