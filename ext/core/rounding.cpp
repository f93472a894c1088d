#include "ext/core/rounding.h"

#include <charconv>
#include <cmath>
#include <iterator>

#include "ext/core/error.h"

namespace profana {

namespace {

// Rounds a whole number, given as decimal digits, to a multiple of 10^drop, ties to even. `more`: the number
// was a little larger than the digits say.
std::string round_digits(std::string digits, size_t drop, bool more) {
    if (drop > digits.size()) return "0";
    digits.insert(digits.begin(), '0');
    const size_t keep = digits.size() - drop;
    const bool above_half = digits.find_first_not_of('0', keep + 1) != std::string::npos || more;
    const bool odd = (digits[keep - 1] - '0') % 2 != 0;
    const bool up = digits[keep] > '5' || (digits[keep] == '5' && (above_half || odd));
    digits.replace(keep, drop, drop, '0');
    if (up) {
        size_t at = keep - 1;
        for (; digits[at] == '9'; --at) digits[at] = '0';
        ++digits[at];
    }
    return digits;
}

// As printf's %.*f, but the host's locale does not count.
std::string print(int precision, double x) {
    constexpr int kLongestWhole = 320;  // 1e308 and a sign
    std::string text(static_cast<size_t>(kLongestWhole + precision), '\0');
    text.resize(static_cast<size_t>(
        std::to_chars(text.data(), text.data() + text.size(), x, std::chars_format::fixed, precision).ptr -
        text.data()));
    return text;
}

double read(const std::string& text) {
    double x = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
    if (error == std::errc::result_out_of_range) return text.front() == '-' ? -HUGE_VAL : HUGE_VAL;
    return x;
}

constexpr double kPowers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

// The result where x * 10^digits is so far from a tie that its own rounding cannot matter. A whole number
// below 2^53 divided by an exact power of ten is the double nearest to the quotient.
bool round_plain(double x, int64_t digits, double* result) {
    if (digits >= static_cast<int64_t>(std::size(kPowers))) return false;
    const double scaled = x * kPowers[digits], whole = std::nearbyint(scaled);
    const double from_tie = 0.5 - std::fabs(scaled - whole);
    if (std::fabs(scaled) >= 0x1p51 || from_tie <= std::fabs(scaled) * 0x1p-51) return false;
    *result = whole / kPowers[digits];
    return true;
}

}  // namespace

double round_even(double x, int64_t digits) {
    if (!std::isfinite(x) || x == 0) return x;
    if (digits >= 0) {
        double result = 0;
        if (round_plain(x, digits, &result)) return result;
        if (digits > kMaxFixedDigits) return x;
        return read(fixed(x, digits));
    }
    if (digits < -400) return std::copysign(0.0, x);
    const double whole = std::trunc(std::fabs(x));
    const std::string text =
        round_digits(print(0, whole), static_cast<size_t>(-digits), whole != std::fabs(x));
    return std::copysign(read(text), x);
}

int64_t round_even(int64_t x, int64_t digits) {
    if (digits >= 0) return x;
    if (digits < -400) return 0;
    std::string text = std::to_string(x);
    const bool negative = text.front() == '-';
    if (negative) text.erase(0, 1);
    text = round_digits(std::move(text), static_cast<size_t>(-digits), false);
    if (negative) text.insert(text.begin(), '-');
    int64_t result = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), result).ec != std::errc()) {
        throw Error("round_even: " + std::to_string(x) + " rounded to " + std::to_string(digits) +
                    " digits is larger than a 64-bit INTEGER");
    }
    return result;
}

std::string fixed(double x, int64_t digits) {
    return print(static_cast<int>(digits), x);
}

std::string repr_real(double x) {
    if (std::isnan(x)) return "nan";
    if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
    const double size = std::fabs(x);
    // Plain digits from 0.0001 up to below 1e16, else -d.ddde+xx.
    const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
    char text[40];
    char* const end = std::to_chars(text, text + sizeof text, x,
                                    plain ? std::chars_format::fixed : std::chars_format::scientific)
                          .ptr;
    std::string result(text, end);
    if (plain && result.find('.') == std::string::npos) result += ".0";
    return result;
}

std::string format_us(int64_t ns) {
    const uint64_t size = ns < 0 ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
    char text[40];
    char* end = std::to_chars(text, text + sizeof text, size / 1000).ptr;
    *end++ = '.';
    for (uint64_t unit = 100; unit > 0; unit /= 10) *end++ = static_cast<char>('0' + size / unit % 10);
    return (ns < 0 ? "-" : "") + std::string(text, end);
}

}  // namespace profana
