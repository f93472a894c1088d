// The shipped views: the files of sql/views, run as TEMP objects on a connection.
#pragma once

#include <vector>

#include "ext/registry.h"

namespace profana {

class Connection;

// Creates what is not there yet. Best effort: where the host forbids writing to the temp schema, a diagnostic
// says so and everything else works.
void install_views(Connection& connection);

// Name, columns and comment of every view and table that the files of sql/views create.
std::vector<HelpEntry> view_help();

}  // namespace profana
