// May a constraint that SQLite offers stem from the ON clause of an outer join?
//
// In `a LEFT JOIN b ON a.name LIKE 'x%'` the test says which rows of b join; all rows of a stay. SQLite 3.40
// offers LIKE, GLOB and IS NOT NULL of such a clause to the table a as if they stood in WHERE, and a table
// that obeys loses rows (3.53 does not; a table cannot see where a constraint stands). With such a SQLite
// these tests are left to it unless no statement that runs can hold an outer join.
#pragma once

#include "ext/sqlite.h"

namespace profana {

// true: for all that is known, yes. Looks at the text of the statements that run on the connection.
bool outer_join_may_run(sqlite3* db);

}  // namespace profana
