// Sets of intervals as arguments and results of SQL functions.
#pragma once

#include "ext/core/interval_set.h"
#include "functions/arguments.h"

namespace profana {

// Reads and checks a set; not for NULL.
inline IntervalSet set_argument(const Argument& argument) {
    if (sqlite3_value_type(argument.value) != SQLITE_BLOB) {
        refuse(argument, "a set of intervals (BLOB) as interval_agg and interval_from_json make it");
    }
    try {
        return decode_intervals(blob_argument(argument));
    } catch (const Error& error) {
        throw Error(std::string(argument.function) + ": argument " + argument.name + " is " + error.what());
    }
}

inline void result_set(sqlite3_context* context, const IntervalSet& set) {
    const std::string bytes = encode(set);
    sqlite3_result_blob64(context, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
}

}  // namespace profana
