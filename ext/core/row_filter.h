// Tests of single columns that throw out rows while a table is scanned: a few instructions a row instead of a
// trip through SQLite. A test may keep rows too many, never too few: SQLite checks every row again.
#pragma once

#include <cstdint>
#include <vector>

#include "ext/core/cell.h"
#include "ext/core/store.h"

namespace profana {

// The values of one column that an equality or an IN admits.
struct ValueSet {
    bool all = false;   // cannot be told: every row
    bool null = false;  // NULL too
    std::vector<int64_t> integers;
    std::vector<double> reals;
    std::vector<uint32_t> codes;   // of texts
    std::vector<uint64_t> hashes;  // of the texts of a kLong column
    void clear();
    void sort();  // and drop values that are there twice
    bool empty() const {
        return !all && !null && integers.empty() && reals.empty() && codes.empty() && hashes.empty();
    }
};

class RowTest {
  public:
    // No test for a set that admits all, nor for kLong columns.
    static bool can_test(const Column& column, const ValueSet& set);
    static RowTest in_set(const Column& column, const ValueSet& set);
    static RowTest in_range(const Column& column, int64_t low, int64_t high);    // kInt; both ends included
    static RowTest in_range(const Column& column, double low, double high);      // kReal
    static RowTest has_code(const Column& column, std::vector<uint8_t> wanted);  // kText; by code
    static RowTest null(const Column& column);
    static RowTest not_null(const Column& column);

    // Keeps the rows that pass; returns how many.
    size_t keep(Row* rows, size_t n) const;
    // Writes the rows of [first, last) that pass; returns how many.
    size_t select(Row first, Row last, Row* out) const;

  private:
    enum class Kind { kNull, kNotNull, kIntRange, kIntSet, kRealRange, kRealSet, kCode, kCodes, kAnySet };
    explicit RowTest(const Column& column, Kind kind) : column_(&column), kind_(kind) {}
    bool any_passes(Row row) const;
    template <class Visit>
    size_t visit(Visit visit) const;

    const Column* column_;
    Kind kind_;
    int64_t low_ = 0, high_ = 0;
    double real_low_ = 0, real_high_ = 0;
    uint32_t code_ = 0;
    std::vector<uint8_t> wanted_codes_;
    ValueSet set_;
};

}  // namespace profana
