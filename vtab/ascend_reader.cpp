// Sorts the events of an Ascend trace into the model tables.
#include <algorithm>

#include "ext/core/plausible.h"
#include "vtab/ascend_tables.h"

namespace profana {
namespace {

// Kinds of events by their category; those of the device part have none.
enum EventKind : uint8_t { kPlain, kOperator, kPythonFunction, kQueue };

// Args by their number in the plan.
enum Arg : unsigned {
    kSequence,
    kForwardThread,
    kInputDims,
    kInputType,
    kCallStack,
    kCorrelation,
    kConnection,
    kTaskType,
    kStream,
    kPhysicStream,
    kTask,
    kSize,
    kOldSize,
    kCommSize,
    kTransport,
    kLink,
    kSourceRank,
    kTargetRank,
    kMarkType,
    kMarkDomain,
};

TracePlan make_plan() {
    TracePlan plan;
    plan.args = {{"Sequence number", false},  {"Fwd thread id", false}, {"Input Dims", true},
                 {"Input type", true},        {"Call stack", true},     {"correlation_id", false},
                 {"connection_id", false},    {"Task Type", true},      {"Stream Id", false},
                 {"Physic Stream Id", false}, {"Task Id", false},       {"size(B)", false},
                 {"data size(Byte)", false},  {"size(Byte)", false},    {"transport type", true},
                 {"link type", true},         {"src rank", false},      {"dst rank", false},
                 {"event_type", true},        {"domain", true}};
    plan.event_kind = [](std::string_view category, bool instant) -> uint8_t {
        if (instant) return TracePlan::kDrop;
        if (category == "cpu_op") return kOperator;
        if (category == "python_function") return kPythonFunction;
        if (category == "enqueue" || category == "dequeue") return kQueue;
        return kPlain;
    };
    plan.flow_kind = [](std::string_view category) -> uint8_t {
        if (category == "async_npu") return kLaunchFlow;
        if (category == "fwdbwd") return kForwardBackwardFlow;
        if (category == "hosttodevice") return kHostToDeviceFlow;
        if (category == "mstx") return kMarkFlow;
        return TracePlan::kDrop;
    };
    return plan;
}

constexpr int64_t kNoNumber = 4294967295;              // how CANN writes "none"
constexpr int64_t kEpochNs = 100'000'000'000'000'000;  // 1973: no capture's clock is older

int64_t known(int64_t value) {
    return value == kNoNumber || value < 0 ? kNullInt : value;
}

int64_t known_connection(int64_t value) {
    return value == 0 ? kNullInt : known(value);
}

AscendLane::Process process_of_name(std::string_view name) {
    if (name == "Ascend Hardware") return AscendLane::kHardware;
    if (name == "CANN") return AscendLane::kCann;
    if (name == "Communication" || name == "HCCL") return AscendLane::kCommunication;
    if (name == "Overlap Analysis") return AscendLane::kOverlap;
    if (name == "MindSpore" || name == "CPU OP") return AscendLane::kMindSpore;
    return AscendLane::kOther;
}

// "NPU 3" -> 3.
int64_t device_of_label(std::string_view label) {
    int64_t device = kNullInt;
    if (!label.starts_with("NPU ") || parse_integer(label.substr(4), &device) != Parsed::kExact)
        return kNullInt;
    return device;
}

// "Group 5311597047299924624 Communication" -> the id between.
std::string_view group_id(std::string_view name) {
    constexpr std::string_view kHead = "Group ", kTail = " Communication";
    if (!name.starts_with(kHead) || !name.ends_with(kTail) || name.size() < kHead.size() + kTail.size())
        return {};
    return name.substr(kHead.size(), name.size() - kHead.size() - kTail.size());
}

// hcom_allReduce__568_1_1 -> hcom_allReduce_; empty: no group hash in the name.
std::string op_type_of(std::string_view name) {
    const size_t hash = name.find("__");
    return hash == std::string_view::npos ? std::string() : std::string(name.substr(0, hash + 1));
}

bool is_api_name(std::string_view raw) {
    static constexpr std::string_view kLevels[] = {"\"AscendCL@", "\"Model@",         "\"Node@", "\"Runtime@",
                                                   "\"Hccl@",     "\"Communication@", "\"GE@"};
    return std::any_of(std::begin(kLevels), std::end(kLevels),
                       [&](std::string_view level) { return raw.starts_with(level); });
}

class Reader {
  public:
    Reader(const AscendTraceOptions& options, AscendTables& tables) : options_(options), out_(tables) {}

    void read(LoadContext& context) {
        TraceRecords records = TraceRecords::read(options_.files, make_plan(), context);
        out_.state = records.state;
        out_.unreadable = std::move(records.unreadable);
        out_.threads = records.lanes;
        describe_lanes(records);
        prepare_columns();
        prepare_flows(records);
        for (size_t b = 0; b < records.batches.size(); ++b) {
            context.progress.poll();
            take_batch(*records.batches[b], records.lane_of[b], records.base_ns[b]);
            records.batches[b].reset();
        }
        sizes_.report(options_.files.front(), context.diagnostics);
        finish();
    }

  private:
    struct Metadata {
        std::vector<std::string> process_names, labels;    // by process
        std::vector<std::string> thread_names;             // by lane
        std::vector<std::optional<int64_t>> sort_indexes;  // by lane
    };

    void describe_lanes(const TraceRecords& records);
    static Metadata read_metadata(const TraceRecords& records);
    void open_groups(const Metadata& metadata);
    void prepare_columns();
    void prepare_flows(const TraceRecords& records);
    void take_batch(const TraceRecordBatch& batch, const std::vector<uint32_t>& lane_of, int64_t base_ns);
    void take_event(const TraceRecord& event, uint32_t lane);
    void take_plain(const TraceRecord& event, uint32_t lane);
    void take_flow(const TraceFlow& flow, uint32_t lane);

    void add_operator(const TraceRecord& event, uint32_t lane, HostOps::Tree tree);
    void add_call(const TraceRecord& event, uint32_t lane, uint32_t kind, int64_t connection);
    void add_host_op(const TraceRecord& event, uint32_t lane, uint32_t kind, int64_t connection);
    void add_python_call(const TraceRecord& event, uint32_t lane);
    void add_device_task(const TraceRecord& event, uint32_t lane);
    void add_comm_op(const TraceRecord& event, uint32_t lane);
    void add_comm_task(const TraceRecord& event, uint32_t lane);
    void add_mark(const TraceRecord& event, uint32_t lane);
    void add_bar(const TraceRecord& event, uint32_t lane);
    void finish();

    bool wanted_device(uint32_t lane) const {
        const int64_t device = out_.lanes[lane].device;
        return !options_.device || device == kNullInt || device == *options_.device;
    }
    int64_t arg(const TraceRecord& event, Arg number) const { return batch_->arg(event, number); }
    uint32_t text(const TraceRecord& event, Arg number) const { return batch_->text_arg(event, number); }
    int64_t at(int64_t ts) const;
    std::string_view raw_name(const TraceRecord& event) const { return batch_->texts.text(event.name); }
    static int64_t place(const TraceRecord& event) { return static_cast<int64_t>(event.offset); }

    const AscendTraceOptions& options_;
    AscendTables& out_;
    const TraceRecordBatch* batch_ = nullptr;
    ArgSizes sizes_;
    int64_t base_ns_ = 0;
    bool cann_flows_count_ = true;
    uint32_t op_kind_ = 0, queue_kind_ = 0;
    Dictionary flow_ids_;  // that are no numbers

    struct HostColumns {
        explicit HostColumns(ModelRows& rows)
            : process(rows.column("process_id")),
              thread(rows.column("thread_id")),
              kind(rows.column("kind")),
              connection(rows.column("connection_id")),
              sequence(rows.column("sequence_number")),
              forward(rows.column("fwd_thread_id")),
              source(rows.column("source_row")),
              name(rows.column("name")),
              shapes(rows.column("input_shapes")),
              types(rows.column("input_types")),
              stack(rows.column("call_stack")) {}
        Column &process, &thread, &kind, &connection, &sequence, &forward, &source;
        TraceTextColumn name, shapes, types, stack;
    };
    HostColumns host_{out_.host.rows()};
};

Reader::Metadata Reader::read_metadata(const TraceRecords& records) {
    Metadata out;
    out.process_names.resize(records.processes);
    out.labels.resize(records.processes);
    out.thread_names.resize(records.lanes.size());
    out.sort_indexes.resize(records.lanes.size());
    std::string scratch;
    for (size_t b = 0; b < records.batches.size(); ++b) {
        const TraceRecordBatch& batch = *records.batches[b];
        for (const TraceMeta& meta : batch.metas) {
            const uint32_t lane = records.lane_of[b][meta.lane], process = records.lanes[lane].process;
            const std::string_view what = batch.texts.text(meta.name);
            const auto value = [&] {
                return std::string(decode_trace_text(batch.texts.text(meta.text), scratch));
            };
            if (what == "\"process_name\"") out.process_names[process] = value();
            if (what == "\"process_labels\"") out.labels[process] = value();
            if (what == "\"thread_name\"") out.thread_names[lane] = value();
            if (what == "\"thread_sort_index\"")
                out.sort_indexes[lane] = meta.number == kNullInt ? 0 : meta.number;
        }
    }
    return out;
}

void Reader::describe_lanes(const TraceRecords& records) {
    const Metadata metadata = read_metadata(records);
    out_.lanes.resize(records.lanes.size());
    for (size_t lane = 0; lane < out_.lanes.size(); ++lane) {
        const std::string& name = metadata.process_names[records.lanes[lane].process];
        if (!name.empty()) out_.lanes[lane].process = process_of_name(name);
        out_.lanes[lane].device = device_of_label(metadata.labels[records.lanes[lane].process]);
        if (out_.lanes[lane].device == kNullInt) out_.lanes[lane].device = options_.only_device;
    }
    open_groups(metadata);
}

// Threads of the communication process by their sort index: one whose name contains Communication holds the
// operations of a new group, those behind it are its planes. A thread without a sort index has no group,
// unless no thread has one: then they are ordered by tid.
void Reader::open_groups(const Metadata& metadata) {
    struct Thread {
        uint32_t process;
        int64_t index;
        uint32_t lane;
    };
    const auto is_comm = [&](size_t lane) {
        return out_.lanes[lane].process == AscendLane::kCommunication && !metadata.thread_names[lane].empty();
    };
    bool any_index = false;
    for (size_t lane = 0; lane < out_.lanes.size(); ++lane)
        any_index = any_index || (is_comm(lane) && metadata.sort_indexes[lane].has_value());
    std::vector<Thread> threads;
    for (uint32_t lane = 0; lane < out_.lanes.size(); ++lane) {
        if (!is_comm(lane) || (any_index && !metadata.sort_indexes[lane])) continue;
        threads.push_back({out_.threads[lane].process,
                           any_index ? *metadata.sort_indexes[lane] : out_.threads[lane].tid, lane});
    }
    std::stable_sort(threads.begin(), threads.end(), [](const Thread& a, const Thread& b) {
        return a.process != b.process ? a.process < b.process : a.index < b.index;
    });
    uint32_t process = kNoParent;
    for (const Thread& thread : threads) {
        AscendLane& lane = out_.lanes[thread.lane];
        const std::string& name = metadata.thread_names[thread.lane];
        const bool first_of_process = thread.process != process;
        process = thread.process;
        if (name.find("Communication") != std::string::npos) {
            AscendGroup group{name, "", 0};
            const auto named = options_.group_names.find(std::string(group_id(name)));
            if (named != options_.group_names.end()) group.process_group = named->second;
            out_.groups.push_back(std::move(group));
            lane.is_operation = true;
        } else if (first_of_process) {
            process = kNoParent;  // planes before any group belong to none
            continue;
        } else {
            lane.plane = ++out_.groups.back().planes;
        }
        lane.group = static_cast<int64_t>(out_.groups.size());
    }
}

void Reader::prepare_columns() {
    Dictionary& kinds = host_.kind.dictionary();
    op_kind_ = kinds.intern("op");
    queue_kind_ = kinds.intern("queue");
    out_.api_kind = kinds.intern("api");
}

// CANN's own flows tell nothing where the framework's do. Of those a start and its end are neighbours, if any
// are.
void Reader::prepare_flows(const TraceRecords& records) {
    size_t all = 0, of_cann = 0;
    const TraceFlow* last = nullptr;
    for (const auto& batch : records.batches)
        for (const TraceFlow& flow : batch->flows) {
            ++all;
            of_cann += flow.kind == kHostToDeviceFlow;
            if (flow.kind != kLaunchFlow) continue;
            if (last != nullptr && flow.id == last->id && flow.id != kNullInt &&
                flow.is_start != last->is_start)
                cann_flows_count_ = false;
            last = &flow;
        }
    out_.flows.reserve(cann_flows_count_ ? all : all - of_cann);
}

int64_t Reader::at(int64_t ts) const {
    return sum_ns(sum_ns(ts, base_ns_), ts < kEpochNs ? options_.clock_offset_ns : 0);
}

void Reader::take_batch(const TraceRecordBatch& batch, const std::vector<uint32_t>& lane_of,
                        int64_t base_ns) {
    batch_ = &batch;
    base_ns_ = base_ns;
    for (TraceTextColumn* column :
         {&host_.name, &host_.shapes, &host_.types, &host_.stack, &out_.python.names(), &out_.device.name,
          &out_.device.type, &out_.comm_ops.name, &out_.comm_tasks.name, &out_.comm_tasks.transport,
          &out_.comm_tasks.link, &out_.marks.type, &out_.marks.domain, &out_.marks.message, &out_.bars.name})
        column->start_batch(batch);
    for (const TraceRecord& event : batch.events) take_event(event, lane_of[event.lane]);
    for (const TraceFlow& flow : batch.flows) take_flow(flow, lane_of[flow.lane]);
}

void Reader::take_event(const TraceRecord& event, uint32_t lane) {
    switch (event.kind) {
        case kOperator:
            add_operator(event, lane, HostOps::Tree::kYes);
            break;
        case kPythonFunction:
            add_python_call(event, lane);
            break;
        case kQueue:
            add_call(event, lane, queue_kind_, arg(event, kCorrelation));
            break;
        default:
            take_plain(event, lane);
    }
}

// An event without a category belongs where its process says. Level0 captures leave some processes without a
// name; then the event itself must tell.
void Reader::take_plain(const TraceRecord& event, uint32_t lane) {
    switch (out_.lanes[lane].process) {
        case AscendLane::kHardware:
            add_device_task(event, lane);
            break;
        case AscendLane::kCann:
            add_call(event, lane, out_.api_kind, known_connection(arg(event, kConnection)));
            break;
        case AscendLane::kCommunication:
            if (out_.lanes[lane].is_operation)
                add_comm_op(event, lane);
            else
                add_comm_task(event, lane);
            break;
        case AscendLane::kOverlap:
            add_bar(event, lane);
            break;
        case AscendLane::kMindSpore:
            add_operator(event, lane, HostOps::Tree::kNo);
            break;
        case AscendLane::kUnnamed:
            if (is_api_name(raw_name(event)))
                add_call(event, lane, out_.api_kind, known_connection(arg(event, kConnection)));
            else if (arg(event, kStream) != kNullInt || arg(event, kPhysicStream) != kNullInt)
                add_device_task(event, lane);
            else if (text(event, kMarkType) != 0)
                add_mark(event, lane);
            break;
        case AscendLane::kOther:
            if (text(event, kMarkType) != 0) add_mark(event, lane);
            break;
    }
}

void Reader::take_flow(const TraceFlow& flow, uint32_t lane) {
    if (flow.kind == kHostToDeviceFlow && !cann_flows_count_) return;
    FlowEnd end{flow.id, at(flow.ts_ns), flow.offset, lane, flow.kind, 0, flow.is_start};
    if (flow.id == kNullInt) {
        const std::string_view raw = batch_->texts.text(flow.id_text);
        // 2^64 - 1: MindSpore has no id for this one.
        if (flow.id_text == 0 || raw == "\"18446744073709551615\"" || raw == "18446744073709551615") return;
        end.id = kNullInt + 1 + flow_ids_.intern(raw);
    }
    out_.flows.push_back(end);
}

void Reader::add_operator(const TraceRecord& event, uint32_t lane, HostOps::Tree tree) {
    const int64_t sequence = arg(event, kSequence), forward = arg(event, kForwardThread);
    add_host_op(event, lane, op_kind_, kNullInt);
    host_.sequence.add_int(sequence < 0 ? kNullInt : sequence);
    host_.forward.add_int(forward <= 0 ? kNullInt : forward);
    host_.shapes.add(text(event, kInputDims));
    host_.types.add(text(event, kInputType));
    host_.stack.add(text(event, kCallStack));
    const std::string_view raw = raw_name(event);
    const bool is_step = raw.find(kStepMark) != std::string_view::npos;
    out_.host.place(lane, tree, !is_step);
    if (!is_step) return;
    std::string scratch;
    const auto step = step_of_name(decode_trace_text(raw, scratch));
    const int64_t start = at(event.ts_ns);
    if (step) out_.steps.add(*step, start, sum_ns(start, event.dur_ns), event.offset);
}

void Reader::add_call(const TraceRecord& event, uint32_t lane, uint32_t kind, int64_t connection) {
    add_host_op(event, lane, kind, connection);
    host_.sequence.add_null();
    host_.forward.add_null();
    host_.shapes.add(0);
    host_.types.add(0);
    host_.stack.add(0);
    out_.host.place(lane, HostOps::Tree::kNo, false);
}

void Reader::add_host_op(const TraceRecord& event, uint32_t lane, uint32_t kind, int64_t connection) {
    host_.process.add_int(out_.threads[lane].pid);
    host_.thread.add_int(out_.threads[lane].tid);
    host_.name.add(event.name);
    host_.kind.add_code(kind);
    out_.host.times().add(at(event.ts_ns), event.dur_ns);
    host_.connection.add_int(connection);
    host_.source.add_int(place(event));
}

void Reader::add_python_call(const TraceRecord& event, uint32_t lane) {
    out_.python.add(out_.threads[lane].tid, lane, event.name, at(event.ts_ns), event.dur_ns, event.offset);
}

void Reader::add_device_task(const TraceRecord& event, uint32_t lane) {
    if (!wanted_device(lane)) return;
    DeviceTasks& out = out_.device;
    int64_t stream = arg(event, kStream);
    if (stream == kNullInt) stream = arg(event, kPhysicStream);
    if (stream == kNullInt) stream = out_.threads[lane].tid;
    int64_t size = arg(event, kSize);
    if (size == kNullInt) size = arg(event, kOldSize);
    size = sizes_.take(size);
    const int64_t start = at(event.ts_ns);
    out.places.add(lane, start, static_cast<uint32_t>(out.device.size()));
    out.device.add_int(out_.lanes[lane].device);
    out.stream.add_int(known(stream));
    out.task.add_int(known(arg(event, kTask)));
    out.type.add(text(event, kTaskType));
    out.name.add(event.name);
    out.times.add(start, event.dur_ns);
    out.connection.add_int(known_connection(arg(event, kConnection)));
    out.size.add_int(size);
    out.source.add_int(place(event));
}

void add_text(Column& column, const std::string& text) {
    if (text.empty())
        column.add_null();
    else
        column.add_text(text);
}

void Reader::add_comm_op(const TraceRecord& event, uint32_t lane) {
    if (!wanted_device(lane)) return;
    CommOps& out = out_.comm_ops;
    const AscendGroup& group = out_.groups[out_.lanes[lane].group - 1];
    const int64_t start = at(event.ts_ns);
    out.places.add(lane, start, static_cast<uint32_t>(out.device.size()));
    out.device.add_int(out_.lanes[lane].device);
    out.name.add(event.name);
    std::string scratch;
    add_text(out.type, op_type_of(decode_trace_text(raw_name(event), scratch)));
    out.group.add_text(group.name);
    add_text(out.process_group, group.process_group);
    out.group_index.add_int(out_.lanes[lane].group);
    out.planes.add_int(group.planes);
    out.times.add(start, event.dur_ns);
    out.connection.add_int(known_connection(arg(event, kConnection)));
    out.source.add_int(place(event));
}

void Reader::add_comm_task(const TraceRecord& event, uint32_t lane) {
    if (!wanted_device(lane)) return;
    CommTasks& out = out_.comm_tasks;
    const int64_t group = out_.lanes[lane].group;
    out.name.add(event.name);
    add_text(out.group, group == kNullInt ? std::string() : out_.groups[group - 1].name);
    out.group_index.add_int(group);
    out.plane.add_int(out_.threads[lane].tid);
    out.plane_order.add_int(out_.lanes[lane].plane);
    out.times.add(at(event.ts_ns), event.dur_ns);
    out.size.add_int(sizes_.take(known(arg(event, kCommSize))));
    out.transport.add(text(event, kTransport));
    out.link.add(text(event, kLink));
    out.source_rank.add_int(known(arg(event, kSourceRank)));
    out.target_rank.add_int(known(arg(event, kTargetRank)));
    out.source.add_int(place(event));
}

void Reader::add_mark(const TraceRecord& event, uint32_t lane) {
    Marks& out = out_.marks;
    const int64_t start = at(event.ts_ns);
    out.places.add(lane, start, static_cast<uint32_t>(out.thread.size()));
    out.thread.add_int(out_.threads[lane].tid);
    out.type.add(text(event, kMarkType));
    out.domain.add(text(event, kMarkDomain));
    out.message.add(event.name);
    out.times.add(start, event.dur_ns);
    out.source.add_int(place(event));
}

void Reader::add_bar(const TraceRecord& event, uint32_t lane) {
    if (!wanted_device(lane)) return;
    OverlapBars& out = out_.bars;
    out.device.add_int(out_.lanes[lane].device);
    out.name.add(event.name);
    out.times.add(at(event.ts_ns), event.dur_ns);
    out.source.add_int(place(event));
}

void Reader::finish() {
    out_.host.finish();
    out_.steps.finish();
    out_.device.places.finish();
    out_.comm_ops.places.finish();
    out_.marks.places.finish();
}

}  // namespace

std::unique_ptr<AscendTables> read_ascend_tables(const AscendTraceOptions& options, LoadContext& context) {
    auto tables = std::make_unique<AscendTables>();
    Reader(options, *tables).read(context);
    link_comm_tasks(*tables, options.id_base);
    link_marks(*tables);
    return tables;
}

}  // namespace profana
