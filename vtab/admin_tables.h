// What the extension tells about itself: prof_diagnostic, prof_setting, profana_help, profana_report.
#pragma once

#include "vtab/table_module.h"

namespace profana {

int register_admin_tables(Connection& connection);

}  // namespace profana
