// Sets of half-open intervals [start, end) of integers: building them, their algebra and their stored form.
//
// A set is sorted and disjoint, and touching intervals are one. An interval that does not end after its start
// is empty and adds nothing. All of int64 may be used; lengths are unsigned, for a set can be 2^64 - 1 long.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "ext/core/pages.h"

namespace profana {

struct Interval {
    int64_t start = 0;
    int64_t end = 0;
    bool operator==(const Interval&) const = default;
};

using IntervalSet = PageVector<Interval>;

inline uint64_t length(const Interval& interval) {
    return static_cast<uint64_t>(interval.end) - static_cast<uint64_t>(interval.start);
}
uint64_t total_length(const IntervalSet& set);

// The union of intervals that come in any order. While they come by rising start, only the islands of the
// union are kept; the others wait in a buffer no larger than the islands and are merged in when it is full.
class IntervalCollector {
  public:
    void add(int64_t start, int64_t end) {
        if (end <= start) return;
        if (islands_.empty() || start > islands_.back().end) {
            islands_.push_back({start, end});
        } else if (start >= islands_.back().start) {
            islands_.back().end = std::max(islands_.back().end, end);
        } else {
            add_late({start, end});
        }
    }
    void add(const IntervalSet& set) {
        for (const Interval& interval : set) add(interval.start, interval.end);
    }
    // The union so far. More may be added afterwards.
    const IntervalSet& set() {
        settle();
        return islands_;
    }

  private:
    void add_late(Interval interval);
    void settle();

    IntervalSet islands_;
    PageVector<Interval> late_;  // each started before the last island
};

// How many of a list of intervals hold at the same time, at most.
class DepthCounter {
  public:
    void add(int64_t start, int64_t end) {
        if (end <= start) return;
        starts_.push_back(start);
        ends_.push_back(end);
    }
    int64_t deepest();

  private:
    PageVector<int64_t> starts_, ends_;
};

IntervalSet intersection(const IntervalSet& a, const IntervalSet& b);
IntervalSet difference(const IntervalSet& a, const IntervalSet& b);
IntervalSet complement(const IntervalSet& set, int64_t low, int64_t high);  // within [low, high)
IntervalSet clip(const IntervalSet& set, int64_t low, int64_t high);
bool contains(const IntervalSet& set, int64_t point);

// A stretch over which the same of several sets hold. Bit i of the mask stands for sets[i].
struct OverlapClass {
    uint64_t mask = 0;
    uint64_t length = 0;
};
// The classes that occur, by rising mask. Where none of the sets holds is no class.
std::vector<OverlapClass> overlap_classes(const std::vector<IntervalSet>& sets);

// The stored form: "IS", a version byte, the number of intervals, then for each the distance from the end of
// the one before (of the first: its start, zigzag) and the length less one, all as base-128 numbers of the
// fewest bytes. One set has one form, so equal sets are equal bytes.
std::string encode(const IntervalSet& set);
// Throws Error if the bytes are not the stored form of a set.
IntervalSet decode_intervals(std::string_view bytes);

std::string intervals_to_json(const IntervalSet& set);  // [[1,5],[7,9]]
// Any list of pairs, in any order, overlapping or not. Throws Error where it is not a list of pairs of
// integers.
IntervalSet intervals_from_json(std::string_view json);

}  // namespace profana
