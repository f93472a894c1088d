#!/usr/bin/python3
"""Load libprofana in Python and take an answer into pandas.

  hot_operators.py PROFILE [LIBRARY]

Needs a Python whose sqlite3 module can load extensions: Debian's /usr/bin/python3 can, pyenv's builds cannot.
"""
import sqlite3
import sys

import pandas as pd

profile = sys.argv[1]
library = sys.argv[2] if len(sys.argv) > 2 else "libprofana"

connection = sqlite3.connect(":memory:")
connection.enable_load_extension(True)
connection.load_extension(library)
connection.enable_load_extension(False)

connection.execute("SELECT profana_open('run', ?)", (profile,)).fetchone()
frame = pd.read_sql_query("SELECT op_type, calls, total_ns / 1000.0 AS total_us, time_ratio FROM hot_op", connection)
print(frame.to_string(index=False, float_format="%.3f"))
