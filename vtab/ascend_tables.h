// The model tables of an Ascend trace while they are filled and joined.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vtab/trace_tables.h"

namespace profana {

struct AscendTraceOptions {
    std::vector<std::string> files;                  // slices of one trace
    std::map<std::string, std::string> group_names;  // group id -> name of the process group
    std::optional<int64_t> device;                   // only the rows of this device
    int64_t only_device = kNullInt;  // the device of rows that name none, where the capture has but one
    int64_t id_base = 1;
    int64_t clock_offset_ns = 0;  // added to times that count from the start of the machine (2023)
};

enum AscendFlow : uint8_t { kLaunchFlow, kForwardBackwardFlow, kHostToDeviceFlow, kMarkFlow };

// A thread of the trace, as its metadata events describe it.
struct AscendLane {
    enum Process : uint8_t { kUnnamed, kHardware, kCann, kCommunication, kOverlap, kMindSpore, kOther };
    Process process = kUnnamed;
    int64_t device = kNullInt;
    int64_t group = kNullInt;   // order of its communication group, from 1
    int64_t plane = kNullInt;   // order among the planes of the group, from 1
    bool is_operation = false;  // holds the group's whole operations; other threads are planes
};

struct AscendGroup {
    std::string name;           // Group 5311597047299924624 Communication
    std::string process_group;  // tp; empty: not known
    int64_t planes = 0;
};

struct DeviceTasks {
    ModelRows rows{Model::kDeviceTask};
    TimeColumns times{rows};
    Column &device = rows.column("device_id"), &stream = rows.column("stream_id"),
           &task = rows.column("task_id"), &connection = rows.column("connection_id"),
           &size = rows.column("size_bytes"), &source = rows.column("source_row");
    TraceTextColumn name{rows.column("name")}, type{rows.column("task_type")};
    RowsByPlace places;
    std::vector<char> is_mark;  // by row, once marks are linked: the device's end of an mstx mark
};

struct CommOps {
    ModelRows rows{Model::kCommOp};
    TimeColumns times{rows};
    Column &device = rows.column("device_id"), &type = rows.column("op_type"),
           &group = rows.column("group_name"), &process_group = rows.column("process_group"),
           &group_index = rows.column("group_index"), &planes = rows.column("plane_count"),
           &connection = rows.column("connection_id"), &source = rows.column("source_row");
    TraceTextColumn name{rows.column("name")};
    RowsByPlace places;
};

struct CommTasks {
    ModelRows rows{Model::kCommTask};
    TimeColumns times{rows};
    Column &group = rows.column("group_name"), &group_index = rows.column("group_index"),
           &plane = rows.column("plane_id"), &plane_order = rows.column("plane_order"),
           &size = rows.column("size_bytes"), &source_rank = rows.column("src_rank"),
           &target_rank = rows.column("dst_rank"), &source = rows.column("source_row");
    TraceTextColumn name{rows.column("name")}, transport{rows.column("transport")},
        link{rows.column("link_type")};
};

struct Marks {
    ModelRows rows{Model::kMstxRange};
    TimeColumns times{rows, false};
    Column &thread = rows.column("thread_id"), &source = rows.column("source_row");
    TraceTextColumn type{rows.column("event_type")}, domain{rows.column("domain")},
        message{rows.column("message")};
    RowsByPlace places;
};

struct OverlapBars {
    ModelRows rows{Model::kOverlapBar};
    TimeColumns times{rows};
    Column &device = rows.column("device_id"), &source = rows.column("source_row");
    TraceTextColumn name{rows.column("name")};
};

struct AscendTables {
    FileState state = FileState::kComplete;
    std::string unreadable;  // why no event could be read; empty: some were, or there are none
    std::vector<TraceLane> threads;
    std::vector<AscendLane> lanes;  // by the same number
    std::vector<AscendGroup> groups;
    HostOps host;
    uint32_t api_kind = 0;  // code of host.rows() column kind
    PythonCalls python;
    Steps steps;
    DeviceTasks device;
    CommOps comm_ops;
    CommTasks comm_tasks;
    Marks marks;
    OverlapBars bars;
    PageVector<FlowEnd> flows;
    // Filled when they are asked for.
    ModelRows forward_backward{Model::kFwdBwd}, launches{Model::kLaunch}, kernels{Model::kKernel};
    PageVector<uint32_t> launched_task;  // by row of launches; kNoParent: none
    bool has_forward_backward = false, has_launches = false, has_kernels = false;
};

// One pass over the files (ascend_reader.cpp).
std::unique_ptr<AscendTables> read_ascend_tables(const AscendTraceOptions& options, LoadContext& context);

// Joins (ascend_links.cpp), each done once.
void link_comm_tasks(AscendTables& tables, int64_t id_base);
void link_marks(AscendTables& tables);
void add_launches(AscendTables& tables, int64_t id_base);
// prof_kernel out of the device rows, and their kernel_id.
void take_kernels(AscendTables& tables, int64_t id_base);
// kernel_id of the device rows and of the launches: the row of `kernels` (a model table, its columns loaded)
// that is the same work.
void link_kernels(AscendTables& tables, const Table* kernels, int64_t id_base);
}  // namespace profana
