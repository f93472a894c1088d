// What one cell of a CSV file says.
#pragma once

#include <string>
#include <string_view>

#include "ext/core/store.h"

namespace profana {

// The cell as CSV means it, without blanks and tabs around it. The view lies in the cell itself, or in
// `scratch` where quotes had to be resolved.
std::string_view cell_text(std::string_view cell, std::string& scratch);

// The cell's value: profilers wrap values into quotes of their own, "16,16;16,16", which are dropped.
// False: there is none, the cell is empty or N/A. An empty value within quotes is a value: a scalar's shape.
bool cell_value(std::string_view cell, std::string& scratch, std::string_view* value);

// The number that a text is, if SQLite gives its text back: an integer in its shortest form, or a decimal of
// at most 15 significant digits, which a double keeps. Else NULL.
AnyValue cell_number(std::string_view text);

}  // namespace profana
