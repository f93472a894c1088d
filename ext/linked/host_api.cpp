// SQLite's table of functions for a program that links the library in. SQLite hands it to automatic extensions
// only; so one is registered for as long as it takes to open an empty database.
#include <sqlite3.h>

struct sqlite3_api_routines;

namespace {

const sqlite3_api_routines* captured = nullptr;

int capture(sqlite3*, char**, const sqlite3_api_routines* api) {
    captured = api;
    return SQLITE_OK;
}

}  // namespace

const sqlite3_api_routines* profana_host_api() {
    if (captured != nullptr) return captured;
    const auto entry = reinterpret_cast<void (*)()>(capture);
    sqlite3_auto_extension(entry);
    sqlite3* db = nullptr;
    sqlite3_open(":memory:", &db);
    sqlite3_close(db);
    sqlite3_cancel_auto_extension(entry);
    return captured;
}
