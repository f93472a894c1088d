// Tests of the left table in the ON clause of an outer join, which some versions of SQLite offer to that
// table as if they stood in WHERE.
#include <catch2/catch.hpp>

#include "tests/unit/sql.h"
#include "vtab/outer_joins.h"

using namespace profana;
using namespace profana::test;
using Rows = std::vector<std::vector<std::string>>;

namespace {

void told(sqlite3_context* context, int, sqlite3_value**) {
    sqlite3_result_int(context, outer_join_may_run(sqlite3_context_db_handle(context)) ? 1 : 0);
}

// What outer_join_may_run() says while the statement runs, in which told() stands.
std::string told_in(Sql& sql, const std::string& text) {
    REQUIRE(sqlite3_create_function(sql.db(), "told", 0, SQLITE_UTF8, nullptr, told, nullptr, nullptr) ==
            SQLITE_OK);
    return sql.rows(text)[0][0];
}

bool old_sqlite() {
    return sqlite3_libversion_number() < 3053000;
}

}  // namespace

TEST_CASE("an ON clause that tests the left table loses none of its rows", "[outer_join]") {
    Sql sql;
    const std::string all = sql.rows("SELECT count(*) FROM profana_help")[0][0];
    sql.run("CREATE TABLE one AS SELECT 1 AS x");
    for (const char* test : {"a.kind LIKE 'no%'", "a.kind GLOB 'no*'",
                             "nullif(a.kind, 'x') IS NOT NULL AND a.kind IS NOT NULL AND 0",
                             "a.kind NOT NULL AND a.name LIKE '%nowhere%'"}) {
        CAPTURE(test);
        CHECK(sql.rows(
                  std::string("SELECT count(*), count(b.x) FROM profana_help AS a LEFT JOIN one AS b ON ") +
                  test) == Rows{{all, "0"}});
        sql.run(std::string(
                    "CREATE TEMP VIEW joined AS SELECT b.x FROM profana_help AS a LEFT JOIN one AS b ON ") +
                test);
        CHECK(sql.rows("SELECT count(*), count(x) FROM joined") == Rows{{all, "0"}});
        sql.run(
            "CREATE TEMP TABLE log(n); CREATE TEMP TABLE start(n);"
            "CREATE TEMP TRIGGER note AFTER INSERT ON start BEGIN INSERT INTO log SELECT count(*) FROM "
            "joined; END;"
            "INSERT INTO start VALUES (1)");
        CHECK(sql.rows("SELECT n FROM log") == Rows{{all}});
        sql.run("DROP TRIGGER note; DROP TABLE log; DROP TABLE start; DROP VIEW joined");
    }
}

TEST_CASE("statements without views, triggers and outer joins keep their tests", "[outer_join]") {
    Sql sql;
    CHECK(told_in(sql, "SELECT told()") == "0");
    CHECK(
        told_in(sql,
                "WITH leftover AS (SELECT 1 AS bright) SELECT told() FROM leftover CROSS JOIN (SELECT 2)") ==
        "0");
    const std::string yes = old_sqlite() ? "1" : "0";
    CHECK(told_in(sql, "SELECT told() FROM (SELECT 1 AS x) AS a Left Join (SELECT 2 AS y) ON x = y") == yes);
    sql.run("CREATE TEMP VIEW \"my view\" AS SELECT 1 AS x");
    CHECK(told_in(sql, "SELECT told() FROM \"My View\"") == yes);
    CHECK(told_in(sql, "SELECT told()") == "0");
    sql.run("CREATE TEMP VIEW \"a \"\"quoted\"\" view\" AS SELECT 1 AS x");  // may stand in any text
    CHECK(told_in(sql, "SELECT told()") == yes);
}
