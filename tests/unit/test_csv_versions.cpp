// Every header that a version of the profilers is known to write, for each raw CSV table: each head fills its
// column, nothing goes to `extra`.
#include <map>
#include <sstream>
#include <string>

#include "tests/unit/files.h"
#include "tests/unit/sql.h"

using profana::test::Sql;

namespace {

struct Cell {
    std::string column, text, value;
};
using Heads = std::map<std::string, Cell>;

constexpr const char* kShapes = "\"\"\"4,8;8\"\"\"";

// Heads of kernel_details and op_summary that are no PMU columns. The writers differ in the core's name only.
Heads kernel_heads(const std::string& core) {
    return {
        {"Step Id", {"step", "7", "7"}},
        {"Step ID", {"step", "7", "7"}},
        {"Device_id", {"device_id", "3", "3"}},
        {"Model Name", {"model_name", "net", "net"}},
        {"Model ID", {"model_id", "4294967295", "NULL"}},
        {"Task ID", {"task_id", "11", "11"}},
        {"Stream ID", {"stream_id", "N/A", "NULL"}},
        {"Infer ID", {"infer_id", "2", "2"}},
        {"Name", {"name", "MatMul_1", "MatMul_1"}},
        {"Op Name", {"name", "MatMul_1", "MatMul_1"}},
        {"Type", {"op_type", "MatMulV3", "MatMulV3"}},
        {"OP Type", {"op_type", "MatMulV3", "MatMulV3"}},
        {"OP State", {"op_state", "dynamic", "dynamic"}},
        {"Accelerator Core", {core, "AI_CORE", "AI_CORE"}},
        {"Task Type", {core, "AI_CORE", "AI_CORE"}},
        {"Start Time(us)", {"start_ns", "1736413971558972.912\t", "1736413971558972912"}},
        {"Task Start Time(us)", {"start_ns", "\"1736413971558972.912\t\"", "1736413971558972912"}},
        {"Duration(us)", {"dur_ns", "50.5", "50500"}},
        {"Task Duration(us)", {"dur_ns", "50.5", "50500"}},
        {"Wait Time(us)", {"wait_ns", "1797.220000", "1797220"}},
        {"Task Wait Time(us)", {"wait_ns", "0", "0"}},
        {"Block Num", {"block_num", "24", "24"}},
        {"Block Dim", {"block_num", "24", "24"}},
        {"Mix Block Num", {"mix_block_num", "48", "48"}},
        {"Mix Block Dim", {"mix_block_num", "48", "48"}},
        {"HF32 Eligible", {"hf32_eligible", "NO", "NO"}},
        {"Input Shapes", {"input_shapes", kShapes, "4,8;8"}},
        {"Input Data Types", {"input_types", "FLOAT;INT64", "FLOAT;INT64"}},
        {"Input Formats", {"input_formats", "ND;ND", "ND;ND"}},
        {"Output Shapes", {"output_shapes", "\"\"\"\"\"\"", ""}},
        {"Output Data Types", {"output_types", "FLOAT", "FLOAT"}},
        {"Output Formats", {"output_formats", "FORMAT_ND", "FORMAT_ND"}},
        {"Context ID", {"context_id", "N/A", "NULL"}},
        {"cube_utilization(%)", {"cube_utilization_percent", "101.5", "101.5"}},
        {"aicore_time(us)", {"aicore_time_ns", "3.5", "3500"}},
        {"aiv_time(us)", {"aiv_time_ns", "3.25", "3250"}},
    };
}

// A PMU head says its unit: (us), (GB/s), (KB); cycles are integers, the rest are ratios.
Cell pmu_cell(const std::string& head) {
    std::string name;
    for (const char c : head.substr(0, head.find('('))) name += static_cast<char>(std::tolower(c));
    if (head.ends_with("(us)")) return {name + "_ns", "1.25", "1250"};
    if (head.ends_with("(GB/s)")) return {name + "_gb_per_s", "2.5", "2.5"};
    if (head.ends_with("(KB)")) return {name + "_bytes", "1.5", "1536"};
    if (name.ends_with("cycles")) return {name, "1234567", "1234567"};
    return {name, "0.125", "0.125"};
}

std::string each(const std::string& prefix, const std::string& names, const std::string& unit = "") {
    std::string out, name;
    std::istringstream in(names);
    while (in >> name) out += "," + prefix + name + unit;
    return out;
}

std::string pipes(const std::string& prefix, const std::string& names) {
    std::string out, name;
    std::istringstream in(names);
    while (in >> name) out += "," + prefix + name + "_time(us)," + prefix + name + "_ratio";
    return out;
}

std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> out;
    std::string field;
    std::istringstream in(line);
    while (std::getline(in, field, ',')) out.push_back(field);
    return out;
}

// Reads one row under the header and checks every column it must fill.
void check(const std::string& table, const Heads& known, const std::string& header, const char* line_end) {
    INFO(table << ": " << header);
    std::string row, columns;
    std::vector<std::string> expected;
    for (const std::string& head : split(header)) {
        const auto found = known.find(head);
        const Cell cell = found == known.end() ? pmu_cell(head) : found->second;
        row += (row.empty() ? "" : ",") + cell.text;
        columns += cell.column + ", ";
        expected.push_back(cell.value);
    }
    expected.emplace_back("NULL");
    TempFolder folder;
    const std::string path = folder.write("a.csv", header + line_end + row + line_end);
    Sql sql;
    CHECK(sql.rows("SELECT " + columns + "extra FROM " + table + "('" + path + "')") ==
          std::vector<std::vector<std::string>>{expected});
    CHECK(sql.integer("SELECT count(*) FROM prof_diagnostic") == 0);
}

// Behind the base columns, what each choice of aic_metrics brings.
std::vector<std::string> pmu_headers() {
    const std::string split_chip = ",aicore_time(us),aic_total_cycles",
                      vector = ",aiv_time(us),aiv_total_cycles", unsplit = ",aicore_time(us),total_cycles";
    const std::string ratios =
        "mac_fp16_ratio mac_int8_ratio vec_fp32_ratio vec_fp16_ratio vec_int32_ratio vec_misc_ratio "
        "cube_fops "
        "vector_fops";
    const std::string memory =
        "ub_read_bw ub_write_bw l1_read_bw l1_write_bw l2_read_bw l2_write_bw main_mem_read_bw "
        "main_mem_write_bw";
    const std::string l0 =
        "l0a_read_bw l0a_write_bw l0b_read_bw l0b_write_bw l0c_read_bw l0c_write_bw l0c_read_bw_cube "
        "l0c_write_bw_cube";
    const std::string ub =
        "ub_read_bw_mte ub_write_bw_mte ub_read_bw_vector ub_write_bw_vector ub_read_bw_scalar "
        "ub_write_bw_scalar fixp2ub_write_bw";
    const std::string conflicts = "vec_bankgroup_cflt_ratio vec_bank_cflt_ratio vec_resc_cflt_ratio";
    const std::string cache =
        "write_cache_hit write_cache_miss_allocate r0_read_cache_hit r0_read_cache_miss_allocate "
        "r1_read_cache_hit r1_read_cache_miss_allocate read_local_l2_hit read_local_l2_miss "
        "read_local_l2_victim write_local_l2_hit write_local_l2_miss write_local_l2_victim";
    const std::string access =
        "read_main_memory_datas write_main_memory_datas GM_to_L1_datas L0C_to_L1_datas L0C_to_GM_datas "
        "GM_to_UB_datas UB_to_GM_datas";
    const std::string single = "mte_preload_ratio acess_stack_ratio control_flow_mis_prediction_rate";
    std::vector<std::string> out = {
        split_chip + pipes("aic_", "mac scalar mte1 mte2 mte3 fixpipe") + ",aic_icache_miss_rate" + vector +
            pipes("aiv_", "vec scalar mte2 mte3") + ",aiv_icache_miss_rate,cube_utilization(%)",
        split_chip + pipes("aic_", "mac scalar mte1 mte2 fixpipe") + ",aic_icache_miss_rate" + vector +
            pipes("aiv_", "vec scalar mte2 mte3") + ",aiv_icache_miss_rate,cube_utilization(%)",
        unsplit + pipes("", "vec mac scalar mte1 mte2 mte3") + ",icache_miss_rate,memory_bound",
        unsplit + pipes("", "vec_exe mac_exe scalar_exe mte1_exe mte2_exe mte3_exe fixpipe_exe") +
            ",memory_bound,cube_utilization(%)",
    };
    for (const std::string prefix : {"", "aic_", "aiv_"}) {
        const std::string head = prefix.empty() ? unsplit : split_chip + vector;
        out.push_back(head + each(prefix, ratios));
        out.push_back(head + each(prefix, memory, "(GB/s)"));
        out.push_back(head + each(prefix, l0, "(GB/s)"));
        out.push_back(head + each(prefix, ub, "(GB/s)"));
        out.push_back(head + each(prefix, conflicts));
        out.push_back(head + each(prefix, cache));
        out.push_back(head + each(prefix, access, "(KB)"));
        out.push_back(head + each(prefix, single));
    }
    return out;
}

}  // namespace

TEST_CASE("kernel_details: every version's header", "[csv][versions]") {
    const Heads known = kernel_heads("accelerator_core");
    const std::string tensors =
        "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats";
    const std::string times = "Start Time(us),Duration(us),Wait Time(us),";
    const std::string newest = "Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core," +
                               times + "Block Num,Mix Block Num,HF32 Eligible," + tensors + ",Context ID";
    const std::string before_device =
        "Step Id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core," + times +
        "Block Dim,Mix Block Dim,HF32 Eligible," + tensors + ",Context ID";
    for (const char* line_end : {"\n", "\r\n"}) {
        for (const std::string& header : {
                 "Step Id," + newest,
                 newest,
                 before_device,
                 "Step ID,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core," + times +
                     "Block Num,Mix Block Num,HF32 Eligible," + tensors + ",Context ID",
                 "Step Id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core," + times +
                     "Block Dim,HF32 Eligible," + tensors,
                 "Step Id,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core," + times + "Block Dim," +
                     tensors,
                 "Step Id,Device_id,Name,Type,Accelerator Core," + times + "Block Num," + tensors,
                 "Step Id,Device_id,Name,Type,Accelerator Core," + times + "Block Num",
                 "Step Id,Name,Type,Accelerator Core," + times + "Block Dim",
                 std::string("Name,Type,Task Start Time(us),Duration(us)"),
             })
            check("kernel_details", known, header, line_end);
    }
    for (const std::string& pmu : pmu_headers())
        check("kernel_details", known, "Step Id," + newest + pmu, "\r\n");
}

TEST_CASE("op_summary: every version's header", "[csv][versions]") {
    const Heads known = kernel_heads("task_type");
    const std::string tensors =
        "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats";
    const std::string times = "Task Start Time(us),Task Duration(us),Task Wait Time(us),";
    const std::string ids = "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,";
    const std::string newest = ids + "OP State,Task Type," + times +
                               "Block Num,Mix Block Num,HF32 Eligible," + tensors + ",Context ID";
    for (const std::string& header : {
             newest,
             ids + "OP State,Task Type," + times + "Block Dim,Mix Block Dim,HF32 Eligible," + tensors +
                 ",Context ID",
             ids + "Task Type," + times + "Block Dim," + tensors,
             ids + "OP State,Task Type," + times + "Block Num,Mix Block Num,HF32 Eligible,Context ID",
             "Device_id,Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,OP State,Task Type," +
                 times + "Block Dim,Mix Block Dim,HF32 Eligible," + tensors + ",Context ID",
         })
        check("op_summary", known, header, "\n");
    for (const std::string& pmu : pmu_headers()) check("op_summary", known, newest + pmu, "\n");
}

TEST_CASE("statistic files: every version's header", "[csv][versions]") {
    const Heads ops = {{"Device_id", {"device_id", "0", "0"}},
                       {"Model Name", {"model_name", "net", "net"}},
                       {"OP Type", {"op_type", "MatMulV3", "MatMulV3"}},
                       {"Core Type", {"core_type", "AI_CORE", "AI_CORE"}},
                       {"Count", {"count", "12", "12"}},
                       {"Total Time(us)", {"total_ns", "120.5", "120500"}},
                       {"Min Time(us)", {"min_ns", "1", "1000"}},
                       {"Min", {"min_ns", "1", "1000"}},
                       {"Avg Time(us)", {"avg_ns", "10.0416667", "10042"}},
                       {"Avg", {"avg_ns", "10.04", "10040"}},
                       {"Max Time(us)", {"max_ns", "20", "20000"}},
                       {"Max", {"max_ns", "20", "20000"}},
                       {"Ratio(%)", {"ratio_percent", "55.5", "55.5"}}};
    const std::string rest = "Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)";
    for (const std::string& header :
         {"Device_id,OP Type,Core Type," + rest, "OP Type,Core Type," + rest,
          "Model Name,OP Type,Core Type," + rest, "Device_id,Model Name,OP Type,Core Type," + rest,
          "Device_id,OP Type," + rest,
          std::string("OP Type,Core Type,Count,Total Time(us),Min,Avg,Max,Ratio(%)")})
        check("op_statistic", ops, header, "\n");

    const Heads apis = {{"Device_id", {"device_id", "host", "NULL"}},
                        {"Level", {"level", "acl", "acl"}},
                        {"API Name", {"name", "aclrtMemcpy", "aclrtMemcpy"}},
                        {"Time(us)", {"total_ns", "12.34", "12340"}},
                        {"Count", {"count", "2", "2"}},
                        {"Avg(us)", {"avg_ns", "6.17", "6170"}},
                        {"Min(us)", {"min_ns", "1", "1000"}},
                        {"Max(us)", {"max_ns", "11.34", "11340"}},
                        {"Variance", {"variance", "26.7289", "26.7289"}}};
    for (const std::string header :
         {"Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance",
          "Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance"})
        check("api_statistic", apis, header, "\r\n");

    const Heads tasks = {
        {"Device_id", {"device_id", "0", "0"}},
        {"kernel_name", {"kernel_name", "N/A", "NULL"}},
        {"kernel_type", {"kernel_type", "EVENT_WAIT", "EVENT_WAIT"}},
        {"stream_id", {"stream_id", "4", "4"}},
        {"task_id", {"task_id", "5", "5"}},
        {"task_time(us)", {"task_time_ns", "1.5", "1500"}},
        {"task_start(us)", {"task_start_ns", "1736412474730135.222\t", "1736412474730135222"}},
        {"task_stop(us)", {"task_stop_ns", "1736412474730136.722\t", "1736412474730136722"}},
        {"Time(%)", {"time_percent", "9.5", "9.5"}},
        {"Time(us)", {"task_time_ns", "95", "95000"}},
        {"Count", {"count", "2", "2"}},
        {"Avg(us)", {"avg_ns", "47.5", "47500"}},
        {"Min(us)", {"min_ns", "40", "40000"}},
        {"Max(us)", {"max_ns", "55", "55000"}},
        {"Waiting(us)", {"waiting_ns", "3", "3000"}},
        {"Running(us)", {"running_ns", "90", "90000"}},
        {"Pending(us)", {"pending_ns", "2", "2000"}},
        {"Type", {"kernel_type", "kernel", "kernel"}},
        {"API", {"api", "LaunchKernel", "LaunchKernel"}},
        {"Task ID", {"task_id", "5", "5"}},
        {"Op Name", {"kernel_name", "MatMul", "MatMul"}},
        {"Stream ID", {"stream_id", "4", "4"}}};
    for (const std::string header :
         {"Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)",
          "kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)",
          "Time(%),Time(us),Count,Avg(us),Min(us),Max(us),Waiting(us),Running(us),Pending(us),Type,API,Task "
          "ID,Op Name,Stream ID"})
        check("task_time", tasks, header, "\n");
}

TEST_CASE("step_trace_time: every version's header", "[csv][versions]") {
    const Heads known = {
        {"Device_id", {"device_id", "0", "0"}},
        {"Step", {"step", "50", "50"}},
        {"Computing", {"computing_ns", "8868.240000000003", "8868240"}},
        {"Communication(Not Overlapped)", {"communication_not_overlapped_ns", "1.5", "1500"}},
        {"Overlapped", {"overlapped_ns", "0.25", "250"}},
        {"Communication", {"communication_ns", "1.75", "1750"}},
        {"Free", {"free_ns", "9", "9000"}},
        {"Stage", {"stage_ns", "8880", "8880000"}},
        {"Bubble", {"bubble_ns", "0.0", "0"}},
        {"Communication(Not Overlapped and Exclude Receive)",
         {"communication_not_overlapped_and_exclude_receive_ns", "-1.5", "-1500"}},
        {"Preparing", {"preparing_ns", "12.5", "12500"}}};
    const std::string base =
        "Computing,Communication(Not "
        "Overlapped),Overlapped,Communication,Free,Stage,Bubble,Communication(Not "
        "Overlapped and Exclude Receive)";
    for (const std::string& header :
         {"Device_id,Step," + base + ",Preparing", "Step," + base + ",Preparing", "Step," + base, base})
        check("step_trace_time", known, header, "\r\n");
}

TEST_CASE("operator_details and the memory files: every version's header", "[csv][versions]") {
    const Heads details = {
        {"Name", {"name", "aten::mm", "aten::mm"}},
        {"Input Shapes", {"input_shapes", "\"4,8;\r\n8,2\"", "4,8;\r\n8,2"}},
        {"Call Stack", {"call_stack", "\"a.py(1): f;\r\nb.py(2): g\"", "a.py(1): f;\r\nb.py(2): g"}},
        {"Host Self Duration(us)", {"host_self_duration_ns", "1", "1000"}},
        {"Host Total Duration(us)", {"host_total_duration_ns", "2", "2000"}},
        {"Device Self Duration(us)", {"device_self_duration_ns", "3", "3000"}},
        {"Device Total Duration(us)", {"device_total_duration_ns", "4", "4000"}},
        {"Device Self Duration With AICore(us)", {"device_self_duration_with_aicore_ns", "5", "5000"}},
        {"Device Total Duration With AICore(us)", {"device_total_duration_with_aicore_ns", "6", "6000"}}};
    for (const std::string header :
         {"Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),Device Self "
          "Duration(us),Device Total Duration(us),Device Self Duration With AICore(us),Device Total Duration "
          "With "
          "AICore(us)",
          "Name,Input Shapes"})
        check("operator_details", details, header, "\r\n");

    // Sizes: 1.5 KB are 1536 bytes, 1.5 MB are 1572864 bytes.
    Heads blocks = {{"Device_id", {"device_id", "0", "0"}},
                    {"Name", {"name", "aten::empty", "aten::empty"}},
                    {"Size(KB)", {"size_bytes", "-1.5", "-1536"}},
                    {"Allocation Time(us)", {"alloc_ns", "1698765432119902.5\t", "1698765432119902500"}},
                    {"Release Time(us)", {"release_ns", "N/A", "NULL"}},
                    {"Active Release Time(us)", {"active_release_time_ns", "", "NULL"}},
                    {"Duration(us)", {"dur_ns", "36.7", "36700"}},
                    {"Active Duration(us)", {"active_duration_ns", "40", "40000"}},
                    {"Stream Ptr", {"stream_ptr", "281473416683552", "281473416683552"}},
                    {"Device Type", {"device_type", "NPU:0", "NPU:0"}},
                    {"Device", {"device_type", "NPU:0", "NPU:0"}}};
    std::string totals_mb, totals_kb, totals_old;
    for (const std::string when : {"allocation", "release"}) {
        for (const std::string what : {"allocated", "reserved", "active"}) {
            std::string head = when + " Total " + what;
            head[0] = static_cast<char>(std::toupper(head[0]));
            head[head.size() - what.size()] =
                static_cast<char>(std::toupper(head[head.size() - what.size()]));
            const std::string column = when + "_total_" + what + "_bytes";
            blocks[head + "(MB)"] = {column, "1.5", "1572864"};
            blocks[head + "(KB)"] = {column, "1.5", "1536"};
            totals_mb += "," + head + "(MB)";
            if (what == "active") continue;
            totals_kb += "," + head + "(KB)";
            totals_old += "," + head + "(MB)";
        }
    }
    for (const std::string& header :
         {"Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),Active "
          "Duration(us)" +
              totals_mb + ",Stream Ptr,Device Type",
          "Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us)" + totals_old + ",Device Type",
          "Device_id,Name,Size(KB),Allocation Time(us),Duration(us)" + totals_kb + ",Device"})
        check("operator_memory", blocks, header, "\r\n");

    const Heads usage = {{"Device_id", {"device_id", "0", "0"}},
                         {"Component", {"component", "PTA+GE", "PTA+GE"}},
                         {"Timestamp(us)", {"ts_ns", "1736412474730135.222\t", "1736412474730135222"}},
                         {"Total Allocated(MB)", {"allocated_bytes", "1.5", "1572864"}},
                         {"Total Allocated(KB)", {"allocated_bytes", "1.5", "1536"}},
                         {"Total Reserved(MB)", {"reserved_bytes", "2", "2097152"}},
                         {"Total Reserved(KB)", {"reserved_bytes", "2", "2048"}},
                         {"Total Active(MB)", {"active_bytes", "0.5", "524288"}},
                         {"Stream Ptr", {"stream_ptr", "281473416683552", "281473416683552"}},
                         {"Device Type", {"device_type", "NPU:0", "NPU:0"}},
                         {"Device", {"device_type", "NPU:0", "NPU:0"}}};
    const std::string base = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB)";
    for (const std::string& header :
         {base + ",Total Active(MB),Stream Ptr,Device Type", base + ",Device Type",
          base + ",Total Active(MB),Device Type",
          std::string("Device_id,Component,Timestamp(us),Total Allocated(KB),Total Reserved(KB),Device")})
        check("memory_record", usage, header, "\r\n");
}

TEST_CASE("heads of no known version are in extra, by name", "[csv][versions]") {
    TempFolder folder;
    Sql sql;
    const std::string path = folder.write("a.csv",
                                          "Name,Duration(us),aic_0x49,Mood,Duration(us),,aiv_bubble_stall_"
                                          "cycles\nx,1,12,good,2,3,\ny,2,N/A,\"a \"\"b\"\"\",3\n");
    CHECK(sql.rows("SELECT name, dur_ns, extra FROM kernel_details('" + path + "')") ==
          std::vector<std::vector<std::string>>{
              {"x", "1000", R"#({"aic_0x49":12,"Mood":"good","Duration(us)":2,"column_6":3})#"},
              {"y", "2000", R"#({"Mood":"a \"b\"","Duration(us)":3})#"}});
    CHECK(sql.integer("SELECT sum(extra ->> 'aic_0x49') FROM kernel_details('" + path + "')") == 12);
    // A cluster's file has all the columns of a rank's, and some more.
    const std::string cluster =
        folder.write("cluster_step_trace_time.csv",
                     "Step,Type,Index,Computing,Free\n1,rank,0,10,1\n1,stage,\"(0, 1)\",11,2\n");
    CHECK(sql.rows("SELECT step, computing_ns, extra ->> 'Type', extra ->> 'Index' FROM "
                   "step_trace_time('" +
                   cluster + "')") == std::vector<std::vector<std::string>>{
                                          {"1", "10000", "rank", "0"}, {"1", "11000", "stage", "(0, 1)"}});
}
