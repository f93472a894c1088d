// Indexes and sort orders over the columns of a Table, built on first use and kept with it.
#pragma once

#include <string_view>
#include <vector>

#include "ext/core/cell.h"
#include "ext/core/row_sort.h"
#include "ext/core/store.h"

namespace profana {

// The rows of one column, arranged so that equal values stand side by side.
//
// kInt, kReal and kAny columns are in SQLite's order: NULL, then numbers, then texts by bytes. kText columns
// are in order of code and kLong columns in order of a hash of the text: that answers equality, which is what
// joins need, without sorting any text. Equal values stand in row order.
class Index {
  public:
    Index(const Column& column, LoadContext& context);

    // Positions [first, last) of the arrangement.
    struct Range {
        size_t first = 0, last = 0;
        size_t size() const { return last - first; }
    };
    size_t size() const { return size_; }
    Row row(size_t position) const { return order_.empty() ? static_cast<Row>(position) : order_[position]; }
    uint64_t distinct() const { return distinct_; }  // values other than NULL

    Range nulls() const { return {0, nulls_}; }
    Range not_null() const { return {nulls_, size_}; }
    Range equal(int64_t value) const;
    Range equal(double value) const;
    // Over a kLong column also the rows of other texts with the same hash.
    Range equal(std::string_view text) const;
    Range code(uint32_t code) const;    // kText, kAny: the rows of one dictionary code
    Range hashed(uint64_t hash) const;  // kLong: the rows whose text has this hash_text(), and perhaps others

    // The numbers from `value` on, and those behind it; kInt, kReal, kAny.
    size_t first_not_below(int64_t value) const;
    size_t first_not_below(double value) const;
    size_t first_above(int64_t value) const;
    size_t first_above(double value) const;

    // The arrangement as rows; empty: rows are in order as they are.
    const PageVector<Row>& order() const { return order_; }
    size_t bytes() const { return bytes_.get(); }

  private:
    void build_ints(LoadContext& context);
    void build_reals(LoadContext& context);
    void build_codes(LoadContext& context);
    void build_anys(LoadContext& context);
    void build_longs(LoadContext& context);
    void build_directory();
    void build_landmarks();
    uint64_t number_bits(Row row) const;
    int compare_at(size_t position, int64_t value) const;
    int compare_at(size_t position, double value) const;
    template <class Value>
    size_t search(Value value, int at_least) const;
    template <class Value>
    Range equal_number(Value value) const;
    Range text_range(uint32_t code) const;

    const Column& column_;
    size_t size_ = 0, nulls_ = 0, numbers_end_ = 0;
    uint64_t distinct_ = 0;
    PageVector<Row> order_;
    // kInt: where the values of each stretch of the value range begin, so that a search is a step or two.
    int64_t smallest_ = 0;
    unsigned stretch_bits_ = 0;
    PageVector<Row> stretch_start_;
    // kReal, kAny: every kLandmark-th number as order_bits(): what a search looks at first lies side by side.
    static constexpr size_t kLandmark = 64;
    PageVector<uint64_t> landmarks_;
    PageVector<Row> text_start_;   // kText by code, kAny by rank: first position; one more than there are
    PageVector<uint32_t> ranks_;   // kAny: place of each code in byte order
    PageVector<uint32_t> hashes_;  // kLong: by position, from nulls_ on
    CountedBytes bytes_;
};

// One column of an ORDER BY.
struct OrderTerm {
    static constexpr int kRowNumber = -1;
    int column = 0;
    bool descending = false;
    bool operator==(const OrderTerm&) const = default;
};

// All rows of a table in the order of some terms: SQLite's order, NULL first where ascending; ties in row
// order.
class RowOrder {
  public:
    RowOrder(const Table& table, std::vector<OrderTerm> terms, LoadContext& context);
    const std::vector<OrderTerm>& terms() const { return terms_; }
    // Empty: rows are in order as they are.
    const PageVector<Row>& rows() const { return rows_; }
    size_t bytes() const { return bytes_.get(); }

  private:
    std::vector<OrderTerm> terms_;
    PageVector<Row> rows_;
    CountedBytes bytes_;
};

// Sorts some rows of a table; ties stay in their order.
void sort_by(const Table& table, const std::vector<OrderTerm>& terms, PageVector<Row>& rows,
             LoadContext& context);

// The place of each code of a dictionary in byte order; NULL (code 0) comes first.
PageVector<uint32_t> dictionary_ranks(const Dictionary& dictionary, LoadContext& context);

}  // namespace profana
