// profiler_csv: any CSV file as a table whose columns are the file's own heads.
#pragma once

#include "ext/connection.h"

namespace profana {

// Registers the module: CREATE VIRTUAL TABLE temp.t USING profiler_csv('file.csv').
int register_profiler_csv(Connection& connection);

}  // namespace profana
