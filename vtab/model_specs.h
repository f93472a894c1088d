// How a model table is declared. The sources of a table and of each of its columns stand beside it, a kind of
// capture after the other: "Text: Duration(us) | Db: TASK.endNs - startNs | GPU: dur". The kinds are
//   Text       files of torch_npu: CSV and trace_view.json
//   Db         ascend_pytorch_profiler*.db, msprof_*.db, ascend_mindspore_profiler*.db, msmonitor_*.db
//   GPU        traces of torch.profiler
//   MindSpore  files of MindSpore, where they differ from Text
//   msprof     files of the msprof command line, where they differ from Text
// A kind that is not named leaves the column NULL; MindSpore and msprof then are as Text. docs/tables.md
// shows all this, and tests/docs holds it against what the readers give.
#pragma once

#include <utility>
#include <vector>

#include "vtab/model_tables.h"

namespace profana {

using ModelSpec = std::pair<Model, TableSpec>;

// A model table: profile, rank and id stand in front of the columns.
ModelSpec model_spec(Model model, const char* name, const char* doc, const char* sources,
                     std::vector<ColumnSpec> columns);

// A column that names rows of a table of the same source by their ids.
ColumnSpec id_of(const char* name, const char* doc, const char* sources);

// source_row of tables that are made of rows and events.
ColumnSpec source_row(const char* sources);

// What the device did, and what was measured of it (model_specs_device.cpp).
std::vector<ModelSpec> device_model_specs();
// What the host did, memory, and what the profiler says of the whole (model_specs_host.cpp).
std::vector<ModelSpec> host_model_specs();

}  // namespace profana
