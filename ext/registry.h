// What the extension offers, as data: registration with SQLite, profana_help and the checks of docs/ all read
// it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ext/sqlite.h"

namespace profana {

class Connection;

enum FunctionFlags : unsigned {
    kPure = 1,        // deterministic and innocuous
    kDirectOnly = 2,  // side effects or files: never from a schema that somebody else wrote
    kGivesJson = 4,   // its result has the subtype of JSON
};

using ScalarFunction = void (*)(sqlite3_context*, int, sqlite3_value**);
using FinalFunction = void (*)(sqlite3_context*);

// One SQL function. arguments -1: any number. A scalar sets `scalar`; an aggregate `step` and `final`; an
// aggregate that also works as a window function `value` and `inverse` too. User data is the Connection.
struct FunctionSpec {
    const char* name;
    int arguments;
    unsigned flags;
    const char* signature;  // mfu(flops INTEGER, dur_ns INTEGER, peak_flops REAL) -> REAL
    const char* doc;  // one line or more: result, units, NULL and error behaviour, source of the formula
    ScalarFunction scalar = nullptr;
    ScalarFunction step = nullptr;
    FinalFunction final = nullptr;
    FinalFunction value = nullptr;
    ScalarFunction inverse = nullptr;
};

// What profana_help shows of everything else.
struct HelpEntry {
    std::string name;
    std::string kind;       // function, table, view, setting
    std::string signature;  // of a table: its columns
    std::string doc;
};

// Each family of functions is one file in functions/ (or ext/) and one line here and in registry.cpp.
std::span<const FunctionSpec> interval_functions();
std::span<const FunctionSpec> matching_functions();
std::span<const FunctionSpec> nesting_functions();
std::span<const FunctionSpec> nest_index_functions();
std::span<const FunctionSpec> flops_functions();
std::span<const FunctionSpec> kernel_flops_functions();
std::span<const FunctionSpec> mfu_functions();
std::span<const FunctionSpec> text_functions();
std::span<const FunctionSpec> ordered_text_functions();
std::span<const FunctionSpec> comparison_functions();
std::span<const FunctionSpec> admin_functions();
std::span<const FunctionSpec> profile_functions();
std::span<const FunctionSpec> export_functions();

// Registers all functions and tables on a connection. Returns an SQLite result code.
int register_all(Connection& connection, char** error);
std::vector<HelpEntry> help_entries(Connection& connection);

}  // namespace profana
