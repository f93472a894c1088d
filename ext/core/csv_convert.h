// The values of one column in one piece of a file.
#pragma once

#include <string>

#include "ext/core/chunk_columns.h"
#include "ext/core/csv_heads.h"
#include "ext/core/csv_notes.h"

namespace profana {

class CsvConverter {
  public:
    CsvConverter(CsvIndex& index, const CsvPlan& plan, const CsvFormat& format, CsvNotes& notes)
        : index_(index), plan_(plan), format_(format), notes_(notes) {}

    // Appends the value of each row of the index. The column of the format stands in the file.
    void convert(size_t column, ChunkColumn& to);

  private:
    template <class Read>
    void each_cell(int cell, Read read);
    template <class Parse>
    void integers(size_t column, ChunkColumn& to, Parse parse);
    template <class Parse>
    int64_t unusual_integer(size_t column, std::string_view cell, const CsvRow& row, Parse parse);
    void reals(size_t column, ChunkColumn& to);
    void texts(size_t column, ChunkColumn& to);
    void anything(size_t column, ChunkColumn& to);
    void extras(ChunkColumn& to);

    const std::string& head(size_t column) const {
        return plan_.heads()[static_cast<size_t>(plan_.source(column).cell)];
    }
    // The text itself, or what is left of it as UTF-8.
    std::string_view as_utf8(std::string_view text, const std::string& head, const CsvRow& row);
    void note(CsvNote what, const CsvRow& row, const std::string& head, std::string_view text);

    CsvIndex& index_;
    const CsvPlan& plan_;
    const CsvFormat& format_;
    CsvNotes& notes_;
    std::string scratch_, repaired_;
};

// Does a cell hold what a column of numbers may hold? For finding out what belongs where in a row.
bool fits_number(std::string_view cell, std::string& scratch);

}  // namespace profana
