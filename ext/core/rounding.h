// Numbers as text and rounded, exactly as C's printf and Python do it.
#pragma once

#include <cstdint>
#include <string>

namespace profana {

// The double nearest to x rounded to `digits` decimals (negative: to tens, hundreds ...). The exact binary
// value decides, ties go to the even digit. Infinities and NaN stay what they are.
double round_even(double x, int64_t digits);
// An integer with digits >= 0 is itself. Throws Error where the result is beyond int64.
int64_t round_even(int64_t x, int64_t digits);

// "%.<digits>f" of the exact value. digits from 0 to kMaxFixedDigits.
constexpr int64_t kMaxFixedDigits = 1074;  // no double has more decimals
std::string fixed(double x, int64_t digits);

// The shortest text that reads back as x, as Python's repr writes it: 10.0, 0.0001, 1e-05, 1e+16, inf, nan.
std::string repr_real(double x);

// Nanoseconds as microseconds with three decimals: 1736413971558972.912.
std::string format_us(int64_t ns);

}  // namespace profana
