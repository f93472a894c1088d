// Columns filled by parallel parsers: each worker fills columns of its own for the chunk at hand, and the
// chunks' columns are appended to the table in file order.
//
// A worker codes texts by dictionaries of its own, which it keeps from chunk to chunk while they stay small
// enough for the cache. Appending maps them to the table's codes. Those count in order of first appearance in
// the file, whatever the number of workers and whichever chunks were thrown away because their cut was wrong.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "ext/core/store.h"

namespace profana {

// The texts that one worker has met in one column, and which of them in the chunk at hand.
class WorkerDictionary {
  public:
    struct Texts {  // kept alive by the chunks that use them
        Dictionary dictionary;
        uint64_t number = 0;  // tells the dictionaries of one worker apart
    };

    void begin_chunk();
    // The code of the text; *first: it is new to this chunk.
    uint32_t code(std::string_view text, bool* first) {
        *first = false;
        if (last_code_ != kNullCode && text == last_text_)
            return last_code_;  // most columns repeat themselves
        return look_up(text, first);
    }
    void forget_in_chunk(uint32_t code);
    const std::shared_ptr<Texts>& texts() const { return texts_; }

  private:
    uint32_t look_up(std::string_view text, bool* first);

    std::shared_ptr<Texts> texts_ = std::make_shared<Texts>();
    std::vector<uint32_t> met_in_;  // by code: the last chunk that it was met in
    uint32_t chunk_ = 0;
    std::string_view last_text_;
    uint32_t last_code_ = kNullCode;
};

// One column's values of one chunk.
class ChunkColumn {
  public:
    ChunkColumn(ColumnType type, WorkerDictionary* dictionary);

    void add_int(int64_t value) { ints_.push_back(value); }
    void add_real(double value) { reals_.push_back(value); }
    void add_text(std::string_view value) { codes_.push_back(code(value)); }
    void add_any(AnyValue value) { anys_.push_back(value); }  // a number or NULL
    void add_any_text(std::string_view value);
    void add_long(std::string_view value);  // copied
    void add_long(LongRef ref) { longs_.push_back(ref); }
    void add_null();
    size_t size() const;

  private:
    friend class ChunkColumns;
    friend class ColumnMerger;
    // A text of this chunk, where the worker that goes on to the next chunk cannot disturb it.
    struct Met {
        std::string_view text;
        uint32_t code, hash;
    };
    uint32_t code(std::string_view text) {
        bool first = false;
        const uint32_t code = dictionary_->code(text, &first);
        if (first) note(code);
        return code;
    }
    void note(uint32_t code);
    void reserve(size_t rows);
    void end_row(size_t rows);
    void drop_row(size_t rows);

    ColumnType type_;
    WorkerDictionary* dictionary_;
    PageVector<int64_t> ints_;
    PageVector<double> reals_;
    PageVector<uint32_t> codes_;
    PageVector<AnyValue> anys_;
    PageVector<LongRef> longs_;
    std::unique_ptr<Arena> arena_;
    std::shared_ptr<WorkerDictionary::Texts> texts_;
    std::vector<Met> met_;    // in order of first appearance
    size_t met_in_rows_ = 0;  // of them, up to the last end_row()
};

// The wanted columns of one chunk, by the table's column numbers.
class ChunkColumns {
  public:
    bool has(int column) const { return places_[column] >= 0; }
    ChunkColumn& operator[](int column) { return columns_[static_cast<size_t>(places_[column])]; }
    size_t rows() const { return rows_; }
    void end_row();              // columns that got no value get NULL
    void reserve(size_t rows);   // room for so many
    void end_rows(size_t rows);  // the same for rows whose values were added column by column
    void drop_row();             // forgets what was added since the last end_row()

  private:
    friend class WorkerColumns;
    friend class ColumnMerger;
    std::vector<int> places_;
    std::vector<ChunkColumn> columns_;
    size_t rows_ = 0;
};

// What one worker keeps from chunk to chunk.
class WorkerColumns {
  public:
    WorkerColumns(const Table& table, const ColumnSet& wanted);
    ChunkColumns begin_chunk();

  private:
    std::vector<ColumnType> types_;
    std::vector<int> places_;
    std::vector<WorkerDictionary> dictionaries_;  // by place
};

// Appends chunks to the columns that a table is building, in file order. Never two appends at a time.
class ColumnMerger {
  public:
    ColumnMerger(Table& table, const ColumnSet& wanted, unsigned workers);
    // `worker` is the number of the worker whose WorkerColumns made the chunk. Takes the chunk's values.
    void append(ChunkColumns& chunk, unsigned worker, LoadContext& context);
    uint64_t rows() const { return rows_; }
    // The last `rows` rows came from `read` bytes of a file. Throws when those in the `left` bytes behind
    // them would go over the memory limit: known after the first chunk, not when nearly all is read.
    void check_ahead(uint64_t rows, uint64_t read, uint64_t left, const LoadContext& context) const;

  private:
    struct Mapping {  // of one worker's codes in one column to the table's
        uint64_t texts_number = 0;
        std::vector<uint32_t> codes;
    };
    void append_column(ChunkColumn& from, Column& to, Mapping& mapping);

    Table& table_;
    std::vector<int> columns_;
    std::vector<std::vector<Mapping>> mappings_;  // by worker and place
    uint64_t rows_ = 0;
    size_t row_bytes_ = 0;  // of one row in all columns, dictionaries not counted
};

}  // namespace profana
