#include "ext/core/nest_events.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "ext/core/plausible.h"
#include "ext/core/radix_sort.h"

namespace profana {
namespace {

constexpr int64_t kNoTime = std::numeric_limits<int64_t>::min();

// An event without an end, or with one before its start, ends where it starts.
int64_t end_of(std::span<const int64_t> start, std::span<const int64_t> end, uint32_t event) {
    return std::max(start[event], end[event]);
}

PageVector<uint32_t> by_start(std::span<const int64_t> start) {
    PageVector<uint32_t> order(start.size());
    std::iota(order.begin(), order.end(), 0);
    radix_sort(order, [&](uint32_t event) { return start[event]; });
    return order;
}

// Of events in order of start, those that start together: the longer ones first.
void put_longer_first(std::span<uint32_t> events, std::span<const int64_t> start,
                      std::span<const int64_t> end) {
    for (size_t first = 0; first < events.size();) {
        size_t last = first + 1;
        while (last < events.size() && start[events[last]] == start[events[first]]) ++last;
        if (last > first + 1)
            std::stable_sort(
                events.begin() + static_cast<ptrdiff_t>(first), events.begin() + static_cast<ptrdiff_t>(last),
                [&](uint32_t a, uint32_t b) { return end_of(start, end, a) > end_of(start, end, b); });
        first = last;
    }
}

// Parents come before their children in `order`.
void set_depths(Nesting& nesting) {
    for (const uint32_t event : nesting.order) {
        const uint32_t parent = nesting.parent[event];
        nesting.depth[event] = parent == kNoParent ? 0 : nesting.depth[parent] + 1;
    }
}

int64_t subtract_saturated(int64_t a, int64_t b) {
    int64_t difference = 0;
    if (!__builtin_sub_overflow(a, b, &difference) && difference != kNoTime) return difference;
    return b < 0 ? std::numeric_limits<int64_t>::max() : kNoTime + 1;
}

// For the events of one thread in order of start: the smallest event so far that ends at or after a given
// end. A Fenwick tree over the ranks of the ends, latest end first, each node the best of its range.
class SmallestUntil {
  public:
    SmallestUntil(std::span<const int64_t> start, std::span<const int64_t> end) : start_(start), end_(end) {}

    void begin_thread(std::span<const uint32_t> events) {
        ends_.clear();
        for (const uint32_t event : events) ends_.push_back(end_of(start_, end_, event));
        std::sort(ends_.begin(), ends_.end(), std::greater<>());
        ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
        best_.assign(ends_.size() + 1, kNoParent);
    }

    void add(uint32_t event) {
        for (size_t node = rank(end_of(start_, end_, event)) + 1; node < best_.size();
             node += node & (~node + 1))
            if (smaller(event, best_[node])) best_[node] = event;
    }

    uint32_t find(int64_t end, bool later_only) const {
        uint32_t found = kNoParent;
        for (size_t node = rank(end) + (later_only ? 0 : 1); node > 0; node &= node - 1)
            if (best_[node] != kNoParent && smaller(best_[node], found)) found = best_[node];
        return found;
    }

  private:
    size_t rank(int64_t end) const {
        return static_cast<size_t>(std::lower_bound(ends_.begin(), ends_.end(), end, std::greater<>()) -
                                   ends_.begin());
    }
    bool smaller(uint32_t a, uint32_t b) const {
        if (b == kNoParent) return true;
        const auto length = [&](uint32_t event) {
            return static_cast<uint64_t>(end_of(start_, end_, event)) - static_cast<uint64_t>(start_[event]);
        };
        // Of equal events the later is the inner one.
        return std::make_tuple(length(a), start_[a], b) < std::make_tuple(length(b), start_[b], a);
    }

    std::span<const int64_t> start_, end_;
    PageVector<int64_t> ends_;  // of the thread, falling, each once
    PageVector<uint32_t> best_;
};

// The parents of one thread's events, in order of start and the longer first, where none only overlaps
// another: the innermost that has not ended. False: two overlap, and nothing is said.
bool nest_calls(std::span<const uint32_t> events, std::span<const int64_t> start,
                std::span<const int64_t> end, PageVector<uint32_t>& parent) {
    PageVector<uint32_t> open;
    for (const uint32_t event : events) {
        if (start[event] == kNoTime) continue;
        while (!open.empty() && end_of(start, end, open.back()) <= start[event]) open.pop_back();
        if (!open.empty() && end_of(start, end, open.back()) < end_of(start, end, event)) return false;
        parent[event] = open.empty() ? kNoParent : open.back();
        open.push_back(event);
    }
    return true;
}

}  // namespace

Nesting nest_by_cursor(std::span<const int64_t> start, std::span<const int64_t> end) {
    Nesting out{PageVector<uint32_t>(start.size(), kNoParent), PageVector<uint32_t>(start.size(), 0),
                by_start(start)};
    uint32_t cursor = kNoParent;
    for (const uint32_t event : out.order) {
        if (start[event] == kNoTime) continue;
        while (cursor != kNoParent && start[event] > end_of(start, end, cursor)) cursor = out.parent[cursor];
        out.parent[event] = cursor;
        cursor = event;
    }
    set_depths(out);
    return out;
}

PageVector<uint32_t> attach_by_cursor(const Nesting& nesting, std::span<const int64_t> start,
                                      std::span<const int64_t> end, std::span<const int64_t> times) {
    PageVector<uint32_t> out(times.size(), kNoParent);
    uint32_t cursor = kNoParent;
    size_t next = 0;
    for (const uint32_t item : by_start(times)) {
        const int64_t time = times[item];
        if (time == kNoTime) continue;
        for (; next < nesting.order.size() && start[nesting.order[next]] <= time; ++next)
            if (start[nesting.order[next]] != kNoTime) cursor = nesting.order[next];
        while (cursor != kNoParent && time > end_of(start, end, cursor)) cursor = nesting.parent[cursor];
        out[item] = cursor;
    }
    return out;
}

OperatorTotals operator_totals(const Nesting& nesting, std::span<const int64_t> start,
                               std::span<const int64_t> end, const std::vector<bool>& is_step) {
    const size_t n = nesting.parent.size();
    OperatorTotals out{PageVector<uint32_t>(n, kNoParent), PageVector<int64_t>(n, kNoTime)};
    for (uint32_t event = 0; event < n; ++event) out.self_ns[event] = duration_ns(start[event], end[event]);
    for (const uint32_t event : nesting.order) {
        if (is_step[event]) continue;
        const uint32_t parent = nesting.parent[event];
        out.root[event] = parent == kNoParent || is_step[parent] ? event : out.root[parent];
        const int64_t length = duration_ns(start[event], end[event]);
        if (parent != kNoParent && length != kNoTime && out.self_ns[parent] != kNoTime)
            out.self_ns[parent] = subtract_saturated(out.self_ns[parent], length);
    }
    return out;
}

Nesting nest_by_containment(std::span<const int64_t> thread, std::span<const int64_t> start,
                            std::span<const int64_t> end) {
    Nesting out{PageVector<uint32_t>(start.size(), kNoParent), PageVector<uint32_t>(start.size(), 0),
                by_start(start)};
    PageVector<uint32_t>& order = out.order;
    radix_sort(order, [&](uint32_t event) { return thread[event]; });
    SmallestUntil open(start, end);
    for (size_t first = 0; first < order.size();) {
        size_t last = first;
        while (last < order.size() && thread[order[last]] == thread[order[first]]) ++last;
        const std::span<uint32_t> events(order.data() + first, last - first);
        put_longer_first(events, start, end);
        if (nest_calls(events, start, end, out.parent)) {
            first = last;
            continue;
        }
        open.begin_thread(events);
        for (const uint32_t event : events) {
            if (start[event] == kNoTime) continue;
            const int64_t until = end_of(start, end, event);
            out.parent[event] = open.find(until, until == start[event]);
            open.add(event);
        }
        first = last;
    }
    set_depths(out);
    return out;
}

}  // namespace profana
