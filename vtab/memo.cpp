#include "vtab/memo.h"

#include <algorithm>

#include "ext/connection.h"
#include "ext/core/decimal.h"
#include "vtab/profile.h"
#include "vtab/table_module.h"

namespace profana {
namespace {

// A statement of our own on the caller's connection.
class Statement {
  public:
    Statement(sqlite3* db, const std::string& sql, const std::string& what) : db_(db), what_(what) {
        if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK) fail();
    }
    ~Statement() { sqlite3_finalize(statement_); }
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    void bind(int parameter, const std::string& text) {
        if (sqlite3_bind_text(statement_, parameter, text.c_str(), -1, SQLITE_TRANSIENT) != SQLITE_OK) fail();
    }
    bool step() {
        const int code = sqlite3_step(statement_);
        if (code == SQLITE_INTERRUPT) throw Error("interrupted", ErrorKind::kInterrupted);
        if (code == SQLITE_NOMEM) throw std::bad_alloc();
        if (code != SQLITE_ROW && code != SQLITE_DONE) fail();
        return code == SQLITE_ROW;
    }
    int columns() const { return sqlite3_column_count(statement_); }
    bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
    int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
    double real(int column) const { return sqlite3_column_double(statement_, column); }
    std::string_view text(int column) const {
        const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
        if (bytes == nullptr) throw std::bad_alloc();
        return {bytes, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
    }

  private:
    [[noreturn]] void fail() const { throw Error("profana_memo: " + what_ + ": " + sqlite3_errmsg(db_)); }

    sqlite3* db_;
    std::string what_;
    sqlite3_stmt* statement_ = nullptr;
};

// All that the rows of a view of ours depend on.
struct State {
    std::vector<std::weak_ptr<Profile>> profiles;
    std::string settings;
    int changes = 0;         // rows that the connection has changed in its tables
    int64_t definition = 0;  // of the TEMP views

    bool operator==(const State& other) const {
        return settings == other.settings && changes == other.changes && definition == other.definition &&
               std::equal(profiles.begin(), profiles.end(), other.profiles.begin(), other.profiles.end(),
                          [](const auto& a, const auto& b) { return !a.expired() && a.lock() == b.lock(); });
    }
};

State state_of(Connection& connection) {
    State state;
    for (const auto& profile : connection.profiles()) state.profiles.push_back(profile);
    for (const auto& setting : connection.settings().all()) state.settings += setting.value + '\n';
    state.changes = sqlite3_total_changes(connection.db());
    Statement version(connection.db(), "PRAGMA temp.schema_version", "temp.schema_version");
    if (version.step()) state.definition = version.integer(0);
    return state;
}

class MemoProvider : public TableProvider {
  public:
    MemoProvider(std::string view, const std::vector<ColumnSpec>& columns) : view_(std::move(view)) {
        for (const ColumnSpec& column : columns) types_.push_back(column.type);
    }

    std::vector<Part> parts(Connection& connection, const ScanRequest&) override {
        refresh_profiles(connection);
        State now = state_of(connection);
        if (table_ == nullptr || !(now == state_)) {
            if (running_) throw Error("profana_memo: " + view_ + " asks for its own rows");
            table_ = nullptr;
            table_ = run(connection);
            state_ = std::move(now);
        }
        return {whole_table(table_)};
    }

    std::vector<Part> known_parts(Connection& connection, const ScanRequest&) override {
        if (table_ == nullptr || !(state_of(connection) == state_)) return {};
        return {whole_table(table_)};
    }

    double expected_rows(Connection&) override { return 10000; }

  private:
    std::shared_ptr<Table> run(Connection& connection) {
        struct Running {
            explicit Running(bool& flag) : flag_(flag) { flag_ = true; }
            ~Running() { flag_ = false; }
            bool& flag_;
        } running(running_);
        LoadContext context = connection.load_context();
        auto table = std::make_shared<Table>(types_, [](Table&, const ColumnSet&, LoadContext&) {});
        Statement rows(connection.db(), "SELECT * FROM temp.\"" + view_ + "\"", view_);
        const int columns = std::min(rows.columns(), static_cast<int>(types_.size()));
        for (int c = 0; c < columns; ++c) table->building(c);
        uint64_t count = 0;
        while (rows.step()) {
            for (int c = 0; c < columns; ++c) add(rows, c, table->building(c));
            if (++count == kMaxRows) throw Error("profana_memo: " + view_ + " has too many rows");
            if (count % 4096 == 0) context.poll();
        }
        table->set_rows(count);
        table->publish();
        return table;
    }

    void add(const Statement& rows, int column, Column& values) const {
        if (rows.is_null(column)) return values.add_null();
        switch (types_[static_cast<size_t>(column)]) {
            case ColumnType::kInt:
                return values.add_int(rows.integer(column));
            case ColumnType::kReal:
                return values.add_real(rows.real(column));
            default:
                return values.add_text(rows.text(column));
        }
    }

    std::string view_;
    std::vector<ColumnType> types_;
    std::shared_ptr<Table> table_;
    State state_;
    bool running_ = false;
};

// name, -- TYPE  meaning
struct Declared {
    std::string name, type;
};

// The columns that a view's own text lists, a line each, with their types in comments.
std::vector<Declared> declared_columns(std::string_view sql) {
    std::vector<Declared> out;
    size_t at = std::min(sql.find('('), sql.size());
    for (at = std::min(sql.find('\n', at), sql.size()); at < sql.size();) {
        const size_t end = std::min(sql.find('\n', at + 1), sql.size());
        const std::string_view line = trim(sql.substr(at, end - at));
        at = end;
        if (line.rfind(')', 0) == 0) break;
        if (line.empty() || line.rfind("--", 0) == 0) continue;
        const size_t comment = line.find("--");
        std::string_view type = comment == std::string_view::npos ? "" : trim(line.substr(comment + 2));
        type = type.substr(0, type.find(' '));
        out.push_back({std::string(line.substr(0, line.find_first_of(", "))), std::string(type)});
    }
    return out;
}

ColumnType column_type(const std::string& view, const Declared& column) {
    if (column.type == "INTEGER") return ColumnType::kInt;
    if (column.type == "REAL") return ColumnType::kReal;
    if (column.type == "TEXT") return ColumnType::kText;
    throw Error("profana_memo: " + view + ": column " + column.name + " is '" + column.type +
                "'; its comment must begin with INTEGER, REAL or TEXT");
}

std::unique_ptr<MadeTable> make_memo(Connection& connection, const std::vector<std::string>& arguments) {
    if (arguments.size() != 1) throw Error("profana_memo: takes the name of a TEMP view");
    const std::string view(trim(arguments[0]));
    Statement find(connection.db(), "SELECT sql FROM temp.sqlite_schema WHERE type = 'view' AND name = ?1",
                   view);
    find.bind(1, view);
    if (!find.step()) throw Error("profana_memo: there is no TEMP view '" + view + "'");
    const std::vector<Declared> columns = declared_columns(find.text(0));
    if (columns.empty())
        throw Error("profana_memo: " + view +
                    " does not list its columns, one a line, with their types in comments");
    auto made = std::make_unique<MadeTable>();
    made->texts.push_back(view);
    made->spec.name = made->texts.back().c_str();
    made->spec.doc = "";
    for (const Declared& column : columns) {
        made->texts.push_back(column.name);
        made->spec.columns.push_back({made->texts.back().c_str(), column_type(view, column), ""});
    }
    made->provider = std::make_unique<MemoProvider>(view, made->spec.columns);
    return made;
}

}  // namespace

int register_memo_tables(Connection& connection) {
    return register_table_maker(connection, "profana_memo", make_memo);
}

}  // namespace profana
