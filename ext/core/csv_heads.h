// From the heads of one file to the columns of a format.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ext/core/csv.h"
#include "ext/core/csv_index.h"

namespace profana {

// How one file fills the format's columns.
class CsvPlan {
  public:
    struct Source {
        int cell = -1;       // number of the cell in the file's rows; -1: the file has no such column
        int scale = 0;       // kTime and numbers: powers of ten to multiply by
        int64_t factor = 1;  // kBytes
    };
    struct Unknown {
        uint32_t cell;
        std::string key;  // as JSON
    };

    CsvPlan(const CsvFormat& format, std::vector<std::string> heads);

    const std::vector<std::string>& heads() const { return heads_; }
    const Source& source(size_t column) const { return sources_[column]; }
    const std::vector<Unknown>& unknown() const { return unknown_; }
    bool has(size_t column) const;
    // Cells that a number stands in, and the one that may hold unquoted commas (-1: none).
    const std::vector<int>& number_cells() const { return number_cells_; }
    int free_cell() const { return free_cell_; }
    const std::vector<std::string>& repeated() const { return repeated_; }  // heads that stand there twice
    // What it lacks to be a file of the format: "no head 'Name' (or 'Op Name')"; empty: nothing.
    std::string lacks() const;

    // Is a row further down a header: the same again, or that of another slice?
    enum class Header { kNo, kSame, kOther };
    Header header(const CsvIndex& index, const CsvRow& row, std::string& scratch) const {
        if (!may_begin_[static_cast<unsigned char>(index.text_of(row).front())]) return Header::kNo;
        return compare_header(index, row, scratch);
    }

  private:
    Header compare_header(const CsvIndex& index, const CsvRow& row, std::string& scratch) const;

    const CsvFormat& format_;
    std::vector<std::string> heads_;
    std::vector<Source> sources_;
    std::vector<Unknown> unknown_;
    std::vector<int> number_cells_;
    std::vector<std::string> repeated_;
    int free_cell_ = -1;
    std::unordered_set<std::string> known_;  // heads of the format and of the file, in their common spelling
    bool may_begin_[256] = {};               // first bytes of rows that may be headers
};

// "Task Duration (us)": the name in lower case with single underscores, and the unit in lower case.
struct CsvHead {
    std::string name, unit;
};
CsvHead read_csv_head(std::string_view head);

}  // namespace profana
