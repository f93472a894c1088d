// Sets of intervals against an oracle that knows nothing but single instants: a bitmap of a small universe.
#include <bitset>
#include <catch2/catch.hpp>
#include <optional>
#include <random>

#include "ext/core/error.h"
#include "ext/core/interval_set.h"
#include "ext/core/radix_sort.h"

using namespace profana;

namespace {

constexpr int64_t kLow = -20, kHigh = 44;
using Bitmap = std::bitset<kHigh - kLow>;

Bitmap bitmap(const std::vector<Interval>& intervals) {
    Bitmap bits;
    for (const Interval& interval : intervals) {
        for (int64_t t = interval.start; t < interval.end; ++t) bits.set(static_cast<size_t>(t - kLow));
    }
    return bits;
}

// Runs of set bits: the one set of intervals that covers them.
IntervalSet runs(const Bitmap& bits) {
    IntervalSet set;
    for (int64_t t = kLow; t < kHigh; ++t) {
        if (!bits[static_cast<size_t>(t - kLow)]) continue;
        if (set.empty() || set.back().end != t) set.push_back({t, t});
        ++set.back().end;
    }
    return set;
}

class Random {
  public:
    int64_t from(int64_t low, int64_t high) {
        return std::uniform_int_distribution<int64_t>(low, high)(engine_);
    }
    std::vector<Interval> intervals(int64_t most) {
        std::vector<Interval> list(static_cast<size_t>(from(0, most)));
        for (Interval& interval : list) {
            interval.start = from(kLow, kHigh);
            // Some are empty, some run backwards.
            interval.end = std::min(kHigh, interval.start + from(-3, 12));
        }
        return list;
    }
    std::mt19937& engine() { return engine_; }

  private:
    std::mt19937 engine_{20240911};
};

IntervalSet collect(const std::vector<Interval>& intervals) {
    IntervalCollector collector;
    for (const Interval& interval : intervals) collector.add(interval.start, interval.end);
    return collector.set();
}

}  // namespace

TEST_CASE("union, depth and stored form agree with a bitmap") {
    Random random;
    for (int round = 0; round < 3000; ++round) {
        std::vector<Interval> list = random.intervals(12);
        const IntervalSet set = collect(list);
        CHECK(set == runs(bitmap(list)));
        CHECK(total_length(set) == bitmap(list).count());
        CHECK(decode_intervals(encode(set)) == set);
        CHECK(intervals_from_json(intervals_to_json(set)) == set);

        int64_t deepest = 0;
        for (int64_t t = kLow; t < kHigh; ++t) {
            const auto holds = [t](const Interval& i) { return i.start <= t && t < i.end; };
            deepest = std::max(deepest, int64_t{std::count_if(list.begin(), list.end(), holds)});
            CHECK(contains(set, t) == bitmap(list)[static_cast<size_t>(t - kLow)]);
        }
        DepthCounter counter;
        for (const Interval& interval : list) counter.add(interval.start, interval.end);
        CHECK(counter.deepest() == deepest);
        CHECK(counter.deepest() == deepest);  // asking changes nothing

        std::shuffle(list.begin(), list.end(), random.engine());
        CHECK(encode(collect(list)) == encode(set));
    }
}

TEST_CASE("the algebra of sets agrees with a bitmap") {
    Random random;
    for (int round = 0; round < 3000; ++round) {
        const Bitmap a = bitmap(random.intervals(8)), b = bitmap(random.intervals(8)),
                     c = bitmap(random.intervals(4));
        const IntervalSet set_a = runs(a), set_b = runs(b), set_c = runs(c);
        const int64_t low = random.from(kLow, kHigh), high = random.from(kLow, kHigh);
        const Bitmap window = bitmap({{low, high}});
        CHECK(intersection(set_a, set_b) == runs(a & b));
        CHECK(difference(set_a, set_b) == runs(a & ~b));
        CHECK(clip(set_a, low, high) == runs(a & window));
        CHECK(complement(set_a, low, high) == runs(~a & window));
        IntervalCollector both;
        both.add(set_a);
        both.add(set_b);
        CHECK(both.set() == runs(a | b));

        std::array<uint64_t, 8> lengths{};
        for (size_t t = 0; t < a.size(); ++t) ++lengths[a[t] + 2U * b[t] + 4U * c[t]];
        std::vector<std::pair<uint64_t, uint64_t>> expected, found;
        for (uint64_t mask = 1; mask < 8; ++mask) {
            if (lengths[mask] > 0) expected.emplace_back(mask, lengths[mask]);
        }
        for (const auto& overlap : overlap_classes({set_a, set_b, set_c})) {
            found.emplace_back(overlap.mask, overlap.length);
        }
        CHECK(found == expected);
    }
}

TEST_CASE("many intervals: in order, in reverse, shuffled, and asked in between") {
    // Islands of 3 with gaps of 2, each from two overlapping parts.
    constexpr int64_t kIslands = 40000;
    std::vector<Interval> list;
    IntervalSet expected;
    for (int64_t i = 0; i < kIslands; ++i) {
        const int64_t at = 5 * (i - kIslands / 2);
        list.push_back({at, at + 2});
        list.push_back({at + 1, at + 3});
        expected.push_back({at, at + 3});
    }
    CHECK(collect(list) == expected);
    std::reverse(list.begin(), list.end());
    CHECK(collect(list) == expected);
    Random random;
    std::shuffle(list.begin(), list.end(), random.engine());
    CHECK(collect(list) == expected);

    IntervalCollector collector;
    for (size_t i = 0; i < list.size(); ++i) {
        collector.add(list[i].start, list[i].end);
        if (i % 10000 == 0) CHECK(total_length(collector.set()) <= 3 * kIslands);
    }
    CHECK(collector.set() == expected);
}

TEST_CASE("all of int64 is usable") {
    constexpr int64_t kMin = INT64_MIN, kMax = INT64_MAX;
    const IntervalSet everything{{kMin, kMax}};
    CHECK(collect({{kMin, 0}, {0, kMax}, {kMin, kMin}, {kMax, kMax}}) == everything);
    CHECK(total_length(everything) == UINT64_MAX);
    CHECK(decode_intervals(encode(everything)) == everything);
    const IntervalSet ends{{kMin, kMin + 1}, {kMax - 1, kMax}};
    CHECK(decode_intervals(encode(ends)) == ends);
    CHECK(complement(ends, kMin, kMax) == IntervalSet{{kMin + 1, kMax - 1}});
    CHECK(difference(everything, ends) == IntervalSet{{kMin + 1, kMax - 1}});
    CHECK(intersection(everything, ends) == ends);
    CHECK(contains(ends, kMin));
    CHECK(contains(ends, kMax - 1));
    CHECK_FALSE(contains(ends, kMax));
    DepthCounter counter;
    counter.add(kMin, kMax);
    counter.add(kMax - 1, kMax);
    CHECK(counter.deepest() == 2);
    CHECK(overlap_classes({everything, ends})[0].length == UINT64_MAX - 2);
}

TEST_CASE("bytes that are no set are refused with the place and the reason") {
    const auto refused = [](const std::string& bytes, const std::string& why) {
        CHECK_THROWS_WITH(decode_intervals(bytes), "not a set of intervals: byte " + why);
    };
    const std::string mark("IS\x01");
    refused("", "0: it does not begin with IS");
    refused("JS", "0: it does not begin with IS");
    refused("IS", "2: only version 1 is known");
    refused("IS\x02", "2: only version 1 is known");
    refused(mark, "3: the bytes end within it");
    refused(mark + "\x01", "4: it promises more intervals than the bytes can hold");
    refused(mark + "\xff\xff\xff\xff\x0f", "8: it promises more intervals than the bytes can hold");
    refused(mark + std::string("\x00\x00", 2), "4: 1 bytes follow the last interval");
    refused(mark + "\x81" + std::string(1, '\0') + "\x02\x02",
            "5: a number is written with more bytes than it needs");
    refused(mark + "\x01" + std::string(9, '\xff') + "\x02\x01", "14: a number is larger than 64 bits");
    refused(mark + "\x01\xfe", "4: it promises more intervals than the bytes can hold");
    refused(mark + "\x01\xfe\xff", "6: the bytes end within it");
    // Start 2^63 - 1 and any length; a length that reaches beyond; a gap that does.
    const std::string latest = "\xfe" + std::string(8, '\xff') + "\x01";
    refused(mark + "\x01" + latest + std::string(1, '\0'), "15: an interval ends after the latest time");
    refused(mark + "\x01" + std::string(1, '\0') + std::string(9, '\xff') + "\x01",
            "15: an interval ends after the latest time");
    refused(mark + "\x02" + std::string(2, '\0') + std::string(9, '\xff') + "\x01" + std::string(1, '\0'),
            "16: an interval starts after the latest time");
    CHECK(decode_intervals(mark + std::string(1, '\0')).empty());

    // No change of a byte, and no cut, may do more than be refused or give another sound set.
    const std::string good = encode({{-1000000, 5}, {700, 701}, {5000000000, INT64_MAX}});
    for (size_t at = 0; at < good.size(); ++at) {
        CHECK_THROWS_AS(decode_intervals(good.substr(0, at)), Error);
        for (int byte = 0; byte < 256; ++byte) {
            std::string changed = good;
            changed[at] = static_cast<char>(byte);
            std::optional<IntervalSet> set;
            try {
                set = decode_intervals(changed);
            } catch (const Error&) {
                continue;
            }
            CHECK(encode(*set) == changed);
        }
    }
}

TEST_CASE("JSON lists of pairs") {
    CHECK(intervals_from_json("[[5,9],[0,3],[2,4],[7,7],[8,1]]") == IntervalSet{{0, 4}, {5, 9}});
    CHECK(intervals_from_json(" [] ").empty());
    CHECK(intervals_to_json({}) == "[]");
    CHECK(intervals_to_json({{-3, 4}, {6, 7}}) == "[[-3,4],[6,7]]");
    for (const char* bad :
         {"[[1]]", "[[1,2,3]]", "[1,2]", "[[1.5,2]]", "[[\"1\",2]]", "[[1,18446744073709551615]]"}) {
        CHECK_THROWS_WITH(intervals_from_json(bad), Catch::Contains("element 0 is not a pair of integers"));
    }
    for (const char* bad : {"", "{}", "[[1,2]", "x"}) {
        CHECK_THROWS_WITH(intervals_from_json(bad), Catch::Contains("not a JSON array"));
    }
}

TEST_CASE("the radix sort is stable and takes all of int64") {
    Random random;
    for (const int64_t span : {int64_t{3}, int64_t{100000}, INT64_MAX}) {
        std::vector<std::pair<int64_t, int>> items;
        for (int i = 0; i < 5000; ++i) items.emplace_back(random.from(-span, span), i);
        items.emplace_back(INT64_MIN, -1);
        items.emplace_back(INT64_MAX, -1);
        auto expected = items;
        std::stable_sort(expected.begin(), expected.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        radix_sort(items, [](const auto& item) { return item.first; });
        CHECK(items == expected);
    }
}
