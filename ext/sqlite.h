// SQLite's interface as the library sees it: always through the host's table of functions, which the entry
// point in ext/entry.cpp is given. Programs that link the library in and define SQLITE_CORE call SQLite
// directly.
#pragma once

#include <sqlite3ext.h>
#ifndef SQLITE_CORE
extern const sqlite3_api_routines* sqlite3_api;
#endif

#include <new>
#include <string>
#include <string_view>

#include "ext/core/error.h"

namespace profana {

int result_code(
    ErrorKind kind);  // SQLITE_ERROR, SQLITE_CANTOPEN, SQLITE_INTERRUPT, SQLITE_NOMEM, SQLITE_TOOBIG

// Between double quotes, those inside doubled: as SQL writes names, and CSV files texts.
std::string double_quoted(std::string_view text);

inline void result_text(sqlite3_context* context, std::string_view text) {
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

// Runs the body of an SQL function: no exception leaves it, each becomes the function's error.
template <class Body>
void guard_function(sqlite3_context* context, Body body) noexcept {
    try {
        body();
    } catch (const std::bad_alloc&) {
        sqlite3_result_error_nomem(context);
    } catch (const Error& error) {
        sqlite3_result_error(context, error.what(), -1);
        sqlite3_result_error_code(context, result_code(error.kind()));
        if (error.kind() == ErrorKind::kGeneral) sqlite3_result_error(context, error.what(), -1);
    } catch (const std::exception& error) {
        sqlite3_result_error(context, error.what(), -1);
    }
}

// The same for a method of a virtual table: the text goes to zErrMsg.
template <class Body>
int guard_table(sqlite3_vtab* table, Body body) noexcept {
    const auto fail = [table](int code, const char* what) {
        sqlite3_free(table->zErrMsg);
        table->zErrMsg = sqlite3_mprintf("%s", what);
        return code;
    };
    try {
        return body();
    } catch (const std::bad_alloc&) {
        return SQLITE_NOMEM;
    } catch (const Error& error) {
        return fail(result_code(error.kind()), error.what());
    } catch (const std::exception& error) {
        return fail(SQLITE_ERROR, error.what());
    }
}

}  // namespace profana
