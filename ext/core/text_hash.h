// The hash of texts for maps that are asked with views of them.
#pragma once

#include <functional>
#include <string_view>

namespace profana {

struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

}  // namespace profana
