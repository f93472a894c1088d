// profana_export: the answers of views and reports as files that any tool opens without the extension.
//
// Each kind of file is a writer; all take their rows from the caller's connection, one statement after the
// other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ext/connection.h"

namespace profana {

// One result to write: a name (of the table, file or sheet) and the SQL that gives its rows.
struct ExportItem {
    std::string name;
    std::string sql;
    std::vector<std::string> types;  // declared SQL types by column; empty where nothing is known
    bool by_rank = false;            // CSV: a file NAME_RANK for each rank, which stands in the first column
};

// A statement on the caller's connection that is closed however its user leaves.
class Query {
  public:
    // `rest`, where given, is set behind the first statement of `sql`.
    Query(sqlite3* db, const char* sql, const char** rest = nullptr);
    ~Query() { sqlite3_finalize(statement_); }
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;

    bool step();  // false at the end; throws Error with SQLite's message
    bool empty() const { return statement_ == nullptr; }
    int columns() const { return sqlite3_column_count(statement_); }
    std::string name(int column) const;
    bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
    std::string text(int column) const;
    double real(int column) const { return sqlite3_column_double(statement_, column); }
    int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
    sqlite3_stmt* statement() const { return statement_; }

  private:
    sqlite3* db_;
    sqlite3_stmt* statement_ = nullptr;
};

// Runs a script of several statements; each that gives rows is handed to `on_rows` before its first step.
void run_script(Connection& connection, const std::string& script,
                const std::function<void(Query&)>& on_rows);

// The text of an embedded file, e.g. reports/compare/ApiCompare.sql. Throws Error when there is none.
const std::string& embedded_text(const std::string& path);

// The names of a list by comma, each once (ASCII letters alike); Error where there are none.
std::vector<std::string> names_of_list(const std::string& list);

// That a file could not be written, with the system's last reason.
Error cannot_write(const std::string& path);

// How many tables, files or sheets were written. `path` is a new, empty place of the writer's own.
int write_database(Connection& connection, const std::vector<ExportItem>& items, const std::string& path);
int write_csv_folder(Connection& connection, const std::vector<ExportItem>& items, const std::string& path);
// sheets: names by comma; nullptr: those that the compare tool writes.
int write_workbook(Connection& connection, const char* sheets, const std::string& path);
int write_html(Connection& connection, const std::string& path);

}  // namespace profana
