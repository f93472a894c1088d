#include "vtab/admin_tables.h"

#include <algorithm>
#include <sstream>

#include "ext/connection.h"
#include "ext/core/decimal.h"
#include "ext/core/utf8.h"
#include "ext/embedded_sql.h"
#include "vtab/profile.h"

namespace profana {
namespace {

constexpr ColumnType I = ColumnType::kInt, T = ColumnType::kText;

// A table that is made anew for every scan: its rows are few and change between statements.
class RowsProvider : public TableProvider {
  public:
    using Fill = void (*)(Connection& connection, Table& table);
    RowsProvider(const TableSpec& spec, Fill fill) : fill_(fill) {
        for (const ColumnSpec& column : spec.columns) types_.push_back(column.type);
    }

    std::vector<Part> parts(Connection& connection, const ScanRequest&) override {
        auto table = std::make_shared<Table>(types_, nullptr);
        table->set_rows(0);
        for (size_t c = 0; c < types_.size(); ++c) table->building(static_cast<int>(c));
        fill_(connection, *table);
        table->set_rows(table->building(0).size());
        table->publish();
        return {whole_table(std::move(table))};
    }

    double expected_rows(Connection&) override { return 100; }

  private:
    std::vector<ColumnType> types_;
    Fill fill_;
};

// Cells of one row, from the left. Paths and values of settings may be no UTF-8.
class RowWriter {
  public:
    explicit RowWriter(Table& table) : table_(table) {}
    RowWriter& text(const std::string& value) {
        table_.building(column_++).add_text(repair_utf8(value));
        return *this;
    }
    RowWriter& integer(int64_t value) {
        table_.building(column_++).add_int(value);
        return *this;
    }

  private:
    Table& table_;
    int column_ = 0;
};

const TableSpec& diagnostic_spec() {
    static const auto* spec = new TableSpec{
        "prof_diagnostic",
        "Everything that readers skipped, repaired or missed on this connection, in the order they met it.",
        {{"severity", T, "info, warning, error"},
         {"source", T, "file, with :line or @byte where known"},
         {"file", T, "file or folder"},
         {"line", I, "line of the file; NULL: not known"},
         {"offset", I, "byte offset in the (inflated) file; NULL: not known"},
         {"code", T, "what kind of thing it is: stable, to filter by"},
         {"message", T, "what was found and what was done about it"},
         {"count", I,
          "how often the code was met in the file, counted on its first row; columns asked for later are "
          "read by "
          "another pass, which counts again"}},
        {}};
    return *spec;
}

const char* severity_name(Severity severity) {
    switch (severity) {
        case Severity::kInfo:
            return "info";
        case Severity::kWarning:
            return "warning";
        case Severity::kError:
            break;
    }
    return "error";
}

// What the views of MFU miss in the profiles whose ranges were asked for. Without the view there is nothing
// to say.
void add_mfu_findings(Connection& connection, Table& table) {
    const auto& profiles = connection.profiles();
    if (std::none_of(profiles.begin(), profiles.end(), [](const auto& p) { return p->ranges_asked; })) return;
    const char* sql =
        "SELECT s.path, d.severity, d.code, d.message, d.count, s.alias FROM temp.mfu_diagnostic AS d"
        " JOIN prof_source AS s ON s.alias = d.profile AND s.rank IS d.rank";
    sqlite3_stmt* prepared = nullptr;
    int code = sqlite3_prepare_v2(connection.db(), sql, -1, &prepared, nullptr);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared, sqlite3_finalize);
    if (code != SQLITE_OK) return;
    const auto text = [&](int column) {
        const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(prepared, column));
        return std::string(bytes == nullptr ? "" : bytes);
    };
    while ((code = sqlite3_step(prepared)) == SQLITE_ROW) {
        const auto profile = connection.profile(text(5));
        if (profile == nullptr || !profile->ranges_asked) continue;
        RowWriter(table)
            .text(text(1))
            .text(text(0))
            .text(text(0))
            .integer(kNullInt)
            .integer(kNullInt)
            .text(text(2))
            .text(text(3))
            .integer(sqlite3_column_int64(prepared, 4));
    }
    if (code == SQLITE_INTERRUPT) throw Error("interrupted", ErrorKind::kInterrupted);
    if (code == SQLITE_DONE) return;
    RowWriter(table)
        .text("warning")
        .text("")
        .text("")
        .integer(kNullInt)
        .integer(kNullInt)
        .text("mfu_not_known")
        .text(std::string("what MFU misses is not known: ") + sqlite3_errmsg(connection.db()))
        .integer(1);
}

void fill_diagnostics(Connection& connection, Table& table) {
    for (const Diagnostic& diagnostic : connection.diagnostics().rows()) {
        std::string source = diagnostic.file;
        if (diagnostic.line > 0) {
            source += ":" + std::to_string(diagnostic.line);
        } else if (diagnostic.offset >= 0) {
            source += "@" + std::to_string(diagnostic.offset);
        }
        RowWriter(table)
            .text(severity_name(diagnostic.severity))
            .text(source)
            .text(diagnostic.file)
            .integer(diagnostic.line > 0 ? diagnostic.line : kNullInt)
            .integer(diagnostic.offset >= 0 ? diagnostic.offset : kNullInt)
            .text(diagnostic.code)
            .text(diagnostic.message)
            .integer(static_cast<int64_t>(diagnostic.count));
    }
    add_mfu_findings(connection, table);
}

const TableSpec& setting_spec() {
    static const auto* spec =
        new TableSpec{"prof_setting",
                      "The settings of this connection; profana_set(name, value) changes them.",
                      {{"name", T, "name"},
                       {"value", T, "value in force"},
                       {"default_value", T, "what NULL restores"},
                       {"doc", T, "what it does"}},
                      {}};
    return *spec;
}

void fill_settings(Connection& connection, Table& table) {
    for (const auto& setting : connection.settings().all())
        RowWriter(table).text(setting.name).text(setting.value).text(setting.fallback).text(setting.doc);
}

const TableSpec& help_spec() {
    static const auto* spec =
        new TableSpec{"profana_help",
                      "Every function, table, module, view and setting of the library.",
                      {{"name", T, "name"},
                       {"kind", T, "function, table, module, view, setting"},
                       {"signature", T, "arguments and result; of a table or view its columns, a line each"},
                       {"doc", T, "what it is; of a view its comment"}},
                      {}};
    return *spec;
}

void fill_help(Connection& connection, Table& table) {
    for (const HelpEntry& entry : help_entries(connection))
        RowWriter(table).text(entry.name).text(entry.kind).text(entry.signature).text(entry.doc);
}

const TableSpec& report_spec() {
    static const auto* spec = new TableSpec{
        "profana_report",
        "The shipped reports (sql/reports), for hosts that have no .read.",
        {{"name", T, "file below sql/reports without .sql: hotspots, compare/KernelCompare ..."},
         {"title", T, "its first line: what it answers"},
         {"doc", T, "its opening comment: how to read it"},
         {"sql", T, "its text, one statement or several"}},
        {}};
    return *spec;
}

// The comment that a script opens with, without the dashes.
std::string opening_comment(const std::string& script) {
    std::string out;
    std::istringstream lines(script);
    for (std::string line; std::getline(lines, line) && line.rfind("--", 0) == 0;)
        out += std::string(trim(std::string_view(line).substr(2))) + "\n";
    return out;
}

void fill_reports(Connection&, Table& table) {
    constexpr std::string_view kFolder = "reports/", kSuffix = ".sql";
    for (const EmbeddedSql& file : embedded_sql()) {
        if (file.path.rfind(kFolder, 0) != 0 || file.path.rfind("reports/html/", 0) == 0) continue;
        const std::string doc = opening_comment(file.text);
        RowWriter(table)
            .text(file.path.substr(kFolder.size(), file.path.size() - kFolder.size() - kSuffix.size()))
            .text(doc.substr(0, doc.find('\n')))
            .text(doc)
            .text(file.text);
    }
}

}  // namespace

int register_admin_tables(Connection& connection) {
    const auto add = [&](const TableSpec& spec, RowsProvider::Fill fill) {
        return register_table(connection, spec, std::make_unique<RowsProvider>(spec, fill));
    };
    int code = add(diagnostic_spec(), fill_diagnostics);
    if (code == SQLITE_OK) code = add(setting_spec(), fill_settings);
    if (code == SQLITE_OK) code = add(help_spec(), fill_help);
    return code == SQLITE_OK ? add(report_spec(), fill_reports) : code;
}

}  // namespace profana
