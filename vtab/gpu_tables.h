// The model tables of a GPU trace while they are filled and joined.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vtab/trace_tables.h"

namespace profana {

struct GpuTraceOptions {
    std::string file;
    std::string flow_category;      // replaces the known categories of launch flows; empty: the known ones
    std::optional<int64_t> device;  // only the rows of this device
    int64_t id_base = 1;
};

struct GpuDeviceTasks {
    ModelRows rows{Model::kDeviceTask};
    TimeColumns times{rows};
    Column &device = rows.column("device_id"), &stream = rows.column("stream_id"),
           &type = rows.column("task_type"), &connection = rows.column("connection_id"),
           &kernel = rows.column("kernel_id"), &size = rows.column("size_bytes"),
           &source = rows.column("source_row");
    TraceTextColumn name{rows.column("name")};
    RowsByPlace places;
    // By row; kNullInt or kNoParent: none.
    PageVector<int64_t> external_id;
    PageVector<uint32_t> kernel_row, comm_row;
};

struct GpuKernels {
    ModelRows rows{Model::kKernel};
    TimeColumns times{rows};
    Column &device = rows.column("device_id"), &stream = rows.column("stream_id"),
           &type = rows.column("task_type"), &connection = rows.column("connection_id"),
           &communication = rows.column("is_communication"), &pmu = rows.column("has_pmu"),
           &graph = rows.column("graph_id"), &node = rows.column("graph_node_id"),
           &source = rows.column("source_row");
    TraceTextColumn name{rows.column("name")};
};

struct GpuCommOps {
    ModelRows rows{Model::kCommOp};
    TimeColumns times{rows};
    Column &device = rows.column("device_id"), &stream = rows.column("stream_id"),
           &group_index = rows.column("group_index"), &connection = rows.column("connection_id"),
           &kernel = rows.column("kernel_id"), &source = rows.column("source_row");
    TraceTextColumn name{rows.column("name")}, type{rows.column("op_type")}, group{rows.column("group_name")},
        process_group{rows.column("process_group")};
};

// One [memory] event.
struct GpuMemoryEvent {
    int64_t time, device, bytes, address;
    uint64_t offset;
};

struct GpuTables {
    TraceFacts facts;
    std::string unreadable;  // why no event could be read; empty: some were, or there are none
    std::vector<TraceLane> threads;
    HostOps host;
    uint32_t runtime_kind = 0, driver_kind = 0;  // codes of host.rows() column kind
    PageVector<int64_t> external_id;             // by host row
    PythonCalls python;
    Steps steps;
    GpuDeviceTasks device;
    GpuKernels kernels;
    GpuCommOps comm_ops;
    ModelRows memory_usage{Model::kMemoryUsage};
    std::vector<GpuMemoryEvent> memory;
    PageVector<FlowEnd> flows;
    std::vector<std::string> flow_categories;  // by FlowEnd::category
    // Filled when they are asked for.
    ModelRows forward_backward{Model::kFwdBwd}, launches{Model::kLaunch}, memory_alloc{Model::kMemoryAlloc};
    bool has_forward_backward = false, has_launches = false, has_memory_alloc = false;
};

enum GpuFlow : uint8_t { kGpuLaunch, kGpuForwardBackward };

// One pass over the file (gpu_reader.cpp).
std::unique_ptr<GpuTables> read_gpu_tables(const GpuTraceOptions& options, LoadContext& context);

// Joins (gpu_links.cpp), each done once.
void add_gpu_launches(GpuTables& tables, const GpuTraceOptions& options);
void add_gpu_memory_blocks(GpuTables& tables, const GpuTraceOptions& options);

}  // namespace profana
