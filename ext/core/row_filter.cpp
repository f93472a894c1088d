#include "ext/core/row_filter.h"

#include <algorithm>

namespace profana {
namespace {

template <class T>
void sort_unique(std::vector<T>& values) {
    if (values.size() < 2) return;
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

template <class T>
bool has(const std::vector<T>& sorted, T value) {
    return std::binary_search(sorted.begin(), sorted.end(), value);
}

}  // namespace

void ValueSet::clear() {
    all = null = false;
    integers.clear(), reals.clear(), codes.clear(), hashes.clear();
}

void ValueSet::sort() {
    sort_unique(integers), sort_unique(reals), sort_unique(codes), sort_unique(hashes);
}

bool RowTest::can_test(const Column& column, const ValueSet& set) {
    return !set.all && column.type() != ColumnType::kLong;
}

RowTest RowTest::in_set(const Column& column, const ValueSet& set) {
    if (set.null) return null(column);  // IS NULL; no equality admits NULL and a value
    switch (column.type()) {
        case ColumnType::kInt: {
            if (set.integers.size() == 1) return in_range(column, set.integers[0], set.integers[0]);
            RowTest test(column, Kind::kIntSet);
            test.set_ = set;
            return test;
        }
        case ColumnType::kReal: {
            if (set.reals.size() == 1) return in_range(column, set.reals[0], set.reals[0]);
            RowTest test(column, Kind::kRealSet);
            test.set_ = set;
            return test;
        }
        case ColumnType::kText: {
            if (set.codes.size() == 1) {
                RowTest test(column, Kind::kCode);
                test.code_ = set.codes[0];
                return test;
            }
            std::vector<uint8_t> wanted(column.dictionary().size(), 0);
            for (const uint32_t code : set.codes) wanted[code] = 1;
            return has_code(column, std::move(wanted));
        }
        default: {
            RowTest test(column, Kind::kAnySet);
            test.set_ = set;
            return test;
        }
    }
}

RowTest RowTest::in_range(const Column& column, int64_t low, int64_t high) {
    RowTest test(column, Kind::kIntRange);
    test.low_ = std::max(low, kNullInt + 1);
    test.high_ = high;
    return test;
}

RowTest RowTest::in_range(const Column& column, double low, double high) {
    RowTest test(column, Kind::kRealRange);
    test.real_low_ = low;
    test.real_high_ = high;
    return test;
}

RowTest RowTest::has_code(const Column& column, std::vector<uint8_t> wanted) {
    RowTest test(column, Kind::kCodes);
    test.wanted_codes_ = std::move(wanted);
    return test;
}

RowTest RowTest::null(const Column& column) {
    return RowTest(column, Kind::kNull);
}

RowTest RowTest::not_null(const Column& column) {
    return RowTest(column, Kind::kNotNull);
}

bool RowTest::any_passes(Row row) const {
    const AnyValue& value = column_->any(row);
    switch (value.kind) {
        case AnyValue::kNull:
            return false;
        case AnyValue::kString:
            return has(set_.codes, value.code);
        case AnyValue::kInteger:
            return has(set_.integers, value.integer);
        case AnyValue::kDouble:
            return has(set_.reals, value.real);
    }
    return true;
}

// Hands the test of one row to `visit`, as a function that the compiler can put into its loop.
template <class Visit>
size_t RowTest::visit(Visit visit) const {
    const Column& column = *column_;
    switch (kind_) {
        case Kind::kNull:
            return visit([&column](Row row) { return column.is_null(row); });
        case Kind::kNotNull:
            return visit([&column](Row row) { return !column.is_null(row); });
        case Kind::kIntRange: {
            const Blocks<int64_t>& values = column.ints();
            const auto low = static_cast<uint64_t>(low_);
            const uint64_t width = static_cast<uint64_t>(high_) - low;
            if (low_ > high_) return 0;
            return visit(
                [&values, low, width](Row row) { return static_cast<uint64_t>(values[row]) - low <= width; });
        }
        case Kind::kIntSet:
            return visit([this, &column](Row row) { return has(set_.integers, column.integer(row)); });
        case Kind::kRealRange: {
            const Blocks<double>& values = column.reals();
            const double low = real_low_, high = real_high_;
            return visit([&values, low, high](Row row) {
                const double value = values[row];  // NaN passes no comparison
                return (value >= low) & (value <= high);
            });
        }
        case Kind::kRealSet:
            return visit([this, &column](Row row) { return has(set_.reals, column.real(row)); });
        case Kind::kCode: {
            const Blocks<uint32_t>& codes = column.codes();
            const uint32_t wanted = code_;
            return visit([&codes, wanted](Row row) { return codes[row] == wanted; });
        }
        case Kind::kCodes: {
            const Blocks<uint32_t>& codes = column.codes();
            const uint8_t* wanted = wanted_codes_.data();
            return visit([&codes, wanted](Row row) { return wanted[codes[row]] != 0; });
        }
        case Kind::kAnySet:
            return visit([this](Row row) { return any_passes(row); });
    }
    return 0;
}

size_t RowTest::keep(Row* rows, size_t n) const {
    return visit([rows, n](auto passes) {
        size_t kept = 0;
        for (size_t i = 0; i < n; ++i) {
            const Row row = rows[i];
            rows[kept] = row;
            kept += passes(row);
        }
        return kept;
    });
}

size_t RowTest::select(Row first, Row last, Row* out) const {
    return visit([first, last, out](auto passes) {
        size_t kept = 0;
        for (Row row = first; row < last; ++row) {
            out[kept] = row;
            kept += passes(row);
        }
        return kept;
    });
}

}  // namespace profana
