#include "ext/core/row_sort.h"

#include <algorithm>
#include <array>

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
void radix_sort(std::vector<Keyed>& rows, LoadContext& context) {
    std::vector<Keyed> other(rows.size());
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

}  // namespace

void sort_rows(std::vector<KeyedRow>& rows, LoadContext& context) {
    const auto by_key = [](const KeyedRow& a, const KeyedRow& b) { return a.key < b.key; };
    constexpr size_t kSmall = 1024;  // below, the histograms cost more than comparing
    if (rows.size() < kSmall) {
        std::stable_sort(rows.begin(), rows.end(), by_key);
        return;
    }
    if (std::is_sorted(rows.begin(), rows.end(), by_key)) return;
    const uint64_t largest = std::max_element(rows.begin(), rows.end(), by_key)->key;
    if (largest > std::numeric_limits<uint32_t>::max()) return radix_sort(rows, context);
    std::vector<ShortKeyedRow> narrow(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) narrow[i] = {static_cast<uint32_t>(rows[i].key), rows[i].row};
    radix_sort(narrow, context);
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = {narrow[i].key, narrow[i].row};
}

}  // namespace profana
