// One reading of CSV files into the columns of a table.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ext/core/chunk_columns.h"
#include "ext/core/chunks.h"
#include "ext/core/csv_heads.h"
#include "ext/core/csv_notes.h"

namespace profana {

// A file up to and with its header.
struct CsvStart {
    bool found = false;  // else: the file holds no row at all
    std::vector<std::string> heads;
    std::string rest;     // bytes that are read and stand behind the header
    uint64_t offset = 0;  // of them in the file
    int64_t lines = 0;    // line feeds before them
};
// Reads on from `rest`, of which the first byte stands at `offset` behind `lines` line feeds.
CsvStart read_csv_start(Input& input, std::string rest, uint64_t offset, int64_t lines);

class CsvLoad : public ChunkParser {
  public:
    // `present` says which columns any of the files has; headers further down may add to it.
    CsvLoad(const CsvFormat& format, Table& table, const ColumnSet& wanted, std::vector<char>& present,
            LoadContext& context, const ChunkLimits& limits);

    // Appends the rows of one file. False: a header further down has a wanted column that was not present
    // before; all must be read again.
    bool read(Input& input, CsvStart start);
    uint64_t rows() const { return merger_.rows(); }
    // What was noticed about values and, with `structure`, about rows.
    void report(Diagnostics& diagnostics, bool structure) const;

    size_t cut(std::string_view bytes, bool too_long) const override;
    std::unique_ptr<ChunkResult> parse(const Chunk& chunk) override;
    void merge(ChunkResult& result, uint64_t offset) override;

  private:
    struct Worker {
        CsvIndex index;
        WorkerColumns columns;
        std::string scratch;
    };
    struct Result;
    struct Report {
        std::string file;
        CsvNotes values, structure;
    };

    ColumnSet stored_columns(const ColumnSet& wanted) const;
    bool use_heads(std::vector<std::string> heads);
    static void leave_out_rest(const Chunk& chunk, Result& result);
    static void skip_rest(CsvIndex& index, const Chunk& chunk, Result& result);
    void check_rows(CsvIndex& index, const Chunk& chunk, Result& result, std::string& scratch) const;
    void fit_row(CsvIndex& index, CsvRow& row, bool open, CsvNotes& notes, std::string& scratch) const;

    const CsvFormat& format_;
    Table& table_;
    LoadContext& context_;
    const ChunkLimits limits_;
    std::vector<char>& present_;
    const ColumnSet wanted_;
    const ColumnSet stored_;  // wanted, present, and read from the rows' own text
    int line_column_ = -1;    // -1: not wanted
    std::vector<Worker> workers_;
    ColumnMerger merger_;
    std::vector<Report> reports_;

    // Where reading stands in the file at hand.
    std::unique_ptr<CsvPlan> plan_;
    uint64_t offset_ = 0;
    int64_t lines_ = 0;
    bool at_header_ = false;
    uint64_t first_row_ = 0;
    uint64_t file_bytes_ = 0;  // 0: not known, the file is compressed
};

}  // namespace profana
