#include "vtab/operand.h"

#include <cmath>
#include <limits>
#include <utility>

#include "ext/core/numeric_texts.h"

namespace profana {
namespace {

constexpr double kTwo63 = 9223372036854775808.0;

// The integer that equals the number, if there is one.
bool as_integer(const Cell& number, int64_t* integer) {
    if (number.kind == Cell::kInteger) {
        *integer = number.integer;
        return true;
    }
    if (number.kind != Cell::kReal || std::floor(number.real) != number.real) return false;
    if (number.real < -kTwo63 || number.real >= kTwo63) return false;
    *integer = static_cast<int64_t>(number.real);
    return true;
}

// The double that equals the number, if there is one.
bool as_real(const Cell& number, double* real) {
    if (number.kind == Cell::kReal) {
        *real = number.real;
        return true;
    }
    if (number.kind != Cell::kInteger) return false;
    *real = static_cast<double>(number.integer);
    return compare(number.integer, *real) == 0;
}

}  // namespace

std::string_view text_of(sqlite3_value* value) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
    if (text == nullptr) throw std::bad_alloc();
    return {text, static_cast<size_t>(sqlite3_value_bytes(value))};
}

Operand::Operand(sqlite3_value* value) {
    switch (sqlite3_value_type(value)) {
        case SQLITE_INTEGER:
            given_ = number_ = Cell::of(static_cast<int64_t>(sqlite3_value_int64(value)));
            return;
        case SQLITE_FLOAT:
            given_ = number_ = Cell::of(sqlite3_value_double(value));
            return;
        case SQLITE_TEXT:
            break;
        case SQLITE_BLOB:
            blob_ = true;
            return;
        default:
            null_ = true;
            return;
    }
    given_ = Cell::of(text_of(value));
    unread_ = value;
}

void Operand::read_number() const {
    sqlite3_value* const value = std::exchange(unread_, nullptr);
    double unused = 0;
    if (!looks_numeric(given_.text, &unused)) return;
    text_ = given_.text;  // the conversion drops the value's own text
    given_.text = text_;
    switch (sqlite3_value_numeric_type(value)) {
        case SQLITE_INTEGER:
            number_ = Cell::of(static_cast<int64_t>(sqlite3_value_int64(value)));
            break;
        case SQLITE_FLOAT:
            number_ = Cell::of(sqlite3_value_double(value));
            break;
        default:
            break;
    }
}

void admit_integer(const Operand& operand, ValueSet& set) {
    int64_t integer = 0;
    if (as_integer(operand.number(), &integer) && integer != kNullInt) set.integers.push_back(integer);
}

void admit(const Operand& operand, const Table& table, int column, uint32_t guess, LoadContext& context,
           ValueSet& set) {
    if (operand.null() || operand.blob()) return;
    const ColumnType type = table.type(column);
    if (type == ColumnType::kInt) return admit_integer(operand, set);
    if (type == ColumnType::kLong) {
        // A number may equal a text that looks like it: those are not sought for.
        if (operand.given().kind == Cell::kText)
            set.hashes.push_back(hash_text(operand.given().text));
        else
            set.all = true;
        return;
    }
    if (operand.given().kind == Cell::kText && type != ColumnType::kReal) {
        const uint32_t code = table.column(column).dictionary().find(operand.given().text, guess);
        if (code != kNullCode) set.codes.push_back(code);
        if (code != kNullCode && table.numeric_texts(column, context).only_itself(code)) return;
    }
    const Cell& number = operand.number();
    if (type == ColumnType::kAny) admit_integer(operand, set);
    double real = 0;
    if (type != ColumnType::kText && as_real(number, &real)) set.reals.push_back(real);
    if (type != ColumnType::kReal && number.is_number())
        table.numeric_texts(column, context)
            .equal(number.kind == Cell::kReal ? number.real : static_cast<double>(number.integer), set.codes);
}

bool narrow(Bound bound, const Operand& operand, int64_t* low, int64_t* high) {
    const Cell& number = operand.number();
    if (!number.is_number()) return false;
    constexpr int64_t kLeast = kNullInt + 1, kMost = std::numeric_limits<int64_t>::max();
    const bool from_below = bound == Bound::kAbove || bound == Bound::kNotBelow;
    const bool open = bound == Bound::kAbove || bound == Bound::kBelow;
    int64_t edge = 0;
    bool on_edge = true;  // the edge equals the operand
    if (number.kind == Cell::kInteger) {
        edge = number.integer;
    } else {
        const double whole = from_below ? std::ceil(number.real) : std::floor(number.real);
        if (whole >= kTwo63) {  // above all integers
            if (from_below) *high = kLeast, *low = kMost;
            return true;
        }
        if (whole < -kTwo63) {  // below all
            if (!from_below) *high = kLeast, *low = kMost;
            return true;
        }
        edge = static_cast<int64_t>(whole);
        on_edge = whole == number.real;
    }
    if (open && on_edge) {
        if (edge == (from_below ? kMost : kNullInt)) {
            *high = kLeast, *low = kMost;
            return true;
        }
        edge += from_below ? 1 : -1;
    }
    if (from_below)
        *low = std::max(*low, edge);
    else
        *high = std::min(*high, edge);
    return true;
}

bool narrow(Bound bound, const Operand& operand, double* low, double* high) {
    const Cell& number = operand.number();
    if (!number.is_number()) return false;
    const bool from_below = bound == Bound::kAbove || bound == Bound::kNotBelow;
    double edge = number.real;
    if (number.kind == Cell::kInteger) {
        edge = static_cast<double>(number.integer);
        const int off =
            compare(number.integer, edge);  // the double beside it may lie inside or outside: widen
        if (off != 0) edge = std::nextafter(edge, from_below ? -INFINITY : INFINITY);
    }
    if (from_below)
        *low = std::max(*low, edge);
    else
        *high = std::min(*high, edge);
    return true;
}

}  // namespace profana
