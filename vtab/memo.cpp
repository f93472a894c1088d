#include "vtab/memo.h"

#include <functional>
#include <numeric>
#include <utility>

#include "ext/connection.h"
#include "ext/core/decimal.h"
#include "ext/core/index.h"
#include "ext/views.h"
#include "vtab/operand.h"
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
    int type(int column) const { return sqlite3_column_type(statement_, column); }
    bool is_null(int column) const { return type(column) == SQLITE_NULL; }
    int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
    // Takes the connection's lock once, not for each look at it. The statement whose scan asks for the rows
    // holds that lock, so the value cannot change meanwhile.
    sqlite3_value* value(int column) const { return sqlite3_column_value(statement_, column); }
    std::string_view text(int column) const {
        const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
        if (bytes == nullptr) throw std::bad_alloc();
        return {bytes, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
    }

  private:
    // What the library itself says of a profile is said once, whatever views asked for it.
    [[noreturn]] void fail() const {
        const std::string message = sqlite3_errmsg(db_);
        throw Error(message.rfind("profana", 0) == 0 ? message
                                                     : "profana_memo: " + excerpt(what_) + ": " + message);
    }

    sqlite3* db_;
    std::string what_;
    sqlite3_stmt* statement_ = nullptr;
};

// What the rows of TEMP views depend on, apart from profiles: opening and closing one throws the rows away.
// Tables of other databases are not watched; the shipped views read none.
class Watch {
  public:
    explicit Watch(Connection& connection) : connection_(connection) {}

    // Throws the kept rows away where they may be out of date.
    void check() {
        const Moment now{connection_.scan_runs, connection_.settings().revision(),
                         sqlite3_total_changes(connection_.db()),
                         sqlite3_get_autocommit(connection_.db()) != 0};
        const Moment last = std::exchange(last_, now);
        if (now == last) return;
        // Within a transaction a ROLLBACK may have taken changes back without a trace.
        const bool may_differ = now.changes != last.changes || !now.autocommit || !last.autocommit;
        const int64_t schema = schema_version();
        bool same = now.settings == last.settings;
        if (may_differ || schema != schema_) {
            const size_t found = contents();
            same = same && found == contents_;
            contents_ = found;
            schema_ = schema;
        }
        if (!same) connection_.kept_rows.clear();
    }

  private:
    struct Moment {
        uint64_t scan_run = 0, settings = 0;
        int changes = -1;
        bool autocommit = true;
        bool operator==(const Moment&) const = default;
    };

    int64_t schema_version() {
        Statement version(connection_.db(), "PRAGMA temp.schema_version", "temp.schema_version");
        return version.step() ? version.integer(0) : 0;
    }

    // Views by their text, tables by their rows. A table too long to be looked through counts as changed.
    size_t contents() {
        size_t sum = 0;
        std::vector<std::string> tables;
        Statement schema(connection_.db(),
                         "SELECT type, name, sql FROM temp.sqlite_schema WHERE type IN ('table', 'view')",
                         "temp.sqlite_schema");
        while (schema.step()) {
            const bool is_virtual = schema.text(2).rfind("CREATE VIRTUAL", 0) == 0;
            if (schema.text(0) == "view") mix(sum, schema.text(2));
            if (schema.text(0) == "table" && !is_virtual) tables.emplace_back(schema.text(1));
        }
        for (const std::string& name : tables) {
            mix(sum, name);
            Statement rows(connection_.db(), "SELECT * FROM temp." + double_quoted(name), name);
            for (int count = 0; rows.step(); ++count) {
                if (count == kMostRows) {
                    mix(sum, std::to_string(++too_long_));
                    break;
                }
                for (int c = 0; c < rows.columns(); ++c) mix(sum, rows.is_null(c) ? "\x01" : rows.text(c));
            }
        }
        return sum;
    }

    static void mix(size_t& sum, std::string_view text) {
        constexpr size_t kOdd = 0x9e3779b97f4a7c15;
        sum = (sum ^ std::hash<std::string_view>()(text)) * kOdd + 1;
    }

    static constexpr int kMostRows = 10000;
    Connection& connection_;
    Moment last_;
    int64_t schema_ = -1;
    size_t contents_ = 0;
    uint64_t too_long_ = 0;
};

// name, -- TYPE  meaning
struct Declared {
    std::string name, type;
    bool rarely_repeats = false;  // of texts: kept as they are, without a dictionary
};

// The columns that a view's own text lists, with their types in comments.
std::vector<Declared> declared_columns(std::string_view sql) {
    std::vector<Declared> out;
    for (const std::string_view line : column_lines(sql)) {
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
    if (column.type == "TEXT") return column.rarely_repeats ? ColumnType::kLong : ColumnType::kText;
    throw Error("profana_memo: " + excerpt(view) + ": column " + excerpt(column.name) + " is '" +
                excerpt(column.type) + "'; its comment must begin with INTEGER, REAL or TEXT");
}

class MemoProvider : public TableProvider {
  public:
    // key: of the kept rows; a view may be kept in more than one way.
    MemoProvider(std::string view, std::string key, std::vector<Declared> columns,
                 std::vector<OrderTerm> order, std::shared_ptr<Watch> watch)
        : view_(std::move(view)),
          key_(std::move(key)),
          columns_(std::move(columns)),
          order_(std::move(order)),
          watch_(std::move(watch)) {
        for (const Declared& column : columns_) types_.push_back(column_type(view_, column));
    }

    // Points to the provider's own texts.
    TableSpec spec() const {
        TableSpec spec{view_.c_str(), "", {}, {}};
        for (size_t c = 0; c < columns_.size(); ++c)
            spec.columns.push_back({columns_[c].name.c_str(), types_[c], ""});
        return spec;
    }

    std::vector<Part> parts(Connection& connection, const ScanRequest&) override {
        refresh_profiles(connection);
        watch_->check();
        const auto kept = connection.kept_rows.find(key_);
        if (kept != connection.kept_rows.end()) return {whole_table(kept->second)};
        if (running_) throw Error("profana_memo: " + excerpt(view_) + " asks for its own rows");
        std::shared_ptr<Table> table = run(connection);
        connection.kept_rows[key_] = table;
        return {whole_table(std::move(table))};
    }

    std::vector<Part> known_parts(Connection& connection, const ScanRequest&) override {
        const auto kept = connection.kept_rows.find(key_);
        if (kept == connection.kept_rows.end()) return {};
        return {whole_table(kept->second)};
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
        Statement rows(connection.db(), "SELECT * FROM temp." + double_quoted(view_), view_);
        if (rows.columns() != static_cast<int>(types_.size()))
            throw Error("profana_memo: " + excerpt(view_) + " has " + std::to_string(rows.columns()) +
                        " columns, not the " + std::to_string(types_.size()) + " that it lists");
        for (int c = 0; c < rows.columns(); ++c) table->building(c);
        uint64_t count = 0;
        while (rows.step()) {
            for (int c = 0; c < rows.columns(); ++c) add(rows, c, table->building(c));
            if (++count == kMaxRows) throw Error("profana_memo: " + excerpt(view_) + " has too many rows");
            if (count % kRowsBetweenPolls == 0) context.poll();
        }
        table->set_rows(count);
        table->publish();
        return order_.empty() ? table : sorted(*table, context);
    }

    std::shared_ptr<Table> sorted(const Table& table, LoadContext& context) const {
        PageVector<Row> rows(table.rows());
        std::iota(rows.begin(), rows.end(), Row{0});
        sort_by(table, order_, rows, context);
        auto out = std::make_shared<Table>(types_, [](Table&, const ColumnSet&, LoadContext&) {});
        for (int c = 0; c < table.columns(); ++c) {
            out->building(c).add_rows(table.column(c), rows);
            context.poll();
        }
        out->set_rows(table.rows());
        out->publish();
        return out;
    }

    // A value of another type than the listed one would come out of the table as another value.
    void add(const Statement& rows, int column, Column& values) const {
        sqlite3_value* value = rows.value(column);
        const int type = sqlite3_value_type(value);
        if (type == SQLITE_NULL) return values.add_null();
        const ColumnType listed = types_[static_cast<size_t>(column)];
        if (listed == ColumnType::kInt && type == SQLITE_INTEGER) {
            const int64_t integer = sqlite3_value_int64(value);
            if (integer == kNullInt)
                throw Error("profana_memo: " + excerpt(view_) + ": a value of " +
                            excerpt(columns_[static_cast<size_t>(column)].name) +
                            " is the lowest integer, which the table cannot hold");
            return values.add_int(integer);
        }
        if (listed == ColumnType::kReal && (type == SQLITE_INTEGER || type == SQLITE_FLOAT))
            return values.add_real(sqlite3_value_double(value));
        if (type == SQLITE_TEXT && (listed == ColumnType::kText || listed == ColumnType::kLong)) {
            const std::string_view text = text_of(value);
            return listed == ColumnType::kText ? values.add_text(text) : values.add_long(text);
        }
        throw Error("profana_memo: " + excerpt(view_) + ": a value of " +
                    excerpt(columns_[static_cast<size_t>(column)].name) +
                    " is of another type than the listed one");
    }

    static constexpr uint64_t kRowsBetweenPolls = 4096;
    std::string view_, key_;
    std::vector<Declared> columns_;
    std::vector<ColumnType> types_;
    std::vector<OrderTerm> order_;  // of the kept rows; empty: as the view gives them
    std::shared_ptr<Watch> watch_;
    bool running_ = false;
};

void mark_long(const std::string& view, std::string_view name, std::vector<Declared>& columns) {
    for (Declared& column : columns)
        if (column.name == name && column.type == "TEXT") {
            column.rarely_repeats = true;
            return;
        }
    throw Error("profana_memo: " + excerpt(view) + " has no TEXT column '" + excerpt(name) + "'");
}

// The column of an ORDER BY: name.
OrderTerm order_term(const std::string& view, std::string_view name, const std::vector<Declared>& columns) {
    for (size_t c = 0; c < columns.size(); ++c)
        if (columns[c].name == name && !columns[c].rarely_repeats) return {static_cast<int>(c), false};
    throw Error("profana_memo: " + excerpt(view) + " has no column '" + excerpt(name) + "' to be sorted by");
}

std::unique_ptr<MadeTable> make_memo(Connection& connection, const std::shared_ptr<Watch>& watch,
                                     const std::vector<std::string>& arguments) {
    if (arguments.empty()) throw Error("profana_memo: takes the name of a TEMP view");
    const std::string view(trim(arguments[0]));
    Statement find(connection.db(), "SELECT sql FROM temp.sqlite_schema WHERE type = 'view' AND name = ?1",
                   view);
    find.bind(1, view);
    if (!find.step()) throw Error("profana_memo: there is no TEMP view '" + excerpt(view) + "'");
    std::vector<Declared> columns = declared_columns(find.text(0));
    if (columns.empty())
        throw Error("profana_memo: " + excerpt(view) +
                    " does not list its columns, one a line, with their types in comments");
    constexpr std::string_view kOrder = "ORDER BY ";
    std::vector<OrderTerm> order;
    for (size_t i = 1; i < arguments.size(); ++i) {
        std::string_view argument = trim(arguments[i]);
        const bool begins = order.empty() && argument.starts_with(kOrder);
        if (begins) argument = trim(argument.substr(kOrder.size()));
        if (begins || !order.empty())
            order.push_back(order_term(view, argument, columns));
        else
            mark_long(view, argument, columns);
    }
    std::string key;
    for (const std::string& argument : arguments) key += std::string(trim(argument)) + ",";
    auto provider = std::make_unique<MemoProvider>(view, key, std::move(columns), std::move(order), watch);
    auto made = std::make_unique<MadeTable>();
    made->spec = provider->spec();
    made->provider = std::move(provider);
    return made;
}

}  // namespace

int register_memo_tables(Connection& connection) {
    connection.add_table(
        {"profana_memo", "module",
         "CREATE VIRTUAL TABLE temp.t USING profana_memo(view [, column] ... [, ORDER BY column [, column] "
         "...])",
         "The rows of a TEMP view, kept until a profile, a setting or a row of a TEMP table "
         "changes. The view lists its columns a line each, as name, -- TYPE. Columns "
         "named behind it are long texts that rarely repeat: they take less time and memory, "
         "but comparing and grouping by them takes more. With ORDER BY the rows are kept in that order, NULL "
         "first, and their rowids count it."});
    auto watch = std::make_shared<Watch>(connection);  // one for all
    return register_table_maker(connection, "profana_memo",
                                [watch](Connection& to, const std::vector<std::string>& arguments) {
                                    return make_memo(to, watch, arguments);
                                });
}

}  // namespace profana
