// Loading of several tables that one scan needs: side by side where their sources are different ones.
#pragma once

#include <vector>

#include "ext/core/store.h"

namespace profana {

struct LoadTask {
    Table* table;
    ColumnSet columns;
};

// On the statement's thread. Returns when all tables have their columns, or throws what the first failed one
// threw; no thread is left behind. ahead: tables that will be wanted soon, which may wait for parts of the
// others; what goes wrong with them is told to who asks for them.
void load_one_by_one(const std::vector<LoadTask>& tasks, LoadContext& context);
void load_side_by_side(const std::vector<LoadTask>& tasks, const std::vector<LoadTask>& ahead,
                       LoadContext& context);

}  // namespace profana
