// profana_version, profana_debug, profana_set, profana_install_views.
#include <simdjson.h>

#include <thread>

#include "ext/connection.h"
#include "ext/registry.h"
#include "ext/version.h"
#include "ext/views.h"

namespace profana {
namespace {

std::string simdjson_version() {
    return std::to_string(simdjson::SIMDJSON_VERSION_MAJOR) + "." +
           std::to_string(simdjson::SIMDJSON_VERSION_MINOR) + "." +
           std::to_string(simdjson::SIMDJSON_VERSION_REVISION);
}

void version(sqlite3_context* context, int, sqlite3_value**) {
    sqlite3_result_text(context, "v" PROFANA_VERSION, -1, SQLITE_STATIC);
}

void debug(sqlite3_context* context, int, sqlite3_value**) {
    guard_function(context, [&] {
        Connection& connection = connection_of(context);
        std::string text =
            "version: v" PROFANA_VERSION "\ncommit: " PROFANA_COMMIT "\ncompiler: " __VERSION__;
        text += "\nsqlite: " + std::string(sqlite3_libversion()) + " (built for " SQLITE_VERSION ")";
        text +=
            "\nsimdjson: " + simdjson_version() + " (" + simdjson::get_active_implementation()->name() + ")";
        text += "\ncores: " + std::to_string(std::thread::hardware_concurrency());
        text += "\ntables: " + std::to_string(counted_bytes()) + " bytes in memory";
        text += "\nprofiles: " + std::to_string(connection.profiles().size()) + " open";
        result_text(context, text);
    });
}

void set(sqlite3_context* context, int, sqlite3_value** values) {
    guard_function(context, [&] {
        Settings& settings = connection_of(context).settings();
        const char* name = reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
        if (name == nullptr) throw Error("profana_set: the first argument is a setting's name, not NULL");
        if (sqlite3_value_type(values[1]) == SQLITE_NULL) {
            settings.reset(name);
        } else {
            settings.set(name, reinterpret_cast<const char*>(sqlite3_value_text(values[1])));
        }
        result_text(context, settings.get(name));
    });
}

void install(sqlite3_context* context, int, sqlite3_value**) {
    guard_function(context, [&] {
        install_views(connection_of(context));
        sqlite3_result_int64(context, static_cast<int64_t>(view_help().size()));
    });
}

constexpr FunctionSpec kFunctions[] = {
    {"profana_version", 0, kPure, "profana_version() -> TEXT", "The library's version, e.g. v0.1.0.",
     version},
    {"profana_debug", 0, kDirectOnly, "profana_debug() -> TEXT",
     "Version, commit, compiler, versions of SQLite and simdjson, cores, memory held by loaded tables, open "
     "profiles; "
     "a line each.",
     debug},
    {"profana_set", 2, kDirectOnly, "profana_set(name TEXT, value) -> TEXT",
     "Sets a setting of this connection and returns its new value; NULL restores the default. prof_setting "
     "lists "
     "them. Error: unknown name, or a value that the setting does not take.",
     set},
    {"profana_install_views", 0, kDirectOnly, "profana_install_views() -> INTEGER",
     "Creates the shipped TEMP views again where they are gone (after a rollback or PRAGMA temp_store); "
     "returns how "
     "many views and tables there are.",
     install},
};

}  // namespace

std::span<const FunctionSpec> admin_functions() {
    return kFunctions;
}

}  // namespace profana
