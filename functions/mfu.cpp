#include "ext/registry.h"

namespace profana {

std::span<const FunctionSpec> mfu_functions() { return {}; }

}  // namespace profana
