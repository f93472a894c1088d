// prof_kernel and prof_kernel_pmu: COMPUTE_TASK_INFO joined with TASK, and TASK_PMU_INFO.
#include <algorithm>
#include <cmath>

#include "vtab/db_beside.h"
#include "vtab/db_loaders.h"

namespace profana {
namespace {

void load_task_columns(Load& load, const DbTable& task) {
    KernelRows kernels(load.kernels());
    RowCopy rows(load, task);
    rows.device({"deviceId"});
    rows.integer("stream_id", {"streamId"}, NullRule::kId);
    rows.integer("task_id", {"taskId"}, NullRule::kId);
    rows.integer("connection_id", {"connectionId"}, NullRule::kConnection);
    rows.text("task_type", {"taskType"}, TextRule::kKnown);
    rows.span({"startNs"}, {"endNs"});
    rows.source_row();
    if (rows.has_columns()) rows.run([&](const DbRow&, bool) { return kernels.next() != IdMap::kNone; });
}

// Columns of COMPUTE_TASK_INFO, read in its own order and then put into that of the kernels.
class InfoColumns {
  public:
    InfoColumns(Load& load, const DbTable& table) : load_(load), table_(table), scan_(load.file, table) {}

    void text(const char* column, RowCopy::Names names, TextRule rule) {
        if (!load_.wants({column})) return;
        const int cell = scan_.cell(names);
        if (cell == kNoCell) return;
        Column* out = load_.out(column);
        texts_.push_back({cell,
                          out,
                          std::make_unique<TextCells>(load_, out->dictionary(),
                                                      table_.name + "." + *table_.column(names), rule),
                          {}});
    }

    void integer(const char* column, RowCopy::Names names) {
        if (!load_.wants({column})) return;
        const int cell = scan_.cell(names);
        if (cell != kNoCell) integers_.push_back({cell, load_.out(column), {}});
    }

    void run() {
        if (!scan_.has_cells()) return;
        scan_.run(load_.context, [&](const DbRow& row) {
            for (Text& text : texts_) text.codes.push_back(text.cells->code(row, text.cell));
            for (Integer& number : integers_)
                number.values.push_back(apply(NullRule::kId, row.integer(number.cell)));
        });
        const size_t rows = load_.kernels().info_rows;
        for (Text& text : texts_) {
            text.codes.resize(rows, kNullCode);
            for (const uint32_t row : load_.kernels().info) text.out->add_code(text.codes[row]);
            text.cells->report(load_);
        }
        for (Integer& number : integers_) {
            number.values.resize(rows, kNullInt);
            for (const uint32_t row : load_.kernels().info) number.out->add_int(number.values[row]);
        }
    }

  private:
    struct Text {
        int cell;
        Column* out;
        std::unique_ptr<TextCells> cells;
        PageVector<uint32_t> codes;
    };
    struct Integer {
        int cell;
        Column* out;
        PageVector<int64_t> values;
    };
    Load& load_;
    const DbTable& table_;
    DbScan scan_;
    std::vector<Text> texts_;
    std::vector<Integer> integers_;
};

void load_info_columns(Load& load, const DbTable& info) {
    load.kernels();
    InfoColumns columns(load, info);
    columns.text("name", {"name"}, TextRule::kKnown);
    columns.text("op_type", {"opType"}, TextRule::kKnown);
    columns.text("core_type", {"taskType"}, TextRule::kKnown);
    columns.text("input_shapes", {"inputShapes"}, TextRule::kShapes);
    columns.text("input_types", {"inputDataTypes"}, TextRule::kKnown);
    columns.text("input_formats", {"inputFormats"}, TextRule::kKnown);
    columns.text("output_shapes", {"outputShapes"}, TextRule::kShapes);
    columns.text("output_types", {"outputDataTypes"}, TextRule::kKnown);
    columns.text("output_formats", {"outputFormats"}, TextRule::kKnown);
    // Beside blockNum, blockDim is a text about threads; alone it is the number of cores.
    columns.integer("block_num", {"blockNum", "blockDim"});
    columns.integer("mix_block_num", {"mixBlockNum", "mixBlockDim"});
    columns.run();
}

// ---- counters --------------------------------------------------------------------------------------------

struct PmuColumn {
    const char* metric;
    const char* column;
};
// A counter that has had two names stands twice, one after the other.
constexpr PmuColumn kPmuColumns[] = {
    {"mac_time", "mac_time_ns"},           {"aiv_vec_time", "aiv_vec_time_ns"},
    {"aic_total_time", "aicore_time_ns"},  {"aic_mac_time", "aic_mac_time_ns"},
    {"aic_mte2_time", "aic_mte2_time_ns"}, {"aiv_total_time", "aiv_time_ns"},
    {"aiv_time", "aiv_time_ns"},
};

int64_t rounded(double value) {
    return std::isfinite(value) && std::fabs(value) < 9e18 ? static_cast<int64_t>(std::nearbyint(value))
                                                           : kNullInt;
}

// The counters that prof_kernel has as columns of their own.
void load_pmu_columns(Load& load, const DbTable& pmu) {
    const KernelJoin& kernels = load.kernels();
    const DbStrings& strings = load.strings();
    struct Wanted {
        Column* out;
        PageVector<int64_t> values;
    };
    std::vector<Wanted> columns;
    std::map<std::string_view, size_t> by_metric;
    for (const PmuColumn& column : kPmuColumns) {
        Column* out = load.out(column.column);
        if (out == nullptr) continue;
        if (columns.empty() || columns.back().out != out)
            columns.push_back({out, PageVector<int64_t>(kernels.task.size(), kNullInt)});
        by_metric.emplace(column.metric, columns.size() - 1);
    }
    Column* has_pmu = load.out("has_pmu");
    if (columns.empty() && has_pmu == nullptr) return;

    constexpr uint32_t kOther = std::numeric_limits<uint32_t>::max();
    PageVector<uint32_t> column_of(strings.size(), kOther);
    for (uint32_t place = 0; place < strings.size(); ++place) {
        const auto found = by_metric.find(strings.text(place));
        if (found != by_metric.end()) column_of[place] = static_cast<uint32_t>(found->second);
    }
    std::vector<bool> seen(kernels.task.size(), false);
    DbScan scan(load.file, pmu);
    const int task = scan.cell({"globalTaskId"});
    const int name = columns.empty() ? kNoCell : scan.cell({"name"});
    const int value = columns.empty() ? kNoCell : scan.cell({"value"});
    scan.run(load.context, [&](const DbRow& row) {
        const uint32_t kernel = kernels.by_task_id.find(row.integer(task));
        if (kernel == IdMap::kNone) return;
        seen[kernel] = true;
        if (columns.empty()) return;
        const uint32_t place = strings.find(row.integer(name));
        if (place == IdMap::kNone || column_of[place] == kOther) return;
        columns[column_of[place]].values[kernel] = rounded(row.real(value));
    });
    for (Wanted& column : columns) column.out->add_ints(column.values.data(), column.values.size());
    if (has_pmu != nullptr)
        for (const bool pmu_seen : seen) has_pmu->add_int(pmu_seen ? 1 : 0);
}

}  // namespace

KernelJoinMaker::KernelJoinMaker(Load& load) : load_(load) {
    const DbTable* info = load.file.table("COMPUTE_TASK_INFO");
    if (info == nullptr || load.file.table("TASK") == nullptr) return;
    PageVector<int64_t> ids;
    DbScan scan(load.file, *info);
    const int id = scan.cell({"globalTaskId"});
    ids.reserve(scan.expected_rows());
    scan.run(load.context, [&](const DbRow& row) { ids.push_back(row.integer(id)); });
    by_id_ = IdMap(ids);
    join_->info_rows = ids.size();
    join_->task.reserve(ids.size());
    join_->info.reserve(ids.size());
    join_->task_ids.reserve(ids.size());
}

std::unique_ptr<KernelJoin> KernelJoinMaker::finish() {
    join_->by_task_id = IdMap(join_->task_ids);
    const uint64_t repeated = by_id_.repeated();
    if (repeated > 0)
        load_.tell(Severity::kWarning, "repeated_task_id", "COMPUTE_TASK_INFO",
                   "rows of COMPUTE_TASK_INFO repeat a globalTaskId; the first of each counts", repeated);
    if (matched_ + repeated < join_->info_rows)
        load_.tell(Severity::kWarning, "kernel_without_task", "COMPUTE_TASK_INFO",
                   "rows of COMPUTE_TASK_INFO have no row in TASK, so no time: they are no kernels here",
                   join_->info_rows - matched_ - repeated);
    return std::move(join_);
}

const KernelJoin& Load::kernels() {
    return profile.kernels.get(context, [&] {
        KernelJoinMaker join(*this);
        if (const DbTable* task = file.table("TASK")) {
            DbScan scan(file, *task);
            const int id = scan.cell({"globalTaskId"});
            const int device = profile.options.device ? scan.cell({"deviceId"}) : kNoCell;
            scan.run(context, [&](const DbRow& row) {
                join.add(row.integer(id), of_device(profile.options, row, device));
            });
        }
        return join.finish();
    });
}

void load_kernel(Load& load) {
    const DbTable* task = load.file.table("TASK");
    const DbTable* info = load.file.table("COMPUTE_TASK_INFO");
    const DbTable* pmu = load.file.table("TASK_PMU_INFO");
    load.set_rows(load.kernels().task.size());
    if (task == nullptr || info == nullptr || load.wanted().empty()) return;
    load.strings();
    load.steps();
    LoadBeside of_task(load, [](Load& side) {
        if (const DbTable* table = side.file.table("TASK")) load_task_columns(side, *table);
    });
    load_info_columns(load, *info);
    of_task.finish();
    of_task.append({"device_id", "stream_id", "task_id", "connection_id", "task_type", "start_ns", "end_ns",
                    "dur_ns", "step", "source_row"});
    if (pmu != nullptr) {
        load_pmu_columns(load, *pmu);
    } else if (Column* has_pmu = load.out("has_pmu")) {
        for (size_t i = 0; i < load.kernels().task.size(); ++i) has_pmu->add_int(0);
    }
    // Collectives have tables of their own.
    if (Column* communication = load.out("is_communication"))
        for (size_t i = 0; i < load.kernels().task.size(); ++i) communication->add_int(0);
}

void load_kernel_pmu(Load& load) {
    const DbTable* pmu = load.file.table("TASK_PMU_INFO");
    if (pmu == nullptr) return load.set_rows(0);
    const KernelJoin& kernels = load.kernels();
    const DbStrings& strings = load.strings();
    DbScan scan(load.file, *pmu);
    const int task = scan.cell({"globalTaskId"}), name = scan.cell({"name"}), value = scan.cell({"value"});
    Column *kernel_id = load.out("kernel_id"), *metric = load.out("metric"), *number = load.out("value"),
           *source = load.out("source_row");
    const int rowid = source != nullptr ? scan.rowid() : kNoCell;
    std::unique_ptr<TextCells> names;
    if (metric != nullptr)
        names =
            std::make_unique<TextCells>(load, metric->dictionary(), "TASK_PMU_INFO.name", TextRule::kAsIs);

    // Bandwidths are in byte/s here, in GB/s (of 2^30 byte) in the CSV files.
    std::vector<bool> is_bandwidth(strings.size(), false);
    for (uint32_t place = 0; place < strings.size(); ++place)
        is_bandwidth[place] = strings.text(place).find("_bw") != std::string_view::npos;
    uint64_t rows = 0, lost = 0;
    scan.run(load.context, [&](const DbRow& row) {
        const uint32_t kernel = kernels.by_task_id.find(row.integer(task));
        if (kernel == IdMap::kNone) {
            ++lost;
            return;
        }
        ++rows;
        if (kernel_id != nullptr) kernel_id->add_int(load.profile.id_base + kernel);
        if (metric != nullptr) metric->add_code(names->code(row, name));
        if (source != nullptr) source->add_int(row.integer(rowid));
        if (number == nullptr) return;
        const uint32_t place = strings.find(row.integer(name));
        const double scale =
            place != IdMap::kNone && is_bandwidth[place] ? 1.0 / (1024.0 * 1024 * 1024) : 1.0;
        number->add_real(row.real(value) * scale);
    });
    if (names != nullptr) names->report(load);
    if (lost > 0 && !load.profile.options.device)
        load.tell(Severity::kInfo, "pmu_without_kernel", "TASK_PMU_INFO",
                  "rows of TASK_PMU_INFO are of tasks without a row in COMPUTE_TASK_INFO and are left out",
                  lost);
    load.set_rows(rows);
}

}  // namespace profana
