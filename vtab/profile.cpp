// Opening, refreshing and closing profiles.
#include "vtab/profile.h"

#include <algorithm>
#include <chrono>

#include "ext/connection.h"
#include "ext/core/decimal.h"
#include "ext/core/utf8.h"
#include "vtab/db_file.h"
#include "vtab/json_file.h"
#include "vtab/op_kernels.h"
#include "vtab/read_db.h"
#include "vtab/read_gpu.h"
#include "vtab/read_text.h"
#include "vtab/recognize.h"

namespace profana {
namespace {

using simdjson::dom::element;

constexpr const char* kOptionNames =
    "rank, step, device (integers), chip, source ('text' or 'db'), gpu_flow_cat (texts)";

Error bad_option(std::string_view key, const std::string& what) {
    return Error("profana_open: option '" + excerpt(key) + "' " + what + "; options are " + kOptionNames);
}

void take_option(ProfileOptions& options, std::string_view key, element value) {
    std::optional<int64_t>* number = key == "rank"     ? &options.rank
                                     : key == "step"   ? &options.step
                                     : key == "device" ? &options.device
                                                       : nullptr;
    std::string* text = key == "chip"           ? &options.chip
                        : key == "source"       ? &options.source
                        : key == "gpu_flow_cat" ? &options.gpu_flow_cat
                                                : nullptr;
    if (number == nullptr && text == nullptr) throw bad_option(key, "is not known");
    if (value.is_null()) return;
    if (number != nullptr) {
        int64_t integer = 0;
        if (value.get(integer) != simdjson::SUCCESS)
            throw bad_option(key, "takes an integer, not " + excerpt(simdjson::minify(value)));
        if (integer < 0) throw bad_option(key, "is not negative, unlike " + std::to_string(integer));
        *number = integer;
        return;
    }
    std::string_view string;
    if (value.get(string) != simdjson::SUCCESS || string.empty())
        throw bad_option(key, "takes a text, not " + excerpt(simdjson::minify(value)));
    if (key == "source" && string != "text" && string != "db")
        throw bad_option(key, "is 'text' or 'db', not '" + excerpt(string) + "'");
    *text = string;
}

std::shared_ptr<Source> make_source(Capture capture, const ProfileOptions& options, LoadContext& context) {
    if (capture.facts.kind == "gpu") return make_gpu_source(std::move(capture), options);
    if (!capture.has(FileRole::kDatabase)) return make_text_source(std::move(capture), options, context);
    DbFiles files;
    files.profiler = capture.first(FileRole::kDatabase);
    files.analysis = capture.first(FileRole::kAnalysisDatabase);
    if (capture.facts.kind == "analysis") std::swap(files.profiler, files.analysis);
    files.device_infos = capture.all(FileRole::kDeviceInfo);
    files.unreadable = std::move(capture.unreadable);
    return make_db_source(std::move(capture.facts), std::move(files), options, context);
}

ProfileOptions without_device(ProfileOptions options) {
    options.device.reset();
    return options;
}

// Of the names in a folder, but for those of the files that SQLite makes beside a database, even to read it.
size_t names_in(const std::string& folder) {
    std::string names;
    for (const std::string& name : list_folder(folder))
        if (!name.ends_with("-wal") && !name.ends_with("-shm") && !name.ends_with("-journal"))
            names.append(name).append(1, '\n');
    return std::hash<std::string>()(names);
}

// The folders of its files up to its path: what comes into them later may be one of its files.
std::vector<Profile::Folder> folders_of(const Profile& profile) {
    std::set<std::string> paths;
    if (is_folder(profile.path)) paths.insert(profile.path);
    for (const auto& [file, stamp] : profile.stamps)
        for (std::string at = parent_folder(file); at.starts_with(profile.path + "/"); at = parent_folder(at))
            if (!paths.insert(at).second) break;
    std::vector<Profile::Folder> out;
    for (const std::string& path : paths) out.push_back({path, stamp_if_there(path), names_in(path)});
    return out;
}

bool changed(Profile& profile) {
    const auto other = [](const auto& stamp) { return stamp_if_there(stamp.first) != stamp.second; };
    if (std::any_of(profile.stamps.begin(), profile.stamps.end(), other)) return true;
    for (Profile::Folder& folder : profile.folders) {
        const FileStamp now = stamp_if_there(folder.path);
        if (now == folder.stamp) continue;
        folder.stamp = now;
        if (names_in(folder.path) != folder.names) return true;
    }
    return false;
}

// What Connection::main_seen is once the user has closed profile `main`, and once a database in memory has
// been told: no file has such a stamp.
constexpr FileStamp kMainClosed{~uint64_t{0}, ~uint64_t{0}, 0, 0};
constexpr FileStamp kMainInMemory{~uint64_t{0}, ~uint64_t{0}, 1, 0};

void report_main(Connection& connection, const std::string& path, const std::string& why) {
    connection.diagnostics().add({.file = path,
                                  .code = "main_not_opened",
                                  .message = "the main database is not opened as profile main: " + why});
}

// A database in memory has no file that could be read. Told once.
void look_at_main_in_memory(Connection& connection) {
    const auto has = [&](const char* table) {
        return sqlite3_table_column_metadata(connection.db(), "main", table, nullptr, nullptr, nullptr,
                                             nullptr, nullptr, nullptr) == SQLITE_OK;
    };
    if (connection.main_seen == kMainInMemory || !has("STRING_IDS")) return;
    if (!has("TASK") && !has("CANN_API") && !has("PYTORCH_API")) return;
    connection.main_seen = kMainInMemory;
    report_main(connection, "main",
                "it is in memory; write it to a file (VACUUM INTO 'run.db') and open that");
}

// The main database counts as profile `main` unless the user has one of that name.
void look_at_main(Connection& connection) {
    const char* filename = sqlite3_db_filename(connection.db(), "main");
    if (connection.profile("main") != nullptr) return;
    if (filename == nullptr || *filename == '\0') return look_at_main_in_memory(connection);
    const std::string path = filename;
    const FileStamp stamp = stamp_if_there(path);
    if (connection.main_seen == stamp || connection.main_seen == kMainClosed) return;
    constexpr std::chrono::seconds kNextLook{1};  // a look at a locked database waits for it a while
    if (std::chrono::steady_clock::now() < connection.main_locked_at + kNextLook) return;
    try {
        LoadContext context = connection.load_context();
        const DbContent content = look_into_database(path, context).content;
        if (content != DbContent::kUnknown && content != DbContent::kCluster)
            add_profile(connection, open_profile(connection, "main", path, {}));
    } catch (const DatabaseLocked& locked) {
        connection.main_locked_at = std::chrono::steady_clock::now();
        connection.diagnostics().forget(path, "main_not_opened");
        return report_main(connection, path, locked.what());
    } catch (const Error& error) {
        if (error.kind() == ErrorKind::kInterrupted) throw;
        report_main(connection, path, error.what());
    }
    connection.main_seen = stamp;
}

// A rank that was open and cannot be read any more. Each of its tables is the error, so that queries of other
// profiles, which do not come to them, go on.
class LostSource : public Source {
  public:
    LostSource(const Source& before, std::string error) : facts_(before.facts()), error_(std::move(error)) {
        for (size_t m = 0; m < static_cast<size_t>(Model::kCount); ++m)
            facts_.missing[static_cast<Model>(m)] = error_;
        facts_.state = "corrupt";
    }
    const SourceFacts& facts() const override { return facts_; }
    std::shared_ptr<Table> table(Model model) override {
        return make_model_table(
            model, [error = error_](Table&, const ColumnSet&, LoadContext&) { throw Error(error); });
    }
    std::vector<std::string> files() const override { return {}; }

  private:
    SourceFacts facts_;
    std::string error_;
};

// Its stamp is that of no file: as soon as there is something at the path, queries try to read it again.
void lose(Profile& profile, const Error& error) {
    const std::string what = "profana: profile '" + excerpt(profile.alias) +
                             "' cannot be read any more: " + reason_of(error) + "; profana_close('" +
                             excerpt(profile.alias) + "') leaves it out";
    for (auto& source : profile.sources) source = std::make_shared<LostSource>(*source, what);
    profile.stamps = {{profile.path, FileStamp{}}};
    profile.folders.clear();
}

void reopen(Connection& connection, std::shared_ptr<Profile>& profile) {
    connection.kept_rows.clear();
    try {
        profile = open_profile(connection, profile->alias, profile->path, profile->options);
    } catch (const Error& error) {
        if (error.kind() == ErrorKind::kInterrupted || error.kind() == ErrorKind::kNoMemory) throw;
        lose(*profile, error);
    }
}

std::vector<int64_t> distinct(Source& source, Model model, const char* name, LoadContext& context) {
    const std::shared_ptr<Table> table = source.table(model);
    if (table == nullptr) return {};
    const int column = model_column(model, name);
    ColumnSet wanted;
    wanted.add(column);
    table->ensure(wanted, context);
    if (table->absent(column)) return {};
    std::vector<int64_t> values;
    for (Row row = 0; row < table->rows(); ++row) {
        const int64_t value = table->column(column).integer(row);
        if (value != kNullInt && (values.empty() || values.back() != value)) values.push_back(value);
    }
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

}  // namespace

ProfileOptions parse_profile_options(const std::string& json) {
    ProfileOptions options;
    if (trim(json).empty()) return options;
    simdjson::dom::parser parser;
    simdjson::dom::object object;
    if (parser.parse(json).get(object) != simdjson::SUCCESS)
        throw Error("profana_open: options are a JSON object such as {\"rank\":0}, not '" + excerpt(json) +
                    "'; options are " + kOptionNames);
    for (const auto& [key, value] : object) take_option(options, key, value);
    return options;
}

std::shared_ptr<Profile> open_profile(Connection& connection, const std::string& alias,
                                      const std::string& path, const ProfileOptions& options) {
    LoadContext context = connection.load_context();
    auto profile = std::make_shared<Profile>();
    profile->alias = alias;
    profile->path = absolute_path(path);
    profile->options = options;
    std::vector<Capture> captures = recognize(path, options, context);
    if (options.device)
        profile->of_all_devices = [captures, any = without_device(options)](LoadContext& load) {
            std::vector<std::shared_ptr<Source>> sources;
            for (const Capture& capture : captures) sources.push_back(make_source(capture, any, load));
            return sources;
        };
    for (Capture& capture : captures) {
        capture.facts.id_base = 1 + (static_cast<int64_t>(profile->sources.size()) << 32);
        profile->sources.push_back(with_op_kernels(make_source(std::move(capture), options, context)));
    }
    for (const auto& source : profile->sources)
        for (const std::string& file : source->files())
            profile->stamps.emplace_back(file, stamp_if_there(file));
    // One that was left out may be mended.
    for (const Diagnostic& told : context.diagnostics.rows())
        if (told.file.starts_with(profile->path + "/") && !is_folder(told.file))
            profile->stamps.emplace_back(told.file, stamp_if_there(told.file));
    profile->folders = folders_of(*profile);
    return profile;
}

void add_profile(Connection& connection, std::shared_ptr<Profile> profile) {
    connection.kept_rows.clear();
    for (auto& other : connection.profiles()) {
        if (other->alias != profile->alias) continue;
        other = std::move(profile);
        return;
    }
    connection.profiles().push_back(std::move(profile));
}

bool close_profile(Connection& connection, const std::string& alias) {
    const auto profile = connection.profile(alias);
    if (profile == nullptr) return false;
    for (const auto& source : profile->sources)
        for (const std::string& file : source->files()) connection.diagnostics().forget(file);
    forget_ranks(profile->path, connection.diagnostics());
    std::erase(connection.profiles(), profile);
    connection.kept_rows.clear();
    if (alias == "main") connection.main_seen = kMainClosed;
    return true;
}

void refresh_profiles(Connection& connection) {
    // A join opens all its cursors before the first of them asks.
    if (connection.scans > 0 && connection.looked_run == connection.scan_runs) return;
    connection.looked_run = connection.scan_runs;
    look_at_main(connection);
    for (auto& profile : connection.profiles())
        if (changed(*profile)) reopen(connection, profile);
}

std::vector<int64_t> source_steps(Source& source, LoadContext& context) {
    std::vector<int64_t> steps = distinct(source, Model::kStep, "step", context);
    if (steps.empty()) steps = distinct(source, Model::kKernel, "step", context);
    if (steps.empty()) steps = distinct(source, Model::kStepTime, "step", context);
    return steps;
}

std::vector<int64_t> kernel_devices(Source& source, LoadContext& context) {
    return distinct(source, Model::kKernel, "device_id", context);
}

std::vector<int64_t> every_device(Source& source, LoadContext& context) {
    std::vector<int64_t> devices;
    for (size_t m = 0; m < static_cast<size_t>(Model::kCount); ++m) {
        const auto& columns = model_specs()[m].columns;
        const auto is_device = [](const ColumnSpec& column) {
            return column.name == std::string("device_id");
        };
        if (std::none_of(columns.begin(), columns.end(), is_device)) continue;
        const std::vector<int64_t> found = distinct(source, static_cast<Model>(m), "device_id", context);
        devices.insert(devices.end(), found.begin(), found.end());
    }
    return devices;
}

std::vector<int64_t> source_devices(Source& source, LoadContext& context) {
    std::vector<int64_t> devices = kernel_devices(source, context);
    if (devices.empty()) devices = distinct(source, Model::kDevice, "device_id", context);
    return devices;
}

}  // namespace profana
