// Arguments of SQL functions, checked. Every refusal names the function, the argument, the value that came
// and what is accepted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ext/sqlite.h"

namespace profana {

struct Argument {
    const char* function;
    const char* name;
    sqlite3_value* value;
};

inline bool is_null(sqlite3_value* value) {
    return sqlite3_value_type(value) == SQLITE_NULL;
}

// The value as an error message shows it: its type, and an excerpt of a text.
std::string describe(sqlite3_value* value);
[[noreturn]] void refuse(const Argument& argument, const std::string& accepted);

// An INTEGER, or a REAL that is a whole number of int64. NULL is for the caller to handle first.
int64_t integer_argument(const Argument& argument);
// An INTEGER or a REAL.
double real_argument(const Argument& argument);
// A TEXT. Valid as long as the value.
std::string_view text_argument(const Argument& argument);
std::string_view blob_argument(const Argument& argument);

// NULL where there is none.
inline void result_optional(sqlite3_context* context, const std::optional<int64_t>& value) {
    if (value) sqlite3_result_int64(context, *value);
}

}  // namespace profana
