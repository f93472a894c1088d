#include "ext/registry.h"

namespace profana {

std::span<const FunctionSpec> text_functions() { return {}; }

}  // namespace profana
