// Opening databases privately: what is refused and how, what is left alone, and that reading can be
// interrupted.
#include <catch2/catch.hpp>

#include "tests/unit/files.h"
#include "tests/unit/sql.h"
#include "vtab/db_file.h"
#include "vtab/read_db.h"

using namespace profana;

namespace {

void make_database(const std::string& path, const std::string& sql) {
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
    const int code = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
    INFO(sqlite3_errmsg(db));
    CHECK(code == SQLITE_OK);
    sqlite3_close(db);
}

// The library speaks to SQLite through the functions that its entry point is given.
class Loaded {
  protected:
    test::Sql sql;
};

std::string open_error(const std::string& path) {
    try {
        const DbFile file(path);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

class Stop : public Progress {
  public:
    bool interrupted() override { return ++polls > 2; }
    int polls = 0;
};

constexpr const char* kThousands =
    "CREATE TABLE TASK(startNs, endNs, globalTaskId, taskType);"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 40000)"
    "INSERT INTO TASK SELECT i, i + 1, i, 1 FROM n";

}  // namespace

TEST_CASE_METHOD(Loaded, "what is no database says so") {
    const TempFolder folder;
    CHECK_THAT(open_error(folder.file("missing.db")), Catch::Contains("No such file"));
    CHECK_THAT(open_error(folder.path()), Catch::Contains("no regular file"));
    CHECK_THAT(open_error(folder.write("empty.db", "")), Catch::Contains("no SQLite database"));
    CHECK_THAT(open_error(folder.write("text.db", std::string(5000, 'x'))),
               Catch::Contains("no SQLite database"));
    const std::string pipe = folder.file("pipe.db");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK_THAT(open_error(pipe), Catch::Contains("no regular file"));  // and does not wait for a writer
    Diagnostics diagnostics;
    Progress progress;
    LoadContext context{progress, diagnostics};
    const auto look = [&](const std::string& path) {
        const DatabaseLook found = look_into_database(path, context);
        CHECK_FALSE(found.unreadable.empty());
        return found.content;
    };
    CHECK(look(folder.file("missing.db")) == DbContent::kUnreadable);
    CHECK(look(folder.path()) == DbContent::kUnreadable);
    CHECK(look(folder.file("text.db")) == DbContent::kUnknown);
    CHECK(look(pipe) == DbContent::kUnreadable);
}

TEST_CASE_METHOD(Loaded, "the content of a database is told by its tables, then by its name") {
    const TempFolder folder;
    Diagnostics diagnostics;
    Progress progress;
    LoadContext context{progress, diagnostics};
    const auto content = [&](const std::string& name, const std::string& statements) {
        make_database(folder.file(name), statements);
        const DatabaseLook found = look_into_database(folder.file(name), context);
        CHECK(found.unreadable.empty());
        return found.content;
    };
    CHECK(content("a.db", "CREATE TABLE PYTORCH_API(a); CREATE TABLE TASK(a)") == DbContent::kPyTorch);
    CHECK(content("ascend_pytorch_profiler.db", "CREATE TABLE TASK(a)") == DbContent::kPyTorch);
    CHECK(content("ascend_mindspore_profiler_0.db", "CREATE TABLE TASK(a)") == DbContent::kMindSpore);
    CHECK(content("msmonitor_1_2_0.db", "CREATE TABLE CANN_API(a)") == DbContent::kMsmonitor);
    CHECK(content("msprof_20260101000000.db", "CREATE TABLE TASK(a)") == DbContent::kMsprof);
    CHECK(content("analysis.db", "CREATE TABLE StepTraceTime(a)") == DbContent::kAnalysis);
    CHECK(content("cluster_analysis.db", "CREATE TABLE ClusterStepTraceTime(a)") == DbContent::kCluster);
    CHECK(content("other.db", "CREATE TABLE customers(a); CREATE VIEW TASK AS SELECT 1") ==
          DbContent::kUnknown);
    CHECK(content("nothing.db", "VACUUM") == DbContent::kUnknown);
}

TEST_CASE_METHOD(Loaded, "tables and columns are found whatever their case and underscores") {
    const TempFolder folder;
    make_database(folder.file("a.db"),
                  "CREATE TABLE Task(start_ns, endNs, \"a\"\"b\"); CREATE VIEW V AS SELECT 1");
    DbFile file(folder.file("a.db"));
    const DbTable* table = file.table("TASK");
    REQUIRE(table != nullptr);
    CHECK(table->name == "Task");
    CHECK(table->columns == std::vector<std::string>{"start_ns", "endNs", "a\"b"});
    REQUIRE(table->column({"startNs"}) != nullptr);
    CHECK(*table->column({"nothing", "END_NS"}) == "endNs");
    CHECK(table->column({"nothing"}) == nullptr);
    CHECK(file.table("V") == nullptr);
    CHECK(file.table("nothing") == nullptr);
}

TEST_CASE_METHOD(Loaded, "a database cut short is known by its header") {
    const TempFolder folder;
    make_database(folder.file("a.db"), kThousands);
    REQUIRE(::truncate(folder.file("a.db").c_str(), 100 * 4096) == 0);
    DbFile file(folder.file("a.db"));
    CHECK(file.truncated());
    REQUIRE(file.notes().size() == 1);
    CHECK(file.notes()[0].first == "db_truncated");

    Progress progress;
    Diagnostics diagnostics;
    LoadContext context{progress, diagnostics};
    const DbTable* table = file.table("TASK");
    REQUIRE(table != nullptr);
    DbScan scan(file, *table);
    const int start = scan.cell({"startNs"});
    int64_t rows = 0;
    scan.run(context, [&](const DbRow& row) {
        ++rows;
        CHECK(row.integer(start) == rows);
    });
    CHECK(rows > 1000);
    CHECK(rows < 40000);
    REQUIRE(diagnostics.rows().size() == 1);
    CHECK(diagnostics.rows()[0].code == "db_corrupt");
}

TEST_CASE_METHOD(Loaded, "a scan stops when the user wants to, and an exception passes through it") {
    const TempFolder folder;
    make_database(folder.file("a.db"), kThousands);
    Diagnostics diagnostics;
    DbFile file(folder.file("a.db"));
    const DbTable* table = file.table("TASK");
    REQUIRE(table != nullptr);

    Stop stop;
    LoadContext stopped{stop, diagnostics};
    DbScan first(file, *table);
    int64_t rows = 0;
    try {
        first.run(stopped, [&](const DbRow&) { ++rows; });
        FAIL("was not interrupted");
    } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::kInterrupted);
    }
    CHECK(rows < 40000);

    Progress progress;
    LoadContext context{progress, diagnostics};
    DbScan second(file, *table);
    CHECK_THROWS_WITH(second.run(context, [&](const DbRow&) { throw Error("enough"); }), "enough");
    DbScan third(file, *table);  // and the file can be read again
    rows = 0;
    third.run(context, [&](const DbRow&) { ++rows; });
    CHECK(rows == 40000);
}

TEST_CASE_METHOD(Loaded, "a load that was interrupted begins anew") {
    const TempFolder folder;
    make_database(folder.file("ascend_pytorch_profiler_0.db"), kThousands);
    Connection connection(sql.db());
    SourceFacts facts;
    LoadContext opening = connection.load_context();
    const auto source =
        make_db_source(facts, {folder.file("ascend_pytorch_profiler_0.db"), "", {}, {}}, {}, opening);
    const auto table = source->table(Model::kDeviceTask);
    REQUIRE(table != nullptr);
    ColumnSet wanted;
    wanted.add(model_column(Model::kDeviceTask, "dur_ns"));
    Diagnostics diagnostics;
    Stop stop;
    LoadContext stopped{stop, diagnostics};
    CHECK_THROWS_WITH(table->ensure(wanted, stopped), "interrupted");
    Progress progress;
    LoadContext context{progress, diagnostics};
    table->ensure(wanted, context);
    CHECK(table->rows() == 40000);
    CHECK(table->column(model_column(Model::kDeviceTask, "dur_ns")).integer(39999) == 1);
}

TEST_CASE_METHOD(Loaded, "strict readers stop at the first finding") {
    const TempFolder folder;
    make_database(folder.file("a.db"),
                  "CREATE TABLE TASK(startNs, endNs, globalTaskId, taskType);"
                  "INSERT INTO TASK VALUES ('never', 2, 1, 1)");
    Diagnostics diagnostics;
    diagnostics.set_strict(true);
    Progress progress;
    LoadContext context{progress, diagnostics};
    DbFile file(folder.file("a.db"));
    DbScan scan(file, *file.table("TASK"));
    const int start = scan.cell({"startNs"});
    CHECK_THROWS_WITH(scan.run(context, [&](const DbRow& row) { (void)row.integer(start); }),
                      Catch::Contains("bad_number"));
}

TEST_CASE_METHOD(Loaded, "a column asked for twice is read once, and a bad value counts once") {
    const TempFolder folder;
    make_database(
        folder.file("a.db"),
        "CREATE TABLE TASK(startNs, taskType); INSERT INTO TASK VALUES ('never', 1), (2, 1), ('x', 1)");
    Diagnostics diagnostics;
    Progress progress;
    LoadContext context{progress, diagnostics};
    DbFile file(folder.file("a.db"));
    DbScan scan(file, *file.table("TASK"));
    const int start = scan.cell({"startNs"}), again = scan.cell({"start_ns", "startNs"});
    CHECK(start == again);
    CHECK(scan.rowid() == scan.rowid());
    scan.run(context, [&](const DbRow& row) { CHECK(row.integer(start) == row.integer(again)); });
    const auto found = diagnostics.rows();
    REQUIRE(found.size() == 1);
    CHECK(found[0].code == "bad_number");
    CHECK(found[0].count == 2);
}
