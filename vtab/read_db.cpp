#include "vtab/read_db.h"

#include <sys/stat.h>

#include <array>

#include "ext/core/utf8.h"
#include "vtab/capture.h"
#include "vtab/db_loaders.h"

namespace profana {
namespace {

// How a model table is filled: all of `needs` must be there, each one of them as one of its tables.
struct ModelReader {
    Model model;
    void (*load)(Load&);
    bool from_analysis;
    std::vector<std::vector<const char*>> needs;
    // Columns that come of one pass over a large table and that few queries ask for alone: whoever asks for
    // one of a group gets all of it, for a second pass costs more than they do.
    std::vector<std::vector<const char*>> together = {};
};

const std::vector<ModelReader>& readers() {
    static const auto* list = new std::vector<ModelReader>{
        {Model::kKernel,
         load_kernel,
         false,
         {{"TASK"}, {"COMPUTE_TASK_INFO"}},
         {{"name", "op_type", "core_type", "input_shapes"},
          {"start_ns", "end_ns", "dur_ns", "step"},
          {"has_pmu", "mac_time_ns", "aiv_vec_time_ns", "aicore_time_ns", "aic_mac_time_ns",
           "aic_mte2_time_ns", "aiv_time_ns"}}},
        {Model::kKernelPmu, load_kernel_pmu, false, {{"TASK"}, {"COMPUTE_TASK_INFO"}, {"TASK_PMU_INFO"}}},
        {Model::kDeviceTask, load_device_task, false, {{"TASK"}}},
        {Model::kHostOp,
         load_host_op,
         false,
         {{"PYTORCH_API", "CANN_API"}},
         {{"thread_id", "name", "kind", "step", "start_ns", "end_ns", "connection_id"},
          {"parent_id", "depth", "root_id", "self_ns"},
          {"input_shapes", "input_types"}}},
        {Model::kLaunch,
         load_launch,
         false,
         {{"PYTORCH_API"}, {"CONNECTION_IDS"}, {"TASK", "COMMUNICATION_OP"}},
         {{"host_op_id", "device_task_id", "kernel_id", "comm_op_id", "category", "launch_ns", "device_ns",
           "connection_id"}}},
        {Model::kPythonCall,
         load_python_call,
         false,
         {{"PYTORCH_API"}},
         {{"name", "start_ns", "end_ns", "is_module"}}},
        {Model::kFwdBwd, load_fwd_bwd, false, {{"PYTORCH_API"}, {"CONNECTION_IDS"}}},
        {Model::kStep, load_step, false, {{"STEP_TIME"}}},
        {Model::kCommOp, load_comm_op, false, {{"COMMUNICATION_OP"}}},
        {Model::kCommTask, load_comm_task, false, {{"TASK"}, {"COMMUNICATION_TASK_INFO"}}},
        {Model::kMemoryAlloc, load_memory_alloc, false, {{"OP_MEMORY", "NPU_OP_MEM"}}},
        {Model::kMemoryUsage, load_memory_usage, false, {{"MEMORY_RECORD", "NPU_OP_MEM", "NPU_MEM"}}},
        {Model::kMstxRange, load_mstx_range, false, {{"MSTX_EVENTS"}}},
        // A viewer writes a table of this name into older databases, but not its enumeration.
        {Model::kOverlapBar,
         load_overlap_bar,
         false,
         {{"OVERLAP_ANALYSIS"}, {"ENUM_OVERLAP_ANALYSIS_TYPE", "ENUM_OVERLAY_ANALYSIS_TYPE"}}},
        {Model::kDevice, load_device, false, {}},
        {Model::kApiStat, load_api_stat, false, {{"CANN_API"}}},
        {Model::kProcessGroup, load_process_group, false, {{"META_DATA"}}},
        {Model::kStepTime, load_step_time, true, {{"StepTraceTime"}}},
        {Model::kCommBandwidth, load_comm_bandwidth, true, {{"CommAnalyzerBandwidth", "CommAnalyzerTime"}}},
    };
    return *list;
}

ColumnSet with_companions(const ModelReader& reader, const ColumnSet& wanted) {
    ColumnSet out = wanted;
    for (const auto& group : reader.together) {
        const bool any = std::any_of(group.begin(), group.end(), [&](const char* name) {
            return wanted.has(model_column(reader.model, name));
        });
        if (any)
            for (const char* name : group) out.add(model_column(reader.model, name));
    }
    return out;
}

std::string joined(const std::vector<const char*>& names, const char* between) {
    std::string out;
    for (const char* name : names) out += (out.empty() ? "" : between) + std::string(name);
    return out;
}

// Why the file cannot fill the table; empty: it can.
std::string reason_against(DbFile& file, const ModelReader& reader) {
    for (const auto& need : reader.needs) {
        const bool met = std::any_of(need.begin(), need.end(),
                                     [&](const char* name) { return file.table(name) != nullptr; });
        if (met) continue;
        const auto view =
            std::find_if(need.begin(), need.end(), [&](const char* name) { return file.has_view(name); });
        if (view != need.end())
            return std::string(*view) +
                   " is a view or virtual table, and what a file brings along is not run: " +
                   "copy its rows into a table";
        return "the database has no table " + joined(need, " and no table ");
    }
    return {};
}

// Has the file any table that only profilers write?
bool has_profiler_table(DbFile& file) {
    for (const ModelReader& reader : readers())
        for (const auto& need : reader.needs)
            for (const char* name : need)
                if (!reader.from_analysis && reader.model != Model::kProcessGroup &&
                    file.table(name) != nullptr)
                    return true;
    return false;
}

DbContent content_of(DbFile& file) {
    const std::string_view name = base_name(file.path());
    const auto has = [&](const char* table) { return file.table(table) != nullptr; };
    const auto called = [&](const char* prefix) { return name.starts_with(prefix); };
    if (has("PYTORCH_API")) return DbContent::kPyTorch;
    if (has("ClusterBaseInfo") || has("ClusterStepTraceTime") || has("ClusterCommunicationTime"))
        return DbContent::kCluster;
    if (has("SESSION_TIME_INFO") || has_profiler_table(file)) {
        if (called("ascend_pytorch_profiler")) return DbContent::kPyTorch;
        if (called("ascend_mindspore_profiler")) return DbContent::kMindSpore;
        return called("msmonitor") ? DbContent::kMsmonitor : DbContent::kMsprof;
    }
    const bool analysis = has("StepTraceTime") || has("CommAnalyzerTime") || has("CommAnalyzerBandwidth");
    return analysis ? DbContent::kAnalysis : DbContent::kUnknown;
}

std::optional<int64_t> rank_of(DbFile& file, LoadContext& context) {
    const DbTable* table = file.table("RANK_DEVICE_MAP");
    if (table == nullptr) return std::nullopt;
    std::optional<int64_t> rank;
    DbScan scan(file, *table);
    const int cell = scan.cell({"rankId"});
    scan.run(context, [&](const DbRow& row) {
        const int64_t id = apply(NullRule::kSize, row.integer(cell));
        if (id != kNullInt && !rank) rank = id;
    });
    return rank;
}

class DbSource : public Source {
  public:
    DbSource(SourceFacts facts, DbFiles files, const ProfileOptions& options, LoadContext& context)
        : facts_(std::move(facts)), profile_(std::make_shared<DbProfile>()) {
        profile_->files = std::move(files);
        profile_->options = options;
        profile_->id_base = facts_.id_base;
        look_at_profiler(context);
        look_at_analysis(context);
        facts_.missing[Model::kOpStat] =
            "databases hold no operator statistics; prof_kernel grouped by op_type and core_type gives them";
    }

    const SourceFacts& facts() const override { return facts_; }

    std::shared_ptr<Table> table(Model model) override {
        if (facts_.missing.count(model) > 0) return nullptr;
        std::shared_ptr<Table>& table = tables_[static_cast<size_t>(model)];
        if (table == nullptr) table = make_table(model);
        return table;
    }

    bool loads_side_by_side() const override { return true; }

    std::vector<std::string> files() const override {
        const DbFiles& files = profile_->files;
        std::vector<std::string> out = files.device_infos;
        // The log of a database that is written to may come later.
        if (!files.profiler.empty()) out.insert(out.end(), {files.profiler, files.profiler + "-wal"});
        if (!files.analysis.empty()) out.push_back(files.analysis);
        return out;
    }

  private:
    void look_at_profiler(LoadContext& context);
    void look_at_analysis(LoadContext& context);
    void name_missing(DbFile& file, bool from_analysis);
    void name_missing(const std::string& reason, bool from_analysis);
    void read_meta(DbFile& file, LoadContext& context);
    std::shared_ptr<Table> make_table(Model model) const;

    SourceFacts facts_;
    std::shared_ptr<DbProfile> profile_;
    std::array<std::shared_ptr<Table>, static_cast<size_t>(Model::kCount)> tables_;
};

void DbSource::name_missing(DbFile& file, bool from_analysis) {
    for (const ModelReader& reader : readers()) {
        if (reader.from_analysis != from_analysis) continue;
        const std::string reason = reason_against(file, reader);
        if (!reason.empty()) facts_.missing[reader.model] = reason;
    }
}

void DbSource::name_missing(const std::string& reason, bool from_analysis) {
    for (const ModelReader& reader : readers())
        if (reader.from_analysis == from_analysis) facts_.missing[reader.model] = reason;
}

void DbSource::look_at_profiler(LoadContext& context) {
    if (profile_->files.profiler.empty()) return name_missing("only the analysis database is there", false);
    if (!profile_->files.unreadable.empty()) {
        facts_.state = "corrupt";
        return name_missing(profile_->files.unreadable, false);
    }
    DbFile file(profile_->files.profiler);
    name_missing(file, false);
    if (facts_.missing.count(Model::kOverlapBar) > 0 && file.table("OVERLAP_ANALYSIS") != nullptr)
        facts_.missing[Model::kOverlapBar] = "OVERLAP_ANALYSIS was written by a viewer, not by the profiler";
    if (file.table("PYTORCH_API") != nullptr && facts_.framework.empty()) facts_.framework = "PyTorch";
    read_meta(file, context);
    const bool unfinished = file.table("STRING_IDS") == nullptr && file.table("TASK") != nullptr;
    if (file.truncated() || unfinished) facts_.state = "truncated";
    if (facts_.state.empty()) facts_.state = "complete";
}

void DbSource::look_at_analysis(LoadContext& context) {
    const std::string& path = profile_->files.analysis;
    if (path.empty())
        return name_missing("there is no analysis.db or communication_analyzer.db beside the database", true);
    try {
        DbFile file(path);
        name_missing(file, true);
    } catch (const DatabaseLocked&) {
        throw;
    } catch (const Error& error) {
        if (!is_of_file(error)) throw;
        report_unreadable_database(path, reason_of(error), context.diagnostics);
        facts_.state = "corrupt";
        name_missing(reason_of(error), true);
    }
}

void DbSource::read_meta(DbFile& file, LoadContext& context) {
    const DbTable* table = file.table("META_DATA");
    if (table == nullptr) return;
    DbScan scan(file, *table);
    const int name = scan.cell({"name"}), value = scan.cell({"value"});
    bool has_groups = false;
    std::string schema;
    scan.run(context, [&](const DbRow& row) {
        has_groups |= row.text(name) == "parallel_group_info";
        if (row.text(name) == "SCHEMA_VERSION") schema = row.text(value);
    });
    if (!has_groups) facts_.missing[Model::kProcessGroup] = "META_DATA has no parallel_group_info";
    if (schema.empty()) return;
    const std::string entry = "\"schema\":" + json_quoted(schema) + "}";
    std::string& versions = facts_.versions;
    if (versions.size() > 2 && versions.back() == '}') {
        versions.back() = ',';
        versions += entry;
    } else {
        versions = "{" + entry;
    }
}

std::shared_ptr<Table> DbSource::make_table(Model model) const {
    for (const ModelReader& reader : readers()) {
        if (reader.model != model) continue;
        const std::string path = reader.from_analysis ? profile_->files.analysis : profile_->files.profiler;
        return make_model_table(model, [profile = profile_, path, &reader](
                                           Table& table, const ColumnSet& wanted, LoadContext& context) {
            const ColumnSet columns = with_companions(reader, wanted);
            Load load(*profile, path, reader.model, table, columns, context);
            reader.load(load);
            load.finish();
        });
    }
    return nullptr;
}

}  // namespace

DatabaseLook look_into_database(const std::string& path, LoadContext& context) {
    try {
        DbFile file(path);
        return {content_of(file), {}, rank_of(file, context)};
    } catch (const DatabaseLocked&) {
        throw;
    } catch (const NotADatabase& error) {
        return {DbContent::kUnknown, reason_of(error)};
    } catch (const Error& error) {
        if (!is_of_file(error)) throw;
        return {DbContent::kUnreadable, reason_of(error)};
    }
}

void report_unreadable_database(const std::string& path, const std::string& why, Diagnostics& diagnostics) {
    diagnostics.add({.severity = Severity::kError,
                     .file = path,
                     .code = "db_unreadable",
                     .message = why + "; the file is left out"});
}

std::shared_ptr<Source> make_db_source(SourceFacts facts, DbFiles files, const ProfileOptions& options,
                                       LoadContext& context) {
    return std::make_shared<DbSource>(std::move(facts), std::move(files), options, context);
}

}  // namespace profana
