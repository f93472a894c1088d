// Everything the extension registers, in one place.
#include "ext/registry.h"

#include "ext/connection.h"
#include "ext/views.h"
#include "functions/table_function.h"
#include "vtab/admin_tables.h"
#include "vtab/memo.h"
#include "vtab/profile.h"
#include "vtab/raw_csv.h"
#include "vtab/raw_json.h"

namespace profana {
namespace {

// The families of functions; each is a file of its own.
std::vector<std::span<const FunctionSpec>> all_functions() {
    return {
        admin_functions(),      interval_functions(),   matching_functions(),     nesting_functions(),
        flops_functions(),      mfu_functions(),        text_functions(),         profile_functions(),
        export_functions(),     comparison_functions(), kernel_flops_functions(), ordered_text_functions(),
        nest_index_functions(),
    };
}

int register_function(Connection& connection, const FunctionSpec& spec) {
    int flags = SQLITE_UTF8;
    if ((spec.flags & kPure) != 0) flags |= SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    if ((spec.flags & kDirectOnly) != 0) flags |= SQLITE_DIRECTONLY;
    constexpr int kResultSubtype =
        0x001000000;  // SQLITE_RESULT_SUBTYPE of 3.45; older ones do not look at it
    if ((spec.flags & kGivesJson) != 0) flags |= kResultSubtype;
    if (spec.value != nullptr)
        return sqlite3_create_window_function(connection.db(), spec.name, spec.arguments, flags, &connection,
                                              spec.step, spec.final, spec.value, spec.inverse, nullptr);
    return sqlite3_create_function_v2(connection.db(), spec.name, spec.arguments, flags, &connection,
                                      spec.scalar, spec.step, spec.final, nullptr);
}

}  // namespace

int register_all(Connection& connection, char** error) {
    for (const auto& family : all_functions()) {
        for (const FunctionSpec& spec : family) {
            const int code = register_function(connection, spec);
            if (code != SQLITE_OK) {
                if (error != nullptr) *error = sqlite3_mprintf("profana: cannot register %s()", spec.name);
                return code;
            }
        }
    }
    for (const auto register_tables :
         {register_function_tables, register_profile_tables, register_raw_json_tables,
          register_raw_csv_tables, register_admin_tables, register_memo_tables}) {
        const int code = register_tables(connection);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

std::vector<HelpEntry> help_entries(Connection& connection) {
    std::vector<HelpEntry> out;
    for (const auto& family : all_functions())
        for (const FunctionSpec& spec : family)
            out.push_back({spec.name, "function", spec.signature, spec.doc});
    for (HelpEntry& entry : function_table_help()) out.push_back(std::move(entry));
    for (const HelpEntry& entry : connection.tables()) out.push_back(entry);
    for (const auto& setting : connection.settings().all())
        out.push_back({setting.name, "setting", "profana_set('" + setting.name + "', value)", setting.doc});
    for (HelpEntry& entry : view_help()) out.push_back(std::move(entry));
    return out;
}

}  // namespace profana
