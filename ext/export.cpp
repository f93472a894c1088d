// The SQL function profana_export: what is written by default, where, and that nothing is lost on the way.
#include "ext/export.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "ext/core/ascii.h"
#include "ext/core/decimal.h"
#include "ext/embedded_sql.h"
#include "ext/registry.h"
#include "ext/views.h"
#include "vtab/profile.h"

namespace profana {

namespace fs = std::filesystem;

Query::Query(sqlite3* db, const char* sql, const char** rest) : db_(db) {
    if (sqlite3_prepare_v2(db, sql, -1, &statement_, rest) != SQLITE_OK)
        throw Error(std::string("profana_export: ") + sqlite3_errmsg(db));
}

bool Query::step() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    throw Error(sqlite3_errmsg(db_),
                code == SQLITE_INTERRUPT ? ErrorKind::kInterrupted : ErrorKind::kGeneral);
}

std::string Query::name(int column) const {
    return sqlite3_column_name(statement_, column);
}

std::string Query::text(int column) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return text == nullptr ? std::string() : std::string(text, sqlite3_column_bytes(statement_, column));
}

void run_script(Connection& connection, const std::string& script,
                const std::function<void(Query&)>& on_rows) {
    for (const char* rest = script.c_str(); *rest != '\0';) {
        Query query(connection.db(), rest, &rest);
        if (query.empty()) continue;
        if (query.columns() > 0) {
            on_rows(query);
        } else {
            query.step();
        }
    }
}

const std::string& embedded_text(const std::string& path) {
    for (const EmbeddedSql& file : embedded_sql())
        if (file.path == path) return file.text;
    throw Error("profana_export: there is no sql/" + path);
}

std::vector<std::string> names_of_list(const std::string& list) {
    std::vector<std::string> out;
    std::istringstream parts(list);
    for (std::string part; std::getline(parts, part, ',');) {
        const std::string name(trim(part));
        const auto same = [&](const std::string& other) { return lower_case(other) == lower_case(name); };
        if (!name.empty() && std::none_of(out.begin(), out.end(), same)) out.push_back(name);
    }
    if (out.empty())
        throw Error("profana_export: the second argument names nothing: '" + excerpt(list) + "'");
    return out;
}

Error cannot_write(const std::string& path) {
    const std::string reason = errno != 0 ? std::strerror(errno) : "unknown reason";
    return Error("profana_export: " + excerpt(path) + ": cannot be written: " + reason,
                 ErrorKind::kCannotOpen);
}

namespace {

// What an export holds when nothing is named: of these, every one that has rows.
constexpr const char* kComparisonViews[] = {
    "overall_metrics",
    "overall_summary",
    "communication_compare",
    "operator_compare_statistic",
    "operator_compare",
    "module_compare_statistic",
    "module_compare",
    "memory_compare_statistic",
    "memory_compare",
    "api_compare",
    "kernel_compare",
    "kernel_type_compare",
    "diagnosis",
    "compare_diagnostic",
};
constexpr const char* kProfileViews[] = {
    "prof_source",     "overall",        "hot_op",
    "hot_kernel",      "host_bound",     "pipe_bound",
    "cast_overhead",   "step_breakdown", "communication_summary",
    "memory_peak",     "operator_mfu",   "module_mfu",
    "mfu_record",      "mfu_total",      "kernel_mfu_estimate",
    "mfu_diagnostic",  "time_by_kind",   "collection_check",
    "prof_diagnostic",
};

bool exists(Connection& connection, const std::string& name) {
    sqlite3_stmt* statement = nullptr;
    const std::string sql = "SELECT 1 FROM " + double_quoted(name) + " LIMIT 0";
    const int code = sqlite3_prepare_v2(connection.db(), sql.c_str(), -1, &statement, nullptr);
    sqlite3_finalize(statement);
    return code == SQLITE_OK;
}

bool has_rows(Connection& connection, const std::string& name) {
    return exists(connection, name) &&
           Query(connection.db(), ("SELECT 1 FROM " + double_quoted(name) + " LIMIT 1").c_str()).step();
}

// The types that a view's comment declares, a column a line: `name, -- INTEGER  ns, ...`.
std::vector<std::string> declared_types(const std::string& view) {
    std::vector<std::string> out;
    for (const HelpEntry& entry : view_help()) {
        if (entry.name != view) continue;
        std::istringstream lines(entry.signature);
        for (std::string line; std::getline(lines, line);) {
            const size_t comment = line.find("--");
            if (trim(line.substr(0, comment)).empty()) continue;
            std::istringstream words(comment == std::string::npos ? "" : line.substr(comment + 2));
            std::string type;
            words >> type;
            out.push_back(type == "INTEGER" || type == "REAL" || type == "TEXT" ? type : "");
        }
    }
    return out;
}

ExportItem item_of(const std::string& view, const std::string& name) {
    return {name, "SELECT * FROM " + double_quoted(view), declared_types(view)};
}

enum class Kind { kDatabase, kWorkbook, kHtml, kCsvFolder };

// What the reference writes of MFU, under its names: tables of cluster_analysis.db, or a file for each rank.
void add_mfu_items(Connection& connection, Kind kind, std::vector<ExportItem>* out) {
    if (kind == Kind::kDatabase) {
        if (has_rows(connection, "cluster_operator_mfu"))
            out->push_back(item_of("cluster_operator_mfu", "OperatorMFU"));
        if (has_rows(connection, "cluster_module_mfu"))
            out->push_back(item_of("cluster_module_mfu", "ModuleMFU"));
        return;
    }
    for (const auto& [view, name] : {std::pair{"text_operator_mfu", "operator_mfu_kernel"},
                                     std::pair{"text_module_mfu", "operator_mfu_module"}})
        if (has_rows(connection, view))
            out->push_back({name, "SELECT * FROM " + std::string(view), {}, true});
}

std::vector<ExportItem> default_items(Connection& connection, Kind kind) {
    std::vector<ExportItem> out;
    const bool pair = connection.profile("base") != nullptr && connection.profile("comparison") != nullptr;
    const auto add = [&](const char* view) {
        if (has_rows(connection, view)) out.push_back(item_of(view, view));
    };
    if (pair) std::for_each(std::begin(kComparisonViews), std::end(kComparisonViews), add);
    std::for_each(std::begin(kProfileViews), std::end(kProfileViews), add);
    add_mfu_items(connection, kind, &out);
    return out;
}

std::vector<ExportItem> named_items(Connection& connection, const std::string& names) {
    std::vector<ExportItem> out;
    for (const std::string& name : names_of_list(names)) {
        if (!exists(connection, name))
            throw Error("profana_export: there is no table or view '" + excerpt(name) +
                        "'; profana_help lists the shipped ones");
        out.push_back(item_of(name, name));
    }
    return out;
}

Kind kind_of(const std::string& path) {
    const std::string suffix = fs::path(path).extension();
    if (suffix == ".db" || suffix == ".sqlite") return Kind::kDatabase;
    if (suffix == ".xlsx") return Kind::kWorkbook;
    if (suffix == ".html") return Kind::kHtml;
    if (suffix.empty()) return Kind::kCsvFolder;
    throw Error(
        "profana_export: '" + excerpt(path) + "' ends in " + excerpt(suffix) +
        "; it takes .db or .sqlite (tables), .xlsx (the comparison's workbook), .html (its report), or a "
        "folder without a suffix (CSV files)");
}

Error is_there(const std::string& path) {
    return Error("profana_export: '" + excerpt(path) +
                 "' is there already; give 1 as the third argument to replace it");
}

// What is there already goes only when the caller says so, and a folder only when nothing but CSV files would
// be lost with it.
void check_target(const fs::path& path, Kind kind, bool overwrite) {
    std::error_code problem;
    const fs::path folder = path.parent_path();
    if (!folder.empty() && !fs::is_directory(folder, problem))
        throw Error("profana_export: there is no folder '" + excerpt(folder.string()) + "'",
                    ErrorKind::kCannotOpen);
    const std::string place = folder.empty() ? "." : folder.string();
    if (access(place.c_str(), W_OK | X_OK) != 0)
        throw Error(
            "profana_export: cannot write into the folder '" + excerpt(place) + "': " + std::strerror(errno),
            ErrorKind::kCannotOpen);
    if (!fs::exists(fs::symlink_status(path, problem))) return;
    const std::string quoted = "'" + excerpt(path.string()) + "'";
    if (!overwrite) throw is_there(path.string());
    const bool is_folder = fs::is_directory(path, problem);
    if (is_folder != (kind == Kind::kCsvFolder))
        throw Error("profana_export: " + quoted + (is_folder ? " is a folder" : " is a file") +
                    "; it is not replaced");
    if (!is_folder) return;
    for (const auto& entry : fs::directory_iterator(path))
        if (!entry.is_regular_file() || entry.path().extension() != ".csv")
            throw Error("profana_export: " + quoted + " holds more than CSV files (" +
                        excerpt(entry.path().filename().string()) + "); it is not replaced");
}

// Whether replacing `path`, which is there, would take `used` along: the same file or folder, or one within.
bool takes_along(const fs::path& path, const fs::path& used) {
    std::error_code problem;
    if (fs::equivalent(path, used, problem)) return true;
    const fs::path inner = fs::weakly_canonical(used, problem), outer = fs::weakly_canonical(path, problem);
    return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

// What is being read is not replaced: the connection's own databases, and files of open profiles.
void check_not_in_use(Connection& connection, const fs::path& path) {
    std::error_code problem;
    if (!fs::exists(path, problem)) return;
    const auto refuse_if = [&](bool in_use, const std::string& as) {
        if (in_use)
            throw Error("profana_export: '" + excerpt(path.string()) + "' is, or holds, " + as +
                        "; it is not replaced, even with overwrite 1");
    };
    Query databases(connection.db(), "PRAGMA database_list");
    while (databases.step())
        refuse_if(!databases.text(2).empty() && takes_along(path, databases.text(2)),
                  "the open database " + excerpt(databases.text(1)));
    for (const auto& profile : connection.profiles()) {
        const std::string as = "a file of the open profile " + excerpt(profile->alias);
        refuse_if(takes_along(path, profile->path), as);
        for (const auto& source : profile->sources) {
            const std::vector<std::string> files = source->files();
            // Of a profile that cannot be read just now no file is known.
            refuse_if(files.empty() && takes_along(profile->path, path), as);
            for (const std::string& file : files) refuse_if(takes_along(path, file), as);
        }
    }
}

// Gives the finished export its name. What came to be there meanwhile stays unless it may be overwritten; a
// folder that was there is gone only when the new one stands.
void put_in_place(const std::string& temporary, const std::string& path, bool overwrite) {
    if (!overwrite) {
        if (renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) return;
        if (errno == EEXIST) throw is_there(path);
        if (errno != EINVAL && errno != ENOSYS) throw cannot_write(path);  // a file system that cannot do it
    }
    std::error_code problem;
    const std::string aside = temporary + ".old";
    const bool had_folder = fs::is_directory(path, problem);
    if (had_folder && std::rename(path.c_str(), aside.c_str()) != 0) throw cannot_write(path);
    if (std::rename(temporary.c_str(), path.c_str()) != 0) {
        const Error failed = cannot_write(path);
        if (had_folder) fs::rename(aside, path, problem);
        throw failed;
    }
    if (had_folder) fs::remove_all(aside, problem);
}

// Beside the place itself, so that a rename is enough; no two exports share one.
std::string temporary_name(const std::string& path) {
    static std::atomic<int> count = 0;
    return path + ".part" + std::to_string(getpid()) + "_" + std::to_string(++count);
}

std::string export_to(Connection& connection, std::string path, const char* names, bool overwrite) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    const Kind kind = kind_of(path);
    if (names != nullptr && kind == Kind::kHtml)
        throw Error("profana_export: an HTML report has its fixed sections; leave the second argument NULL");
    if (connection.profiles().empty() && names == nullptr)
        throw Error("profana_export: no profile is open; SELECT profana_open('base', 'PATH') first");
    check_target(path, kind, overwrite);
    check_not_in_use(connection, path);
    std::error_code problem;
    const std::string temporary = temporary_name(path);
    fs::remove_all(temporary, problem);
    try {
        int written = 0;
        if (kind == Kind::kWorkbook) {
            written = write_workbook(connection, names, temporary);
        } else if (kind == Kind::kHtml) {
            written = write_html(connection, temporary);
        } else {
            const auto items =
                names == nullptr ? default_items(connection, kind) : named_items(connection, names);
            written = kind == Kind::kDatabase ? write_database(connection, items, temporary)
                                              : write_csv_folder(connection, items, temporary);
        }
        put_in_place(temporary, path, overwrite);
        const char* what = kind == Kind::kWorkbook ? " sheet" : kind == Kind::kHtml ? " section" : " table";
        return path + ": " + std::to_string(written) + what + (written == 1 ? "" : "s");
    } catch (...) {
        fs::remove_all(temporary, problem);
        throw;
    }
}

void export_function(sqlite3_context* context, int count, sqlite3_value** values) {
    guard_function(context, [&] {
        Connection& connection = connection_of(context);
        const auto text = [&](int i) {
            return i < count ? reinterpret_cast<const char*>(sqlite3_value_text(values[i])) : nullptr;
        };
        const char* path = text(0);
        if (count > 3)
            throw Error("profana_export: takes a path, views and overwrite, not " + std::to_string(count) +
                        " arguments");
        if (path == nullptr || *path == '\0')
            throw Error("profana_export: the first argument is the path to write, not NULL");
        const char* overwrite = text(2);
        if (overwrite != nullptr && overwrite != std::string("0") && overwrite != std::string("1"))
            throw Error("profana_export: argument overwrite is '" + excerpt(overwrite) +
                        "'; accepted: 0 or 1");
        const std::string done =
            export_to(connection, path, text(1), overwrite != nullptr && *overwrite == '1');
        result_text(context, done);
    });
}

constexpr const char* kDoc =
    "Writes views as a file by its suffix: .db plain tables, no suffix a folder of CSV files, .xlsx the "
    "comparison's "
    "workbook, .html its report. views: names by comma; NULL: the shipped views that answer a question by "
    "themselves and have rows. An existing "
    "path is an "
    "error unless overwrite is 1; the connection's own databases and files of open profiles are never "
    "replaced. The file appears under its name when it is whole. Returns what was "
    "written.";

constexpr FunctionSpec kFunctions[] = {
    {"profana_export", -1, kDirectOnly,
     "profana_export(path TEXT [, views TEXT [, overwrite INTEGER]]) -> TEXT", kDoc, export_function},
};

}  // namespace

std::span<const FunctionSpec> export_functions() {
    return kFunctions;
}

}  // namespace profana
