#include "vtab/model_rows.h"

#include <algorithm>

#include "ext/core/plausible.h"

namespace profana {

ModelRows::ModelRows(Model model) : model_(model) {
    columns_.resize(model_specs()[static_cast<size_t>(model)].columns.size() - kFirstModelColumn);
    building_.resize(columns_.size());
}

Column& ModelRows::column(const char* name) {
    const int number = model_column(model_, name);
    if (building_[number] == nullptr) {
        const auto& spec = model_specs()[static_cast<size_t>(model_)].columns[number + kFirstModelColumn];
        columns_[number] = building_[number] = std::make_shared<Column>(spec.type);
    }
    return *building_[number];
}

void ModelRows::set(const char* name, std::shared_ptr<const Column> values) {
    columns_[model_column(model_, name)] = std::move(values);
}

uint64_t ModelRows::rows() const {
    for (const auto& column : columns_)
        if (column != nullptr) return column->size();
    return 0;
}

void ModelRows::give(Table& table, const ColumnSet& wanted) const {
    table.set_rows(rows());
    wanted.each([&](int column) {
        if (columns_[column] != nullptr)
            table.set_column(column, columns_[column]);
        else
            table.set_absent(column);
    });
}

TimeColumns::TimeColumns(ModelRows& rows, bool with_duration)
    : start_(rows.column("start_ns")),
      end_(rows.column("end_ns")),
      dur_(with_duration ? &rows.column("dur_ns") : nullptr) {}

void TimeColumns::add(int64_t start, int64_t dur) {
    start_.add_int(start);
    end_.add_int(sum_ns(start, dur));
    if (dur_ != nullptr) dur_->add_int(dur);
}

bool wants_any(const ColumnSet& wanted, Model model, std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const char* name) { return wanted.has(model_column(model, name)); });
}

PageVector<int64_t> int_values(const Column& column) {
    PageVector<int64_t> out;
    out.reserve(column.size());
    for (size_t i = 0; i < column.size();) {
        const auto piece = column.ints().piece(i);
        out.insert(out.end(), piece.begin(), piece.end());
        i += piece.size();
    }
    return out;
}

}  // namespace profana
