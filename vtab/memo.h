// Views whose rows are kept: CREATE VIRTUAL TABLE temp.t USING profana_memo(view).
//
// The first query of t runs the TEMP view and keeps its rows in a table with indexes like any other; later
// queries read that table, until a profile, a setting or a row of any table of the connection has changed.
// Views that share a costly step pay for it once, and planning them does not unfold it again and again.
#pragma once

namespace profana {

class Connection;

// Registers the module profana_memo. Returns an SQLite result code.
int register_memo_tables(Connection& connection);

}  // namespace profana
