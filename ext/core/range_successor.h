// In any stretch of a fixed list of numbers: the smallest number that is not below a bound. Logarithmic time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace profana {

// A wavelet matrix: level by level, from the highest bit of the numbers to the lowest, the list is parted
// stably into the numbers with a 0 and those with a 1 at that bit. A stretch of the list stays a stretch in
// each part.
class RangeSuccessor {
  public:
    explicit RangeSuccessor(const std::vector<int32_t>& numbers);

    // The smallest number >= bound among numbers[first, last).
    std::optional<int32_t> find(int32_t first, int32_t last, int32_t bound) const;

  private:
    struct Word {
        uint64_t bits = 0;
        int32_t ones_before = 0;
    };
    struct Level {
        std::vector<Word> words;
        int32_t zeros = 0;
        int32_t ones_before(int32_t index) const {
            const Word& word = words[static_cast<size_t>(index) >> 6];
            return word.ones_before + __builtin_popcountll(word.bits & ((uint64_t{1} << (index & 63)) - 1));
        }
    };
    struct Stretch {
        int32_t first, last;
        bool empty() const { return first >= last; }
    };
    static Stretch part(const Level& level, Stretch stretch, bool ones) {
        const int32_t first = level.ones_before(stretch.first), last = level.ones_before(stretch.last);
        if (ones) return {level.zeros + first, level.zeros + last};
        return {stretch.first - first, stretch.last - last};
    }
    int32_t smallest(Stretch stretch, size_t level, int32_t number) const;

    std::vector<Level> levels_;  // highest bit first
};

}  // namespace profana
