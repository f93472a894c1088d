// Matching by longest common blocks, for all lengths in one sweep from the longest to the shortest.
//
// For one length, the positions at which the same `length` items begin form a class: a stretch of the suffix
// array in which all neighbours agree in that many items. As the length falls, classes only merge. The
// matching in its turn parts the two sequences into gaps, pairs of ranges still to be matched with each
// other; a gap holds a block of this length if some class has a position of both of its ranges.
//
// A gap that had no block of length + 1 can have one of this length only through a merge of two classes, or
// through a position too close to the end of its range before. So at each length two kinds of position are
// looked at: those in the smaller one of two classes that merge, and the last one of each range. Both are
// few: a position is in the smaller class at most log n times, and there are at most n / length gaps that are
// long enough, which is n log n over all lengths.
#include <algorithm>
#include <optional>
#include <queue>

#include "ext/core/radix_sort.h"
#include "ext/core/range_successor.h"
#include "ext/core/sequence_match.h"
#include "ext/core/suffix_array.h"

namespace profana {

namespace {

// A range of base and one of comparison that are to be matched with each other, as positions in the joint
// text.
struct Gap {
    int32_t base_first, base_last;  // [first, last)
    int32_t comparison_first, comparison_last;
    int32_t shorter() const { return std::min(base_last - base_first, comparison_last - comparison_first); }
    int32_t size() const { return base_last - base_first + comparison_last - comparison_first; }
};

// The classes of equal beginnings: stretches of ranks, merged when their neighbours agree.
class Classes {
  public:
    explicit Classes(size_t ranks) : parent_(ranks), last_(ranks) {
        for (size_t r = 0; r < ranks; ++r) parent_[r] = last_[r] = static_cast<int32_t>(r);
    }
    // The class of a rank is named by the lowest rank in it.
    int32_t find(int32_t rank) {
        int32_t root = rank;
        while (parent_[root] != root) root = parent_[root];
        while (parent_[rank] != root) rank = std::exchange(parent_[rank], root);
        return root;
    }
    int32_t last(int32_t name) const { return last_[name]; }
    void merge(int32_t lower, int32_t upper) {
        parent_[upper] = lower;
        last_[lower] = last_[upper];
    }

  private:
    std::vector<int32_t> parent_, last_;
};

class BlockMatcher {
  public:
    BlockMatcher(const Items& base, const Items& comparison, Progress& progress)
        : base_size_(static_cast<int32_t>(base.size())),
          comparison_at_(base_size_ + 1),
          progress_(progress),
          text_(joint_text(base, comparison)),
          suffixes_(suffix_array(text_, alphabet_, progress)),
          rank_(inverse(suffixes_)),
          common_(common_prefixes(text_, suffixes_, rank_, progress)),
          classes_(suffixes_.size()),
          gap_of_(suffixes_.size(), 0) {
        count_base_positions();
        gaps_.push_back(
            {0, base_size_, comparison_at_, comparison_at_ + static_cast<int32_t>(comparison.size())});
    }

    std::vector<MatchedBlock> match() {
        const int32_t longest = longest_block();
        sort_merges(longest);
        waiting_.resize(static_cast<size_t>(longest) + 1);
        if (longest > 0) waiting_[longest].push_back(0);
        for (length_ = longest; length_ > 0; --length_) {
            merge_classes();
            look_at_ends();
            find_blocks();
        }
        radix_sort(blocks_, [](const MatchedBlock& block) { return int64_t{block.base}; });
        return std::move(blocks_);
    }

  private:
    // A block that a gap may take: its place in base, and the class that has it.
    struct Candidate {
        int32_t gap, base, name;
        bool operator<(const Candidate& other) const {
            return gap != other.gap ? gap < other.gap : base < other.base;
        }
        bool operator==(const Candidate&) const = default;
    };
    static constexpr int32_t kShort = 64;  // stretches up to this are looked through one by one

    // base, a separator, comparison, an end; separator and end are items that occur once.
    std::vector<int32_t> joint_text(const Items& base, const Items& comparison) {
        std::vector<int32_t> text;
        text.reserve(base.size() + comparison.size() + 2);
        for (const int32_t item : base) text.push_back(item + 2);
        text.push_back(1);
        for (const int32_t item : comparison) text.push_back(item + 2);
        text.push_back(0);
        alphabet_ = *std::max_element(text.begin(), text.end()) + 1;
        return text;
    }

    static std::vector<int32_t> inverse(const std::vector<int32_t>& suffixes) {
        std::vector<int32_t> rank(suffixes.size());
        for (size_t r = 0; r < suffixes.size(); ++r) rank[suffixes[r]] = static_cast<int32_t>(r);
        return rank;
    }

    bool in_base(int32_t position) const { return position < base_size_; }

    void count_base_positions() {
        base_before_.resize(suffixes_.size() + 1, 0);
        for (size_t r = 0; r < suffixes_.size(); ++r) {
            base_before_[r + 1] = base_before_[r] + (in_base(suffixes_[r]) ? 1 : 0);
        }
    }

    // Of two suffixes of the two sides, neighbours agree best.
    int32_t longest_block() const {
        int32_t longest = 0;
        for (size_t r = 1; r < suffixes_.size(); ++r) {
            if (in_base(suffixes_[r - 1]) != in_base(suffixes_[r])) longest = std::max(longest, common_[r]);
        }
        return longest;
    }

    // Ranks by falling agreement with the rank before; what agrees in more than `longest` counts as that.
    void sort_merges(int32_t longest) {
        std::vector<int32_t> place(static_cast<size_t>(longest) + 2, 0);
        const auto key = [&](size_t r) { return longest - std::min(common_[r], longest); };
        for (size_t r = 1; r < suffixes_.size(); ++r) ++place[key(r) + 1];
        for (size_t k = 1; k < place.size(); ++k) place[k] += place[k - 1];
        merges_.resize(suffixes_.size() - 1);
        for (size_t r = 1; r < suffixes_.size(); ++r) merges_[place[key(r)]++] = static_cast<int32_t>(r);
        common_limit_ = longest;
    }

    // Merges the classes whose neighbours agree in just length_ items, and looks at the positions of the
    // smaller.
    void merge_classes() {
        for (; next_merge_ < merges_.size(); ++next_merge_) {
            const int32_t rank = merges_[next_merge_];
            if (std::min(common_[rank], common_limit_) < length_) break;
            const int32_t lower = classes_.find(rank - 1), upper = classes_.find(rank);
            const int32_t end = classes_.last(upper) + 1;
            const bool meet = both_sides(lower, upper, end);
            classes_.merge(lower, upper);
            if (!meet) continue;
            const bool lower_is_smaller = upper - lower < end - upper;
            const int32_t first = lower_is_smaller ? lower : upper, last = lower_is_smaller ? upper : end;
            for (int32_t r = first; r < last; ++r) touched_.push_back(suffixes_[r]);
            poll();
        }
    }

    // Has one of the classes [lower, upper) and [upper, end) a position in base and the other in comparison?
    bool both_sides(int32_t lower, int32_t upper, int32_t end) const {
        const int32_t lower_base = base_before_[upper] - base_before_[lower];
        const int32_t upper_base = base_before_[end] - base_before_[upper];
        return (lower_base > 0 && upper_base < end - upper) || (upper_base > 0 && lower_base < upper - lower);
    }

    // The last positions of each gap's ranges at which a block of length_ fits.
    void look_at_ends() {
        for (const int32_t gap : waiting_[length_]) open_gaps_.push_back(gap);
        waiting_[length_] = {};
        size_t kept = 0;
        for (const int32_t gap : open_gaps_) {
            const Gap& g = gaps_[gap];
            if (g.shorter() < length_) {
                put_aside(gap);
                continue;
            }
            open_gaps_[kept++] = gap;
            touched_.push_back(g.base_last - length_);
            touched_.push_back(g.comparison_last - length_);
        }
        open_gaps_.resize(kept);
        poll();
    }

    // Until the length has fallen to the shorter range of the gap.
    void put_aside(int32_t gap) {
        const int32_t shorter = gaps_[gap].shorter();
        if (shorter > 0) waiting_[std::min(shorter, length_ - 1)].push_back(gap);
    }

    void find_blocks() {
        candidates_.clear();
        for (const int32_t position : touched_) {
            poll();
            const int32_t gap = gap_of_[position];
            const Gap& g = gaps_[gap];
            const bool of_base = in_base(position);
            const int32_t first = of_base ? g.base_first : g.comparison_first;
            const int32_t last = of_base ? g.base_last : g.comparison_last;
            // The position may be matched already, or too near to the end.
            if (position < first || position > last - length_ || g.shorter() < length_) continue;
            const int32_t name = classes_.find(rank_[position]);
            // The touched side has a position; so the other one decides.
            if (of_base && !first_in_comparison(name, g)) continue;
            if (const auto base = first_in_base(name, g)) candidates_.push_back({gap, *base, name});
        }
        touched_.clear();
        std::sort(candidates_.begin(), candidates_.end());
        candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
        for (size_t i = 0; i < candidates_.size();) {
            size_t end = i + 1;
            while (end < candidates_.size() && candidates_[end].gap == candidates_[i].gap) ++end;
            fill_gap(candidates_[i].gap, i, end);
            i = end;
        }
    }

    // Takes all blocks of length_ in a gap, from the first in base on. Before a block nothing of this length
    // is left, or it would have been first; what lies behind it is looked at anew.
    void fill_gap(int32_t gap, size_t first, size_t last) {
        const auto later = [](const Candidate& a, const Candidate& b) { return a.base > b.base; };
        std::priority_queue<Candidate, std::vector<Candidate>, decltype(later)> queue(
            later, {candidates_.begin() + first, candidates_.begin() + last});
        Gap rest = gaps_[gap];
        parts_.clear();
        while (!queue.empty() && rest.shorter() >= length_) {
            Candidate next = queue.top();
            queue.pop();
            if (next.base >= rest.base_first) {
                const auto comparison = first_in_comparison(next.name, rest);
                if (!comparison) continue;
                blocks_.push_back({next.base, *comparison - comparison_at_, length_});
                parts_.push_back({rest.base_first, next.base, rest.comparison_first, *comparison});
                rest.base_first = next.base + length_;
                rest.comparison_first = *comparison + length_;
            }
            if (const auto base = first_in_base(next.name, rest)) {
                next.base = *base;
                queue.push(next);
            }
        }
        parts_.push_back(rest);
        replace_gap(gap);
    }

    // The largest part keeps the number of the gap, so that a position changes its gap at most log n times.
    void replace_gap(int32_t gap) {
        const auto largest = std::max_element(parts_.begin(), parts_.end(),
                                              [](const Gap& a, const Gap& b) { return a.size() < b.size(); });
        gaps_[gap] = *largest;
        for (auto part = parts_.begin(); part != parts_.end(); ++part) {
            if (part == largest || part->shorter() == 0) continue;
            const auto name = static_cast<int32_t>(gaps_.size());
            gaps_.push_back(*part);
            std::fill(gap_of_.begin() + part->base_first, gap_of_.begin() + part->base_last, name);
            std::fill(gap_of_.begin() + part->comparison_first, gap_of_.begin() + part->comparison_last,
                      name);
            put_aside(name);
        }
    }

    std::optional<int32_t> first_in_base(int32_t name, const Gap& gap) {
        return first_position(name, gap.base_first, gap.base_last - length_);
    }
    std::optional<int32_t> first_in_comparison(int32_t name, const Gap& gap) {
        return first_position(name, gap.comparison_first, gap.comparison_last - length_);
    }

    // The first position of a class in [first, last].
    std::optional<int32_t> first_position(int32_t name, int32_t first, int32_t last) {
        const int32_t name_last = classes_.last(name);
        if (name_last - name < kShort) {
            int32_t found = last + 1;
            for (int32_t r = name; r <= name_last; ++r) {
                if (suffixes_[r] >= first && suffixes_[r] < found) found = suffixes_[r];
            }
            return found <= last ? std::optional(found) : std::nullopt;
        }
        const int32_t near = std::min(last, first + kShort - 1);
        for (int32_t position = first; position <= near; ++position) {
            if (rank_[position] >= name && rank_[position] <= name_last) return position;
        }
        if (near == last) return std::nullopt;
        if (!successors_) successors_.emplace(suffixes_);
        const auto found = successors_->find(name, name_last + 1, near + 1);
        return found && *found <= last ? found : std::nullopt;
    }

    void poll() {
        if ((++polls_ & 0xfff) == 0) progress_.poll();
    }

    const int32_t base_size_;
    const int32_t comparison_at_;  // where comparison begins in the joint text
    Progress& progress_;
    int32_t alphabet_ = 0;
    const std::vector<int32_t> text_, suffixes_, rank_, common_;
    std::vector<int32_t> base_before_;  // how many of the suffixes of lower rank begin in base
    std::optional<RangeSuccessor> successors_;
    Classes classes_;
    std::vector<int32_t> merges_;
    size_t next_merge_ = 0;
    int32_t common_limit_ = 0;
    int32_t length_ = 0;

    std::vector<Gap> gaps_;
    std::vector<int32_t> gap_of_;                // by position; outdated where the position is matched
    std::vector<int32_t> open_gaps_;             // both ranges have length_ items
    std::vector<std::vector<int32_t>> waiting_;  // gaps by the length at which they open
    std::vector<int32_t> touched_;               // positions that may have a block of length_
    std::vector<Candidate> candidates_;
    std::vector<Gap> parts_;  // of the gap that is being filled
    std::vector<MatchedBlock> blocks_;
    uint64_t polls_ = 0;
};

}  // namespace

std::vector<MatchedBlock> match_blocks(const Items& base, const Items& comparison, Progress& progress) {
    if (base.empty() || comparison.empty()) return {};
    return BlockMatcher(base, comparison, progress).match();
}

}  // namespace profana
