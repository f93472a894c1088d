// rows_by_value against std::stable_sort: sorted stretches, few and many, with NULL, narrow and wide ranges.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "ext/core/row_sort.h"

using namespace profana;

namespace {

void check(const std::vector<int64_t>& values) {
    Column column(ColumnType::kInt);
    for (const int64_t value : values) column.add_int(value);
    PageVector<Row> expected(values.size());
    std::iota(expected.begin(), expected.end(), Row{0});
    const PageVector<Row> in_order = expected;
    std::stable_sort(expected.begin(), expected.end(),
                     [&](Row a, Row b) { return values[a] < values[b]; });  // kNullInt is the least
    Progress progress;
    Diagnostics diagnostics;
    LoadContext context{progress, diagnostics};
    PageVector<Row> rows = rows_by_value(column, context);
    if (rows.empty()) rows = in_order;
    REQUIRE(rows == expected);
}

}  // namespace

TEST_CASE("rows of a column in order of their values") {
    check({});
    check({kNullInt});
    check({5, 5, 5});
    check({3, 2, 1});
    check({kNullInt, 1, kNullInt, std::numeric_limits<int64_t>::max(), kNullInt + 1});
    std::mt19937_64 random(11);
    for (const size_t stretches : {2, 3, 14, 32, 33, 1000})
        for (const uint64_t range : {uint64_t{50}, uint64_t{1} << 31, uint64_t{1} << 62}) {
            std::vector<int64_t> values;
            for (size_t stretch = 0; stretch < stretches; ++stretch) {
                const size_t begin = values.size();
                for (int i = 0; i < 100; ++i) {
                    const auto value = static_cast<int64_t>(random() % range) - 20;
                    values.push_back(random() % 50 == 0 ? kNullInt : value);
                }
                std::sort(values.begin() + static_cast<ptrdiff_t>(begin), values.end());
            }
            check(values);
        }
}
