#include "vtab/recognize.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "ext/core/trace_events.h"
#include "ext/core/utf8.h"
#include "vtab/json_file.h"
#include "vtab/read_db.h"

namespace profana {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxDepth = 5;  // of rank folders below the path

constexpr const char* kLookedFor =
    "looked for: a GPU trace (.json, .json.gz), an Ascend trace_view.json or msprof_*.json, a profiler "
    "database (ascend_pytorch_profiler*.db, ascend_mindspore_profiler*.db, msprof_*.db, msmonitor_*.db, "
    "analysis.db), kernel_details.csv or op_summary_*.csv, ASCEND_PROFILER_OUTPUT, *_ascend_pt, *_ascend_ms, "
    "PROF_*, mindstudio_profiler_output, device_N/summary, or a folder that holds any of these up to 5 "
    "levels down; JSON and CSV files may be compressed (.gz)";

Error not_a_profile(const std::string& path, const std::string& why) {
    return Error("profana_open: '" + excerpt(path) + "' is no profile: " + why + "; " + kLookedFor);
}

bool is_trace_name(std::string_view name) {
    return (name.ends_with(".json") || name.ends_with(".json.gz")) &&
           name.find("trace") != std::string_view::npos;
}

bool is_rank_folder(std::string_view name) {
    return name.ends_with("_ascend_pt") || name.ends_with("_ascend_ms");
}

// The last run of at least ten digits in a name: 20240625000026809 of host_1_20240625000026809_ascend_pt.
std::string stamp_in_name(std::string_view name) {
    std::string stamp, run;
    for (size_t i = 0; i <= name.size(); ++i) {
        if (i < name.size() && name[i] >= '0' && name[i] <= '9') {
            run += name[i];
        } else {
            if (run.size() >= 10) stamp = run;
            run.clear();
        }
    }
    return stamp;
}

class Recognizer {
  public:
    Recognizer(const ProfileOptions& options, LoadContext& context) : options_(options), context_(context) {}

    std::vector<Capture> file(const std::string& path);
    std::vector<Capture> folder(const std::string& path, int depth);
    std::vector<Capture> trace_in_folder(const std::string& path);
    // Why nothing was found, as far as it is known.
    std::string hint() const {
        return closed_.empty() ? hint_
                               : "there is no permission to read the folder '" + *closed_.begin() + "'";
    }

  private:
    // A folder that is itself one rank's; empty: it is not.
    std::vector<Capture> rank_folder(const std::string& path);
    std::vector<Capture> old_layout(const std::string& path);
    std::vector<Capture> of_output(const std::string& root, const std::string& output);
    std::vector<Capture> databases(const Capture& base);
    std::optional<Capture> database(const Capture& base, const std::string& path, DatabaseLook look);
    static void name_kind(Capture& capture, const std::string& path, DbContent content);
    void tell_not_analysed(const std::string& path);
    bool may_read(const std::string& folder);
    void add_beside(Capture& capture, const std::string& root);
    void add_device_files(Capture& capture, const std::string& prof) const;
    void add_neighbours(Capture& capture, const std::string& database);
    Capture finished(Capture capture) const;
    Capture finished_text(Capture capture) const;
    bool wants(const char* source) const { return options_.source.empty() || options_.source == source; }

    const ProfileOptions& options_;
    LoadContext& context_;
    std::set<std::string> seen_;    // canonical paths, against loops of symbolic links
    std::string hint_;              // why something that looked like a profile is none
    std::set<std::string> closed_;  // folders that may not be read: nobody knows what they hold
};

// Files beside the results: profiler_info, profiler_metadata and the device files of PROF_*.
void Recognizer::add_beside(Capture& capture, const std::string& root) {
    for (const std::string& name : list_folder(root)) {
        const std::string path = join_path(root, name);
        const auto named = file_by_name(name);
        const bool side =
            named && (named->role == FileRole::kProfilerInfo || named->role == FileRole::kMetadata);
        if (side && !capture.has(named->role)) capture.files[named->role] = {path};
        if (name.starts_with("PROF_") && is_folder(path) && may_read(path)) add_device_files(capture, path);
    }
}

void Recognizer::add_device_files(Capture& capture, const std::string& prof) const {
    for (const std::string& name : list_folder(prof)) {
        if (!name.starts_with("device_") && name != "host") continue;
        const std::string folder = join_path(prof, name);
        for (const std::string& file : list_folder(folder)) {
            if (number_in_name(file, "info.json.", ""))
                capture.files[FileRole::kDeviceInfo].push_back(join_path(folder, file));
            if (file == "start_info" || number_in_name(file, "start_info.", ""))
                capture.files[FileRole::kStartInfo].push_back(join_path(folder, file));
        }
    }
}

// What belongs to a database that was named alone: the analysis beside it, and the side files of its folder.
void Recognizer::add_neighbours(Capture& capture, const std::string& database) {
    const std::string folder = parent_folder(database), above = parent_folder(folder);
    for (const std::string& place : {folder, join_path(folder, "analyze")})
        for (auto& [role, paths] : files_of_folder(place))
            if (role == FileRole::kAnalysisDatabase && paths.front() != database && !capture.has(role))
                capture.files[role] = paths;
    if (base_name(folder).starts_with("PROF_")) add_device_files(capture, folder);
    if (base_name(folder) != "ASCEND_PROFILER_OUTPUT") return;
    capture.root = above;
    add_beside(capture, above);
}

Capture Recognizer::finished(Capture capture) const {
    SourceFacts& facts = capture.facts;
    if (capture.age.empty()) capture.age = stamp_in_name(base_name(facts.path));
    for (const std::string& file : capture.every_file()) context_.diagnostics.forget(file);
    for (const auto& [role, files] : capture.files) {
        std::vector<std::string> there = files;
        for (const UnusableFile& file : capture.unusable)
            if (file.role == role) there.push_back(file.path);
        report_missing_slices(facts.path, there, context_.diagnostics);
    }
    if (facts.kind == "gpu")
        read_gpu_facts(capture, context_);
    else
        read_capture_facts(capture, context_);
    std::string files;
    for (const std::string& path : capture.every_file()) {
        std::string_view name = path;
        if (name.starts_with(capture.root)) name.remove_prefix(capture.root.size());
        while (name.starts_with('/')) name.remove_prefix(1);
        files += files.empty() ? "[" : ",";
        files += json_quoted(name);
    }
    files += "]";
    facts.files = std::move(files);
    facts.state = "complete";
    return capture;
}

// One that is read from CSV and JSON files.
Capture Recognizer::finished_text(Capture capture) const {
    const std::vector<std::string> older = leave_out_unusable(capture, context_);
    if (!capture.has_results() && !capture.unusable.empty())
        capture.unreadable = capture.unusable.front().why;
    capture = finished(std::move(capture));
    for (const std::string& file : older) report_older_export(file, context_.diagnostics);
    return capture;
}

// What a database is, by its content or, where that cannot be read, by its name.
void Recognizer::name_kind(Capture& capture, const std::string& path, DbContent content) {
    switch (content) {
        case DbContent::kPyTorch:
            capture.facts.framework = "PyTorch";
            [[fallthrough]];
        case DbContent::kMindSpore:
            capture.facts.kind = "db";
            break;
        case DbContent::kMsmonitor:
            capture.facts.kind = "msmonitor";
            break;
        case DbContent::kMsprof:
            capture.facts.kind = "msprof_db";
            if (capture.facts.framework.empty()) capture.facts.framework = "msprof";
            break;
        case DbContent::kAnalysis:
            capture.facts.kind = "analysis";
            break;
        case DbContent::kCluster:
        case DbContent::kUnknown:
        case DbContent::kUnreadable:
            capture.facts.kind = "db";
            if (base_name(path).starts_with("msprof")) capture.facts.kind = "msprof_db";
            if (base_name(path).starts_with("msmonitor")) capture.facts.kind = "msmonitor";
            break;
    }
}

// nullopt: it is none of one rank. One that cannot be read has a capture that says so.
std::optional<Capture> Recognizer::database(const Capture& base, const std::string& path, DatabaseLook look) {
    if (look.content == DbContent::kCluster) {
        hint_ =
            "'" + excerpt(path) + "' holds the results of a cluster analysis: open the folder of the ranks";
        return std::nullopt;
    }
    Capture capture = base;
    capture.files[FileRole::kDatabase] = {path};
    capture.unreadable = std::move(look.unreadable);
    if (look.content == DbContent::kUnknown && capture.unreadable.empty())
        capture.unreadable = path + ": has none of the tables of a profiler";
    name_kind(capture, path, look.content);
    capture = finished(std::move(capture));
    if (!capture.facts.rank) capture.facts.rank = look.rank;
    return capture;
}

// One capture a database: several ranks' may lie in one folder. Of several exports of msprof the newest
// counts that can be read.
std::vector<Capture> Recognizer::databases(const Capture& base) {
    std::vector<Capture> out, exports;
    std::vector<std::string> paths = base.all(FileRole::kDatabase);
    std::reverse(paths.begin(), paths.end());
    for (const std::string& path : paths) {
        const bool is_export = base_name(path).starts_with("msprof");
        if (is_export && !exports.empty() && exports.back().unreadable.empty()) continue;
        auto capture = database(base, path, look_into_database(path, context_));
        if (capture) (is_export ? exports : out).push_back(std::move(*capture));
    }
    std::reverse(out.begin(), out.end());
    if (exports.empty()) return out;
    if (exports.size() > 1 && exports.back().unreadable.empty()) {
        report_older_export(exports.back().first(FileRole::kDatabase), context_.diagnostics);
        for (const Capture& newer : exports)
            if (!newer.unreadable.empty())
                report_unreadable_database(newer.first(FileRole::kDatabase), newer.unreadable,
                                           context_.diagnostics);
        std::swap(exports.front(), exports.back());
    }
    out.push_back(std::move(exports.front()));
    return out;
}

// The results in `output`, of the rank whose side files lie in `root`.
std::vector<Capture> Recognizer::of_output(const std::string& root, const std::string& output) {
    Capture capture;
    capture.root = root;
    capture.facts.path = root;
    for (auto& [role, exports] : exports_of_folder(output)) {
        capture.files[role] = std::move(exports.front());
        exports.erase(exports.begin());
        capture.older[role] = std::move(exports);
    }
    add_beside(capture, root);
    const bool msprof =
        base_name(output) == "mindstudio_profiler_output" || base_name(root).starts_with("PROF_");
    if (msprof) {
        capture.facts.framework = "msprof";
        add_device_files(capture, root);
        for (const std::string& name : list_folder(root)) {
            const auto named = file_by_name(name);
            if (named && named->role == FileRole::kDatabase && output != root)
                capture.files[FileRole::kDatabase].push_back(join_path(root, name));
        }
        const std::string analyze = join_path(root, "analyze");
        for (auto& [role, paths] : files_of_folder(analyze))
            if (!capture.has(role)) capture.files[role] = paths;
    }
    std::vector<Capture> found;
    if (capture.has(FileRole::kDatabase) && wants("db")) found = databases(capture);
    const auto readable = [](const Capture& one) { return one.unreadable.empty(); };
    if (std::any_of(found.begin(), found.end(), readable)) return found;
    capture.files.erase(FileRole::kDatabase);
    if (capture.has_results() && wants("text")) {
        for (const Capture& database : found) {
            const std::string file = database.first(FileRole::kDatabase);
            report_unreadable_database(file, database.unreadable, context_.diagnostics);
        }
        capture.facts.kind = msprof ? "msprof" : "text";
        return {finished_text(std::move(capture))};
    }
    if (found.empty() && capture.has(FileRole::kAnalysisDatabase) && wants("db")) {
        capture.files[FileRole::kDatabase] = {capture.first(FileRole::kAnalysisDatabase)};
        capture.files.erase(FileRole::kAnalysisDatabase);
        return databases(capture);
    }
    return found;
}

// device_N/summary and device_N/timeline, a file for each iteration (2023).
std::vector<Capture> Recognizer::old_layout(const std::string& path) {
    Capture capture;
    capture.root = capture.facts.path = path;
    capture.facts.kind = capture.facts.framework = "msprof";
    for (const std::string& name : list_folder(path)) {
        if (!number_in_name(name, "device_", "")) continue;
        for (const char* part : {"summary", "timeline"}) {
            const std::string folder = join_path(join_path(path, name), part);
            for (auto& [role, files] : files_of_folder(folder, true)) {
                auto& list = capture.files[role];
                list.insert(list.end(), files.begin(), files.end());
            }
        }
    }
    if (capture.files.empty() || !wants("text")) return {};
    add_device_files(capture, path);
    return {finished_text(std::move(capture))};
}

std::vector<Capture> Recognizer::rank_folder(const std::string& path) {
    const std::string_view name = base_name(path);
    if (name == "ASCEND_PROFILER_OUTPUT" || name == "mindstudio_profiler_output")
        return of_output(parent_folder(path), path);
    for (const char* output : {"ASCEND_PROFILER_OUTPUT", "mindstudio_profiler_output"}) {
        const std::string folder = join_path(path, output);
        if (!is_folder(folder) || !may_read(folder)) continue;
        std::vector<Capture> found = of_output(path, folder);
        if (!found.empty()) return found;
        hint_ = "'" + excerpt(folder) + "' holds no results" +
                (options_.source.empty() ? std::string() : " of source '" + options_.source + "'");
    }
    const auto here = files_of_folder(path);
    static constexpr FileRole kSure[] = {FileRole::kKernelDetails, FileRole::kOpSummary, FileRole::kDatabase};
    const bool results =
        std::any_of(std::begin(kSure), std::end(kSure), [&](FileRole role) { return here.count(role) > 0; });
    const auto trace = here.find(FileRole::kTrace);
    if (results || (trace != here.end() && base_name(trace->second.front()).starts_with("trace_view"))) {
        std::vector<Capture> found = of_output(path, path);
        if (!found.empty()) return found;
    }
    std::vector<Capture> old = old_layout(path);
    if (!old.empty()) return old;
    if (name.starts_with("PROF_"))
        hint_ = "'" + excerpt(path) + "' holds raw data only: export it first (msprof --export=on)";
    if (is_rank_folder(name))
        hint_ = "'" + excerpt(path) + "' is not analysed yet: run the profiler's analyse() on it first";
    return {};
}

std::vector<Capture> Recognizer::file(const std::string& path) {
    const std::string_view name = base_name(path);
    Capture capture;
    capture.root = parent_folder(path);
    capture.facts.path = path;
    const auto named = file_by_name(name);
    const bool table =
        named && (named->role == FileRole::kKernelDetails || named->role == FileRole::kOpSummary);
    if (table) {
        capture.files[named->role] = {path};
        capture.facts.kind = named->role == FileRole::kOpSummary ? "msprof" : "text";
        capture.facts.framework = named->role == FileRole::kOpSummary ? "msprof" : "";
        return {finished_text(std::move(capture))};
    }
    refuse_unreadable(path);
    if (!name.ends_with(".json") && !name.ends_with(".gz")) {
        DatabaseLook look = look_into_database(path, context_);
        if (look.content == DbContent::kUnreadable)
            throw Error("profana: " + look.unreadable, ErrorKind::kCannotOpen);
        if (look.content == DbContent::kUnknown) {
            if (name.ends_with(".db")) hint_ = "it has none of the tables of a profiler";
            return {};
        }
        add_neighbours(capture, path);
        std::vector<Capture> found;
        if (auto one = database(capture, path, std::move(look))) found.push_back(std::move(*one));
        return found;
    }
    const auto kind = trace_kind(path, context_);
    if (!kind) return {};
    capture.files[FileRole::kTrace] = {path};
    capture.facts.kind = *kind == TraceKind::kGpu ? "gpu" : "trace";
    if (name.starts_with("msprof_")) capture.facts.framework = "msprof";
    return {finished(std::move(capture))};
}

std::vector<Capture> Recognizer::folder(const std::string& path, int depth) {
    std::error_code error;
    const std::string real = fs::canonical(path, error).string();
    if (error || !seen_.insert(real).second) return {};
    if (!may_read(path)) return {};
    std::vector<Capture> found = rank_folder(path);
    if (!found.empty()) return found;
    std::string previous;
    for (const std::string& name : list_folder(path)) {
        context_.poll();
        const std::string entry = join_path(path, name);
        std::vector<Capture> below;
        if (is_folder(entry)) {
            if (depth < kMaxDepth && name != "cluster_analysis_output") below = folder(entry, depth + 1);
        } else if (is_trace_name(name) && (is_file(entry) || is_torch_trace(name)) && wants("text") &&
                   name != previous + ".gz") {
            below = trace_in_folder(entry);
            previous = name;
        }
        for (Capture& capture : below) found.push_back(std::move(capture));
    }
    if (found.empty() && depth > 0) tell_not_analysed(path);
    return found;
}

// A trace among others: one that cannot be read does not lose the rest.
std::vector<Capture> Recognizer::trace_in_folder(const std::string& path) {
    std::string why = "it is no trace: no event stands at its begin";
    try {
        std::vector<Capture> found = file(path);
        if (!found.empty() || !is_torch_trace(base_name(path))) return found;
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::kCannotOpen) throw;
        why = error.what();
    }
    context_.diagnostics.forget(path);
    context_.diagnostics.add({.severity = Severity::kError,
                              .file = path,
                              .code = "trace_unreadable",
                              .message = why + "; the file is left out"});
    return {};
}

// One that may not be read is told once.
bool Recognizer::may_read(const std::string& folder) {
    if (faccessat(AT_FDCWD, folder.c_str(), R_OK | X_OK, AT_EACCESS) == 0) return true;
    if (!closed_.insert(folder).second) return false;
    context_.diagnostics.forget(folder);
    context_.diagnostics.add(
        {.file = folder,
         .code = "folder_not_readable",
         .message = "there is no permission to read this folder; what it holds is left out"});
    return false;
}

// A rank that is left out of a folder of many.
void Recognizer::tell_not_analysed(const std::string& path) {
    const auto closed = closed_.lower_bound(path + "/");
    if (closed != closed_.end() && closed->starts_with(path + "/")) return;  // told already
    const bool rank = is_rank_folder(base_name(path));
    const bool raw = base_name(path).starts_with("PROF_") && !is_rank_folder(base_name(parent_folder(path)));
    if (!options_.source.empty() || (!rank && !raw)) return;
    context_.diagnostics.forget(path);
    context_.diagnostics.add(
        {.file = path,
         .code = "rank_not_analysed",
         .message = rank ? "the profiler's analyse() has not run on it or left no results; it is left out"
                         : "it holds raw data only: export it (msprof --export=on); it is left out"});
}

int64_t newest_file(const Capture& capture) {
    int64_t newest = 0;
    for (const std::string& file : capture.every_file())
        newest = std::max(newest, stamp_if_there(file).mtime_ns);
    return newest;
}

struct Choice {
    bool first;
    const char* why;
};

// Which of two captures of one rank counts: one that can be read, else the newer by the time stamps in the
// names or, where these are not of one form, by the files' age.
Choice choose(const Capture& a, const Capture& b) {
    if (a.unreadable.empty() != b.unreadable.empty()) return {a.unreadable.empty(), "which can be read"};
    if (a.age.empty() != b.age.empty()) return {!a.age.empty(), "whose name has a time stamp"};
    if (a.age.size() == b.age.size() && a.age != b.age) return {a.age > b.age, "which is newer"};
    const int64_t of_a = newest_file(a), of_b = newest_file(b);
    return {of_a > of_b, of_a == of_b ? "which is as old" : "which is newer"};
}

std::vector<Capture> one_a_rank(std::vector<Capture> found, Diagnostics& diagnostics) {
    std::vector<Capture> out;
    for (Capture& capture : found) {
        const auto same = std::find_if(out.begin(), out.end(), [&](const Capture& other) {
            return capture.facts.rank && other.facts.rank == capture.facts.rank;
        });
        if (same == out.end()) {
            out.push_back(std::move(capture));
            continue;
        }
        const Choice choice = choose(capture, *same);
        if (choice.first) std::swap(capture, *same);
        diagnostics.add({.file = capture.facts.path,
                         .code = "rank_twice",
                         .message = "rank " + std::to_string(*capture.facts.rank) + " is also in " +
                                    same->facts.path + ", " + choice.why + "; this one is left out"});
    }
    std::stable_sort(out.begin(), out.end(), [](const Capture& a, const Capture& b) {
        return a.facts.rank && (!b.facts.rank || *a.facts.rank < *b.facts.rank);
    });
    return out;
}

// Captures whose rank is not known are read as one: nothing but the device tells their rows apart.
void tell_unknown_ranks(const std::vector<Capture>& captures, const std::string& path,
                        Diagnostics& diagnostics) {
    const auto unknown = std::count_if(captures.begin(), captures.end(),
                                       [](const Capture& capture) { return !capture.facts.rank; });
    if (unknown < 2) return;
    diagnostics.add(
        {.file = path,
         .code = "ranks_unknown",
         .message =
             "the rank of " + std::to_string(unknown) +
             " captures is not known, only device_id tells their rows apart; prof_source lists them, each "
             "can be opened by its own path"});
}

// Nothing of it can be read: neither its files of results, nor its database or the analysis beside it.
bool is_lost(const Capture& capture, LoadContext& context) {
    return !capture.unreadable.empty() &&
           (!capture.has(FileRole::kAnalysisDatabase) ||
            !look_into_database(capture.first(FileRole::kAnalysisDatabase), context).unreadable.empty());
}

std::string known_ranks(const std::vector<Capture>& captures) {
    std::string out;
    for (const Capture& capture : captures) {
        if (capture.facts.rank) out += (out.empty() ? "" : ", ") + std::to_string(*capture.facts.rank);
    }
    return out.empty() ? "the ranks of its captures are not known" : "ranks there are " + out;
}

}  // namespace

std::vector<Capture> recognize(const std::string& path, const ProfileOptions& options, LoadContext& context) {
    std::error_code error;
    if (path.find('\0') != std::string::npos) throw not_a_profile(path, "the name has a NUL in it");
    if (!fs::exists(path, error)) {
        if (error) throw not_a_profile(path, error.message());
        const bool link = fs::is_symlink(fs::symlink_status(path, error));
        throw not_a_profile(path, link ? "it is a symbolic link to something that is not there"
                                       : "there is no such file or folder");
    }
    Recognizer recognizer(options, context);
    const std::string place = absolute_path(path);
    std::vector<Capture> found = is_folder(place) ? recognizer.folder(place, 0) : recognizer.file(place);
    if (found.empty()) {
        if (!options.source.empty()) {
            ProfileOptions any = options;
            any.source.clear();
            if (!recognize(path, any, context).empty())
                throw Error("profana_open: '" + excerpt(path) + "' has nothing of source '" + options.source +
                            "'");
        }
        throw not_a_profile(path, recognizer.hint().empty() ? "nothing in it is known" : recognizer.hint());
    }
    forget_ranks(place, context.diagnostics);
    found = one_a_rank(std::move(found), context.diagnostics);
    if (!options.rank) tell_unknown_ranks(found, place, context.diagnostics);
    if (options.rank) {
        const std::string ranks = known_ranks(found);
        std::erase_if(found, [&](const Capture& capture) { return capture.facts.rank != options.rank; });
        if (found.empty())
            throw Error("profana_open: rank " + std::to_string(*options.rank) + " is not in '" +
                        excerpt(path) + "'; " + ranks);
    }
    if (std::all_of(found.begin(), found.end(),
                    [&](const Capture& capture) { return is_lost(capture, context); }))
        throw Error("profana_open: '" + excerpt(path) +
                    "' has nothing that can be read: " + found.front().unreadable);
    for (const Capture& capture : found)
        if (!capture.unreadable.empty() && capture.has(FileRole::kDatabase))
            report_unreadable_database(capture.first(FileRole::kDatabase), capture.unreadable,
                                       context.diagnostics);
    return found;
}

void forget_ranks(const std::string& path, Diagnostics& diagnostics) {
    for (const char* code : {"rank_twice", "ranks_unknown"}) diagnostics.forget_below(path, code);
}

}  // namespace profana
