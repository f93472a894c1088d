// Text exports as a source of the model tables: the CSV and JSON files of ASCEND_PROFILER_OUTPUT (PyTorch and
// MindSpore), of mindstudio_profiler_output (msprof), or a trace_view.json alone.
#pragma once

#include <memory>

#include "vtab/capture.h"

namespace profana {

std::shared_ptr<Source> make_text_source(Capture capture, const ProfileOptions& options,
                                         LoadContext& context);

}  // namespace profana
