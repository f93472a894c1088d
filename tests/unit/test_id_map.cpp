// The join map against std::multimap, on dense, sparse and extreme ids.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "ext/core/id_map.h"

using namespace profana;

namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();

void check(const std::vector<int64_t>& ids, const std::vector<int64_t>& absent) {
    std::map<int64_t, std::vector<uint32_t>> rows;
    for (uint32_t row = 0; row < ids.size(); ++row)
        if (ids[row] != kMin) rows[ids[row]].push_back(row);
    const IdMap map(ids);
    uint64_t repeated = 0;
    for (const auto& [id, expected] : rows) {
        std::vector<uint32_t> found;
        for (uint32_t row = map.find(id); row != IdMap::kNone; row = map.next(row)) found.push_back(row);
        REQUIRE(found == expected);
        repeated += expected.size() - 1;
    }
    CHECK(map.repeated() == repeated);
    for (const int64_t id : absent)
        if (rows.count(id) == 0) CHECK(map.find(id) == IdMap::kNone);
}

}  // namespace

TEST_CASE("an empty map finds nothing") {
    CHECK(IdMap().find(0) == IdMap::kNone);
    check({}, {0, 1, kMin, kMax});
    check({kMin, kMin}, {0, kMin});
}

TEST_CASE("ids close together, far apart and at the ends of their range") {
    check({5, 6, 7, 5, 9, 5}, {4, 8, 10, kMin, kMax});
    check({kMax, kMin + 1, 0, kMax}, {1, kMax - 1, kMin});
    check({0, 1 << 28, 2 << 28, 1, (1 << 28) + 1}, {2, -1});
    check({kMax, kMax - 1, kMax}, {kMin, 0});
}

TEST_CASE("ids in clusters far from each other") {
    std::mt19937_64 random(7);
    std::vector<int64_t> ids, absent = {kMin, kMin + 1, kMax, 0};
    for (int64_t cluster = 0; cluster < 80; ++cluster) {
        const int64_t first = cluster == 0   ? kMin + 1
                              : cluster == 1 ? kMax - 999
                                             : static_cast<int64_t>(random());
        for (int64_t i = 0; i < 1000; i += 1 + cluster % 3) ids.push_back(first + i);
        if (cluster == 0) continue;
        absent.insert(absent.end(), {first - 1, first + 1, first ^ int64_t{1} << 40});
        ids.push_back(first + 3);  // again
    }
    std::shuffle(ids.begin(), ids.end(), random);
    check(ids, absent);
}

TEST_CASE("random ids") {
    std::mt19937_64 random(3);
    for (const uint64_t range : {10ULL, 3000ULL, 1ULL << 40}) {
        std::vector<int64_t> ids, absent;
        for (int i = 0; i < 2000; ++i) ids.push_back(static_cast<int64_t>(random() % range) - 5);
        for (int i = 0; i < 2000; ++i) absent.push_back(static_cast<int64_t>(random() % range) - 5);
        check(ids, absent);
    }
}
