// Decimal text to integers: expected values are worked out by hand or by a second, naive method.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "ext/core/decimal.h"

using namespace profana;

namespace {

struct Read {
    Parsed how;
    int64_t value = -77;
    bool operator==(const Read&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Read& r) {
    return out << "{" << static_cast<int>(r.how) << ", " << r.value << "}";
}

Read scaled(std::string_view text, int scale) {
    Read r{Parsed::kExact};
    r.how = parse_scaled(text, scale, &r.value);
    return r;
}
Read times(std::string_view text, int64_t factor) {
    Read r{Parsed::kExact};
    r.how = parse_times(text, factor, &r.value);
    return r;
}
Read exact(int64_t value) {
    return {Parsed::kExact, value};
}
Read rounded(int64_t value) {
    return {Parsed::kRounded, value};
}
constexpr int64_t kUntouched = -77;
const Read kNoNumber{Parsed::kNotANumber, kUntouched}, kTooFar{Parsed::kOutOfRange, kUntouched};

__extension__ using Wide = __int128;

// digits * factor / 10^decimals rounded half-even, in 128 bits.
Read naive(Wide digits, int decimals, int64_t factor) {
    const bool negative = digits < 0;
    Wide product = (negative ? -digits : digits) * factor, unit = 1;
    for (int i = 0; i < decimals; ++i) unit *= 10;
    Wide whole = product / unit, rest = product % unit;
    if (2 * rest > unit || (2 * rest == unit && whole % 2 == 1)) ++whole;
    if (whole > INT64_MAX) return kTooFar;
    const auto value = static_cast<int64_t>(negative ? -whole : whole);
    return rest == 0 ? exact(value) : rounded(value);
}

}  // namespace

TEST_CASE("microseconds become nanoseconds digit by digit", "[decimal]") {
    CHECK(scaled("1736413971558972.912", 3) == exact(1736413971558972912));
    CHECK(scaled("1736413971558972.912\t", 3) == exact(1736413971558972912));
    CHECK(scaled(" \t1736412474730135.222 \r\n", 3) == exact(1736412474730135222));
    CHECK(scaled("1736412474730135", 3) == exact(1736412474730135000));
    CHECK(scaled("1736412474730135.", 3) == exact(1736412474730135000));
    CHECK(scaled("12.5", 3) == exact(12500));
    CHECK(scaled(".5", 3) == exact(500));
    CHECK(scaled("-0.001", 3) == exact(-1));
    CHECK(scaled("+7", 3) == exact(7000));
    CHECK(scaled("0", 3) == exact(0));
    CHECK(scaled("-0", 3) == exact(0));
    CHECK(scaled("1797.220000", 3) == exact(1797220));
    CHECK(scaled("8868.240000000003", 3) == rounded(8868240));
    CHECK(scaled("1.69512E+15", 3) == exact(1695120000000000000));
    CHECK(scaled("1.69512e15", 3) == exact(1695120000000000000));
    CHECK(scaled("12345e-3", 3) == exact(12345));
}

TEST_CASE("halves go to the even neighbour", "[decimal]") {
    CHECK(scaled("0.0005", 3) == rounded(0));
    CHECK(scaled("0.0015", 3) == rounded(2));
    CHECK(scaled("0.0025", 3) == rounded(2));
    CHECK(scaled("0.00250000000000000000000000000000001", 3) == rounded(3));
    CHECK(scaled("0.00249999999999999999999999999999999", 3) == rounded(2));
    CHECK(scaled("-0.0015", 3) == rounded(-2));
    CHECK(scaled("0.9995", 3) == rounded(1000));
    CHECK(scaled("0.5", 0) == rounded(0));
    CHECK(scaled("1.5", 0) == rounded(2));
    CHECK(scaled("5e-4", 3) == rounded(0));
    CHECK(scaled("1e-400", 3) == rounded(0));
    CHECK(scaled("1e-999999999999999999999", 3) == rounded(0));
    CHECK(scaled("15", -1) == rounded(2));
    CHECK(scaled("25", -1) == rounded(2));
    CHECK(scaled("5", -1) == rounded(0));
    CHECK(scaled("6", -1) == rounded(1));
    CHECK(scaled("6", -2) == rounded(0));
}

TEST_CASE("what int64 cannot hold is out of range", "[decimal]") {
    CHECK(scaled("9223372036854775807", 0) == exact(INT64_MAX));
    CHECK(scaled("-9223372036854775807", 0) == exact(-INT64_MAX));
    CHECK(scaled("9223372036854775808", 0) == kTooFar);
    CHECK(scaled("-9223372036854775808", 0) == kTooFar);  // the value that stands for NULL
    CHECK(scaled("18446744073709551615", 0) == kTooFar);
    CHECK(scaled("18446744073709551617", 0) == kTooFar);
    CHECK(scaled("9223372036854775.807", 3) == exact(INT64_MAX));
    CHECK(scaled("9223372036854775.808", 3) == kTooFar);
    CHECK(scaled("9223372036854775.8074", 3) == rounded(INT64_MAX));
    CHECK(scaled("9223372036854775.8075", 3) == kTooFar);
    CHECK(scaled("1e19", 0) == kTooFar);
    CHECK(scaled("1e999999999999999999999", 3) == kTooFar);
    CHECK(scaled("0e999999999999999999999", 3) == exact(0));
    CHECK(scaled("00000000000000000000000000000000000012", 0) == exact(12));
    CHECK(scaled("100000000000000000000000000000000000000000", 0) == kTooFar);
    CHECK(scaled("9223372036854775807", 1) == kTooFar);
}

TEST_CASE("what is no number stores nothing", "[decimal]") {
    for (const char* text :
         {"N/A", "-",  "+",   ".",   "-.",  "1.2.3", "12a",      "a12",   "0x10", "1e",
          "1e+", "e5", "--1", "1 2", "nan", "inf",   "Infinity", "1,000", "1e5x", "\"1\""}) {
        INFO(text);
        CHECK(scaled(text, 3) == kNoNumber);
        CHECK(times(text, 1024) == kNoNumber);
    }
    for (const char* text : {"", " ", "\t", " \r\n"}) {
        CHECK(scaled(text, 3) == Read{Parsed::kEmpty, kUntouched});
        CHECK(times(text, 1024) == Read{Parsed::kEmpty, kUntouched});
    }
}

TEST_CASE("sizes times a factor", "[decimal]") {
    CHECK(times("192", 1024) == exact(196608));
    CHECK(times("192.0", 1024) == exact(196608));
    CHECK(times("242.0", 1048576) == exact(253755392));
    CHECK(times("0.5", 1024) == exact(512));
    CHECK(times("-0.5", 1024) == exact(-512));
    CHECK(times("0.0009765625", 1024) == exact(1));
    CHECK(times("0.00048828125", 1024) == rounded(0));  // exactly half a byte
    CHECK(times("0.00146484375", 1024) == rounded(2));  // one and a half
    CHECK(times("1e3", 1024) == exact(1024000));
    CHECK(times("9007199254740991.9990234375", 1024) == exact(INT64_MAX));
    CHECK(times("9007199254740992", 1024) == kTooFar);
    CHECK(times("1234.5678901234567890123456789", 1048576) == rounded(1294538260));  // 1294538259.9...
}

TEST_CASE("random numbers agree with plain 128-bit arithmetic", "[decimal]") {
    std::mt19937_64 random(7);
    for (int round = 0; round < 20000; ++round) {
        const int length = 1 + static_cast<int>(random() % 20),
                  decimals = static_cast<int>(random() % (length + 1));
        std::string digits;
        for (int i = 0; i < length; ++i)
            digits += static_cast<char>('0' + (random() % 3 ? random() % 10 : 5));
        Wide number = 0;
        for (char c : digits) number = number * 10 + (c - '0');
        const bool negative = random() % 2 != 0;
        if (negative) number = -number;
        const size_t point = digits.size() - static_cast<size_t>(decimals);
        const std::string text =
            std::string(negative ? "-" : "").append(digits, 0, point).append(".").append(digits, point);
        const std::vector<std::string> spellings = {text, text + "e0", text + "0000000000000000000000"};
        for (const std::string& spelling : spellings) {
            INFO(spelling);
            CHECK(scaled(spelling, 3) == naive(number, decimals, 1000));
            CHECK(scaled(spelling, 0) == naive(number, decimals, 1));
            CHECK(times(spelling, 1024) == naive(number, decimals, 1024));
            CHECK(times(spelling, 1048576) == naive(number, decimals, 1048576));
        }
    }
}

TEST_CASE("reals", "[decimal]") {
    double value = -77;
    CHECK(parse_real("0.1", &value) == Parsed::kExact);
    CHECK(value == 0.1);
    CHECK(parse_real(" +1e3\t", &value) == Parsed::kExact);
    CHECK(value == 1000.0);
    CHECK(parse_real("-.5", &value) == Parsed::kExact);
    CHECK(value == -0.5);
    value = -77;
    for (const char* text : {"nan", "inf", "-inf", "infinity", "1.0x", "-", "+", ".", "N/A", "+-1", "-+1"}) {
        INFO(text);
        CHECK(parse_real(text, &value) == Parsed::kNotANumber);
    }
    CHECK(parse_real("", &value) == Parsed::kEmpty);
    CHECK(parse_real("1e999", &value) == Parsed::kOutOfRange);
    CHECK(value == -77);
}

TEST_CASE("trim takes blanks, tabs and line ends", "[decimal]") {
    CHECK(trim(" \t a b\r\n") == "a b");
    CHECK(trim("") == "");
    CHECK(trim(" \t") == "");
}
