// Building sets of intervals and their algebra: sweeps over sorted lists, each linear in its operands.
#include "ext/core/interval_set.h"

#include <algorithm>
#include <map>

#include "ext/core/radix_sort.h"

namespace profana {

namespace {

constexpr size_t kSmallBuffer = 4096;

// Appends an interval that starts no earlier than any in `set`.
void append(IntervalSet& set, Interval interval) {
    if (set.empty() || interval.start > set.back().end) {
        set.push_back(interval);
    } else {
        set.back().end = std::max(set.back().end, interval.end);
    }
}

}  // namespace

uint64_t total_length(const IntervalSet& set) {
    uint64_t total = 0;
    for (const Interval& interval : set) total += length(interval);
    return total;
}

void IntervalCollector::add_late(Interval interval) {
    late_.push_back(interval);
    if (late_.size() >= std::max(kSmallBuffer, islands_.size())) settle();
}

void IntervalCollector::settle() {
    if (late_.empty()) return;
    radix_sort(late_, [](const Interval& interval) { return interval.start; });
    IntervalSet merged;
    merged.reserve(islands_.size() + late_.size());
    auto late = late_.begin();
    for (const Interval& island : islands_) {
        while (late != late_.end() && late->start < island.start) append(merged, *late++);
        append(merged, island);
    }
    // Every late interval started before the last island, so none is left.
    islands_ = std::move(merged);
    late_.clear();
}

int64_t DepthCounter::deepest() {
    const auto value = [](int64_t time) { return time; };
    radix_sort(starts_, value);
    radix_sort(ends_, value);
    size_t ended = 0, deepest = 0;
    for (size_t started = 1; started <= starts_.size(); ++started) {
        while (ends_[ended] <= starts_[started - 1]) ++ended;
        deepest = std::max(deepest, started - ended);
    }
    return static_cast<int64_t>(deepest);
}

IntervalSet intersection(const IntervalSet& a, const IntervalSet& b) {
    IntervalSet result;
    for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
        const int64_t start = std::max(x->start, y->start), end = std::min(x->end, y->end);
        if (start < end) result.push_back({start, end});
        if (x->end < y->end) {
            ++x;
        } else {
            ++y;
        }
    }
    return result;
}

IntervalSet difference(const IntervalSet& a, const IntervalSet& b) {
    IntervalSet result;
    auto hole = b.begin();
    for (Interval rest : a) {
        while (hole != b.end() && hole->end <= rest.start) ++hole;
        // A hole may reach into the next interval too, so the walk goes on from it and not behind it.
        for (auto inside = hole; inside != b.end() && inside->start < rest.end; ++inside) {
            if (rest.start < inside->start) result.push_back({rest.start, inside->start});
            rest.start = std::min(inside->end, rest.end);
            hole = inside;
        }
        if (rest.start < rest.end) result.push_back(rest);
    }
    return result;
}

IntervalSet complement(const IntervalSet& set, int64_t low, int64_t high) {
    if (high <= low) return {};
    return difference({{low, high}}, set);
}

IntervalSet clip(const IntervalSet& set, int64_t low, int64_t high) {
    if (high <= low) return {};
    return intersection(set, {{low, high}});
}

bool contains(const IntervalSet& set, int64_t point) {
    const auto after =
        std::upper_bound(set.begin(), set.end(), point,
                         [](int64_t t, const Interval& interval) { return t < interval.start; });
    return after != set.begin() && point < std::prev(after)->end;
}

std::vector<OverlapClass> overlap_classes(const std::vector<IntervalSet>& sets) {
    struct Change {
        int64_t time;
        uint64_t bit;
    };
    std::vector<Change> changes;
    for (size_t i = 0; i < sets.size(); ++i) {
        for (const Interval& interval : sets[i]) {
            changes.push_back({interval.start, uint64_t{1} << i});
            changes.push_back({interval.end, uint64_t{1} << i});
        }
    }
    radix_sort(changes, [](const Change& change) { return change.time; });

    // Each change flips its set's bit: the intervals of one set do not touch.
    std::map<uint64_t, uint64_t> lengths;
    uint64_t mask = 0;
    for (size_t i = 0; i < changes.size(); ++i) {
        if (mask != 0) {
            lengths[mask] +=
                static_cast<uint64_t>(changes[i].time) - static_cast<uint64_t>(changes[i - 1].time);
        }
        mask ^= changes[i].bit;
    }
    std::vector<OverlapClass> classes;
    for (const auto& [key, total] : lengths) {
        if (total > 0) classes.push_back({key, total});
    }
    return classes;
}

}  // namespace profana
