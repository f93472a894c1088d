#include "ext/core/chunk_columns.h"

#include <algorithm>

namespace profana {
namespace {

// A worker starts anew with its texts of a column once they outgrow the cache: a column whose texts hardly
// repeat must not be held twice.
constexpr uint32_t kMostTexts = 1 << 15;
constexpr size_t kMostTextBytes = size_t{1} << 22;

std::vector<int> places_of(const Table& table, const ColumnSet& wanted) {
    std::vector<int> places(static_cast<size_t>(table.columns()), -1);
    int next = 0;
    wanted.each([&](int c) { places[static_cast<size_t>(c)] = next++; });
    return places;
}

}  // namespace

// ---- filling ---------------------------------------------------------------------------------------------

void WorkerDictionary::begin_chunk() {
    ++chunk_;
    const Dictionary& dictionary = texts_->dictionary;
    last_code_ = kNullCode;
    if (dictionary.size() <= kMostTexts && dictionary.bytes() <= kMostTextBytes) return;
    auto fresh = std::make_shared<Texts>();
    fresh->number = texts_->number + 1;
    texts_ = std::move(fresh);
    met_in_.clear();
}

uint32_t WorkerDictionary::look_up(std::string_view text, bool* first) {
    const uint32_t code = texts_->dictionary.intern(text);
    if (code >= met_in_.size()) met_in_.resize(std::max<size_t>(code + 1, met_in_.size() * 2), 0);
    *first = met_in_[code] != chunk_;
    met_in_[code] = chunk_;
    last_code_ = code;
    last_text_ = texts_->dictionary.text(code);
    return code;
}

void WorkerDictionary::forget_in_chunk(uint32_t code) {
    met_in_[code] = 0;
    last_code_ = kNullCode;
}

ChunkColumn::ChunkColumn(ColumnType type, WorkerDictionary* dictionary)
    : type_(type), dictionary_(dictionary) {
    if (type == ColumnType::kText || type == ColumnType::kAny) {
        dictionary_->begin_chunk();
        texts_ = dictionary_->texts();
    }
}

void ChunkColumn::add_any_text(std::string_view value) {
    AnyValue any;
    any.kind = AnyValue::kString;
    any.code = code(value);
    anys_.push_back(any);
}

void ChunkColumn::add_long(std::string_view value) {
    if (!arena_) arena_ = std::make_unique<Arena>();
    longs_.push_back(LongRef::in_memory({arena_->add(value), value.size()}));
}

void ChunkColumn::add_null() {
    switch (type_) {
        case ColumnType::kInt:
            return ints_.push_back(kNullInt);
        case ColumnType::kReal:
            return reals_.push_back(kNullReal);
        case ColumnType::kText:
            return codes_.push_back(kNullCode);
        case ColumnType::kAny:
            return anys_.push_back(AnyValue());
        case ColumnType::kLong:
            return longs_.push_back(LongRef());
    }
}

size_t ChunkColumn::size() const {
    return ints_.size() + reals_.size() + codes_.size() + anys_.size() + longs_.size();  // one is in use
}

void ChunkColumn::reserve(size_t rows) {
    switch (type_) {
        case ColumnType::kInt:
            return ints_.reserve(rows);
        case ColumnType::kReal:
            return reals_.reserve(rows);
        case ColumnType::kText:
            return codes_.reserve(rows);
        case ColumnType::kAny:
            return anys_.reserve(rows);
        case ColumnType::kLong:
            return longs_.reserve(rows);
    }
}

void ChunkColumn::note(uint32_t code) {
    const Dictionary& dictionary = texts_->dictionary;
    met_.push_back({dictionary.text(code), code, dictionary.hash(code)});
}

void ChunkColumn::end_row(size_t rows) {
    if (size() < rows) add_null();
    met_in_rows_ = met_.size();
}

void ChunkColumn::drop_row(size_t rows) {
    const auto cut = [rows](auto& values) {
        if (values.size() > rows) values.resize(rows);
    };
    cut(ints_), cut(reals_), cut(codes_), cut(anys_), cut(longs_);
    for (; met_.size() > met_in_rows_; met_.pop_back()) dictionary_->forget_in_chunk(met_.back().code);
}

void ChunkColumns::end_row() {
    ++rows_;
    for (ChunkColumn& column : columns_) column.end_row(rows_);
}

void ChunkColumns::reserve(size_t rows) {
    for (ChunkColumn& column : columns_) column.reserve(rows);
}

void ChunkColumns::end_rows(size_t rows) {
    rows_ += rows;
    for (ChunkColumn& column : columns_) {
        while (column.size() < rows_) column.add_null();
        column.end_row(rows_);
    }
}

void ChunkColumns::drop_row() {
    for (ChunkColumn& column : columns_) column.drop_row(rows_);
}

WorkerColumns::WorkerColumns(const Table& table, const ColumnSet& wanted)
    : places_(places_of(table, wanted)) {
    wanted.each([&](int c) { types_.push_back(table.type(c)); });
    dictionaries_ = std::vector<WorkerDictionary>(types_.size());
}

ChunkColumns WorkerColumns::begin_chunk() {
    ChunkColumns chunk;
    chunk.places_ = places_;
    for (size_t place = 0; place < types_.size(); ++place)
        chunk.columns_.emplace_back(types_[place], &dictionaries_[place]);
    return chunk;
}

// ---- merging ---------------------------------------------------------------------------------------------

namespace {

size_t value_bytes(ColumnType type) {
    switch (type) {
        case ColumnType::kInt:
            return sizeof(int64_t);
        case ColumnType::kReal:
            return sizeof(double);
        case ColumnType::kText:
            return sizeof(uint32_t);
        case ColumnType::kAny:
            return sizeof(AnyValue);
        case ColumnType::kLong:
            return sizeof(LongRef);
    }
    return 0;
}

}  // namespace

ColumnMerger::ColumnMerger(Table& table, const ColumnSet& wanted, unsigned workers) : table_(table) {
    wanted.each([&](int c) {
        columns_.push_back(c);
        // A file without rows has the column all the same.
        row_bytes_ += value_bytes(table_.building(c).type());
    });
    mappings_.assign(workers, std::vector<Mapping>(columns_.size()));
}

void ColumnMerger::append(ChunkColumns& chunk, unsigned worker, LoadContext& context) {
    for (size_t place = 0; place < columns_.size(); ++place)
        append_column(chunk.columns_[place], table_.building(columns_[place]), mappings_[worker][place]);
    rows_ += chunk.rows_;
    table_.set_rows(rows_);
    check_memory_limit(context.memory_limit_bytes);
}

void ColumnMerger::check_ahead(uint64_t rows, uint64_t read, uint64_t left,
                               const LoadContext& context) const {
    constexpr double kSure = 0.8;  // the rows to come may be longer, and so fewer, than those so far
    const uint64_t limit = context.memory_limit_bytes;
    if (read == 0 || limit == 0) return;
    const double to_come = static_cast<double>(rows) / static_cast<double>(read) * static_cast<double>(left);
    const double more = to_come * static_cast<double>(row_bytes_);
    const uint64_t held = counted_bytes();
    if (static_cast<double>(held) + more * kSure <= static_cast<double>(limit)) return;
    throw Error("profana: the columns asked for would take about " +
                std::to_string(held + static_cast<uint64_t>(more)) +
                " bytes, with the tables that are loaded, more than the setting memory_limit of " +
                std::to_string(limit) +
                " bytes; ask for fewer columns, close profiles with profana_close(), or raise it with "
                "profana_set('memory_limit', BYTES)");
}

void ColumnMerger::append_column(ChunkColumn& from, Column& to, Mapping& mapping) {
    if (from.texts_) {
        if (mapping.texts_number != from.texts_->number) {
            mapping.codes.clear();
            mapping.texts_number = from.texts_->number;
        }
        std::vector<uint32_t>& codes = mapping.codes;
        for (const ChunkColumn::Met& met : from.met_) {
            if (met.code >= codes.size())
                codes.resize(std::max<size_t>(met.code + 1, codes.size() * 2), kNullCode);
            if (codes[met.code] == kNullCode) codes[met.code] = to.dictionary().intern(met.text, met.hash);
        }
        for (uint32_t& code : from.codes_)
            if (code != kNullCode) code = codes[code];
        for (AnyValue& any : from.anys_)
            if (any.kind == AnyValue::kString) any.code = codes[any.code];
    }
    to.add_ints(from.ints_.data(), from.ints_.size());
    to.add_reals(from.reals_.data(), from.reals_.size());
    to.add_codes(from.codes_.data(), from.codes_.size());
    to.add_anys(from.anys_.data(), from.anys_.size());
    to.add_longs(from.longs_.data(), from.longs_.size(), std::move(from.arena_));
}

}  // namespace profana
