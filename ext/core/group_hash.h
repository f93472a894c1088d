// How the collector abbreviates the name of a communicator: files name groups sometimes by the communicator
// (group_name_5, 10.0.0.11%enp189s0f0_60000_0_1736414082311975), sometimes by the decimal digits of a hash.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profana {

// The digits that stand for the communicator: two polynomial hashes of 32 bits side by side.
inline std::string group_hash(std::string_view communicator) {
    uint32_t high = 0, low = 0;
    for (const char c : communicator) {
        const auto byte = static_cast<unsigned char>(c);
        high = high * 29 + byte;
        low = low * 131 + byte;
    }
    return std::to_string(uint64_t{high} << 32 | low);
}

}  // namespace profana
