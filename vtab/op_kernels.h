// What prof_host_op tells of the kernels that an operator launched: prof_launch and prof_kernel seen from the
// operators' side, for every kind of source alike.
#pragma once

#include <memory>

#include "vtab/profile.h"

namespace profana {

// The source, whose reader leaves kernel_count, kernel_names and kernel_ns of prof_host_op to us.
std::shared_ptr<Source> with_op_kernels(std::shared_ptr<Source> source);

}  // namespace profana
