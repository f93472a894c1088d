// The model tables of the host, of memory, and of what the profiler says of the whole.
#include "vtab/model_specs.h"

namespace profana {
namespace {

constexpr ColumnType I = ColumnType::kInt, R = ColumnType::kReal, T = ColumnType::kText;

ModelSpec host_op_spec() {
    return model_spec(
        Model::kHostOp, "prof_host_op", "Host operators, runtime calls, annotations, queue events.",
        "Text: events cpu_op, enqueue, dequeue and those of the process CANN"
        " | Db: PYTORCH_API but for its Python calls, then CANN_API"
        " | GPU: events cpu_op, user_annotation, *_runtime and *_driver (older: Operator, Runtime)"
        " | MindSpore: events of the processes CPU OP, MindSpore and CANN | msprof: events of the process "
        "CANN",
        {{"process_id", I, "process", "Text: pid | Db: upper half of globalTid | GPU: pid"},
         {"thread_id", I, "thread", "Text: tid | Db: lower half of globalTid | GPU: tid"},
         {"name", T, "name; calls of CANN: level@name, e.g. Node@launch",
          "Text: name | Db: name; CANN_API: its level and name | GPU: name"},
         {"kind", T,
          "op, annotation (user ranges, GPU ProfilerStep), runtime (CUDA/HIP runtime), driver, api (CANN), "
          "queue",
          "Text: by category and process | Db: type | GPU: by category"},
         {"step", I, "ProfilerStep in which it starts; NULL: none",
          "Text: the last ProfilerStep# event that holds start_ns | Db: the last row of STEP_TIME that holds "
          "start_ns | GPU: as Text"},
         {"start_ns", I, "ns since the epoch (or the trace's zero)",
          "Text: ts | Db: startNs | GPU: ts + baseTimeNanoseconds"},
         {"end_ns", I, "ns, start_ns + dur_ns",
          "Text: start_ns + dur_ns | Db: endNs | GPU: start_ns + dur_ns"},
         {"dur_ns", I, "ns", "Text: dur | Db: endNs - startNs | GPU: dur"},
         id_of(
             "parent_id",
             "prof_host_op.id of the parent by the rule of the compare tool: all threads together, by start; "
             "only "
             "kinds that it takes for operators; NULL: root",
             "Text: of cpu_op events | Db: of rows of type op | GPU: of all but driver calls"),
         {"depth", I, "depth by parent_id, 0: root; NULL: not an operator for the compare tool",
          "Text: as parent_id | Db: as parent_id | GPU: as parent_id"},
         id_of(
             "thread_parent_id",
             "prof_host_op.id of the smallest event of the same thread that contains it whole; NULL: none",
             "Text: from start_ns and end_ns | Db: from start_ns and end_ns | GPU: from start_ns and end_ns"),
         {"thread_depth", I, "depth by thread_parent_id, 0: root",
          "Text: as thread_parent_id | Db: as thread_parent_id | GPU: as thread_parent_id"},
         {"input_shapes", T, "Text and Db: dims by ',', tensors by ';\\r\\n'; GPU: JSON array; NULL unknown",
          "Text: args Input Dims | Db: inputShapes | GPU: args Input Dims"},
         {"input_types", T, "as input_shapes",
          "Text: args Input type | Db: inputDtypes | GPU: args Input type"},
         {"call_stack", T, "frames by ';\\r\\n', innermost first; NULL unknown",
          "Text: args Call stack | Db: PYTORCH_CALLCHAINS by callchainId | GPU: args Call stack"},
         {"connection_id", I,
          "id of the launch (kind op, runtime, driver, api) or of the queue's entry (queue)",
          "Text: args connection_id (CANN) or correlation_id (queue) | Db: the lowest CANN id of the "
          "operator in "
          "CONNECTION_IDS, the queue's link, CANN_API.connectionId | GPU: args correlation"},
         {"sequence_number", I, "autograd sequence; NULL: none",
          "Text: args Sequence number | Db: sequenceNumber | GPU: args Sequence number"},
         {"fwd_thread_id", I, "forward thread of a backward operator; NULL: none",
          "Text: args Fwd thread id | Db: fwdThreadId | GPU: args Fwd thread id"},
         {"external_id", I, "id that ties an operator to its launches", "GPU: args External id"},
         source_row("Text: byte offset of the event | Db: rowid | GPU: byte offset of the event"),
         id_of(
             "root_id",
             "its top-level operator: highest ancestor by parent_id below the nearest ProfilerStep#, itself "
             "where "
             "that is it; NULL: a ProfilerStep#, or depth is NULL",
             "Text: as parent_id | Db: as parent_id | GPU: as parent_id"),
         {"self_ns", I,
          "ns: dur_ns less that of its children by parent_id (ProfilerStep# not counted), negative where "
          "children outlast it; NULL: depth is NULL",
          "Text: as parent_id | Db: as parent_id | GPU: as parent_id"},
         {"concrete_inputs", T,
          "the operator's scalar arguments, a JSON array beside input_shapes; NULL unknown",
          "GPU: args Concrete Inputs"},
         {"kernel_count", I,
          "how many kernels it launched itself, collectives among them; NULL: what was launched is unknown",
          "Text: prof_launch | Db: prof_launch | GPU: prof_launch"},
         {"kernel_names", T,
          "names of the kernels that it launched itself, by ', ', in order of start_ns, then id; collectives "
          "(is_communication) are left out; NULL: none",
          "Text: prof_launch and prof_kernel | Db: prof_launch and prof_kernel | GPU: prof_launch and "
          "prof_kernel"},
         {"kernel_ns", I, "ns, sum of dur_ns of those kernels; 0: none; NULL: unknown, or beyond 64 bits",
          "Text: prof_launch and prof_kernel | Db: prof_launch and prof_kernel | GPU: prof_launch and "
          "prof_kernel"}});
}

ModelSpec launch_spec() {
    return model_spec(
        Model::kLaunch, "prof_launch",
        "Which host operator started which device work; a row per pair, in order of first appearance.",
        "Text: flows async_npu (torch_to_npu) of trace_view.json; where there are none, flows HostToDevice, "
        "which "
        "start at calls of CANN"
        " | Db: CONNECTION_IDS of the operators with TASK and COMMUNICATION_OP of the same connectionId"
        " | GPU: flows ac2g (older: async_gpu, async; option gpu_flow_cat), then correlation ids for work "
        "that no "
        "flow leads to (graph launches), then External id",
        {id_of("host_op_id",
               "prof_host_op.id of the innermost operator bound to the launch; NULL: none found",
               "Text: the operator that starts with the flow | Db: the operator whose connection it is | "
               "GPU: the "
               "call, or the operator around a driver call"),
         id_of("device_task_id", "prof_device_task.id; NULL: a collective or not found",
               "Text: the event that starts with the flow's end | Db: TASK | GPU: the event that starts with "
               "the "
               "flow's "
               "end, or has the correlation id"),
         id_of("kernel_id", "prof_kernel.id; NULL: not a kernel",
               "Text: of device_task_id, else the kernel that starts at device_ns | Db: of device_task_id | "
               "GPU: "
               "of "
               "device_task_id"),
         id_of("comm_op_id", "prof_comm_op.id; NULL: not a collective",
               "Text: the operation that starts with the flow's end | Db: COMMUNICATION_OP | GPU: of "
               "device_task_id"),
         {"category", T, "async_npu, HostToDevice; connection; ac2g, async_gpu, correlation, external_id",
          "Text: the flows' category | Db: connection | GPU: the flows' category, correlation or "
          "external_id"},
         {"launch_ns", I, "ns, start of the launching event (Db: of the operator)",
          "Text: ts of the flow's start | Db: start_ns of the operator | GPU: ts of the flow's start, or of "
          "the "
          "call"},
         {"device_ns", I, "ns, start of the device work",
          "Text: ts of the flow's end | Db: startNs | GPU: ts of the flow's end, or of the event"},
         id_of("runtime_op_id", "prof_host_op.id of the runtime or driver call; NULL: none", "GPU: the call"),
         {"connection_id", I, "flow, connection or correlation id",
          "Text: the flow's id | Db: connectionId | GPU: the flow's id, correlation or External id"},
         source_row("Text: byte offset of the flow's end | Db: rowid of TASK; where comm_op_id is given, of "
                    "COMMUNICATION_OP | GPU: byte offset of the flow's end, or of the device's event")});
}

ModelSpec python_call_spec() {
    return model_spec(
        Model::kPythonCall, "prof_python_call", "Python functions and nn.Module calls.",
        "Text: events python_function (option with_stack or with_modules of the profiler)"
        " | Db: rows of PYTORCH_API of type trace"
        " | GPU: events python_function",
        {{"thread_id", I, "thread", "Text: tid | Db: lower half of globalTid | GPU: tid"},
         {"name", T, "file(line): function, or nn.Module: Class_0", "Text: name | Db: name | GPU: name"},
         {"start_ns", I, "ns since the epoch (or the trace's zero)",
          "Text: ts | Db: startNs | GPU: ts + baseTimeNanoseconds"},
         {"end_ns", I, "ns", "Text: start_ns + dur | Db: endNs | GPU: start_ns + dur"},
         id_of(
             "parent_id",
             "prof_python_call.id of the smallest call of the thread that contains it whole; NULL: root",
             "Text: from start_ns and end_ns | Db: from start_ns and end_ns | GPU: from start_ns and end_ns"),
         {"depth", I, "depth by parent_id, 0: root",
          "Text: as parent_id | Db: as parent_id | GPU: as parent_id"},
         {"is_module", I, "1: an nn.Module; 0: a function",
          "Text: the name begins with nn.Module: | Db: the name begins with nn.Module: | GPU: the name "
          "begins with "
          "nn.Module:"},
         source_row("Text: byte offset of the event | Db: rowid | GPU: byte offset of the event")});
}

ModelSpec fwd_bwd_spec() {
    return model_spec(
        Model::kFwdBwd, "prof_fwd_bwd",
        "Forward operators and the backward operators they lead to, in order of the flow's end.",
        "Text: flows fwdbwd | Db: pairs of operators that share a link of CONNECTION_IDS which no third has"
        " | GPU: flows fwdbwd",
        {{"forward_ns", I, "ns, start of the forward operator; NULL: the flow has no start",
          "Text: ts of the flow's start | Db: startNs of the earlier operator | GPU: ts of the flow's start"},
         {"backward_ns", I, "ns, start of the backward operator",
          "Text: ts of the flow's end | Db: startNs of the later operator | GPU: ts of the flow's end"},
         {"backward_thread_id", I, "thread of the backward operator; NULL: not known",
          "Text: tid of the flow's end | GPU: tid of the flow's end"},
         {"backward_process_id", I, "its process",
          "Text: pid of the flow's end | Db: upper half of globalTid | GPU: pid of the flow's end"},
         {"flow_id", I, "id of the flow", "Text: id | Db: connectionId | GPU: id"},
         source_row(
             "Text: byte offset of the flow's end | Db: rowid of CONNECTION_IDS, the later operator's | "
             "GPU: byte offset of the flow's end")});
}

ModelSpec step_spec() {
    return model_spec(
        Model::kStep, "prof_step", "The steps that the schedule of the profiler marked.",
        "Text: events ProfilerStep#N | Db: STEP_TIME | GPU: events ProfilerStep#N",
        {{"step", I, "N", "Text: N of the name | Db: id | GPU: N of the name"},
         {"start_ns", I, "ns, on the host", "Text: ts | Db: startNs | GPU: ts + baseTimeNanoseconds"},
         {"end_ns", I, "ns, on the host", "Text: ts + dur | Db: endNs | GPU: start_ns + dur"},
         source_row("Text: byte offset of the event | Db: rowid | GPU: byte offset of the event")});
}

ModelSpec memory_alloc_spec() {
    return model_spec(
        Model::kMemoryAlloc, "prof_memory_alloc", "Blocks of device memory from allocation to release.",
        "Text: operator_memory.csv"
        " | Db: OP_MEMORY; without it NPU_OP_MEM, allocate and release paired by operator, address and device"
        " | GPU: [memory] events of a device, paired by address",
        {{"device_id", I, "device",
          "Text: N of Device Type NPU:N | Db: deviceId | GPU: args Device Id"
          " | msprof: Device_id"},
         {"name", T, "operator that the file names; cann:: stands before those of CANN",
          "Text: Name | Db: name or operatorName"},
         {"size_bytes", I, "bytes; negative: a free without its allocation",
          "Text: Size(KB) * 1024 | Db: size | GPU: args Bytes"},
         {"alloc_ns", I, "ns; NULL: allocated before the profile",
          "Text: Allocation Time(us) | Db: allocationTime, or timestampNs of allocate | GPU: ts of the "
          "allocation"},
         {"release_ns", I, "ns; NULL: not released",
          "Text: Release Time(us) | Db: releaseTime, or timestampNs of release | GPU: ts of the release | "
          "msprof: "
          "alloc_ns + Duration(us)"},
         {"dur_ns", I, "ns, release_ns - alloc_ns; NULL: not released",
          "Text: release_ns - alloc_ns | Db: release_ns - alloc_ns | GPU: release_ns - alloc_ns"},
         {"attach_ns", I, "ns: when the host asked for it; NULL: not found",
          "Text: alloc_ns; of cann:: blocks the start of the Enqueue event whose Dequeue runs at alloc_ns | "
          "Db: as "
          "Text | GPU: alloc_ns"},
         id_of("host_op_id",
               "prof_host_op.id of the operator that runs at attach_ns, by parent_id's rule; NULL: none",
               "Text: from attach_ns | Db: from attach_ns | GPU: from attach_ns"),
         {"stream_ptr", I, "stream handle; NULL unknown", "Text: Stream Ptr | Db: streamPtr"},
         source_row(
             "Text: line of the CSV file | Db: rowid | GPU: byte offset of the event of the allocation")});
}

ModelSpec memory_usage_spec() {
    return model_spec(
        Model::kMemoryUsage, "prof_memory_usage", "Memory in use over time.",
        "Text: memory_record.csv"
        " | Db: MEMORY_RECORD, else NPU_OP_MEM; then the rows app of NPU_MEM"
        " | GPU: [memory] events",
        {{"device_id", I, "device; NULL: host",
          "Text: N of Device Type NPU:N | Db: deviceId | GPU: args Device Id | msprof: Device_id"},
         {"ts_ns", I, "ns since the epoch (or the trace's zero)",
          "Text: Timestamp(us) | Db: timestamp or timestampNs | GPU: ts + baseTimeNanoseconds"},
         {"component", T, "PTA, GE, PTA+GE, APP, WORKSPACE, MindSpore ...; GPU: CUDA, HIP, XPU, CPU",
          "Text: Component | Db: component; NPU_MEM: APP | GPU: by args Device Type"},
         {"allocated_bytes", I, "bytes",
          "Text: Total Allocated(MB) * 1024^2 | Db: totalAllocated or totalAllocate | GPU: args Total "
          "Allocated"
          " | msprof: Total Allocated(KB) * 1024"},
         {"reserved_bytes", I, "bytes",
          "Text: Total Reserved(MB) * 1024^2 | Db: totalReserved or totalReserve; NPU_MEM: hbm + ddr | GPU: "
          "args "
          "Total Reserved | msprof: Total Reserved(KB) * 1024"},
         {"active_bytes", I, "bytes", "Text: Total Active(MB) * 1024^2 | Db: totalActive | msprof: NULL"},
         source_row("Text: line of the CSV file | Db: rowid | GPU: byte offset of the event")});
}

ModelSpec mstx_range_spec() {
    return model_spec(
        Model::kMstxRange, "prof_mstx_range", "Marks and ranges of the mstx interface.",
        "Text: events with args event_type of the process that is named after the application | Db: "
        "MSTX_EVENTS",
        {{"thread_id", I, "thread", "Text: tid | Db: lower half of globalTid"},
         {"event_type", T, "start/end, push/pop, marker, marker_ex",
          "Text: args event_type | Db: eventType by ENUM_MSTX_EVENT_TYPE"},
         {"domain", T, "mfu_flops, Module, communication, default ...", "Text: args domain | Db: domainId"},
         {"message", T, "message, escaped JSON unescaped", "Text: name | Db: message"},
         {"start_ns", I, "ns since the epoch", "Text: ts | Db: startNs"},
         {"end_ns", I, "ns", "Text: start_ns + dur | Db: endNs"},
         {"connection_id", I, "link to the device's mark; NULL: host only",
          "Text: id of the flow MsTx | Db: connectionId"},
         source_row("Text: byte offset of the event | Db: rowid")});
}

ModelSpec api_stat_spec() {
    return model_spec(
        Model::kApiStat, "prof_api_stat", "Statistics of the calls of CANN.",
        "Text: api_statistic.csv | Db: computed from CANN_API",
        {{"level", T, "acl, model, node, communication, runtime", "Text: Level | Db: type by ENUM_API_TYPE"},
         {"name", T, "API", "Text: API Name | Db: name"},
         {"count", I, "calls", "Text: Count | Db: rows"},
         {"total_ns", I, "ns", "Text: Time(us) | Db: sum of endNs - startNs"},
         {"avg_ns", I, "ns", "Text: Avg(us) | Db: total_ns / calls, half to even"},
         {"min_ns", I, "ns", "Text: Min(us) | Db: shortest"},
         {"max_ns", I, "ns", "Text: Max(us) | Db: longest"},
         {"variance", R, "us^2", "Text: Variance | Db: of the population"},
         source_row("Text: line of the CSV file")});
}

ModelSpec step_time_spec() {
    return model_spec(
        Model::kStepTime, "prof_step_time", "What each step's time went to, as the profiler sums it up.",
        "Text: step_trace_time.csv | Db: StepTraceTime of analysis.db",
        {{"device_id", I, "device", "Text: Device_id, else the capture's only device | Db: deviceId"},
         {"step", I, "NULL: no step markers", "Text: Step | Db: step"},
         {"computing_ns", I, "ns", "Text: Computing | Db: computing"},
         {"communication_not_overlapped_ns", I, "ns",
          "Text: Communication(Not Overlapped) | Db: communication_not_overlapped"},
         {"overlapped_ns", I, "ns", "Text: Overlapped | Db: overlapped"},
         {"communication_ns", I, "ns", "Text: Communication | Db: communication"},
         {"free_ns", I, "ns", "Text: Free | Db: free"},
         {"stage_ns", I, "ns", "Text: Stage | Db: stage"},
         {"bubble_ns", I, "ns", "Text: Bubble | Db: bubble"},
         {"communication_not_overlapped_exclude_receive_ns", I, "ns",
          "Text: Communication(Not Overlapped and Exclude Receive) | Db: "
          "communication_not_overlapped_and_exclude_receive"},
         {"preparing_ns", I, "ns", "Text: Preparing | Db: preparing"},
         source_row("Text: line of the CSV file | Db: rowid")});
}

ModelSpec process_group_spec() {
    return model_spec(
        Model::kProcessGroup, "prof_process_group", "Communication groups and their names.",
        "Text: parallel_group_info of profiler_metadata.json | Db: parallel_group_info of META_DATA"
        " | GPU: pg_config of distributedInfo",
        {{"group_id", T, "communicator name or group hash as events name it",
          "Text: key | Db: key, or its hash where the operations go by it | GPU: pg_name"},
         {"group_name", T, "tp, dp, default_group ...; '' where the file gives none",
          "Text: group_name | Db: group_name | GPU: pg_desc"},
         {"group_rank", I, "own rank in the group; NULL unknown",
          "Text: group_rank | Db: group_rank | GPU: place of the own rank in ranks"},
         {"ranks", T, "JSON array of global ranks; NULL unknown",
          "Text: global_ranks | Db: global_ranks | GPU: ranks"},
         source_row(
             "Text: place in parallel_group_info, from 1 | Db: as Text | GPU: place in pg_config, from 1")});
}

}  // namespace

std::vector<ModelSpec> host_model_specs() {
    return {host_op_spec(),  launch_spec(),       python_call_spec(),  fwd_bwd_spec(),
            step_spec(),     memory_alloc_spec(), memory_usage_spec(), mstx_range_spec(),
            api_stat_spec(), step_time_spec(),    process_group_spec()};
}

}  // namespace profana
