"""What holds for a profile by itself: the view overall, tables that users edit, views that come back, cautions; each in a run of a few events."""
import gzip
import os
import sqlite3
import sys
import tempfile

from profiles import Checks, Db, Gpu, Session, Text

GOLDEN = os.path.join(os.path.dirname(__file__), "..", "golden")


class Case:
    def __init__(self, library, folder, checks):
        self.library, self.folder, self.checks, self.count = library, folder, checks, 0

    def path(self, end=""):
        self.count += 1
        return f"{self.folder}/{self.count}{end}"

    def opened(self, path, alias):
        s = Session(self.library)
        s.rows("SELECT profana_open(?, ?)", alias, path)
        return s

    def refused(self, what, session, sql, words):
        try:
            session.rows(sql)
        except sqlite3.Error as error:
            self.checks.equal(what, words in str(error) or str(error), True)
        else:
            self.checks.equal(what, "no error", words)


def overall(case):
    """Kernels at 0-10, 20-30, 25-40 us, a collective at 35-60 us: 30 us computing, 25 of communication, 5 of them hidden, 10 free."""
    p = Db()
    for name, start, dur in (("a", 0, 10), ("b", 20, 10), ("c", 25, 15)):
        p.kernel(name, start, dur)
    p.collective("hcom_allReduce__1_0_1", "hcom_allReduce_", 35, 25, "g")
    s = case.opened(p.write(case.path("_ascend_pt")), "mine")
    case.checks.equal("overall", s.rows("SELECT * FROM overall"),
                      [("mine", 0, 0, 0, 30000, 20000, 5000, 25000, 10000, 60000)])
    # Kernels name their device, collectives do not: it is the same one, for there is no other.
    bare = Text()
    bare.kernel("a", 0, 10)
    bare.group("g")
    bare.collective("g", "hcom_allReduce__1_0_1", 5, 10)
    s = case.opened(bare.write(case.path("_ascend_pt")), "mine")
    case.checks.equal("one device", s.rows("SELECT device_id, computing_ns, communication_not_overlapped_ns, overlapped_ns, e2e_ns FROM overall"),
                      [(0, 10000, 5000, 5000, 15000)])
    case.checks.equal("one device in step_breakdown", s.rows("SELECT device_id, computing_ns, communication_ns FROM step_breakdown"),
                      [(0, 10000, 10000)])
    alone = Db()
    alone.kernel("a", 0, 10)
    s = case.opened(alone.write(case.path("_ascend_pt")), "mine")
    case.checks.equal("without collectives", s.rows("SELECT computing_ns, communication_ns, free_ns, e2e_ns FROM overall"),
                      [(10000, 0, 0, 10000)])


def user_tables(case):
    """What would count twice, or match nothing, is refused."""
    s = Session(case.library)
    s.rows("INSERT INTO op_equivalent VALUES ('a', 'c'), ('a', 'd')")
    case.refused("two names of base for one of comparison", s, "INSERT INTO op_equivalent VALUES ('b', 'c')", "op_equivalent.b")
    case.refused("a rule twice", s, "INSERT INTO op_flops_rules SELECT * FROM op_flops_rules", "op_flops_rules.op_name")
    for mask, keyword in (("FA_MASK", "Upper"), ("FA_MASK", " blank"), ("FA_MASK", ""), ("fa_mask", "x"), ("OTHER", "x")):
        case.refused(f"{mask} {keyword!r}", s, f"INSERT INTO op_mask VALUES ('{mask}', '{keyword}')", "op_mask takes a mask of FA_MASK")
    s.rows("INSERT INTO op_mask VALUES ('FA_MASK', 'cross_entropy')")
    case.refused("by UPDATE", s, "UPDATE op_mask SET keyword = 'Cross' WHERE keyword = 'cross_entropy'", "keyword in lower case")


def views_come_back(case):
    """profana_open creates views that a rollback or DROP took, and what was said of them is forgotten."""
    p = Db()
    p.kernel("a", 0, 10)
    path = p.write(case.path("_ascend_pt"))
    s = Session(case.library)
    s.rows("DROP VIEW hot_op")
    s.rows("DROP TABLE op_mask")
    s.rows("SELECT profana_open('mine', ?)", path)
    case.checks.equal("view", s.value("SELECT count(*) FROM hot_kernel"), 1)
    case.checks.equal("dropped view", s.value("SELECT count(*) >= 0 FROM hot_op"), 1)
    case.checks.equal("words of a dropped table", s.value("SELECT count(*) > 10 FROM op_mask"), 1)
    case.checks.equal("diagnostics", s.value("SELECT count(*) FROM prof_diagnostic WHERE code = 'views_not_installed'"), 0)


def opened_while_a_table_is_made(case):
    """CREATE TABLE AS SELECT profana_open: its row of the schema has no name yet."""
    p = Db()
    p.kernel("a", 0, 10)
    path = p.write(case.path("_ascend_pt"))
    s = Session(case.library)
    s.rows("CREATE TEMP TABLE opened AS SELECT profana_open('mine', ?) AS what", path)
    case.checks.equal("opened", s.rows("SELECT what, (SELECT count(*) FROM prof_kernel) FROM opened"), [("db, PyTorch, rank 0", 1)])


def looked_at_by_joins(case):
    """Changed files, and a main database that is a profile, are seen by statements of several cursors, too."""
    join = "SELECT count(*) FROM prof_kernel AS a JOIN prof_kernel AS b ON b.profile = a.profile AND b.id = a.id"
    p = Gpu()
    p.kernel("a", 0, 10)
    path = p.write(case.path(".pt.trace.json"))
    s = case.opened(path, "mine")
    case.checks.equal("one kernel", s.value(join), 1)
    p.kernel("b", 20, 10)
    p.write(path)
    case.checks.equal("two kernels", s.value(join), 2)
    d = Db()
    d.kernel("a", 0, 10)
    d.range("Module", "M", 0, 50)
    folder = d.write(case.path("_ascend_pt"))
    db = sqlite3.connect(os.path.join(folder, "ASCEND_PROFILER_OUTPUT", "ascend_pytorch_profiler_0.db"))
    db.enable_load_extension(True)
    db.load_extension(os.path.abspath(case.library).removesuffix(".so"))
    case.checks.equal("main database", db.execute(join).fetchall(), [(1,)])


def several_devices(case):
    """Two devices in one rank are told, one is not."""
    codes = "SELECT profile FROM compare_diagnostic WHERE code = 'several_devices'"
    p = Gpu()
    p.kernel("a", 0, 10)
    one = p.write(case.path(".pt.trace.json"))
    p._event("kernel", "a", 1, 7, 0, 10, {"stream": 7, "device": 1})
    two = p.write(case.path(".pt.trace.json"))
    case.checks.equal("two against one", Session(case.library, one, two).rows(codes), [("comparison",)])
    case.checks.equal("with the option", Session(case.library, one, two, comparison_options={"device": 1}).rows(codes), [])


def no_stream(case):
    """A Context Sync has no stream: 4294967295 stands for that."""
    p = Gpu()
    p.kernel("a", 0, 10)
    p._event("cuda_sync", "Context Sync", 0, 4294967295, 20, 5, {"stream": 4294967295, "device": 0})
    s = case.opened(p.write(case.path(".pt.trace.json")), "mine")
    case.checks.equal("streams", s.rows("SELECT name, stream_id FROM prof_device_task ORDER BY start_ns"), [("a", 7), ("Context Sync", None)])


def communication(case):
    """communication.json alone tells of collectives, be it compressed or in a folder of another name."""
    source = os.path.join(GOLDEN, "text_text", "base", "localhost_430828_20240625000026809_ascend_pt", "ASCEND_PROFILER_OUTPUT")
    found = []
    for folder, suffix, opened in (("ASCEND_PROFILER_OUTPUT", "", open), ("ASCEND_PROFILER_OUTPUT", ".gz", gzip.open), ("mine", "", open)):
        top = case.path()
        os.makedirs(f"{top}/{folder}")
        for name in ("communication.json", "kernel_details.csv"):
            with open(os.path.join(source, name), "rb") as f, opened(f"{top}/{folder}/{name}{suffix}", "wb") as out:
                out.write(f.read())
        s = case.opened(f"{top}/{folder}", "mine")
        found.append(s.rows("SELECT group_name, op_type, calls, total_ns, source FROM communication_summary"))
    case.checks.equal("rows", len(found[0]) > 0, True)
    case.checks.equal("gz, another folder", found[1:], [found[0]] * 2)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        case = Case(sys.argv[1], folder, checks)
        for test in (overall, user_tables, views_come_back, opened_while_a_table_is_made, looked_at_by_joins, several_devices, no_stream, communication):
            checks.run(test, case)
    sys.exit(checks.report())


if __name__ == "__main__":
    main()
