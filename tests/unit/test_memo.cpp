// Kept rows of views: what makes them stale, what does not, and how their errors read.
#include <malloc.h>

#include <catch2/catch.hpp>

#include "ext/core/pages.h"
#include "tests/unit/files.h"
#include "tests/unit/sql.h"

using namespace profana::test;
using Catch::Contains;
using Rows = std::vector<std::vector<std::string>>;

namespace {

// A memo over a view that counts its runs, in the one value that random() makes new.
class Memo : public Sql {
  public:
    Memo() {
        run("CREATE TEMP TABLE word(name TEXT);"
            "INSERT INTO word VALUES ('a');"
            "CREATE TEMP VIEW said(\n"
            "  name,                   -- TEXT     word\n"
            "  length,                 -- INTEGER  of it\n"
            "  stamp                   -- INTEGER  another one in each run\n"
            ") AS\n"
            "SELECT name, length(name), random() FROM word;"
            "CREATE VIRTUAL TABLE temp.kept USING profana_memo(said)");
    }
    std::string stamp() { return rows("SELECT max(stamp) FROM kept")[0][0]; }
};

std::string fails(Sql& sql, const std::string& text) {
    char* message = nullptr;
    const int code = sqlite3_exec(sql.db(), text.c_str(), nullptr, nullptr, &message);
    const std::string out = message == nullptr ? "" : message;
    sqlite3_free(message);
    CHECK(code == SQLITE_ERROR);
    return out;
}

}  // namespace

TEST_CASE("memo: rows are kept from query to query", "[memo]") {
    Memo sql;
    const std::string first = sql.stamp();
    CHECK(sql.stamp() == first);
    CHECK(sql.rows("SELECT name, length FROM kept WHERE length = 1") == Rows{{"a", "1"}});
    // Twice in a statement, and in another order of columns.
    CHECK(
        sql.rows(
            "SELECT count(DISTINCT stamp) FROM (SELECT stamp FROM kept UNION ALL SELECT stamp FROM kept)") ==
        Rows{{"1"}});
    CHECK(sql.rows("SELECT a.stamp = (SELECT b.stamp FROM kept AS b WHERE b.name = a.name) FROM kept AS a") ==
          Rows{{"1"}});
}

TEST_CASE("memo: with ORDER BY the rows are kept in that order", "[memo]") {
    Sql sql;
    sql.run(
        "CREATE TEMP VIEW given(\n  a,  -- INTEGER  x\n  b,  -- TEXT  x\n  c,  -- REAL  x\n  d  -- TEXT  "
        "x\n) AS\n"
        "VALUES (2, 'y', 0.5, 'first'), (1, 'y', 1.5, NULL), (2, NULL, 2.5, 'third'), (1, 'x', NULL, "
        "'fourth'),"
        " (2, 'y', 3.5, 'fifth');"
        "CREATE VIRTUAL TABLE temp.kept USING profana_memo(given, d, ORDER BY a, b);"
        "CREATE VIRTUAL TABLE temp.as_given USING profana_memo(given, d)");
    CHECK(sql.rows("SELECT rowid, a, b, c, d FROM kept") == Rows{{"1", "1", "x", "NULL", "fourth"},
                                                                 {"2", "1", "y", "1.5", "NULL"},
                                                                 {"3", "2", "NULL", "2.5", "third"},
                                                                 {"4", "2", "y", "0.5", "first"},
                                                                 {"5", "2", "y", "3.5", "fifth"}});
    CHECK(sql.rows("SELECT c FROM as_given WHERE a = 2 ORDER BY rowid") == Rows{{"0.5"}, {"2.5"}, {"3.5"}});
    CHECK_THAT(fails(sql, "CREATE VIRTUAL TABLE temp.wrong USING profana_memo(given, ORDER BY e)"),
               Contains("given has no column 'e' to be sorted by"));
    CHECK_THAT(fails(sql, "CREATE VIRTUAL TABLE temp.wrong USING profana_memo(given, d, ORDER BY a, d)"),
               Contains("given has no column 'd' to be sorted by"));
    CHECK_THAT(
        fails(sql, "CREATE VIRTUAL TABLE temp.wrong USING profana_memo(given, ORDER BY a, ORDER BY b)"),
        Contains("given has no column 'ORDER BY b' to be sorted by"));
}

TEST_CASE("memo: what the table cannot hold is an error", "[memo]") {
    Sql sql;
    sql.run(
        "CREATE TEMP VIEW low(\n  a  -- INTEGER  x\n) AS SELECT -9223372036854775808;"
        "CREATE VIRTUAL TABLE temp.kept USING profana_memo(low)");
    CHECK_THAT(fails(sql, "SELECT * FROM kept"), Contains("low: a value of a is the lowest integer"));
}

TEST_CASE("memo: a change of a TEMP table is seen by the next statement", "[memo]") {
    Memo sql;
    const std::string first = sql.stamp();
    sql.run("INSERT INTO word VALUES ('bb')");
    CHECK(sql.rows("SELECT name FROM kept ORDER BY length") == Rows{{"a"}, {"bb"}});
    CHECK(sql.stamp() != first);
    sql.run("UPDATE word SET name = 'ccc' WHERE name = 'bb'");
    CHECK(sql.rows("SELECT max(length) FROM kept") == Rows{{"3"}});
    sql.run("DELETE FROM word");
    CHECK(sql.rows("SELECT count(*) FROM kept") == Rows{{"0"}});
}

TEST_CASE("memo: changes within a transaction, and their rollback", "[memo]") {
    Memo sql;
    CHECK(sql.rows("SELECT count(*) FROM kept") == Rows{{"1"}});
    sql.run("BEGIN; INSERT INTO word VALUES ('bb')");
    CHECK(sql.rows("SELECT count(*) FROM kept") == Rows{{"2"}});
    sql.run("SAVEPOINT s; INSERT INTO word VALUES ('cc')");
    CHECK(sql.rows("SELECT count(*) FROM kept") == Rows{{"3"}});
    sql.run("ROLLBACK TO s");
    CHECK(sql.rows("SELECT count(*) FROM kept") == Rows{{"2"}});
    sql.run("ROLLBACK");
    CHECK(sql.rows("SELECT count(*) FROM kept") == Rows{{"1"}});
    sql.run("BEGIN; INSERT INTO word VALUES ('dd')");
    sql.run("ROLLBACK");
    CHECK(sql.rows("SELECT count(*) FROM kept") == Rows{{"1"}});
}

TEST_CASE("memo: what changes nothing that a view reads keeps the rows", "[memo]") {
    Memo sql;
    const std::string first = sql.stamp();
    sql.run("CREATE TABLE main.notes(text); INSERT INTO notes VALUES ('x'); DELETE FROM notes");
    CHECK(sql.stamp() == first);
    sql.run("CREATE TABLE main.copy AS SELECT * FROM kept");
    CHECK(sql.stamp() == first);
}

TEST_CASE("memo: settings and profiles make rows stale", "[memo]") {
    Memo sql;
    std::string last = sql.stamp();
    sql.run("SELECT profana_set('max_kernel_num', 10)");
    CHECK(sql.stamp() != last);
    last = sql.stamp();
    TempFolder folder;
    const std::string trace = folder.write(
        "trace.json",
        R"({"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0,
                          "tid": 7, "ts": 1, "dur": 2, "args": {"stream": 7}}]})");
    sql.run("SELECT profana_open('base', '" + trace + "')");
    const std::string opened = sql.stamp();
    CHECK(opened != last);
    CHECK(sql.stamp() == opened);
    sql.run("SELECT profana_close('base')");
    CHECK(sql.stamp() != opened);
}

TEST_CASE("memo: a file that changed is read again", "[memo]") {
    Sql sql;
    TempFolder folder;
    const auto write = [&](const std::string& kernels) {
        return folder.write("trace.json", R"({"schemaVersion": 1, "traceEvents": [)" + kernels + "]}");
    };
    const std::string kernel =
        R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {"stream": 7}})";
    sql.run("SELECT profana_open('base', '" + write(kernel) + "')");
    sql.run(
        "CREATE TEMP VIEW busy(\n  dur_ns  -- INTEGER  ns\n) AS SELECT sum(dur_ns) FROM prof_kernel;"
        "CREATE VIRTUAL TABLE temp.kept USING profana_memo(busy)");
    CHECK(sql.rows("SELECT * FROM kept") == Rows{{"2000"}});
    write(kernel + "," + kernel);
    CHECK(sql.rows("SELECT * FROM kept") == Rows{{"4000"}});
}

#ifndef __SANITIZE_ADDRESS__  // whose allocator does not tell what is in use
size_t memory_in_use() {      // of the process
    const auto heap = mallinfo2();
    return heap.uordblks + heap.hblkhd + profana::memory_from_system();
}

TEST_CASE("memo: the rows' memory goes with what they depend on and with the connection", "[memo]") {
    constexpr size_t kHeld = 50000 * 1000;      // bytes of text
    constexpr size_t kMayStay = kHeld * 2 / 5;  // a few regions of memory are kept for what comes next
    const size_t before = memory_in_use();
    for (const char* end :
         {"DELETE FROM word; SELECT count(*) FROM x",
          "DROP TABLE x; SELECT profana_set('match', 'lcs'); SELECT * FROM _compare_setting",
          "SELECT profana_open('a', 'examples/tinymlp/01_cmdline'); SELECT profana_close('a')", ""}) {
        INFO(end);
        {
            Sql sql;
            sql.run(
                "CREATE TEMP TABLE word(name); INSERT INTO word VALUES ('a');"
                "CREATE TEMP VIEW many(\n  line  -- TEXT  all different\n) AS"
                " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000)"
                " SELECT printf('%01000d', i) FROM n WHERE EXISTS (SELECT 1 FROM word);"
                "CREATE VIRTUAL TABLE temp.x USING profana_memo(many)");
            CHECK(sql.integer("SELECT sum(length(line)) FROM x") == kHeld);
            CHECK(memory_in_use() >= before + kHeld);
            sql.run(end);
            if (*end != '\0') CHECK(memory_in_use() <= before + kMayStay);
        }
        CHECK(memory_in_use() <= before + kMayStay);
    }
}
#endif

TEST_CASE("memo: views and kept rows are there on every connection of a linked program", "[memo]") {
    const auto entry = reinterpret_cast<void (*)()>(sqlite3_profana_init);
    REQUIRE(sqlite3_auto_extension(entry) == SQLITE_OK);
    for (int i = 0; i < 2; ++i) {
        sqlite3* db = nullptr;
        REQUIRE(sqlite3_open(":memory:", &db) == SQLITE_OK);
        std::string error;
        const auto run = [&](const char* text) {
            char* message = nullptr;
            const int code = sqlite3_exec(db, text, nullptr, nullptr, &message);
            error = message == nullptr ? "" : message;
            sqlite3_free(message);
            return code;
        };
        CHECK(run("SELECT profana_open('base', 'examples/tinymlp/04_pytorch'),"
                  "       profana_open('comparison', 'examples/tinymlp/05_pytorch_slow')") == SQLITE_OK);
        CHECK(run("CREATE TEMP TABLE ok(one CHECK (one = 1))") == SQLITE_OK);
        CHECK(run("INSERT INTO ok SELECT count(*) FROM overall_metrics WHERE metric = 'E2E Time' AND verdict "
                  "= 'worse'") == SQLITE_OK);
        CHECK(run("INSERT INTO ok SELECT count(*) = 2 FROM _compare_side") == SQLITE_OK);
        CHECK(error.empty());
        sqlite3_close(db);
    }
    CHECK(sqlite3_cancel_auto_extension(entry) == 1);
}

TEST_CASE("memo: another definition of the view is used at once", "[memo]") {
    Memo sql;
    CHECK(sql.rows("SELECT length FROM kept") == Rows{{"1"}});
    sql.run("DROP VIEW said; CREATE TEMP VIEW said AS SELECT name, 7, 0 FROM word");
    CHECK(sql.rows("SELECT length FROM kept") == Rows{{"7"}});
    sql.run("DROP VIEW said");
    CHECK_THAT(fails(sql, "SELECT * FROM kept"), Contains("profana_memo: said") && Contains("no such table"));
    sql.run("CREATE TEMP VIEW said AS SELECT 1");
    CHECK_THAT(fails(sql, "SELECT * FROM kept"), Contains("said has 1 columns, not the 3 that it lists"));
    sql.run("DROP TABLE kept");
}

TEST_CASE("memo: errors name the view", "[memo]") {
    Memo sql;
    CHECK_THAT(fails(sql, "CREATE VIRTUAL TABLE temp.x USING profana_memo(nothing)"),
               Contains("there is no TEMP view 'nothing'"));
    CHECK_THAT(fails(sql, "CREATE VIRTUAL TABLE temp.x USING profana_memo"),
               Contains("takes the name of a TEMP view"));
    sql.run("CREATE TEMP VIEW listed(\n  one                     -- INTEGER  a number\n) AS SELECT 1");
    CHECK_THAT(fails(sql, "CREATE VIRTUAL TABLE temp.x USING profana_memo(listed, two)"),
               Contains("listed has no TEXT column 'two'"));
    CHECK_THAT(fails(sql, "CREATE VIRTUAL TABLE temp.x USING profana_memo(listed, one)"),
               Contains("listed has no TEXT column 'one'"));
    sql.run("CREATE TEMP VIEW bare AS SELECT 1 AS one");
    CHECK_THAT(fails(sql, "CREATE VIRTUAL TABLE temp.x USING profana_memo(bare)"),
               Contains("bare does not list its columns"));
    sql.run(
        "CREATE TEMP VIEW wrong(\n  one  -- INTEGER  a number\n) AS SELECT 'text';"
        "CREATE VIRTUAL TABLE temp.x USING profana_memo(wrong)");
    CHECK_THAT(fails(sql, "SELECT * FROM x"), Contains("wrong: a value of one is of another type"));
    sql.run(
        "CREATE TEMP VIEW failing(\n  one  -- INTEGER  a number\n) AS SELECT abs(-9223372036854775807 - 1);"
        "CREATE VIRTUAL TABLE temp.y USING profana_memo(failing)");
    CHECK_THAT(fails(sql, "SELECT * FROM y"), Contains("failing") && Contains("integer overflow"));
    CHECK(sql.rows("SELECT count(*) FROM kept") == Rows{{"1"}});
}

TEST_CASE("memo: what is wrong with a profile is said once, not by every view on the way", "[memo]") {
    Sql sql;
    sql.run("SELECT profana_open('base', 'examples/tinymlp/04_pytorch', '{\"step\": 99}')");
    CHECK(fails(sql, "SELECT * FROM overall_metrics") ==
          "profana: profile 'base' has no step 99; its steps are [3,4,5,6,7]; open it with one of them, or "
          "profana_close('base') leaves it out");
}

TEST_CASE("memo: a view that reads its own rows is refused", "[memo]") {
    Memo sql;
    sql.run("DROP VIEW said; CREATE TEMP VIEW said AS SELECT name, length, stamp FROM kept");
    CHECK_THAT(fails(sql, "SELECT * FROM kept"), Contains("said asks for its own rows"));
}

TEST_CASE("memo: an interrupt ends the inner run, and nothing half done is kept", "[memo]") {
    Memo sql;
    sql.run(
        "CREATE TEMP VIEW endless(\n  one  -- INTEGER  a number\n) AS "
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;"
        "CREATE VIRTUAL TABLE temp.x USING profana_memo(endless)");
    int calls = 0;
    sqlite3_progress_handler(
        sql.db(), 1000, [](void* count) { return ++*static_cast<int*>(count) > 100 ? 1 : 0; }, &calls);
    CHECK(sqlite3_exec(sql.db(), "SELECT * FROM x", nullptr, nullptr, nullptr) == SQLITE_INTERRUPT);
    sqlite3_progress_handler(sql.db(), 0, nullptr, nullptr);
    sql.run("DROP VIEW endless; CREATE TEMP VIEW endless AS SELECT 5");
    CHECK(sql.rows("SELECT * FROM x") == Rows{{"5"}});
}

TEST_CASE("memo: the shipped steps can be read", "[memo]") {
    Sql sql;
    CHECK(sql.rows("SELECT count(*) FROM temp.sqlite_schema AS t"
                   "  LEFT JOIN temp.sqlite_schema AS v ON v.type = 'view' AND v.name = t.name || '_query'"
                   " WHERE t.sql LIKE 'CREATE VIRTUAL TABLE % USING profana_memo(%' AND v.sql IS NULL") ==
          Rows{{"0"}});
}

TEST_CASE("memo: long texts come back as they are", "[memo]") {
    Sql sql;
    sql.run(
        "CREATE TEMP VIEW texts(\n"
        "  id,                     -- INTEGER  number\n"
        "  line                    -- TEXT     long; NULL: none\n"
        ") AS\n"
        "SELECT 1, 'one' || char(10) UNION ALL SELECT 2, NULL UNION ALL SELECT 3, '' UNION ALL SELECT 4, "
        "'one' || char(10);"
        "CREATE VIRTUAL TABLE temp.kept USING profana_memo(texts, line)");
    CHECK(sql.rows("SELECT * FROM kept") == Rows{{"1", "one\n"}, {"2", "NULL"}, {"3", ""}, {"4", "one\n"}});
    CHECK(sql.rows("SELECT id FROM kept WHERE line = 'one' || char(10)") == Rows{{"1"}, {"4"}});
    CHECK(sql.rows("SELECT line, count(*) FROM kept GROUP BY line") ==
          Rows{{"NULL", "1"}, {"", "1"}, {"one\n", "2"}});
}
