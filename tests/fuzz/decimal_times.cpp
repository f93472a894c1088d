// Decimal text to integers: the same as long division on its digits says, for every scale and factor.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "ext/core/decimal.h"

using namespace profana;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

__extension__ using Wide = unsigned __int128;

// A number as its digits without leading zeros, times 10^exponent.
struct Number {
    bool negative = false;
    std::string digits;
    int64_t exponent = 0;
};

// sign? digits* (. digits*)? (e sign? digits+)?, with a digit before the exponent; far exponents are cut to
// what means the same.
std::optional<Number> read(std::string_view text) {
    Number number;
    size_t at = 0;
    const auto sign = [&] {
        return at < text.size() && (text[at] == '-' || text[at] == '+') ? text[at++] : '+';
    };
    const auto digit = [&] { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
    number.negative = sign() == '-';
    size_t digits = 0;
    for (; digit(); ++digits) number.digits += text[at++];
    if (at < text.size() && text[at] == '.')
        for (++at; digit(); ++digits, --number.exponent) number.digits += text[at++];
    if (digits == 0) return std::nullopt;
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        const bool down = sign() == '-';
        if (!digit()) return std::nullopt;
        int64_t exponent = 0;
        while (digit()) exponent = std::min<int64_t>(100000000, exponent * 10 + (text[at++] - '0'));
        number.exponent += down ? -exponent : exponent;
    }
    if (at != text.size()) return std::nullopt;
    number.digits.erase(0, std::min(number.digits.find_first_not_of('0'), number.digits.size()));
    return number;
}

struct Answer {
    Parsed how = Parsed::kNotANumber;
    int64_t value = 0;
};

// digits * 10^exponent rounded half-even, where digits may be a product already.
Answer rounded(Number number) {
    const int64_t whole_digits = static_cast<int64_t>(number.digits.size()) + number.exponent;
    if (number.digits.empty()) return {Parsed::kExact, 0};
    if (whole_digits > 19) return {Parsed::kOutOfRange};
    std::string whole = number.digits, rest;
    if (number.exponent >= 0) {
        whole.append(static_cast<size_t>(number.exponent), '0');
    } else if (whole_digits < 0) {
        rest = "0";  // below one tenth
        if (whole.find_first_not_of('0') != std::string::npos) rest += '1';
        whole.clear();
    } else {
        rest = whole.substr(static_cast<size_t>(whole_digits));
        whole.resize(static_cast<size_t>(whole_digits));
    }
    Wide value = 0;
    for (const char c : whole) value = value * 10 + static_cast<unsigned>(c - '0');
    while (!rest.empty() && rest.back() == '0') rest.pop_back();
    if (rest > "5" || (rest == "5" && value % 2 == 1)) ++value;
    if (value > INT64_MAX) return {Parsed::kOutOfRange};
    const auto magnitude = static_cast<int64_t>(value);
    return {rest.empty() ? Parsed::kExact : Parsed::kRounded, number.negative ? -magnitude : magnitude};
}

// The digits times a factor, as paper does it.
std::string times(const std::string& digits, uint64_t factor) {
    std::string out;
    Wide carry = 0;
    const auto put = [&] {
        out += static_cast<char>('0' + static_cast<int>(carry % 10));
        carry /= 10;
    };
    for (size_t i = digits.size(); i-- > 0; put())
        carry += Wide{factor} * static_cast<unsigned>(digits[i] - '0');
    while (carry > 0) put();
    std::reverse(out.begin(), out.end());
    out.erase(0, std::min(out.find_first_not_of('0'), out.size()));
    return out;
}

void check(Answer expected, Parsed how, int64_t value) {
    require(how == expected.how);
    if (how == Parsed::kExact || how == Parsed::kRounded) require(value == expected.value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0 || size > 300) return 0;
    // Without a terminator, so that a read behind the end is seen.
    const std::vector<char> bytes(data + 1, data + size);
    const std::string_view exact(bytes.data(), bytes.size()), bare = trim(exact);
    const auto number = read(bare);
    const int scale = data[0] % 13;
    int64_t value = 0;
    const Parsed how = parse_scaled(exact, scale, &value);
    if (bare.empty()) {
        require(how == Parsed::kEmpty);
        return 0;
    }
    if (!number) {
        require(how == Parsed::kNotANumber);
        require(parse_times(exact, 1024, &value) == Parsed::kNotANumber);
        require(parse_integer(exact, &value) == Parsed::kNotANumber);
        return 0;
    }
    Number scaled = *number;
    scaled.exponent += scale;
    check(rounded(scaled), how, value);
    constexpr int64_t kFactors[] = {1, 1000, 1024, 1048576, 1073741824};
    for (const int64_t factor : kFactors) {
        Number product = *number;
        product.digits = times(product.digits, static_cast<uint64_t>(factor));
        const Parsed read_as = parse_times(exact, factor, &value);
        check(rounded(product), read_as, value);
    }
    return 0;
}
