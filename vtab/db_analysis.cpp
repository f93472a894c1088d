// prof_step_time and prof_comm_bandwidth: analysis.db of torch_npu, communication_analyzer.db of msprof.
#include <algorithm>
#include <map>
#include <tuple>

#include "ext/core/decimal.h"
#include "vtab/db_loaders.h"

namespace profana {
namespace {

// 50, step50; kNullInt: no step.
int64_t step_number(std::string_view text) {
    if (text.starts_with("step")) text.remove_prefix(4);
    int64_t step = kNullInt;
    return parse_integer(text, &step) == Parsed::kExact ? step : kNullInt;
}

// A cell in us as ns. Reals become text as SQLite prints them (15 digits), so that 0.1 stays 0.1.
int64_t nanoseconds(const DbRow& row, int cell) {
    if (row.is_null(cell)) return kNullInt;
    int64_t ns = kNullInt;
    const Parsed parsed = parse_scaled(row.printed(cell), 3, &ns);
    return parsed == Parsed::kExact || parsed == Parsed::kRounded ? ns : kNullInt;
}

}  // namespace

void load_step_time(Load& load) {
    const DbTable* table = load.file.table("StepTraceTime");
    if (table == nullptr) return load.set_rows(0);
    struct Time {
        Column* out;
        int cell;
    };
    std::vector<Time> times;
    RowCopy rows(load, *table);
    rows.device({"deviceId"});
    rows.source_row();
    const auto time = [&](const char* column, const char* name) {
        if (!load.wants({column})) return;
        const int cell = rows.scan().cell({name});
        if (cell != kNoCell) times.push_back({load.out(column), cell});
    };
    time("computing_ns", "computing");
    time("communication_not_overlapped_ns", "communication_not_overlapped");
    time("overlapped_ns", "overlapped");
    time("communication_ns", "communication");
    time("free_ns", "free");
    time("stage_ns", "stage");
    time("bubble_ns", "bubble");
    time("communication_not_overlapped_exclude_receive_ns",
         "communication_not_overlapped_and_exclude_receive");
    time("preparing_ns", "preparing");
    Column* step = load.out("step");
    const int step_cell = step != nullptr ? rows.scan().cell({"step"}) : kNoCell;
    load.set_rows(rows.run([&](const DbRow& row, bool mine) {
        if (!mine) return false;
        if (step != nullptr) {
            const bool is_text = row.is_text(step_cell);
            step->add_int(is_text ? step_number(row.text(step_cell)) : row.integer(step_cell));
        }
        for (const Time& t : times) t.out->add_int(nanoseconds(row, t.cell));
        return true;
    }));
}

// ---- bandwidths ------------------------------------------------------------------------------------------

namespace {

// An operation of the analysis; CommAnalyzerTime has a row for each, CommAnalyzerBandwidth several.
using Operation = std::tuple<std::string, std::string, std::string, std::string>;  // step, type, name, group

struct OperationCells {
    int step, type, name, group;
    explicit OperationCells(DbScan& scan)
        : step(scan.cell({"step"})),
          type(scan.cell({"type"})),
          name(scan.cell({"hccl_op_name"})),
          group(scan.cell({"group_name"})) {}
    Operation of(const DbRow& row) const {
        return {std::string(row.text(step)), std::string(row.text(type)), std::string(row.text(name)),
                std::string(row.text(group))};
    }
};

struct OperationTimes {
    double elapse, wait, synchronization, idle;
};

struct Transport {
    double size, time, bandwidth, large_packets;
};

// The rows of prof_comm_bandwidth.
class Bandwidths {
  public:
    explicit Bandwidths(Load& load) : load_(load) {}
    void read_times(const DbTable& table);
    void read_transports(const DbTable& table);
    void fill();

  private:
    struct Row {
        Operation operation;
        std::string transport;  // empty: none
        Transport numbers;
        int64_t rowid;
    };
    Load& load_;
    std::map<Operation, OperationTimes> times_;
    std::vector<std::pair<Operation, int64_t>> order_;  // of CommAnalyzerTime, with the rowid
    std::set<std::pair<Operation, std::string>> seen_;
    std::vector<Row> rows_;
};

void Bandwidths::read_times(const DbTable& table) {
    DbScan scan(load_.file, table);
    const OperationCells cells(scan);
    const int elapse = scan.cell({"elapse_time", "elapsed_time"}), wait = scan.cell({"wait_time"}),
              synchronization = scan.cell({"synchronization_time"}), idle = scan.cell({"idle_time"}),
              rowid = scan.rowid();
    scan.run(load_.context, [&](const DbRow& row) {
        const Operation operation = cells.of(row);
        const OperationTimes times{row.real(elapse), row.real(wait), row.real(synchronization),
                                   row.real(idle)};
        if (times_.emplace(operation, times).second) order_.emplace_back(operation, row.integer(rowid));
    });
}

// A row for each size of package: what the transport did as a whole is the same in all of them.
void Bandwidths::read_transports(const DbTable& table) {
    DbScan scan(load_.file, table);
    const OperationCells cells(scan);
    const int transport = scan.cell({"transport_type", "band_type"}), size = scan.cell({"transit_size"}),
              time = scan.cell({"transit_time"}), bandwidth = scan.cell({"bandwidth"}),
              large = scan.cell({"large_packet_ratio"}), rowid = scan.rowid();
    scan.run(load_.context, [&](const DbRow& row) {
        const Operation operation = cells.of(row);
        const std::string name(row.text(transport));
        if (!seen_.emplace(operation, name).second) return;
        rows_.push_back({operation,
                         name,
                         {row.real(size), row.real(time), row.real(bandwidth), row.real(large)},
                         row.integer(rowid)});
    });
}

void Bandwidths::fill() {
    // An operation that moved nothing has a row too.
    for (const auto& [operation, rowid] : order_) {
        const auto any = seen_.lower_bound({operation, std::string()});
        if (any == seen_.end() || any->first != operation)
            rows_.push_back({operation, "", {kNullReal, kNullReal, kNullReal, kNullReal}, rowid});
    }
    const auto text = [](Column* column, const std::string& value) {
        if (column == nullptr) return;
        if (value.empty()) {
            column->add_null();
        } else {
            column->add_text(value);
        }
    };
    const auto real = [](Column* column, double value) {
        if (column != nullptr) column->add_real(value);
    };
    Column *step = load_.out("step"), *type = load_.out("type"), *name = load_.out("op_name"),
           *group = load_.out("group_name"), *transport = load_.out("transport"),
           *size = load_.out("transit_size_mb"), *time = load_.out("transit_time_ms"),
           *bandwidth = load_.out("bandwidth_gb_per_s"), *large = load_.out("large_packet_ratio"),
           *elapse = load_.out("elapse_time_ms"), *wait = load_.out("wait_time_ms"),
           *synchronization = load_.out("synchronization_time_ms"), *idle = load_.out("idle_time_ms"),
           *source = load_.out("source_row");
    for (const Row& row : rows_) {
        const auto& [step_text, type_text, name_text, group_text] = row.operation;
        if (step != nullptr) step->add_int(step_number(step_text));
        text(type, type_text);
        text(name, name_text);
        text(group, group_text);
        text(transport, row.transport);
        real(size, row.numbers.size);
        real(time, row.numbers.time);
        real(bandwidth, row.numbers.bandwidth);
        real(large, row.numbers.large_packets);
        const auto found = times_.find(row.operation);
        const OperationTimes times = found == times_.end()
                                         ? OperationTimes{kNullReal, kNullReal, kNullReal, kNullReal}
                                         : found->second;
        real(elapse, times.elapse);
        real(wait, times.wait);
        real(synchronization, times.synchronization);
        real(idle, times.idle);
        if (source != nullptr) source->add_int(row.rowid);
    }
    load_.set_rows(rows_.size());
}

}  // namespace

void load_comm_bandwidth(Load& load) {
    Bandwidths bandwidths(load);
    if (const DbTable* table = load.file.table("CommAnalyzerTime")) bandwidths.read_times(*table);
    if (const DbTable* table = load.file.table("CommAnalyzerBandwidth")) bandwidths.read_transports(*table);
    bandwidths.fill();
}

}  // namespace profana
