// The rows of a model table while a reader fills them, and after: columns by name, shared with the Table that
// shows them, so that nothing is copied and derived columns can be added when they are asked for.
#pragma once

#include <initializer_list>
#include <memory>
#include <vector>

#include "ext/core/store.h"
#include "vtab/model_tables.h"

namespace profana {

class ModelRows {
  public:
    explicit ModelRows(Model model);
    ModelRows(const ModelRows&) = delete;
    ModelRows& operator=(const ModelRows&) = delete;

    // The column, made empty on first call. A reader appends one value a row to each column that it has made.
    Column& column(const char* name);
    const Column& get(const char* name) const { return *columns_[model_column(model_, name)]; }
    bool has(const char* name) const { return columns_[model_column(model_, name)] != nullptr; }
    void set(const char* name, std::shared_ptr<const Column> values);
    uint64_t rows() const;

    // Hands the columns to a model table; those that were never made are absent.
    void give(Table& table, const ColumnSet& wanted) const;

  private:
    Model model_;
    std::vector<std::shared_ptr<const Column>> columns_;
    std::vector<std::shared_ptr<Column>> building_;  // of them, those that a reader appends to
};

// The columns start_ns, end_ns and, where the table has it, dur_ns.
class TimeColumns {
  public:
    explicit TimeColumns(ModelRows& rows, bool with_duration = true);
    void add(int64_t start, int64_t dur);  // kNullInt: unknown
    const Column& start() const { return start_; }
    const Column& end() const { return end_; }

  private:
    Column &start_, &end_;
    Column* dur_;
};

// Is any of the named columns of the model table wanted?
bool wants_any(const ColumnSet& wanted, Model model, std::initializer_list<const char*> names);

// The values of an integer column in one piece.
PageVector<int64_t> int_values(const Column& column);

}  // namespace profana
