// A profiler's database file, opened by a connection of our own: read-only, without extensions, views,
// triggers or trust in its schema. The user's connection is never asked anything while it runs a statement of
// ours.
//
// A DbFile holds one read transaction, so that everything read through it is of one moment. It lives for the
// duration of one load: hundreds of ranks keep no file open.
#pragma once

#include <exception>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ext/core/progress.h"
#include "ext/core/store.h"
#include "ext/core/table_pages.h"
#include "ext/sqlite.h"

namespace profana {

// A table of the file, its columns in order.
struct DbTable {
    std::string name;
    std::vector<std::string> columns;
    std::vector<StoredColumn> stored;  // by column
    uint32_t root_page = 0;
    bool has_rowid = true;
    bool is_plain = false;  // the values of a row stand in its record as they are

    // The first of `names` that is a column: without regard to case and underscores (startNs, start_ns);
    // nullptr: none is.
    const std::string* column(std::initializer_list<std::string_view> names) const;
};

class DbScan;

// What DbFile throws of a file that is something else.
class NotADatabase : public Error {
  public:
    using Error::Error;
};

// What DbFile throws of a database that another program has locked: it can be read later.
class DatabaseLocked : public Error {
  public:
    using Error::Error;
};

class DbFile {
  public:
    // Throws an Error that says what is wrong: no file, no database, locked, damaged, no permission.
    explicit DbFile(const std::string& path);
    ~DbFile();
    DbFile(const DbFile&) = delete;
    DbFile& operator=(const DbFile&) = delete;

    const std::string& path() const { return path_; }
    // nullptr: no such table (a view or virtual table is none).
    const DbTable* table(std::string_view name);
    bool has_view(std::string_view name);  // a view or virtual table of that name, which is not read
    // What was found on opening that the user should know: code and message.
    const std::vector<std::pair<std::string, std::string>>& notes() const { return notes_; }
    bool truncated() const { return truncated_; }  // shorter than its header says

  private:
    friend class DbScan;
    void open(bool immutable);
    void close();
    sqlite3_file* sqlite_file() const;
    bool uses_log() const;
    // The first bytes of the file, and its size. false: they cannot be read.
    bool read_start(unsigned char* header, uint64_t* size) const;
    void read_header();
    void find_pages();
    bool begin();  // false: the side files of write-ahead logging cannot be made
    int run(const char* sql);
    struct SchemaEntry {
        std::string name;
        uint32_t root_page = 0;
    };
    // The entry of sqlite_schema that is a table, or else that is none; without a name: there is none.
    SchemaEntry schema_entry(std::string_view name, bool is_table);
    void describe(DbTable& table);
    [[noreturn]] void fail(int code) const;

    std::string path_;
    sqlite3* db_ = nullptr;
    DbScan* scan_ = nullptr;  // the one that runs
    bool write_ahead_ = false, truncated_ = false, immutable_ = false;
    std::optional<PageFormat> pages_;  // the file alone, without a log, is the database; its texts are UTF-8
    std::map<std::string, DbTable, std::less<>> tables_;
    std::vector<std::pair<std::string, std::string>> notes_;
};

// The cells of one row, by the numbers that DbScan gave. kNoCell: the file lacks the column; reads as NULL.
constexpr int kNoCell = -1;

class DbRow {
  public:
    // How many rows something holds for, however often it is told of one.
    struct RowCount {
        uint64_t rows = 0, last = 0;
        void add(uint64_t row) {
            rows += row == last ? 0 : 1;
            last = row;
        }
    };

    bool is_null(int cell) const { return is(cell, StoredCell::Kind::kNull); }
    bool is_text(int cell) const { return is(cell, StoredCell::Kind::kText); }

    // kNullInt: NULL, or nothing that is a whole number in 64 bits (which is counted). A real number is
    // rounded.
    int64_t integer(int cell) const {
        if (cell == kNoCell) return kNullInt;
        const StoredCell& value = cells_[cell];
        if (value.kind == StoredCell::Kind::kInteger && value.integer != kNullInt) return value.integer;
        return other_integer(cell);
    }
    double real(int cell) const;
    // Of a text cell; empty for any other. U+FFFD stands for NUL and for bytes that are no UTF-8 (which is
    // counted).
    std::string_view text(int cell) const;
    // As SQLite prints it: of a real number 15 digits.
    std::string printed(int cell) const;

  private:
    friend class DbScan;
    bool is(int cell, StoredCell::Kind kind) const {
        return cell == kNoCell ? kind == StoredCell::Kind::kNull : cells_[cell].kind == kind;
    }
    int64_t other_integer(int cell) const;

    const StoredCell* cells_ = nullptr;
    uint64_t number_ = 0;  // from 1
    // By cell:
    RowCount *unreadable_ = nullptr, *not_utf8_ = nullptr;
    std::string* repaired_ = nullptr;
};

// Reads the rows of a table in order of rowid.
class DbScan {
  public:
    DbScan(DbFile& file, const DbTable& table) : file_(file), table_(table) {}

    // Asks for a column, by the names it has had; kNoCell if the file has none of them.
    int cell(std::initializer_list<std::string_view> names);
    int rowid();
    bool has_cells() const { return !expressions_.empty(); }
    // About how many rows it will give, to make room for them: the largest rowid, as far as the file can hold
    // so many.
    size_t expected_rows() const;

    // Calls each(row) for every row. Where the file is damaged it stops with a diagnostic, what was read
    // before counts. Interruptible.
    template <class Each>
    void run(LoadContext& context, Each each) {
        call_ = [](void* self, const DbRow& row) { (*static_cast<Each*>(self))(row); };
        each_ = &each;
        execute(context);
    }
    uint64_t rows_from_pages() const { return rows_from_pages_; }  // for tests

  private:
    friend class DbFile;
    static void on_row(sqlite3_context* sqlite, int count, sqlite3_value** values);
    void take(const StoredCell* cells, uint64_t bytes);
    void take_values(int count, sqlite3_value** values);
    void execute(LoadContext& context);
    bool read_pages();
    int ask_sqlite();
    void report(LoadContext& context, int code);
    void report_cells(LoadContext& context, const char* code, const std::vector<DbRow::RowCount>& counts,
                      const char* what);

    int ask(std::string expression, StoredColumn stored);

    DbFile& file_;
    const DbTable& table_;
    std::vector<std::string> expressions_;  // by cell
    std::vector<StoredColumn> stored_;
    std::vector<StoredCell> cells_;
    std::vector<DbRow::RowCount> unreadable_, not_utf8_;
    std::vector<std::string> repaired_;
    void (*call_)(void*, const DbRow&) = nullptr;
    void* each_ = nullptr;
    LoadContext* context_ = nullptr;
    std::exception_ptr thrown_;
    uint64_t rows_ = 0, rows_from_pages_ = 0;
    uint64_t bytes_ = 0;  // of records, since the last poll
    DbRow row_;
};

}  // namespace profana
