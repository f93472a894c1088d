#include "vtab/part_columns.h"

#include "ext/core/numeric_texts.h"

namespace profana {
namespace {

bool may_equal(const Part::Constant& constant, const Operand& operand) {
    if (operand.null() || operand.blob()) return false;
    if (!constant.is_text)
        return operand.number().is_number() && compare(operand.number(), Cell::of(constant.integer)) == 0;
    if (operand.given().kind == Cell::kText && operand.given().text == constant.text) return true;
    double unused = 0;  // beside a numeric column, SQL compares such texts as numbers
    return operand.number().is_number() && looks_numeric(constant.text, &unused);
}

bool in_bounds(const Part::Constant& constant, Bound bound, const Operand& operand) {
    if (constant.is_text) return true;
    int64_t low = kNullInt + 1, high = std::numeric_limits<int64_t>::max();
    narrow(bound, operand, &low, &high);
    return low <= constant.integer && constant.integer <= high;
}

}  // namespace

Cell constant_cell(const Part::Constant& constant) {
    if (constant.null) return {};
    return constant.is_text ? Cell::of(std::string_view(constant.text)) : Cell::of(constant.integer);
}

bool constant_may_pass(const Part::Constant& constant, Op op, const Operand& operand) {
    if (op == Op::kIsNull) return constant.null;
    if (op == Op::kIs && operand.null()) return constant.null;
    if (constant.null) return false;  // no other operator is true of NULL
    switch (op) {
        case Op::kEqual:
        case Op::kIn:
        case Op::kIs:
            return may_equal(constant, operand);
        case Op::kAbove:
            return in_bounds(constant, Bound::kAbove, operand);
        case Op::kNotBelow:
            return in_bounds(constant, Bound::kNotBelow, operand);
        case Op::kBelow:
            return in_bounds(constant, Bound::kBelow, operand);
        case Op::kNotAbove:
            return in_bounds(constant, Bound::kNotAbove, operand);
        default:
            return true;
    }
}

bool constant_may_pass(const Part::Constant& constant, Op op, sqlite3_value* operand) {
    return constant_may_pass(constant, op, Operand(operand));
}

}  // namespace profana
