// The files behind the path that a raw table is called with.
#pragma once

#include <string>
#include <vector>

#include "vtab/capture.h"

namespace profana {

// `path` itself if it is no folder. In a folder, the file with this role, its slices in order: in the folder
// itself, or in the folders into which profilers put their results. Throws Error if there is none, or if
// files of several exports or processes compete; `table` and `names` (of the files looked for) are for its
// message.
std::vector<std::string> raw_files(const std::string& path, FileRole role, const char* table,
                                   const char* names);

}  // namespace profana
