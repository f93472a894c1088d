// What is this path? From anything a user has in hand to the captures in it, one a rank.
#pragma once

#include <string>
#include <vector>

#include "vtab/capture.h"

namespace profana {

// The captures that path holds and options choose, by rank; at least one. Their paths are absolute, errors
// name `path` as it is. Two captures of one rank: the newer counts, with a diagnostic (code rank_twice).
// Throws an Error that lists what was looked for, or the ranks that are there.
std::vector<Capture> recognize(const std::string& path, const ProfileOptions& options, LoadContext& context);

// What it has told of the ranks at or below path: before it looks again, and when the profile is closed.
void forget_ranks(const std::string& path, Diagnostics& diagnostics);

}  // namespace profana
