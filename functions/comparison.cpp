// What comparisons say about two figures and about many: ratio, verdict, quantiles.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "ext/core/rounding.h"
#include "ext/registry.h"
#include "functions/aggregate.h"
#include "functions/arguments.h"

namespace profana {
namespace {

constexpr int kRatioDigits = 4;  // what the compare tool shows, and decides by what it paints red

double figure_or_zero(const Argument& argument) {
    return is_null(argument.value) ? 0 : real_argument(argument);
}

double ratio_of(double base, double comparison) {
    if (base == comparison) return 1;
    if (base == 0) return std::numeric_limits<double>::infinity();
    return comparison / base;
}

void compare_ratio_function(sqlite3_context* context, int, sqlite3_value** values) {
    guard_function(context, [&] {
        sqlite3_result_double(context, ratio_of(figure_or_zero({"compare_ratio", "base", values[0]}),
                                                figure_or_zero({"compare_ratio", "comparison", values[1]})));
    });
}

// A ratio decides between amounts; of a figure below zero (free time, a wait's rest) only the difference
// tells anything.
const char* verdict_of(double base, double comparison) {
    const double change =
        base > 0 ? round_even(ratio_of(base, comparison), kRatioDigits) - 1 : comparison - base;
    return change > 0 ? "worse" : change < 0 ? "better" : "same";
}

void compare_verdict_function(sqlite3_context* context, int, sqlite3_value** values) {
    guard_function(context, [&] {
        const double base = figure_or_zero({"compare_verdict", "base", values[0]});
        const double comparison = figure_or_zero({"compare_verdict", "comparison", values[1]});
        const char* verdict = verdict_of(base, comparison);
        if (is_null(values[0]))
            verdict = is_null(values[1]) ? nullptr : "comparison only";
        else if (is_null(values[1]))
            verdict = "base only";
        sqlite3_result_text(context, verdict, -1, SQLITE_STATIC);
    });
}

// All values of one group: a quantile cannot be had from less.
struct Values {
    std::vector<double> values;
    double fraction = 0;  // of quantile()

    double quantile() {
        const double at = fraction * static_cast<double>(values.size() - 1);
        const auto lower = values.begin() + static_cast<std::ptrdiff_t>(at);
        std::nth_element(values.begin(), lower, values.end());
        const double rest = at - std::floor(at);
        if (rest == 0) return *lower;
        return *lower + (*std::min_element(lower + 1, values.end()) - *lower) * rest;
    }
};

// A sample as bytes: a mark whose last byte is the version, so that the values begin at a multiple of eight
// bytes, then the values as the machine has them.
constexpr std::string_view kSampleMark("sample\0\x01", sizeof(double));

void sample_step(sqlite3_context* context, int, sqlite3_value** values) {
    guard_function(context, [&] {
        if (is_null(values[0])) return;
        aggregate_state<Values>(context).values.push_back(real_argument({"sample_agg", "x", values[0]}));
    });
}

void sample_final(sqlite3_context* context) {
    guard_function(context, [&] {
        const std::unique_ptr<Values> state = aggregate_take<Values>(context);
        if (state == nullptr || state->values.empty()) return;
        std::string bytes(kSampleMark);
        bytes.append(reinterpret_cast<const char*>(state->values.data()),
                     state->values.size() * sizeof(double));
        sqlite3_result_blob64(context, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
    });
}

constexpr const char* kSampleOrNumber = "a number, or what sample_agg() gives";

void append_sample(const Argument& argument, std::vector<double>* values) {
    const std::string_view bytes = blob_argument(argument);
    if (!bytes.starts_with(kSampleMark) || bytes.size() == kSampleMark.size() ||
        bytes.size() % sizeof(double) != 0)
        refuse(argument, kSampleOrNumber);
    const size_t known = values->size(), more = bytes.size() / sizeof(double) - 1;
    values->resize(known + more);
    std::memcpy(values->data() + known, bytes.data() + kSampleMark.size(), more * sizeof(double));
}

void quantile_step(sqlite3_context* context, int, sqlite3_value** values) {
    guard_function(context, [&] {
        if (is_null(values[0])) return;
        Values& state = aggregate_state<Values>(context);
        if (state.values.empty()) {
            const Argument fraction{"quantile", "fraction", values[1]};
            if (is_null(values[1]) || !(real_argument(fraction) >= 0 && real_argument(fraction) <= 1))
                refuse(fraction, "a number from 0 to 1");
            state.fraction = real_argument(fraction);
        }
        const Argument x{"quantile", "x", values[0]};
        switch (sqlite3_value_type(x.value)) {
            case SQLITE_BLOB:
                append_sample(x, &state.values);
                return;
            case SQLITE_TEXT:
                refuse(x, kSampleOrNumber);
            default:
                state.values.push_back(real_argument(x));
        }
    });
}

void quantile_final(sqlite3_context* context) {
    guard_function(context, [&] {
        const std::unique_ptr<Values> state = aggregate_take<Values>(context);
        if (state != nullptr && !state->values.empty()) sqlite3_result_double(context, state->quantile());
    });
}

constexpr std::array kFunctions{
    FunctionSpec{
        "compare_ratio", 2, kPure, "compare_ratio(base NUMERIC, comparison NUMERIC) -> REAL",
        "comparison / base; 1.0 where both are equal, zero included; Inf where only base is zero. NULL "
        "counts as zero. The formula of every ratio of the compare sheets, not rounded.",
        compare_ratio_function},
    FunctionSpec{"compare_verdict", 2, kPure, "compare_verdict(base NUMERIC, comparison NUMERIC) -> TEXT",
                 "worse, better or same: comparison against base where less is better, by the ratio to four "
                 "decimals as the compare sheets show it, by the difference where base is not above zero; "
                 "'base only' and 'comparison only' where the other is "
                 "NULL; NULL where both are.",
                 compare_verdict_function},
    FunctionSpec{"quantile", 2, kPure, "quantile(x NUMERIC, fraction REAL) -> REAL",
                 "Aggregate: the value below which that fraction of the group's values lies, 0.5 being the "
                 "median; between two values by straight line. NULL values are left out; NULL when none is "
                 "left. x may also be the values of a group by sample_agg: of several all count. The first "
                 "row's fraction counts. Keeps 8 bytes a value; O(n).",
                 nullptr, quantile_step, quantile_final},
    FunctionSpec{
        "sample_agg", 1, kPure, "sample_agg(x NUMERIC) -> BLOB",
        "Aggregate: all values of a group, for quantile() of groups put together: quantile(s, 0.5) over "
        "rows of sample_agg(x) AS s is the median of all x. NULL values are left out; NULL when none is "
        "left. 8 bytes a value, in the byte order of the machine: not for exchange.",
        nullptr, sample_step, sample_final},
};

}  // namespace

std::span<const FunctionSpec> comparison_functions() {
    return kFunctions;
}

}  // namespace profana
