#include "vtab/ascend_trace.h"

#include "vtab/capture.h"
#include "vtab/kernel_finder.h"

namespace profana {

bool AscendTrace::fills(Model model) {
    switch (model) {
        case Model::kDeviceTask:
        case Model::kHostOp:
        case Model::kLaunch:
        case Model::kPythonCall:
        case Model::kFwdBwd:
        case Model::kStep:
        case Model::kCommOp:
        case Model::kCommTask:
        case Model::kMstxRange:
        case Model::kOverlapBar:
            return true;
        default:
            return false;
    }
}

AscendTables& AscendTrace::read(LoadContext& context) {
    if (tables_ == nullptr) {
        for (const std::string& file : options_.files) forget_reading(file, context.diagnostics);
        tables_ = read_ascend_tables(options_, context);
    }
    return *tables_;
}

void AscendTrace::link(AscendTables& tables, LoadContext& context) {
    if (kernels_ != nullptr)
        kernels_->ensure(KernelFinder::columns(), context);
    else
        take_kernels(tables, options_.id_base);
    link_kernels(tables, kernels_.get(), options_.id_base);
}

const ModelRows& AscendTrace::rows_of(Model model, AscendTables& tables, const ColumnSet& wanted,
                                      LoadContext& context) {
    const auto add_steps = [&](ModelRows& rows) -> const ModelRows& {
        if (wants_any(wanted, model, {"step"}) && !rows.has("step"))
            rows.set("step", tables.steps.column(rows.get("start_ns")));
        return rows;
    };
    switch (model) {
        case Model::kKernel:
            take_kernels(tables, options_.id_base);
            return add_steps(tables.kernels);
        case Model::kDeviceTask:
            if (wants_any(wanted, model, {"kernel_id"})) link(tables, context);
            return add_steps(tables.device.rows);
        case Model::kHostOp:
            tables.host.derive(wanted, tables.steps, options_.id_base);
            return tables.host.rows();
        case Model::kLaunch:
            add_launches(tables, options_.id_base);
            if (wants_any(wanted, model, {"kernel_id"})) link(tables, context);
            return tables.launches;
        case Model::kPythonCall:
            tables.python.derive(wanted, options_.id_base);
            return tables.python.rows();
        case Model::kFwdBwd:
            if (!tables.has_forward_backward)
                add_forward_backward(tables.flows, kForwardBackwardFlow, tables.threads,
                                     tables.forward_backward);
            tables.has_forward_backward = true;
            return tables.forward_backward;
        case Model::kStep:
            return tables.steps.rows();
        case Model::kCommOp:
            return add_steps(tables.comm_ops.rows);
        case Model::kCommTask:
            return add_steps(tables.comm_tasks.rows);
        case Model::kMstxRange:
            return tables.marks.rows;
        default:
            return tables.bars.rows;
    }
}

void AscendTrace::load(Model model, Table& table, const ColumnSet& wanted, LoadContext& context) {
    std::lock_guard<std::mutex> lock(mutex_);
    rows_of(model, read(context), wanted, context).give(table, wanted);
}

std::unique_ptr<Column> AscendTrace::attach(const PageVector<int64_t>& times, LoadContext& context) {
    std::lock_guard<std::mutex> lock(mutex_);
    return read(context).host.attach(times, options_.id_base);
}

PageVector<int64_t> AscendTrace::enqueued_at(const PageVector<int64_t>& times, LoadContext& context) {
    std::lock_guard<std::mutex> lock(mutex_);
    return read(context).host.enqueued_at(times);
}

}  // namespace profana
