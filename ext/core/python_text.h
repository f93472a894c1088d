// JSON as Python prints it, and the shapes of an operator's arguments as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace profana {

// A JSON array or object as Python's repr() of it: [[2, 3], []], ['float', ''], {'a': None}. Any other text
// is returned as it is.
std::string python_repr(std::string_view text);

// The shapes of all arguments as JSON, a list of dims each, from '34,4096;7,128' or JSON. An argument that is
// a list of tensors stays a list of lists. nullopt: the text is no shapes.
std::optional<std::string> shape_dims(std::string_view text);

// How many elements the argument with this place has (a list of tensors: all of them together), or all
// arguments have where index is nullopt. nullopt: no shapes, no such place, or a number beyond int64.
std::optional<int64_t> shape_numel(std::string_view text, std::optional<int64_t> index);

}  // namespace profana
