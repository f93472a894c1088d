// Exports as plain tables of a new SQLite database, and as a folder of CSV files.
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "ext/export.h"

namespace profana {
namespace {

// The database being written, on a connection of its own: the caller's transaction is not touched.
class Target {
  public:
    explicit Target(const std::string& path) {
        // A name that begins with file: would be taken for a URI.
        const std::string place = std::filesystem::absolute(path).string();
        if (sqlite3_open_v2(place.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr) !=
            SQLITE_OK) {
            const std::string message = sqlite3_errmsg(db_);
            sqlite3_close(db_);
            throw Error("profana_export: " + excerpt(path) + ": " + message, ErrorKind::kCannotOpen);
        }
        run("PRAGMA journal_mode = OFF");
        run("BEGIN");
    }
    ~Target() { sqlite3_close(db_); }
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;

    sqlite3* db() const { return db_; }
    void run(const std::string& sql) {
        if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
            throw Error(std::string("profana_export: ") + sqlite3_errmsg(db_));
    }

  private:
    sqlite3* db_ = nullptr;
};

std::string create_statement(const ExportItem& item, const Query& rows) {
    std::string sql = "CREATE TABLE " + double_quoted(item.name) + " (";
    for (int c = 0; c < rows.columns(); ++c) {
        const char* declared = sqlite3_column_decltype(rows.statement(), c);
        std::string type = declared != nullptr ? declared : "";
        if (static_cast<size_t>(c) < item.types.size() && !item.types[c].empty()) type = item.types[c];
        sql += (c > 0 ? ", " : "") + double_quoted(rows.name(c)) + (type.empty() ? "" : " " + type);
    }
    return sql + ")";
}

std::string insert_statement(const ExportItem& item, int columns) {
    std::string sql = "INSERT INTO " + double_quoted(item.name) + " VALUES (?";
    for (int c = 1; c < columns; ++c) sql += ", ?";
    return sql + ")";
}

void copy_rows(Target& target, const ExportItem& item, Query& rows) {
    target.run(create_statement(item, rows));
    Query insert(target.db(), insert_statement(item, rows.columns()).c_str());
    while (rows.step()) {
        for (int c = 0; c < rows.columns(); ++c)
            sqlite3_bind_value(insert.statement(), c + 1, sqlite3_column_value(rows.statement(), c));
        insert.step();
        sqlite3_reset(insert.statement());
    }
}

// RFC 4180; NULL is an empty cell, an empty text is "".
std::string csv_text(const std::string& text) {
    if (!text.empty() && text.find_first_of(",\"\r\n") == std::string::npos) return text;
    return double_quoted(text);
}

std::string csv_cell(const Query& rows, int column) {
    return rows.is_null(column) ? "" : csv_text(rows.text(column));
}

class CsvFile {
  public:
    // A file that is not new has its head already.
    CsvFile(const Query& rows, std::string path, bool is_new)
        : path_(std::move(path)), out_(path_, std::ios::binary | (is_new ? std::ios::out : std::ios::app)) {
        if (!out_) throw cannot_write(path_);
        if (!is_new) return;
        for (int c = 0; c < rows.columns(); ++c) out_ << (c > 0 ? "," : "") << csv_text(rows.name(c));
        out_ << "\r\n";
    }
    void add(const Query& rows) {
        for (int c = 0; c < rows.columns(); ++c) out_ << (c > 0 ? "," : "") << csv_cell(rows, c);
        out_ << "\r\n";
    }
    void close() {
        out_.close();
        if (!out_) throw cannot_write(path_);
    }

  private:
    std::string path_;
    std::ofstream out_;
};

void write_csv(Query& rows, const std::string& path) {
    CsvFile file(rows, path + ".csv", true);
    while (rows.step()) file.add(rows);
    file.close();
}

// A rank that is not known has a file without a number. The same rank of several profiles shares a file.
void write_csv_by_rank(Query& rows, const std::string& path) {
    std::unique_ptr<CsvFile> file;
    std::string current;
    std::set<std::string> written;
    while (rows.step()) {
        const std::string name = path + (rows.is_null(0) ? "" : "_" + rows.text(0)) + ".csv";
        if (file == nullptr || name != current) {
            if (file != nullptr) file->close();
            file = std::make_unique<CsvFile>(rows, name, written.insert(name).second);
            current = name;
        }
        file->add(rows);
    }
    if (file != nullptr) file->close();
}

}  // namespace

int write_database(Connection& connection, const std::vector<ExportItem>& items, const std::string& path) {
    Target target(path);
    for (const ExportItem& item : items) {
        Query rows(connection.db(), item.sql.c_str());
        copy_rows(target, item, rows);
    }
    target.run("COMMIT");
    return static_cast<int>(items.size());
}

int write_csv_folder(Connection& connection, const std::vector<ExportItem>& items, const std::string& path) {
    std::error_code problem;
    if (!std::filesystem::create_directories(path, problem))
        throw Error("profana_export: " + excerpt(path) + ": " + problem.message(), ErrorKind::kCannotOpen);
    for (const ExportItem& item : items) {
        if (item.name.find('/') != std::string::npos)
            throw Error("profana_export: no file can have the name of the table '" + excerpt(item.name) +
                        "'; export it to a .db");
        Query rows(connection.db(), item.sql.c_str());
        if (item.by_rank) {
            write_csv_by_rank(rows, path + "/" + item.name);
        } else {
            write_csv(rows, path + "/" + item.name);
        }
    }
    return static_cast<int>(items.size());
}

}  // namespace profana
