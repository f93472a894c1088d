// Views whose rows are kept: CREATE VIRTUAL TABLE temp.t USING profana_memo(view [, column] ...). The columns
// named are long texts that rarely repeat, and are kept without a dictionary.
//
// The first query of t runs the TEMP view and keeps its rows in a table with indexes like any other; later
// queries read that table. Views that share a costly step pay for it once, and SQLite's planner does not
// unfold the same views again and again: without this, planning the module sheets takes seconds and their
// shared steps are run a dozen times.
//
// The rows are thrown away as soon as anything they depend on may be another: an open profile or its files, a
// setting, a table or view of the connection's temp schema, also by a ROLLBACK.
#pragma once

namespace profana {

class Connection;

// Registers the module profana_memo. Returns an SQLite result code.
int register_memo_tables(Connection& connection);

}  // namespace profana
