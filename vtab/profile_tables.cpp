// The tables over open profiles: every model table, and prof_source, which tells what each profile is.
#include <algorithm>
#include <cstring>

#include "ext/connection.h"
#include "vtab/capture.h"
#include "vtab/profile.h"
#include "vtab/read_ahead.h"

namespace profana {
namespace {

Part::Constant text_constant(const std::string& text) {
    Part::Constant constant;
    constant.null = text.empty();
    constant.is_text = true;
    constant.text = text;
    return constant;
}

Part::Constant integer_constant(const std::optional<int64_t>& value) {
    Part::Constant constant;
    constant.null = !value.has_value();
    constant.integer = value.value_or(0);
    return constant;
}

std::string json_array(const std::vector<int64_t>& values) {
    std::string out = "[";
    for (const int64_t value : values) {
        if (out.size() > 1) out += ",";
        out += std::to_string(value);
    }
    out += "]";
    return out;
}

void sort_out(std::vector<int64_t>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

Error not_there(const Profile& profile, const std::string& what, int64_t wanted, const std::string& known) {
    return Error("profana: profile '" + excerpt(profile.alias) + "' has no " + what + " " +
                 std::to_string(wanted) + "; its " + what + "s are " + known +
                 "; open it with one of them, or profana_close('" + excerpt(profile.alias) +
                 "') leaves it out");
}

void check_step(Profile& profile, LoadContext& context) {
    if (!profile.options.step || profile.step_checked) return;
    std::vector<int64_t> known;
    for (const auto& source : profile.sources)
        for (const int64_t step : source_steps(*source, context)) known.push_back(step);
    sort_out(known);
    if (std::find(known.begin(), known.end(), *profile.options.step) == known.end())
        throw not_there(profile, "step", *profile.options.step,
                        known.empty() ? "not marked" : json_array(known));
    profile.step_checked = true;
}

// What is found wrong on the way is told by those who read the files for their rows.
std::vector<int64_t> devices_there(const Profile& profile, LoadContext& context) {
    Diagnostics unheard;
    LoadContext apart = context.telling(unheard);
    std::vector<int64_t> devices;
    for (const auto& source : profile.of_all_devices(apart))
        for (const int64_t device : every_device(*source, apart)) devices.push_back(device);
    sort_out(devices);
    return devices;
}

// The readers keep the rows of the device alone, and mostly its kernels are there: only where they are not,
// everything is read to see which devices there are.
void check_device(Profile& profile, LoadContext& context) {
    if (!profile.options.device || profile.device_checked) return;
    const auto has_kernels = [&](const auto& source) {
        const std::vector<int64_t> devices = kernel_devices(*source, context);
        return std::find(devices.begin(), devices.end(), *profile.options.device) != devices.end();
    };
    if (std::none_of(profile.sources.begin(), profile.sources.end(), has_kernels)) {
        if (!profile.known_devices) profile.known_devices = devices_there(profile, context);
        const std::vector<int64_t>& known = *profile.known_devices;
        if (!known.empty() && std::find(known.begin(), known.end(), *profile.options.device) == known.end())
            throw not_there(profile, "device", *profile.options.device, json_array(known));
    }
    profile.device_checked = true;
}

// A step or device that no rank has is an error of every query that comes to the profile's rows.
void check_options(Profile& profile, LoadContext& context) {
    const auto lock = lock_interruptibly(profile.checking, context.progress);  // ranks may load side by side
    check_step(profile, context);
    check_device(profile, context);
}

// The table, read only once the profile's step and device are known to exist.
std::shared_ptr<Table> checked(const std::shared_ptr<Profile>& profile, Model model,
                               std::shared_ptr<Table> table) {
    const bool step = profile->options.step && !profile->step_checked;
    const bool device = profile->options.device && !profile->device_checked;
    if (!step && !device) return table;
    return make_model_table(model,
                            [profile, table](Table& out, const ColumnSet& wanted, LoadContext& context) {
                                check_options(*profile, context);
                                table->ensure(wanted, context);
                                table->ensure_rows(context);
                                out.set_from(*table, wanted);
                            });
}

class ModelProvider : public TableProvider {
  public:
    ModelProvider(Model model, std::shared_ptr<ReadAhead> ahead) : model_(model), ahead_(std::move(ahead)) {}

    std::vector<Part> parts(Connection& connection, const ScanRequest&) override {
        refresh_profiles(connection);
        for (const auto& profile : connection.profiles())
            if (model_ == Model::kMstxRange) profile->ranges_asked = true;
        return parts_of(connection);
    }

    std::vector<Part> known_parts(Connection& connection, const ScanRequest&) override {
        return parts_of(connection);
    }

    void planned(const Plan& plan) override { ahead_->expect(model_, plan); }

    std::vector<LoadTask> read_ahead(Connection& connection, const std::vector<LoadTask>& tasks) override {
        return ahead_->take(connection, model_, tasks);
    }

    double expected_rows(Connection& connection) override {
        size_t sources = 0;
        for (const auto& profile : connection.profiles()) sources += profile->sources.size();
        return guess() * static_cast<double>(std::max<size_t>(1, sources));
    }

  private:
    std::vector<Part> parts_of(Connection& connection) const {
        std::vector<Part> out;
        for (const auto& profile : connection.profiles()) {
            for (const auto& source : profile->sources) {
                std::shared_ptr<Table> table = source->table(model_);
                if (table != nullptr)
                    out.push_back(part(*profile, *source, checked(profile, model_, std::move(table))));
            }
        }
        return out;
    }

    Part part(const Profile& profile, const Source& source, std::shared_ptr<Table> table) const {
        const size_t columns = model_specs()[static_cast<size_t>(model_)].columns.size();
        Part part;
        part.table = std::move(table);
        part.columns = {Part::kConstant, Part::kConstant, Part::kRowId};
        for (size_t c = kFirstModelColumn; c < columns; ++c)
            part.columns.push_back(static_cast<int>(c) - kFirstModelColumn);
        part.constants.resize(columns);
        part.constants[0] = text_constant(profile.alias);
        part.constants[1] = integer_constant(source.facts().rank);
        part.id_base = source.facts().id_base;
        return part;
    }

    // Rows of one rank before anything is read: only the order of magnitude matters to the planner.
    double guess() const {
        switch (model_) {
            case Model::kStep:
            case Model::kDevice:
            case Model::kStepTime:
            case Model::kProcessGroup:
                return 10;
            case Model::kOpStat:
            case Model::kApiStat:
            case Model::kMstxRange:
                return 200;
            case Model::kCommOp:
            case Model::kCommBandwidth:
                return 2000;
            case Model::kKernelPmu:
                return 1e6;
            default:
                return 1e5;
        }
    }

    Model model_;
    std::shared_ptr<ReadAhead> ahead_;
};

constexpr ColumnType I = ColumnType::kInt, T = ColumnType::kText;

const TableSpec& source_spec() {
    static const auto* spec = new TableSpec{
        "prof_source",
        "The open profiles, a row for each rank: what was opened, what it is, what it holds and what it "
        "lacks.",
        {{"alias", T, "alias given to profana_open; main: the connection's main database"},
         {"path", T, "file or folder of this rank, absolute"},
         {"kind", T, "text, db, gpu, trace (an Ascend trace alone), msprof, msprof_db, msmonitor, analysis"},
         {"framework", T, "PyTorch, MindSpore, msprof; NULL: unknown",
          "Text: profiler_info*.json, else the folder's name or the trace's events | Db: tables, else the "
          "file's or "
          "folder's name | GPU: PyTorch"},
         {"rank", I, "rank; NULL: unknown",
          "Text: name of profiler_info_N.json, else its rank_id, else rank_id of info.json.N | Db: as Text, "
          "else the "
          "file's name, else RANK_DEVICE_MAP | GPU: distributedInfo.rank, else rankN in the file's name"},
         {"devices", T, "JSON array of the devices with work; reading it may read the files",
          "Text: from the model tables | Db: from the model tables | GPU: from the model tables"},
         {"level", T, "Level0, Level1, Level2, Level_none; NULL: unknown",
          "Text: profiler_info*.json | Db: as Text | msprof: sample.json"},
         {"steps", T, "JSON array of the steps; reading it may read the files",
          "Text: from the model tables | Db: from the model tables | GPU: from the model tables"},
         {"files", T, "JSON array of the files that count, relative to path"},
         {"versions", T, "JSON object of the versions that the files name; NULL: none",
          "Text: profiler_info*.json | Db: as Text, with schema of META_DATA | GPU: keys *_version and "
          "schemaVersion"},
         {"state", T,
          "complete, partial (a slice of a file is not there), truncated or corrupt, as far as the files are "
          "read"},
         {"missing", T,
          "JSON object: model table -> why it is empty, as far as the files are read; NULL: nothing is "
          "missing"},
         {"step_option", I, "option step of profana_open; NULL: not given"},
         {"rank_option", I, "option rank; NULL: not given"},
         {"device_option", I, "option device; NULL: not given"},
         {"chip_option", T, "option chip; NULL: not given"},
         {"source_option", T, "option source; NULL: not given"},
         {"gpu_flow_cat_option", T, "option gpu_flow_cat; NULL: not given"},
         {"time_base_ns", I,
          "ns that the reader added to the file's own times, else 0; reading it may read the file",
          "GPU: baseTimeNanoseconds"}},
        {}};
    return *spec;
}

// Only what the reader of a file had to report tells that something in it was lost.
std::string state_of(const Source& source, const Diagnostics& diagnostics) {
    bool cut = false, partial = false;
    for (const std::string& file : source.files()) {
        for (const auto& [code, severity] : diagnostics.told_of(file)) {
            const bool is_cut = code == "row_cut" || code == "gzip_truncated" || code == "json_truncated" ||
                                code == "db_truncated";
            if (!is_cut && severity == Severity::kError) return "corrupt";
            cut |= is_cut;
            partial |= code == kSliceMissing;
        }
    }
    const std::string& state = source.facts().state;
    if (state != "complete") return state;
    return cut ? "truncated" : partial ? "partial" : state;
}

// Why tables are empty, also those that turned out to be: {"prof_kernel":"no kernel_details.csv"}.
std::string missing_of(Source& source) {
    std::map<Model, std::string> missing = source.facts().missing;
    for (size_t m = 0; m < static_cast<size_t>(Model::kCount); ++m) {
        const std::shared_ptr<Table> table = source.table(static_cast<Model>(m));
        if (table != nullptr && table->rows_known() && table->rows() == 0)
            missing.emplace(static_cast<Model>(m), "what was read has no row for it");
    }
    std::string out;
    for (const auto& [model, reason] : missing)
        out += (out.empty() ? "{" : ",") + json_quoted(model_specs()[static_cast<size_t>(model)].name) + ":" +
               json_quoted(reason);
    return out.empty() ? out : out + "}";
}

int source_column(const char* name) {
    const auto& columns = source_spec().columns;
    for (size_t c = 0; c < columns.size(); ++c)
        if (std::strcmp(columns[c].name, name) == 0) return static_cast<int>(c);
    std::abort();
}

// prof_source: a part of one row for each source. What may have to be read from large files, and what is
// known better when they are read, are columns of a table.
class SourceProvider : public TableProvider {
  public:
    std::vector<Part> parts(Connection& connection, const ScanRequest&) override {
        refresh_profiles(connection);
        std::vector<Part> out;
        for (const auto& profile : connection.profiles())
            for (const auto& source : profile->sources) out.push_back(part(*profile, source));
        return out;
    }

    double expected_rows(Connection& connection) override {
        return static_cast<double>(connection.profiles().size()) + 1;
    }

  private:
    // Columns that reading fills or changes; what has to be read comes first.
    enum : int { kDevices, kSteps, kTimeBase, kState, kVersions, kMissing, kColumns };

    static std::shared_ptr<Table> table_of(const std::shared_ptr<Source>& source) {
        std::vector<ColumnType> types(kColumns, T);
        types[kTimeBase] = I;
        return std::make_shared<Table>(types,
                                       [source](Table& table, const ColumnSet& wanted, LoadContext& context) {
                                           table.set_rows(1);
                                           wanted.each([&](int column) {
                                               Column& values = table.building(column);
                                               if (column == kTimeBase)
                                                   values.add_int(source->time_base_ns(context));
                                               else
                                                   add_text(values, text_of(*source, column, context));
                                           });
                                       });
    }

    static std::string text_of(Source& source, int column, LoadContext& context) {
        if (column == kState) return state_of(source, context.diagnostics);
        if (column == kVersions) return source.facts().versions;
        if (column == kMissing) return missing_of(source);
        try {
            return json_array(column == kDevices ? source_devices(source, context)
                                                 : source_steps(source, context));
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::kGeneral) throw;
            return {};  // unknown; what asks for rows gets the error
        }
    }

    static void add_text(Column& column, const std::string& text) {
        if (text.empty())
            column.add_null();
        else
            column.add_text(text);
    }

    static Part part(const Profile& profile, const std::shared_ptr<Source>& source) {
        const SourceFacts& facts = source->facts();
        const ProfileOptions& options = profile.options;
        Part part;
        part.table = table_of(source);
        part.columns.assign(source_spec().columns.size(), Part::kConstant);
        part.constants.resize(source_spec().columns.size());
        part.columns[source_column("devices")] = kDevices;
        part.columns[source_column("steps")] = kSteps;
        part.columns[source_column("time_base_ns")] = kTimeBase;
        part.columns[source_column("state")] = kState;
        part.columns[source_column("versions")] = kVersions;
        part.columns[source_column("missing")] = kMissing;
        const auto set = [&](const char* name, Part::Constant constant) {
            part.constants[source_column(name)] = std::move(constant);
        };
        set("alias", text_constant(profile.alias));
        set("path", text_constant(facts.path));
        set("kind", text_constant(facts.kind));
        set("framework", text_constant(facts.framework));
        set("rank", integer_constant(facts.rank));
        set("level", text_constant(facts.level));
        set("files", text_constant(facts.files));
        set("step_option", integer_constant(options.step));
        set("rank_option", integer_constant(options.rank));
        set("device_option", integer_constant(options.device));
        set("chip_option", text_constant(options.chip));
        set("source_option", text_constant(options.source));
        set("gpu_flow_cat_option", text_constant(options.gpu_flow_cat));
        return part;
    }
};

}  // namespace

int register_profile_tables(Connection& connection) {
    int code = register_table(connection, source_spec(), std::make_unique<SourceProvider>());
    const auto ahead = std::make_shared<ReadAhead>();
    for (size_t m = 0; code == SQLITE_OK && m < model_specs().size(); ++m)
        code = register_table(connection, model_specs()[m],
                              std::make_unique<ModelProvider>(static_cast<Model>(m), ahead));
    return code;
}

}  // namespace profana
