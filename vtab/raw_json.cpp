#include "vtab/raw_json.h"

namespace profana {

int register_raw_json_tables(Connection& connection) {
    int code = register_table(connection, trace_event_spec(), trace_event_provider());
    if (code == SQLITE_OK) code = register_table(connection, communication_spec(), communication_provider());
    if (code == SQLITE_OK)
        code = register_table(connection, communication_matrix_spec(), communication_matrix_provider());
    return code;
}

}  // namespace profana
