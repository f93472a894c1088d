// The order of an aggregate's rows by INTEGER keys that come with each of them: NULL before numbers, rows
// alike as they come.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "functions/arguments.h"

namespace profana {

class RowOrderKeys {
  public:
    static constexpr int kMostKeys = 6;

    // The keys of one more row.
    void add(const char* function, sqlite3_value** keys, int n) {
        if (n > kMostKeys)
            throw Error(std::string(function) + ": takes " + std::to_string(kMostKeys) + " keys at most");
        Keys row;
        for (int i = 0; i < n; ++i) {
            const Argument key{function, kNames[static_cast<size_t>(i)], keys[i]};
            if (!is_null(key.value)) row[static_cast<size_t>(i)] = integer_argument(key);
        }
        if (rows_ == 0) {
            keys_per_row_ = static_cast<size_t>(n);
            first_ = row;
        } else {
            if (rows_ == 1) append(first_);
            append(row);
        }
        ++rows_;
    }

    // Once there is a row.
    void reserve(size_t rows) { keys_.reserve(rows * keys_per_row_); }
    size_t rows() const { return rows_; }

    // The rows' numbers in order; empty: they came in order.
    std::vector<uint32_t> order() const {
        const auto earlier = [this](size_t a, size_t b) {
            const auto* left = keys_.data() + a * keys_per_row_;
            const auto* right = keys_.data() + b * keys_per_row_;
            return std::lexicographical_compare(left, left + keys_per_row_, right, right + keys_per_row_);
        };
        size_t sorted = 1;
        while (sorted < rows_ && !earlier(sorted, sorted - 1)) ++sorted;
        std::vector<uint32_t> order;
        if (sorted >= rows_) return order;
        order.resize(rows_);
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(), earlier);
        return order;
    }

  private:
    using Keys = std::array<std::optional<int64_t>, kMostKeys>;
    void append(const Keys& row) {
        keys_.insert(keys_.end(), row.begin(), row.begin() + static_cast<std::ptrdiff_t>(keys_per_row_));
    }

    static constexpr std::array<const char*, kMostKeys> kNames{"first",  "second", "third",
                                                               "fourth", "fifth",  "sixth"};
    Keys first_;                                // most groups have a single row: theirs need no memory
    std::vector<std::optional<int64_t>> keys_;  // of all rows where there are several, one after the other
    size_t keys_per_row_ = 0, rows_ = 0;
};

}  // namespace profana
