// Where the rows and cells of a piece of CSV text stand.
//
// Most text is regular: a quote opens a cell at its start and closes it at its end, doubled in between. Such
// text is read 64 bytes at a time; whether a separator is quoted follows from the parity of the quotes before
// it. A row in which a quote stands anywhere else is read by itself, byte by byte, with what real writers do
// in mind:
//   - a quote inside a cell that does not begin with one is a character like any other;
//   - what follows a closing quote up to the next separator belongs to the cell;
//   - a quote that nothing closes is torn: it is taken as a character, so that it cannot swallow the rows
//     behind it. So is one whose closing quote does not end the cell, and stands behind a line end or looks
//     like the opening quote of the next cell.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace profana {

struct CsvRow {
    uint32_t begin;  // of its first byte
    uint32_t first;  // place of its first cell's end among the ends
    uint32_t cells;
    uint32_t line;  // line feeds that stand before it
};

// Bytes behind the text that read() may look at.
constexpr size_t kCsvPadding = 64;

class CsvIndex {
  public:
    enum class End {
        kMayFollow,  // a last row that is not closed is left over
        kLongRow,    // the same, but the first row ends with the text at the latest
        kEndOfFile,  // the text's end ends the last row
    };

    // Reads the rows of the text, which is shorter than 4 GiB and is followed by kCsvPadding readable bytes.
    void read(std::string_view text, End end);

    std::vector<CsvRow>& rows() { return rows_; }
    std::string_view cell(const CsvRow& row, uint32_t number) const {
        const uint32_t* ends = ends_.get() + row.first;
        const uint32_t begin = number == 0 ? row.begin : ends[number - 1] + 1;
        return {text_ + begin, ends[number] - begin};
    }
    // All of the row, without its line end.
    std::string_view text_of(const CsvRow& row) const {
        return {text_ + row.begin, ends_[row.first + row.cells - 1] - row.begin};
    }
    // Makes one cell of the row out of `extra` + 1 of them.
    void join_cells(CsvRow& row, uint32_t number, uint32_t extra);

    size_t consumed() const { return consumed_; }          // bytes of whole rows
    uint32_t lines() const { return lines_; }              // line feeds in them
    bool plain() const { return plain_; }                  // nothing but ASCII, and no NUL; else perhaps not
    bool last_row_open() const { return last_row_open_; }  // it ended with the text and not with a line feed
    const std::vector<uint32_t>& torn_quotes() const { return torn_quotes_; }  // lines they stand on

  private:
    bool read_regular();
    bool read_carefully(bool ends_with_text);
    void end_row(size_t end, uint32_t lines_in_row);

    const char* text_ = nullptr;
    size_t size_ = 0;
    std::unique_ptr<uint32_t[]> ends_;  // of cells: where their separators stand
    size_t ends_room_ = 0;
    std::vector<CsvRow> rows_;
    std::vector<uint32_t> torn_quotes_;
    // The row that is read next: where it begins, its first cell, the lines before it.
    size_t begin_ = 0, first_ = 0;
    uint32_t lines_ = 0;
    size_t consumed_ = 0;
    bool plain_ = true, last_row_open_ = false;
};

// The length of the longest prefix of `text` that ends behind a line feed outside of quotes, if the text
// begins outside of quotes and is regular; else of one that ends behind a line feed; 0: there is none.
size_t csv_cut(std::string_view text);

}  // namespace profana
