#include "ext/core/row_sort.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace profana {
namespace {

constexpr unsigned kDigitBits = 11;
constexpr size_t kDigits = size_t{1} << kDigitBits;

struct ShortKeyedRow {  // half the memory traffic where keys fit
    uint32_t key;
    Row row;
};

// Least significant digit first. Digits that are the same everywhere cost nothing.
template <class Keyed>
void radix_sort(PageVector<Keyed>& rows, LoadContext& context) {
    PageVector<Keyed> other(rows.size());
    LoopPoll poll(context);
    uint64_t used_bits = 0;
    for (const Keyed& row : rows) used_bits |= row.key ^ rows[0].key;
    for (unsigned shift = 0; shift < 64 && (used_bits >> shift) != 0; shift += kDigitBits) {
        if (((used_bits >> shift) & (kDigits - 1)) == 0) continue;
        const auto digit = [shift](const Keyed& row) {
            return (static_cast<uint64_t>(row.key) >> shift) & (kDigits - 1);
        };
        std::array<size_t, kDigits> place{};
        for (const Keyed& row : rows) ++place[digit(row)];
        size_t before = 0;
        for (size_t& p : place) {
            const size_t count = p;
            p = before;
            before += count;
        }
        for (const Keyed& row : rows) {
            other[place[digit(row)]++] = row;
            poll.tick();
        }
        rows.swap(other);
    }
}

// Where the sorted stretches of a column begin, at most so many; its least and largest value but for NULL.
struct Stretches {
    static constexpr size_t kMost = 32;
    std::vector<size_t> begins;
    int64_t least = std::numeric_limits<int64_t>::max(), largest = kNullInt;
    bool too_many = false;

    explicit Stretches(const Column& column) {
        int64_t before = std::numeric_limits<int64_t>::max();
        for (size_t i = 0; i < column.size();) {
            for (const int64_t value : column.ints().piece(i)) {
                if (i == 0 || value < before) add(i);
                if (value != kNullInt) least = std::min(least, value);
                largest = std::max(largest, value);
                before = value;
                ++i;
            }
        }
    }

  private:
    void add(size_t begin) {
        too_many = too_many || begins.size() == kMost;
        if (!too_many) begins.push_back(begin);
    }
};

// Two neighbours at a time, until one stretch is left.
PageVector<Row> merged(const Column& column, std::vector<size_t> begins, LoadContext& context) {
    PageVector<Row> rows(column.size()), other(column.size());
    std::iota(rows.begin(), rows.end(), Row{0});
    const auto by_value = [&](Row a, Row b) { return column.integer(a) < column.integer(b); };
    begins.push_back(rows.size());
    while (begins.size() > 2) {
        context.poll();
        std::vector<size_t> longer;
        for (size_t i = 0; i + 1 < begins.size(); i += 2) {
            const auto place = [&](size_t stretch) {
                return static_cast<ptrdiff_t>(begins[std::min(stretch, begins.size() - 1)]);
            };
            longer.push_back(begins[i]);
            std::merge(rows.begin() + place(i), rows.begin() + place(i + 1), rows.begin() + place(i + 1),
                       rows.begin() + place(i + 2), other.begin() + place(i), by_value);
        }
        longer.push_back(rows.size());
        begins = std::move(longer);
        rows.swap(other);
    }
    return rows;
}

// The key of NULL is 0, that of the least value 1.
template <class Keyed>
PageVector<Row> radix_sorted(const Column& column, int64_t least, LoadContext& context) {
    PageVector<Keyed> keyed(column.size());
    for (size_t i = 0; i < keyed.size(); ++i) {
        const int64_t value = column.integer(static_cast<Row>(i));
        const uint64_t key =
            value == kNullInt ? 0 : static_cast<uint64_t>(value) - static_cast<uint64_t>(least) + 1;
        keyed[i] = {static_cast<decltype(keyed[i].key)>(key), static_cast<Row>(i)};
    }
    radix_sort(keyed, context);
    PageVector<Row> rows(keyed.size());
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = keyed[i].row;
    return rows;
}

}  // namespace

PageVector<Row> rows_by_value(const Column& column, LoadContext& context) {
    const Stretches stretches(column);
    if (stretches.begins.size() < 2) return {};
    if (!stretches.too_many) return merged(column, stretches.begins, context);
    const uint64_t range = static_cast<uint64_t>(stretches.largest) - static_cast<uint64_t>(stretches.least);
    if (range < std::numeric_limits<uint32_t>::max())
        return radix_sorted<ShortKeyedRow>(column, stretches.least, context);
    return radix_sorted<KeyedRow>(column, stretches.least, context);
}

void sort_rows(PageVector<KeyedRow>& rows, LoadContext& context) {
    const auto by_key = [](const KeyedRow& a, const KeyedRow& b) { return a.key < b.key; };
    constexpr size_t kSmall = 1024;  // below, the histograms cost more than comparing
    if (rows.size() < kSmall) {
        std::stable_sort(rows.begin(), rows.end(), by_key);
        return;
    }
    if (std::is_sorted(rows.begin(), rows.end(), by_key)) return;
    const uint64_t largest = std::max_element(rows.begin(), rows.end(), by_key)->key;
    if (largest > std::numeric_limits<uint32_t>::max()) return radix_sort(rows, context);
    PageVector<ShortKeyedRow> narrow(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) narrow[i] = {static_cast<uint32_t>(rows[i].key), rows[i].row};
    radix_sort(narrow, context);
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = {narrow[i].key, narrow[i].row};
}

}  // namespace profana
