// Matching by a longest common subsequence: Myers' search from both ends, in linear space (An O(ND)
// difference algorithm and its variations, 1986).
#include <algorithm>

#include "ext/core/sequence_match.h"

namespace profana {

namespace {

class SubsequenceMatcher {
  public:
    SubsequenceMatcher(const Items& base, const Items& comparison, Progress& progress)
        : base_(base),
          comparison_(comparison),
          progress_(progress),
          forward_(base.size() + comparison.size() + 3),
          backward_(forward_.size()) {}

    // Pairs of positions, in order.
    std::vector<MatchedBlock> match() {
        boxes_.push_back({0, size(base_), 0, size(comparison_)});
        while (!boxes_.empty()) {
            Box box = boxes_.back();
            boxes_.pop_back();
            trim(box);
            if (box.base_first == box.base_last || box.comparison_first == box.comparison_last) continue;
            const Point cut = find_cut(box);
            boxes_.push_back({cut.base, box.base_last, cut.comparison, box.comparison_last});
            boxes_.push_back({box.base_first, cut.base, box.comparison_first, cut.comparison});
        }
        std::sort(blocks_.begin(), blocks_.end(),
                  [](const MatchedBlock& a, const MatchedBlock& b) { return a.base < b.base; });
        return std::move(blocks_);
    }

  private:
    struct Box {
        int32_t base_first, base_last;  // [first, last)
        int32_t comparison_first, comparison_last;
    };
    struct Point {
        int32_t base, comparison;
    };

    static int32_t size(const Items& items) { return static_cast<int32_t>(items.size()); }

    // Matches what is equal at both ends of a box.
    void trim(Box& box) {
        const int32_t base = box.base_first, comparison = box.comparison_first;
        while (box.base_first < box.base_last && box.comparison_first < box.comparison_last &&
               base_[box.base_first] == comparison_[box.comparison_first]) {
            ++box.base_first;
            ++box.comparison_first;
        }
        add(base, comparison, box.base_first - base);
        const int32_t last = box.base_last;
        while (box.base_first < box.base_last && box.comparison_first < box.comparison_last &&
               base_[box.base_last - 1] == comparison_[box.comparison_last - 1]) {
            --box.base_last;
            --box.comparison_last;
        }
        add(box.base_last, box.comparison_last, last - box.base_last);
    }

    void add(int32_t base, int32_t comparison, int32_t length) {
        if (length > 0) blocks_.push_back({base, comparison, length});
    }

    // A point of a best path through the box, or of a good one where the differences are too many. Diagonal d
    // holds the points with base - comparison = d; forward_ and backward_ keep how far in base the paths with
    // so many differences come on each. The box is trimmed, so that the point is no corner of it.
    Point find_cut(const Box& box) {
        const int32_t lowest = box.base_first - box.comparison_last,
                      highest = box.base_last - box.comparison_first;
        const int32_t start = box.base_first - box.comparison_first,
                      goal = box.base_last - box.comparison_last;
        const bool odd = (start - goal) % 2 != 0;
        Band ahead{start, start, lowest, highest}, behind{goal, goal, lowest, highest};
        at(forward_, start) = box.base_first;
        at(backward_, goal) = box.base_last;
        for (int32_t differences = 1;; ++differences) {
            progress_.poll();
            widen(ahead, forward_, kBefore);
            for (int32_t d = ahead.high; d >= ahead.low; d -= 2) {
                const int32_t base = follow_forward(box, d);
                if (odd && behind.low <= d && d <= behind.high && at(backward_, d) <= base)
                    return {base, base - d};
            }
            widen(behind, backward_, kBeyond);
            for (int32_t d = behind.high; d >= behind.low; d -= 2) {
                const int32_t base = follow_backward(box, d);
                if (!odd && ahead.low <= d && d <= ahead.high && base <= at(forward_, d))
                    return {base, base - d};
            }
            if (differences >= kMostDifferences / 2) return furthest(box, ahead, behind);
        }
    }

    static constexpr int32_t kBefore = -1, kBeyond = INT32_MAX;

    // The diagonals that paths with so many differences end on; every other one of them.
    struct Band {
        int32_t low, high;
        int32_t lowest, highest;  // of the box
    };

    // One difference more reaches one diagonal further on each side. Next to the band stands what no path
    // reaches.
    void widen(Band& band, std::vector<int32_t>& reach, int32_t unreached) {
        if (band.low > band.lowest) {
            at(reach, --band.low - 1) = unreached;
        } else {
            ++band.low;
        }
        if (band.high < band.highest) {
            at(reach, ++band.high + 1) = unreached;
        } else {
            --band.high;
        }
    }

    int32_t& at(std::vector<int32_t>& reach, int32_t diagonal) {
        return reach[static_cast<size_t>(diagonal + size(comparison_) + 1)];
    }

    int32_t follow_forward(const Box& box, int32_t d) {
        int32_t base = std::max(at(forward_, d - 1) + 1, at(forward_, d + 1));
        int32_t comparison = base - d;
        while (base < box.base_last && comparison < box.comparison_last &&
               base_[base] == comparison_[comparison]) {
            ++base;
            ++comparison;
        }
        return at(forward_, d) = base;
    }

    int32_t follow_backward(const Box& box, int32_t d) {
        int32_t base = std::min(at(backward_, d - 1), at(backward_, d + 1) - 1);
        int32_t comparison = base - d;
        while (base > box.base_first && comparison > box.comparison_first &&
               base_[base - 1] == comparison_[comparison - 1]) {
            --base;
            --comparison;
        }
        return at(backward_, d) = base;
    }

    // The point that either search got furthest to.
    Point furthest(const Box& box, const Band& ahead, const Band& behind) {
        Point best{box.base_first, box.comparison_first};
        int32_t most = 0;
        for (int32_t d = ahead.high; d >= ahead.low; d -= 2) {
            const int32_t base = std::min(at(forward_, d), box.base_last);
            const int32_t comparison = std::min(base - d, box.comparison_last);
            const int32_t gone = base - box.base_first + comparison - box.comparison_first;
            if (gone > most) {
                most = gone;
                best = {comparison + d, comparison};
            }
        }
        for (int32_t d = behind.high; d >= behind.low; d -= 2) {
            const int32_t base = std::max(at(backward_, d), box.base_first);
            const int32_t comparison = std::max(base - d, box.comparison_first);
            const int32_t gone = box.base_last - base + box.comparison_last - comparison;
            if (gone > most) {
                most = gone;
                best = {comparison + d, comparison};
            }
        }
        return best;
    }

    const Items& base_;
    const Items& comparison_;
    Progress& progress_;
    std::vector<int32_t> forward_, backward_;
    std::vector<Box> boxes_;
    std::vector<MatchedBlock> blocks_;
};

// Positions of the items that occur on the other side too; all others are in no common subsequence.
std::vector<int32_t> shared_positions(const Items& items, const std::vector<bool>& on_other_side) {
    std::vector<int32_t> positions;
    for (size_t i = 0; i < items.size(); ++i) {
        if (on_other_side[static_cast<size_t>(items[i])]) positions.push_back(static_cast<int32_t>(i));
    }
    return positions;
}

Items pick(const Items& items, const std::vector<int32_t>& positions) {
    Items picked;
    picked.reserve(positions.size());
    for (const int32_t position : positions) picked.push_back(items[static_cast<size_t>(position)]);
    return picked;
}

}  // namespace

std::vector<MatchedBlock> match_subsequence(const Items& base, const Items& comparison, Progress& progress) {
    if (base.empty() || comparison.empty()) return {};
    const size_t names =
        1 + static_cast<size_t>(std::max(*std::max_element(base.begin(), base.end()),
                                         *std::max_element(comparison.begin(), comparison.end())));
    std::vector<bool> in_base(names), in_comparison(names);
    for (const int32_t item : base) in_base[static_cast<size_t>(item)] = true;
    for (const int32_t item : comparison) in_comparison[static_cast<size_t>(item)] = true;
    const std::vector<int32_t> base_at = shared_positions(base, in_comparison);
    const std::vector<int32_t> comparison_at = shared_positions(comparison, in_base);

    const Items shared_base = pick(base, base_at), shared_comparison = pick(comparison, comparison_at);
    std::vector<MatchedBlock> blocks;
    for (const MatchedBlock& block : SubsequenceMatcher(shared_base, shared_comparison, progress).match()) {
        for (int32_t i = 0; i < block.length; ++i) {
            const int32_t b = base_at[static_cast<size_t>(block.base + i)];
            const int32_t c = comparison_at[static_cast<size_t>(block.comparison + i)];
            const bool follows = !blocks.empty() && blocks.back().base + blocks.back().length == b &&
                                 blocks.back().comparison + blocks.back().length == c;
            if (follows) {
                ++blocks.back().length;
            } else {
                blocks.push_back({b, c, 1});
            }
        }
    }
    return blocks;
}

}  // namespace profana
