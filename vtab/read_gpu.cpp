#include "vtab/read_gpu.h"

#include <array>
#include <mutex>

#include "ext/core/utf8.h"
#include "vtab/gpu_tables.h"
#include "vtab/json_file.h"
#include "vtab/small_tables.h"

namespace profana {
namespace {

bool never_in_gpu_traces(Model model) {
    switch (model) {
        case Model::kKernelPmu:
        case Model::kCommTask:
        case Model::kMstxRange:
        case Model::kOverlapBar:
        case Model::kOpStat:
        case Model::kApiStat:
        case Model::kStepTime:
        case Model::kCommBandwidth:
            return true;
        default:
            return false;
    }
}

// `unreadable`: why the trace has no events; empty: it has, as far as it is read.
std::map<Model, std::string> missing_of(const std::string& unreadable) {
    std::map<Model, std::string> missing;
    for (size_t m = 0; m < static_cast<size_t>(Model::kCount); ++m) {
        const Model model = static_cast<Model>(m);
        if (never_in_gpu_traces(model))
            missing[model] = "GPU traces of torch.profiler do not have it";
        else if (!unreadable.empty())
            missing[model] = unreadable;
    }
    return missing;
}

// What the tables of one trace share; their loaders keep it alive.
class GpuCapture {
  public:
    GpuCapture(Capture capture, const ProfileOptions& options)
        : facts(std::move(capture.facts)), chip_(options.chip) {
        options_.file = capture.first(FileRole::kTrace);
        options_.flow_category = options.gpu_flow_cat;
        options_.device = options.device;
        options_.id_base = facts.id_base;
        facts.missing = missing_of({});
    }

    void load(Model model, Table& table, const ColumnSet& wanted, LoadContext& context) {
        std::lock_guard<std::mutex> lock(mutex_);
        rows_of(model, read(context), wanted, context).give(table, wanted);
    }

    int64_t time_base_ns(LoadContext& context) {
        std::lock_guard<std::mutex> lock(mutex_);
        return read(context).facts.base_ns.value_or(0);
    }
    const std::string& file() const { return options_.file; }
    SourceFacts facts;

  private:
    GpuTables& read(LoadContext& context) {
        if (tables_ == nullptr) {
            context.diagnostics.forget(options_.file);
            tables_ = read_gpu_tables(options_, context);
            facts.state = file_state_name(tables_->facts.state);
            facts.versions = versions_of(tables_->facts);
            facts.missing = missing_of(tables_->unreadable);
        }
        return *tables_;
    }
    const ModelRows& rows_of(Model model, GpuTables& tables, const ColumnSet& wanted, LoadContext& context);
    JsonFile key(const char* name, LoadContext& context) const;
    void add_devices(LoadContext& context);
    void add_process_groups(LoadContext& context);
    static std::string versions_of(const TraceFacts& facts);

    GpuTraceOptions options_;
    std::string chip_;
    std::mutex mutex_;
    std::unique_ptr<GpuTables> tables_;
    std::unique_ptr<ModelRows> devices_, groups_;
};

const ModelRows& GpuCapture::rows_of(Model model, GpuTables& tables, const ColumnSet& wanted,
                                     LoadContext& context) {
    const auto add_steps = [&](ModelRows& rows) -> const ModelRows& {
        if (wants_any(wanted, model, {"step"}) && !rows.has("step"))
            rows.set("step", tables.steps.column(rows.get("start_ns")));
        return rows;
    };
    switch (model) {
        case Model::kKernel:
            return add_steps(tables.kernels.rows);
        case Model::kDeviceTask:
            return add_steps(tables.device.rows);
        case Model::kCommOp:
            return add_steps(tables.comm_ops.rows);
        case Model::kHostOp:
            tables.host.derive(wanted, tables.steps, options_.id_base);
            return tables.host.rows();
        case Model::kLaunch:
            add_gpu_launches(tables, options_);
            return tables.launches;
        case Model::kPythonCall:
            tables.python.derive(wanted, options_.id_base);
            return tables.python.rows();
        case Model::kFwdBwd:
            if (!tables.has_forward_backward)
                add_forward_backward(tables.flows, kGpuForwardBackward, tables.threads,
                                     tables.forward_backward);
            tables.has_forward_backward = true;
            return tables.forward_backward;
        case Model::kMemoryAlloc:
            add_gpu_memory_blocks(tables, options_);
            return tables.memory_alloc;
        case Model::kMemoryUsage:
            return tables.memory_usage;
        case Model::kDevice:
            add_devices(context);
            return *devices_;
        case Model::kProcessGroup:
            add_process_groups(context);
            return *groups_;
        default:
            return tables.steps.rows();
    }
}

JsonFile GpuCapture::key(const char* name, LoadContext& context) const {
    const JsonToken token = tables_->facts.key(name);
    return token.absent() ? JsonFile() : JsonFile::parse(token.raw(), options_.file, context.diagnostics);
}

void GpuCapture::add_devices(LoadContext& context) {
    if (devices_ != nullptr) return;
    devices_ = std::make_unique<ModelRows>(Model::kDevice);
    DeviceRows rows(*devices_, chip_, options_.device);
    const JsonFile properties = key("deviceProperties", context);
    simdjson::dom::array list;
    if (!properties || properties.root().get(list) != simdjson::SUCCESS) return;
    int64_t entry = 0;
    for (const simdjson::dom::element item : list) {
        DeviceRow row;
        row.entry = ++entry;
        row.id = member_integer(item, "id");
        row.chip = member_text(item, "name");
        row.cores = member_integer(item, "numSms");
        row.memory_bytes = member_integer(item, "totalGlobalMem");
        rows.add(row);
    }
}

// distributedInfo.pg_config: [{"pg_name":"0","pg_desc":"default_pg","ranks":[0,1]}]
void GpuCapture::add_process_groups(LoadContext& context) {
    if (groups_ != nullptr) return;
    groups_ = std::make_unique<ModelRows>(Model::kProcessGroup);
    ProcessGroupRows rows(*groups_);
    const JsonFile info = key("distributedInfo", context);
    const auto config = info.at({"pg_config"});
    simdjson::dom::array list;
    if (!config || config->get(list) != simdjson::SUCCESS) return;
    for (const simdjson::dom::element group : list) {
        const std::vector<int64_t> ranks = member_integers(group, "ranks");
        std::optional<int64_t> own;
        for (size_t i = 0; i < ranks.size(); ++i)
            if (facts.rank && ranks[i] == *facts.rank) own = static_cast<int64_t>(i);
        rows.add(member_text(group, "pg_name"), member_text(group, "pg_desc"), own, ranks);
    }
}

std::string GpuCapture::versions_of(const TraceFacts& facts) {
    std::string out;
    for (const auto& [name, value] : facts.keys) {
        const bool version = name.ends_with("_version") || name == "schemaVersion";
        if (!version || JsonToken(value).is_container()) continue;
        out += out.empty() ? "{" : ",";
        out += json_quoted(name);
        out += ":";
        out += value;
    }
    if (!out.empty()) out += "}";
    return out;
}

class GpuSource : public Source {
  public:
    explicit GpuSource(std::shared_ptr<GpuCapture> capture) : capture_(std::move(capture)) {}

    const SourceFacts& facts() const override { return capture_->facts; }
    std::vector<std::string> files() const override { return {capture_->file()}; }
    int64_t time_base_ns(LoadContext& context) override { return capture_->time_base_ns(context); }

    std::shared_ptr<Table> table(Model model) override {
        if (never_in_gpu_traces(model)) return nullptr;
        std::shared_ptr<Table>& table = tables_[static_cast<size_t>(model)];
        if (table == nullptr)
            table = make_model_table(model, [capture = capture_, model](Table& out, const ColumnSet& wanted,
                                                                        LoadContext& context) {
                capture->load(model, out, wanted, context);
            });
        return table;
    }

  private:
    std::shared_ptr<GpuCapture> capture_;
    std::array<std::shared_ptr<Table>, static_cast<size_t>(Model::kCount)> tables_;
};

}  // namespace

std::shared_ptr<Source> make_gpu_source(Capture capture, const ProfileOptions& options) {
    return std::make_shared<GpuSource>(std::make_shared<GpuCapture>(std::move(capture), options));
}

}  // namespace profana
