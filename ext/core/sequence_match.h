// Which items of two sequences belong together: by longest common blocks, or by a longest common subsequence.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ext/core/progress.h"

namespace profana {

// `length` items from `base` on in one sequence, from `comparison` on in the other.
struct MatchedBlock {
    int32_t base = 0;
    int32_t comparison = 0;
    int32_t length = 0;
    bool operator==(const MatchedBlock&) const = default;
};

// Items as numbers from 0 on; equal items have equal numbers.
using Items = std::vector<int32_t>;
constexpr size_t kMostItems = 1'000'000'000;  // of both sequences together

// The longest block of items that occurs in both sequences, of several the one that begins first in base,
// then the one that begins first in comparison; then the same for what lies before it in both and behind it
// in both. The rule of Python's difflib without its junk heuristic, in O(n log^2 n). Blocks come in order.
std::vector<MatchedBlock> match_blocks(const Items& base, const Items& comparison, Progress& progress);

// A longest common subsequence, in linear space; its time grows with the items times the differences. Where a
// stretch differs in more than kMostDifferences places it is cut at the point that got furthest, so that the
// time stays bounded; the matching is then still in order, but there may be a longer one.
constexpr int32_t kMostDifferences = 2048;
std::vector<MatchedBlock> match_subsequence(const Items& base, const Items& comparison, Progress& progress);

// Two JSON arrays of scalars, their items numbered together. Numbers are equal by value (1 and 1.0), texts
// byte by byte; a text, a number, a truth value and null are never equal. Throws Error naming the array by
// `base` or `comparison`.
struct ItemPair {
    Items base, comparison;
};
ItemPair items_from_json(std::string_view base, std::string_view comparison);

}  // namespace profana
