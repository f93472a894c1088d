// Bytes that claim to be sets of intervals: what is read is sound, and written again it is the same bytes.
// The algebra of two such sets keeps its laws up to the ends of int64.
#include "ext/core/interval_set.h"

#include <cstdlib>
#include <optional>

#include "ext/core/error.h"

using namespace profana;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

std::optional<IntervalSet> read(std::string_view bytes) {
    try {
        return decode_intervals(bytes);
    } catch (const Error&) {
        return std::nullopt;
    }
}

void check_sound(const IntervalSet& set) {
    for (size_t i = 0; i < set.size(); ++i) {
        require(set[i].start < set[i].end);
        require(i == 0 || set[i - 1].end < set[i].start);
    }
    require(read(encode(set)) == set);
    require(intervals_from_json(intervals_to_json(set)) == set);
}

void check_laws(const IntervalSet& a, const IntervalSet& b) {
    IntervalCollector collector;
    collector.add(b);
    collector.add(a);
    const IntervalSet& both = collector.set();
    const IntervalSet shared = intersection(a, b), only_a = difference(a, b), only_b = difference(b, a);
    for (const auto* set : {&both, &shared, &only_a, &only_b}) check_sound(*set);
    require(total_length(both) == total_length(only_a) + total_length(shared) + total_length(only_b));
    require(complement(complement(a, INT64_MIN, INT64_MAX), INT64_MIN, INT64_MAX) == a);
    require(intersection(only_a, b).empty());
    uint64_t lengths[4] = {};
    for (const OverlapClass& overlap : overlap_classes({a, b})) lengths[overlap.mask] = overlap.length;
    require(lengths[1] == total_length(only_a) && lengths[2] == total_length(only_b));
    require(lengths[3] == total_length(shared));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const size_t half = size / 2;
    const auto whole = read(bytes);
    if (whole) {
        require(encode(*whole) == bytes);
        check_sound(*whole);
    }
    const auto a = read(bytes.substr(0, half)), b = read(bytes.substr(half));
    if (a && b) check_laws(*a, *b);
    return 0;
}
