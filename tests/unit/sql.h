// A connection in memory with the extension on it, for tests that speak SQL.
#pragma once

#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "ext/profana.h"

namespace profana::test {

class Sql {
  private:
    sqlite3_stmt* prepare(const std::string& sql) {
        sqlite3_stmt* statement = nullptr;
        const int code = sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr);
        INFO(sqlite3_errmsg(db_));
        REQUIRE(code == SQLITE_OK);
        return statement;
    }

    // The first column of the one row of a query, which must have the given type.
    template <class Get>
    auto value(const std::string& sql, int type, Get get) {
        INFO(sql);
        sqlite3_stmt* statement = prepare(sql);
        const int code = sqlite3_step(statement);
        INFO(sqlite3_errmsg(db_));
        REQUIRE(code == SQLITE_ROW);
        CHECK(sqlite3_column_type(statement, 0) == type);
        auto out = get(statement);
        sqlite3_finalize(statement);
        return out;
    }

  public:
    Sql() {
        REQUIRE(sqlite3_open(":memory:", &db_) == SQLITE_OK);
        REQUIRE(sqlite3_profana_init(db_, nullptr, nullptr) == SQLITE_OK);
    }
    ~Sql() { sqlite3_close_v2(db_); }
    Sql(const Sql&) = delete;
    Sql& operator=(const Sql&) = delete;

    sqlite3* db() const { return db_; }

    void run(const std::string& sql) {
        INFO(sql);
        const int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
        INFO(sqlite3_errmsg(db_));
        REQUIRE(code == SQLITE_OK);
    }

    // Every row, values as text; NULL is "NULL".
    std::vector<std::vector<std::string>> rows(const std::string& sql) {
        INFO(sql);
        sqlite3_stmt* statement = prepare(sql);
        std::vector<std::vector<std::string>> out;
        int code = SQLITE_ROW;
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
            auto& row = out.emplace_back();
            for (int c = 0; c < sqlite3_column_count(statement); ++c) {
                const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, c));
                row.emplace_back(text == nullptr ? "NULL" : text);
            }
        }
        sqlite3_finalize(statement);
        INFO(sqlite3_errmsg(db_));
        REQUIRE(code == SQLITE_DONE);
        return out;
    }

    int64_t integer(const std::string& sql) {
        return value(sql, SQLITE_INTEGER, [](sqlite3_stmt* s) { return sqlite3_column_int64(s, 0); });
    }
    double real(const std::string& sql) {
        return value(sql, SQLITE_FLOAT, [](sqlite3_stmt* s) { return sqlite3_column_double(s, 0); });
    }
    std::string text(const std::string& sql) {
        return value(sql, SQLITE_TEXT, [](sqlite3_stmt* s) {
            return std::string(reinterpret_cast<const char*>(sqlite3_column_text(s, 0)));
        });
    }
    bool is_null(const std::string& sql) {
        return value(sql, SQLITE_NULL, [](sqlite3_stmt*) { return true; });
    }

    // The message of a statement that must fail, when prepared or when run.
    std::string error(const std::string& sql) {
        INFO(sql);
        sqlite3_stmt* statement = nullptr;
        int code = sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr);
        while (code == SQLITE_OK || code == SQLITE_ROW) code = sqlite3_step(statement);
        const std::string message = sqlite3_errmsg(db_);
        sqlite3_finalize(statement);
        CHECK(code != SQLITE_DONE);
        return message;
    }

  private:
    sqlite3* db_ = nullptr;
};

}  // namespace profana::test
