#include "ext/views.h"

#include <algorithm>
#include <memory>
#include <set>

#include "ext/connection.h"
#include "ext/core/decimal.h"
#include "ext/embedded_sql.h"

namespace profana {
namespace {

bool is_view_file(const EmbeddedSql& file) {
    return file.path.rfind("views/", 0) == 0;
}

// The text up to a line's end, moving `at` behind it.
std::string_view next_line(std::string_view text, size_t* at) {
    const size_t end = std::min(text.find('\n', *at), text.size());
    const std::string_view line = text.substr(*at, end - *at);
    *at = end + 1;
    return line;
}

std::string_view word_after(std::string_view line, std::string_view start) {
    if (line.rfind(start, 0) != 0) return {};
    const std::string_view rest = line.substr(start.size());
    return rest.substr(0, rest.find_first_of(" (\t"));
}

// CREATE VIRTUAL TABLE IF NOT EXISTS temp.t USING profana_memo(view); on one line, below that view.
void add_kept_help(std::string_view line, std::vector<HelpEntry>* out) {
    const std::string_view table = word_after(line, "CREATE VIRTUAL TABLE IF NOT EXISTS temp.");
    if (table.empty() || out->empty()) return;
    out->push_back({std::string(table), "table", out->back().signature,
                    "The rows of " + out->back().name + ", kept until what they depend on changes.\n"});
}

// A view or table starts a line with its CREATE statement; the last comment above is its doc, and
// the lines up to the closing parenthesis its columns.
void add_help(std::string_view text, std::vector<HelpEntry>* out) {
    std::string comment;
    bool after_blank = true;
    for (size_t at = 0; at < text.size();) {
        const size_t begin = at;
        const std::string_view line = next_line(text, &at);
        const bool blank = trim(line).empty();
        if (line.rfind("--", 0) == 0) {
            if (after_blank) comment.clear();  // a new comment
            comment += std::string(trim(line.substr(2))) + "\n";
        }
        after_blank = blank;
        if (blank || line.rfind("--", 0) == 0) continue;
        add_kept_help(line, out);
        const std::string_view view = word_after(line, "CREATE TEMP VIEW IF NOT EXISTS ");
        const std::string_view table = word_after(line, "CREATE TEMP TABLE IF NOT EXISTS ");
        if (!view.empty() || !table.empty()) {
            HelpEntry entry{std::string(view.empty() ? table : view), view.empty() ? "table" : "view", "",
                            comment};
            for (const std::string_view column : column_lines(text.substr(begin)))
                entry.signature += std::string(column) + "\n";
            out->push_back(std::move(entry));
        }
        comment.clear();
    }
}

}  // namespace

std::vector<std::string_view> column_lines(std::string_view create) {
    std::vector<std::string_view> out;
    size_t at = 0;
    const std::string_view first = trim(next_line(create, &at));
    if (first.empty() || first.back() != '(') return out;
    while (at < create.size()) {
        const std::string_view line = next_line(create, &at);
        if (line.rfind(')', 0) == 0) break;
        out.push_back(trim(line));
    }
    return out;
}

void install_views(Connection& connection) {
    for (const EmbeddedSql& file : embedded_sql()) {
        if (!is_view_file(file)) continue;
        connection.diagnostics().forget("sql/" + file.path, "views_not_installed");
        char* message = nullptr;
        const int code = sqlite3_exec(connection.db(), file.text.c_str(), nullptr, nullptr, &message);
        if (code != SQLITE_OK) {
            connection.diagnostics().add(
                {Severity::kInfo, "sql/" + file.path, 0, -1, "views_not_installed",
                 std::string(message != nullptr ? message : "cannot create TEMP views") +
                     "; SELECT profana_install_views() tries again",
                 1});
        }
        sqlite3_free(message);
        if ((code & 0xFF) == SQLITE_BUSY) return;  // the host has waited for it once, as long as it wants to
    }
}

bool views_are_there(Connection& connection) {
    static const std::vector<HelpEntry> shipped = view_help();
    std::set<std::string> there;
    sqlite3_stmt* statement = nullptr;
    // While a CREATE TABLE AS runs, its row of the schema has no name yet.
    sqlite3_prepare_v2(connection.db(), "SELECT name FROM temp.sqlite_schema WHERE name IS NOT NULL", -1,
                       &statement, nullptr);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> names(
        statement, [](sqlite3_stmt* at) { return sqlite3_finalize(at); });
    while (names != nullptr && sqlite3_step(statement) == SQLITE_ROW)
        there.emplace(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)));
    return std::all_of(shipped.begin(), shipped.end(),
                       [&](const HelpEntry& entry) { return there.count(entry.name) > 0; });
}

std::vector<HelpEntry> view_help() {
    std::vector<HelpEntry> out;
    for (const EmbeddedSql& file : embedded_sql())
        if (is_view_file(file)) add_help(file.text, &out);
    return out;
}

}  // namespace profana
