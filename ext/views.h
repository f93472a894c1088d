// The shipped views: the files of sql/views, run as TEMP objects on a connection.
#pragma once

#include <string_view>
#include <vector>

#include "ext/registry.h"

namespace profana {

class Connection;

// Creates what is not there yet. Best effort: where the host forbids writing to the temp schema, a diagnostic
// says so and everything else works.
void install_views(Connection& connection);
bool views_are_there(Connection& connection);

// The lines between that of a CREATE statement, which opens the list of columns, and the parenthesis that
// closes the list; none where the first line opens no list.
std::vector<std::string_view> column_lines(std::string_view create);

// Name, columns and comment of every view and table that the files of sql/views create.
std::vector<HelpEntry> view_help();

}  // namespace profana
