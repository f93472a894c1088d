// Joins rows of an Ascend trace: tasks of collectives, launches, marks, and kernels of the device rows.
#include <algorithm>
#include <array>

#include "vtab/ascend_tables.h"
#include "vtab/kernel_finder.h"

namespace profana {
namespace {

// What the hardware's queue holds beside kernels.
bool is_kernel_type(std::string_view type) {
    static constexpr std::string_view kKernels[] = {
        "AI_CORE",      "AI_VECTOR_CORE", "MIX_AIC",        "MIX_AIV",        "AI_CPU",
        "DSA_SQE",      "DVPP",           "FFTS_PLUS",      "FUSION",         "KERNEL_AICORE",
        "KERNEL_AIVEC", "KERNEL_AICPU",   "KERNEL_MIX_AIC", "KERNEL_MIX_AIV", "AIV_SQE"};
    return std::find(std::begin(kKernels), std::end(kKernels), type) != std::end(kKernels);
}

// Launches of one category whose start is found by `launcher`.
template <class Launcher>
void add_launch_rows(AscendTables& tables, AscendFlow kind, const char* category, int64_t id_base,
                     Launcher launcher) {
    ModelRows& rows = tables.launches;
    Column &host = rows.column("host_op_id"), &device = rows.column("device_task_id"),
           &comm = rows.column("comm_op_id");
    Column &type = rows.column("category"), &launch = rows.column("launch_ns"),
           &start = rows.column("device_ns");
    Column &connection = rows.column("connection_id"), &source = rows.column("source_row");
    const auto id = [&](uint32_t row) { return row == kNoParent ? kNullInt : id_base + row; };
    for (const FlowPair& pair : pair_flows(tables.flows, kind)) {
        const uint32_t comm_op = tables.comm_ops.places.find(pair.end.lane, pair.end.ts_ns);
        const uint32_t task =
            comm_op == kNoParent ? tables.device.places.find(pair.end.lane, pair.end.ts_ns) : kNoParent;
        host.add_int(id(launcher(pair.start)));
        device.add_int(id(task));
        comm.add_int(id(comm_op));
        type.add_text(category);
        launch.add_int(pair.start.ts_ns);
        start.add_int(pair.end.ts_ns);
        connection.add_int(pair.start.id < kTextFlowId ? kNullInt : pair.start.id);
        source.add_int(static_cast<int64_t>(pair.end.offset));
        tables.launched_task.push_back(task);
    }
}

}  // namespace

// A task belongs to the operation of its group that runs when it starts; of several the one that started
// last.
void link_comm_tasks(AscendTables& tables, int64_t id_base) {
    const CommTasks& tasks = tables.comm_tasks;
    const CommOps& ops = tables.comm_ops;
    std::vector<PageVector<uint32_t>> ops_of(tables.groups.size()), tasks_of(tables.groups.size());
    for (uint32_t row = 0; row < ops.device.size(); ++row)
        ops_of[ops.group_index.integer(row) - 1].push_back(row);
    for (uint32_t row = 0; row < tasks.plane.size(); ++row)
        if (tasks.group_index.integer(row) != kNullInt)
            tasks_of[tasks.group_index.integer(row) - 1].push_back(row);
    PageVector<uint32_t> op_of(tasks.plane.size(), kNoParent);
    for (size_t group = 0; group < tables.groups.size(); ++group) {
        PageVector<int64_t> starts, ends, times;
        for (const uint32_t op : ops_of[group]) {
            starts.push_back(ops.times.start().integer(op));
            ends.push_back(ops.times.end().integer(op));
        }
        for (const uint32_t task : tasks_of[group]) times.push_back(tasks.times.start().integer(task));
        const PageVector<uint32_t> found =
            attach_by_cursor(nest_by_cursor(starts, ends), starts, ends, times);
        for (size_t i = 0; i < found.size(); ++i)
            if (found[i] != kNoParent) op_of[tasks_of[group][i]] = ops_of[group][found[i]];
    }
    tables.comm_tasks.rows.set("comm_op_id", id_column(op_of, id_base));
}

// Ranges of the mstx interface whose other end is on the device: both get the flow's id as connection.
void link_marks(AscendTables& tables) {
    PageVector<int64_t> connections(tables.marks.thread.size(), kNullInt);
    tables.device.is_mark.assign(tables.device.device.size(), 0);
    for (const FlowPair& pair : pair_flows(tables.flows, kMarkFlow)) {
        const uint32_t mark = tables.marks.places.find(pair.start.lane, pair.start.ts_ns);
        const uint32_t task = tables.device.places.find(pair.end.lane, pair.end.ts_ns);
        if (mark != kNoParent && pair.start.id >= 0) connections[mark] = pair.start.id;
        if (task != kNoParent) tables.device.is_mark[task] = 1;
    }
    auto column = std::make_unique<Column>(ColumnType::kInt);
    column->add_ints(connections.data(), connections.size());
    tables.marks.rows.set("connection_id", std::move(column));
}

// The framework's flows tell which operator launched what. A capture without a framework has only those of
// CANN, which start at its API calls.
void add_launches(AscendTables& tables, int64_t id_base) {
    if (tables.has_launches) return;
    add_launch_rows(tables, kLaunchFlow, "async_npu", id_base, [&](const FlowEnd& start) {
        return tables.host.innermost_starting(start.ts_ns, start.lane);
    });
    if (tables.launched_task.empty()) {
        const RowsByPlace calls = tables.host.places_of_kind(tables.api_kind);
        add_launch_rows(tables, kHostToDeviceFlow, "HostToDevice", id_base,
                        [&](const FlowEnd& start) { return calls.find(start.lane, start.ts_ns); });
    }
    tables.has_launches = true;
}

void take_kernels(AscendTables& tables, int64_t id_base) {
    if (tables.has_kernels) return;
    const DeviceTasks& tasks = tables.device;
    const Column &types = tasks.rows.get("task_type"), &names = tasks.rows.get("name");
    ModelRows& rows = tables.kernels;
    TimeColumns times(rows);
    std::array<Column*, 5> numbers{};
    constexpr std::array<const char*, 5> kNumbers = {"device_id", "stream_id", "task_id", "connection_id",
                                                     "source_row"};
    for (size_t i = 0; i < kNumbers.size(); ++i) numbers[i] = &rows.column(kNumbers[i]);
    Column &name = rows.column("name"), &core = rows.column("core_type");
    Column &communication = rows.column("is_communication"), &pmu = rows.column("has_pmu");
    PageVector<uint32_t> kernel_of(tasks.device.size(), kNoParent);
    for (Row row = 0; row < tasks.device.size(); ++row) {
        const bool kernel =
            types.code(row) != kNullCode ? is_kernel_type(types.text(row)) : tasks.is_mark[row] == 0;
        if (!kernel) continue;
        kernel_of[row] = static_cast<uint32_t>(name.size());
        for (size_t i = 0; i < kNumbers.size(); ++i)
            numbers[i]->add_int(tasks.rows.get(kNumbers[i]).integer(row));
        names.code(row) == kNullCode ? name.add_null() : name.add_text(names.text(row));
        types.code(row) == kNullCode ? core.add_null() : core.add_text(types.text(row));
        times.add(tasks.times.start().integer(row), tasks.rows.get("dur_ns").integer(row));
        communication.add_int(0);
        pmu.add_int(0);
    }
    tables.device.rows.set("kernel_id", id_column(kernel_of, id_base));
    tables.has_kernels = true;
}

void link_kernels(AscendTables& tables, const Table* kernels, int64_t id_base) {
    if (!tables.device.rows.has("kernel_id") && kernels != nullptr) {
        const DeviceTasks& tasks = tables.device;
        const Column& names = tasks.rows.get("name");
        KernelFinder finder(*kernels, names);
        PageVector<uint32_t> kernel_of;
        for (Row row = 0; row < tasks.device.size(); ++row)
            kernel_of.push_back(finder.find(tasks.times.start().integer(row), names.code(row),
                                            tasks.stream.integer(row), tasks.task.integer(row)));
        tables.device.rows.set("kernel_id", id_column(kernel_of, id_base));
    }
    if (!tables.has_launches || tables.launches.has("kernel_id")) return;
    if (!tables.device.rows.has("kernel_id")) {
        tables.launches.set("kernel_id",
                            id_column(PageVector<uint32_t>(tables.launched_task.size(), kNoParent), 0));
        return;
    }
    const Column& of_task = tables.device.rows.get("kernel_id");
    auto column = std::make_unique<Column>(ColumnType::kInt);
    std::unique_ptr<KernelFinder> finder;
    if (kernels != nullptr) finder = std::make_unique<KernelFinder>(*kernels, tables.device.rows.get("name"));
    for (Row row = 0; row < tables.launched_task.size(); ++row) {
        const uint32_t task = tables.launched_task[row];
        const bool collective = tables.launches.get("comm_op_id").integer(row) != kNullInt;
        if (task != kNoParent) {
            column->add_int(of_task.integer(task));
        } else {  // the time line may lack what the kernel file has
            const uint32_t kernel = collective || !finder
                                        ? kNoParent
                                        : finder->starting(tables.launches.get("device_ns").integer(row));
            column->add_int(kernel == kNoParent ? kNullInt : id_base + kernel);
        }
    }
    tables.launches.set("kernel_id", std::move(column));
}

}  // namespace profana
