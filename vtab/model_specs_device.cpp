// The model tables of the device: kernels, tasks, collectives.
#include "vtab/model_specs.h"

namespace profana {
namespace {

constexpr ColumnType I = ColumnType::kInt, R = ColumnType::kReal, T = ColumnType::kText;

ModelSpec kernel_spec() {
    return model_spec(
        Model::kKernel, "prof_kernel", "Device kernels, a row each.",
        "Text: kernel_details.csv; without one that can be read the kernels among the rows of Ascend "
        "Hardware in "
        "trace_view.json"
        " | Db: COMPUTE_TASK_INFO with its row of TASK (globalTaskId)"
        " | GPU: events of category kernel"
        " | msprof: op_summary_*.csv; without one that can be read msprof_*.json",
        {{"device_id", I, "device",
          "Text: Device_id, else the capture's only device | Db: TASK.deviceId | GPU: args device, else pid"},
         {"stream_id", I, "stream; 0 is a stream",
          "Text: Stream ID | Db: TASK.streamId | GPU: args stream, else tid"},
         {"name", T, "kernel name", "Text: Name | Db: name | GPU: name | msprof: Op Name"},
         {"op_type", T, "operator type, e.g. MatMulV3; NULL where the source has none (GPU, Level0)",
          "Text: Type | Db: opType | msprof: OP Type"},
         {"core_type", T,
          "accelerator core: AI_CORE, AI_VECTOR_CORE, MIX_AIC, MIX_AIV, AI_CPU, COMMUNICATION ...",
          "Text: Accelerator Core | Db: taskType | msprof: Task Type"},
         {"task_type", T, "what the device's queue saw: KERNEL_AICORE ... (Db), category (GPU: kernel)",
          "Db: TASK.taskType | GPU: the category"},
         {"step", I, "ProfilerStep number; NULL: none",
          "Text: Step Id | Db: the last row of STEP_TIME that holds start_ns | GPU: the last ProfilerStep# "
          "event "
          "that holds start_ns | msprof: NULL"},
         {"start_ns", I, "ns since the epoch (or the trace's zero)",
          "Text: Start Time(us) | Db: TASK.startNs | GPU: ts + baseTimeNanoseconds | msprof: Task Start "
          "Time(us)"},
         {"end_ns", I, "ns, start_ns + dur_ns",
          "Text: start_ns + dur_ns | Db: TASK.endNs | GPU: start_ns + dur_ns"},
         {"dur_ns", I, "ns",
          "Text: Duration(us) | Db: TASK.endNs - startNs | GPU: dur | msprof: Task Duration(us)"},
         {"wait_ns", I, "ns between the previous kernel's end and this start, as the profiler gives it",
          "Text: Wait Time(us) | msprof: Task Wait Time(us)"},
         {"task_id", I, "hardware task id", "Text: Task ID | Db: TASK.taskId"},
         {"connection_id", I, "id of the launch that links host and device",
          "Text: args connection_id, where prof_kernel is made of the trace | Db: TASK.connectionId | GPU: "
          "args "
          "correlation"},
         {"block_num", I, "cores asked for", "Text: Block Num or Block Dim | Db: blockNum or blockDim"},
         {"mix_block_num", I, "cores asked for by the second half of a mixed kernel",
          "Text: Mix Block Num or Mix Block Dim | Db: mixBlockNum or mixBlockDim"},
         {"input_shapes", T, "dims by ',', tensors by ';'; '' is a scalar, NULL unknown",
          "Text: Input Shapes | Db: inputShapes"},
         {"input_types", T, "data types by ';'", "Text: Input Data Types | Db: inputDataTypes"},
         {"input_formats", T, "formats by ';'", "Text: Input Formats | Db: inputFormats"},
         {"output_shapes", T, "as input_shapes", "Text: Output Shapes | Db: outputShapes"},
         {"output_types", T, "as input_types", "Text: Output Data Types | Db: outputDataTypes"},
         {"output_formats", T, "as input_formats", "Text: Output Formats | Db: outputFormats"},
         {"is_communication", I, "1: a collective's row (kernel_details) or an NCCL/RCCL kernel (GPU)",
          "Text: core_type is COMMUNICATION or HCCL | Db: 0, collectives are in prof_comm_op | GPU: the name "
          "begins with nccl"},
         {"mac_time_ns", I, "PMU, ns: cube pipe, unsplit chips; NULL: not measured",
          "Text: mac_time(us) | Db: TASK_PMU_INFO mac_time"},
         {"aiv_vec_time_ns", I, "PMU, ns: vector pipe of the vector cores",
          "Text: aiv_vec_time(us) | Db: TASK_PMU_INFO aiv_vec_time"},
         {"aicore_time_ns", I, "PMU, ns: time on the AI (cube) cores",
          "Text: aicore_time(us) | Db: TASK_PMU_INFO aic_total_time"},
         {"aic_mac_time_ns", I, "PMU, ns: cube pipe, split chips",
          "Text: aic_mac_time(us) | Db: TASK_PMU_INFO aic_mac_time"},
         {"aic_mte2_time_ns", I, "PMU, ns: MTE2 pipe of the cube cores",
          "Text: aic_mte2_time(us) | Db: TASK_PMU_INFO aic_mte2_time"},
         {"aiv_time_ns", I, "PMU, ns: time on the vector cores",
          "Text: aiv_time(us) | Db: TASK_PMU_INFO aiv_total_time or aiv_time"},
         {"has_pmu", I, "1: the source has any PMU record for this kernel; 0: none",
          "Text: a counter of the row has a value | Db: the task has rows in TASK_PMU_INFO | GPU: 0"},
         {"graph_id", I, "graph of a graph launch; NULL: no graph", "GPU: args graph id"},
         {"graph_node_id", I, "node in the graph; NULL: no graph", "GPU: args graph node id"},
         source_row("Text: line of the CSV file, or byte offset of the event | Db: rowid of TASK | GPU: byte "
                    "offset of the event")});
}

ModelSpec kernel_pmu_spec() {
    return model_spec(
        Model::kKernelPmu, "prof_kernel_pmu", "Every PMU value of every kernel, long form.",
        "Text: the counters' columns of kernel_details.csv, those with unknown heads too"
        " | Db: TASK_PMU_INFO of the tasks in COMPUTE_TASK_INFO"
        " | msprof: the counters' columns of op_summary_*.csv",
        {id_of("kernel_id", "prof_kernel.id", "Text: the row's own | Db: globalTaskId"),
         {"metric", T, "name without unit, in lower case: aic_mac_ratio, cube_utilization ...",
          "Text: the column's head | Db: name"},
         {"value", R,
          "times in ns, bandwidths in GB/s, ratios 0..1, utilization in percent, others as written",
          "Text: the cell, times * 1000 | Db: value, bandwidths / 1024^3"},
         source_row("Text: line of the CSV file | Db: rowid")});
}

ModelSpec device_task_spec() {
    return model_spec(
        Model::kDeviceTask, "prof_device_task", "Everything the device did: kernels, copies, waits, marks.",
        "Text: events of the process Ascend Hardware in trace_view.json"
        " | Db: TASK"
        " | GPU: events of kernels, copies and memsets, of cuda_sync, cuda_event and gpu_user_annotation"
        " | msprof: msprof_*.json; without it task_time_*.csv",
        {{"device_id", I, "device",
          "Text: N of the process's label NPU N, else the capture's only device | Db: deviceId | GPU: args "
          "device, else pid | msprof: the label, or Device_id"},
         {"stream_id", I, "stream; 0 is a stream",
          "Text: args Stream Id or Physic Stream Id, else tid | Db: streamId | GPU: args stream, else tid"},
         {"task_id", I, "hardware task id",
          "Text: args Task Id | Db: taskId | msprof: args Task Id, or task_id"},
         {"task_type", T, "AI_CORE, SDMA_SQE, EVENT_WAIT_SQE, KERNEL_AICORE ...; GPU: the event's category",
          "Text: args Task Type | Db: taskType | GPU: the category | msprof: args Task Type, or kernel_type"},
         {"name", T, "name of the event; Db: of the kernel, else the task type",
          "Text: name | Db: COMPUTE_TASK_INFO.name, COMMUNICATION_SCHEDULE_TASK_INFO.name or taskType | GPU: "
          "name"
          " | msprof: name, or kernel_name"},
         {"step", I, "ProfilerStep number; NULL: none",
          "Text: the last ProfilerStep# event that holds start_ns | Db: the last row of STEP_TIME that holds "
          "start_ns | GPU: as Text"},
         {"start_ns", I, "ns since the epoch (or the trace's zero)",
          "Text: ts | Db: startNs | GPU: ts + baseTimeNanoseconds | msprof: ts, or task_start(us)"},
         {"end_ns", I, "ns, start_ns + dur_ns",
          "Text: start_ns + dur_ns | Db: endNs | GPU: start_ns + dur_ns"},
         {"dur_ns", I, "ns", "Text: dur | Db: endNs - startNs | GPU: dur | msprof: dur, or task_time(us)"},
         {"connection_id", I, "id of the launch that links host and device",
          "Text: args connection_id | Db: connectionId | GPU: args correlation"},
         id_of(
             "kernel_id", "prof_kernel.id of the same work; NULL: not a kernel",
             "Text: the kernel of the same start and name (of several: stream and task) | Db: globalTaskId | "
             "GPU: "
             "the same event"),
         {"size_bytes", I, "bytes copied; NULL: not a copy",
          "Text: args size(B) or data size(Byte) | Db: MEMCPY_INFO.size | GPU: args bytes"},
         source_row("Text: byte offset of the event | Db: rowid | GPU: byte offset of the event | msprof: "
                    "byte offset of the event, or line of the CSV file"),
         {"is_schedule", I,
          "1: an AI-CPU kernel that starts a collective, without kernel_id in prof_launch; 0: any other",
          "Db: the task is in COMMUNICATION_SCHEDULE_TASK_INFO"}});
}

ModelSpec comm_op_spec() {
    return model_spec(
        Model::kCommOp, "prof_comm_op", "Collectives and point-to-point operations as a whole.",
        "Text: events on the threads 'Group ... Communication' of the process Communication (older: HCCL)"
        " | Db: COMMUNICATION_OP"
        " | GPU: kernels whose name begins with nccl",
        {{"device_id", I, "device",
          "Text: N of the process's label NPU N, else the capture's only device | Db: deviceId, else that of "
          "the "
          "tasks with its connectionId | GPU: args device, else pid"},
         {"name", T, "hcom_allReduce__586_0_1, ncclDevKernel_...", "Text: name | Db: opName | GPU: name"},
         {"op_type", T, "hcom_allReduce_, hcom_send_ ...; GPU: allreduce ...; NULL unknown",
          "Text: the name up to its group hash | Db: opType, else as Text | GPU: args Collective name"},
         {"group_name", T, "label of the group; NULL: none",
          "Text: the thread's name | Db: groupName | GPU: args Process Group Name"},
         {"process_group", T, "name of the process group; NULL: not known",
          "Text: group_name in parallel_group_info of profiler_metadata.json | Db: the same in META_DATA | "
          "GPU: "
          "args Process Group Description"},
         {"group_index", I, "order of the groups, from 1",
          "Text: by the threads' sort index | Db: by first operation | GPU: by first operation"},
         {"stream_id", I, "stream; NULL unknown", "GPU: args stream, else tid"},
         {"plane_count", I, "planes the group has; NULL unknown",
          "Text: threads behind the group's own | Db: distinct planeId of COMMUNICATION_TASK_INFO"},
         {"step", I, "ProfilerStep number; NULL: none",
          "Text: the last ProfilerStep# event that holds start_ns | Db: the last row of STEP_TIME that holds "
          "start_ns | GPU: as Text"},
         {"start_ns", I, "ns since the epoch (or the trace's zero)",
          "Text: ts | Db: startNs | GPU: ts + baseTimeNanoseconds"},
         {"end_ns", I, "ns, start_ns + dur_ns",
          "Text: start_ns + dur_ns | Db: endNs | GPU: start_ns + dur_ns"},
         {"dur_ns", I, "ns", "Text: dur | Db: endNs - startNs | GPU: dur"},
         {"connection_id", I, "id of the launch that links host and device",
          "Text: args connection_id | Db: connectionId | GPU: args correlation"},
         id_of("kernel_id", "prof_kernel.id of the same work; NULL: collectives are no kernels there",
               "GPU: the same event"),
         source_row("Text: byte offset of the event | Db: rowid | GPU: byte offset of the event")});
}

ModelSpec comm_task_spec() {
    return model_spec(
        Model::kCommTask, "prof_comm_task",
        "The small tasks of collectives: Notify_Wait, Memcpy, RDMASend ...",
        "Text: events on the threads 'Plane N' of the process Communication (older: HCCL)"
        " | Db: COMMUNICATION_TASK_INFO with its row of TASK (globalTaskId)",
        {id_of("comm_op_id", "prof_comm_op.id; NULL: none",
               "Text: the operation of the same group that runs at its start | Db: opId"),
         {"name", T, "kind of the task", "Text: name | Db: taskType"},
         {"group_name", T, "as prof_comm_op", "Text: the name of the group's thread | Db: groupName"},
         {"group_index", I, "as prof_comm_op", "Text: as prof_comm_op | Db: as prof_comm_op"},
         {"plane_id", I, "plane", "Text: tid | Db: planeId"},
         {"plane_order", I, "place of the plane in its group, from 1; NULL: by plane_id",
          "Text: by the sort index of the thread"},
         {"step", I, "ProfilerStep number; NULL: none",
          "Text: the last ProfilerStep# event that holds start_ns | Db: the last row of STEP_TIME that holds "
          "start_ns"},
         {"start_ns", I, "ns since the epoch (or the trace's zero)", "Text: ts | Db: TASK.startNs"},
         {"end_ns", I, "ns, start_ns + dur_ns", "Text: start_ns + dur_ns | Db: TASK.endNs"},
         {"dur_ns", I, "ns", "Text: dur | Db: TASK.endNs - startNs"},
         {"size_bytes", I, "bytes moved; NULL unknown", "Text: args size(Byte) | Db: size"},
         {"transport", T, "SDMA, RDMA, LOCAL ...; NULL unknown",
          "Text: args transport type | Db: transportType by ENUM_HCCL_TRANSPORT_TYPE"},
         {"link_type", T, "HCCS, PCIE, ROCE ...; NULL unknown",
          "Text: args link type | Db: linkType by ENUM_HCCL_LINK_TYPE"},
         {"src_rank", I, "rank in the group; NULL unknown", "Text: args src rank | Db: srcRank"},
         {"dst_rank", I, "rank in the group; NULL unknown", "Text: args dst rank | Db: dstRank"},
         source_row("Text: byte offset of the event | Db: rowid of TASK")});
}

ModelSpec overlap_bar_spec() {
    return model_spec(
        Model::kOverlapBar, "prof_overlap_bar", "The profiler's own Overlap Analysis lanes.",
        "Text: events of the process Overlap Analysis"
        " | Db: OVERLAP_ANALYSIS, where the profiler wrote it (a viewer's table of that name does not count)",
        {{"device_id", I, "device",
          "Text: N of the process's label NPU N, else the capture's only device | Db: deviceId"},
         {"name", T, "Computing, Communication, Communication(Not Overlapped), Free",
          "Text: name | Db: type"},
         {"start_ns", I, "ns since the epoch", "Text: ts | Db: startNs"},
         {"end_ns", I, "ns, start_ns + dur_ns", "Text: start_ns + dur_ns | Db: endNs"},
         {"dur_ns", I, "ns", "Text: dur | Db: endNs - startNs"},
         source_row("Text: byte offset of the event | Db: rowid")});
}

ModelSpec device_spec() {
    return model_spec(
        Model::kDevice, "prof_device", "The devices of the profile.",
        "Text: info.json.N of each device in PROF_*; none there: the options device and chip alone"
        " | Db: NPU_INFO and RANK_DEVICE_MAP, with info.json.N beside it"
        " | GPU: deviceProperties",
        {{"device_id", I, "device",
          "Text: DeviceInfo id | Db: deviceId of RANK_DEVICE_MAP, id of NPU_INFO | GPU: id"},
         {"chip", T, "Ascend910B3, NVIDIA A100-SXM4-80GB ...; the option chip of profana_open comes first",
          "Text: by platform_version, which tells a family only: Ascend910B | Db: NPU_INFO.name | GPU: name"},
         {"ai_core_num", I, "cube (AI) cores; GPU: SMs",
          "Text: ai_core_num | Db: info.json ai_core_num | GPU: numSms"},
         {"vector_core_num", I, "vector cores", "Text: aiv_num | Db: info.json aiv_num"},
         {"aic_frequency_mhz", R, "MHz", "Text: aic_frequency | Db: info.json aic_frequency"},
         {"memory_bytes", I, "bytes", "GPU: totalGlobalMem"},
         source_row("Text: place in DeviceInfo of its file, from 1 | Db: rowid of NPU_INFO | GPU: place in "
                    "deviceProperties, from 1")});
}

ModelSpec op_stat_spec() {
    return model_spec(Model::kOpStat, "prof_op_stat", "Operator statistics as the profiler wrote them.",
                      "Text: op_statistic.csv",
                      {{"device_id", I, "device", "Text: Device_id, else the capture's only device"},
                       {"op_type", T, "operator type", "Text: OP Type"},
                       {"core_type", T, "core type", "Text: Core Type"},
                       {"count", I, "calls", "Text: Count"},
                       {"total_ns", I, "ns", "Text: Total Time(us)"},
                       {"min_ns", I, "ns", "Text: Min Time(us)"},
                       {"avg_ns", I, "ns", "Text: Avg Time(us)"},
                       {"max_ns", I, "ns", "Text: Max Time(us)"},
                       {"ratio_percent", R, "percent of the device's total", "Text: Ratio(%)"},
                       source_row("Text: line of the CSV file")});
}

ModelSpec comm_bandwidth_spec() {
    return model_spec(
        Model::kCommBandwidth, "prof_comm_bandwidth",
        "What collectives moved and waited for: a row per operation and transport.",
        "Text: communication.json"
        " | Db: CommAnalyzerBandwidth and CommAnalyzerTime of analysis.db or communication_analyzer.db",
        {{"step", I, "N of stepN; NULL: none", "Text: the file's first level | Db: step"},
         {"type", T, "collective, p2p", "Text: the file's second level | Db: type"},
         {"op_name", T, "name without @group; 'Total Op Info' is the file's own sum",
          "Text: the operation's key | Db: hccl_op_name"},
         {"group_name", T, "group hash; NULL: a total", "Text: behind the key's @ | Db: group_name"},
         {"transport", T, "RDMA, HCCS, PCIE, SDMA, SIO; SDMA is the sum of HCCS, PCIE and SIO",
          "Text: key of Communication Bandwidth Info | Db: transport_type"},
         {"transit_size_mb", R, "MB of 10^6 bytes", "Text: Transit Size(MB) | Db: transit_size"},
         {"transit_time_ms", R, "ms", "Text: Transit Time(ms) | Db: transit_time"},
         {"bandwidth_gb_per_s", R, "10^9 byte/s", "Text: Bandwidth(GB/s) | Db: bandwidth"},
         {"large_packet_ratio", R, "0..1", "Text: Large Packet Ratio | Db: large_packet_ratio"},
         {"elapse_time_ms", R, "ms, of the operation", "Text: Elapse Time(ms) | Db: elapse_time"},
         {"wait_time_ms", R, "ms, of the operation", "Text: Wait Time(ms) | Db: wait_time"},
         {"synchronization_time_ms", R, "ms, of the operation",
          "Text: Synchronization Time(ms) | Db: synchronization_time"},
         {"idle_time_ms", R, "ms, of the operation", "Text: Idle Time(ms) | Db: idle_time"},
         source_row(
             "Text: number of the operation in the file, from 1 | Db: rowid of the transport's first row in "
             "CommAnalyzerBandwidth; where transport is NULL, of CommAnalyzerTime")});
}

}  // namespace

std::vector<ModelSpec> device_model_specs() {
    return {kernel_spec(),      kernel_pmu_spec(), device_task_spec(), comm_op_spec(),       comm_task_spec(),
            overlap_bar_spec(), device_spec(),     op_stat_spec(),     comm_bandwidth_spec()};
}

}  // namespace profana
