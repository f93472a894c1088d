// Table-valued functions: values in, rows out, and nothing else read. The arguments are hidden columns, so a
// call may stand anywhere in a FROM clause and take its arguments from tables left of it:
//
//   SELECT s.step, i.start FROM busy AS s, interval_each(s.kernels) AS i
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ext/registry.h"

namespace profana {

// The rows of one call, from the first to the last.
class FunctionRows {
  public:
    virtual ~FunctionRows() = default;
    virtual bool next() = 0;  // to the first row, then to each after it; false: there is none
    virtual void column(sqlite3_context* context, int index) const = 0;
};

// Arguments that were not given are nullptr. They live as long as the rows, pointer values only during the
// call.
using FunctionArguments = std::span<sqlite3_value* const>;

struct FunctionColumn {
    const char* name;
    const char* type;  // INTEGER, TEXT ...; of an argument too
    const char* doc;
};

struct TableFunctionSpec {
    const char* name;
    const char* doc;
    std::vector<FunctionColumn> columns;
    std::vector<FunctionColumn> arguments;
    int required;          // so many arguments must be given
    int rising_column;     // rows come by this column, rising; -1: in no such order
    double expected_rows;  // for the planner
    std::unique_ptr<FunctionRows> (*call)(Connection&, FunctionArguments);  // throws Error
};

// Each family is one file in functions/ and one line in table_function.cpp.
std::span<const TableFunctionSpec> interval_tables();
std::span<const TableFunctionSpec> matching_tables();

// Registers all of them. Returns an SQLite result code.
int register_function_tables(Connection& connection);
std::vector<HelpEntry> function_table_help();

}  // namespace profana
