// Sorts the events of a GPU trace into the model tables.
#include <algorithm>
#include <map>

#include "ext/core/ascii.h"
#include "ext/core/plausible.h"
#include "vtab/gpu_tables.h"

namespace profana {
namespace {

constexpr int64_t kNoStream = 4294967295;  // of a Context Sync

enum EventKind : uint8_t {
    kOperator,
    kAnnotation,
    kRuntime,
    kDriver,
    kPythonFunction,
    kKernel,
    kMemcpy,
    kMemset,
    kOtherDevice,  // synchronisation, annotations mirrored to the device; + index in kOtherDeviceCategories
    kInstant = 64,
};

// Rows of the device that are no work, as prof_device_task.task_type names them.
constexpr const char* kOtherDeviceCategories[] = {"gpu_user_annotation", "cuda_sync", "cuda_event",
                                                  "xpu_sync"};

enum Arg : unsigned {
    kExternalId,
    kOldExternalId,
    kCorrelation,
    kStream,
    kDevice,
    kBytesCopied,
    kInputDims,
    kInputType,
    kConcreteInputs,
    kCallStack,
    kSequence,
    kForwardThread,
    kGraphId,
    kGraphNode,
    kCollective,
    kGroupName,
    kGroupDescription,
    kBytes,
    kAddress,
    kAllocated,
    kReserved,
    kDeviceId,
    kDeviceType,
};

constexpr std::string_view kKnownLaunchFlows[] = {"ac2g", "async_gpu", "async_cpu_to_gpu", "async"};
constexpr uint8_t kLaunchFlowBase = 1;  // flow kinds: 0 forward-backward, then launch categories
constexpr int64_t kEpochNs = 100'000'000'000'000'000;  // times beyond are since 1970, not since the start

uint8_t kind_of_category(std::string_view category, bool instant) {
    if (instant) return kInstant;
    if (category == "cpu_op" || category == "operator") return kOperator;
    if (category == "user_annotation") return kAnnotation;
    if (category == "runtime" || category.ends_with("_runtime")) return kRuntime;
    if (category.ends_with("_driver")) return kDriver;
    if (category == "python_function") return kPythonFunction;
    if (category == "kernel") return kKernel;
    if (category == "gpu_memcpy" || category == "memcpy") return kMemcpy;
    if (category == "gpu_memset" || category == "memset") return kMemset;
    for (uint8_t i = 0; i < std::size(kOtherDeviceCategories); ++i)
        if (category == kOtherDeviceCategories[i]) return static_cast<uint8_t>(kOtherDevice + i);
    return TracePlan::kDrop;
}

std::vector<std::string> launch_categories(const GpuTraceOptions& options) {
    if (!options.flow_category.empty()) return {lower_case(options.flow_category)};
    return {std::begin(kKnownLaunchFlows), std::end(kKnownLaunchFlows)};
}

TracePlan make_plan(const std::vector<std::string>& categories) {
    TracePlan plan;
    plan.args = {{"External id", false},
                 {"external id", false},
                 {"correlation", false},
                 {"stream", false},
                 {"device", false},
                 {"bytes", false},
                 {"Input Dims", true},
                 {"Input type", true},
                 {"Concrete Inputs", true},
                 {"Call stack", true},
                 {"Sequence number", false},
                 {"Fwd thread id", false},
                 {"graph id", false},
                 {"graph node id", false},
                 {"Collective name", true},
                 {"Process Group Name", true},
                 {"Process Group Description", true},
                 {"Bytes", false},
                 {"Addr", false},
                 {"Total Allocated", false},
                 {"Total Reserved", false},
                 {"Device Id", false},
                 {"Device Type", false}};
    plan.event_kind = kind_of_category;
    plan.flow_kind = [categories](std::string_view category) -> uint8_t {
        if (category == "fwdbwd") return 0;
        const auto found = std::find(categories.begin(), categories.end(), category);
        if (found == categories.end()) return TracePlan::kDrop;
        return static_cast<uint8_t>(kLaunchFlowBase + (found - categories.begin()));
    };
    return plan;
}

int64_t positive(int64_t value) {
    return value > 0 ? value : kNullInt;
}

// c10::DeviceType of memory events.
std::string component_name(int64_t type, int64_t device) {
    if (type == kNullInt) return device >= 0 ? "CUDA" : "CPU";
    static const std::map<int64_t, const char*> kNames = {{0, "CPU"}, {1, "CUDA"}, {6, "HIP"}, {12, "XPU"}};
    const auto found = kNames.find(type);
    return found != kNames.end() ? found->second : "device type " + std::to_string(type);
}

// tid "stream 7" of old traces.
int64_t number_at_end(const std::string& text) {
    const size_t first = text.find_last_not_of("0123456789") + 1;
    int64_t number = kNullInt;
    if (parse_integer(std::string_view(text).substr(first), &number) != Parsed::kExact) return kNullInt;
    return number;
}

class Reader {
  public:
    Reader(const GpuTraceOptions& options, GpuTables& tables, LoadContext& context)
        : options_(options), out_(tables), context_(context) {}

    void read() {
        out_.flow_categories = launch_categories(options_);
        TraceRecords records = TraceRecords::read({options_.file}, make_plan(out_.flow_categories), context_);
        out_.threads = records.lanes;
        out_.unreadable = std::move(records.unreadable);
        base_ns_ = records.facts.base_ns.value_or(0);
        out_.facts = std::move(records.facts);
        prepare(records);
        for (size_t b = 0; b < records.batches.size(); ++b) {
            context_.progress.poll();
            take_batch(*records.batches[b], records.lane_of[b]);
            records.batches[b].reset();
        }
        sizes_.report(options_.file, context_.diagnostics);
        out_.host.finish();
        out_.steps.finish();
        out_.device.places.finish();
    }

  private:
    struct HostColumns {
        explicit HostColumns(ModelRows& rows)
            : process(rows.column("process_id")),
              thread(rows.column("thread_id")),
              kind(rows.column("kind")),
              connection(rows.column("connection_id")),
              sequence(rows.column("sequence_number")),
              forward(rows.column("fwd_thread_id")),
              external(rows.column("external_id")),
              source(rows.column("source_row")),
              name(rows.column("name")),
              shapes(rows.column("input_shapes")),
              types(rows.column("input_types")),
              concrete(rows.column("concrete_inputs")),
              stack(rows.column("call_stack")) {}
        Column &process, &thread, &kind, &connection, &sequence, &forward, &external, &source;
        TraceTextColumn name, shapes, types, concrete, stack;
    };
    struct UsageColumns {
        explicit UsageColumns(ModelRows& rows)
            : device(rows.column("device_id")),
              time(rows.column("ts_ns")),
              component(rows.column("component")),
              allocated(rows.column("allocated_bytes")),
              reserved(rows.column("reserved_bytes")),
              source(rows.column("source_row")) {}
        Column &device, &time, &component, &allocated, &reserved, &source;
    };

    void prepare(const TraceRecords& records);
    void take_batch(const TraceRecordBatch& batch, const std::vector<uint32_t>& lane_of);
    void take_event(const TraceRecord& event, uint32_t lane);
    void take_flow(const TraceFlow& flow, uint32_t lane);
    void add_host_op(const TraceRecord& event, uint32_t lane);
    void add_device_row(const TraceRecord& event, uint32_t lane);
    void add_kernel(const TraceRecord& event, int64_t device, int64_t stream, int64_t start, int64_t dur);
    void add_comm_op(const TraceRecord& event, int64_t device, int64_t stream, int64_t start, int64_t dur);
    void add_memory(const TraceRecord& event);
    void report_zero_time(const TraceRecord& event);

    int64_t arg(const TraceRecord& event, Arg number) const { return batch_->arg(event, number); }
    uint32_t text(const TraceRecord& event, Arg number) const { return batch_->text_arg(event, number); }
    int64_t at(int64_t ts) const { return sum_ns(ts, base_ns_); }
    bool wanted_device(int64_t device) const {
        return !options_.device || device == kNullInt || device == *options_.device;
    }

    const GpuTraceOptions& options_;
    GpuTables& out_;
    LoadContext& context_;
    const TraceRecordBatch* batch_ = nullptr;
    ArgSizes sizes_;
    int64_t base_ns_ = 0;
    bool zero_is_unknown_ = false;                   // other times are so large that 0 cannot be one
    std::vector<uint32_t> host_kind_, device_type_;  // codes by EventKind
    uint32_t kernel_type_ = 0;
    Dictionary flow_ids_, groups_;
    HostColumns host_{out_.host.rows()};
    UsageColumns usage_{out_.memory_usage};
};

void Reader::prepare(const TraceRecords& records) {
    for (const char* kind : {"op", "annotation", "runtime", "driver"})
        host_kind_.push_back(host_.kind.dictionary().intern(kind));
    out_.runtime_kind = host_kind_[kRuntime];
    out_.driver_kind = host_kind_[kDriver];
    device_type_.assign(kOtherDevice, 0);
    for (const auto& [kind, name] :
         {std::pair{kKernel, "kernel"}, {kMemcpy, "gpu_memcpy"}, {kMemset, "gpu_memset"}})
        device_type_[kind] = out_.device.type.dictionary().intern(name);
    for (const char* name : kOtherDeviceCategories)
        device_type_.push_back(out_.device.type.dictionary().intern(name));
    kernel_type_ = out_.kernels.type.dictionary().intern("kernel");
    int64_t latest = 0;
    for (const auto& batch : records.batches)
        for (const TraceRecord& event : batch->events) latest = std::max(latest, event.ts_ns);
    zero_is_unknown_ = latest > kEpochNs || base_ns_ != 0;
}

void Reader::take_batch(const TraceRecordBatch& batch, const std::vector<uint32_t>& lane_of) {
    batch_ = &batch;
    for (TraceTextColumn* column :
         {&host_.name, &host_.shapes, &host_.types, &host_.concrete, &host_.stack, &out_.python.names(),
          &out_.device.name, &out_.kernels.name, &out_.comm_ops.name, &out_.comm_ops.type,
          &out_.comm_ops.group, &out_.comm_ops.process_group})
        column->start_batch(batch);
    for (const TraceRecord& event : batch.events) take_event(event, lane_of[event.lane]);
    for (const TraceFlow& flow : batch.flows) take_flow(flow, lane_of[flow.lane]);
}

void Reader::take_event(const TraceRecord& event, uint32_t lane) {
    if (event.kind <= kDriver)
        add_host_op(event, lane);
    else if (event.kind == kPythonFunction)
        out_.python.add(out_.threads[lane].tid, lane, event.name, at(event.ts_ns), event.dur_ns,
                        event.offset);
    else if (event.kind == kInstant)
        add_memory(event);
    else
        add_device_row(event, lane);
}

void Reader::take_flow(const TraceFlow& flow, uint32_t lane) {
    const bool launch = flow.kind >= kLaunchFlowBase;
    FlowEnd end{flow.id,
                at(flow.ts_ns),
                flow.offset,
                lane,
                static_cast<uint8_t>(launch ? kGpuLaunch : kGpuForwardBackward),
                static_cast<uint8_t>(launch ? flow.kind - kLaunchFlowBase : 0),
                flow.is_start};
    if (flow.id == kNullInt) {
        if (flow.id_text == 0) return;
        end.id = kNullInt + 1 + flow_ids_.intern(batch_->texts.text(flow.id_text));
    }
    out_.flows.push_back(end);
}

void Reader::add_host_op(const TraceRecord& event, uint32_t lane) {
    const int64_t sequence = arg(event, kSequence), forward = arg(event, kForwardThread);
    int64_t external = arg(event, kExternalId);
    if (external == kNullInt) external = arg(event, kOldExternalId);
    host_.process.add_int(out_.threads[lane].pid);
    host_.thread.add_int(out_.threads[lane].tid);
    host_.name.add(event.name);
    host_.kind.add_code(host_kind_[event.kind]);
    out_.host.times().add(at(event.ts_ns), event.dur_ns);
    host_.connection.add_int(positive(arg(event, kCorrelation)));
    host_.sequence.add_int(sequence < 0 ? kNullInt : sequence);
    host_.forward.add_int(positive(forward));
    host_.external.add_int(positive(external));
    host_.shapes.add(text(event, kInputDims));
    host_.types.add(text(event, kInputType));
    host_.concrete.add(text(event, kConcreteInputs));
    host_.stack.add(text(event, kCallStack));
    host_.source.add_int(static_cast<int64_t>(event.offset));
    const std::string_view raw = batch_->texts.text(event.name);
    const bool in_tree = event.kind != kDriver;
    const bool is_step = event.kind <= kAnnotation && raw.find(kStepMark) != std::string_view::npos;
    out_.host.place(lane, in_tree ? HostOps::Tree::kYes : HostOps::Tree::kNo, in_tree && !is_step);
    if (!is_step) return;
    std::string scratch;
    const auto step = step_of_name(decode_trace_text(raw, scratch));
    const int64_t start = at(event.ts_ns);
    if (step) out_.steps.add(*step, start, sum_ns(start, event.dur_ns), event.offset);
}

void Reader::report_zero_time(const TraceRecord& event) {
    context_.diagnostics.add(
        {.file = options_.file,
         .offset = static_cast<int64_t>(event.offset),
         .code = "zero_time",
         .message =
             "a row of the device has ts 0 and dur 0: its time is unknown; the row counts without a time"});
}

void Reader::add_device_row(const TraceRecord& event, uint32_t lane) {
    int64_t device = arg(event, kDevice), stream = arg(event, kStream);
    if (device == kNullInt) device = out_.threads[lane].pid;
    if (!wanted_device(device)) return;
    if (stream == kNullInt) stream = out_.threads[lane].tid;
    if (stream == kNullInt) stream = number_at_end(out_.threads[lane].tid_text);
    if (stream == kNoStream) stream = kNullInt;
    int64_t start = at(event.ts_ns), dur = event.dur_ns;
    if (event.ts_ns == 0 && dur == 0 && zero_is_unknown_) {
        start = dur = kNullInt;
        report_zero_time(event);
    }
    int64_t external = arg(event, kExternalId);
    if (external == kNullInt) external = arg(event, kOldExternalId);
    GpuDeviceTasks& out = out_.device;
    out.places.add(lane, start, static_cast<uint32_t>(out.device.size()));
    out.device.add_int(device);
    out.stream.add_int(stream);
    out.type.add_code(device_type_[event.kind]);
    out.name.add(event.name);
    out.times.add(start, dur);
    out.connection.add_int(positive(arg(event, kCorrelation)));
    out.size.add_int(sizes_.take(arg(event, kBytesCopied)));
    out.source.add_int(static_cast<int64_t>(event.offset));
    out.external_id.push_back(positive(external));
    const bool kernel = event.kind == kKernel;
    const auto kernel_row = static_cast<uint32_t>(out_.kernels.device.size());
    const auto comm_row = static_cast<uint32_t>(out_.comm_ops.device.size());
    out.kernel_row.push_back(kernel ? kernel_row : kNoParent);
    out.kernel.add_int(kernel ? options_.id_base + kernel_row : kNullInt);
    if (kernel) add_kernel(event, device, stream, start, dur);
    out.comm_row.push_back(out_.comm_ops.device.size() > comm_row ? comm_row : kNoParent);
}

void Reader::add_kernel(const TraceRecord& event, int64_t device, int64_t stream, int64_t start,
                        int64_t dur) {
    const std::string_view raw = batch_->texts.text(event.name);
    const bool collective = lower_case(raw.substr(0, 5)) == "\"nccl";
    if (collective) add_comm_op(event, device, stream, start, dur);
    GpuKernels& out = out_.kernels;
    out.device.add_int(device);
    out.stream.add_int(stream);
    out.name.add(event.name);
    out.type.add_code(kernel_type_);
    out.times.add(start, dur);
    out.connection.add_int(positive(arg(event, kCorrelation)));
    out.communication.add_int(collective);
    out.pmu.add_int(0);
    out.graph.add_int(positive(arg(event, kGraphId)));
    out.node.add_int(positive(arg(event, kGraphNode)));
    out.source.add_int(static_cast<int64_t>(event.offset));
}

void Reader::add_comm_op(const TraceRecord& event, int64_t device, int64_t stream, int64_t start,
                         int64_t dur) {
    GpuCommOps& out = out_.comm_ops;
    const uint32_t group = text(event, kGroupName);
    out.device.add_int(device);
    out.name.add(event.name);
    out.type.add(text(event, kCollective));
    out.group.add(group);
    out.process_group.add(text(event, kGroupDescription));
    out.group_index.add_int(group == 0 ? kNullInt : groups_.intern(batch_->texts.text(group)));
    out.stream.add_int(stream);
    out.times.add(start, dur);
    out.connection.add_int(positive(arg(event, kCorrelation)));
    out.kernel.add_int(options_.id_base + static_cast<int64_t>(out_.kernels.device.size()));
    out.source.add_int(static_cast<int64_t>(event.offset));
}

void Reader::add_memory(const TraceRecord& event) {
    if (lower_case(batch_->texts.text(event.name)) != "\"[memory]\"") return;
    const int64_t device = arg(event, kDeviceId), time = at(event.ts_ns);
    if (options_.device && device >= 0 && device != *options_.device) return;
    usage_.device.add_int(device >= 0 ? device : kNullInt);
    usage_.time.add_int(time);
    usage_.component.add_text(component_name(arg(event, kDeviceType), device));
    usage_.allocated.add_int(sizes_.take(arg(event, kAllocated)));
    usage_.reserved.add_int(sizes_.take(arg(event, kReserved)));
    usage_.source.add_int(static_cast<int64_t>(event.offset));
    const int64_t bytes = sizes_.take(arg(event, kBytes));
    if (device >= 0 && bytes != kNullInt && time != kNullInt)
        out_.memory.push_back({time, device, bytes, arg(event, kAddress), event.offset});
}

}  // namespace

std::unique_ptr<GpuTables> read_gpu_tables(const GpuTraceOptions& options, LoadContext& context) {
    auto tables = std::make_unique<GpuTables>();
    Reader(options, *tables, context).read();
    return tables;
}

}  // namespace profana
