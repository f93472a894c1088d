// Names of profiler files and what they are for.
#include <algorithm>
#include <filesystem>
#include <set>

#include "ext/core/decimal.h"
#include "vtab/capture.h"

namespace profana {
namespace {

namespace fs = std::filesystem;

struct Stem {
    const char* name;
    FileRole role;
};

constexpr Stem kCsvStems[] = {
    {"kernel_details", FileRole::kKernelDetails},
    {"op_summary", FileRole::kOpSummary},
    {"op_statistic", FileRole::kOpStatistic},
    {"api_statistic", FileRole::kApiStatistic},
    {"step_trace_time", FileRole::kStepTraceTime},
    {"operator_details", FileRole::kOperatorDetails},
    {"operator_memory", FileRole::kOperatorMemory},
    {"memory_record", FileRole::kMemoryRecord},
    {"task_time", FileRole::kTaskTime},
    {"npu_module_mem", FileRole::kOther},
    {"l2_cache", FileRole::kOther},
    {"data_preprocess", FileRole::kOther},
    {"communication_statistic", FileRole::kOther},
    {"hccl_statistic", FileRole::kOther},
    {"soc_pmu", FileRole::kOther},
};

constexpr Stem kJsonStems[] = {
    {"trace_view", FileRole::kTrace},
    {"communication", FileRole::kCommunication},
    {"communication_matrix", FileRole::kCommunicationMatrix},
    {"profiler_metadata", FileRole::kMetadata},
};

bool all_digits(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "_slice_1_20260402160352", "_20260402160352", "_0_2_1" or nothing.
bool read_suffix(std::string_view rest, NamedFile& file) {
    if (rest.starts_with("_slice_")) {
        rest.remove_prefix(7);
        const size_t digits = std::min(rest.find('_'), rest.size());
        int64_t slice = 0;
        if (!all_digits(rest.substr(0, digits)) ||
            parse_integer(rest.substr(0, digits), &slice) != Parsed::kExact || slice == INT64_MAX)
            return false;
        file.slice = slice + 1;
        rest.remove_prefix(digits);
    }
    file.stamp = rest;
    while (!rest.empty()) {
        if (rest.front() != '_') return false;
        rest.remove_prefix(1);
        const size_t digits = std::min(rest.find('_'), rest.size());
        if (!all_digits(rest.substr(0, digits))) return false;
        rest.remove_prefix(digits);
    }
    return true;
}

bool match_stem(std::string_view name, const Stem& stem, std::string_view extension, NamedFile& file) {
    const std::string_view word = stem.name;
    if (!name.starts_with(word) || !name.ends_with(extension) || name.size() < word.size() + extension.size())
        return false;
    const std::string_view rest = name.substr(word.size(), name.size() - word.size() - extension.size());
    file = {stem.role, std::string(word), 0, ""};
    return read_suffix(rest, file);
}

std::optional<NamedFile> database_by_name(std::string_view name) {
    if (!name.ends_with(".db")) return std::nullopt;
    if (name == "analysis.db" || name == "communication_analyzer.db")
        return NamedFile{FileRole::kAnalysisDatabase, std::string(name), 0, ""};
    for (const char* stem : {"ascend_pytorch_profiler", "ascend_mindspore_profiler", "msprof", "msmonitor"}) {
        NamedFile file{FileRole::kDatabase, stem, 0, ""};
        if (!name.starts_with(stem)) continue;
        const std::string_view rest = name.substr(file.stem.size(), name.size() - file.stem.size() - 3);
        // msmonitor_<pid>_<time>_<rank>.db, the rank may be -1.
        if (rest.empty() || rest.front() == '_') {
            file.stamp = rest;
            return file;
        }
    }
    return std::nullopt;
}

std::string_view without_gz(std::string_view name) {
    return name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name;
}

// Longer digit runs are later: stamps of one export have the same form.
bool later(const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a > b;
}

struct Found {
    NamedFile named;
    std::string path;
};

std::map<FileRole, std::vector<Found>> named_files(const std::string& folder) {
    std::map<FileRole, std::vector<Found>> found;
    std::set<std::string, std::less<>> seen;  // without .gz; the plain one is listed first
    for (const std::string& name : list_folder(folder)) {
        const std::string path = join_path(folder, name);
        auto named = file_by_name(name);
        if (named && seen.emplace(without_gz(name)).second)
            found[named->role].push_back({std::move(*named), path});
    }
    return found;
}

// The newest first, each with its slices in order; `one`: all files are one.
std::vector<std::vector<std::string>> by_export(std::vector<Found> files, bool one) {
    std::stable_sort(files.begin(), files.end(),
                     [](const Found& a, const Found& b) { return a.named.slice < b.named.slice; });
    const auto newer = [](const std::string& a, const std::string& b) { return later(a, b); };
    std::map<std::string, std::vector<std::string>, decltype(newer)> exports(newer);
    for (Found& file : files) exports[one ? std::string() : file.named.stamp].push_back(std::move(file.path));
    std::vector<std::vector<std::string>> out;
    for (auto& [stamp, paths] : exports) out.push_back(std::move(paths));
    return out;
}

// Slices are counted from 0. "1, 3 to 9": those below the last that are not there.
std::string missing_slices(std::vector<int64_t> there) {
    std::sort(there.begin(), there.end());
    std::string out;
    int64_t next = 0;
    for (const int64_t slice : there) {
        if (slice > next) {
            out += (out.empty() ? "" : ", ") + std::to_string(next);
            if (slice > next + 1) out += " to " + std::to_string(slice - 1);
        }
        next = slice + 1;
    }
    return out;
}

}  // namespace

std::optional<NamedFile> file_by_name(std::string_view name) {
    if (auto database = database_by_name(name)) return database;
    name = without_gz(name);
    NamedFile file;
    for (const Stem& stem : kCsvStems)
        if (match_stem(name, stem, ".csv", file)) return file;
    for (const Stem& stem : kJsonStems)
        if (name == std::string(stem.name) + ".json") return NamedFile{stem.role, stem.name, 0, ""};
    if (match_stem(name, {"msprof", FileRole::kTrace}, ".json", file) && !file.stamp.empty()) return file;
    if (name == "profiler_info.json" || number_in_name(name, "profiler_info_", ".json"))
        return NamedFile{FileRole::kProfilerInfo, "profiler_info", 0, ""};
    return std::nullopt;
}

bool is_torch_trace(std::string_view name) {
    return without_gz(name).ends_with(".pt.trace.json");
}

std::map<FileRole, std::vector<std::vector<std::string>>> exports_of_folder(const std::string& folder,
                                                                            bool every_stamp) {
    std::map<FileRole, std::vector<std::vector<std::string>>> out;
    for (auto& [role, files] : named_files(folder)) {
        // Each database is a rank or an export of its own; recognition chooses among them.
        const bool one = every_stamp || role == FileRole::kDatabase || role == FileRole::kOther;
        out[role] = by_export(std::move(files), one);
    }
    return out;
}

std::map<FileRole, std::vector<std::string>> files_of_folder(const std::string& folder, bool every_stamp) {
    std::map<FileRole, std::vector<std::string>> out;
    for (auto& [role, exports] : exports_of_folder(folder, every_stamp))
        out[role] = std::move(exports.front());
    return out;
}

void forget_reading(const std::string& file, Diagnostics& diagnostics) {
    for (const auto& [code, severity] : diagnostics.told_of(file))
        if (code != kOlderExport && code != kSliceMissing) diagnostics.forget(file, code);
}

void report_older_export(const std::string& file, Diagnostics& diagnostics) {
    diagnostics.add({.file = file,
                     .code = kOlderExport,
                     .message = "the newer export beside it cannot be used; this one stands in for it"});
}

void report_missing_slices(const std::string& asked, const std::vector<std::string>& files,
                           Diagnostics& diagnostics) {
    for (const std::string& file : files) diagnostics.forget(file, kSliceMissing);  // there may be others now
    if (files.front() == asked) return;
    std::vector<int64_t> there;
    for (const std::string& file : files) {
        const auto named = file_by_name(base_name(file));
        if (!named || named->slice == 0) return;
        there.push_back(named->slice - 1);
    }
    const std::string missing = missing_slices(std::move(there));
    if (missing.empty()) return;
    diagnostics.add({.file = files.front(),
                     .code = kSliceMissing,
                     .message = "the file is one of several slices, and slice " + missing +
                                " is not in the folder; the rows of what is there are read"});
}

std::vector<std::string> list_folder(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        names.push_back(at->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

bool is_folder(const std::string& path) {
    std::error_code error;
    return fs::is_directory(path, error);
}

bool is_file(const std::string& path) {
    std::error_code error;
    return fs::is_regular_file(path, error);
}

std::string join_path(const std::string& folder, std::string_view name) {
    std::string path = folder;
    if (!path.empty() && path.back() != '/') path += '/';
    return path.append(name);
}

std::string_view base_name(std::string_view path) {
    while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
    const size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string parent_folder(const std::string& path) {
    std::string_view head = path;
    while (head.size() > 1 && head.back() == '/') head.remove_suffix(1);
    const std::string_view name = base_name(head);
    if (name == "." || name == "..") return join_path(std::string(head), "..");
    if (name.size() == head.size()) return head == "/" ? "/" : ".";
    head.remove_suffix(name.size());
    while (head.size() > 1 && head.back() == '/') head.remove_suffix(1);
    return std::string(head);
}

std::string absolute_path(const std::string& path) {
    std::error_code error;
    const fs::path absolute = fs::absolute(path, error);
    if (error) return path;
    const bool dots = std::any_of(absolute.begin(), absolute.end(),
                                  [](const fs::path& name) { return name == "." || name == ".."; });
    const fs::path without_dots = dots ? fs::canonical(absolute, error) : absolute.lexically_normal();
    std::string out = (error ? absolute : without_dots).string();
    while (out.size() > 1 && out.back() == '/') out.pop_back();
    return out;
}

std::optional<int64_t> number_in_name(std::string_view name, std::string_view prefix,
                                      std::string_view suffix) {
    if (name.size() <= prefix.size() + suffix.size() || !name.starts_with(prefix) || !name.ends_with(suffix))
        return std::nullopt;
    const std::string_view digits = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    int64_t number = 0;
    if (!all_digits(digits) || parse_integer(digits, &number) != Parsed::kExact) return std::nullopt;
    return number;
}

std::vector<std::string> Capture::every_file() const {
    std::vector<std::string> out;
    for (const auto& [role, paths] : files) out.insert(out.end(), paths.begin(), paths.end());
    return out;
}

}  // namespace profana
