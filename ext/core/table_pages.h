// The rows of a table of an SQLite database, from the file's pages: several times as fast as asking SQLite
// for them one by one.
//
// Only what is plain is read: a table with rowids, in a file whose texts are UTF-8 and that nobody changes
// meanwhile. Where anything is not as the format says, next() stops before that row and irregular() is true:
// SQLite, which gives the same rows so far, can go on from there and say what is wrong. The format:
// sqlite.org/fileformat2.html.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ext/core/pages.h"

namespace profana {

// A value as the file holds it. Texts and blobs are valid until the next row.
struct StoredCell {
    enum class Kind : uint8_t { kNull, kInteger, kReal, kText, kBlob };
    Kind kind = Kind::kNull;
    int64_t integer = 0;
    double real = 0;
    std::string_view bytes;
};

constexpr int kRowidPlace = -1;

// Where a value stands in a record.
struct StoredColumn {
    int place = kRowidPlace;   // number of the column in the table, from 0; kRowidPlace: it is the rowid
    bool is_real = false;      // of affinity REAL: whole numbers are stored as integers
    bool has_default = false;  // of rows that are older than the column
};

// What the first bytes of a database file say.
constexpr size_t kDatabaseHeaderBytes = 100;
struct DatabaseHeader {
    uint32_t page_bytes = 0;
    uint32_t reserved_bytes = 0;  // of each page
    uint32_t pages = 0;           // 0: not known
    bool is_utf8 = false;
};
DatabaseHeader read_database_header(const unsigned char* bytes);

struct PageFormat {
    uint32_t page_bytes = 0;
    uint32_t usable_bytes = 0;  // of each page
    uint32_t pages = 0;         // in the database
};
// nullopt: not one whose pages can be read here.
std::optional<PageFormat> page_format(const DatabaseHeader& header, uint64_t file_bytes);

// The bytes of the file.
class PageFile {
  public:
    virtual ~PageFile() = default;
    // false: they are not all there, or cannot be read.
    virtual bool read(uint64_t offset, unsigned char* to, size_t n) = 0;
};

class TablePages {
  public:
    TablePages(PageFile& file, const PageFormat& format, uint32_t root_page,
               const std::vector<StoredColumn>& columns);

    // The next row, in the order of rowids. false: there is none, or something is irregular.
    bool next();
    bool irregular() const { return irregular_; }
    const StoredCell* cells() const { return cells_.data(); }  // of the row at hand, by column
    uint64_t record_bytes() const { return record_bytes_; }    // of that row

  private:
    enum class Decoded : uint8_t { kWhole, kNeedsMore, kIrregular };
    struct Inner {
        std::vector<uint32_t> children;
        size_t at = 0;
    };
    struct Wanted {
        StoredColumn column;
        size_t cell;
    };

    bool next_leaf();
    bool descend(uint32_t page);
    bool read_children(const unsigned char* page);
    bool read_run(Inner& above);
    bool open_leaf(uint32_t page);
    uint32_t most_cells() const { return (format_.page_bytes - 8) / 6; }
    bool cell_fits(uint32_t at) const;
    uint64_t local_bytes(uint64_t payload) const;
    bool read_cell();
    bool read_rest(uint64_t payload, const unsigned char* local, size_t local_bytes);
    Decoded decode(const unsigned char* record, size_t bytes, uint64_t payload);
    bool may_be_table(uint32_t page) const;
    bool read_pages(uint32_t first, size_t n, PageVector<unsigned char>& to);

    PageFile& file_;
    PageFormat format_;
    std::vector<Wanted> wanted_;       // of the record, by place
    std::vector<size_t> rowid_cells_;  // cells that are the rowid
    std::vector<StoredCell> cells_;

    std::vector<Inner> above_;  // the pages above the leaf at hand, from the root; the first holds it alone
    size_t leaf_depth_ = 0;     // pages above each leaf; 0: not yet known
    PageVector<unsigned char> inner_page_, run_, rest_;
    std::vector<uint32_t> run_leaves_;  // leaves that are in run_, and where the next of them stands there
    size_t run_at_ = 0;
    uint32_t run_first_ = 0;               // page at the beginning of run_
    const unsigned char* leaf_ = nullptr;  // the leaf at hand
    uint32_t cell_ = 0, cell_count_ = 0;   // its next cell
    uint64_t record_bytes_ = 0;
    bool irregular_ = false;
};

}  // namespace profana
