// Files of a capture that cannot be used are found when it is opened: what else there is stands in for them,
// and prof_source says why tables are empty. Only the start of each file is looked at.
#include <algorithm>

#include "ext/core/input.h"
#include "ext/core/json_members.h"
#include "ext/core/trace_events.h"
#include "vtab/capture.h"
#include "vtab/raw_csv.h"

namespace profana {
namespace {

// Those that model tables are made of. The small files beside them are told where they are read.
constexpr FileRole kResults[] = {
    FileRole::kTrace,        FileRole::kKernelDetails, FileRole::kOpSummary,      FileRole::kOpStatistic,
    FileRole::kApiStatistic, FileRole::kStepTraceTime, FileRole::kOperatorMemory, FileRole::kMemoryRecord,
    FileRole::kTaskTime,     FileRole::kCommunication};

void check_json_object(const std::string& path, LoadContext& context) {
    std::string head(4096, '\0');
    head.resize(Input::open(path, context)->read(head.data(), head.size()));
    const size_t first = json_skip_blanks(head, head.starts_with("\xEF\xBB\xBF") ? 3 : 0);
    if (first == head.size()) throw file_error(path, 0, "is empty");
    if (head[first] != '{') throw file_error(path, 0, "no JSON object: it does not begin with '{'");
}

// Empty: the file can be used, as far as its start tells.
std::string why_unusable(const std::string& path, FileRole role, LoadContext& context) {
    try {
        if (const auto kind = csv_kind(role))
            check_csv_file(*csv_format(*kind), path, context);
        else if (role == FileRole::kTrace)
            read_trace_head(path, context);
        else
            check_json_object(path, context);
        return {};
    } catch (const Error& error) {
        if (!is_of_file(error)) throw;
        return reason_of(error);
    }
}

void report(const Capture& capture, const UnusableFile& file, Diagnostics& diagnostics) {
    const bool kernels = file.role == FileRole::kKernelDetails || file.role == FileRole::kOpSummary;
    const bool of_trace = kernels && !capture.has(FileRole::kKernelDetails) &&
                          !capture.has(FileRole::kOpSummary) && capture.has(FileRole::kTrace);
    diagnostics.forget(file.path);
    diagnostics.add(
        {.severity = Severity::kError,
         .file = file.path,
         .code = "file_unusable",
         .message = file.why + (of_trace ? "; kernels are taken from the trace" : "; the file is left out")});
}

}  // namespace

std::vector<std::string> leave_out_unusable(Capture& capture, LoadContext& context) {
    std::vector<std::string> older;
    for (const FileRole role : kResults) {
        if (!capture.has(role)) continue;
        std::vector<std::string>& files = capture.files[role];
        const auto check = [&] {
            std::erase_if(files, [&](const std::string& path) {
                std::string why = why_unusable(path, role, context);
                if (why.empty()) return false;
                capture.unusable.push_back({role, path, std::move(why)});
                return true;
            });
        };
        check();
        if (!files.empty()) continue;
        for (std::vector<std::string>& standing_in : capture.older[role]) {
            files = std::move(standing_in);
            check();
            if (files.empty()) continue;
            older.push_back(files.front());
            break;
        }
        if (files.empty()) capture.files.erase(role);
    }
    for (const UnusableFile& file : capture.unusable) report(capture, file, context.diagnostics);
    return older;
}

std::string Capture::why_not(FileRole role) const {
    if (has(role)) return {};
    const auto file = std::find_if(unusable.begin(), unusable.end(),
                                   [&](const UnusableFile& one) { return one.role == role; });
    return file == unusable.end() ? std::string() : file->why;
}

bool Capture::has_results() const {
    return has(FileRole::kOperatorDetails) ||
           std::any_of(std::begin(kResults), std::end(kResults), [&](FileRole role) { return has(role); });
}

}  // namespace profana
