// Decimal text to scaled integers, exactly.
//
// Nearly every cell is a short plain number ("1736413971558972.912"): it is read eight digits at a time into
// one word. Whatever else is a number (exponents, more decimals than are kept, many digits) is worked out on
// its digits one by one, which is exact for any length.
#include "ext/core/decimal.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <system_error>

#include "ext/core/ascii.h"

namespace profana {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int kMaxPower = 19;  // 10^19 is the largest power of ten in 64 bits

constexpr uint64_t power_of_ten(int n) {
    uint64_t power = 1;
    for (int i = 0; i < n; ++i) power *= 10;
    return power;
}

constexpr auto make_powers() {
    std::array<uint64_t, kMaxPower + 1> powers{};
    for (int i = 0; i <= kMaxPower; ++i) powers[i] = power_of_ten(i);
    return powers;
}
constexpr auto kPowers = make_powers();

static_assert(std::endian::native == std::endian::little);

uint64_t load_eight(const char* p) {
    uint64_t word;
    std::memcpy(&word, p, sizeof word);
    return word;
}

// All eight bytes are '0'..'9': high halves are 3, and adding 6 to the low halves carries into none of them.
bool eight_digits(uint64_t word) {
    return ((word & 0xF0F0F0F0F0F0F0F0) | (((word + 0x0606060606060606) & 0xF0F0F0F0F0F0F0F0) >> 4)) ==
           0x3333333333333333;
}

// Their value: neighbours are joined to pairs, pairs to fours, fours to eight.
uint64_t eight_digit_value(uint64_t word) {
    word = (word & 0x0F0F0F0F0F0F0F0F) * 2561 >> 8;
    word = (word & 0x00FF00FF00FF00FF) * 6553601 >> 16;
    return (word & 0x0000FFFF0000FFFF) * 42949672960001 >> 32;
}

// Reads digits from p; the value wraps around when there are more than 19 of them.
const char* read_digits(const char* p, const char* end, uint64_t* value) {
    uint64_t sum = *value;
    while (end - p >= 8) {
        const uint64_t word = load_eight(p);
        if (!eight_digits(word)) break;
        sum = sum * 100000000 + eight_digit_value(word);
        p += 8;
    }
    for (; p < end && is_ascii_digit(*p); ++p) sum = sum * 10 + static_cast<uint64_t>(*p - '0');
    *value = sum;
    return p;
}

Parsed store(bool negative, uint64_t magnitude, bool exact, int64_t* value) {
    if (magnitude > kMax) return Parsed::kOutOfRange;
    *value = negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
    return exact ? Parsed::kExact : Parsed::kRounded;
}

// A number taken apart: the digits of `whole` and `fraction` side by side, times 10^exponent.
struct Decimal {
    bool negative = false;
    std::string_view whole, fraction;
    int64_t exponent = 0;

    int64_t digits() const { return static_cast<int64_t>(whole.size() + fraction.size()); }
    unsigned digit(int64_t i) const {
        const auto n = static_cast<size_t>(i);
        return static_cast<unsigned>((n < whole.size() ? whole[n] : fraction[n - whole.size()]) - '0');
    }
};

bool take_apart(std::string_view text, Decimal* out) {
    const char *p = text.data(), *end = p + text.size();
    if (p < end && (*p == '-' || *p == '+')) out->negative = *p++ == '-';
    const char* start = p;
    while (p < end && is_ascii_digit(*p)) ++p;
    out->whole = {start, static_cast<size_t>(p - start)};
    if (p < end && *p == '.') {
        start = ++p;
        while (p < end && is_ascii_digit(*p)) ++p;
        out->fraction = {start, static_cast<size_t>(p - start)};
    }
    if (out->digits() == 0) return false;
    if (p == end) return true;
    if (*p != 'e' && *p != 'E') return false;
    ++p;
    bool down = false;
    if (p < end && (*p == '-' || *p == '+')) down = *p++ == '-';
    if (p == end) return false;
    constexpr int64_t kFar = 1000000000000;  // beyond it every exponent means the same: zero or out of range
    int64_t exponent = 0;
    for (; p < end && is_ascii_digit(*p); ++p) exponent = std::min(kFar, exponent * 10 + (*p - '0'));
    out->exponent = down ? -exponent : exponent;
    return p == end;
}

// number * factor, rounded half-even. `point` is where the decimal point stands among the digits.
Parsed round_product(const Decimal& number, int64_t point, uint64_t factor, int64_t* value) {
    const int64_t digits = number.digits();
    int64_t first = 0;
    while (first < digits && number.digit(first) == 0) ++first;
    if (first == digits) return store(number.negative, 0, true, value);
    if (point - first > kMaxPower) return Parsed::kOutOfRange;

    // Digits behind the point, from the last to the first: each product leaves one digit of the result's
    // fraction and carries the rest on. Far behind the point the carry has died away.
    Wide carry = 0;
    unsigned tenths = 0;  // first digit of the result's fraction
    bool finer = false;   // any digit behind it
    for (int64_t i = digits - 1; i >= std::max<int64_t>(point, first); --i) {
        finer |= tenths != 0;
        const Wide product = Wide{number.digit(i)} * factor + carry;
        tenths = static_cast<unsigned>(product % 10);
        carry = product / 10;
    }
    for (int64_t zeros = first - point, i = 0; i < zeros && (carry != 0 || tenths != 0); ++i) {
        finer |= tenths != 0;
        tenths = static_cast<unsigned>(carry % 10);
        carry /= 10;
    }

    uint64_t whole = 0;
    for (int64_t i = first; i < point; ++i) whole = whole * 10 + (i < digits ? number.digit(i) : 0);
    Wide result = Wide{whole} * factor + carry;
    if (tenths > 5 || (tenths == 5 && (finer || (result & 1) != 0))) ++result;
    if (result > kMax) return Parsed::kOutOfRange;
    return store(number.negative, static_cast<uint64_t>(result), tenths == 0 && !finer, value);
}

Parsed parse_slowly(std::string_view text, int scale, uint64_t factor, int64_t* value) {
    Decimal number;
    if (!take_apart(text, &number)) return Parsed::kNotANumber;
    const int64_t point = static_cast<int64_t>(number.whole.size()) + number.exponent + scale;
    return round_product(number, point, factor, value);
}

// A sign, at most 19 digits and a point among them: what numbers in profiles look like.
struct Plain {
    bool negative = false;
    uint64_t digits = 0;
    int decimals = 0;
};
constexpr size_t kLongestPlain = 21;

bool read_plain(std::string_view text, Plain* out) {
    if (text.size() > kLongestPlain) return false;
    const char *p = text.data(), *end = p + text.size();
    if (*p == '-') out->negative = true, ++p;
    const char* start = p;
    p = read_digits(p, end, &out->digits);
    ptrdiff_t count = p - start;
    if (count == 0) return false;
    if (p < end && *p == '.') {
        const char* fraction = p + 1;
        p = read_digits(fraction, end, &out->digits);
        out->decimals = static_cast<int>(p - fraction);
        count += out->decimals;
    }
    return p == end && count <= kMaxPower;
}

}  // namespace

Parsed parse_scaled(std::string_view text, int scale, int64_t* value) {
    text = trim(text);
    if (text.empty()) return Parsed::kEmpty;
    Plain plain;
    if (read_plain(text, &plain)) {
        const int shift = scale - plain.decimals;
        if (shift >= 0 && shift <= kMaxPower) {
            const Wide product = Wide{plain.digits} * kPowers[static_cast<size_t>(shift)];
            if (product > kMax) return Parsed::kOutOfRange;
            return store(plain.negative, static_cast<uint64_t>(product), true, value);
        }
    }
    return parse_slowly(text, scale, 1, value);
}

Parsed parse_times(std::string_view text, int64_t factor, int64_t* value) {
    text = trim(text);
    if (text.empty()) return Parsed::kEmpty;
    Plain plain;
    if (read_plain(text, &plain)) {
        const Wide product = Wide{plain.digits} * static_cast<uint64_t>(factor);
        const uint64_t unit = kPowers[static_cast<size_t>(plain.decimals)];
        Wide whole = product / unit;
        const auto rest = static_cast<uint64_t>(product % unit), other = unit - rest;
        if (rest > other || (rest == other && (whole & 1) != 0)) ++whole;
        if (whole > kMax) return Parsed::kOutOfRange;
        return store(plain.negative, static_cast<uint64_t>(whole), rest == 0, value);
    }
    return parse_slowly(text, 0, static_cast<uint64_t>(factor), value);
}

Parsed parse_integer(std::string_view text, int64_t* value) {
    return parse_scaled(text, 0, value);
}

Parsed parse_real(std::string_view text, double* value) {
    text = trim(text);
    if (text.empty()) return Parsed::kEmpty;
    // Where digits and power of ten are both exact as doubles, so is what one division makes of them.
    Plain plain;
    constexpr uint64_t kExact = uint64_t{1} << 53;
    if (read_plain(text, &plain) && plain.digits <= kExact) {
        const double number = static_cast<double>(plain.digits) /
                              static_cast<double>(kPowers[static_cast<size_t>(plain.decimals)]);
        *value = plain.negative ? -number : number;
        return Parsed::kExact;
    }
    const size_t sign = text.front() == '-' || text.front() == '+' ? 1 : 0;
    if (text.size() == sign || (!is_ascii_digit(text[sign]) && text[sign] != '.')) return Parsed::kNotANumber;
    if (text.front() == '+') text.remove_prefix(1);
    double result = 0;
    const auto [end, error] = fast_float::from_chars(text.data(), text.data() + text.size(), result);
    if (end != text.data() + text.size()) return Parsed::kNotANumber;
    if (std::isinf(result)) return Parsed::kOutOfRange;
    if (error != std::errc()) return Parsed::kNotANumber;
    *value = result;
    return Parsed::kExact;
}

}  // namespace profana
