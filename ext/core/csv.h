// CSV files as tables: a format names the heads it knows and what their values mean; a table made from it
// reads the columns that a query needs, in parallel chunks, and joins the slices of one export in order.
//
// Files written by profilers are dirty: see csv_index.h for rows and quotes, csv_cells.h for values. Whatever
// is repaired or left out becomes a diagnostic of the first load; no row loses the table.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ext/core/chunks.h"
#include "ext/core/store.h"

namespace profana {

// What the values of a column mean. The unit stands in the head, "Duration(us)", and decides the factor.
enum class CsvValue : uint8_t {
    kText,     // quotes around the value are dropped; N/A and empty: NULL
    kInteger,  // a count
    kId,       // as kInteger; 4294967295 stands for none: NULL. `host` as a device: NULL
    kStep,     // as kId; also written step50
    kReal,     // no unit
    kPercent,  // (%)
    kRate,     // (GB/s)
    kTime,     // (us) where the head has no unit; nanoseconds
    kLength,   // as kTime, from one time to another
    kBytes,    // (KB), (MB) ... of 1024; bytes
    kAny,      // whatever it looks like: integer, real or text
    kExtra,    // JSON object of the heads that the format does not know
    kLine,     // line of the file on which the row starts
};
ColumnType column_type(CsvValue value);

struct CsvColumn {
    const char* name;
    CsvValue value;
    const char* heads;  // without unit, any of several: "Start Time|Task Start Time"
    const char* doc;
};

struct CsvFormat {
    const char* name;
    std::vector<CsvColumn> columns;
    std::vector<const char*> required;  // columns without which a file is of another kind
    const char* free_text = nullptr;    // the column whose values may hold commas without quotes
    bool by_position = false;           // the heads are the file's own: columns are its cells in order

    int column(const char* name) const;  // -1: none
};

// A file that cannot be read, is empty or lacks required heads gives no rows and a diagnostic. If none is
// better: an error, or a table without rows.
enum class CsvFault { kError, kDiagnostic };

// The rows of the files, one after the other. Columns are the format's. Lazy: nothing is read yet.
constexpr ChunkLimits kCsvLimits = {size_t{1} << 20, size_t{1} << 24};
std::shared_ptr<Table> make_csv_table(std::shared_ptr<const CsvFormat> format, std::vector<std::string> files,
                                      CsvFault fault = CsvFault::kError,
                                      const ChunkLimits& limits = kCsvLimits);

// The heads of a file as it spells them, without surrounding blanks and quotes. Reads only the file's start.
// Throws when the file is empty or cannot be read.
std::vector<std::string> read_csv_heads(const std::string& file, LoadContext& context);

// Throws, and says why, unless the file can be read and has the heads that the format requires. Reads only
// the file's start.
void check_csv_file(const CsvFormat& format, const std::string& file, LoadContext& context);

// The format's columns that a file with these heads has; extra and line are not counted.
ColumnSet csv_columns_with_heads(const CsvFormat& format, const std::vector<std::string>& heads);

}  // namespace profana
