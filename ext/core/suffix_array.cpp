// Suffix sorting by induction (Nong, Zhang and Chan: Linear suffix array construction by almost pure induced
// sorting, 2009).
//
// A suffix is rising if it is smaller than the next one, else falling. The rising suffixes behind a falling
// one are the seeds: once their order is known, one scan forwards places all falling suffixes and one scan
// backwards all rising ones. The order of the seeds comes from sorting the pieces between them in the same
// way, and where pieces are equal from the suffix array of the sequence of pieces, which is at most half as
// long.
#include "ext/core/suffix_array.h"

#include <algorithm>

namespace profana {

namespace {

class Sorter {
  public:
    Sorter(const std::vector<int32_t>& text, int32_t alphabet, Progress& progress)
        : text_(text), size_(static_cast<int32_t>(text.size())), alphabet_(alphabet), progress_(progress) {}

    std::vector<int32_t> sort() {
        suffixes_.assign(text_.size(), kNone);
        if (size_ == 1) return {0};
        find_kinds();
        induce(seeds_);
        order_seeds();
        induce(seeds_);
        return std::move(suffixes_);
    }

  private:
    static constexpr int32_t kNone = -1;

    void poll(int32_t at) {
        if ((at & 0xffff) == 0) progress_.poll();
    }

    bool is_seed(int32_t at) const { return at > 0 && rising_[at] && !rising_[at - 1]; }

    void find_kinds() {
        rising_.assign(text_.size(), 1);
        for (int32_t i = size_ - 2; i >= 0; --i) {
            rising_[i] = text_[i] != text_[i + 1] ? text_[i] < text_[i + 1] : rising_[i + 1];
        }
        for (int32_t i = 1; i < size_; ++i) {
            if (is_seed(i)) seeds_.push_back(i);
        }
        bucket_ends_.assign(alphabet_, 0);
        for (const int32_t item : text_) ++bucket_ends_[item];
        int32_t sum = 0;
        for (int32_t& end : bucket_ends_) end = sum += end;
    }

    // Places all suffixes, given the seeds in their order.
    void induce(const std::vector<int32_t>& seeds) {
        std::fill(suffixes_.begin(), suffixes_.end(), kNone);
        std::vector<int32_t> place = bucket_ends_;
        for (auto seed = seeds.rbegin(); seed != seeds.rend(); ++seed)
            suffixes_[--place[text_[*seed]]] = *seed;

        // Falling suffixes fill their bucket from its beginning, which is where the bucket before it ends.
        place[0] = 0;
        std::copy(bucket_ends_.begin(), bucket_ends_.end() - 1, place.begin() + 1);
        for (int32_t r = 0; r < size_; ++r) {
            poll(r);
            const int32_t before = suffixes_[r] - 1;
            if (suffixes_[r] > 0 && !rising_[before]) suffixes_[place[text_[before]]++] = before;
        }
        place = bucket_ends_;
        for (int32_t r = size_ - 1; r >= 0; --r) {
            poll(r);
            const int32_t before = suffixes_[r] - 1;
            if (suffixes_[r] > 0 && rising_[before]) suffixes_[--place[text_[before]]] = before;
        }
    }

    // The suffixes are sorted by the piece that begins them; brings the seeds into their true order.
    void order_seeds() {
        std::vector<int32_t> sorted;
        sorted.reserve(seeds_.size());
        for (const int32_t suffix : suffixes_) {
            if (is_seed(suffix)) sorted.push_back(suffix);
        }
        std::vector<int32_t> names(text_.size(), kNone);
        int32_t name = 0;
        for (size_t i = 0; i < sorted.size(); ++i) {
            if (i > 0 && !same_piece(sorted[i - 1], sorted[i])) ++name;
            names[sorted[i]] = name;
        }
        if (static_cast<size_t>(name) + 1 < sorted.size()) {
            std::vector<int32_t> pieces;
            pieces.reserve(seeds_.size());
            for (const int32_t seed : seeds_) pieces.push_back(names[seed]);
            names = {};
            const std::vector<int32_t> order = Sorter(pieces, name + 1, progress_).sort();
            for (size_t i = 0; i < order.size(); ++i) sorted[i] = seeds_[order[i]];
        }
        seeds_ = std::move(sorted);
    }

    // Do the pieces from these seeds to the next ones agree?
    bool same_piece(int32_t a, int32_t b) const {
        if (a == size_ - 1 || b == size_ - 1) return false;
        for (int32_t i = 0;; ++i) {
            if (text_[a + i] != text_[b + i] || rising_[a + i] != rising_[b + i]) return false;
            if (i > 0 && (is_seed(a + i) || is_seed(b + i))) return is_seed(a + i) && is_seed(b + i);
        }
    }

    const std::vector<int32_t>& text_;
    const int32_t size_;
    const int32_t alphabet_;
    Progress& progress_;
    std::vector<char> rising_;
    std::vector<int32_t> seeds_;
    std::vector<int32_t> bucket_ends_;
    std::vector<int32_t> suffixes_;
};

}  // namespace

std::vector<int32_t> suffix_array(const std::vector<int32_t>& text, int32_t alphabet, Progress& progress) {
    return Sorter(text, alphabet, progress).sort();
}

std::vector<int32_t> common_prefixes(const std::vector<int32_t>& text, const std::vector<int32_t>& suffixes,
                                     const std::vector<int32_t>& rank, Progress& progress) {
    const auto size = static_cast<int32_t>(text.size());
    std::vector<int32_t> common(text.size(), 0);
    // The suffix one further on agrees with its neighbour in at most one item less.
    for (int32_t i = 0, agree = 0; i < size; ++i) {
        if ((i & 0xffff) == 0) progress.poll();
        if (rank[i] == 0) {
            agree = 0;
            continue;
        }
        const int32_t neighbour = suffixes[rank[i] - 1];
        while (i + agree < size && neighbour + agree < size && text[i + agree] == text[neighbour + agree])
            ++agree;
        common[rank[i]] = agree;
        if (agree > 0) --agree;
    }
    return common;
}

}  // namespace profana
