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

void add_range(sqlite3_context* context, int, sqlite3_value** values) {
    guard_function(context, [&] {
        for (int i = 0; i < 4; ++i)
            if (is_null(values[i])) return;
        aggregate_state<NestIndex>(context).add(
            text_argument({kIndex, "key", values[0]}), integer_argument({kIndex, "id", values[1]}),
            integer_argument({kIndex, "start", values[2]}), integer_argument({kIndex, "end", values[3]}));
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

void find(sqlite3_context* context, int, sqlite3_value** values) {
    guard_function(context, [&] {
        const auto* index = static_cast<const NestIndex*>(sqlite3_value_pointer(values[0], kPointerType));
        if (index == nullptr)
            refuse({kFind, "index", values[0]},
                   "what nest_index() gives, straight from a scalar subquery; it cannot be stored");
        for (int i = 1; i < 4; ++i)
            if (is_null(values[i])) return;
        const auto id = index->find(text_argument({kFind, "key", values[1]}),
                                    integer_argument({kFind, "start", values[2]}),
                                    integer_argument({kFind, "end", values[3]}));
        if (id) sqlite3_result_int64(context, *id);
    });
}

constexpr std::array kFunctions{
    FunctionSpec{kIndex, 4, kPure, "nest_index(key TEXT, id INTEGER, start INTEGER, end INTEGER) -> POINTER",
                 "Aggregate: an index of ranges, for nest_find within the same statement. Ranges of "
                 "different keys know "
                 "nothing of each other. A row with a NULL is left out. Ranges of length zero make it a map "
                 "from key and "
                 "number to id. It cannot be stored: elsewhere it reads as NULL.",
                 nullptr, add_range, make_index},
    FunctionSpec{
        kFind, 4, kPure, "nest_find(index POINTER, key TEXT, start INTEGER, end INTEGER) -> INTEGER",
        "The id of the innermost range of the key that contains [start, end] whole, both ends included, by "
        "the rule "
        "of nest_within; NULL if there is none, or for NULL. Let the index come from a scalar subquery, "
        "which is run "
        "once: nest_find((SELECT nest_index(key, id, start, end) FROM ranges), key, start, end). O(log n).",
        find},
};

}  // namespace

std::span<const FunctionSpec> nest_index_functions() {
    return kFunctions;
}

}  // namespace profana
