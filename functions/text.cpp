// Rounding and text as the field's tools write it.
#include <algorithm>
#include <array>
#include <optional>

#include "ext/core/python_text.h"
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

void python_repr_function(sqlite3_context* context, int, sqlite3_value** values) {
    guard_function(context, [&] {
        if (is_null(values[0])) return;
        result_text(context, python_repr(text_argument({"python_repr", "json", values[0]})));
    });
}

// Appends a value as Python's str.format writes it.
void append_formatted(const Argument& argument, std::string* out) {
    switch (sqlite3_value_type(argument.value)) {
        case SQLITE_INTEGER:
            *out += std::to_string(sqlite3_value_int64(argument.value));
            return;
        case SQLITE_FLOAT:
            *out += repr_real(sqlite3_value_double(argument.value));
            return;
        case SQLITE_TEXT:
            *out += text_argument(argument);
            return;
        default:
            refuse(argument, "a TEXT, an INTEGER, a REAL or NULL");
    }
}

void python_format_function(sqlite3_context* context, int count, sqlite3_value** values) {
    guard_function(context, [&] {
        if (count < 1) throw Error("python_format: takes a template, and a value for each {}");
        if (std::any_of(values, values + count, is_null)) return;
        const std::string_view text = text_argument({"python_format", "template", values[0]});
        static thread_local std::string out;
        out.clear();
        int next = 1;
        size_t at = 0;
        for (size_t mark; (mark = text.find("{}", at)) != std::string_view::npos; at = mark + 2) {
            out += text.substr(at, mark - at);
            if (next < count) append_formatted({"python_format", "value", values[next]}, &out);
            ++next;
        }
        out += text.substr(at);
        if (next != count)
            throw Error("python_format: " + std::to_string(count - 1) + " values for " +
                        std::to_string(next - 1) + " places {} of the template");
        result_text(context, out);
    });
}

void shape_dims_function(sqlite3_context* context, int, sqlite3_value** values) {
    guard_function(context, [&] {
        if (is_null(values[0])) return;
        const auto dims = shape_dims(text_argument({"shape_dims", "shapes", values[0]}));
        if (!dims) return;
        result_text(context, *dims);
        sqlite3_result_subtype(context, 'J');
    });
}

void shape_numel_function(sqlite3_context* context, int count, sqlite3_value** values) {
    guard_function(context, [&] {
        if (count < 1 || count > 2) {
            throw Error("shape_numel: takes (shapes [, index]), " + std::to_string(count) +
                        " arguments given");
        }
        if (is_null(values[0]) || (count == 2 && is_null(values[1]))) return;
        std::optional<int64_t> index;
        if (count == 2) index = integer_argument({"shape_numel", "index", values[1]});
        const auto numel = shape_numel(text_argument({"shape_numel", "shapes", values[0]}), index);
        if (numel) sqlite3_result_int64(context, *numel);
    });
}

void op_base_name_function(sqlite3_context* context, int, sqlite3_value** values) {
    guard_function(context, [&] {
        if (is_null(values[0])) return;
        std::string_view name = text_argument({"op_base_name", "name", values[0]});
        const size_t last = name.find_last_not_of("0123456789");
        const bool numbered = last != std::string_view::npos && last + 1 < name.size() && name[last] == '_';
        if (numbered && last > 0) name = name.substr(0, last);
        result_text(context, name);
    });
}

constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

bool begins_character(char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

// Where in `text` its character number `count` begins.
size_t character_at(std::string_view text, size_t count) {
    for (size_t at = 0; at < text.size(); ++at)
        if (begins_character(text[at]) && count-- == 0) return at;
    return text.size();
}

void elide_function(sqlite3_context* context, int, sqlite3_value** values) {
    guard_function(context, [&] {
        if (is_null(values[0]) || is_null(values[1])) return;
        const Argument argument{"elide", "length", values[1]};
        const int64_t length = integer_argument(argument);
        if (length < 1) refuse(argument, "an INTEGER of at least 1");
        const std::string_view text = text_argument({"elide", "text", values[0]});
        const auto size = static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_character));
        const auto most = static_cast<size_t>(length);
        if (size <= most) {
            result_text(context, text);
            return;
        }
        const size_t head = most / 2, tail = most - 1 - head;
        std::string out(text.substr(0, character_at(text, head)));
        out += kEllipsis;
        out += text.substr(character_at(text, size - tail));
        result_text(context, out);
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
    FunctionSpec{
        "python_repr", 1, kPure, "python_repr(json TEXT) -> TEXT",
        "A JSON array or object as Python prints it: '[[2,3],[]]' gives '[[2, 3], []]', null is None, "
        "texts stand in single quotes. Any other text is returned as it is. NULL for NULL.",
        python_repr_function},
    FunctionSpec{
        "python_format", -1, kPure, "python_format(template TEXT [, value ANY] ...) -> TEXT",
        "The template with each {} replaced by a value, as Python's str.format writes it: a REAL by "
        "repr_real. Only {} is a place; other braces stand for themselves. NULL where the template or a "
        "value is NULL; an error where values and places differ in number.",
        python_format_function},
    FunctionSpec{
        "shape_dims", 1, kPure | kGivesJson, "shape_dims(shapes TEXT) -> TEXT",
        "The shapes of an operator's arguments as JSON, one list of dims for each: '34,4096;7,128' and "
        "'[[34, 4096], [7, 128]]' both give '[[34,4096],[7,128]]'; a scalar is []. An argument that is a "
        "list of tensors stays a list of lists. NULL for NULL and for a text that is no shapes.",
        shape_dims_function},
    FunctionSpec{
        "shape_numel", -1, kPure, "shape_numel(shapes TEXT [, index INTEGER]) -> INTEGER",
        "How many elements the argument at index (from 0) has, or all arguments together: the product of "
        "the dims, 1 for a scalar, the sum over a list of tensors. NULL for NULL, for a text that is no "
        "shapes, for a place that is not there and for a number beyond 64 bits.",
        shape_numel_function},
    FunctionSpec{
        "op_base_name", 1, kPure, "op_base_name(name TEXT) -> TEXT",
        "A name without the number that tells equal ones apart: one trailing '_' with digits is taken off, "
        "so 'nn.Module: Linear_0' gives 'nn.Module: Linear'. Other names stay. NULL for NULL.",
        op_base_name_function},
    FunctionSpec{"elide", 2, kPure, "elide(text TEXT, length INTEGER) -> TEXT",
                 "The text in at most length characters: where it is longer, its middle gives way to an "
                 "ellipsis. For names in reports, which differ at both ends. NULL for NULL.",
                 elide_function},
};

}  // namespace

std::span<const FunctionSpec> text_functions() {
    return kFunctions;
}

}  // namespace profana
