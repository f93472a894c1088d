#include "vtab/db_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "ext/core/ascii.h"
#include "ext/core/decimal.h"
#include "ext/core/utf8.h"

namespace profana {
namespace {

constexpr int kBusyMs = 250;  // how long a locked file is waited for
// Between two looks at whether the user wants to stop, and at the memory:
constexpr uint64_t kPollRows = 4096, kPollBytes = uint64_t{4} << 20;
constexpr const char* kRowFunction = "profana_each_row";

// Letters and digits only, in lower case: names have been spelled startNs and start_ns.
std::string plain_name(std::string_view name) {
    std::string out;
    for (const char c : name)
        if (c != '_') out += ascii_lower(c);
    return out;
}

// A file name as SQLite takes it: "file:..." is a name too, not a URI, unless one is asked for.
std::string plain_path(const std::string& path) {
    return path.starts_with("file:") ? "./" + path : path;
}

std::string immutable_uri(const std::string& path) {
    static constexpr char kHex[] = "0123456789ABCDEF";
    std::string out = "file:";
    for (const char c : plain_path(path)) {
        const auto byte = static_cast<unsigned char>(c);
        if (is_ascii_letter(c) || is_ascii_digit(c) || c == '/' || c == '.' || c == '-' || c == '_') {
            out += c;
        } else {
            out += '%';
            out += kHex[byte >> 4];
            out += kHex[byte & 15];
        }
    }
    return out + "?immutable=1";
}

uint64_t file_size(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

void check_regular_file(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0)
        throw file_error(path, 0, std::strerror(errno), ErrorKind::kCannotOpen);
    if (!S_ISREG(status.st_mode))
        throw file_error(path, 0, "is no regular file, so it is no database", ErrorKind::kCannotOpen);
}

std::string_view column_text(sqlite3_stmt* row, int column) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
    return text == nullptr ? std::string_view() : text;
}

// Section 3.1 of sqlite.org/datatype3.html.
bool is_real_affinity(const std::string& upper_type) {
    const auto has = [&](const char* word) { return upper_type.find(word) != std::string::npos; };
    const bool is_other = has("INT") || has("CHAR") || has("CLOB") || has("TEXT") || has("BLOB");
    return !is_other && (has("REAL") || has("FLOA") || has("DOUB"));
}

// Through SQLite's own file, under the lock that its transaction holds (an immutable file has none).
class SqlitePageFile : public PageFile {
  public:
    explicit SqlitePageFile(sqlite3_file* file) : file_(file) {}
    bool read(uint64_t offset, unsigned char* to, size_t n) override {
        return file_->pMethods->xRead(file_, to, static_cast<int>(n), static_cast<sqlite3_int64>(offset)) ==
               SQLITE_OK;
    }

  private:
    sqlite3_file* file_;
};

// SQLITE_DONE, or what stopped it.
template <class Take>
int each_row(sqlite3* db, const std::string& sql, const Take& take) {
    sqlite3_stmt* statement = nullptr;
    int code = sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(statement);
        if (code == SQLITE_ROW) take(statement);
    }
    sqlite3_finalize(statement);
    return code;
}

}  // namespace

const std::string* DbTable::column(std::initializer_list<std::string_view> names) const {
    for (const std::string_view wanted : names)
        for (const std::string& there : columns)
            if (plain_name(there) == plain_name(wanted)) return &there;
    return nullptr;
}

DbFile::DbFile(const std::string& path) : path_(path) {
    check_regular_file(path);
    try {
        open(false);
        // With write-ahead logging SQLite would make side files even to read. Where there is nothing in the
        // log, the file alone is the database.
        const bool log_is_empty = file_size(sqlite3_filename_wal(sqlite3_db_filename(db_, "main"))) == 0;
        if (!(write_ahead_ && log_is_empty) && begin()) {
            find_pages();
            return;
        }
        close();
        if (!log_is_empty)
            notes_.emplace_back(
                "wal_ignored",
                "its write-ahead log cannot be read here (read-only folder), so what was written "
                "last is missing; copy the database with its -wal file to read all of it");
        open(true);
        if (!begin()) fail(SQLITE_CANTOPEN);
        find_pages();
    } catch (...) {
        close();
        throw;
    }
}

DbFile::~DbFile() {
    close();
}

void DbFile::open(bool immutable) {
    immutable_ = immutable;
    // Not in a cache that the host's connections share: their changes are not yet in the file.
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_PRIVATECACHE;
    if (sqlite3_threadsafe() != 0) flags |= SQLITE_OPEN_NOMUTEX;  // one thread at a time uses it
    if (immutable) flags |= SQLITE_OPEN_URI;
    const std::string name = immutable ? immutable_uri(path_) : plain_path(path_);
    const int code = sqlite3_open_v2(name.c_str(), &db_, flags, nullptr);
    if (code != SQLITE_OK) fail(code);
    sqlite3_extended_result_codes(db_, 1);
    sqlite3_busy_timeout(db_, kBusyMs);
    for (const int option : {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_VIEW,
                             SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION})
        sqlite3_db_config(db_, option, 0, nullptr);
    const int made = sqlite3_create_function_v2(
        db_, kRowFunction, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, this, nullptr, DbScan::on_row,
        [](sqlite3_context* context) { sqlite3_result_null(context); }, nullptr);
    if (made != SQLITE_OK) fail(made);
    read_header();
    // SQLite opens a database that is shorter than its header says only as one to be repaired.
    sqlite3_db_config(db_, truncated_ ? SQLITE_DBCONFIG_WRITABLE_SCHEMA : SQLITE_DBCONFIG_DEFENSIVE, 1,
                      nullptr);
}

void DbFile::close() {
    if (db_ != nullptr) sqlite3_close_v2(db_);
    db_ = nullptr;
}

// SQLite's own: closing another descriptor of the file would drop the locks that this process holds.
sqlite3_file* DbFile::sqlite_file() const {
    sqlite3_file* file = nullptr;
    sqlite3_file_control(db_, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    return file != nullptr && file->pMethods != nullptr ? file : nullptr;
}

bool DbFile::read_start(unsigned char* header, uint64_t* size) const {
    sqlite3_file* file = sqlite_file();
    sqlite3_int64 bytes = 0;
    if (file == nullptr || file->pMethods->xFileSize(file, &bytes) != SQLITE_OK) return false;
    *size = static_cast<uint64_t>(bytes);
    return *size >= kDatabaseHeaderBytes &&
           file->pMethods->xRead(file, header, static_cast<int>(kDatabaseHeaderBytes), 0) == SQLITE_OK;
}

void DbFile::read_header() {
    unsigned char header[kDatabaseHeaderBytes];
    uint64_t size = 0;
    const bool readable = read_start(header, &size);
    if (!readable || std::memcmp(header, "SQLite format 3", 16) != 0) fail(SQLITE_NOTADB);
    write_ahead_ = header[18] == 2 || header[19] == 2;
    const DatabaseHeader facts = read_database_header(header);
    const uint64_t bytes = uint64_t{facts.pages} * facts.page_bytes;
    truncated_ = !write_ahead_ && size < bytes;
    if (truncated_)
        notes_.emplace_back("db_truncated", "it has " + std::to_string(size) + " of the " +
                                                std::to_string(bytes) +
                                                " bytes that its header names; what can be read is read");
}

// A log beside the file counts whatever the file's header says.
bool DbFile::uses_log() const {
    bool is_wal = false;
    each_row(db_, "PRAGMA main.journal_mode",
             [&](sqlite3_stmt* row) { is_wal = column_text(row, 0) == "wal"; });
    return is_wal;
}

// May the tables be read from the pages of the file? Now that it is locked, its header counts.
void DbFile::find_pages() {
    if (truncated_ || (!immutable_ && uses_log())) return;
    unsigned char header[kDatabaseHeaderBytes];
    uint64_t size = 0;
    if (read_start(header, &size)) pages_ = page_format(read_database_header(header), size);
}

int DbFile::run(const char* sql) {
    return sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
}

bool DbFile::begin() {
    int code = run("PRAGMA cell_size_check = ON; BEGIN");
    if (code == SQLITE_OK) code = run("SELECT count(*) FROM sqlite_schema");
    if (code == SQLITE_OK) return true;
    const bool side_files =
        write_ahead_ && ((code & 0xFF) == SQLITE_CANTOPEN || (code & 0xFF) == SQLITE_READONLY);
    if (!side_files) fail(code);
    return false;
}

void DbFile::fail(int code) const {
    std::string what;
    ErrorKind kind = ErrorKind::kCannotOpen;
    switch (code & 0xFF) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            throw DatabaseLocked("profana: " + excerpt(path_) +
                                     ": the database is locked by another program, or by a transaction of "
                                     "this one; try again when that has ended",
                                 ErrorKind::kCannotOpen);
        case SQLITE_NOTADB:
            throw NotADatabase("profana: " + excerpt(path_) + ": is no SQLite database",
                               ErrorKind::kCannotOpen);
        case SQLITE_CORRUPT:
            what = std::string("the database is damaged: ") + sqlite3_errmsg(db_);
            break;
        case SQLITE_READONLY:
            what =
                "its last writer was cut off and left a journal; open it once with the sqlite3 shell, which "
                "puts it "
                "in order, and query again";
            break;
        case SQLITE_NOMEM:
            throw Error("out of memory", ErrorKind::kNoMemory);
        default:
            what = std::string("the database cannot be read: ") +
                   (db_ != nullptr ? sqlite3_errmsg(db_) : sqlite3_errstr(code));
            if ((code & 0xFF) != SQLITE_CANTOPEN && (code & 0xFF) != SQLITE_PERM) kind = ErrorKind::kGeneral;
            break;
    }
    throw file_error(path_, 0, what, kind);
}

const DbTable* DbFile::table(std::string_view name) {
    const std::string key = plain_name(name);
    if (const auto known = tables_.find(key); known != tables_.end())
        return known->second.columns.empty() ? nullptr : &known->second;

    const SchemaEntry found = schema_entry(name, true);
    DbTable& table = tables_[key];
    table.name = found.name;
    if (table.name.empty()) return nullptr;
    table.root_page = found.root_page;
    describe(table);
    return table.columns.empty() ? nullptr : &table;
}

// Its columns, and where they stand in a row's record.
void DbFile::describe(DbTable& table) {
    struct Declared {
        std::string type;
        bool has_default, is_key;
    };
    std::vector<Declared> columns;
    bool is_generated = false;
    each_row(db_, "PRAGMA main.table_xinfo(" + double_quoted(table.name) + ")", [&](sqlite3_stmt* row) {
        enum { kName = 1, kType, kNotNull, kDefault, kKey, kHidden };
        if (sqlite3_column_int(row, kHidden) != 0) {
            is_generated = true;
            return;
        }
        table.columns.emplace_back(column_text(row, kName));
        columns.push_back({upper_case(column_text(row, kType)),
                           sqlite3_column_type(row, kDefault) != SQLITE_NULL,
                           sqlite3_column_int(row, kKey) != 0});
    });
    const auto called_rowid = [](const std::string& column) { return plain_name(column) == "rowid"; };
    table.has_rowid = std::none_of(table.columns.begin(), table.columns.end(), called_rowid) &&
                      each_row(db_, "SELECT rowid FROM " + double_quoted(table.name) + " LIMIT 0",
                               [](sqlite3_stmt*) {}) == SQLITE_DONE;

    // An INTEGER PRIMARY KEY is the rowid, unless it has an index of its own, as one declared with DESC.
    bool has_key_index = false;
    each_row(db_, "PRAGMA main.index_list(" + double_quoted(table.name) + ")", [&](sqlite3_stmt* row) {
        constexpr int kOrigin = 3;
        has_key_index = has_key_index || column_text(row, kOrigin) == "pk";
    });
    const auto keys =
        std::count_if(columns.begin(), columns.end(), [](const Declared& c) { return c.is_key; });
    for (size_t c = 0; c < columns.size(); ++c) {
        const bool is_rowid =
            keys == 1 && !has_key_index && columns[c].is_key && columns[c].type == "INTEGER";
        table.stored.push_back({is_rowid ? kRowidPlace : static_cast<int>(c),
                                is_real_affinity(columns[c].type), columns[c].has_default});
    }
    table.is_plain = table.has_rowid && !is_generated;
}

bool DbFile::has_view(std::string_view name) {
    return !schema_entry(name, false).name.empty();
}

DbFile::SchemaEntry DbFile::schema_entry(std::string_view name, bool is_table) {
    // A view has no root page, nor has a virtual table.
    const char* sql = is_table
                          ? "SELECT name, rootpage FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
                          : "SELECT name, rootpage FROM sqlite_schema WHERE type IN ('table', 'view') AND "
                            "coalesce(rootpage, 0) = 0";
    const std::string key = plain_name(name);
    SchemaEntry found;
    const int code = each_row(db_, sql, [&](sqlite3_stmt* row) {
        const std::string_view there = column_text(row, 0);
        if (there.empty() || plain_name(there) != key || (!found.name.empty() && name != there)) return;
        found = {std::string(there), static_cast<uint32_t>(sqlite3_column_int64(row, 1))};
    });
    if (code != SQLITE_DONE) fail(code);
    return found;
}

int64_t DbRow::other_integer(int cell) const {
    const StoredCell& value = cells_[cell];
    int64_t integer = kNullInt;
    switch (value.kind) {
        case StoredCell::Kind::kNull:
            return kNullInt;
        case StoredCell::Kind::kReal: {
            const double rounded = std::nearbyint(value.real);
            if (rounded >= -9223372036854775807.0 && rounded < 9223372036854775807.0)
                return static_cast<int64_t>(rounded);
            break;
        }
        case StoredCell::Kind::kText: {
            const Parsed parsed = parse_scaled(value.bytes, 0, &integer);
            if (parsed == Parsed::kExact || parsed == Parsed::kRounded) return integer;
            if (parsed == Parsed::kEmpty || trim(value.bytes) == "N/A") return kNullInt;
            break;
        }
        case StoredCell::Kind::kInteger:
        case StoredCell::Kind::kBlob:
            break;
    }
    unreadable_[cell].add(number_);
    return kNullInt;
}

double DbRow::real(int cell) const {
    if (cell == kNoCell) return kNullReal;
    const StoredCell& value = cells_[cell];
    switch (value.kind) {
        case StoredCell::Kind::kInteger:
            return static_cast<double>(value.integer);
        case StoredCell::Kind::kReal:
            return value.real;
        case StoredCell::Kind::kText: {
            double real = kNullReal;
            const Parsed parsed = parse_real(value.bytes, &real);
            if (parsed == Parsed::kExact || parsed == Parsed::kRounded) return real;
            if (parsed == Parsed::kEmpty || trim(value.bytes) == "N/A") return kNullReal;
            break;
        }
        case StoredCell::Kind::kNull:
            return kNullReal;
        case StoredCell::Kind::kBlob:
            break;
    }
    unreadable_[cell].add(number_);
    return kNullReal;
}

std::string_view DbRow::text(int cell) const {
    if (!is_text(cell)) return {};
    const std::string_view text = cells_[cell].bytes;
    if (is_utf8_text(text)) return text;
    not_utf8_[cell].add(number_);
    return repaired_[cell] = repair_utf8(text);
}

std::string DbRow::printed(int cell) const {
    if (cell == kNoCell) return {};
    const StoredCell& value = cells_[cell];
    if (value.kind == StoredCell::Kind::kNull) return {};
    if (value.kind == StoredCell::Kind::kInteger) return std::to_string(value.integer);
    if (value.kind != StoredCell::Kind::kReal) return std::string(value.bytes);
    char text[32];
    return sqlite3_snprintf(sizeof text, text, "%!.15g", value.real);
}

int DbScan::cell(std::initializer_list<std::string_view> names) {
    const std::string* column = table_.column(names);
    if (column == nullptr) return kNoCell;
    return ask(double_quoted(*column), table_.stored[static_cast<size_t>(column - table_.columns.data())]);
}

int DbScan::rowid() {
    return table_.has_rowid ? ask("rowid", {}) : kNoCell;
}

int DbScan::ask(std::string expression, StoredColumn stored) {
    const auto known = std::find(expressions_.begin(), expressions_.end(), expression);
    if (known != expressions_.end()) return static_cast<int>(known - expressions_.begin());
    expressions_.push_back(std::move(expression));
    stored_.push_back(stored);
    return static_cast<int>(expressions_.size()) - 1;
}

size_t DbScan::expected_rows() const {
    constexpr uint64_t kLeastRowBytes = 4;
    if (!table_.has_rowid) return 0;
    sqlite3_stmt* statement = nullptr;
    const std::string sql = "SELECT max(rowid) FROM main." + double_quoted(table_.name);
    int64_t last = 0;
    if (sqlite3_prepare_v2(file_.db_, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        last = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return std::min<uint64_t>(std::max<int64_t>(last, 0), file_size(file_.path()) / kLeastRowBytes);
}

void DbScan::take(const StoredCell* cells, uint64_t bytes) {
    if (++rows_ > kMaxRows)
        throw file_error(file_.path(), 0, "table " + table_.name + " has more than 2^32 rows",
                         ErrorKind::kTooBig);
    bytes_ += bytes;
    if (rows_ % kPollRows == 0 || bytes_ > kPollBytes) {
        context_->poll();
        bytes_ = 0;
    }
    row_.cells_ = cells;
    row_.number_ = rows_;
    call_(each_, row_);
}

// false: there may be more rows.
bool DbScan::read_pages() {
    SqlitePageFile file(file_.sqlite_file());
    TablePages pages(file, *file_.pages_, table_.root_page, stored_);
    while (pages.next()) take(pages.cells(), pages.record_bytes());
    rows_from_pages_ = rows_;
    return !pages.irregular();
}

// The rows come as calls of an aggregate function from within SQLite's own loop: twice as fast as stepping
// and asking for each cell.
void DbScan::on_row(sqlite3_context* sqlite, int count, sqlite3_value** values) {
    DbScan* scan = static_cast<DbFile*>(sqlite3_user_data(sqlite))->scan_;
    if (scan == nullptr || scan->thrown_ != nullptr) return;
    try {
        scan->take_values(count, values);
    } catch (...) {
        scan->thrown_ = std::current_exception();
        sqlite3_result_error(sqlite, "stopped", -1);
    }
}

void DbScan::take_values(int count, sqlite3_value** values) {
    uint64_t bytes = 0;
    for (int i = 0; i < count; ++i) {
        StoredCell& cell = cells_[static_cast<size_t>(i)];
        switch (sqlite3_value_type(values[i])) {
            case SQLITE_INTEGER:
                cell.kind = StoredCell::Kind::kInteger;
                cell.integer = sqlite3_value_int64(values[i]);
                break;
            case SQLITE_FLOAT:
                cell.kind = StoredCell::Kind::kReal;
                cell.real = sqlite3_value_double(values[i]);
                break;
            case SQLITE_TEXT: {
                cell.kind = StoredCell::Kind::kText;
                const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values[i]));
                if (text == nullptr) throw std::bad_alloc();
                cell.bytes = {text, static_cast<size_t>(sqlite3_value_bytes(values[i]))};
                break;
            }
            case SQLITE_BLOB:
                cell.kind = StoredCell::Kind::kBlob;
                cell.bytes = {static_cast<const char*>(sqlite3_value_blob(values[i])),
                              static_cast<size_t>(sqlite3_value_bytes(values[i]))};
                break;
            default:
                cell.kind = StoredCell::Kind::kNull;
        }
        if (cell.kind == StoredCell::Kind::kText || cell.kind == StoredCell::Kind::kBlob)
            bytes += cell.bytes.size();
    }
    take(cells_.data(), bytes);
}

// The rows that are not yet read. Returns SQLITE_OK, or what stopped it.
int DbScan::ask_sqlite() {
    const auto list = [&](const auto& text) {
        std::string out;
        for (size_t i = 0; i < expressions_.size(); ++i) out += (i > 0 ? ", " : "") + text(i);
        return out;
    };
    // Without an index: an index that covers the columns would give another order.
    std::string sql = list([&](size_t i) { return expressions_[i] + " AS c" + std::to_string(i); });
    sql = "SELECT " + (sql.empty() ? "1" : sql) + " FROM main." + double_quoted(table_.name) + " NOT INDEXED";
    if (rows_ > 0) sql += " LIMIT -1 OFFSET " + std::to_string(rows_);
    sql = std::string("SELECT ") + kRowFunction + "(" +
          list([](size_t i) { return "c" + std::to_string(i); }) + ") FROM (" + sql + ")";
    cells_.resize(expressions_.size());
    sqlite3_stmt* statement = nullptr;
    int code = sqlite3_prepare_v2(file_.db_, sql.c_str(), -1, &statement, nullptr);
    if (code == SQLITE_OK) {
        file_.scan_ = this;
        code = sqlite3_step(statement);
        file_.scan_ = nullptr;
    }
    sqlite3_finalize(statement);
    if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

void DbScan::execute(LoadContext& context) {
    unreadable_.assign(expressions_.size(), {});
    row_.unreadable_ = unreadable_.data();
    not_utf8_.assign(expressions_.size(), {});
    row_.not_utf8_ = not_utf8_.data();
    repaired_.resize(expressions_.size());
    row_.repaired_ = repaired_.data();
    context_ = &context;
    context.poll();

    // With an error of an earlier statement SQLite may have ended the transaction, and with it the lock.
    const bool is_locked = sqlite3_get_autocommit(file_.db_) == 0;
    const bool is_whole = is_locked && file_.pages_ && table_.is_plain && read_pages();
    report(context, is_whole ? SQLITE_OK : ask_sqlite());  // what is irregular is SQLite's to judge
}

void DbScan::report(LoadContext& context, int code) {
    if (code != SQLITE_OK) {
        // A record beyond all limits is one whose length is damaged.
        constexpr int kDamage[] = {SQLITE_CORRUPT, SQLITE_IOERR, SQLITE_NOTADB, SQLITE_TOOBIG};
        if (std::find(std::begin(kDamage), std::end(kDamage), code & 0xFF) == std::end(kDamage))
            file_.fail(code);
        context.diagnostics.add({.severity = Severity::kError,
                                 .file = file_.path(),
                                 .code = "db_corrupt",
                                 .message = "table " + table_.name + " can be read up to its row " +
                                            std::to_string(rows_) + " only: " + sqlite3_errstr(code)});
    }
    report_cells(context, "bad_number", unreadable_, " that are no number of 64 bits count as NULL");
    report_cells(context, "invalid_utf8", not_utf8_, " that are no UTF-8; U+FFFD stands for each bad byte");
}

void DbScan::report_cells(LoadContext& context, const char* code, const std::vector<DbRow::RowCount>& counts,
                          const char* what) {
    for (size_t i = 0; i < counts.size(); ++i) {
        if (counts[i].rows == 0) continue;
        context.diagnostics.add({.file = file_.path(),
                                 .code = code,
                                 .message = "values of " + table_.name + "." + expressions_[i] + what,
                                 .count = counts[i].rows});
    }
}

}  // namespace profana
