// How a scan is to be done: what xBestIndex promises SQLite and hands to xFilter through idxStr. The text
// opens with a part for the machine, in brackets, then says the same for people: EXPLAIN QUERY PLAN shows it.
#pragma once

#include <string>
#include <vector>

#include "ext/core/index.h"
#include "ext/sqlite.h"
#include "vtab/table_module.h"

namespace profana {

// The letters stand in idxStr: no digits among them.
enum class Op : char {
    kEqual = '=',
    kIn = 'i',  // the operand is a list, for sqlite3_vtab_in_first()
    kIs = 's',
    kIsNull = 'n',
    kNotNull = '!',
    kAbove = '>',
    kNotBelow = 'g',
    kBelow = '<',
    kNotAbove = 'l',
    kLike = '~',
    kGlob = '*',
    kNothing = '.',  // a test that is left to SQLite: see vtab/outer_joins.h
};

// Those that no index answers.
inline bool is_test(Op op) {
    return op == Op::kLike || op == Op::kGlob || op == Op::kNotNull;
}

// One constraint; its operand is the argument of xFilter at the same place.
struct PlanTerm {
    static constexpr int kRowId = -1;  // SQLite's rowid; arguments count from the number of columns on
    int column;
    Op op;
};

struct Plan {
    std::vector<PlanTerm> terms;
    std::vector<OrderTerm> order;  // by column of the spec, or PlanTerm::kRowId: rows come in this order
    bool distinct = false;         // of rows that are equal in the order's columns one is enough
    uint64_t used = 0;             // columns of the spec that are read; bit 63: some from 63 on

    bool uses(int column) const { return (used >> (column < 63 ? column : 63) & 1) != 0; }
    std::string text(const TableSpec& spec) const;
    static Plan parse(const char* text);
};

// column = ? or IS ?, of a column of integers: SQLite does not test it again.
bool equals_whole_number(const TableSpec& spec, const PlanTerm& term);

// SQLite's number of a column -> ours, where arguments count from the number of columns on. They are declared
// first: SQLite tells the use of its first 63 columns one by one and of the others together, and every query
// uses its arguments.
inline int spec_column(const TableSpec& spec, int declared) {
    const auto columns = static_cast<int>(spec.columns.size());
    const auto arguments = static_cast<int>(spec.arguments.size());
    if (declared < 0) return PlanTerm::kRowId;
    return declared < arguments ? columns + declared : declared - arguments;
}

// xBestIndex. Returns an SQLite result code; throws std::bad_alloc and Error.
int make_plan(Connection& connection, TableProvider& provider, const TableSpec& spec,
              sqlite3_index_info* info);

}  // namespace profana
