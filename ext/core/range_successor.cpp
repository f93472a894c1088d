#include "ext/core/range_successor.h"

#include <algorithm>

namespace profana {

RangeSuccessor::RangeSuccessor(const std::vector<int32_t>& numbers) {
    const int32_t largest = numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end());
    size_t bits = 1;
    while (bits < 31 && largest >> bits != 0) ++bits;
    levels_.resize(bits);

    std::vector<int32_t> list = numbers, zeros, ones;
    for (size_t depth = 0; depth < bits; ++depth) {
        Level& level = levels_[depth];
        level.words.resize(list.size() / 64 + 1);
        const size_t bit = bits - 1 - depth;
        zeros.clear();
        ones.clear();
        for (size_t i = 0; i < list.size(); ++i) {
            const bool one = (list[i] >> bit & 1) != 0;
            if (i % 64 == 0) level.words[i / 64].ones_before = static_cast<int32_t>(ones.size());
            level.words[i / 64].bits |= static_cast<uint64_t>(one) << (i % 64);
            (one ? ones : zeros).push_back(list[i]);
        }
        if (list.size() % 64 == 0) level.words.back().ones_before = static_cast<int32_t>(ones.size());
        level.zeros = static_cast<int32_t>(zeros.size());
        std::copy(zeros.begin(), zeros.end(), list.begin());
        std::copy(ones.begin(), ones.end(), list.begin() + level.zeros);
    }
}

std::optional<int32_t> RangeSuccessor::find(int32_t first, int32_t last, int32_t bound) const {
    if (first >= last) return std::nullopt;
    if (bound <= 0) return smallest({first, last}, 0, 0);
    if (bound >> levels_.size() != 0) return std::nullopt;

    // Follow the bits of the bound; where it has a 0, the numbers with a 1 there are larger. The last such
    // place that has any gives the answer, unless the bound itself is in the list.
    Stretch stretch{first, last}, larger{0, 0};
    size_t larger_level = 0;
    int32_t number = 0, larger_number = 0;
    for (size_t depth = 0; depth < levels_.size(); ++depth) {
        const int32_t bit = int32_t{1} << (levels_.size() - 1 - depth);
        const bool one = (bound & bit) != 0;
        if (!one) {
            const Stretch above = part(levels_[depth], stretch, true);
            if (!above.empty()) {
                larger = above;
                larger_level = depth + 1;
                larger_number = number | bit;
            }
        }
        stretch = part(levels_[depth], stretch, one);
        if (one) number |= bit;
        if (stretch.empty()) {
            if (larger.empty()) return std::nullopt;
            return smallest(larger, larger_level, larger_number);
        }
    }
    return bound;
}

int32_t RangeSuccessor::smallest(Stretch stretch, size_t level, int32_t number) const {
    for (; level < levels_.size(); ++level) {
        const Stretch zeros = part(levels_[level], stretch, false);
        if (!zeros.empty()) {
            stretch = zeros;
        } else {
            stretch = part(levels_[level], stretch, true);
            number |= int32_t{1} << (levels_.size() - 1 - level);
        }
    }
    return number;
}

}  // namespace profana
