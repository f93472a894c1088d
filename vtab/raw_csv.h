// The CSV files that profilers write: one format for each kind, the union of all its versions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ext/connection.h"
#include "ext/core/csv.h"
#include "vtab/capture.h"

namespace profana {

enum class CsvKind {
    kKernelDetails,
    kOpSummary,
    kOpStatistic,
    kApiStatistic,
    kStepTraceTime,
    kOperatorDetails,
    kOperatorMemory,
    kMemoryRecord,
    kTaskTime,
    kCount
};

// Its columns by number are those of the tables that make_csv_table() makes from it; the names are the SQL
// ones. kernel_details and op_summary know each other's heads.
std::shared_ptr<const CsvFormat> csv_format(CsvKind kind);

// The kind of CSV file that has a role in a capture; nullopt: none that a table is made of.
std::optional<CsvKind> csv_kind(FileRole role);

// The number of a column. Aborts on a name that is not there: a mistake in the reader.
int csv_column(CsvKind kind, const char* name);

// Registers kernel_details(path) and its kin, and the module profiler_csv.
int register_raw_csv_tables(Connection& connection);

}  // namespace profana
