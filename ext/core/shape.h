// Tensor shapes and lists of numbers as profilers and users write them.
//
// Two notations mean the same: JSON arrays ('[32,1024]', '[[2,3],[3,4]]') and the profiler's comma form
// ('32,1024', '2,3;3,4', with or without the double quotes around a CSV cell). '' and '[]' are a scalar's
// shape.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ext/core/error.h"

namespace profana {

using Shape = std::vector<int64_t>;

// Operands that do not fit each other, or a result beyond 64 bits; begins with the argument's name.
class ShapeError : public Error {
  public:
    using Error::Error;
};

// Dims are 0 or more. nullopt: text is not a shape; *why (may be nullptr) then says what is wrong.
std::optional<Shape> parse_shape(std::string_view text, std::string* why = nullptr);

// Several tensors: '[[2,3],[3,4]]' or '2,3;3,4'. One shape alone is a list of one.
std::optional<std::vector<Shape>> parse_shapes(std::string_view text, std::string* why = nullptr);

// '[4,4,10]' or '4,4,10': any integers, negative ones too.
std::optional<std::vector<int64_t>> parse_integers(std::string_view text, std::string* why = nullptr);

// '[[[[1,0],[1,1]]]]' or with true and false: a nested array of exactly `depth` levels; every innermost
// number goes to values in order, and lengths[level] holds the lengths of the arrays of that level in order.
struct NestedFlags {
    std::vector<bool> values;
    std::vector<std::vector<int64_t>> lengths;
};
std::optional<NestedFlags> parse_nested_flags(std::string_view text, int depth, std::string* why = nullptr);

std::string shape_text(const Shape& shape);  // [32,1024]
// The same for error messages: of a long list the beginning.
std::string shape_excerpt(const Shape& shape);

}  // namespace profana
