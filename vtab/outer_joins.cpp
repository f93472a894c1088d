#include "vtab/outer_joins.h"

#include <algorithm>
#include <array>
#include <vector>

#include "ext/core/ascii.h"

namespace profana {
namespace {

constexpr int kOffersRightly = 3053000;  // a version seen not to do it

// Words that make an outer join, and those of statements that may fire a trigger, whose text is not shown.
bool has_telling_word(std::string_view sql) {
    constexpr std::array<std::string_view, 7> kWords = {"left",   "right",  "full",   "insert",
                                                        "update", "delete", "replace"};
    const auto in_word = [](char c) { return is_ascii_letter(c) || is_ascii_digit(c) || c == '_'; };
    for (size_t at = 0; at < sql.size();) {
        size_t end = at;
        while (end < sql.size() && in_word(sql[end])) ++end;
        if (std::find(kWords.begin(), kWords.end(), sql.substr(at, end - at)) != kWords.end()) return true;
        at = end + 1;
    }
    return false;
}

// Names of all views, in lower case.
std::vector<std::string> view_names(sqlite3* db) {
    std::string sql;
    for (int i = 0; const char* schema = sqlite3_db_name(db, i); ++i)
        sql += std::string(sql.empty() ? "" : " UNION ALL ") + "SELECT name FROM " + double_quoted(schema) +
               ".sqlite_schema WHERE type = 'view'";
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
        sqlite3_finalize(statement);
        return {""};  // which stands in every text
    }
    std::vector<std::string> names;
    while (sqlite3_step(statement) == SQLITE_ROW)
        names.push_back(lower_case(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0))));
    if (sqlite3_finalize(statement) != SQLITE_OK) return {""};
    return names;
}

// A name with a quote inside is written otherwise in the statement.
bool may_name(std::string_view sql, std::string_view view) {
    return view.find_first_of("\"`]'") != std::string_view::npos || sql.find(view) != std::string_view::npos;
}

}  // namespace

bool outer_join_may_run(sqlite3* db) {
    if (sqlite3_libversion_number() >= kOffersRightly) return false;
    std::vector<std::string> running;
    for (sqlite3_stmt* s = sqlite3_next_stmt(db, nullptr); s != nullptr; s = sqlite3_next_stmt(db, s)) {
        if (sqlite3_stmt_busy(s) == 0) continue;
        const char* sql = sqlite3_sql(s);
        if (sql == nullptr) return true;
        running.push_back(lower_case(sql));
        if (has_telling_word(running.back())) return true;
    }
    const std::vector<std::string> views = view_names(db);
    return std::any_of(running.begin(), running.end(), [&](const std::string& sql) {
        return std::any_of(views.begin(), views.end(),
                           [&](const std::string& view) { return may_name(sql, view); });
    });
}

}  // namespace profana
