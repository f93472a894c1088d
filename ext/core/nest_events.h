// Nesting of host events, which profilers record as plain intervals: who called whom.
//
// Two rules. By cursor is how the compare tool builds its operator tree: all threads together, by start
// alone, so its trees can be reproduced exactly. By containment is what happened: on one thread, an event
// belongs to the smallest event that contains it whole.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "ext/core/pages.h"

namespace profana {

constexpr uint32_t kNoParent = std::numeric_limits<uint32_t>::max();

struct Nesting {
    PageVector<uint32_t> parent;  // by event; kNoParent: a root
    PageVector<uint32_t> depth;   // by event; 0: a root
    PageVector<uint32_t> order;   // the events by start, equal starts by number
};

// A cursor walks over the events by start. It climbs to the parent while the event starts after the cursor's
// end; the event becomes its child and the new cursor. So an event that starts exactly where another ends is
// its child, and a child may outlast its parent. Events without a start (INT64_MIN) are roots; without an end
// they end where they start.
Nesting nest_by_cursor(std::span<const int64_t> start, std::span<const int64_t> end);

// Where the cursor of the same walk stands at each of `times`: the event that something at that time attaches
// to; kNoParent: the root, or no time.
PageVector<uint32_t> attach_by_cursor(const Nesting& nesting, std::span<const int64_t> start,
                                      std::span<const int64_t> end, std::span<const int64_t> times);

// What the compare tool calls top-level operators, and self times. is_step marks ProfilerStep events: they
// are looked through, and their time is nobody's child's.
struct OperatorTotals {
    PageVector<uint32_t>
        root;  // highest ancestor below the nearest step, itself where that is it; kNoParent: a step
    PageVector<int64_t> self_ns;  // duration less that of the children; negative where they outlast it
};
OperatorTotals operator_totals(const Nesting& nesting, std::span<const int64_t> start,
                               std::span<const int64_t> end, const std::vector<bool>& is_step);

// The smallest event of the same thread that contains the event whole; of equally long ones the one that
// started first. Of two equal events the one with the smaller number contains the other. An event of no
// length is not in one that ends there.
Nesting nest_by_containment(std::span<const int64_t> thread, std::span<const int64_t> start,
                            std::span<const int64_t> end);

}  // namespace profana
