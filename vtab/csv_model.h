// Model tables over CSV files: columns of the file's table are shown as columns of the model, shared where
// they are the same and computed where they are not.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "vtab/model_rows.h"
#include "vtab/raw_csv.h"

namespace profana {

// model column <- column of the file.
struct CsvMapping {
    const char *model, *csv;
};

// Which rows of the file count, and what is known of those that do not say it themselves.
struct CsvRows {
    std::optional<int64_t> device;   // only this device's rows (those that name no device, too)
    int64_t only_device = kNullInt;  // the device of rows that name none
    int64_t clock_offset_ns =
        0;  // added to times (columns named start_ns) that count from the machine's start
};

// The columns of a CSV table that a model table asks for, with the rows chosen.
class CsvModel {
  public:
    CsvModel(Model model, CsvKind kind, std::shared_ptr<Table> raw, std::vector<CsvMapping> mapping,
             CsvRows rows)
        : model_(model), kind_(kind), raw_(std::move(raw)), mapping_(std::move(mapping)), rows_(rows) {}

    // Reads the columns of the file behind model columns: those wanted, and others by name, in one pass.
    void load(const ColumnSet& wanted, const std::vector<const char*>& also, LoadContext& context);
    // Gives the wanted columns that are mapped.
    void give(Table& table, const ColumnSet& wanted, LoadContext& context);
    // A mapped column by its model name, with the rows chosen; nullptr: the file does not have it.
    std::shared_ptr<const Column> column(const char* model_name, LoadContext& context);
    uint64_t rows(LoadContext& context);
    PageVector<Row> row_numbers(LoadContext& context);  // of the file, chosen

    Model model() const { return model_; }
    CsvKind kind() const { return kind_; }
    const std::shared_ptr<Table>& raw() const { return raw_; }

  private:
    void choose_rows(LoadContext& context);
    std::shared_ptr<const Column> chosen(const Column& column) const;
    std::shared_ptr<const Column> devices(LoadContext& context);
    bool reads_device() const;

    Model model_;
    CsvKind kind_;
    std::shared_ptr<Table> raw_;
    std::vector<CsvMapping> mapping_;
    CsvRows rows_;
    bool all_rows_ = true, chosen_known_ = false;
    PageVector<Row> chosen_;
};

// A model table of which every column is a column of the file.
std::shared_ptr<Table> make_csv_model_table(std::shared_ptr<CsvModel> csv);

// prof_kernel and prof_kernel_pmu of kernel_details.csv or op_summary_*.csv.
std::shared_ptr<CsvModel> kernel_csv(CsvKind kind, std::vector<std::string> files, const CsvRows& rows);
std::shared_ptr<Table> make_kernel_table(std::shared_ptr<CsvModel> csv, const std::string& first_file);
std::shared_ptr<Table> make_kernel_pmu_table(std::shared_ptr<CsvModel> csv, const std::string& first_file,
                                             int64_t id_base);

// prof_device_task of task_time_*.csv, for captures without a trace. kernels: prof_kernel or nullptr.
std::shared_ptr<Table> make_task_time_table(std::vector<std::string> files, const CsvRows& rows,
                                            std::shared_ptr<Table> kernels, int64_t id_base);

// prof_op_stat, prof_api_stat, prof_step_time: the files' own rows.
std::shared_ptr<Table> make_op_stat_table(std::vector<std::string> files, const CsvRows& rows);
std::shared_ptr<Table> make_api_stat_table(std::vector<std::string> files);
std::shared_ptr<Table> make_step_time_table(std::vector<std::string> files, const CsvRows& rows);

// prof_memory_usage of memory_record.csv, prof_memory_alloc of operator_memory.csv. The trace tells which
// operator asked for a block; nullptr: there is none.
class AscendTrace;
std::shared_ptr<Table> make_memory_usage_table(std::vector<std::string> files, std::optional<int64_t> device);
std::shared_ptr<Table> make_memory_alloc_table(std::vector<std::string> files, std::optional<int64_t> device,
                                               std::shared_ptr<AscendTrace> trace);

}  // namespace profana
