// Decimal text to integers without floating point: times to nanoseconds, sizes to bytes.
#pragma once

#include <cstdint>
#include <string_view>

namespace profana {

// How a text was read. kNotANumber: nothing was stored.
enum class Parsed : uint8_t { kExact, kRounded, kEmpty, kNotANumber, kOutOfRange };

// value = text * 10^scale, rounded half-even where more decimals are given than the scale keeps.
// Accepts sign, digits, '.', exponent (1.69512E+15); surrounding blanks and tabs are ignored.
// "1736413971558972.912" with scale 3 is 1736413971558972912. kOutOfRange: beyond int64 (kNullInt included).
Parsed parse_scaled(std::string_view text, int scale, int64_t* value);

// The same times a factor instead of a power of ten: sizes in KiB and MiB. Rounded half-even.
Parsed parse_times(std::string_view text, int64_t factor, int64_t* value);

Parsed parse_integer(std::string_view text, int64_t* value);
Parsed parse_real(std::string_view text, double* value);  // inf and nan count as kNotANumber

inline bool is_trimmable(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// Without surrounding blanks, tabs and line ends.
inline std::string_view trim(std::string_view text) {
    while (!text.empty() && is_trimmable(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_trimmable(text.back())) text.remove_suffix(1);
    return text;
}

}  // namespace profana
