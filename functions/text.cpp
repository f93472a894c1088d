// Rounding and text as the field's tools write it.
#include <array>

#include "ext/core/rounding.h"
#include "ext/registry.h"
#include "functions/arguments.h"

namespace profana {

namespace {

void round_even_function(sqlite3_context* context, int count, sqlite3_value** values) {
    guard_function(context, [&] {
        if (count < 1 || count > 2) {
            throw Error("round_even: takes (x [, digits]), " + std::to_string(count) + " arguments given");
        }
        if (is_null(values[0]) || (count == 2 && is_null(values[1]))) return;
        const int64_t digits = count == 2 ? integer_argument({"round_even", "digits", values[1]}) : 0;
        if (sqlite3_value_type(values[0]) == SQLITE_INTEGER) {
            sqlite3_result_int64(context, round_even(int64_t{sqlite3_value_int64(values[0])}, digits));
        } else {
            sqlite3_result_double(context, round_even(real_argument({"round_even", "x", values[0]}), digits));
        }
    });
}

void fixed_function(sqlite3_context* context, int, sqlite3_value** values) {
    guard_function(context, [&] {
        if (is_null(values[0]) || is_null(values[1])) return;
        const Argument argument{"fixed", "digits", values[1]};
        const int64_t digits = integer_argument(argument);
        if (digits < 0 || digits > kMaxFixedDigits) {
            refuse(argument, "an INTEGER from 0 to " + std::to_string(kMaxFixedDigits));
        }
        result_text(context, fixed(real_argument({"fixed", "x", values[0]}), digits));
    });
}

void repr_real_function(sqlite3_context* context, int, sqlite3_value** values) {
    guard_function(context, [&] {
        if (is_null(values[0])) return;
        result_text(context, repr_real(real_argument({"repr_real", "x", values[0]})));
    });
}

void format_us_function(sqlite3_context* context, int, sqlite3_value** values) {
    guard_function(context, [&] {
        if (is_null(values[0])) return;
        result_text(context, format_us(integer_argument({"format_us", "ns", values[0]})));
    });
}

constexpr std::array kFunctions{
    FunctionSpec{
        "round_even", -1, kPure, "round_even(x NUMERIC [, digits INTEGER]) -> NUMERIC",
        "x rounded to digits decimals (default 0; negative: to tens, hundreds ...). The exact binary value "
        "decides and ties go to the even digit, as in C's printf and Python's round(); SQLite's round() "
        "gives round(0.015, 2) = 0.02 where the value lies below the tie. INTEGER stays INTEGER, "
        "infinities stay; NULL for NULL; error for TEXT and BLOB.",
        round_even_function},
    FunctionSpec{"fixed", 2, kPure, "fixed(x NUMERIC, digits INTEGER) -> TEXT",
                 "x with exactly digits decimals, correctly rounded as C's printf('%.3f') writes it: "
                 "fixed(2.675, 2) = '2.67'. digits from 0 to 1074. NULL for NULL; error for TEXT and BLOB.",
                 fixed_function},
    FunctionSpec{
        "repr_real", 1, kPure, "repr_real(x NUMERIC) -> TEXT",
        "The shortest text that reads back as the double x, written as Python's repr(): '10.0', '0.1', "
        "'1e-05', '1e+16', 'inf'. An INTEGER is taken as a REAL. NULL for NULL; error for TEXT and BLOB.",
        repr_real_function},
    FunctionSpec{"format_us", 1, kPure, "format_us(ns INTEGER) -> TEXT",
                 "Nanoseconds as microseconds with three decimals, exact: format_us(1736413971558972912) = "
                 "'1736413971558972.912'. NULL for NULL; error for a number that is not whole.",
                 format_us_function},
};

}  // namespace

std::span<const FunctionSpec> text_functions() {
    return kFunctions;
}

}  // namespace profana
