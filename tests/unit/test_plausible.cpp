// Times, lengths and sizes that a capture can have, at the borders.
#include <catch2/catch.hpp>
#include <limits>

#include "ext/core/plausible.h"

using namespace profana;

namespace {

constexpr int64_t kNull = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kNow = 1719300623000000000, kYear = int64_t{365} * 86400 * 1000000000;

}  // namespace

TEST_CASE("lengths of more than 417 days are NULL") {
    CHECK(duration_ns(5, 9) == 4);
    CHECK(duration_ns(9, 5) == -4);
    CHECK(duration_ns(kNull, 5) == kNull);
    CHECK(duration_ns(5, kNull) == kNull);
    CHECK(duration_ns(-5, kMost) == kNull);
    CHECK(duration_ns(kNow, kNow + kYear) == kYear);
    CHECK(duration_ns(kNow, kNow + 2 * kYear) == kNull);
    CHECK(duration_ns(kNow, 0) == kNull);
    CHECK(duration_ns(0, int64_t{1} << 55) == int64_t{1} << 55);
    CHECK(duration_ns(0, (int64_t{1} << 55) + 1) == kNull);
}

TEST_CASE("ends beyond 2116 are NULL") {
    CHECK(sum_ns(5, 9) == 14);
    CHECK(sum_ns(kNull, 9) == kNull);
    CHECK(sum_ns(5, kNull) == kNull);
    CHECK(sum_ns(kMost, 1) == kNull);
    CHECK(sum_ns(int64_t{1} << 62, 0) == int64_t{1} << 62);
    CHECK(sum_ns(int64_t{1} << 62, 1) == kNull);
}

TEST_CASE("of a start and an end too far apart one is NULL") {
    CHECK(plausible({kNow, kNow + 7}) == Span{kNow, kNow + 7});
    CHECK(plausible({kNow + 7, kNow}) == Span{kNow + 7, kNow});
    CHECK(plausible({kNow, 0}) == Span{kNow, kNull});
    CHECK(plausible({kNow, kMost}) == Span{kNow, kNull});
    CHECK(plausible({0, kNow}) == Span{kNull, kNow});
    CHECK(plausible({-kMost, kNow}) == Span{kNull, kNow});
    CHECK(plausible({-kMost, kMost}) == Span{kNull, kNull});
    CHECK(plausible({0, -kNow}) == Span{0, kNull});
    CHECK(plausible({kNull, kNow}) == Span{kNull, kNow});
    CHECK(plausible({kNow, kNull}) == Span{kNow, kNull});
}

TEST_CASE("sizes of more than 32 PiB are none") {
    CHECK(is_size(-1));
    CHECK(is_size(int64_t{1} << 55));
    CHECK_FALSE(is_size((int64_t{1} << 55) + 1));
    CHECK_FALSE(is_size(kNull));
}
