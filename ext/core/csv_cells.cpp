#include "ext/core/csv_cells.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ext/core/decimal.h"
#include "ext/core/json_token.h"

namespace profana {
namespace {

bool is_space(char c) {
    return c == ' ' || c == '\t';
}

// Line ends within quotes belong to the text; one CR may be left of the line's own end.
std::string_view trim_blanks(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

std::string_view trim_cell(std::string_view cell) {
    if (!cell.empty() && cell.back() == '\r') cell.remove_suffix(1);
    return trim_blanks(cell);
}

}  // namespace

std::string_view cell_text(std::string_view cell, std::string& scratch) {
    cell = trim_cell(cell);
    if (cell.empty() || cell.front() != '"') return cell;
    size_t quote = cell.find('"', 1);
    if (quote == std::string_view::npos) return cell;  // torn: it stands for itself
    if (quote + 1 == cell.size()) return trim_blanks(cell.substr(1, quote - 1));
    // """16,16""", what shapes look like.
    constexpr std::string_view kTriple = "\"\"\"";
    if (cell.size() >= 6 && cell.starts_with(kTriple) && cell.ends_with(kTriple) &&
        cell.find('"', 3) == cell.size() - 3)
        return cell.substr(2, cell.size() - 4);
    scratch.clear();
    for (size_t at = 1;;) {
        scratch.append(cell, at, quote - at);
        at = quote + 1;
        if (at == cell.size() || cell[at] != '"') {
            scratch.append(cell, at);
            return trim_blanks(scratch);
        }
        scratch += '"';
        quote = cell.find('"', ++at);
        if (quote == std::string_view::npos) return cell;
    }
}

bool cell_value(std::string_view cell, std::string& scratch, std::string_view* value) {
    std::string_view text = cell_text(cell, scratch);
    if (text.empty()) return false;
    if (text.size() >= 2 && text.front() == '"' && text.find('"', 1) == text.size() - 1) {
        text = trim_blanks(text.substr(1, text.size() - 2));
        if (text.empty()) text = std::string_view("", 0);
    }
    *value = text;
    return text != "N/A";
}

AnyValue cell_number(std::string_view text) {
    constexpr ptrdiff_t kKept = std::numeric_limits<double>::digits10;
    if (text.empty() || !is_json_number(text)) return {};
    const size_t mantissa_end = std::min(text.find_first_of("eE"), text.size());
    const std::string_view mantissa = text.substr(0, mantissa_end);
    if (mantissa_end == text.size() && mantissa.find('.') == std::string_view::npos) {
        int64_t integer = 0;
        if (text == "-0" || parse_integer(text, &integer) != Parsed::kExact) return {};
        return AnyValue::of(integer);
    }
    const size_t first = mantissa.find_first_of("123456789");
    if (first != std::string_view::npos) {
        const auto digits = std::count_if(mantissa.begin() + static_cast<ptrdiff_t>(first), mantissa.end(),
                                          [](char c) { return c != '.'; });
        if (digits > kKept) return {};
    }
    double real = 0;
    if (parse_real(text, &real) != Parsed::kExact) return {};
    const bool vanished =
        first != std::string_view::npos && std::abs(real) < std::numeric_limits<double>::min();
    return vanished ? AnyValue() : AnyValue::of(real);
}

}  // namespace profana
