// A GPU trace of torch.profiler as a source of the model tables.
#pragma once

#include <memory>

#include "vtab/capture.h"

namespace profana {

std::shared_ptr<Source> make_gpu_source(Capture capture, const ProfileOptions& options);

}  // namespace profana
