#include "vtab/csv_model.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace profana {
namespace {

// Times since the start of the machine become times since 1970; those that are so already stay.
std::shared_ptr<const Column> shifted(const Column& times, int64_t offset) {
    constexpr int64_t kEpochNs = 100'000'000'000'000'000;
    auto out = std::make_shared<Column>(ColumnType::kInt);
    for (Row row = 0; row < times.size(); ++row) {
        const int64_t time = times.integer(row);
        out->add_int(time == kNullInt || time > kEpochNs ? time : time + offset);
    }
    return out;
}

}  // namespace

bool CsvModel::reads_device() const {
    for (const CsvMapping& map : mapping_)
        if (std::strcmp(map.model, "device_id") == 0) return true;
    return false;
}

// With the option device the rows of other devices are left out.
void CsvModel::choose_rows(LoadContext& context) {
    if (chosen_known_) return;
    if (rows_.device && reads_device()) {
        const std::shared_ptr<const Column> device = devices(context);
        for (Row row = 0; device != nullptr && row < device->size(); ++row) {
            const int64_t value = device->integer(row);
            if (value == kNullInt || value == *rows_.device) chosen_.push_back(row);
        }
        all_rows_ = device == nullptr;
    }
    chosen_known_ = true;
}

// The device of every row of the file; nullptr: no row names one.
std::shared_ptr<const Column> CsvModel::devices(LoadContext& context) {
    for (const CsvMapping& map : mapping_) {
        if (std::strcmp(map.model, "device_id") != 0) continue;
        ColumnSet wanted;
        wanted.add(csv_column(kind_, map.csv));
        raw_->ensure(wanted, context);
        if (!raw_->absent(csv_column(kind_, map.csv))) return raw_->share(csv_column(kind_, map.csv));
    }
    return nullptr;
}

std::shared_ptr<const Column> CsvModel::chosen(const Column& column) const {
    auto out = std::make_shared<Column>(column.type());
    out->add_rows(column, chosen_);
    return out;
}

uint64_t CsvModel::rows(LoadContext& context) {
    choose_rows(context);
    if (!all_rows_) return chosen_.size();
    raw_->ensure_rows(context);
    return raw_->rows();
}

PageVector<Row> CsvModel::row_numbers(LoadContext& context) {
    PageVector<Row> all(rows(context));
    std::iota(all.begin(), all.end(), 0);
    return all_rows_ ? all : chosen_;
}

std::shared_ptr<const Column> CsvModel::column(const char* model_name, LoadContext& context) {
    choose_rows(context);
    for (const CsvMapping& map : mapping_) {
        if (std::strcmp(map.model, model_name) != 0) continue;
        const int number = csv_column(kind_, map.csv);
        ColumnSet wanted;
        wanted.add(number);
        raw_->ensure(wanted, context);
        if (raw_->absent(number)) break;
        std::shared_ptr<const Column> values = all_rows_ ? raw_->share(number) : chosen(raw_->column(number));
        const bool shift = rows_.clock_offset_ns != 0 && std::strcmp(model_name, "start_ns") == 0;
        return shift ? shifted(*values, rows_.clock_offset_ns) : values;
    }
    if (std::strcmp(model_name, "device_id") != 0 || rows_.only_device == kNullInt) return nullptr;
    auto constant = std::make_shared<Column>(ColumnType::kInt);
    for (uint64_t row = 0, n = rows(context); row < n; ++row) constant->add_int(rows_.only_device);
    return constant;
}

void CsvModel::load(const ColumnSet& wanted, const std::vector<const char*>& also, LoadContext& context) {
    ColumnSet raw_wanted;
    for (const CsvMapping& map : mapping_) {
        const bool named = std::any_of(also.begin(), also.end(),
                                       [&](const char* name) { return std::strcmp(name, map.model) == 0; });
        if (named || wanted.has(model_column(model_, map.model))) raw_wanted.add(csv_column(kind_, map.csv));
    }
    raw_->ensure(raw_wanted, context);
}

void CsvModel::give(Table& table, const ColumnSet& wanted, LoadContext& context) {
    load(wanted, {}, context);
    const auto& columns = model_specs()[static_cast<size_t>(model_)].columns;
    table.set_rows(rows(context));
    wanted.each([&](int number) {
        const char* name = columns[number + kFirstModelColumn].name;
        std::shared_ptr<const Column> values = column(name, context);
        if (values != nullptr)
            table.set_column(number, std::move(values));
        else
            table.set_absent(number);
    });
}

std::shared_ptr<Table> make_csv_model_table(std::shared_ptr<CsvModel> csv) {
    const Model model = csv->model();
    return make_model_table(
        model, [csv = std::move(csv)](Table& table, const ColumnSet& wanted, LoadContext& context) {
            csv->give(table, wanted, context);
        });
}

namespace {

std::shared_ptr<Table> statistic(Model model, CsvKind kind, std::vector<std::string> files,
                                 const CsvRows& rows, std::initializer_list<const char*> same) {
    std::vector<CsvMapping> mapping = {{"source_row", "line"}};
    if (kind == CsvKind::kStepTraceTime)
        mapping.push_back({"communication_not_overlapped_exclude_receive_ns",
                           "communication_not_overlapped_and_exclude_receive_ns"});
    for (const char* name : same) mapping.push_back({name, name});
    return make_csv_model_table(std::make_shared<CsvModel>(
        model, kind, make_csv_table(csv_format(kind), std::move(files), CsvFault::kDiagnostic),
        std::move(mapping), rows));
}

}  // namespace

std::shared_ptr<Table> make_op_stat_table(std::vector<std::string> files, const CsvRows& rows) {
    return statistic(Model::kOpStat, CsvKind::kOpStatistic, std::move(files), rows,
                     {"device_id", "op_type", "core_type", "count", "total_ns", "min_ns", "avg_ns", "max_ns",
                      "ratio_percent"});
}

std::shared_ptr<Table> make_api_stat_table(std::vector<std::string> files) {
    return statistic(Model::kApiStat, CsvKind::kApiStatistic, std::move(files), {},
                     {"level", "name", "count", "total_ns", "avg_ns", "min_ns", "max_ns", "variance"});
}

std::shared_ptr<Table> make_step_time_table(std::vector<std::string> files, const CsvRows& rows) {
    return statistic(Model::kStepTime, CsvKind::kStepTraceTime, std::move(files), rows,
                     {"device_id", "step", "computing_ns", "communication_not_overlapped_ns", "overlapped_ns",
                      "communication_ns", "free_ns", "stage_ns", "bubble_ns", "preparing_ns"});
}

}  // namespace profana
