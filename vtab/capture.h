// A capture: what one profiled process left behind, as files and facts. Recognition makes captures out of a
// path; readers turn each into a Source.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vtab/profile.h"

namespace profana {

// What a file of a capture is for, told by its name.
enum class FileRole {
    kTrace,  // trace_view.json, msprof_*.json, *.pt.trace.json
    kKernelDetails,
    kOpSummary,
    kOpStatistic,
    kApiStatistic,
    kStepTraceTime,
    kOperatorDetails,
    kOperatorMemory,
    kMemoryRecord,
    kTaskTime,
    kCommunication,        // communication.json
    kCommunicationMatrix,  // communication_matrix.json
    kOther,                // a profiler's file that no model table needs
    kDatabase,             // ascend_pytorch_profiler*.db and its kin
    kAnalysisDatabase,     // analysis.db, communication_analyzer.db
    kProfilerInfo,         // profiler_info*.json
    kMetadata,             // profiler_metadata.json
    kDeviceInfo,           // info.json.N
    kStartInfo,            // start_info.N, start_info
};

// A file of results that is there by its name and cannot be read, or has other contents.
struct UnusableFile {
    FileRole role;
    std::string path, why;
};

struct Capture {
    SourceFacts facts;
    std::string root;                                    // folder that facts.files is relative to
    std::string age;                                     // digits of the time stamp in its name; empty: none
    std::string unreadable;                              // why its database cannot be read; empty: it can
    std::map<FileRole, std::vector<std::string>> files;  // slices of one file in order
    std::vector<UnusableFile> unusable;                  // left out of files
    // Older exports of the files, the newest first: they stand in where a newer one cannot be used.
    std::map<FileRole, std::vector<std::vector<std::string>>> older;

    bool has(FileRole role) const { return files.count(role) > 0; }
    std::string first(FileRole role) const { return has(role) ? files.at(role).front() : std::string(); }
    std::vector<std::string> all(FileRole role) const {
        return has(role) ? files.at(role) : std::vector<std::string>();
    }
    // Why it has no file of the role though there is one; empty: there is none, or some can be used.
    std::string why_not(FileRole role) const;
    bool has_results() const;  // CSV or JSON files that a profiler's analysis writes
    std::vector<std::string> every_file() const;
};

// Takes the files of results that cannot be used out of capture.files, with a diagnostic for each. Gives the
// first file of each older export that stands in.
std::vector<std::string> leave_out_unusable(Capture& capture, LoadContext& context);

// What a file name says: kernel_details.csv, op_summary_slice_1_20260402160352.csv, msprof_0_2_1.json.
struct NamedFile {
    FileRole role = FileRole::kOther;
    std::string stem;   // op_summary
    int64_t slice = 0;  // 1-based where the name has one, else 0
    std::string stamp;  // what tells one export from the next
};
// CSV and JSON files may also be compressed, with .gz behind the name. nullopt: not a profiler's file.
std::optional<NamedFile> file_by_name(std::string_view name);
bool is_torch_trace(std::string_view name);  // *.pt.trace.json, plain or compressed

// Told of a file when it is found beside others, not when it is read.
constexpr const char *kOlderExport = "older_export", *kSliceMissing = "slice_missing";

// Notes which slices lack among those of one file; nothing where one of them was asked for by its own path.
void report_missing_slices(const std::string& asked, const std::vector<std::string>& files,
                           Diagnostics& diagnostics);

// What has such a name in a folder, whether it can be read or not, by role. Of several exports of a file the
// one with the largest stamp counts, unless every_stamp: the layout of 2023 has a file for each iteration.
// Where a file is there plain and compressed, the plain one counts.
std::map<FileRole, std::vector<std::string>> files_of_folder(const std::string& folder,
                                                             bool every_stamp = false);

// The same with the older exports, the newest first.
std::map<FileRole, std::vector<std::vector<std::string>>> exports_of_folder(const std::string& folder,
                                                                            bool every_stamp = false);
// Before a file is read anew: drops what reading it told. What it is beside others stays.
void forget_reading(const std::string& file, Diagnostics& diagnostics);
void report_older_export(const std::string& file, Diagnostics& diagnostics);

// Entries of a folder, sorted by name; empty if it cannot be read.
std::vector<std::string> list_folder(const std::string& folder);
bool is_folder(const std::string& path);
bool is_file(const std::string& path);
std::string join_path(const std::string& folder, std::string_view name);
std::string_view base_name(std::string_view path);
std::string parent_folder(const std::string& path);
// From the root of the file system, without "." and "..", which a program's change of folder does not touch,
// and without slashes at its end or side by side.
std::string absolute_path(const std::string& path);

// The number in `name` between prefix and suffix; nullopt: the name is another or no number stands there.
std::optional<int64_t> number_in_name(std::string_view name, std::string_view prefix,
                                      std::string_view suffix);

// Fills in what profiler_info, info.json, the trace's first events and the names say.
void read_capture_facts(Capture& capture, LoadContext& context);
enum class TraceKind { kGpu, kAscend };
// Whose trace a JSON file is, by its form and first events; nullopt: it is no trace.
std::optional<TraceKind> trace_kind(const std::string& path, LoadContext& context);
// Facts of a GPU trace, from what stands before its events and from its name.
void read_gpu_facts(Capture& capture, LoadContext& context);

}  // namespace profana
