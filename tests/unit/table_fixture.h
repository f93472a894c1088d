// A connection with tables of the generic module for tests: rows that a test makes up, and the same rows as
// an ordinary SQLite table to compare with.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "ext/connection.h"
#include "ext/core/cell.h"
#include "ext/profana.h"
#include "vtab/table_module.h"

namespace profana_test {

struct Database {
    Database() {
        if (sqlite3_open(":memory:", &db) != SQLITE_OK) throw std::runtime_error("cannot open");
        connect_library();
        auto owned = std::make_unique<profana::Connection>(db);
        connection = owned.get();
        profana::hand_over(std::move(owned));
    }
    ~Database() { sqlite3_close(db); }
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    // The library finds SQLite's functions when it is first initialized, on whatever connection.
    static void connect_library() {
        static const int once = [] {
            sqlite3* scratch = nullptr;
            sqlite3_open(":memory:", &scratch);
            const int code = sqlite3_profana_init(scratch, nullptr, nullptr);
            sqlite3_close(scratch);
            return code;
        }();
        if (once != SQLITE_OK) throw std::runtime_error("cannot initialize the library");
    }

    // All rows, values as typed text: "i5", "r0.5", "tabc", "b00ff", "n"; an error as one row "error: ...".
    std::vector<std::vector<std::string>> rows(const std::string& sql) {
        std::vector<std::vector<std::string>> out;
        sqlite3_stmt* statement = nullptr;
        int code = sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr);
        while (code == SQLITE_OK || code == SQLITE_ROW) {
            code = sqlite3_step(statement);
            if (code != SQLITE_ROW) break;
            std::vector<std::string> row;
            for (int c = 0; c < sqlite3_column_count(statement); ++c) row.push_back(value(statement, c));
            out.push_back(std::move(row));
        }
        if (code != SQLITE_DONE) out = {{std::string("error: ") + sqlite3_errmsg(db)}};
        sqlite3_finalize(statement);
        return out;
    }

    // The rows as lines of values with '|' between.
    std::string text(const std::string& sql) {
        std::string out;
        for (const auto& row : rows(sql)) {
            for (size_t c = 0; c < row.size(); ++c) out += (c > 0 ? "|" : "") + row[c];
            out += "\n";
        }
        return out;
    }

    std::string plan(const std::string& sql) {
        std::string out;
        for (const auto& row : rows("EXPLAIN QUERY PLAN " + sql)) out += row.back().substr(1) + "\n";
        return out;
    }

    static std::string value(sqlite3_stmt* statement, int c) {
        const auto bytes = [&] {
            return std::string(static_cast<const char*>(sqlite3_column_blob(statement, c)),
                               static_cast<size_t>(sqlite3_column_bytes(statement, c)));
        };
        char buffer[64];
        switch (sqlite3_column_type(statement, c)) {
            case SQLITE_INTEGER:
                return "i" + std::to_string(sqlite3_column_int64(statement, c));
            case SQLITE_FLOAT:
                snprintf(buffer, sizeof buffer, "r%.17g", sqlite3_column_double(statement, c));
                return buffer;
            case SQLITE_TEXT:
                return sqlite3_column_bytes(statement, c) > 0 ? "t" + bytes() : "t";
            case SQLITE_BLOB:
                return sqlite3_column_bytes(statement, c) > 0 ? "b" + bytes() : "b";
            default:
                return "n";
        }
    }

    sqlite3* db = nullptr;
    profana::Connection* connection = nullptr;
};

// Gives the parts that a test has made.
class FixedProvider : public profana::TableProvider {
  public:
    explicit FixedProvider(std::vector<profana::Part> parts) : parts_(std::move(parts)) {}
    std::vector<profana::Part> parts(profana::Connection&, const profana::ScanRequest&) override {
        return parts_;
    }
    std::vector<profana::Part> known_parts(profana::Connection&, const profana::ScanRequest&) override {
        return parts_;
    }
    double expected_rows(profana::Connection&) override { return 1000; }

  private:
    std::vector<profana::Part> parts_;
};

}  // namespace profana_test
