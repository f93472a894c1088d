// The loaders of the model tables, one a table; each fills what Load::out() wants.
#pragma once

#include "vtab/db_load.h"

namespace profana {

// From the profiler's database.
void load_kernel(Load& load);         // db_kernels.cpp
void load_kernel_pmu(Load& load);     //
void load_device_task(Load& load);    // db_tasks.cpp
void load_launch(Load& load);         //
void load_host_op(Load& load);        // db_host.cpp
void load_python_call(Load& load);    //
void load_fwd_bwd(Load& load);        //
void load_comm_op(Load& load);        // db_comm.cpp
void load_comm_task(Load& load);      //
void load_memory_alloc(Load& load);   // db_memory.cpp
void load_memory_usage(Load& load);   //
void load_step(Load& load);           // db_session.cpp
void load_mstx_range(Load& load);     //
void load_overlap_bar(Load& load);    //
void load_device(Load& load);         //
void load_api_stat(Load& load);       //
void load_process_group(Load& load);  //

// From analysis.db or communication_analyzer.db (db_analysis.cpp).
void load_step_time(Load& load);
void load_comm_bandwidth(Load& load);

}  // namespace profana
