#include "vtab/raw_files.h"

#include <algorithm>
#include <filesystem>

#include "ext/core/error.h"

namespace profana {
namespace {

// What profilers call the folders of their results.
constexpr const char* kResultFolders[] = {"ASCEND_PROFILER_OUTPUT", "mindstudio_profiler_output", "analyze"};

// Recognition by role does not know torch.profiler's traces: it takes each for a capture of its own.
std::vector<std::string> in_folder(const std::string& folder, FileRole role) {
    std::vector<std::string> files = std::move(files_of_folder(folder)[role]);
    if (!files.empty() || role != FileRole::kTrace) return files;
    for (const std::string& name : list_folder(folder)) {
        const bool twice = !files.empty() && join_path(folder, name) == files.back() + ".gz";
        if (is_torch_trace(name) && !twice) files.push_back(join_path(folder, name));
    }
    return files;
}

// Slices of one file are one file; anything else is a choice that only the user can make.
bool are_slices(const std::vector<std::string>& files) {
    return std::all_of(files.begin(), files.end(), [](const std::string& file) {
        const auto named = file_by_name(base_name(file));
        return named && named->slice > 0;
    });
}

// Before a folder is said not to hold a file: one that may not be listed holds nobody knows what.
void check_listable(const std::string& folder) {
    std::error_code error;
    const std::filesystem::directory_iterator at(folder, error);
    if (error)
        throw file_error(folder, 0,
                         "a folder that cannot be listed (" + error.message() +
                             "); change its mode or run as a user who may, or name the file in it",
                         ErrorKind::kCannotOpen);
}

}  // namespace

std::vector<std::string> raw_files(const std::string& path, FileRole role, const char* table,
                                   const char* names) {
    if (!is_folder(path)) return {path};
    std::vector<std::string> files = in_folder(path, role);
    for (const char* folder : kResultFolders) {
        if (files.empty()) files = in_folder(join_path(path, folder), role);
    }
    if (files.empty()) {
        check_listable(path);
        for (const char* folder : kResultFolders)
            if (is_folder(join_path(path, folder))) check_listable(join_path(path, folder));
        throw file_error(path, 0,
                         std::string("a folder without ") + names + "; " + table +
                             "() takes a file, or a folder that holds one, itself or in "
                             "ASCEND_PROFILER_OUTPUT, mindstudio_profiler_output or analyze");
    }
    if (files.size() > 1 && !are_slices(files)) {
        std::string list;
        for (const std::string& file : files) list.append(list.empty() ? "" : ", ").append(base_name(file));
        throw file_error(
            path, 0,
            std::string("several files for ") + table + "(): " + excerpt(list) + "; name one of them");
    }
    return files;
}

}  // namespace profana
