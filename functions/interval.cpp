// The interval functions: unions of intervals as aggregates, and the algebra of sets of intervals.
//
// NULL follows PostgreSQL's multiranges: an aggregate leaves out rows with a NULL and is NULL when no row is
// left; a function of a set is NULL when an argument is. The empty set is interval_union().
#include <array>

#include "ext/registry.h"
#include "functions/aggregate.h"
#include "functions/interval_argument.h"

namespace profana {

namespace {

// ---- Aggregates

// Adds the row's interval to the state; a row whose start or end is NULL is left out.
template <class State>
void step_interval(sqlite3_context* context, const char* function, sqlite3_value** values) {
    guard_function(context, [&] {
        if (is_null(values[0]) || is_null(values[1])) return;
        const int64_t start = integer_argument({function, "start", values[0]});
        const int64_t end = integer_argument({function, "end", values[1]});
        aggregate_state<State>(context).add(start, end);
    });
}

void agg_step(sqlite3_context* context, int, sqlite3_value** values) {
    step_interval<IntervalCollector>(context, "interval_agg", values);
}
void coverage_step(sqlite3_context* context, int, sqlite3_value** values) {
    step_interval<IntervalCollector>(context, "interval_coverage", values);
}
void depth_step(sqlite3_context* context, int, sqlite3_value** values) {
    step_interval<DepthCounter>(context, "interval_depth_max", values);
}
void union_step(sqlite3_context* context, int, sqlite3_value** values) {
    guard_function(context, [&] {
        if (is_null(values[0])) return;
        const IntervalSet set = set_argument({"interval_union_agg", "set", values[0]});
        aggregate_state<IntervalCollector>(context).add(set);
    });
}

void result_length(sqlite3_context* context, const char* function, const IntervalSet& set) {
    const uint64_t total = total_length(set);
    if (total > static_cast<uint64_t>(INT64_MAX)) {
        throw Error(std::string(function) + ": the length " + std::to_string(total) +
                    " is larger than a 64-bit INTEGER");
    }
    sqlite3_result_int64(context, static_cast<int64_t>(total));
}

// The result of a state that has seen a row; none leaves NULL.
void result_of_set(sqlite3_context* context, IntervalCollector& collector) {
    result_set(context, collector.set());
}
void result_of_coverage(sqlite3_context* context, IntervalCollector& collector) {
    result_length(context, "interval_coverage", collector.set());
}
void result_of_depth(sqlite3_context* context, DepthCounter& counter) {
    sqlite3_result_int64(context, counter.deepest());
}

template <class State, void (*result)(sqlite3_context*, State&)>
void value_of(sqlite3_context* context) {
    guard_function(context, [&] {
        if (State* state = aggregate_peek<State>(context)) result(context, *state);
    });
}
template <class State, void (*result)(sqlite3_context*, State&)>
void final_of(sqlite3_context* context) {
    guard_function(context, [&] {
        if (const auto state = aggregate_take<State>(context)) result(context, *state);
    });
}

// A union cannot give back what a row added.
void no_inverse(sqlite3_context* context, int, sqlite3_value**) {
    sqlite3_result_error(
        context, "interval aggregates take only window frames that begin with UNBOUNDED PRECEDING", -1);
}

// ---- Sets

bool any_null(int count, sqlite3_value** values) {
    for (int i = 0; i < count; ++i) {
        if (is_null(values[i])) return true;
    }
    return false;
}

void set_union(sqlite3_context* context, int count, sqlite3_value** values) {
    guard_function(context, [&] {
        if (any_null(count, values)) return;
        IntervalCollector collector;
        for (int i = 0; i < count; ++i) {
            const std::string name = std::to_string(i + 1);
            collector.add(set_argument({"interval_union", name.c_str(), values[i]}));
        }
        result_set(context, collector.set());
    });
}

void set_intersect(sqlite3_context* context, int count, sqlite3_value** values) {
    guard_function(context, [&] {
        if (count == 0) throw Error("interval_intersect: takes one set or more, 0 given");
        if (any_null(count, values)) return;
        IntervalSet result = set_argument({"interval_intersect", "1", values[0]});
        for (int i = 1; i < count; ++i) {
            const std::string name = std::to_string(i + 1);
            result = intersection(result, set_argument({"interval_intersect", name.c_str(), values[i]}));
        }
        result_set(context, result);
    });
}

void set_difference(sqlite3_context* context, int count, sqlite3_value** values) {
    guard_function(context, [&] {
        if (any_null(count, values)) return;
        result_set(context, difference(set_argument({"interval_difference", "a", values[0]}),
                                       set_argument({"interval_difference", "b", values[1]})));
    });
}

void set_complement(sqlite3_context* context, int count, sqlite3_value** values) {
    guard_function(context, [&] {
        if (any_null(count, values)) return;
        result_set(context, complement(set_argument({"interval_complement", "set", values[0]}),
                                       integer_argument({"interval_complement", "lo", values[1]}),
                                       integer_argument({"interval_complement", "hi", values[2]})));
    });
}

void set_clip(sqlite3_context* context, int count, sqlite3_value** values) {
    guard_function(context, [&] {
        if (any_null(count, values)) return;
        result_set(context, clip(set_argument({"interval_clip", "set", values[0]}),
                                 integer_argument({"interval_clip", "lo", values[1]}),
                                 integer_argument({"interval_clip", "hi", values[2]})));
    });
}

void set_length(sqlite3_context* context, int count, sqlite3_value** values) {
    guard_function(context, [&] {
        if (any_null(count, values)) return;
        result_length(context, "interval_length", set_argument({"interval_length", "set", values[0]}));
    });
}

void set_count(sqlite3_context* context, int count, sqlite3_value** values) {
    guard_function(context, [&] {
        if (any_null(count, values)) return;
        const IntervalSet set = set_argument({"interval_count", "set", values[0]});
        sqlite3_result_int64(context, static_cast<int64_t>(set.size()));
    });
}

// The set of this thread's last call, so that many questions about one set decode it once.
const IntervalSet& remembered_set(const Argument& argument) {
    static thread_local std::string bytes;
    static thread_local IntervalSet set;
    const bool is_blob = sqlite3_value_type(argument.value) == SQLITE_BLOB;
    if (!is_blob || bytes.empty() || blob_argument(argument) != bytes) {
        bytes.clear();
        set = set_argument(argument);
        bytes = blob_argument(argument);
    }
    return set;
}

void set_contains(sqlite3_context* context, int count, sqlite3_value** values) {
    guard_function(context, [&] {
        if (any_null(count, values)) return;
        const int64_t time = integer_argument({"interval_contains", "t", values[1]});
        sqlite3_result_int(context, contains(remembered_set({"interval_contains", "set", values[0]}), time));
    });
}

void set_json(sqlite3_context* context, int count, sqlite3_value** values) {
    guard_function(context, [&] {
        if (any_null(count, values)) return;
        result_text(context, intervals_to_json(set_argument({"interval_json", "set", values[0]})));
        sqlite3_result_subtype(context, 'J');
    });
}

void set_from_json(sqlite3_context* context, int count, sqlite3_value** values) {
    guard_function(context, [&] {
        if (any_null(count, values)) return;
        const std::string_view json = text_argument({"interval_from_json", "json", values[0]});
        IntervalSet set;
        try {
            set = intervals_from_json(json);
        } catch (const Error& error) {
            throw Error(std::string("interval_from_json: argument json is ") + error.what());
        }
        result_set(context, set);
    });
}

FunctionSpec scalar(const char* name, int arguments, const char* signature, const char* doc,
                    ScalarFunction function) {
    return {name, arguments, kPure, signature, doc, function};
}

template <class State, void (*result)(sqlite3_context*, State&)>
FunctionSpec aggregate(const char* name, int arguments, const char* signature, const char* doc,
                       ScalarFunction step) {
    return {name,
            arguments,
            kPure,
            signature,
            doc,
            nullptr,
            step,
            final_of<State, result>,
            value_of<State, result>,
            no_inverse};
}

const std::array kFunctions{
    aggregate<IntervalCollector, result_of_set>(
        "interval_agg", 2, "interval_agg(start INTEGER, end INTEGER) -> BLOB",
        "Aggregate: the union of half-open intervals [start, end) as a set. Touching intervals become one; "
        "rows "
        "with end <= start are empty and add nothing; rows with a NULL are left out; NULL when no row is "
        "left. "
        "Any order of rows gives the same bytes. As a window function: frames from UNBOUNDED PRECEDING.",
        agg_step),
    aggregate<IntervalCollector, result_of_coverage>(
        "interval_coverage", 2, "interval_coverage(start INTEGER, end INTEGER) -> INTEGER",
        "Aggregate: the length of the union of the intervals [start, end), in their unit; time that several "
        "cover counts once. Rules for empty intervals, NULL and windows as in interval_agg. Error if the "
        "length "
        "does not fit into 64 bits.",
        coverage_step),
    aggregate<IntervalCollector, result_of_set>("interval_union_agg", 1,
                                                "interval_union_agg(set BLOB) -> BLOB",
                                                "Aggregate: the union of sets, so that partial results of "
                                                "ranks or steps reduce exactly. NULL sets are "
                                                "left out; NULL when no row is left.",
                                                union_step),
    aggregate<DepthCounter, result_of_depth>(
        "interval_depth_max", 2, "interval_depth_max(start INTEGER, end INTEGER) -> INTEGER",
        "Aggregate: how many of the intervals [start, end) hold at the same time, at most. Rules for empty "
        "intervals, NULL and windows as in interval_agg; 0 when all are empty.",
        depth_step),
    scalar("interval_union", -1, "interval_union(set BLOB, ...) -> BLOB",
           "The union of the sets; without arguments the empty set. NULL if one is NULL.", set_union),
    scalar("interval_intersect", -1, "interval_intersect(set BLOB, ...) -> BLOB",
           "What all sets have in common. NULL if one is NULL.", set_intersect),
    scalar("interval_difference", 2, "interval_difference(a BLOB, b BLOB) -> BLOB",
           "What is in a and not in b. NULL if one is NULL.", set_difference),
    scalar("interval_complement", 3, "interval_complement(set BLOB, lo INTEGER, hi INTEGER) -> BLOB",
           "What of [lo, hi) is not in the set; empty if hi <= lo. NULL if one is NULL.", set_complement),
    scalar("interval_clip", 3, "interval_clip(set BLOB, lo INTEGER, hi INTEGER) -> BLOB",
           "What of the set lies in [lo, hi); empty if hi <= lo. NULL if one is NULL.", set_clip),
    scalar("interval_length", 1, "interval_length(set BLOB) -> INTEGER",
           "The sum of the lengths of the set's intervals, in their unit. Error if it does not fit into 64 "
           "bits. "
           "NULL for NULL.",
           set_length),
    scalar("interval_count", 1, "interval_count(set BLOB) -> INTEGER",
           "The number of the set's intervals: islands that do not touch. NULL for NULL.", set_count),
    scalar("interval_contains", 2, "interval_contains(set BLOB, t INTEGER) -> INTEGER",
           "1 if t lies in an interval of the set (start <= t < end), else 0. NULL if one is NULL.",
           set_contains),
    FunctionSpec{"interval_json", 1, kPure | kGivesJson, "interval_json(set BLOB) -> TEXT",
                 "The set as JSON, [[start,end],...] by rising start. NULL for NULL.", set_json},
    scalar("interval_from_json", 1, "interval_from_json(json TEXT) -> BLOB",
           "A set from a JSON list of [start,end] pairs in any order; they may overlap, and empty ones "
           "(end <= start) add nothing. NULL for NULL; error for anything else.",
           set_from_json),
};

}  // namespace

std::span<const FunctionSpec> interval_functions() {
    return kFunctions;
}

}  // namespace profana
