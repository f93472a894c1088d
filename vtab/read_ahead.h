// The large tables of a database are made of the same tables of the file, and read side by side they share
// the work. SQLite plans the whole of a statement before it runs: when the first of them is read, what the
// statement will want of the others is known.
#pragma once

#include <array>
#include <chrono>
#include <vector>

#include "ext/connection.h"
#include "vtab/load_parts.h"
#include "vtab/model_tables.h"
#include "vtab/plan.h"

namespace profana {

class ReadAhead {
  public:
    // A plan for the table of this model; others than the large ones are not read ahead.
    void expect(Model model, const Plan& plan);
    // What the statement planned last wants beside these tables of this model, of the same sources.
    std::vector<LoadTask> take(Connection& connection, Model model, const std::vector<LoadTask>& tasks);

  private:
    std::chrono::steady_clock::time_point planned_at_;
    std::array<ColumnSet, static_cast<size_t>(Model::kCount)> columns_;
};

}  // namespace profana
