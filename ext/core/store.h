// The columnar store: what every reader fills and every virtual table scans.
//
// A Table has a fixed list of columns. A column's values arrive in one go, when a query first needs the
// column, and never change afterwards; so scans need no lock. Values stand in blocks that never move.
//
// NULL is a reserved value, so that no column needs a second array: kNullInt, NaN, text code 0, nullptr.
// A source value equal to kNullInt is out of every format's range; readers report it and store NULL.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ext/core/progress.h"

namespace profana {

constexpr int64_t kNullInt = std::numeric_limits<int64_t>::min();
constexpr double kNullReal = std::numeric_limits<double>::quiet_NaN();
constexpr uint32_t kNullCode = 0;

using Row = uint32_t;  // ordinal in file order; a table holds fewer than 2^32 rows

enum class ColumnType : uint8_t {
    kInt,   // int64
    kReal,  // double
    kText,  // dictionary-coded: few distinct values, or values that are searched for
    kAny,   // int64, double or text, row by row: ids whose type differs within one file
    kLong,  // long texts that rarely repeat (args, extra): bytes in an arena, or a place in the file
};

// A growable array in blocks that never move.
template <class T>
class Blocks {
  public:
    static constexpr size_t kShift = 16, kSize = size_t{1} << kShift, kMask = kSize - 1;
    size_t size() const { return size_; }
    const T& operator[](size_t i) const { return blocks_[i >> kShift][i & kMask]; }
    T& operator[](size_t i) { return blocks_[i >> kShift][i & kMask]; }
    void push_back(const T& value);
    void append(const T* values, size_t n);
    size_t bytes() const { return blocks_.size() * kSize * sizeof(T); }

  private:
    std::vector<std::unique_ptr<T[]>> blocks_;
    size_t size_ = 0;
};

// Bytes that never move; every text is NUL-terminated.
class Arena {
  public:
    const char* add(std::string_view text);
    size_t bytes() const { return bytes_; }

  private:
    std::vector<std::unique_ptr<char[]>> blocks_;
    size_t used_ = 0, room_ = 0, bytes_ = 0;
};

// Texts and their codes. Code 0 is NULL. Codes count from 1 in order of first appearance.
class Dictionary {
  public:
    Dictionary();
    uint32_t intern(std::string_view text);
    uint32_t find(std::string_view text) const;                  // kNullCode: not there
    uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }  // code 0 included
    const char* c_str(uint32_t code) const { return entries_[code].text; }
    std::string_view text(uint32_t code) const { return {entries_[code].text, entries_[code].length}; }
    size_t bytes() const;

  private:
    struct Entry {
        const char* text = nullptr;
        uint32_t length = 0;
        uint32_t hash = 0;
    };
    void grow();
    std::vector<Entry> entries_;
    std::vector<uint32_t> slots_;  // open addressing over entries_
    Arena arena_;
};

// One value of a kAny column.
struct AnyValue {
    enum Kind : uint8_t { kNull, kInteger, kDouble, kString } kind = kNull;
    union {
        int64_t integer;
        double real;
        uint32_t code;  // into the column's dictionary
    };
    AnyValue() : integer(0) {}
};

// A kLong value: text in memory, or a place in a plain file that is read again when asked for.
struct LongRef {
    const char* text = nullptr;  // NUL-terminated, in memory; nullptr with length > 0: at `offset` in the file
    uint64_t offset = 0;
    uint32_t length = 0;
    bool null = true;
};

// Reads a LongRef that is a place in a file (and repairs it as the parser did). Thread-safe.
class LongSource {
  public:
    virtual ~LongSource() = default;
    virtual std::string read(const LongRef& ref) const = 0;
};

class Column {
  public:
    explicit Column(ColumnType type) : type_(type) {}
    ColumnType type() const { return type_; }
    size_t size() const;
    size_t bytes() const;

    // Writing, one value a row, in row order.
    void add_int(int64_t value) { ints_.push_back(value); }
    void add_real(double value) { reals_.push_back(value); }
    void add_text(std::string_view value) { codes_.push_back(dictionary_.intern(value)); }
    void add_code(uint32_t code) { codes_.push_back(code); }
    void add_any(AnyValue value) { anys_.push_back(value); }
    void add_any_text(std::string_view value);
    void add_long(std::string_view value);  // copied into the arena
    void add_long(LongRef ref) { longs_.push_back(ref); }
    void add_null();
    Dictionary& dictionary() { return dictionary_; }
    void set_long_source(std::shared_ptr<const LongSource> source) { long_source_ = std::move(source); }

    // Reading.
    int64_t integer(Row row) const { return ints_[row]; }
    double real(Row row) const { return reals_[row]; }
    uint32_t code(Row row) const { return codes_[row]; }
    std::string_view text(Row row) const { return dictionary_.text(codes_[row]); }
    const AnyValue& any(Row row) const { return anys_[row]; }
    const LongRef& long_ref(Row row) const { return longs_[row]; }
    std::string long_text(Row row) const;
    const Dictionary& dictionary() const { return dictionary_; }
    bool is_null(Row row) const;

  private:
    ColumnType type_;
    Blocks<int64_t> ints_;
    Blocks<double> reals_;
    Blocks<uint32_t> codes_;
    Blocks<AnyValue> anys_;
    Blocks<LongRef> longs_;
    Dictionary dictionary_;
    Arena arena_;
    std::shared_ptr<const LongSource> long_source_;
};

// A set of columns by number.
class ColumnSet {
  public:
    void add(int column);
    bool has(int column) const;
    bool empty() const;
    template <class F>
    void each(F f) const {
        for (size_t c = 0; c < bits_.size(); ++c)
            if (bits_[c]) f(static_cast<int>(c));
    }

  private:
    std::vector<bool> bits_;
};

// Row order of one column, built on first use. Order is SQLite's: NULL, then numbers, then texts by bytes;
// equal values in row order.
class Index {
  public:
    // Rows whose value stands in [first, last) of the order.
    struct Range {
        size_t first = 0, last = 0;
        size_t size() const { return last - first; }
    };
    size_t size() const { return size_; }
    Row row(size_t position) const { return order_.empty() ? static_cast<Row>(position) : order_[position]; }
    uint64_t distinct() const { return distinct_; }  // for the planner

    Range nulls() const { return {0, nulls_}; }
    Range equal(int64_t value) const;
    Range equal(double value) const;
    Range equal(std::string_view text) const;
    Range code(uint32_t code) const;  // kText columns: the rows of one dictionary code
    // lower/upper bound on the numbers of the column; texts of a kAny column lie after all numbers.
    size_t first_not_below(int64_t value) const;
    size_t first_above(int64_t value) const;
    size_t first_not_below(double value) const;
    size_t first_above(double value) const;
    size_t bytes() const;

  private:
    friend class IndexBuilder;
    const Column* column_ = nullptr;
    size_t size_ = 0, nulls_ = 0;
    uint64_t distinct_ = 0;
    std::vector<Row> order_;          // empty: the rows are in order already
    std::vector<uint32_t> code_start_;  // kText: first position of each rank; see store.cpp
    std::vector<uint32_t> code_rank_;   // kText: rank of each code by bytes
};

// Rows of one source, filled on demand.
//
// A reader makes the Table with all its columns and a loader. ensure() calls the loader for the columns that
// a query needs and that are not there yet; the loader adds a Column for each (or for more than asked), all
// with the same number of rows. A table is loaded by one thread at a time; others wait, interruptibly.
class Table {
  public:
    using Loader = std::function<void(Table& table, const ColumnSet& wanted, LoadContext& context)>;

    Table(std::vector<ColumnType> types, Loader loader);

    int columns() const { return static_cast<int>(types_.size()); }
    ColumnType type(int column) const { return types_[column]; }

    void ensure(const ColumnSet& wanted, LoadContext& context);
    void ensure_rows(LoadContext& context);       // just the number of rows
    bool loaded(int column) const { return columns_[column] != nullptr; }

    Row rows() const { return rows_; }
    // The column; it must be loaded. A column that the source does not have is all NULL: absent(column).
    const Column& column(int column) const { return *columns_[column]; }
    bool absent(int column) const { return absent_[column]; }
    // The index over a loaded, present column. Built on first use; interruptible.
    const Index& index(int column, LoadContext& context) const;

    size_t bytes() const;

    // For loaders.
    void set_rows(Row rows);
    void set_column(int column, std::unique_ptr<Column> values);
    void set_absent(int column);
    // A column under construction, made on first call: loaders append to it, then publish() all of them.
    Column& building(int column);
    void publish();

  private:
    std::vector<ColumnType> types_;
    Loader loader_;
    std::vector<std::unique_ptr<Column>> columns_, building_;
    std::vector<bool> absent_;
    bool rows_known_ = false;
    Row rows_ = 0;
    mutable std::timed_mutex mutex_;  // one loader at a time
    mutable std::mutex index_mutex_;
    mutable std::vector<std::unique_ptr<Index>> indexes_;
};

// ---- details ---------------------------------------------------------------------------------------------

template <class T>
void Blocks<T>::push_back(const T& value) {
    if ((size_ & kMask) == 0) blocks_.push_back(std::make_unique_for_overwrite<T[]>(kSize));
    blocks_.back()[size_++ & kMask] = value;
}

template <class T>
void Blocks<T>::append(const T* values, size_t n) {
    while (n > 0) {
        if ((size_ & kMask) == 0) blocks_.push_back(std::make_unique_for_overwrite<T[]>(kSize));
        const size_t room = kSize - (size_ & kMask), part = n < room ? n : room;
        std::copy(values, values + part, blocks_.back().get() + (size_ & kMask));
        size_ += part, values += part, n -= part;
    }
}

}  // namespace profana
