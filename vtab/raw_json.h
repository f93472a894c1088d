// The raw tables of JSON files: trace_event (also called trace_view), communication, communication_matrix.
#pragma once

#include "vtab/table_module.h"

namespace profana {

int register_raw_json_tables(Connection& connection);

const TableSpec& trace_event_spec();
std::unique_ptr<TableProvider> trace_event_provider();
const TableSpec& communication_spec();
std::unique_ptr<TableProvider> communication_provider();
const TableSpec& communication_matrix_spec();
std::unique_ptr<TableProvider> communication_matrix_provider();

}  // namespace profana
