#include "ext/core/store.h"

#include <chrono>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>

#include "ext/core/cell.h"
#include "ext/core/index.h"
#include "ext/core/numeric_texts.h"

namespace profana {
namespace {

template <class Word>
uint64_t word_at(const char* at) {
    Word word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

// All of up to 8 bytes, in two reads that may overlap.
uint64_t short_text(const char* at, size_t n) {
    if (n >= 4) return word_at<uint32_t>(at) | word_at<uint32_t>(at + n - 4) << 32;
    if (n == 0) return 0;
    return word_at<uint8_t>(at) | word_at<uint8_t>(at + n / 2) << 8 | word_at<uint8_t>(at + n - 1) << 16;
}

__extension__ typedef unsigned __int128 Uint128;

uint64_t mix(uint64_t a, uint64_t b) {
    const Uint128 product = static_cast<Uint128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t process_seed() {
    static const uint64_t seed = [] {
        std::random_device device;
        return (static_cast<uint64_t>(device()) << 32) ^ device();
    }();
    return seed;
}

[[noreturn]] void too_many_rows(uint64_t rows) {
    throw Error("profana: a table of " + std::to_string(rows) + " rows is more than the " +
                std::to_string(kMaxRows) + " that one table can hold; split the file");
}

}  // namespace

uint64_t hash_text(std::string_view text) {
    constexpr uint64_t kA = 0x9E3779B97F4A7C15u, kB = 0xD6E8FEB86659FD93u;
    const char* at = text.data();
    size_t left = text.size();
    uint64_t hash = process_seed() ^ (left * kA);
    for (; left > 8; at += 8, left -= 8) hash = mix(hash ^ word_at<uint64_t>(at), kA);
    return mix(hash ^ short_text(at, left), kB);
}

const char* Arena::add(std::string_view text) {
    constexpr size_t kLargestBlock = size_t{1} << 20;
    const size_t need = text.size() + 1;
    char* place;
    if (need <= room_) {
        place = free_;
    } else if (need > next_block_ / 4 && need > kLargestBlock / 16) {  // a long text gets a block of its own
        blocks_.push_back(std::make_unique_for_overwrite<char[]>(need));
        bytes_.add(need);
        place = blocks_.back().get();
        std::memcpy(place, text.data(), text.size());
        place[text.size()] = '\0';
        return place;
    } else {
        const size_t block = std::max(next_block_, need);
        blocks_.push_back(std::make_unique_for_overwrite<char[]>(block));
        bytes_.add(block);
        next_block_ = std::min(next_block_ * 2, kLargestBlock);
        place = blocks_.back().get();
        room_ = block;
    }
    if (!text.empty()) std::memcpy(place, text.data(), text.size());
    place[text.size()] = '\0';
    free_ = place + need;
    room_ -= need;
    return place;
}

Dictionary::Dictionary() {
    entries_.push_back(Entry{nullptr, 0, 0, 0});
}

// The slot of the text, or the free slot where it belongs.
size_t Dictionary::slot_of(std::string_view text, uint32_t hash) const {
    const size_t mask = slots_.size() - 1;
    for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
        const uint32_t code = slots_[slot];
        if (code == 0) return slot;
        const Entry& entry = entries_[code];
        if (entry.hash == hash && entry.length == text.size() &&
            std::memcmp(entry.text, text.data(), text.size()) == 0)
            return slot;
    }
}

uint32_t Dictionary::find(std::string_view text, uint32_t guess) const {
    if (guess < entries_.size() && guess != kNullCode && this->text(guess) == text) return guess;
    if (slots_.empty()) return kNullCode;
    return slots_[slot_of(text.empty() ? std::string_view("") : text,
                          static_cast<uint32_t>(hash_text(text)))];
}

uint32_t Dictionary::intern(std::string_view text, uint32_t hash) {
    if (text.empty()) text = std::string_view("");  // a null pointer is no argument for memcmp
    if (entries_.size() * 4 > slots_.size() * 3) grow();
    const size_t slot = slot_of(text, hash);
    if (slots_[slot] != 0) return slots_[slot];
    if (text.size() > kMaxTextBytes)
        throw Error("profana: a text of " + std::to_string(text.size()) + " bytes is too long",
                    ErrorKind::kTooBig);
    const bool has_nul = std::memchr(text.data(), '\0', text.size()) != nullptr;
    entries_.push_back(
        Entry{arena_.add(text), static_cast<uint32_t>(text.size()) & 0x7FFFFFFFu, has_nul, hash});
    return slots_[slot] = static_cast<uint32_t>(entries_.size() - 1);
}

void Dictionary::grow() {
    const size_t wider = slots_.empty() ? 8 : slots_.size() * 2, mask = wider - 1;
    std::vector<uint32_t> slots(wider, 0);
    for (uint32_t code = 1; code < entries_.size(); ++code) {
        size_t slot = entries_[code].hash & mask;
        while (slots[slot] != 0) slot = (slot + 1) & mask;
        slots[slot] = code;
    }
    slots_ = std::move(slots);
    slot_bytes_.set(wider * sizeof(uint32_t));
}

size_t Dictionary::bytes() const {
    return entries_.bytes() + slot_bytes_.get() + arena_.bytes();
}

AnyValue AnyValue::of(int64_t value) {
    AnyValue any;
    any.kind = kInteger;
    any.integer = value;
    return any;
}

AnyValue AnyValue::of(double value) {
    AnyValue any;
    if (std::isnan(value)) return any;
    any.kind = kDouble;
    any.real = value;
    return any;
}

LongRef LongRef::in_file(uint64_t offset, uint32_t length) {
    LongRef ref;
    ref.kind = kFile;
    ref.length = length;
    ref.offset = offset;
    return ref;
}

LongRef LongRef::in_memory(std::string_view text) {
    LongRef ref;
    ref.kind = kMemory;
    ref.has_nul = text.find('\0') != std::string_view::npos;
    ref.length = static_cast<uint32_t>(text.size());
    ref.text = text.data();
    return ref;
}

size_t Column::size() const {
    switch (type_) {
        case ColumnType::kInt:
            return ints_.size();
        case ColumnType::kReal:
            return reals_.size();
        case ColumnType::kText:
            return codes_.size();
        case ColumnType::kAny:
            return anys_.size();
        case ColumnType::kLong:
            return longs_.size();
    }
    return 0;
}

size_t Column::bytes() const {
    return ints_.bytes() + reals_.bytes() + codes_.bytes() + anys_.bytes() + longs_.bytes() +
           dictionary_.bytes() + arena_.bytes() +
           std::accumulate(arenas_.begin(), arenas_.end(), size_t{0},
                           [](size_t sum, const auto& arena) { return sum + arena->bytes(); });
}

void Column::add_any_text(std::string_view value) {
    AnyValue any;
    any.kind = AnyValue::kString;
    any.code = dictionary_.intern(value);
    anys_.push_back(any);
}

void Column::add_long(std::string_view value) {
    if (value.size() > Dictionary::kMaxTextBytes)
        throw Error("profana: a text of " + std::to_string(value.size()) + " bytes is too long",
                    ErrorKind::kTooBig);
    longs_.push_back(LongRef::in_memory({arena_.add(value), value.size()}));
}

void Column::add_longs(const LongRef* values, size_t n, std::unique_ptr<Arena> arena) {
    longs_.append(values, n);
    if (arena) arenas_.push_back(std::move(arena));
}

void Column::add_null() {
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

void Column::add_rows(const Column& from, const PageVector<Row>& rows) {
    Recoder codes(from.dictionary(), dictionary_);
    for (const Row row : rows) {
        switch (type_) {
            case ColumnType::kInt:
                add_int(from.integer(row));
                break;
            case ColumnType::kReal:
                add_real(from.real(row));
                break;
            case ColumnType::kText:
                add_code(codes(from.code(row)));
                break;
            case ColumnType::kAny: {
                AnyValue value = from.any(row);
                if (value.kind == AnyValue::kString) value.code = codes(value.code);
                add_any(value);
                break;
            }
            case ColumnType::kLong:
                if (from.is_null(row))
                    add_null();
                else
                    add_long(from.long_text(row));
                break;
        }
    }
}

bool Column::is_null(Row row) const {
    switch (type_) {
        case ColumnType::kInt:
            return ints_[row] == kNullInt;
        case ColumnType::kReal:
            return std::isnan(reals_[row]);
        case ColumnType::kText:
            return codes_[row] == kNullCode;
        case ColumnType::kAny:
            return anys_[row].kind == AnyValue::kNull;
        case ColumnType::kLong:
            return longs_[row].kind == LongRef::kNull;
    }
    return true;
}

std::string Column::long_text(Row row) const {
    const LongRef& ref = longs_[row];
    if (ref.kind == LongRef::kNull) return {};
    if (ref.kind == LongRef::kMemory) return std::string(ref.text, ref.length);
    return long_source_->read(ref);
}

void ColumnSet::add(int column) {
    if (static_cast<size_t>(column) >= bits_.size()) bits_.resize(static_cast<size_t>(column) + 1);
    bits_[static_cast<size_t>(column)] = true;
}

bool ColumnSet::has(int column) const {
    return static_cast<size_t>(column) < bits_.size() && bits_[static_cast<size_t>(column)];
}

bool ColumnSet::empty() const {
    return std::find(bits_.begin(), bits_.end(), true) == bits_.end();
}

namespace {

// Few different values in a sample: those are all. Many: the share of new ones goes on.
double sampled_distinct(const Column& column) {
    constexpr size_t kSample = 512;
    const double rows = static_cast<double>(column.size());
    if (column.type() == ColumnType::kLong || column.size() < 2) return std::max(1.0, rows);
    std::vector<Cell> cells;
    const size_t stride = std::max<size_t>(1, column.size() / kSample);
    for (size_t row = 0; row < column.size(); row += stride)
        cells.push_back(cell_of(column, static_cast<Row>(row)));
    std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) { return compare(a, b) < 0; });
    double distinct = 1;
    for (size_t i = 1; i < cells.size(); ++i) distinct += compare(cells[i - 1], cells[i]) != 0;
    const double share = distinct / static_cast<double>(cells.size());
    return share < 0.3 ? distinct : share * rows;
}

}  // namespace

Table::Table(std::vector<ColumnType> types, Loader loader)
    : types_(std::move(types)),
      loader_(std::move(loader)),
      columns_(types_.size()),
      given_(types_.size()),
      building_(types_.size()),
      absent_(types_.size(), false),
      building_absent_(types_.size(), false),
      indexes_(types_.size()),
      numeric_texts_(types_.size()),
      searches_(types_.size(), 0),
      distinct_(types_.size(), 0) {}

Table::~Table() = default;

void Table::ensure(const ColumnSet& wanted, LoadContext& context) {
    const auto lock = lock_interruptibly(mutex_, context.progress);
    ColumnSet missing;
    wanted.each([&](int c) {
        if (!loaded(c)) missing.add(c);
    });
    if (rows_known_ && missing.empty()) return;
    context.poll();
    try {
        loader_(*this, missing, context);
        check_memory_limit(context.memory_limit_bytes);
        publish();
        missing.each([&](int c) {
            if (!loaded(c)) throw std::logic_error("profana: a reader left out column " + std::to_string(c));
        });
        if (!rows_known_) throw std::logic_error("profana: a reader did not say how many rows it read");
    } catch (...) {
        drop_unpublished();
        throw;
    }
}

void Table::ensure_rows(LoadContext& context) {
    ensure(ColumnSet(), context);
}

void Table::set_rows(uint64_t rows) {
    building_rows_ = rows;
    building_rows_known_ = true;
}

void Table::set_column(int column, std::shared_ptr<const Column> values) {
    given_[column] = std::move(values);
}

void Table::set_absent(int column) {
    building_absent_[column] = true;
}

void Table::set_from(const Table& other, const ColumnSet& columns) {
    set_rows(other.rows());
    columns.each([&](int column) {
        if (other.absent(column))
            set_absent(column);
        else
            set_column(column, other.share(column));
    });
}

Column& Table::building(int column) {
    if (!building_[column]) building_[column] = std::make_unique<Column>(types_[column]);
    return *building_[column];
}

void Table::check_same_rows(uint64_t rows) {
    if (!building_rows_known_) set_rows(rows);
    if (rows != building_rows_)
        throw std::logic_error("profana: columns of one table with " + std::to_string(building_rows_) +
                               " and with " + std::to_string(rows) + " rows");
}

void Table::publish() {
    if (rows_known_) check_same_rows(rows_);
    for (size_t c = 0; c < building_.size(); ++c)
        if (building_[c]) given_[c] = std::move(building_[c]);
    for (const auto& column : given_)
        if (column) check_same_rows(column->size());
    if (building_rows_known_) {
        if (building_rows_ > kMaxRows) too_many_rows(building_rows_);
        rows_ = static_cast<Row>(building_rows_);
        rows_known_ = true;
    }
    for (size_t c = 0; c < building_.size(); ++c) {
        if (columns_[c] || absent_[c])
            continue;  // a loader may give again what is there: scans keep the first
        if (given_[c])
            columns_[c] = std::move(given_[c]);
        else
            absent_[c] = building_absent_[c];
    }
    drop_unpublished();
}

void Table::drop_unpublished() {
    for (auto& column : building_) column.reset();
    for (auto& column : given_) column.reset();
    std::fill(building_absent_.begin(), building_absent_.end(), false);
    building_rows_known_ = false;
}

const Index& Table::index(int column, LoadContext& context) const {
    BuiltOnce<Index>& index = indexes_[column];
    if (const Index* found = index.find()) return *found;
    const auto lock = lock_interruptibly(index_mutex_, context.progress);
    if (const Index* found = index.find()) return *found;
    auto built = std::make_unique<Index>(*columns_[column], context);
    check_memory_limit(context.memory_limit_bytes);
    return index.set(std::move(built));
}

const NumericTexts& Table::numeric_texts(int column, LoadContext& context) const {
    BuiltOnce<NumericTexts>& texts = numeric_texts_[column];
    if (const NumericTexts* found = texts.find()) return *found;
    const auto lock = lock_interruptibly(index_mutex_, context.progress);
    if (const NumericTexts* found = texts.find()) return *found;
    return texts.set(std::make_unique<NumericTexts>(*columns_[column], context));
}

const Index* Table::index_for_search(int column, LoadContext& context) const {
    if (const Index* found = indexes_[column].find()) return found;
    const auto lock = lock_interruptibly(index_mutex_, context.progress);
    // Sorting rows costs some ten passes over them. Long texts have no passes of ours: SQLite compares each.
    const int passes = types_[column] == ColumnType::kLong ? 1 : 8;
    if (searches_[column]++ < passes) return nullptr;
    return &index(column, context);
}

double Table::distinct(int column) const {
    std::lock_guard lock(index_mutex_);
    if (const Index* found = indexes_[column].find())
        return std::max(1.0, static_cast<double>(found->distinct()));
    if (types_[column] == ColumnType::kText)
        return std::max(1.0, static_cast<double>(columns_[column]->dictionary().size()) - 1);
    if (distinct_[column] == 0) distinct_[column] = sampled_distinct(*columns_[column]);
    return distinct_[column];
}

std::shared_ptr<const RowOrder> Table::order(const std::vector<OrderTerm>& terms,
                                             LoadContext& context) const {
    constexpr size_t kKeep = 8;
    const auto lock = lock_interruptibly(index_mutex_, context.progress);
    for (const auto& order : orders_)
        if (order->terms() == terms) return order;
    auto built = std::make_shared<const RowOrder>(*this, terms, context);
    check_memory_limit(context.memory_limit_bytes);
    if (orders_.size() == kKeep) orders_.erase(orders_.begin());
    orders_.push_back(built);
    return built;
}

size_t Table::bytes() const {
    size_t bytes = 0;
    for (const auto& column : columns_) bytes += column ? column->bytes() : 0;
    for (const auto& column : building_) bytes += column ? column->bytes() : 0;
    std::lock_guard lock(index_mutex_);
    const auto bytes_of = [](const auto& built) { return built.find() ? built.find()->bytes() : 0; };
    for (const auto& index : indexes_) bytes += bytes_of(index);
    for (const auto& texts : numeric_texts_) bytes += bytes_of(texts);
    for (const auto& order : orders_) bytes += order->bytes();
    return bytes;
}

}  // namespace profana
