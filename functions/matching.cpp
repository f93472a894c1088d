#include "ext/registry.h"

namespace profana {

std::span<const FunctionSpec> matching_functions() { return {}; }

}  // namespace profana
