// Sorting large arrays by a 64-bit integer key: a radix sort over the bits in which the keys differ.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace profana {

// Sorts a vector `items` by key(item), an int64_t, rising; equal keys keep their order. Sorted input costs
// one look.
template <class Items, class Key>
void radix_sort(Items& items, Key key) {
    using Item = typename Items::value_type;
    const auto less = [&](const Item& a, const Item& b) { return key(a) < key(b); };
    if (std::is_sorted(items.begin(), items.end(), less)) return;
    if (items.size() < 2048) {
        std::stable_sort(items.begin(), items.end(), less);
        return;
    }
    const auto [low, high] = std::minmax_element(items.begin(), items.end(), less);
    const auto base = static_cast<uint64_t>(key(*low));
    const uint64_t range = static_cast<uint64_t>(key(*high)) - base;

    constexpr int kBits = 11;
    constexpr uint64_t kBuckets = uint64_t{1} << kBits;
    Items other(items.size());
    for (int shift = 0; shift < 64 && range >> shift != 0; shift += kBits) {
        const auto digit = [&](const Item& item) {
            return ((static_cast<uint64_t>(key(item)) - base) >> shift) & (kBuckets - 1);
        };
        std::array<size_t, kBuckets> place{};
        for (const Item& item : items) ++place[digit(item)];
        size_t before = 0;
        for (size_t& count : place) before += std::exchange(count, before);
        for (const Item& item : items) other[place[digit(item)]++] = item;
        items.swap(other);
    }
}

}  // namespace profana
