// The columnar store: what every reader fills and every virtual table scans.
//
// A Table has a fixed list of columns. A column's values arrive in one go, when a query first needs the
// column, and never change afterwards; so scans need no lock. Values stand in blocks that never move.
//
// NULL is a reserved value, so that no column needs a second array: kNullInt, NaN, text code 0,
// LongRef::kNull. A source value equal to kNullInt is out of every format's range; readers report it and
// store NULL.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ext/core/memory.h"
#include "ext/core/pages.h"
#include "ext/core/progress.h"

namespace profana {

constexpr int64_t kNullInt = std::numeric_limits<int64_t>::min();
constexpr double kNullReal = std::numeric_limits<double>::quiet_NaN();
constexpr uint32_t kNullCode = 0;

using Row = uint32_t;                                           // ordinal in file order
constexpr uint64_t kMaxRows = std::numeric_limits<Row>::max();  // of one table

enum class ColumnType : uint8_t {
    kInt,   // int64
    kReal,  // double
    kText,  // dictionary-coded: few distinct values, or values that are searched for
    kAny,   // int64, double or text, row by row: ids whose type differs within one file
    kLong,  // long texts that rarely repeat (args, extra): bytes in an arena, or a place in the file
};

// A growable array in blocks that never move once there is more than one; the first grows from a few values,
// so that small tables stay small.
template <class T>
class Blocks {
  public:
    static constexpr size_t kShift = 16, kSize = size_t{1} << kShift, kMask = kSize - 1;
    size_t size() const { return size_; }
    const T& operator[](size_t i) const { return blocks_[i >> kShift][i & kMask]; }
    T& operator[](size_t i) { return blocks_[i >> kShift][i & kMask]; }
    void push_back(const T& value);
    void append(const T* values, size_t n);
    // The values from i to the end of its block, in one piece.
    std::span<const T> piece(size_t i) const;
    size_t bytes() const { return bytes_.get(); }

  private:
    // Memory for so many values. None is constructed: what is read was written before.
    class Block {
      public:
        explicit Block(size_t n) : values_(static_cast<T*>(take_memory(n * sizeof(T)))), n_(n) {}
        ~Block() { give_memory(values_, n_ * sizeof(T)); }
        Block(Block&& other) noexcept : values_(std::exchange(other.values_, nullptr)), n_(other.n_) {}
        Block& operator=(Block&& other) noexcept {
            std::swap(values_, other.values_);
            std::swap(n_, other.n_);
            return *this;
        }
        T* get() const { return values_; }
        T& operator[](size_t i) const { return values_[i]; }

      private:
        static_assert(std::is_trivially_copyable_v<T>);
        T* values_;
        size_t n_;
    };
    void grow();
    std::vector<Block> blocks_;
    size_t size_ = 0, capacity_ = 0;
    CountedBytes bytes_;
};

// Bytes that never move; every text is NUL-terminated.
class Arena {
  public:
    const char* add(std::string_view text);
    size_t bytes() const { return bytes_.get(); }

  private:
    std::vector<std::unique_ptr<char[]>> blocks_;
    char* free_ = nullptr;  // room_ bytes at the end of the newest common block
    size_t room_ = 0, next_block_ = 256;
    CountedBytes bytes_;
};

// The hash that dictionaries and indexes use, 8 bytes at a time. It differs from process to process, so that
// no file can be made to collide.
uint64_t hash_text(std::string_view text);

// Texts and their codes. Code 0 is NULL. Codes count from 1 in order of first appearance.
class Dictionary {
  public:
    static constexpr size_t kMaxTextBytes = (size_t{1} << 31) - 1;

    Dictionary();
    uint32_t intern(std::string_view text) { return intern(text, static_cast<uint32_t>(hash_text(text))); }
    uint32_t intern(std::string_view text, uint32_t hash);  // hash: of hash_text(), its lower half
    // kNullCode: not there. guess: a code whose text it may well be, which spares the search.
    uint32_t find(std::string_view text, uint32_t guess = kNullCode) const;
    uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }  // code 0 included
    const char* c_str(uint32_t code) const { return entries_[code].text; }    // nullptr for code 0
    std::string_view text(uint32_t code) const {
        const Entry& entry = entries_[code];
        return {entry.text, entry.length};
    }
    bool has_nul(uint32_t code) const { return entries_[code].has_nul; }  // a NUL byte inside the text
    uint32_t hash(uint32_t code) const { return entries_[code].hash; }
    size_t bytes() const;

  private:
    struct Entry {
        const char* text;
        uint32_t length : 31;
        uint32_t has_nul : 1;
        uint32_t hash;
    };
    size_t slot_of(std::string_view text, uint32_t hash) const;
    void grow();
    Blocks<Entry> entries_;
    std::vector<uint32_t> slots_;  // open addressing over entries_; 0: free
    CountedBytes slot_bytes_;
    Arena arena_;
};

// Codes of one dictionary as those of another, which takes each text when it is first met.
class Recoder {
  public:
    Recoder(const Dictionary& from, Dictionary& to) : from_(from), to_(to), codes_(from.size(), kNullCode) {}
    uint32_t operator()(uint32_t code) {
        uint32_t& known = codes_[code];
        if (known == kNullCode && code != kNullCode) known = to_.intern(from_.text(code), from_.hash(code));
        return known;
    }

  private:
    const Dictionary& from_;
    Dictionary& to_;
    PageVector<uint32_t> codes_;
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
    static AnyValue of(int64_t value);
    static AnyValue of(double value);  // NaN: NULL
};

// A kLong value: text in memory, or a place in a plain file that is read again when asked for.
struct LongRef {
    enum Kind : uint8_t { kNull, kMemory, kFile } kind = kNull;
    bool has_nul = false;  // in memory: a NUL byte inside the text
    uint32_t length = 0;
    union {
        const char* text;  // NUL-terminated
        uint64_t offset;   // in the file
    };
    LongRef() : text(nullptr) {}
    static LongRef in_file(uint64_t offset, uint32_t length);
    static LongRef in_memory(std::string_view text);  // that is NUL-terminated and outlives the column
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
    void add_text(std::string_view value) {  // often that of the row before
        if (last_text_ == kNullCode || dictionary_.text(last_text_) != value)
            last_text_ = dictionary_.intern(value);
        codes_.push_back(last_text_);
    }
    void add_code(uint32_t code) { codes_.push_back(code); }
    void add_any(AnyValue value) { anys_.push_back(value); }
    void add_any_text(std::string_view value);
    void add_long(std::string_view value);  // copied into the arena
    void add_long(LongRef ref) { longs_.push_back(ref); }
    void add_null();
    Dictionary& dictionary() { return dictionary_; }
    void set_long_source(std::shared_ptr<const LongSource> source) { long_source_ = std::move(source); }

    // These rows of another column of the same type, in this order.
    void add_rows(const Column& from, const PageVector<Row>& rows);

    // Writing in bulk.
    void add_ints(const int64_t* values, size_t n) { ints_.append(values, n); }
    void add_reals(const double* values, size_t n) { reals_.append(values, n); }
    void add_codes(const uint32_t* values, size_t n) { codes_.append(values, n); }
    void add_anys(const AnyValue* values, size_t n) { anys_.append(values, n); }
    // arena: where those of them stand that are in memory; may be nullptr.
    void add_longs(const LongRef* values, size_t n, std::unique_ptr<Arena> arena);

    // Reading.
    int64_t integer(Row row) const { return ints_[row]; }
    double real(Row row) const { return reals_[row]; }
    uint32_t code(Row row) const { return codes_[row]; }
    void prefetch_integer(Row row) const { __builtin_prefetch(&ints_[row]); }
    void prefetch_code(Row row) const { __builtin_prefetch(&codes_[row]); }
    std::string_view text(Row row) const { return dictionary_.text(codes_[row]); }
    const AnyValue& any(Row row) const { return anys_[row]; }
    const LongRef& long_ref(Row row) const { return longs_[row]; }
    std::string long_text(Row row) const;
    const Dictionary& dictionary() const { return dictionary_; }
    bool is_null(Row row) const;

    // Changing what was added, before the column is published: times whose origin the file tells at its end.
    Blocks<int64_t>& ints() { return ints_; }

    // Reading in bulk: see Blocks::piece.
    const Blocks<int64_t>& ints() const { return ints_; }
    const Blocks<double>& reals() const { return reals_; }
    const Blocks<uint32_t>& codes() const { return codes_; }

  private:
    ColumnType type_;
    Blocks<int64_t> ints_;
    Blocks<double> reals_;
    Blocks<uint32_t> codes_;
    Blocks<AnyValue> anys_;
    Blocks<LongRef> longs_;
    Dictionary dictionary_;
    uint32_t last_text_ = kNullCode;  // of add_text
    Arena arena_;
    std::vector<std::unique_ptr<Arena>> arenas_;  // of add_longs
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

// A thing that is built under a lock when first needed, and found without one afterwards.
template <class T>
class BuiltOnce {
  public:
    const T* find() const { return found_.load(std::memory_order_acquire); }
    const T& set(std::unique_ptr<const T> built) {
        built_ = std::move(built);
        found_.store(built_.get(), std::memory_order_release);
        return *built_;
    }

  private:
    std::unique_ptr<const T> built_;
    std::atomic<const T*> found_{nullptr};
};

class Index;  // these three: ext/core/index.h
class RowOrder;
struct OrderTerm;
class NumericTexts;  // ext/core/numeric_texts.h

// Rows of one source, filled on demand.
//
// A reader makes the Table with all its columns and a loader. ensure() calls the loader for the columns that
// a query needs and that are not there yet; the loader gives each of them (and may give more than asked), all
// with the same number of rows. What a loader gave counts only when it returns: if it throws, the table stays
// as it was and the next ensure() tries again. One thread loads at a time; others wait, interruptibly.
class Table {
  public:
    using Loader = std::function<void(Table& table, const ColumnSet& wanted, LoadContext& context)>;

    Table(std::vector<ColumnType> types, Loader loader);
    ~Table();

    int columns() const { return static_cast<int>(types_.size()); }
    ColumnType type(int column) const { return types_[column]; }

    void ensure(const ColumnSet& wanted, LoadContext& context);
    void ensure_rows(LoadContext& context);  // just the number of rows: the loader is asked for no column
    bool loaded(int column) const { return columns_[column] != nullptr || absent_[column]; }
    bool rows_known() const { return rows_known_; }

    Row rows() const { return rows_; }
    // The column; it must be loaded. A column that the source does not have is all NULL: absent(column).
    const Column& column(int column) const { return *columns_[column]; }
    std::shared_ptr<const Column> share(int column) const { return columns_[column]; }  // for another table
    bool absent(int column) const { return absent_[column]; }
    const Column* find(int column) const { return absent(column) ? nullptr : columns_[column].get(); }
    // What is derived from a loaded, present column, built on first use; interruptible.
    const Index& index(int column, LoadContext& context) const;
    const NumericTexts& numeric_texts(int column, LoadContext& context) const;
    // The index if it is there or has come to be worth building: a few searches are cheaper by a pass over
    // the column. nullptr: not yet.
    const Index* index_for_search(int column, LoadContext& context) const;
    // About how many values other than NULL the column has, for the planner; at least 1.
    double distinct(int column) const;
    // All rows sorted by loaded, present columns other than kLong. The newest few are kept.
    std::shared_ptr<const RowOrder> order(const std::vector<OrderTerm>& terms, LoadContext& context) const;

    size_t bytes() const;  // columns, those under construction too, indexes and orders

    // For loaders. A column that was asked for and is neither built, set nor absent is a mistake of the
    // loader.
    void set_rows(uint64_t rows);  // needed only where the loader gives no column
    void set_column(int column, std::shared_ptr<const Column> values);  // one of another table, too
    void set_absent(int column);
    void set_from(const Table& other, const ColumnSet& columns);  // rows and columns that are loaded there
    Column& building(int column);                                 // made empty on first call, to append to
    void drop_unpublished();  // forgets what was given: for a loader that begins anew
    // Makes what was given visible. ensure() does so when the loader returns; only tables that are filled
    // without a loader call it themselves.
    void publish();

  private:
    void check_same_rows(uint64_t rows);

    std::vector<ColumnType> types_;
    Loader loader_;
    std::vector<std::shared_ptr<const Column>> columns_, given_;
    std::vector<std::unique_ptr<Column>> building_;
    std::vector<char> absent_, building_absent_;
    bool rows_known_ = false, building_rows_known_ = false;
    Row rows_ = 0;
    uint64_t building_rows_ = 0;
    mutable std::timed_mutex mutex_;                  // one loader at a time
    mutable std::recursive_timed_mutex index_mutex_;  // an order may need an index
    mutable std::vector<BuiltOnce<Index>> indexes_;
    mutable std::vector<BuiltOnce<NumericTexts>> numeric_texts_;
    mutable std::vector<int> searches_;     // by column, before it has an index
    mutable std::vector<double> distinct_;  // by column; 0: not looked at yet
    mutable std::vector<std::shared_ptr<const RowOrder>> orders_;
};

// ---- details ---------------------------------------------------------------------------------------------

template <class T>
void Blocks<T>::grow() {
    constexpr size_t kFirst = 8;
    if (capacity_ >= kSize) {
        blocks_.emplace_back(kSize);
        capacity_ += kSize;
    } else {
        const size_t wider = capacity_ == 0 ? kFirst : capacity_ * 2;
        Block block(wider);
        if (size_ > 0) std::copy(blocks_[0].get(), blocks_[0].get() + size_, block.get());
        blocks_.clear();
        blocks_.push_back(std::move(block));
        capacity_ = wider;
    }
    bytes_.set(capacity_ * sizeof(T));
}

template <class T>
void Blocks<T>::push_back(const T& value) {
    if (size_ == capacity_) grow();
    blocks_.back()[size_++ & kMask] = value;
}

template <class T>
void Blocks<T>::append(const T* values, size_t n) {
    while (n > 0) {
        if (size_ == capacity_) grow();
        const size_t part = std::min(n, capacity_ - size_);
        std::copy(values, values + part, blocks_.back().get() + (size_ & kMask));
        size_ += part, values += part, n -= part;
    }
}

template <class T>
std::span<const T> Blocks<T>::piece(size_t i) const {
    if (i >= size_) return {};
    return {&blocks_[i >> kShift][i & kMask], std::min(size_ - i, kSize - (i & kMask))};
}

}  // namespace profana
