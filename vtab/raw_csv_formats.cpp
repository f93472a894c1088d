// The heads of every CSV file that has a raw table, over all versions of the profilers.
//
// A column's name is its head in snake case with the unit behind it; heads that changed their name over the
// versions share a column. Columns that queries ask for most come first: SQLite tells a table apart only its
// first 63 columns.
#include <cstdlib>
#include <deque>

#include "vtab/raw_csv.h"

namespace profana {
namespace {

using V = CsvValue;

// Texts made at start, for the life of the process.
const char* keep(std::string text) {
    static auto* const texts = new std::deque<std::string>();
    return texts->emplace_back(std::move(text)).c_str();
}

void add_end(CsvFormat& format) {
    format.columns.push_back(
        {"extra", V::kExtra, "", "JSON object of the heads that no version is known to have"});
    format.columns.push_back({"line", V::kLine, "", "line of the file on which the row begins"});
}

CsvFormat make_format(const char* name, std::vector<CsvColumn> columns, std::vector<const char*> required,
                      const char* free_text) {
    CsvFormat format{name, std::move(columns), std::move(required), free_text};
    add_end(format);
    return format;
}

// ---- PMU columns -----------------------------------------------------------------------------------------

struct Pmu {
    const char* name;  // as in the file, without prefix and unit
    V value;
    const char* doc;
};

struct Pipe {
    const char *name, *doc;
};
constexpr Pipe kPipes[] = {
    {"vec", "vector pipe"},           {"mac", "cube pipe"},
    {"scalar", "scalar pipe"},        {"mte1", "MTE1 pipe, L1 to L0"},
    {"mte2", "MTE2 pipe, memory in"}, {"mte3", "MTE3 pipe, memory out"},
    {"fixpipe", "fixpipe, L0C out"},
};

constexpr Pmu kPmus[] = {
    {"icache_miss_rate", V::kReal, "instruction cache misses, 0..1"},
    {"memory_bound", V::kReal, "memory bound: MTE2 over the larger of cube and vector pipe"},
    // ArithmeticUtilization
    {"mac_fp16_ratio", V::kReal, "cube pipe on fp16, share of the task's cycles"},
    {"mac_int8_ratio", V::kReal, "cube pipe on int8, share of the task's cycles"},
    {"vec_fp32_ratio", V::kReal, "vector pipe on fp32, share of the task's cycles"},
    {"vec_fp16_ratio", V::kReal, "vector pipe on fp16, share of the task's cycles"},
    {"vec_int32_ratio", V::kReal, "vector pipe on int32, share of the task's cycles"},
    {"vec_misc_ratio", V::kReal, "vector pipe on other types, share of the task's cycles"},
    {"cube_fops", V::kReal, "operations of the cube pipe"},
    {"vector_fops", V::kReal, "operations of the vector pipe"},
    // Memory
    {"ub_read_bw", V::kRate, "reads from UB"},
    {"ub_write_bw", V::kRate, "writes to UB"},
    {"l1_read_bw", V::kRate, "reads from L1"},
    {"l1_write_bw", V::kRate, "writes to L1"},
    {"l2_read_bw", V::kRate, "reads from L2"},
    {"l2_write_bw", V::kRate, "writes to L2"},
    {"main_mem_read_bw", V::kRate, "reads from main memory"},
    {"main_mem_write_bw", V::kRate, "writes to main memory"},
    // MemoryL0
    {"l0a_read_bw", V::kRate, "reads from L0A"},
    {"l0a_write_bw", V::kRate, "writes to L0A"},
    {"l0b_read_bw", V::kRate, "reads from L0B"},
    {"l0b_write_bw", V::kRate, "writes to L0B"},
    {"l0c_read_bw", V::kRate, "reads from L0C by the vector pipe"},
    {"l0c_write_bw", V::kRate, "writes to L0C by the vector pipe"},
    {"l0c_read_bw_cube", V::kRate, "reads from L0C by the cube pipe"},
    {"l0c_write_bw_cube", V::kRate, "writes to L0C by the cube pipe"},
    // MemoryUB
    {"ub_read_bw_mte", V::kRate, "reads from UB by the MTE pipes"},
    {"ub_write_bw_mte", V::kRate, "writes to UB by the MTE pipes"},
    {"ub_read_bw_vector", V::kRate, "reads from UB by the vector pipe"},
    {"ub_write_bw_vector", V::kRate, "writes to UB by the vector pipe"},
    {"ub_read_bw_scalar", V::kRate, "reads from UB by the scalar pipe"},
    {"ub_write_bw_scalar", V::kRate, "writes to UB by the scalar pipe"},
    {"fixp2ub_write_bw", V::kRate, "writes to UB by the fixpipe"},
    // ResourceConflictRatio
    {"vec_bankgroup_cflt_ratio", V::kReal,
     "vector pipe stopped by bank group conflicts, share of the cycles"},
    {"vec_bank_cflt_ratio", V::kReal, "vector pipe stopped by bank conflicts, share of the cycles"},
    {"vec_resc_cflt_ratio", V::kReal, "vector pipe stopped by resource conflicts, share of the cycles"},
    // L2Cache
    {"write_cache_hit", V::kReal, "writes that hit L2"},
    {"write_cache_miss_allocate", V::kReal, "writes that missed L2 and allocated"},
    {"r0_read_cache_hit", V::kReal, "reads by channel R0 that hit L2"},
    {"r0_read_cache_miss_allocate", V::kReal, "reads by channel R0 that missed L2 and allocated"},
    {"r1_read_cache_hit", V::kReal, "reads by channel R1 that hit L2"},
    {"r1_read_cache_miss_allocate", V::kReal, "reads by channel R1 that missed L2 and allocated"},
    {"read_local_l2_hit", V::kReal, "reads that hit the near L2"},
    {"read_local_l2_miss", V::kReal, "reads that missed the near L2"},
    {"read_local_l2_victim", V::kReal, "reads that drove a line out of the near L2"},
    {"write_local_l2_hit", V::kReal, "writes that hit the near L2"},
    {"write_local_l2_miss", V::kReal, "writes that missed the near L2"},
    {"write_local_l2_victim", V::kReal, "writes that drove a line out of the near L2"},
    // MemoryAccess
    {"read_main_memory_datas", V::kBytes, "read from main memory"},
    {"write_main_memory_datas", V::kBytes, "written to main memory"},
    {"gm_to_l1_datas", V::kBytes, "moved from global memory to L1"},
    {"l0c_to_l1_datas", V::kBytes, "moved from L0C to L1"},
    {"l0c_to_gm_datas", V::kBytes, "moved from L0C to global memory"},
    {"gm_to_ub_datas", V::kBytes, "moved from global memory to UB"},
    {"ub_to_gm_datas", V::kBytes, "moved from UB to global memory"},
    // single chips
    {"mte_preload_ratio", V::kReal, "MTE preload, share of the cycles"},
    {"acess_stack_ratio", V::kReal, "stack accesses, share of the cycles (spelled so by the profiler)"},
    {"control_flow_mis_prediction_rate", V::kReal, "branches predicted wrongly, 0..1"},
};

struct Cores {
    const char *prefix, *doc;
};
constexpr Cores kCores[] = {
    {"", "all cores of unsplit chips"}, {"aic_", "cube cores"}, {"aiv_", "vector cores"}};

void add_pmu(CsvFormat& format, const Cores& cores, const std::string& name, V value,
             const std::string& doc) {
    const std::string head = cores.prefix + name;
    const char* suffix = value == V::kLength  ? "_ns"
                         : value == V::kRate  ? "_gb_per_s"
                         : value == V::kBytes ? "_bytes"
                                              : "";
    const char* unit = value == V::kLength  ? "ns, "
                       : value == V::kRate  ? "GB/s as written, "
                       : value == V::kBytes ? "bytes, "
                                            : "";
    format.columns.push_back(
        {keep(head + suffix), value, keep(head),
         keep(std::string("PMU, ") + unit + cores.doc + ": " + doc + "; NULL: not measured")});
}

void add_pmu_columns(CsvFormat& format) {
    const Cores &all = kCores[0], &cube = kCores[1], &vector = kCores[2];
    add_pmu(format, all, "aicore_time", V::kLength, "time on the AI (cube) cores");
    add_pmu(format, all, "aiv_time", V::kLength, "time on the vector cores");
    add_pmu(format, all, "total_cycles", V::kInteger, "cycles, summed over the cores");
    add_pmu(format, cube, "total_cycles", V::kInteger, "cycles, summed over the cores");
    add_pmu(format, vector, "total_cycles", V::kInteger, "cycles, summed over the cores");
    format.columns.push_back({"cube_utilization_percent", V::kPercent, "cube_utilization",
                              "PMU, percent: cube cycles of those that all cube cores had; may exceed 100"});
    for (const char* kind : {"", "_exe"}) {
        const std::string what = *kind == '\0' ? "" : " executing";
        for (const Cores& cores : kCores) {
            for (const Pipe& pipe : kPipes) {
                const std::string name = std::string(pipe.name) + kind;
                add_pmu(format, cores, name + "_time", V::kLength, std::string(pipe.doc) + what);
                add_pmu(format, cores, name + "_ratio", V::kReal,
                        std::string(pipe.doc) + what + ", share of the task's cycles");
            }
        }
    }
    for (const Cores& cores : kCores)
        for (const Pmu& pmu : kPmus) add_pmu(format, cores, pmu.name, pmu.value, pmu.doc);
}

// ---- the files -------------------------------------------------------------------------------------------

// kernel_details and op_summary name the same things differently; each table takes both files.
CsvFormat kernels(const char* name, CsvColumn core) {
    CsvFormat format{
        name,
        {{"step", V::kStep, "Step Id|Step", "ProfilerStep number; NULL: none"},
         {"device_id", V::kId, "Device_id", "device"},
         {"model_id", V::kId, "Model ID", "graph model; NULL: none"},
         {"task_id", V::kId, "Task ID", "hardware task id; NULL: a collective"},
         {"stream_id", V::kId, "Stream ID", "stream; NULL: a collective"},
         {"name", V::kText, "Name|Op Name", "kernel name"},
         {"op_type", V::kText, "Type|OP Type", "operator type, e.g. MatMulV3"},
         {"op_state", V::kText, "OP State", "dynamic or static"},
         core,
         {"start_ns", V::kTime, "Start Time|Task Start Time", "ns"},
         {"dur_ns", V::kLength, "Duration|Task Duration", "ns"},
         {"wait_ns", V::kLength, "Wait Time|Task Wait Time", "ns after the previous kernel's end"},
         {"block_num", V::kId, "Block Num|Block Dim", "cores asked for"},
         {"mix_block_num", V::kId, "Mix Block Num|Mix Block Dim",
          "cores asked for by the other half of a mixed kernel"},
         {"hf32_eligible", V::kText, "HF32 Eligible", "YES or NO: HF32 was used where it can be"},
         {"input_shapes", V::kText, "Input Shapes", "dims by ',', tensors by ';'; '' is a scalar"},
         {"input_types", V::kText, "Input Data Types", "data types by ';'"},
         {"input_formats", V::kText, "Input Formats", "formats by ';'"},
         {"output_shapes", V::kText, "Output Shapes", "as input_shapes"},
         {"output_types", V::kText, "Output Data Types", "as input_types"},
         {"output_formats", V::kText, "Output Formats", "as input_formats"},
         {"context_id", V::kId, "Context ID", "part of an FFTS+ task; NULL: none"},
         {"model_name", V::kText, "Model Name", "graph mode: name of the model"},
         {"infer_id", V::kId, "Infer ID", "graph mode: iteration"}},
        {"name", "dur_ns"},
        "name"};
    add_pmu_columns(format);
    add_end(format);
    return format;
}

CsvFormat kernel_details() {
    return kernels("kernel_details",
                   {"accelerator_core", V::kText, "Accelerator Core|Task Type",
                    "AI_CORE, AI_VECTOR_CORE, MIX_AIC, MIX_AIV, AI_CPU, COMMUNICATION ..."});
}

CsvFormat op_summary() {
    return kernels("op_summary", {"task_type", V::kText, "Task Type|Accelerator Core",
                                  "AI_CORE, AI_VECTOR_CORE, MIX_AIC, MIX_AIV, AI_CPU, COMMUNICATION ..."});
}

CsvFormat op_statistic() {
    return make_format("op_statistic",
                       {{"device_id", V::kId, "Device_id", "device"},
                        {"model_name", V::kText, "Model Name", "graph mode: name of the model"},
                        {"op_type", V::kText, "OP Type", "operator type"},
                        {"core_type", V::kText, "Core Type", "AI_CORE, AI_VECTOR_CORE ..."},
                        {"count", V::kInteger, "Count", "calls"},
                        {"total_ns", V::kLength, "Total Time", "ns"},
                        {"min_ns", V::kLength, "Min Time|Min", "ns"},
                        {"avg_ns", V::kLength, "Avg Time|Avg", "ns"},
                        {"max_ns", V::kLength, "Max Time|Max", "ns"},
                        {"ratio_percent", V::kPercent, "Ratio", "percent of the device's total"}},
                       {"op_type", "total_ns"}, "op_type");
}

CsvFormat api_statistic() {
    return make_format("api_statistic",
                       {{"device_id", V::kId, "Device_id", "device; NULL: the host"},
                        {"level", V::kText, "Level", "acl, model, node, communication, runtime"},
                        {"name", V::kText, "API Name", "API"},
                        {"count", V::kInteger, "Count", "calls"},
                        {"total_ns", V::kLength, "Time", "ns"},
                        {"avg_ns", V::kLength, "Avg", "ns"},
                        {"min_ns", V::kLength, "Min", "ns"},
                        {"max_ns", V::kLength, "Max", "ns"},
                        {"variance", V::kReal, "Variance", "us^2"}},
                       {"name", "total_ns"}, "name");
}

CsvFormat step_trace_time() {
    return make_format(
        "step_trace_time",
        {{"device_id", V::kId, "Device_id", "device"},
         {"step", V::kStep, "Step", "ProfilerStep number; NULL: no step markers"},
         {"computing_ns", V::kLength, "Computing", "ns in which kernels ran"},
         {"communication_not_overlapped_ns", V::kLength, "Communication(Not Overlapped)",
          "ns in which only collectives ran"},
         {"overlapped_ns", V::kLength, "Overlapped", "ns in which both ran"},
         {"communication_ns", V::kLength, "Communication", "ns in which collectives ran"},
         {"free_ns", V::kLength, "Free", "ns in which neither ran"},
         {"stage_ns", V::kLength, "Stage", "ns from the device's first to its last task, without bubble_ns"},
         {"bubble_ns", V::kLength, "Bubble", "ns of receives"},
         {"communication_not_overlapped_and_exclude_receive_ns", V::kLength,
          "Communication(Not Overlapped and Exclude Receive)", "ns, the same without receives"},
         {"preparing_ns", V::kLength, "Preparing", "ns from the step's start to the device's first task"}},
        {"computing_ns", "free_ns"}, nullptr);
}

CsvFormat operator_details() {
    return make_format(
        "operator_details",
        {{"name", V::kText, "Name", "operator"},
         {"input_shapes", V::kText, "Input Shapes", "dims by ',', tensors by ';' and a line end"},
         {"call_stack", V::kText, "Call Stack", "frames by ';' and a line end, innermost first"},
         {"host_self_duration_ns", V::kLength, "Host Self Duration", "ns on the host, without children"},
         {"host_total_duration_ns", V::kLength, "Host Total Duration", "ns on the host"},
         {"device_self_duration_ns", V::kLength, "Device Self Duration",
          "ns on the device, without children"},
         {"device_total_duration_ns", V::kLength, "Device Total Duration", "ns on the device"},
         {"device_self_duration_with_aicore_ns", V::kLength, "Device Self Duration With AICore",
          "ns on AI cores, without children"},
         {"device_total_duration_with_aicore_ns", V::kLength, "Device Total Duration With AICore",
          "ns on AI cores"}},
        {"name", "input_shapes"}, "name");
}

CsvFormat operator_memory() {
    return make_format(
        "operator_memory",
        {{"device_id", V::kId, "Device_id", "device, where msprof wrote the file"},
         {"name", V::kText, "Name", "operator that asked for the memory"},
         {"size_bytes", V::kBytes, "Size", "bytes; negative: a free without its allocation"},
         {"alloc_ns", V::kTime, "Allocation Time", "ns"},
         {"release_ns", V::kTime, "Release Time", "ns; NULL: not released"},
         {"active_release_time_ns", V::kTime, "Active Release Time", "ns at which the last stream let it go"},
         {"dur_ns", V::kLength, "Duration", "ns from allocation to release"},
         {"active_duration_ns", V::kLength, "Active Duration", "ns from allocation to active release"},
         {"allocation_total_allocated_bytes", V::kBytes, "Allocation Total Allocated",
          "bytes in use at allocation"},
         {"allocation_total_reserved_bytes", V::kBytes, "Allocation Total Reserved",
          "bytes held at allocation"},
         {"allocation_total_active_bytes", V::kBytes, "Allocation Total Active",
          "bytes active at allocation"},
         {"release_total_allocated_bytes", V::kBytes, "Release Total Allocated", "bytes in use at release"},
         {"release_total_reserved_bytes", V::kBytes, "Release Total Reserved", "bytes held at release"},
         {"release_total_active_bytes", V::kBytes, "Release Total Active", "bytes active at release"},
         {"stream_ptr", V::kInteger, "Stream Ptr", "handle of the stream"},
         {"device_type", V::kText, "Device Type|Device", "NPU:0 ..."}},
        {"name", "size_bytes"}, "name");
}

CsvFormat memory_record() {
    return make_format(
        "memory_record",
        {{"device_id", V::kId, "Device_id", "device, where msprof wrote the file"},
         {"component", V::kText, "Component", "PTA, GE, PTA+GE, APP, WORKSPACE, MindSpore ..."},
         {"ts_ns", V::kTime, "Timestamp", "ns"},
         {"allocated_bytes", V::kBytes, "Total Allocated", "bytes in use"},
         {"reserved_bytes", V::kBytes, "Total Reserved", "bytes held"},
         {"active_bytes", V::kBytes, "Total Active", "bytes active"},
         {"stream_ptr", V::kInteger, "Stream Ptr", "handle of the stream"},
         {"device_type", V::kText, "Device Type|Device", "NPU:0 ..."}},
        {"component", "ts_ns"}, nullptr);
}

CsvFormat task_time() {
    return make_format(
        "task_time",
        {{"device_id", V::kId, "Device_id", "device"},
         {"kernel_name", V::kText, "kernel_name|Op Name", "kernel; NULL: a task of the system"},
         {"kernel_type", V::kText, "kernel_type|Type", "KERNEL_AICORE, EVENT_RECORD ..."},
         {"stream_id", V::kId, "stream_id", "stream"},
         {"task_id", V::kId, "task_id", "hardware task id"},
         {"task_time_ns", V::kLength, "task_time|Time", "ns"},
         {"task_start_ns", V::kTime, "task_start", "ns"},
         {"task_stop_ns", V::kTime, "task_stop", "ns"},
         {"api", V::kText, "API", "graph mode of 2023: API that started it"},
         {"time_percent", V::kPercent, "Time", "graph mode of 2023: percent of all time"},
         {"count", V::kInteger, "Count", "graph mode of 2023: runs"},
         {"avg_ns", V::kLength, "Avg", "graph mode of 2023: ns"},
         {"min_ns", V::kLength, "Min", "graph mode of 2023: ns"},
         {"max_ns", V::kLength, "Max", "graph mode of 2023: ns"},
         {"waiting_ns", V::kLength, "Waiting", "graph mode of 2023: ns"},
         {"running_ns", V::kLength, "Running", "graph mode of 2023: ns"},
         {"pending_ns", V::kLength, "Pending", "graph mode of 2023: ns"}},
        {"kernel_name", "task_time_ns"}, "kernel_name");
}

}  // namespace

std::shared_ptr<const CsvFormat> csv_format(CsvKind kind) {
    static const auto* const formats = [] {
        auto* made = new std::vector<std::shared_ptr<const CsvFormat>>();
        for (CsvFormat (*make)() : {kernel_details, op_summary, op_statistic, api_statistic, step_trace_time,
                                    operator_details, operator_memory, memory_record, task_time})
            made->push_back(std::make_shared<const CsvFormat>(make()));
        return made;
    }();
    return (*formats)[static_cast<size_t>(kind)];
}

int csv_column(CsvKind kind, const char* name) {
    const int column = csv_format(kind)->column(name);
    if (column < 0) std::abort();
    return column;
}

}  // namespace profana
