#include "vtab/read_text.h"

#include <array>

#include "vtab/ascend_trace.h"
#include "vtab/csv_model.h"
#include "vtab/small_tables.h"

namespace profana {
namespace {

// A small table that a function fills as a whole.
template <class Fill>
std::shared_ptr<Table> make_filled_table(Model model, Fill fill) {
    return make_model_table(model,
                            [model, fill](Table& table, const ColumnSet& wanted, LoadContext& context) {
                                ModelRows rows(model);
                                fill(rows, context);
                                rows.give(table, wanted);
                            });
}

class TextSource : public Source {
  public:
    TextSource(Capture capture, const ProfileOptions& options, LoadContext& context)
        : capture_(std::move(capture)), options_(options) {
        rows_.device = options.device;
        rows_.only_device = only_device(context);
        rows_.clock_offset_ns = monotonic_offset_ns(capture_.all(FileRole::kStartInfo), context);
        read_group_names(context);
        make_kernels();
        make_trace();
        make_statistics();
        make_memory();
        make_side_tables();
        name_missing({});
    }

    const SourceFacts& facts() const override {
        if (trace_ == nullptr) return capture_.facts;
        capture_.facts.state = file_state_name(trace_->state());
        const std::string lost = trace_->unreadable();
        if (!lost.empty()) name_missing(lost);
        return capture_.facts;
    }
    std::shared_ptr<Table> table(Model model) override { return tables_[static_cast<size_t>(model)]; }
    std::vector<std::string> files() const override {
        std::vector<std::string> files = capture_.every_file();
        for (const UnusableFile& file : capture_.unusable) files.push_back(file.path);
        return files;
    }

  private:
    std::shared_ptr<Table>& slot(Model model) { return tables_[static_cast<size_t>(model)]; }
    void read_group_names(LoadContext& context);
    void make_kernels();
    void make_trace();
    std::shared_ptr<Table> table_of_trace(Model model) const;
    void make_statistics();
    void make_memory();
    void make_side_tables();
    // `lost`: why the trace turned out to have no events.
    void name_missing(const std::string& lost) const;
    bool is_of_trace(Model model) const;
    int64_t only_device(LoadContext& context) const;

    mutable Capture capture_;  // facts().state and missing follow the reading
    ProfileOptions options_;
    CsvRows rows_;
    std::string no_groups_ = "no profiler_metadata.json";  // empty: it is there and can be read
    std::map<std::string, std::string> group_names_;
    std::shared_ptr<AscendTrace> trace_;
    std::array<std::shared_ptr<Table>, static_cast<size_t>(Model::kCount)> tables_;
};

// The device of rows that name none: known where the capture has a single one.
int64_t TextSource::only_device(LoadContext& context) const {
    ModelRows devices(Model::kDevice);
    DeviceRows rows(devices, "", std::nullopt);
    add_ascend_devices(capture_.all(FileRole::kDeviceInfo), rows, context);
    return devices.rows() == 1 ? devices.get("device_id").integer(0) : kNullInt;
}

void TextSource::make_kernels() {
    const bool details = capture_.has(FileRole::kKernelDetails);
    const std::vector<std::string> files =
        capture_.all(details ? FileRole::kKernelDetails : FileRole::kOpSummary);
    if (files.empty()) return;
    const auto csv = kernel_csv(details ? CsvKind::kKernelDetails : CsvKind::kOpSummary, files, rows_);
    slot(Model::kKernel) = make_kernel_table(csv, files.front());
    slot(Model::kKernelPmu) = make_kernel_pmu_table(csv, files.front(), capture_.facts.id_base);
}

void TextSource::read_group_names(LoadContext& context) {
    const std::string path = capture_.first(FileRole::kMetadata);
    if (path.empty()) return;
    const JsonFile metadata = JsonFile::read(path, context);
    if (metadata)
        no_groups_.clear();
    else
        no_groups_ = path + ": cannot be read; prof_diagnostic says why";
    group_names_ = parallel_group_names(metadata);
}

void TextSource::make_trace() {
    if (!capture_.has(FileRole::kTrace)) {
        if (capture_.has(FileRole::kTaskTime))
            slot(Model::kDeviceTask) = make_task_time_table(capture_.all(FileRole::kTaskTime), rows_,
                                                            slot(Model::kKernel), capture_.facts.id_base);
        return;
    }
    AscendTraceOptions options;
    options.files = capture_.all(FileRole::kTrace);
    options.device = rows_.device;
    options.only_device = rows_.only_device;
    options.id_base = capture_.facts.id_base;
    options.clock_offset_ns = rows_.clock_offset_ns;
    options.group_names = std::move(group_names_);
    trace_ = std::make_shared<AscendTrace>(std::move(options), slot(Model::kKernel));
    for (size_t m = 0; m < tables_.size(); ++m) {
        const Model model = static_cast<Model>(m);
        if (is_of_trace(model)) tables_[m] = table_of_trace(model);
    }
}

bool TextSource::is_of_trace(Model model) const {
    const bool kernels = !capture_.has(FileRole::kKernelDetails) && !capture_.has(FileRole::kOpSummary);
    return AscendTrace::fills(model) || (model == Model::kKernel && kernels);
}

std::shared_ptr<Table> TextSource::table_of_trace(Model model) const {
    return make_model_table(
        model, [trace = trace_, model](Table& table, const ColumnSet& wanted, LoadContext& context) {
            trace->load(model, table, wanted, context);
        });
}

void TextSource::make_statistics() {
    if (capture_.has(FileRole::kOpStatistic))
        slot(Model::kOpStat) = make_op_stat_table(capture_.all(FileRole::kOpStatistic), rows_);
    if (capture_.has(FileRole::kApiStatistic))
        slot(Model::kApiStat) = make_api_stat_table(capture_.all(FileRole::kApiStatistic));
    if (capture_.has(FileRole::kStepTraceTime))
        slot(Model::kStepTime) = make_step_time_table(capture_.all(FileRole::kStepTraceTime), rows_);
}

void TextSource::make_memory() {
    if (capture_.has(FileRole::kMemoryRecord))
        slot(Model::kMemoryUsage) =
            make_memory_usage_table(capture_.all(FileRole::kMemoryRecord), options_.device);
    if (capture_.has(FileRole::kOperatorMemory))
        slot(Model::kMemoryAlloc) =
            make_memory_alloc_table(capture_.all(FileRole::kOperatorMemory), options_.device, trace_);
}

void TextSource::make_side_tables() {
    if (capture_.has(FileRole::kDeviceInfo) || !options_.chip.empty())
        slot(Model::kDevice) = make_filled_table(
            Model::kDevice, [files = capture_.all(FileRole::kDeviceInfo), chip = options_.chip,
                             device = options_.device](ModelRows& rows, LoadContext& context) {
                DeviceRows out(rows, chip, device);
                add_ascend_devices(files, out, context);
                if (files.empty()) {
                    DeviceRow only;
                    only.id = device;
                    out.add(only);
                }
            });
    if (no_groups_.empty())
        slot(Model::kProcessGroup) = make_filled_table(
            Model::kProcessGroup,
            [file = capture_.first(FileRole::kMetadata)](ModelRows& rows, LoadContext& context) {
                ProcessGroupRows out(rows);
                add_parallel_groups(JsonFile::read(file, context), out);
            });
    if (capture_.has(FileRole::kCommunication))
        slot(Model::kCommBandwidth) = make_filled_table(
            Model::kCommBandwidth,
            [file = capture_.first(FileRole::kCommunication)](ModelRows& rows, LoadContext& context) {
                add_comm_bandwidths(file, rows, context);
            });
}

void TextSource::name_missing(const std::string& lost) const {
    const bool msprof = capture_.facts.kind == "msprof";
    const auto without = [&](FileRole role, const char* name) {
        const std::string why = capture_.why_not(role);
        return why.empty() ? std::string("no ") + name : why;
    };
    const std::string trace =
        lost.empty() ? without(FileRole::kTrace, msprof ? "msprof_*.json" : "trace_view.json") : lost;
    const bool of_summary = capture_.why_not(FileRole::kKernelDetails).empty() &&
                            (msprof || !capture_.why_not(FileRole::kOpSummary).empty());
    const std::string kernels = of_summary ? without(FileRole::kOpSummary, "op_summary_*.csv")
                                           : without(FileRole::kKernelDetails, "kernel_details.csv");
    std::map<Model, std::string> missing;
    for (size_t m = 0; m < tables_.size(); ++m) {
        const Model model = static_cast<Model>(m);
        if (tables_[m] != nullptr && (lost.empty() || !is_of_trace(model))) continue;
        std::string reason = trace;
        if (model == Model::kKernel) reason = kernels + " and " + trace;
        if (model == Model::kKernelPmu) reason = kernels;
        if (model == Model::kDeviceTask && msprof && lost.empty())
            reason = trace + " and " + without(FileRole::kTaskTime, "task_time_*.csv");
        if (model == Model::kOpStat) reason = without(FileRole::kOpStatistic, "op_statistic.csv");
        if (model == Model::kApiStat) reason = without(FileRole::kApiStatistic, "api_statistic.csv");
        if (model == Model::kStepTime) reason = without(FileRole::kStepTraceTime, "step_trace_time.csv");
        if (model == Model::kMemoryAlloc) reason = without(FileRole::kOperatorMemory, "operator_memory.csv");
        if (model == Model::kMemoryUsage) reason = without(FileRole::kMemoryRecord, "memory_record.csv");
        if (model == Model::kCommBandwidth) reason = without(FileRole::kCommunication, "communication.json");
        if (model == Model::kProcessGroup) reason = no_groups_;
        if (model == Model::kDevice) reason = "no info.json of a device is found in PROF_*";
        missing[model] = reason;
    }
    capture_.facts.missing = std::move(missing);
}

}  // namespace

std::shared_ptr<Source> make_text_source(Capture capture, const ProfileOptions& options,
                                         LoadContext& context) {
    return std::make_shared<TextSource>(std::move(capture), options, context);
}

}  // namespace profana
