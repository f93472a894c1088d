"""Every table and every column of a database taken away in turn: no error, the rest as before, and a reason."""
import json
import os
import shutil
import sqlite3
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden", "db_db", "base", "localhost_430485_20240625000026630_ascend_pt",
                      "ASCEND_PROFILER_OUTPUT")
DATABASE, ANALYSIS = "ascend_pytorch_profiler_0.db", "analysis.db"
LONG, KEPT_ROWS = ("TASK_PMU_INFO", "CANN_API", "OVERLAP_ANALYSIS", "MEMORY_RECORD", "OP_MEMORY", "MSTX_EVENTS"), 60

# The model tables that have rows only thanks to a table; all others must stay filled without it.
EMPTIED = {
    "TASK": ["prof_kernel", "prof_kernel_pmu", "prof_device_task", "prof_comm_task"],
    "COMPUTE_TASK_INFO": ["prof_kernel", "prof_kernel_pmu"],
    "TASK_PMU_INFO": ["prof_kernel_pmu"],
    "PYTORCH_API": ["prof_python_call", "prof_launch", "prof_fwd_bwd"],
    "CONNECTION_IDS": ["prof_launch", "prof_fwd_bwd"],
    "CANN_API": ["prof_api_stat"],
    "STEP_TIME": ["prof_step"],
    "COMMUNICATION_OP": ["prof_comm_op"],
    "COMMUNICATION_TASK_INFO": ["prof_comm_task"],
    "OP_MEMORY": ["prof_memory_alloc"],
    "MEMORY_RECORD": ["prof_memory_usage"],
    "MSTX_EVENTS": ["prof_mstx_range"],
    "OVERLAP_ANALYSIS": ["prof_overlap_bar"],
    "ENUM_OVERLAP_ANALYSIS_TYPE": ["prof_overlap_bar"],
    "META_DATA": ["prof_process_group"],
    "StepTraceTime": ["prof_step_time"],
}


def small_copy(source, target):
    """Fewer rows where many of a kind tell nothing more; without indexes, so that every column can go."""
    db = sqlite3.connect(target)
    db.execute("ATTACH ? AS source", (source,))
    for name, sql in db.execute("SELECT name, sql FROM source.sqlite_master WHERE type = 'table'").fetchall():
        db.execute(sql)
        limit = f" LIMIT {KEPT_ROWS}" if name in LONG else ""
        db.execute(f"INSERT INTO {name} SELECT * FROM source.{name}{limit}")
    db.commit()
    db.close()


def columns(db, table):
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


def drop_column(path, table, column):
    db = sqlite3.connect(path)
    rest = ", ".join(c for c in columns(db, table) if c != column)
    db.execute(f"CREATE TABLE kept AS SELECT {rest} FROM {table} ORDER BY rowid")
    db.execute(f"DROP TABLE {table}")
    db.execute(f"ALTER TABLE kept RENAME TO {table}")
    db.commit()
    db.close()


class Reader:
    """One connection reads one database after the other, as profile x."""

    def __init__(self, library):
        self.db = sqlite3.connect(":memory:")
        self.db.enable_load_extension(True)
        self.db.load_extension(library)
        names = [row[0] for row in self.db.execute("SELECT name FROM pragma_module_list WHERE name GLOB 'prof_*'")]
        self.tables = [n for n in names if columns(self.db, n)[:3] == ["profile", "rank", "id"]]

    def read(self, folder):
        """-> ({model table: rows}, what is missing)"""
        self.db.execute("SELECT profana_open('x', ?)", (os.path.join(folder, DATABASE),))
        rows = {t: self.db.execute(f"SELECT * FROM {t} ORDER BY id").fetchall() for t in self.tables}
        return rows, json.loads(self.db.execute("SELECT missing FROM prof_source").fetchone()[0] or "{}")


class Check:
    def __init__(self, library, scratch):
        self.reader, self.scratch, self.failed, self.runs = Reader(library), scratch, 0, 0
        self.whole = os.path.join(scratch, "whole")
        os.mkdir(self.whole)
        for name in (DATABASE, ANALYSIS):
            small_copy(os.path.join(GOLDEN, name), os.path.join(self.whole, name))
        self.rows, _ = self.reader.read(self.whole)
        for table in sorted({t for tables in EMPTIED.values() for t in tables}):
            self.expect(len(self.rows[table]) > 0, f"the test's own input gives {table} no rows")

    def expect(self, holds, text):
        if not holds:
            self.failed += 1
            print(text)

    def without(self, what, change):
        """-> what is read after change(folder); None after an error"""
        folder = os.path.join(self.scratch, f"changed{self.runs}")
        shutil.copytree(self.whole, folder)
        try:
            change(folder)
            self.runs += 1
            return self.reader.read(folder)
        except sqlite3.Error as error:
            self.expect(False, f"without {what}: {error}")
            return None
        finally:
            shutil.rmtree(folder)

    def table(self, file, table):
        def drop(folder):
            db = sqlite3.connect(os.path.join(folder, file))
            db.execute(f"DROP TABLE {table}")
            db.commit()
            db.close()
        read = self.without(table, drop)
        if read is None:
            return
        rows, missing = read
        emptied = EMPTIED.get(table, [])
        for name, before in self.rows.items():
            if name in emptied:
                self.expect(not rows[name], f"without {table}: {name} has rows")
                self.expect(name in missing, f"without {table}: nothing says why {name} is empty")
            elif before:
                self.expect(rows[name], f"without {table}: {name} has no rows")

    def column(self, file, table, column):
        read = self.without(f"{table}.{column}", lambda folder: drop_column(os.path.join(folder, file), table, column))
        if read is None:
            return
        for name, before in self.rows.items():
            width = {len(row) for row in read[0][name]}
            self.expect(len(width) <= 1, f"without {table}.{column}: rows of {name} have widths {width}")
            if column not in ("globalTaskId", "id", "connectionId", "type", "name", "value", "hccl_op_name",
                              "transport_type", "step", "group_name"):
                self.expect(len(read[0][name]) == len(before),
                            f"without {table}.{column}: {name} has {len(read[0][name])} rows, before {len(before)}")

    def run(self):
        for file in (DATABASE, ANALYSIS):
            db = sqlite3.connect(os.path.join(self.whole, file))
            tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            found = {table: columns(db, table) for table in tables}
            db.close()
            for table, names in found.items():
                self.table(file, table)
                for column in names if len(names) > 1 else ():
                    self.column(file, table, column)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        check = Check(sys.argv[1], scratch)
        check.run()
    print(f"{check.runs} databases, {check.failed} findings")
    return 1 if check.failed or check.runs < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
