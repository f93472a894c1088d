#include "vtab/raw_csv.h"

#include "vtab/profiler_csv.h"
#include "vtab/raw_files.h"
#include "vtab/table_module.h"

namespace profana {
namespace {

struct RawCsv {
    CsvKind kind;
    FileRole role;
    const char* doc;
    const char* names;  // files in a folder
};

constexpr RawCsv kTables[] = {
    {CsvKind::kKernelDetails, FileRole::kKernelDetails,
     "kernel_details.csv (PyTorch, MindSpore): one row per device kernel, with its PMU values.",
     "kernel_details.csv"},
    {CsvKind::kOpSummary, FileRole::kOpSummary,
     "op_summary_*.csv (msprof): one row per device task, with its PMU values.", "op_summary_*.csv"},
    {CsvKind::kOpStatistic, FileRole::kOpStatistic, "op_statistic.csv: totals by operator type.",
     "op_statistic*.csv"},
    {CsvKind::kApiStatistic, FileRole::kApiStatistic, "api_statistic.csv: totals by API of the host.",
     "api_statistic*.csv"},
    {CsvKind::kStepTraceTime, FileRole::kStepTraceTime,
     "step_trace_time.csv: what the device did in each step.", "step_trace_time.csv"},
    {CsvKind::kOperatorDetails, FileRole::kOperatorDetails,
     "operator_details.csv: one row per framework operator, with shapes and call stack.",
     "operator_details.csv"},
    {CsvKind::kOperatorMemory, FileRole::kOperatorMemory,
     "operator_memory.csv: one row per block of device memory.", "operator_memory*.csv"},
    {CsvKind::kMemoryRecord, FileRole::kMemoryRecord, "memory_record.csv: memory in use over time.",
     "memory_record*.csv"},
    {CsvKind::kTaskTime, FileRole::kTaskTime,
     "task_time_*.csv (msprof): one row per task of the device's queues.", "task_time*.csv"},
};

class RawCsvProvider : public TableProvider {
  public:
    explicit RawCsvProvider(const RawCsv& table) : table_(table), format_(csv_format(table.kind)) {}

    std::vector<Part> parts(Connection& connection, const ScanRequest& request) override {
        std::vector<std::string> files =
            raw_files(request.arguments[0], table_.role, format_->name, table_.names);
        std::string key = format_->name;
        for (const std::string& file : files) key.append("\n").append(file);
        Part part;
        part.table = connection.cached_table(key, files, [&] {
            report_missing_slices(request.arguments[0], files, connection.diagnostics());
            return make_csv_table(format_, files);
        });
        for (int column = 0; column < part.table->columns(); ++column) part.columns.push_back(column);
        return {part};
    }

    double expected_rows(Connection&) override { return 1e5; }

  private:
    const RawCsv& table_;
    const std::shared_ptr<const CsvFormat> format_;
};

TableSpec make_spec(const RawCsv& table) {
    const CsvFormat& format = *csv_format(table.kind);
    TableSpec spec{format.name, table.doc, {}, {}};
    for (const CsvColumn& column : format.columns)
        spec.columns.push_back({column.name, column_type(column.value), column.doc});
    spec.arguments = {{"path", ColumnType::kText, "file, plain or gzip, or a folder that holds it"}};
    spec.required_arguments = 1;
    spec.reads_files = true;
    return spec;
}

}  // namespace

std::optional<CsvKind> csv_kind(FileRole role) {
    for (const RawCsv& table : kTables)
        if (table.role == role) return table.kind;
    return std::nullopt;
}

int register_raw_csv_tables(Connection& connection) {
    for (const RawCsv& table : kTables) {
        const int code =
            register_table(connection, make_spec(table), std::make_unique<RawCsvProvider>(table));
        if (code != SQLITE_OK) return code;
    }
    return register_profiler_csv(connection);
}

}  // namespace profana
