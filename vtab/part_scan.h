// The rows of one part that a scan may need, in the order it promised.
//
// Of all constraints the one that leaves the fewest rows gives the rows to look at (an interval of row
// numbers, a stretch of an index, a list); the others become tests of single rows. SQLite checks every row
// again, but for whole numbers that a column equals (equals_whole_number).
#pragma once

#include <string>
#include <vector>

#include "ext/core/index.h"
#include "ext/core/row_filter.h"
#include "vtab/part_columns.h"
#include "vtab/plan.h"

namespace profana {

class PartScan {
  public:
    // ordinal: of the part among all parts of the table; rowids are unique by it. texts: where constant texts
    // are kept for SQLite, which may hold on to them after the cursor is closed.
    PartScan(const TableSpec& spec, const Part& part, size_t ordinal, Dictionary& texts);

    // By constant columns alone, before anything is loaded: can a row pass?
    bool may_pass(const Plan& plan, sqlite3_value** arguments) const;
    Table& table() const { return *part_.table; }
    size_t ordinal() const { return static_cast<size_t>(row_id_base_ >> 32); }
    ColumnSet needed(const Plan& plan) const;

    // Once the needed columns are loaded.
    void resolve();
    // Starts over, before the first row.
    void start(const Plan& plan, sqlite3_value** arguments, LoadContext& context);

    // Stands on the row with this id, if the part has it: what start() and next() would do for a plan with
    // Scan::id_lookup_.
    bool find(int64_t id);

    bool next(LoadContext& context) { return ++at_ < batch_size_ || refill(context); }
    Row row() const { return batch_ != nullptr ? batch_[at_] : base_ + static_cast<Row>(at_); }
    int64_t row_id() const { return row_id_base_ + row(); }

    // The value in the current row. kLong columns have no cell.
    Cell cell(int column) const;
    void result(sqlite3_context* context, int column, LoadContext& load);

  private:
    struct Access {
        enum Kind : uint8_t { kUnknown, kNull, kConstant, kRowId, kInt, kReal, kText, kAny, kLong };
        Kind kind = kUnknown;
        const Column* column = nullptr;
        uint32_t code = kNullCode;  // of a constant text
    };
    struct Bounds {  // of one numeric column
        int column;
        int64_t low, high;
        double real_low, real_high;
    };
    struct Codes {  // the texts that one LIKE, GLOB or comparison lets through, until its operand changes
        std::string operand;
        std::vector<uint8_t> wanted;
    };
    struct Search {  // what gives the fewest rows so far
        size_t rows = 0;
        const Index* index = nullptr;  // nullptr: the interval of row numbers
        std::vector<Index::Range> ranges;
        bool in_row_order = false;
        int column = PlanTerm::kRowId;  // of the table, where it is a search for one integer
        int64_t integer = 0;
    };

    int place(int column) const {
        return column == PlanTerm::kRowId ? Part::kRowId : part_.columns[static_cast<size_t>(column)];
    }

    // Rows in the order of an index lie anywhere: their values are fetched from memory some rows ahead.
    static constexpr size_t kRowsAhead = 16;
    bool comes_later() const { return batch_ != nullptr && at_ + kRowsAhead < batch_size_; }

    void add_term(const PlanTerm& term, size_t number, sqlite3_value* value, LoadContext& context);
    void add_row_numbers(Op op, sqlite3_value* value, int64_t first_id);
    void add_values(Op op, size_t number, int column, sqlite3_value* value, LoadContext& context);
    void add_null(int column, LoadContext& context);
    void add_bound(Op op, int column, sqlite3_value* value);
    void add_texts(Op op, size_t number, int column, sqlite3_value* value, LoadContext& context);
    void search_bounds(const Bounds& bounds, LoadContext& context);
    bool search(const Index& index, bool in_row_order);
    bool leaves_few() const;
    bool takes_list() const;
    bool takes_search() const;
    void test_instead_of_search();
    void nothing() { first_ = last_ = 0; }

    std::vector<OrderTerm> order_terms(const Plan& plan) const;
    bool stream_fewest(LoadContext& context);
    void arrange(const Plan& plan, LoadContext& context);
    void stream_interval(Row first, Row last, bool tested);
    void stream_rows(const Row* rows, size_t n, bool tested);
    void stream_owned(PageVector<Row> rows, bool tested);
    PageVector<Row> collect(LoadContext& context);
    bool refill(LoadContext& context);

    const TableSpec& spec_;
    const Part& part_;
    Dictionary& texts_;
    int64_t row_id_base_;
    std::vector<Access> access_;  // by column of the spec

    // The search.
    Row first_ = 0, last_ = 0;  // row numbers
    std::vector<RowTest> tests_;
    std::vector<Bounds> bounds_;
    const Plan* plan_ = nullptr;
    std::vector<Codes> codes_;      // by term of the plan
    PageVector<uint32_t> guesses_;  // by term: the code of the text that may be asked for next
    Search best_;
    bool has_list_ = false;
    PageVector<Row> list_;
    ValueSet set_;
    std::vector<Index::Range> ranges_;

    // The stream: batches of rows, tested where there are tests.
    const Row* batch_ = nullptr;  // nullptr: base_, base_ + 1 ...
    Row base_ = 0;
    size_t at_ = 0, batch_size_ = 0;
    const Row* source_ = nullptr;  // of rows yet to be tested; nullptr: row numbers
    size_t source_at_ = 0, source_end_ = 0;
    PageVector<Row> buffer_, owned_;
    std::shared_ptr<const RowOrder> order_;
};

}  // namespace profana
