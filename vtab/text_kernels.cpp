// Kernels and device tasks of the CSV files of a text export.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "ext/core/ascii.h"
#include "ext/core/json_members.h"
#include "ext/core/plausible.h"
#include "vtab/csv_model.h"
#include "vtab/kernel_finder.h"

namespace profana {
namespace {

// Columns of kernel_details and op_summary that are no counters of the PMU.
constexpr const char* kNoCounters[] = {
    "step",         "device_id",   "model_name",    "model_id",      "infer_id",         "task_id",
    "stream_id",    "name",        "op_type",       "op_state",      "accelerator_core", "task_type",
    "start_ns",     "dur_ns",      "wait_ns",       "block_num",     "mix_block_num",    "hf32_eligible",
    "input_shapes", "input_types", "input_formats", "output_shapes", "output_types",     "output_formats",
    "context_id",   "extra",       "line"};

bool is_counter(const char* name) {
    return std::none_of(std::begin(kNoCounters), std::end(kNoCounters),
                        [&](const char* other) { return std::strcmp(name, other) == 0; });
}

// aic_mac_time_ns -> aic_mac_time: the head without its unit.
std::string metric_name(std::string_view column) {
    for (const std::string_view unit : {"_ns", "_percent", "_gb_per_s", "_bytes"})
        if (column.ends_with(unit)) return std::string(column.substr(0, column.size() - unit.size()));
    return std::string(column);
}

std::shared_ptr<Column> end_column(CsvModel& csv, const std::string& first_file, LoadContext& context) {
    const auto start = csv.column("start_ns", context), dur = csv.column("dur_ns", context);
    auto out = std::make_shared<Column>(ColumnType::kInt);
    uint64_t beyond = 0;
    for (Row row = 0, rows = csv.rows(context); row < rows; ++row) {
        const int64_t from = start == nullptr ? kNullInt : start->integer(row);
        const int64_t length = dur == nullptr ? kNullInt : dur->integer(row);
        out->add_int(sum_ns(from, length));
        beyond += from != kNullInt && length != kNullInt && out->is_null(row);
    }
    if (beyond > 0) {
        context.diagnostics.add(
            {.file = first_file,
             .code = "implausible_value",
             .message = "start and duration add up to a time that no capture can have; end_ns is NULL",
             .count = beyond});
    }
    return out;
}

// 1 where the core is the communication's: HCCL in 2023, COMMUNICATION since.
std::shared_ptr<Column> communication_column(const Column* core, uint64_t rows) {
    auto out = std::make_shared<Column>(ColumnType::kInt);
    uint32_t now = 0, before = 0;
    if (core != nullptr) {
        now = core->dictionary().find("COMMUNICATION");
        before = core->dictionary().find("HCCL");
    }
    for (Row row = 0; row < rows; ++row) {
        const uint32_t code = core == nullptr ? kNullCode : core->code(row);
        out->add_int(code != kNullCode && (code == now || code == before));
    }
    return out;
}

// The counters that the file has.
ColumnSet counter_columns(const CsvModel& csv, const std::string& first_file, LoadContext& context) {
    const CsvFormat& format = *csv_format(csv.kind());
    ColumnSet counters;
    csv_columns_with_heads(format, read_csv_heads(first_file, context)).each([&](int column) {
        if (is_counter(format.columns[column].name)) counters.add(column);
    });
    return counters;
}

// Has a kernel any counter? Every set of counters begins with the time on the cores; where a file lacks that,
// all counters are looked at.
std::shared_ptr<Column> has_pmu_column(CsvModel& csv, const std::string& first_file, LoadContext& context) {
    auto out = std::make_shared<Column>(ColumnType::kInt);
    const PageVector<Row> chosen = csv.row_numbers(context);
    if (chosen.empty()) return out;
    const ColumnSet counters = counter_columns(csv, first_file, context);
    ColumnSet leading;
    for (const char* name : {"aicore_time_ns", "aiv_time_ns"})
        if (counters.has(csv_column(csv.kind(), name))) leading.add(csv_column(csv.kind(), name));
    const ColumnSet& looked_at = leading.empty() ? counters : leading;
    csv.raw()->ensure(looked_at, context);
    std::vector<const Column*> columns;
    looked_at.each([&](int column) {
        if (!csv.raw()->absent(column)) columns.push_back(&csv.raw()->column(column));
    });
    for (const Row row : chosen)
        out->add_int(std::any_of(columns.begin(), columns.end(),
                                 [&](const Column* column) { return !column->is_null(row); }));
    return out;
}

void load_kernels(CsvModel& csv, const std::string& first_file, Table& table, const ColumnSet& wanted,
                  LoadContext& context) {
    // All that the derived columns need, too, in one pass over the file.
    std::vector<const char*> also;
    if (wants_any(wanted, Model::kKernel, {"end_ns"})) also = {"start_ns", "dur_ns"};
    if (wants_any(wanted, Model::kKernel, {"is_communication"})) also.push_back("core_type");
    if (wants_any(wanted, Model::kKernel, {"has_pmu"}))
        also.insert(also.end(), {"aicore_time_ns", "aiv_time_ns"});
    csv.load(wanted, also, context);
    csv.give(table, wanted, context);
    const uint64_t rows = csv.rows(context);
    const auto wants = [&](const char* name) { return wanted.has(model_column(Model::kKernel, name)); };
    const auto set = [&](const char* name, std::shared_ptr<Column> values) {
        table.set_column(model_column(Model::kKernel, name), std::move(values));
    };
    if (wants("end_ns")) set("end_ns", end_column(csv, first_file, context));
    if (wants("is_communication"))
        set("is_communication", communication_column(csv.column("core_type", context).get(), rows));
    if (wants("has_pmu")) set("has_pmu", has_pmu_column(csv, first_file, context));
}

// Writes prof_kernel_pmu, as far as its columns are wanted: the counters of one kernel after the other.
class PmuWriter {
  public:
    PmuWriter(Table& table, const ColumnSet& wanted, int64_t id_base)
        : id_base_(id_base),
          kernel_(column(table, wanted, "kernel_id")),
          metric_(column(table, wanted, "metric")),
          value_(column(table, wanted, "value")),
          source_(column(table, wanted, "source_row")) {}

    // The kernel that the next counters are of, and the line of its row.
    void start_kernel(uint64_t kernel, int64_t line) {
        id_ = id_base_ + static_cast<int64_t>(kernel);
        line_ = line;
    }
    bool wants_lines() const { return source_ != nullptr; }
    uint32_t metric(const std::string& name) {
        return metric_ == nullptr ? kNullCode : metric_->dictionary().intern(name);
    }
    void add(uint32_t metric, double value) {
        ++rows_;
        if (kernel_ != nullptr) kernel_->add_int(id_);
        if (source_ != nullptr) source_->add_int(line_);
        if (metric_ != nullptr) metric_->add_code(metric);
        if (value_ != nullptr) value_->add_real(value);
    }
    uint64_t rows() const { return rows_; }

    // Heads that the format does not know, as the file spells them: counters asked for by number.
    void add_extra(const std::string& json) {
        each_json_member(JsonToken(json), [&](const JsonToken& head, const JsonToken& value) {
            double number = 0;
            if (value.real(&number) != Parsed::kExact) return;
            std::string scratch;
            const std::string_view name = head.text(scratch);
            add(metric(lower_case(name.substr(0, name.find('(')))), number);
        });
    }

  private:
    static Column* column(Table& table, const ColumnSet& wanted, const char* name) {
        const int number = model_column(Model::kKernelPmu, name);
        return wanted.has(number) ? &table.building(number) : nullptr;
    }
    int64_t id_base_, id_ = kNullInt, line_ = kNullInt;
    Column *kernel_, *metric_, *value_, *source_;
    uint64_t rows_ = 0;
};

void load_pmu(const std::shared_ptr<CsvModel>& csv, const std::string& first_file, int64_t id_base,
              Table& table, const ColumnSet& pmu_wanted, LoadContext& context) {
    const CsvFormat& format = *csv_format(csv->kind());
    PmuWriter out(table, pmu_wanted, id_base);
    table.set_rows(0);
    if (csv->rows(context) == 0) return;
    const ColumnSet counters = counter_columns(*csv, first_file, context);
    const int extra = format.column("extra");
    ColumnSet wanted = counters;
    if (extra >= 0) wanted.add(extra);
    const int line = format.column("line");
    if (out.wants_lines()) wanted.add(line);
    csv->raw()->ensure(wanted, context);
    struct Counter {
        const Column* column;
        uint32_t metric;
    };
    std::vector<Counter> present;
    counters.each([&](int column) {
        if (!csv->raw()->absent(column))
            present.push_back(
                {&csv->raw()->column(column), out.metric(metric_name(format.columns[column].name))});
    });
    const Column* others = extra < 0 ? nullptr : csv->raw()->find(extra);
    const PageVector<Row> chosen = csv->row_numbers(context);
    const Column* lines = out.wants_lines() ? &csv->raw()->column(line) : nullptr;
    for (size_t kernel = 0; kernel < chosen.size(); ++kernel) {
        out.start_kernel(kernel, lines != nullptr ? lines->integer(chosen[kernel]) : kNullInt);
        for (const Counter& counter : present) {
            if (counter.column->is_null(chosen[kernel])) continue;
            const bool whole = counter.column->type() == ColumnType::kInt;
            out.add(counter.metric, whole ? static_cast<double>(counter.column->integer(chosen[kernel]))
                                          : counter.column->real(chosen[kernel]));
        }
        if (others != nullptr && !others->is_null(chosen[kernel]))
            out.add_extra(others->long_text(chosen[kernel]));
    }
    table.set_rows(out.rows());
}

void link_task_times(CsvModel& csv, const std::shared_ptr<Table>& kernels, int64_t id_base, Table& table,
                     LoadContext& context) {
    const auto start = csv.column("start_ns", context), name = csv.column("name", context);
    const auto stream = csv.column("stream_id", context), task = csv.column("task_id", context);
    if (kernels == nullptr || start == nullptr || name == nullptr) return;
    kernels->ensure(KernelFinder::columns(), context);
    KernelFinder finder(*kernels, *name);
    PageVector<uint32_t> found;
    for (Row row = 0; row < start->size(); ++row)
        found.push_back(finder.find(start->integer(row), name->code(row),
                                    stream ? stream->integer(row) : kNullInt,
                                    task ? task->integer(row) : kNullInt));
    table.set_column(model_column(Model::kDeviceTask, "kernel_id"), id_column(found, id_base));
}

}  // namespace

std::shared_ptr<CsvModel> kernel_csv(CsvKind kind, std::vector<std::string> files, const CsvRows& rows) {
    const char* core = kind == CsvKind::kOpSummary ? "task_type" : "accelerator_core";
    std::vector<CsvMapping> mapping = {{"core_type", core}, {"source_row", "line"}};
    for (const char* same :
         {"device_id",       "stream_id",        "name",        "op_type",         "step",
          "start_ns",        "dur_ns",           "wait_ns",     "task_id",         "block_num",
          "mix_block_num",   "input_shapes",     "input_types", "input_formats",   "output_shapes",
          "output_types",    "output_formats",   "mac_time_ns", "aiv_vec_time_ns", "aicore_time_ns",
          "aic_mac_time_ns", "aic_mte2_time_ns", "aiv_time_ns"})
        mapping.push_back({same, same});
    return std::make_shared<CsvModel>(
        Model::kKernel, kind, make_csv_table(csv_format(kind), std::move(files), CsvFault::kDiagnostic),
        std::move(mapping), rows);
}

std::shared_ptr<Table> make_kernel_table(std::shared_ptr<CsvModel> csv, const std::string& first_file) {
    return make_model_table(Model::kKernel, [csv = std::move(csv), first_file](
                                                Table& table, const ColumnSet& wanted, LoadContext& context) {
        load_kernels(*csv, first_file, table, wanted, context);
    });
}

std::shared_ptr<Table> make_kernel_pmu_table(std::shared_ptr<CsvModel> csv, const std::string& first_file,
                                             int64_t id_base) {
    return make_model_table(Model::kKernelPmu,
                            [csv = std::move(csv), first_file, id_base](Table& table, const ColumnSet& wanted,
                                                                        LoadContext& context) {
                                load_pmu(csv, first_file, id_base, table, wanted, context);
                            });
}

std::shared_ptr<Table> make_task_time_table(std::vector<std::string> files, const CsvRows& rows,
                                            std::shared_ptr<Table> kernels, int64_t id_base) {
    std::vector<CsvMapping> mapping = {{"name", "kernel_name"},
                                       {"task_type", "kernel_type"},
                                       {"start_ns", "task_start_ns"},
                                       {"dur_ns", "task_time_ns"},
                                       {"source_row", "line"}};
    for (const char* same : {"device_id", "stream_id", "task_id"}) mapping.push_back({same, same});
    const std::string first_file = files.front();
    auto csv = std::make_shared<CsvModel>(
        Model::kDeviceTask, CsvKind::kTaskTime,
        make_csv_table(csv_format(CsvKind::kTaskTime), std::move(files), CsvFault::kDiagnostic),
        std::move(mapping), rows);
    return make_model_table(Model::kDeviceTask,
                            [csv, first_file, kernels = std::move(kernels), id_base](
                                Table& table, const ColumnSet& wanted, LoadContext& context) {
                                csv->give(table, wanted, context);
                                if (wanted.has(model_column(Model::kDeviceTask, "end_ns")))
                                    table.set_column(model_column(Model::kDeviceTask, "end_ns"),
                                                     end_column(*csv, first_file, context));
                                if (wanted.has(model_column(Model::kDeviceTask, "kernel_id")))
                                    link_task_times(*csv, kernels, id_base, table, context);
                            });
}

}  // namespace profana
