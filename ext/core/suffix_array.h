// The sorted suffixes of a sequence of integers, and how far neighbours among them agree.
#pragma once

#include <cstdint>
#include <vector>

#include "ext/core/progress.h"

namespace profana {

// text holds numbers from 0 to alphabet - 1; its last one is 0 and occurs nowhere else. Element r of the
// result is where the r-th smallest suffix begins. Linear time.
std::vector<int32_t> suffix_array(const std::vector<int32_t>& text, int32_t alphabet, Progress& progress);

// Element r: how many items the suffixes of rank r - 1 and r have in common at their beginning; 0 for r = 0.
// rank is the inverse of suffixes.
std::vector<int32_t> common_prefixes(const std::vector<int32_t>& text, const std::vector<int32_t>& suffixes,
                                     const std::vector<int32_t>& rank, Progress& progress);

}  // namespace profana
