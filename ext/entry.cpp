// The entry points that SQLite calls when the library is loaded.
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include <memory>

#include "ext/connection.h"
#include "ext/registry.h"
#include "ext/views.h"

namespace profana {
namespace {

constexpr int kOldestSqlite =
    3040000;  // the shipped SQL uses FULL JOIN and ->> (3.39) and is tested from here on

// Loading twice on one connection (pools do it) keeps what is there.
bool already_loaded(sqlite3* db) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v2(db, "SELECT profana_version()", -1, &statement, nullptr);
    sqlite3_finalize(statement);
    return code == SQLITE_OK;
}

int initialize(sqlite3* db, char** error) {
    if (sqlite3_libversion_number() < kOldestSqlite) {
        if (error != nullptr)
            *error = sqlite3_mprintf("profana: SQLite %s is too old; libprofana needs SQLite 3.40 or newer",
                                     sqlite3_libversion());
        return SQLITE_ERROR;
    }
    if (already_loaded(db)) return SQLITE_OK;
    auto connection = std::make_unique<Connection>(db);
    Connection& here = *connection;
    int code = hand_over(std::move(connection));
    if (code == SQLITE_OK) code = register_all(here, error);
    if (code != SQLITE_OK) {
        if (error != nullptr && *error == nullptr)
            *error = sqlite3_mprintf("profana: registration failed: %s", sqlite3_errmsg(db));
        return code;
    }
    install_views(here);
    return SQLITE_OK;
}

}  // namespace
}  // namespace profana

#ifdef PROFANA_LINKED
const sqlite3_api_routines* profana_host_api();  // ext/linked/host_api.cpp
#endif

// A loaded library stays mapped when the connection closes: other connections of the process may use it.
extern "C" __attribute__((visibility("default"))) int sqlite3_profana_init(sqlite3* db, char** error,
                                                                           const sqlite3_api_routines* api) {
#ifdef PROFANA_LINKED
    if (api == nullptr) api = profana_host_api();
#endif
    SQLITE_EXTENSION_INIT2(api);
    int code = SQLITE_ERROR;
    try {
        code = profana::initialize(db, error);
    } catch (const std::bad_alloc&) {
        return SQLITE_NOMEM;
    } catch (const std::exception& problem) {
        if (error != nullptr) *error = sqlite3_mprintf("profana: %s", problem.what());
    }
#ifdef PROFANA_LINKED
    return code;
#else
    return code == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : code;
#endif
}

#ifndef PROFANA_LINKED
// Found whatever the library file is called.
extern "C" __attribute__((visibility("default"))) int sqlite3_extension_init(sqlite3* db, char** error,
                                                                             const sqlite3_api_routines* api) {
    return sqlite3_profana_init(db, error, api);
}
#endif
