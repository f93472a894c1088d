// Nesting of host events: the compare tool's cursor and containment on a thread, against small cases worked
// out by hand and against definitions applied by brute force.
#include <catch2/catch.hpp>
#include <random>

#include "ext/core/nest_events.h"

using namespace profana;
using Times = PageVector<int64_t>;
using Parents = PageVector<uint32_t>;

namespace {

constexpr uint32_t kRoot = kNoParent;
constexpr int64_t kNull = std::numeric_limits<int64_t>::min();

// The definition, pair by pair: the containing event that is shortest, then earliest, then the inner of
// equals.
uint32_t smallest_container(const Times& thread, const Times& start, const Times& end, uint32_t event) {
    uint32_t best = kRoot;
    for (uint32_t other = 0; other < start.size(); ++other) {
        if (other == event || thread[other] != thread[event]) continue;
        if (start[other] > start[event] || end[other] < end[event]) continue;
        const bool equal = start[other] == start[event] && end[other] == end[event];
        if (equal && (other > event || start[event] == end[event])) continue;
        if (start[event] == end[event] && end[other] == end[event]) continue;
        if (best == kRoot) {
            best = other;
            continue;
        }
        const auto key = [&](uint32_t e) { return std::make_pair(end[e] - start[e], start[e]); };
        if (key(other) < key(best) || (key(other) == key(best) && other > best)) best = other;
    }
    return best;
}

}  // namespace

TEST_CASE("the cursor nests by start alone") {
    // A [0,100], B starts exactly at A's end, C outlasts B, D starts after C.
    const Times start{0, 100, 110, 160, 400}, end{100, 150, 300, 200, 410};
    const Nesting nesting = nest_by_cursor(start, end);
    CHECK(nesting.parent == Parents{kRoot, 0, 1, 2, kRoot});
    CHECK(nesting.depth == Parents{0, 1, 2, 3, 0});
}

TEST_CASE("equal starts nest in order of their numbers, unsorted input by start") {
    const Times start{50, 10, 10, 50}, end{60, 100, 40, 55};
    const Nesting nesting = nest_by_cursor(start, end);
    // 1 [10,100], 2 [10,40] inside; at 50 the cursor leaves 2; 0 then 3.
    CHECK(nesting.order == Parents{1, 2, 0, 3});
    CHECK(nesting.parent == Parents{1, kRoot, 1, 0});
}

TEST_CASE("the cursor ignores what has no start and ends at the start what has no end") {
    const Times start{kNull, 5, 5, 6}, end{10, kNull, 3, 9};
    const Nesting nesting = nest_by_cursor(start, end);
    CHECK(nesting.parent == Parents{kRoot, kRoot, 1, kRoot});
}

TEST_CASE("memory attaches where the cursor stands") {
    const Times start{0, 10, 200}, end{100, 20, 300};
    const Nesting nesting = nest_by_cursor(start, end);
    // Unsorted on purpose; 10 is exactly the start of event 1, 100 exactly the end of event 0.
    const Times times{150, 10, 20, 21, 100, kNull, 250, -5};
    CHECK(attach_by_cursor(nesting, start, end, times) == Parents{kRoot, 1, 1, 0, 0, kRoot, 2, kRoot});
}

TEST_CASE("top-level operators and self times look through steps") {
    // step [0,100] > a [0,40] > b [10,50]; step 2 [100,200] starts at step 1's end and nests into it.
    const Times start{0, 0, 10, 100, 110}, end{100, 40, 50, 200, 120};
    const std::vector<bool> is_step{true, false, false, true, false};
    const Nesting nesting = nest_by_cursor(start, end);
    CHECK(nesting.parent == Parents{kRoot, 0, 1, 0, 3});
    const OperatorTotals totals = operator_totals(nesting, start, end, is_step);
    CHECK(totals.root == Parents{kRoot, 1, 1, kRoot, 4});
    CHECK(totals.self_ns == Times{60, 0, 40, 90, 10});  // step 2 is not a's or step 1's child here
}

TEST_CASE("containment finds the smallest event of the thread") {
    // A [0,100], B [5,85], C [15,75], D [50,55], E [54,64]: D is no parent of E.
    const Times thread(5, 1), start{0, 5, 15, 50, 54}, end{100, 85, 75, 55, 64};
    const Nesting nesting = nest_by_containment(thread, start, end);
    CHECK(nesting.parent == Parents{kRoot, 0, 1, 2, 2});
    CHECK(nesting.depth == Parents{0, 1, 2, 3, 3});
}

TEST_CASE("containment keeps threads apart") {
    const Times thread{1, 2, 1, 2}, start{0, 40, 50, 55}, end{100, 60, 51, 56};
    CHECK(nest_by_containment(thread, start, end).parent == Parents{kRoot, kRoot, 0, 1});
}

TEST_CASE("containment agrees with its definition on random intervals") {
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        const size_t n = random() % 40;
        Times thread, start, end;
        for (size_t i = 0; i < n; ++i) {
            thread.push_back(static_cast<int64_t>(random() % 3));
            start.push_back(static_cast<int64_t>(random() % 30));
            end.push_back(start.back() + static_cast<int64_t>(random() % 12));
        }
        const Nesting nesting = nest_by_containment(thread, start, end);
        for (uint32_t event = 0; event < n; ++event)
            REQUIRE(nesting.parent[event] == smallest_container(thread, start, end, event));
    }
}
