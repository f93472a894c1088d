// Nesting asked row by row: ranges or events become an index once, and whoever asks needs no place in a
// common order with them. That spares the sort and the window of nest_within, nest_parent and nest_inside.
//
// The index is a pointer value: it passes from the aggregate to the function within a statement and cannot be
// stored. As a BLOB it would be copied for every row that asks.
#include "ext/core/nest_index.h"

#include <array>

#include "ext/core/nest_tree.h"
#include "ext/registry.h"
#include "functions/aggregate.h"
#include "functions/arguments.h"

namespace profana {
namespace {

constexpr int kEventArguments = 3;  // id, start, end, before the keys
constexpr int kAskArguments = 2;    // tree, moment or event, before the keys

struct IndexFunctions {
    using Index = NestIndex;
    static constexpr const char* kMake = "nest_index";
    static constexpr const char* kPointerType = "profana_nest_index";
    static constexpr bool kTakesPoints = false;
    static void add(NestIndex& index, std::string_view key, int64_t id, int64_t start,
                    std::optional<int64_t> end) {
        index.add(key, id, start, *end);
    }
};
struct TreeFunctions {
    using Index = NestTree;
    static constexpr const char* kMake = "nest_tree";
    static constexpr const char* kPointerType = "profana_nest_tree";
    static constexpr bool kTakesPoints = true;
    static void add(NestTree& tree, std::string_view key, int64_t id, int64_t start,
                    std::optional<int64_t> end) {
        tree.add(key, id, start, end);
    }
};

// What the aggregates make, with room for the keys of the row that is added or asks.
template <class Functions>
struct Made {
    typename Functions::Index index;
    std::string key;
};

template <class T>
void append_bytes(std::string& to, char kind, T value) {
    to += kind;
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The keys of a row as one text, equal for rows whose keys are the same; it stands in `joined`.
std::string_view joined_keys(std::string& joined, const char* function, sqlite3_value** keys, int n) {
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

// The aggregates.
template <class Functions>
void add_event(sqlite3_context* context, int n, sqlite3_value** values) {
    guard_function(context, [&] {
        const char* name = Functions::kMake;
        if (n < kEventArguments)
            throw Error(std::string(name) + ": takes an id, a start and an end at least");
        const bool has_end = !is_null(values[2]);
        if (is_null(values[0]) || is_null(values[1]) || (!has_end && !Functions::kTakesPoints)) return;
        std::optional<int64_t> end;
        if (has_end) end = integer_argument({name, "end", values[2]});
        auto& made = aggregate_state<Made<Functions>>(context);
        Functions::add(made.index, joined_keys(made.key, name, values + kEventArguments, n - kEventArguments),
                       integer_argument({name, "id", values[0]}),
                       integer_argument({name, "start", values[1]}), end);
    });
}

template <class Functions>
void make(sqlite3_context* context) {
    guard_function(context, [&] {
        auto made = aggregate_take<Made<Functions>>(context);
        if (made == nullptr) made = std::make_unique<Made<Functions>>();
        made->index.build();
        sqlite3_result_pointer(context, made.release(), Functions::kPointerType,
                               [](void* at) { delete static_cast<Made<Functions>*>(at); });
    });
}

// The index that a function is asked with.
template <class Functions>
Made<Functions>& made_of(const char* function, const char* argument, sqlite3_value* value) {
    void* made = sqlite3_value_pointer(value, Functions::kPointerType);
    if (made == nullptr)
        refuse({function, argument, value},
               "what " + std::string(Functions::kMake) +
                   "() gives, straight from a scalar subquery; it cannot be stored");
    return *static_cast<Made<Functions>*>(made);
}

void find(sqlite3_context* context, int n, sqlite3_value** values) {
    guard_function(context, [&] {
        constexpr const char* kFind = "nest_find";
        if (n < kEventArguments) throw Error("nest_find: takes an index, a start and an end at least");
        auto& [index, key] = made_of<IndexFunctions>(kFind, "index", values[0]);
        if (is_null(values[1]) || is_null(values[2])) return;
        result_optional(context,
                        index.find(joined_keys(key, kFind, values + kEventArguments, n - kEventArguments),
                                   integer_argument({kFind, "start", values[1]}),
                                   integer_argument({kFind, "end", values[2]})));
    });
}

// A question to a tree about a moment or an event.
struct At {
    static constexpr const char *kName = "nest_tree_at", *kAbout = "time";
    static std::optional<int64_t> ask(NestTree& tree, std::string_view key, int64_t time) {
        return tree.at(key, time);
    }
};
struct Inside {
    static constexpr const char *kName = "nest_tree_inside", *kAbout = "time";
    static std::optional<int64_t> ask(NestTree& tree, std::string_view key, int64_t time) {
        return tree.inside(key, time);
    }
};
struct Parent {
    static constexpr const char *kName = "nest_tree_parent", *kAbout = "id";
    static std::optional<int64_t> ask(NestTree& tree, std::string_view key, int64_t id) {
        return tree.parent(key, id);
    }
};

template <class Question>
void ask_tree(sqlite3_context* context, int n, sqlite3_value** values) {
    guard_function(context, [&] {
        const char* name = Question::kName;
        if (n < kAskArguments)
            throw Error(std::string(name) + ": takes a tree and a " + Question::kAbout + " at least");
        auto& [tree, key] = made_of<TreeFunctions>(name, "tree", values[0]);
        if (is_null(values[1])) return;
        const int64_t about = integer_argument({name, Question::kAbout, values[1]});
        result_optional(
            context,
            Question::ask(tree, joined_keys(key, name, values + kAskArguments, n - kAskArguments), about));
    });
}

constexpr std::array kFunctions{
    FunctionSpec{"nest_index", -1, kPure,
                 "nest_index(id INTEGER, start INTEGER, end INTEGER [, key ANY] ...) -> POINTER",
                 "Aggregate: an index of ranges, for nest_find within the same statement. Ranges whose keys "
                 "(texts, integers, NULL like any other) differ know nothing of each other. A row without "
                 "id, start or end is left out. Ranges of length zero make it a map from keys and number to "
                 "id. It cannot be stored: elsewhere it reads as NULL.",
                 nullptr, add_event<IndexFunctions>, make<IndexFunctions>},
    FunctionSpec{
        "nest_find", -1, kPure,
        "nest_find(index POINTER, start INTEGER, end INTEGER [, key ANY] ...) -> INTEGER",
        "The id of the innermost range with the same keys that contains [start, end] whole, both ends "
        "included, by the rule of nest_within; NULL if there is none, or without start or end. Let "
        "the index come from a scalar subquery, which is run once: nest_find((SELECT nest_index(id, "
        "start, end, key) FROM ranges), start, end, key). O(log n).",
        find},
    FunctionSpec{
        "nest_tree", -1, kPure,
        "nest_tree(id INTEGER, start INTEGER, end INTEGER [, key ANY] ...) -> POINTER",
        "Aggregate: the tree that nest_parent makes of events by start, of equal starts by id, for "
        "nest_tree_at, nest_tree_inside and nest_tree_parent within the same statement. An event "
        "without end is a point: it has a parent and encloses nothing; one without id or start is left "
        "out. Keys and storing as with nest_index. O(n log n).",
        nullptr, add_event<TreeFunctions>, make<TreeFunctions>},
    FunctionSpec{
        At::kName, -1, kPure, "nest_tree_at(tree POINTER, time INTEGER [, key ANY] ...) -> INTEGER",
        "The id of the event with the same keys that encloses a point at the time: what nest_parent "
        "says of a point behind all events that start with it. NULL if there is none, or "
        "without time. Let the tree come from a scalar subquery, as the index of nest_find. O(log n).",
        ask_tree<At>},
    FunctionSpec{Inside::kName, -1, kPure,
                 "nest_tree_inside(tree POINTER, time INTEGER [, key ANY] ...) -> INTEGER",
                 "Like nest_tree_at, by the rule of nest_inside: the id of the deepest event that began "
                 "before the time and ends after it, both strictly, as do all the events above it.",
                 ask_tree<Inside>},
    FunctionSpec{
        Parent::kName, -1, kPure, "nest_tree_parent(tree POINTER, id INTEGER [, key ANY] ...) -> INTEGER",
        "The id of the event that encloses the event `id` of the tree, as nest_parent says; NULL for "
        "a root, and where no event with these keys has that id. O(log n).",
        ask_tree<Parent>},
};

}  // namespace

std::span<const FunctionSpec> nest_index_functions() {
    return kFunctions;
}

}  // namespace profana
