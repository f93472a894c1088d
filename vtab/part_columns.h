// Columns of a part that are the same in all its rows: they decide whether the part is looked at, before it
// is loaded.
#pragma once

#include "vtab/operand.h"
#include "vtab/plan.h"

namespace profana {

Cell constant_cell(const Part::Constant& constant);

// Whether `constant OP operand` may be true; false only if it surely is not. For kIn: one value of the list.
bool constant_may_pass(const Part::Constant& constant, Op op, const Operand& operand);
bool constant_may_pass(const Part::Constant& constant, Op op, sqlite3_value* operand);

}  // namespace profana
