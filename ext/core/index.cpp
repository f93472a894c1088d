#include "ext/core/index.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace profana {
namespace {

// Doubles as unsigned integers in the same order; -0.0 and 0.0 are one value, NaN (NULL) comes first.
uint64_t order_bits(double value) {
    constexpr uint64_t kSign = uint64_t{1} << 63;
    if (std::isnan(value)) return 0;
    if (value == 0) value = 0;
    const uint64_t bits = std::bit_cast<uint64_t>(value);
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

uint64_t distance(int64_t from, int64_t to) {
    return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
}

// The first 8 bytes of a text as a number that orders texts as far as it goes.
uint64_t prefix_key(std::string_view text) {
    uint64_t key = 0;
    for (size_t i = 0; i < 8; ++i) key = key << 8 | (i < text.size() ? static_cast<uint8_t>(text[i]) : 0);
    return key;
}

PageVector<KeyedRow> all_rows(size_t n) {
    PageVector<KeyedRow> rows(n);
    for (size_t i = 0; i < n; ++i) rows[i] = {0, static_cast<Row>(i)};
    return rows;
}

// Empty where the rows stand in their own order.
PageVector<Row> unless_in_row_order(PageVector<Row> rows) {
    for (size_t i = 0; i < rows.size(); ++i)
        if (rows[i] != i) return rows;
    return {};
}

PageVector<Row> rows_of(const PageVector<KeyedRow>& keyed) {
    PageVector<Row> rows(keyed.size());
    for (size_t i = 0; i < keyed.size(); ++i) rows[i] = keyed[i].row;
    return unless_in_row_order(std::move(rows));
}

// All rows of a text column by the bucket of their code, in row order within each bucket; empty: that is the
// row order. No keys are written down: beside the result there is nothing but a count for each bucket.
// starts: where each bucket begins, and behind the last one the number of rows.
template <class BucketOf>
PageVector<Row> rows_by_code(const Column& column, BucketOf bucket_of, PageVector<Row>& starts,
                             LoadContext& context) {
    const Blocks<uint32_t>& codes = column.codes();
    starts.assign(column.dictionary().size() + 1, 0);
    for (size_t row = 0; row < codes.size(); ++row) ++starts[bucket_of(codes[row]) + 1];
    for (size_t bucket = 1; bucket < starts.size(); ++bucket) starts[bucket] += starts[bucket - 1];
    PageVector<Row> place(starts.begin(), starts.end() - 1), rows(codes.size());
    LoopPoll poll(context);
    for (size_t row = 0; row < codes.size(); ++row) {
        rows[place[bucket_of(codes[row])]++] = static_cast<Row>(row);
        poll.tick();
    }
    return unless_in_row_order(std::move(rows));
}

uint64_t count_distinct(const PageVector<KeyedRow>& sorted, size_t first) {
    uint64_t distinct = 0;
    for (size_t i = first; i < sorted.size(); ++i)
        distinct += i == first || sorted[i].key != sorted[i - 1].key;
    return distinct;
}

// Keys from 1 on for the values, 0 for NULL.
void set_int_keys(const Column& column, PageVector<KeyedRow>& rows) {
    int64_t smallest = std::numeric_limits<int64_t>::max();
    for (const KeyedRow& row : rows) {
        const int64_t value = column.integer(row.row);
        if (value != kNullInt) smallest = std::min(smallest, value);
    }
    for (KeyedRow& row : rows) {
        const int64_t value = column.integer(row.row);
        row.key = value == kNullInt ? 0 : distance(smallest, value) + 1;
    }
}

}  // namespace

PageVector<uint32_t> dictionary_ranks(const Dictionary& dictionary, LoadContext& context) {
    PageVector<KeyedRow> codes = all_rows(dictionary.size());
    codes.erase(codes.begin());  // NULL
    for (KeyedRow& code : codes) code.key = prefix_key(dictionary.text(code.row));
    sort_rows(codes, context);
    LoopPoll poll(context);
    for (size_t first = 0; first < codes.size();) {  // runs that the prefix does not tell apart
        size_t last = first + 1;
        while (last < codes.size() && codes[last].key == codes[first].key) ++last;
        std::sort(codes.begin() + static_cast<ptrdiff_t>(first), codes.begin() + static_cast<ptrdiff_t>(last),
                  [&](const KeyedRow& a, const KeyedRow& b) {
                      poll.tick();
                      return dictionary.text(a.row) < dictionary.text(b.row);
                  });
        first = last;
    }
    PageVector<uint32_t> ranks(dictionary.size(), 0);
    for (size_t i = 0; i < codes.size(); ++i) ranks[codes[i].row] = static_cast<uint32_t>(i + 1);
    return ranks;
}

// ---- building --------------------------------------------------------------------------------------------

Index::Index(const Column& column, LoadContext& context) : column_(column), size_(column.size()) {
    switch (column.type()) {
        case ColumnType::kInt:
            build_ints(context);
            break;
        case ColumnType::kReal:
            build_reals(context);
            break;
        case ColumnType::kText:
            build_codes(context);
            break;
        case ColumnType::kAny:
            build_anys(context);
            break;
        case ColumnType::kLong:
            build_longs(context);
            break;
    }
    bytes_.set(order_.capacity() * sizeof(Row) + stretch_start_.capacity() * sizeof(Row) +
               landmarks_.capacity() * sizeof(uint64_t) + text_start_.capacity() * sizeof(Row) +
               ranks_.capacity() * sizeof(uint32_t) + hashes_.capacity() * sizeof(uint32_t));
}

void Index::build_ints(LoadContext& context) {
    order_ = rows_by_value(column_, context);
    int64_t before = kNullInt;
    for (size_t position = 0; position < size_; ++position) {
        const int64_t value = column_.integer(row(position));
        nulls_ += value == kNullInt;
        distinct_ += value != before;  // NULL, which is no value, stands before the first
        before = value;
    }
    numbers_end_ = size_;
    smallest_ = nulls_ < size_ ? column_.integer(row(nulls_)) : std::numeric_limits<int64_t>::max();
    build_directory();
}

// About one entry for two values, by equal stretches of the value range.
void Index::build_directory() {
    const size_t values = size_ - nulls_;
    if (values < 16) return;
    const uint64_t range = distance(smallest_, column_.integer(row(size_ - 1)));
    const unsigned range_bits = static_cast<unsigned>(std::bit_width(range));
    const unsigned wanted_bits = static_cast<unsigned>(std::bit_width(values / 2));
    stretch_bits_ = range_bits > wanted_bits ? range_bits - wanted_bits : 0;
    stretch_start_.assign((range >> stretch_bits_) + 2, static_cast<Row>(size_));
    for (size_t position = size_; position-- > nulls_;)
        stretch_start_[distance(smallest_, column_.integer(row(position))) >> stretch_bits_] =
            static_cast<Row>(position);
    for (size_t i = stretch_start_.size() - 1;
         i-- > 0;)  // stretches without values begin where the next does
        stretch_start_[i] = std::min(stretch_start_[i], stretch_start_[i + 1]);
}

// A number of a kReal or kAny column as bits in the order of doubles. Integers that no double has share
// theirs with their neighbours: the order is kept, though not strictly.
uint64_t Index::number_bits(Row row) const {
    if (column_.type() == ColumnType::kReal) return order_bits(column_.real(row));
    const AnyValue& value = column_.any(row);
    return order_bits(value.kind == AnyValue::kInteger ? static_cast<double>(value.integer) : value.real);
}

void Index::build_landmarks() {
    for (size_t position = nulls_; position < numbers_end_; position += kLandmark)
        landmarks_.push_back(number_bits(row(position)));
}

void Index::build_reals(LoadContext& context) {
    PageVector<KeyedRow> rows = all_rows(size_);
    for (KeyedRow& row : rows) {
        row.key = order_bits(column_.real(row.row));
        nulls_ += row.key == 0;
    }
    sort_rows(rows, context);
    numbers_end_ = size_;
    distinct_ = count_distinct(rows, nulls_);
    order_ = rows_of(rows);
    build_landmarks();
}

void Index::build_codes(LoadContext& context) {
    order_ = rows_by_code(
        column_, [](uint32_t code) { return code; }, text_start_, context);
    nulls_ = numbers_end_ = text_start_[kNullCode + 1];
    for (size_t code = 1; code + 1 < text_start_.size(); ++code)
        distinct_ += text_start_[code + 1] > text_start_[code];
}

void Index::build_anys(LoadContext& context) {
    const Dictionary& dictionary = column_.dictionary();
    ranks_ = dictionary_ranks(dictionary, context);
    text_start_.assign(dictionary.size() + 1, 0);

    PageVector<KeyedRow> sorted, numbers, texts;
    bool all_integers = true;
    int64_t smallest = std::numeric_limits<int64_t>::max();
    for (size_t i = 0; i < size_; ++i) {
        const AnyValue& value = column_.any(static_cast<Row>(i));
        const Row row = static_cast<Row>(i);
        if (value.kind == AnyValue::kNull) {
            sorted.push_back({0, row});
        } else if (value.kind == AnyValue::kString) {
            texts.push_back({ranks_[value.code], row});
        } else {
            numbers.push_back({0, row});
            all_integers = all_integers && value.kind == AnyValue::kInteger;
            if (value.kind == AnyValue::kInteger) smallest = std::min(smallest, value.integer);
        }
    }
    nulls_ = sorted.size();
    numbers_end_ = nulls_ + numbers.size();

    if (all_integers) {
        for (KeyedRow& number : numbers) number.key = distance(smallest, column_.any(number.row).integer);
        sort_rows(numbers, context);
    } else {
        for (KeyedRow& number : numbers) number.key = number_bits(number.row);
        sort_rows(numbers, context);
        LoopPoll poll(context);
        for (auto first = numbers.begin();
             first != numbers.end();) {  // integers beyond what doubles tell apart
            auto last = first + 1;
            while (last != numbers.end() && last->key == first->key) ++last;
            if (last - first > 1)
                std::stable_sort(first, last, [&](const KeyedRow& a, const KeyedRow& b) {
                    poll.tick();
                    return compare(cell_of(column_, a.row), cell_of(column_, b.row)) < 0;
                });
            first = last;
        }
    }
    for (size_t i = 0; i < numbers.size(); ++i)
        distinct_ +=
            i == 0 || compare(cell_of(column_, numbers[i - 1].row), cell_of(column_, numbers[i].row)) != 0;

    sort_rows(texts, context);
    distinct_ += count_distinct(texts, 0);
    for (const KeyedRow& text : texts) ++text_start_[text.key + 1];
    text_start_[0] = static_cast<Row>(numbers_end_);
    for (size_t rank = 1; rank < text_start_.size(); ++rank) text_start_[rank] += text_start_[rank - 1];

    sorted.insert(sorted.end(), numbers.begin(), numbers.end());
    sorted.insert(sorted.end(), texts.begin(), texts.end());
    order_ = rows_of(sorted);
    build_landmarks();
}

void Index::build_longs(LoadContext& context) {
    PageVector<KeyedRow> rows = all_rows(size_);
    for (KeyedRow& row : rows) {
        if ((row.row & 0xFFF) == 0) context.poll();  // a text may have to be read from its file
        const LongRef& ref = column_.long_ref(row.row);
        if (ref.kind == LongRef::kNull) {
            ++nulls_;
        } else {
            const uint64_t hash = ref.kind == LongRef::kMemory ? hash_text({ref.text, ref.length})
                                                               : hash_text(column_.long_text(row.row));
            row.key = static_cast<uint32_t>(hash) + uint64_t{1};
        }
    }
    sort_rows(rows, context);
    numbers_end_ = nulls_;
    distinct_ = count_distinct(rows, nulls_);
    hashes_.reserve(size_ - nulls_);
    for (size_t i = nulls_; i < size_; ++i) hashes_.push_back(static_cast<uint32_t>(rows[i].key - 1));
    order_ = rows_of(rows);
}

// ---- searching -------------------------------------------------------------------------------------------

int Index::compare_at(size_t position, int64_t value) const {
    const Row at = row(position);
    switch (column_.type()) {
        case ColumnType::kInt: {
            const int64_t held = column_.integer(at);
            return (held > value) - (held < value);
        }
        case ColumnType::kReal:
            return -compare(value, column_.real(at));
        default: {
            const AnyValue& held = column_.any(at);
            if (held.kind == AnyValue::kInteger) return (held.integer > value) - (held.integer < value);
            return -compare(value, held.real);
        }
    }
}

int Index::compare_at(size_t position, double value) const {
    const Row at = row(position);
    switch (column_.type()) {
        case ColumnType::kInt:
            return compare(column_.integer(at), value);
        case ColumnType::kReal: {
            const double held = column_.real(at);
            return (held > value) - (held < value);
        }
        default: {
            const AnyValue& held = column_.any(at);
            if (held.kind == AnyValue::kInteger) return compare(held.integer, value);
            return (held.real > value) - (held.real < value);
        }
    }
}

// The first number whose comparison with the value is at_least: 0 for not below, 1 for above.
template <class Value>
size_t Index::search(Value value, int at_least) const {
    size_t first = nulls_, last = numbers_end_;
    if constexpr (std::is_same_v<Value, int64_t>) {
        if (!stretch_start_.empty()) {
            if (value < smallest_) return nulls_;
            const uint64_t stretch = distance(smallest_, value) >> stretch_bits_;
            if (stretch + 1 >= stretch_start_.size()) return size_;
            first = stretch_start_[stretch];
            last = stretch_start_[stretch + 1];
        }
    }
    if (!landmarks_.empty()) {
        const uint64_t bits = order_bits(static_cast<double>(value));
        const auto [below, above] = std::equal_range(landmarks_.begin(), landmarks_.end(), bits);
        const auto before = static_cast<size_t>(below - landmarks_.begin());
        const auto upto = static_cast<size_t>(above - landmarks_.begin());
        if (before > 0) first = nulls_ + (before - 1) * kLandmark;
        if (upto < landmarks_.size()) last = nulls_ + upto * kLandmark;
    }
    while (first < last) {
        const size_t middle = first + (last - first) / 2;
        if (compare_at(middle, value) < at_least)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

size_t Index::first_not_below(int64_t value) const {
    return search(value, 0);
}
size_t Index::first_not_below(double value) const {
    return search(value, 0);
}
size_t Index::first_above(int64_t value) const {
    return search(value, 1);
}
size_t Index::first_above(double value) const {
    return search(value, 1);
}

template <class Value>
Index::Range Index::equal_number(Value value) const {
    const size_t first = search(value, 0);
    if (first == numbers_end_ || compare_at(first, value) != 0) return {first, first};
    // Mostly one row or a few follow; a long run is searched.
    size_t last = first + 1;
    for (size_t step = 0; step < 4; ++step, ++last)
        if (last == numbers_end_ || compare_at(last, value) != 0) return {first, last};
    return {first, search(value, 1)};
}

Index::Range Index::equal(int64_t value) const {
    return equal_number(value);
}
Index::Range Index::equal(double value) const {
    return equal_number(value);
}

Index::Range Index::text_range(uint32_t code) const {
    if (code == kNullCode) return {};
    const size_t place = ranks_.empty() ? code : ranks_[code];
    return {text_start_[place], text_start_[place + 1]};
}

Index::Range Index::code(uint32_t code) const {
    return code == kNullCode ? nulls() : text_range(code);
}

Index::Range Index::hashed(uint64_t hash) const {
    const auto [first, last] = std::equal_range(hashes_.begin(), hashes_.end(), static_cast<uint32_t>(hash));
    return {nulls_ + static_cast<size_t>(first - hashes_.begin()),
            nulls_ + static_cast<size_t>(last - hashes_.begin())};
}

Index::Range Index::equal(std::string_view text) const {
    if (column_.type() == ColumnType::kLong) return hashed(hash_text(text));
    if (column_.type() != ColumnType::kText && column_.type() != ColumnType::kAny) return {};
    return text_range(column_.dictionary().find(text));
}

// ---- orders ----------------------------------------------------------------------------------------------

namespace {

// Keys that order the rows as one column does: equal keys for equal values, NULL smallest.
void set_keys(const Table& table, int number, PageVector<KeyedRow>& rows, LoadContext& context) {
    if (number == OrderTerm::kRowNumber) {
        for (KeyedRow& row : rows) row.key = row.row;
        return;
    }
    const Column& column = table.column(number);
    switch (column.type()) {
        case ColumnType::kInt:
            set_int_keys(column, rows);
            return;
        case ColumnType::kReal:
            for (KeyedRow& row : rows) row.key = order_bits(column.real(row.row));
            return;
        case ColumnType::kText: {
            const PageVector<uint32_t> ranks = dictionary_ranks(column.dictionary(), context);
            for (KeyedRow& row : rows) row.key = ranks[column.code(row.row)];
            return;
        }
        case ColumnType::kAny: {
            const Index& index = table.index(number, context);
            PageVector<Row> places(index.size());
            for (size_t i = 1; i < index.size(); ++i)
                places[index.row(i)] =
                    places[index.row(i - 1)] +
                    (compare(cell_of(column, index.row(i - 1)), cell_of(column, index.row(i))) != 0);
            for (KeyedRow& row : rows) row.key = places[row.row];
            return;
        }
        case ColumnType::kLong:
            throw std::logic_error("profana: rows cannot be sorted by a column of long texts");
    }
}

void reverse_keys(PageVector<KeyedRow>& rows) {
    uint64_t largest = 0;
    for (const KeyedRow& row : rows) largest = std::max(largest, row.key);
    for (KeyedRow& row : rows) row.key = largest - row.key;
}

// By the least term first: sorting is stable.
void sort_keyed(const Table& table, const std::vector<OrderTerm>& terms, PageVector<KeyedRow>& rows,
                LoadContext& context) {
    for (size_t i = terms.size(); i-- > 0;) {
        set_keys(table, terms[i].column, rows, context);
        if (terms[i].descending) reverse_keys(rows);
        sort_rows(rows, context);
    }
}

PageVector<Row> rows_by_text(const Column& column, bool descending, LoadContext& context) {
    PageVector<uint32_t> ranks = dictionary_ranks(column.dictionary(), context);
    const uint32_t last = static_cast<uint32_t>(ranks.size() - 1);
    if (descending)
        for (uint32_t& rank : ranks) rank = last - rank;
    PageVector<Row> starts;
    return rows_by_code(
        column, [&](uint32_t code) { return ranks[code]; }, starts, context);
}

int compare_rows(const Table& table, int column, Row a, Row b) {
    if (column == OrderTerm::kRowNumber) return (a > b) - (a < b);
    return compare(cell_of(table.column(column), a), cell_of(table.column(column), b));
}

}  // namespace

RowOrder::RowOrder(const Table& table, std::vector<OrderTerm> terms, LoadContext& context)
    : terms_(std::move(terms)) {
    if (terms_.size() == 1 && terms_[0].column != OrderTerm::kRowNumber &&
        table.type(terms_[0].column) == ColumnType::kText) {
        rows_ = rows_by_text(table.column(terms_[0].column), terms_[0].descending, context);
    } else {
        PageVector<KeyedRow> rows = all_rows(table.rows());
        sort_keyed(table, terms_, rows, context);
        rows_ = rows_of(rows);
    }
    bytes_.set(rows_.capacity() * sizeof(Row));
}

void sort_by(const Table& table, const std::vector<OrderTerm>& terms, PageVector<Row>& rows,
             LoadContext& context) {
    // Keys need a look at whole dictionaries and indexes, which pays only where a good part of the table is
    // sorted.
    if (rows.size() > table.rows() / 16) {
        PageVector<KeyedRow> keyed(rows.size());
        for (size_t i = 0; i < rows.size(); ++i) keyed[i] = {0, rows[i]};
        sort_keyed(table, terms, keyed, context);
        for (size_t i = 0; i < rows.size(); ++i) rows[i] = keyed[i].row;
        return;
    }
    LoopPoll poll(context);
    std::stable_sort(rows.begin(), rows.end(), [&](Row a, Row b) {
        poll.tick();
        for (const OrderTerm& term : terms) {
            const int order = compare_rows(table, term.column, a, b);
            if (order != 0) return term.descending ? order > 0 : order < 0;
        }
        return false;
    });
}

}  // namespace profana
