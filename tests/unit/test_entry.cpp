// Loading: what SQLite it takes, and that profana_help leaves out nothing of what loading adds.
#include <algorithm>
#include <set>
#include <string>

#include "sqlite3ext.h"
#include "tests/unit/sql.h"

using profana::test::Sql;

const sqlite3_api_routines* profana_host_api();  // ext/linked/host_api.cpp

namespace {

std::set<std::string> names(sqlite3* db, const std::string& query) {
    std::set<std::string> out;
    const auto add = [](void* to, int, char** values, char**) {
        static_cast<std::set<std::string>*>(to)->insert(values[0]);
        return 0;
    };
    REQUIRE(sqlite3_exec(db, query.c_str(), add, &out, nullptr) == SQLITE_OK);
    return out;
}

constexpr const char* kEverything =
    "SELECT 'function ' || name FROM pragma_function_list UNION "
    "SELECT 'table ' || name FROM pragma_module_list UNION "
    "SELECT type || ' ' || name FROM temp.sqlite_schema WHERE type IN ('table', 'view')";

}  // namespace

TEST_CASE("an SQLite that is too old is refused by name", "[entry]") {
    static sqlite3_api_routines old = *profana_host_api();
    old.libversion_number = [] { return 3039004; };
    old.libversion = []() -> const char* { return "3.39.4"; };
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(":memory:", &db) == SQLITE_OK);
    char* error = nullptr;
    CHECK(sqlite3_profana_init(db, &error, &old) == SQLITE_ERROR);
    CHECK(error != nullptr);
    CHECK(std::string(error) == "profana: SQLite 3.39.4 is too old; libprofana needs SQLite 3.40 or newer");
    sqlite3_free(error);
    CHECK(sqlite3_exec(db, "SELECT profana_version()", nullptr, nullptr, nullptr) == SQLITE_ERROR);
    sqlite3_close(db);
    Sql sql;  // and the right one is there again
    CHECK(sql.text("SELECT profana_version()") != "");
}

TEST_CASE("every module can be asked for columns and for a table, the connection's own too", "[entry]") {
    Sql sql;
    for (const auto& row : sql.rows("SELECT name FROM pragma_module_list WHERE name NOT GLOB 'fts*'")) {
        INFO(row[0]);
        CHECK(sqlite3_exec(sql.db(), ("PRAGMA table_xinfo('" + row[0] + "')").c_str(), nullptr, nullptr,
                           nullptr) == SQLITE_OK);
    }
    for (const char* text : {"SELECT count(*) FROM profana_connection",
                             "CREATE VIRTUAL TABLE temp.mine USING profana_connection"}) {
        INFO(text);
        CHECK(sqlite3_exec(sql.db(), text, nullptr, nullptr, nullptr) == SQLITE_ERROR);
        CHECK(std::string(sqlite3_errmsg(sql.db())).find("profana_connection") != std::string::npos);
    }
}

TEST_CASE("profana_help lists everything that loading adds", "[entry]") {
    sqlite3* bare = nullptr;
    REQUIRE(sqlite3_open(":memory:", &bare) == SQLITE_OK);
    const std::set<std::string> before = names(bare, kEverything);
    sqlite3_close(bare);
    Sql sql;
    std::set<std::string>
        added;  // but for the module that holds the connection's state, which is not for SQL
    for (const std::string& name : names(sql.db(), kEverything))
        if (before.count(name) == 0 && name != "table profana_connection") added.insert(name);
    const std::set<std::string> listed =
        names(sql.db(),
              "SELECT CASE kind WHEN 'module' THEN 'table' ELSE kind END || ' ' || name FROM profana_help "
              "WHERE kind <> 'setting'");
    CHECK(added.size() > 100);
    std::set<std::string> missing, gone;
    std::set_difference(added.begin(), added.end(), listed.begin(), listed.end(),
                        std::inserter(missing, missing.end()));
    std::set_difference(listed.begin(), listed.end(), added.begin(), added.end(),
                        std::inserter(gone, gone.end()));
    CHECK(missing == std::set<std::string>{});
    CHECK(gone == std::set<std::string>{});
    CHECK(names(sql.db(), "SELECT name FROM prof_setting") ==
          names(sql.db(), "SELECT name FROM profana_help WHERE kind = 'setting'"));
    CHECK(sql.integer("SELECT count(*) FROM profana_help WHERE doc IS NULL OR doc = ''") == 0);
}
