// The model tables: one meaning, whatever the source. This list is the contract between readers and views;
// docs/tables.md is checked against it.
#pragma once

#include <vector>

#include "vtab/table_module.h"

namespace profana {

enum class Model {
    kKernel,
    kKernelPmu,
    kDeviceTask,
    kHostOp,
    kLaunch,
    kPythonCall,
    kFwdBwd,
    kStep,
    kCommOp,
    kCommTask,
    kMemoryAlloc,
    kMemoryUsage,
    kMstxRange,
    kOverlapBar,
    kDevice,
    kOpStat,
    kApiStat,
    kStepTime,
    kCommBandwidth,
    kProcessGroup,
    kCount
};

// The tables' specs by Model; columns 0..2 of each are profile, rank, id.
const std::vector<TableSpec>& model_specs();
constexpr int kFirstModelColumn = 3;

// The number of a column of a model table, counted from kFirstModelColumn (0: the first after id), as a reader's
// Table has them. Aborts on a name that is not there: a mistake in the reader.
int model_column(Model model, const char* name);

// An empty Table with the columns of a model table (those after profile, rank, id), for a reader to fill.
std::shared_ptr<Table> make_model_table(Model model, Table::Loader loader);

}  // namespace profana
