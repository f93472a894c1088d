// The model tables out of the traces of an Ascend profiler: trace_view.json (PyTorch, MindSpore) and
// msprof_*.json, which is the device part of the same. One pass over the files fills them all; what joins
// rows is computed when it is asked for.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "vtab/ascend_tables.h"

namespace profana {

class AscendTrace {
  public:
    // `kernels`: those of another file, as a model table; nullptr: the device rows of the trace are the
    // kernels.
    AscendTrace(AscendTraceOptions options, std::shared_ptr<Table> kernels)
        : options_(std::move(options)), kernels_(std::move(kernels)) {}

    static bool fills(Model model);
    void load(Model model, Table& table, const ColumnSet& wanted, LoadContext& context);

    // host_op_id of memory that was asked for at these times.
    std::unique_ptr<Column> attach(const PageVector<int64_t>& times, LoadContext& context);
    // For each time when the dequeue event that runs then was enqueued; kNullInt: no event runs.
    PageVector<int64_t> enqueued_at(const PageVector<int64_t>& times, LoadContext& context);

    // As far as it is read:
    std::string unreadable() const { return tables_ == nullptr ? std::string() : tables_->unreadable; }
    FileState state() const { return tables_ == nullptr ? FileState::kComplete : tables_->state; }

  private:
    AscendTables& read(LoadContext& context);
    void link(AscendTables& tables, LoadContext& context);
    const ModelRows& rows_of(Model model, AscendTables& tables, const ColumnSet& wanted,
                             LoadContext& context);

    AscendTraceOptions options_;
    std::shared_ptr<Table> kernels_;
    std::mutex mutex_;
    std::unique_ptr<AscendTables> tables_;
};

}  // namespace profana
