#include "ext/core/cell.h"

#include <stdexcept>

namespace profana {

Cell Cell::of(int64_t value) {
    Cell cell;
    cell.kind = kInteger;
    cell.integer = value;
    return cell;
}

Cell Cell::of(double value) {
    Cell cell;
    if (std::isnan(value)) return cell;
    cell.kind = kReal;
    cell.real = value;
    return cell;
}

Cell Cell::of(std::string_view value) {
    Cell cell;
    cell.kind = kText;
    cell.text = value;
    return cell;
}

Cell cell_of(const Column& column, Row row) {
    switch (column.type()) {
        case ColumnType::kInt:
            return column.integer(row) == kNullInt ? Cell() : Cell::of(column.integer(row));
        case ColumnType::kReal:
            return Cell::of(column.real(row));
        case ColumnType::kText:
            return column.code(row) == kNullCode ? Cell() : Cell::of(column.text(row));
        case ColumnType::kAny: {
            const AnyValue& value = column.any(row);
            switch (value.kind) {
                case AnyValue::kNull:
                    return {};
                case AnyValue::kInteger:
                    return Cell::of(value.integer);
                case AnyValue::kDouble:
                    return Cell::of(value.real);
                case AnyValue::kString:
                    return Cell::of(column.dictionary().text(value.code));
            }
            break;
        }
        case ColumnType::kLong:
            break;
    }
    throw std::logic_error("profana: a long text is no cell");
}

int compare(int64_t a, double b) {
    constexpr double kTwo63 = 9223372036854775808.0;
    if (b >= kTwo63) return -1;
    if (b < -kTwo63) return 1;
    const int64_t whole = static_cast<int64_t>(b);
    if (a != whole) return a < whole ? -1 : 1;
    const double rest = b - static_cast<double>(whole);
    return rest > 0 ? -1 : rest < 0 ? 1 : 0;
}

int compare(const Cell& a, const Cell& b) {
    const auto rank = [](const Cell& cell) {
        return cell.kind == Cell::kNull ? 0 : cell.kind == Cell::kText ? 2 : 1;
    };
    if (rank(a) != rank(b)) return rank(a) - rank(b);
    if (a.kind == Cell::kNull) return 0;
    if (a.kind == Cell::kText) return a.text.compare(b.text);
    if (a.kind == Cell::kInteger)
        return b.kind == Cell::kInteger ? (a.integer > b.integer) - (a.integer < b.integer)
                                        : compare(a.integer, b.real);
    return b.kind == Cell::kInteger ? -compare(b.integer, a.real) : (a.real > b.real) - (a.real < b.real);
}

}  // namespace profana
