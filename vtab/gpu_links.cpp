// Joins rows of a GPU trace: launches to their work, allocations to their release.
#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "ext/core/plausible.h"
#include "vtab/gpu_tables.h"

namespace profana {
namespace {

class LaunchWriter {
  public:
    LaunchWriter(GpuTables& tables, int64_t id_base)
        : tables_(tables),
          id_base_(id_base),
          rows_(tables.launches),
          linked_(tables.device.external_id.size(), 0) {}

    // A launch at `launch_ns` by `op` through `call` that started the work in a device row (kNoParent: work
    // that is not in the file). `source`: of the event that tells so.
    void add(uint32_t op, uint32_t call, uint32_t task, const std::string& category, int64_t launch_ns,
             int64_t device_ns, int64_t connection, int64_t source) {
        const GpuDeviceTasks& device = tables_.device;
        host_.add_int(id(op));
        runtime_.add_int(id(call));
        task_.add_int(id(task));
        kernel_.add_int(task == kNoParent ? kNullInt : id(device.kernel_row[task]));
        comm_.add_int(task == kNoParent ? kNullInt : id(device.comm_row[task]));
        category_.add_text(category);
        launch_.add_int(launch_ns);
        device_.add_int(device_ns);
        connection_.add_int(connection);
        source_.add_int(source);
        if (task != kNoParent) linked_[task] = 1;
    }
    bool linked(uint32_t task) const { return linked_[task] != 0; }

  private:
    int64_t id(uint32_t row) const { return row == kNoParent ? kNullInt : id_base_ + row; }

    GpuTables& tables_;
    int64_t id_base_;
    ModelRows& rows_;
    std::vector<char> linked_;
    Column &host_ = rows_.column("host_op_id"), &runtime_ = rows_.column("runtime_op_id"),
           &task_ = rows_.column("device_task_id"), &kernel_ = rows_.column("kernel_id"),
           &comm_ = rows_.column("comm_op_id"), &category_ = rows_.column("category"),
           &launch_ = rows_.column("launch_ns"), &device_ = rows_.column("device_ns"),
           &connection_ = rows_.column("connection_id"), &source_ = rows_.column("source_row");
};

bool has_kind(const GpuTables& tables, uint32_t row, uint32_t kind) {
    return row != kNoParent && tables.host.rows().get("kind").code(row) == kind;
}

// The operator that a runtime or driver call counts for: the compare tool's tree has runtime calls as nodes
// of their own; a driver call is not in it and belongs to the operator around it.
uint32_t operator_of_call(const GpuTables& tables, uint32_t call) {
    if (call == kNoParent || has_kind(tables, call, tables.runtime_kind)) return call;
    return tables.host.operator_around(call);
}

void link_by_flows(const GpuTables& tables, LaunchWriter& out) {
    const RowsByPlace drivers = tables.host.places_of_kind(tables.driver_kind);
    for (const FlowPair& pair : pair_flows(tables.flows, kGpuLaunch)) {
        const FlowEnd& start = pair.start;
        uint32_t op = tables.host.innermost_starting(start.ts_ns, start.lane), call = op;
        if (!has_kind(tables, op, tables.runtime_kind)) {
            call = drivers.find(start.lane, start.ts_ns);
            if (op == kNoParent && call != kNoParent) op = tables.host.operator_around(call);
        }
        const uint32_t task = tables.device.places.find(pair.end.lane, pair.end.ts_ns);
        out.add(op, call, task, tables.flow_categories[start.category], start.ts_ns, pair.end.ts_ns,
                start.id < kTextFlowId ? kNullInt : start.id, static_cast<int64_t>(pair.end.offset));
    }
}

// Work that no flow leads to: by the correlation id of its launch call. One call may start many kernels (a
// graph), of which the flows name one at most. Where the file has launch flows, a call counts only if it has
// one too: flows of other categories are not wanted.
void link_by_correlation(const GpuTables& tables, const GpuTraceOptions& options, LaunchWriter& out) {
    std::unordered_set<int64_t> flow_ids;
    for (const FlowEnd& flow : tables.flows)
        if (flow.kind == kGpuLaunch && flow.is_start) flow_ids.insert(flow.id);
    const bool any_call = flow_ids.empty() && options.flow_category.empty();
    const Column &kind = tables.host.rows().get("kind"),
                 &connection = tables.host.rows().get("connection_id");
    const Column& external = tables.host.rows().get("external_id");
    std::unordered_map<int64_t, uint32_t> calls, operators;
    for (Row row = 0; row < kind.size(); ++row) {
        const bool call = kind.code(row) == tables.runtime_kind || kind.code(row) == tables.driver_kind;
        if (call && connection.integer(row) != kNullInt) calls[connection.integer(row)] = row;
        if (!call && external.integer(row) != kNullInt) operators.emplace(external.integer(row), row);
    }
    const GpuDeviceTasks& device = tables.device;
    for (Row task = 0; task < device.external_id.size(); ++task) {
        if (out.linked(task)) continue;
        const int64_t correlation = device.connection.integer(task),
                      start = device.times.start().integer(task), source = device.source.integer(task);
        if (!any_call && flow_ids.count(correlation) == 0) continue;
        const auto call = correlation == kNullInt ? calls.end() : calls.find(correlation);
        if (call != calls.end()) {
            out.add(operator_of_call(tables, call->second), call->second, task, "correlation",
                    tables.host.start().integer(call->second), start, correlation, source);
            continue;
        }
        const auto op = operators.find(device.external_id[task]);
        if (!any_call || op == operators.end() || device.external_id[task] == kNullInt) continue;
        out.add(op->second, kNoParent, task, "external_id", tables.host.start().integer(op->second), start,
                device.external_id[task], source);
    }
}

}  // namespace

void add_gpu_launches(GpuTables& tables, const GpuTraceOptions& options) {
    if (tables.has_launches) return;
    LaunchWriter out(tables, options.id_base);
    link_by_flows(tables, out);
    link_by_correlation(tables, options, out);
    tables.has_launches = true;
}

// Allocations and releases of one address, by time. A release of another size loses its block; a second
// allocation leaves the first unreleased; blocks come in the order of their release, the unreleased last.
void add_gpu_memory_blocks(GpuTables& tables, const GpuTraceOptions& options) {
    if (tables.has_memory_alloc) return;
    struct Block {
        int64_t device, size, alloc, release;
        uint64_t offset;
        bool open;
    };
    std::vector<GpuMemoryEvent> events = tables.memory;
    std::stable_sort(events.begin(), events.end(),
                     [](const GpuMemoryEvent& a, const GpuMemoryEvent& b) { return a.time < b.time; });
    std::vector<Block> blocks;
    std::vector<size_t> done;
    std::unordered_map<int64_t, size_t> open;  // by address
    for (const GpuMemoryEvent& event : events) {
        const auto found = open.find(event.address);
        const bool is_open = found != open.end();
        if (event.bytes > 0) {
            if (is_open) {
                done.push_back(found->second);
                blocks[found->second].open = false;
            }
            open[event.address] = blocks.size();
            blocks.push_back({event.device, event.bytes, event.time, kNullInt, event.offset, true});
        } else if (event.bytes < 0 && is_open) {
            Block& block = blocks[found->second];
            block.open = false;
            if (event.bytes == -block.size) {
                block.release = event.time;
                done.push_back(found->second);
            }
            open.erase(found);
        }
    }
    for (size_t i = 0; i < blocks.size(); ++i)
        if (blocks[i].open) done.push_back(i);
    ModelRows& rows = tables.memory_alloc;
    Column &device = rows.column("device_id"), &size = rows.column("size_bytes"),
           &alloc = rows.column("alloc_ns");
    Column &release = rows.column("release_ns"), &dur = rows.column("dur_ns"),
           &attach = rows.column("attach_ns");
    Column& source = rows.column("source_row");
    PageVector<int64_t> times;
    for (const size_t i : done) {
        const Block& block = blocks[i];
        device.add_int(block.device);
        size.add_int(block.size);
        alloc.add_int(block.alloc);
        release.add_int(block.release);
        dur.add_int(duration_ns(block.alloc, block.release));
        attach.add_int(block.alloc);
        source.add_int(static_cast<int64_t>(block.offset));
        times.push_back(block.alloc);
    }
    rows.set("host_op_id", tables.host.attach(times, options.id_base));
    tables.has_memory_alloc = true;
}

}  // namespace profana
