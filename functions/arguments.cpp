#include "functions/arguments.h"

#include <cmath>

namespace profana {

std::string describe(sqlite3_value* value) {
    switch (sqlite3_value_type(value)) {
        case SQLITE_NULL:
            return "NULL";
        case SQLITE_INTEGER:
            return "INTEGER " + std::to_string(sqlite3_value_int64(value));
        case SQLITE_FLOAT: {
            char text[40];
            std::snprintf(text, sizeof text, "REAL %.17g", sqlite3_value_double(value));
            return text;
        }
        case SQLITE_BLOB:
            return "BLOB of " + std::to_string(sqlite3_value_bytes(value)) + " bytes";
        default: {
            const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
            return "TEXT '" + excerpt(text == nullptr ? "" : text) + "'";
        }
    }
}

void refuse(const Argument& argument, const std::string& accepted) {
    throw Error(std::string(argument.function) + ": argument " + argument.name + " is " +
                describe(argument.value) + "; accepted: " + accepted);
}

int64_t integer_argument(const Argument& argument) {
    const int type = sqlite3_value_type(argument.value);
    if (type == SQLITE_INTEGER) return sqlite3_value_int64(argument.value);
    if (type == SQLITE_FLOAT) {
        const double real = sqlite3_value_double(argument.value);
        if (real == std::trunc(real) && real >= -0x1p63 && real < 0x1p63) return static_cast<int64_t>(real);
    }
    refuse(argument, "an INTEGER");
}

double real_argument(const Argument& argument) {
    const int type = sqlite3_value_type(argument.value);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) refuse(argument, "an INTEGER or a REAL");
    return sqlite3_value_double(argument.value);
}

std::string_view text_argument(const Argument& argument) {
    if (sqlite3_value_type(argument.value) != SQLITE_TEXT) refuse(argument, "a TEXT");
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(argument.value));
    if (text == nullptr) throw std::bad_alloc();
    return {text, static_cast<size_t>(sqlite3_value_bytes(argument.value))};
}

std::string_view blob_argument(const Argument& argument) {
    if (sqlite3_value_type(argument.value) != SQLITE_BLOB) refuse(argument, "a BLOB");
    const auto* bytes = static_cast<const char*>(sqlite3_value_blob(argument.value));
    return {bytes, static_cast<size_t>(sqlite3_value_bytes(argument.value))};
}

}  // namespace profana
