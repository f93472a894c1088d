// Two short lists of few names: the block matcher does what its rule says, the subsequence is a longest one.
#include "ext/core/sequence_match.h"

#include <algorithm>
#include <cstdlib>

using namespace profana;

namespace {

class NeverStops : public Progress {};

void require(bool condition) {
    if (!condition) std::abort();
}

// The longest common block by a look at every pair of positions, then left and right of it.
void literal_blocks(const Items& a, const Items& b, int32_t a0, int32_t a1, int32_t b0, int32_t b1,
                    std::vector<MatchedBlock>& blocks) {
    MatchedBlock best;
    for (int32_t i = a0; i < a1; ++i) {
        for (int32_t j = b0; j < b1; ++j) {
            int32_t k = 0;
            while (i + k < a1 && j + k < b1 && a[i + k] == b[j + k]) ++k;
            if (k > best.length) best = {i, j, k};
        }
    }
    if (best.length == 0) return;
    literal_blocks(a, b, a0, best.base, b0, best.comparison, blocks);
    blocks.push_back(best);
    literal_blocks(a, b, best.base + best.length, a1, best.comparison + best.length, b1, blocks);
}

int32_t longest_common_subsequence(const Items& a, const Items& b) {
    std::vector<int32_t> before(b.size() + 1, 0), row(b.size() + 1, 0);
    for (const int32_t item : a) {
        for (size_t j = 0; j < b.size(); ++j) {
            row[j + 1] = item == b[j] ? before[j] + 1 : std::max(row[j], before[j + 1]);
        }
        before = row;
    }
    return before.back();
}

}  // namespace

// The first byte says how many names there are, the second where the one list ends and the other begins.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 2 || size > 160) return 0;
    const int32_t names = 1 + data[0] % 8;
    Items a, b;
    for (size_t i = 2; i < size; ++i) (i - 2 < data[1] ? a : b).push_back(data[i] % names);

    NeverStops progress;
    std::vector<MatchedBlock> expected;
    literal_blocks(a, b, 0, static_cast<int32_t>(a.size()), 0, static_cast<int32_t>(b.size()), expected);
    require(match_blocks(a, b, progress) == expected);

    int32_t matched = 0, base = 0, comparison = 0;
    for (const MatchedBlock& block : match_subsequence(a, b, progress)) {
        require(block.length > 0 && block.base >= base && block.comparison >= comparison);
        base = block.base + block.length;
        comparison = block.comparison + block.length;
        require(std::equal(a.begin() + block.base, a.begin() + base, b.begin() + block.comparison));
        matched += block.length;
    }
    require(matched == longest_common_subsequence(a, b));
    return 0;
}
