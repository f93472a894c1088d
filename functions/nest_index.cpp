// The innermost range that contains another, asked row by row: ranges become an index once, and whoever asks
// needs no place in a common order with them. Where ranges are few and questions many this spares the sort
// and the window of nest_within.
//
// The index is a pointer value: it passes from the aggregate to the function within a statement and cannot be
// stored. As a BLOB it would be copied for every row that asks.
#include "ext/core/nest_index.h"

#include <array>

#include "ext/registry.h"
#include "functions/aggregate.h"
#include "functions/arguments.h"

namespace profana {
namespace {

constexpr const char* kIndex = "nest_index";
constexpr const char* kFind = "nest_find";
constexpr const char* kPointerType = "profana_nest_index";
constexpr int kRangeArguments = 3;  // before the keys

template <class T>
void append_bytes(std::string& to, char kind, T value) {
    to += kind;
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The keys of a row as one text, equal for rows whose keys are the same.
std::string_view joined_keys(const char* function, sqlite3_value** keys, int n) {
    static thread_local std::string joined;
    joined.clear();
    for (int i = 0; i < n; ++i) {
        if (is_null(keys[i])) {
            joined += 'n';
        } else if (sqlite3_value_type(keys[i]) == SQLITE_TEXT) {
            const std::string_view text = text_argument({function, "key", keys[i]});
            append_bytes(joined, 't', text.size());
            joined += text;
        } else if (sqlite3_value_type(keys[i]) == SQLITE_INTEGER) {
            append_bytes(joined, 'i', sqlite3_value_int64(keys[i]));
        } else {
            refuse({function, "key", keys[i]}, "a TEXT, an INTEGER or NULL");
        }
    }
    return joined;
}

void add_range(sqlite3_context* context, int n, sqlite3_value** values) {
    guard_function(context, [&] {
        if (n < kRangeArguments) throw Error("nest_index: takes an id, a start and an end at least");
        for (int i = 0; i < kRangeArguments; ++i)
            if (is_null(values[i])) return;
        aggregate_state<NestIndex>(context).add(
            joined_keys(kIndex, values + kRangeArguments, n - kRangeArguments),
            integer_argument({kIndex, "id", values[0]}), integer_argument({kIndex, "start", values[1]}),
            integer_argument({kIndex, "end", values[2]}));
    });
}

void make_index(sqlite3_context* context) {
    guard_function(context, [&] {
        auto index = aggregate_take<NestIndex>(context);
        if (index == nullptr) index = std::make_unique<NestIndex>();
        index->build();
        sqlite3_result_pointer(context, index.release(), kPointerType,
                               [](void* made) { delete static_cast<NestIndex*>(made); });
    });
}

void find(sqlite3_context* context, int n, sqlite3_value** values) {
    guard_function(context, [&] {
        if (n < kRangeArguments) throw Error("nest_find: takes an index, a start and an end at least");
        const auto* index = static_cast<const NestIndex*>(sqlite3_value_pointer(values[0], kPointerType));
        if (index == nullptr)
            refuse({kFind, "index", values[0]},
                   "what nest_index() gives, straight from a scalar subquery; it cannot be stored");
        if (is_null(values[1]) || is_null(values[2])) return;
        const auto id = index->find(joined_keys(kFind, values + kRangeArguments, n - kRangeArguments),
                                    integer_argument({kFind, "start", values[1]}),
                                    integer_argument({kFind, "end", values[2]}));
        if (id) sqlite3_result_int64(context, *id);
    });
}

constexpr std::array kFunctions{
    FunctionSpec{kIndex, -1, kPure,
                 "nest_index(id INTEGER, start INTEGER, end INTEGER [, key ANY] ...) -> POINTER",
                 "Aggregate: an index of ranges, for nest_find within the same statement. Ranges whose keys "
                 "(texts, integers, NULL like any other) differ know nothing of each other. A row without "
                 "id, start or end is left out. Ranges of length zero make it a map from keys and number to "
                 "id. It cannot be stored: elsewhere it reads as NULL.",
                 nullptr, add_range, make_index},
    FunctionSpec{
        kFind, -1, kPure, "nest_find(index POINTER, start INTEGER, end INTEGER [, key ANY] ...) -> INTEGER",
        "The id of the innermost range with the same keys that contains [start, end] whole, both ends "
        "included, by the rule of nest_within; NULL if there is none, or without start or end. Let "
        "the index come from a scalar subquery, which is run once: nest_find((SELECT nest_index(id, "
        "start, end, key) FROM ranges), start, end, key). O(log n).",
        find},
};

}  // namespace

std::span<const FunctionSpec> nest_index_functions() {
    return kFunctions;
}

}  // namespace profana
