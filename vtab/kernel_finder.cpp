#include "vtab/kernel_finder.h"

#include <algorithm>

#include "ext/core/nest_events.h"

namespace profana {
namespace {

const Column* column_of(const Table& table, const char* name) {
    return table.find(model_column(Model::kKernel, name));
}

}  // namespace

ColumnSet KernelFinder::columns() {
    ColumnSet wanted;
    for (const char* name : {"start_ns", "stream_id", "task_id", "name", "is_communication"})
        wanted.add(model_column(Model::kKernel, name));
    return wanted;
}

KernelFinder::KernelFinder(const Table& kernels, const Column& device_names)
    : start_(column_of(kernels, "start_ns")),
      stream_(column_of(kernels, "stream_id")),
      task_(column_of(kernels, "task_id")),
      name_(column_of(kernels, "name")),
      device_names_(device_names) {
    const Column* communication = column_of(kernels, "is_communication");
    for (Row row = 0; start_ != nullptr && row < kernels.rows(); ++row) {
        const bool collective = communication != nullptr && communication->integer(row) == 1;
        if (!collective && start_->integer(row) != kNullInt) by_start_.push_back(row);
    }
    std::stable_sort(by_start_.begin(), by_start_.end(),
                     [&](Row a, Row b) { return start_->integer(a) < start_->integer(b); });
    names_.assign(device_names.dictionary().size(), kUnknownCode);
}

template <class F>
void KernelFinder::each_starting(int64_t start, F f) const {
    if (start == kNullInt) return;
    auto at = std::lower_bound(by_start_.begin(), by_start_.end(), start,
                               [&](Row row, int64_t time) { return start_->integer(row) < time; });
    for (; at != by_start_.end() && start_->integer(*at) == start; ++at) f(*at);
}

// A device row's name as the kernels' dictionary has it; looked up once a name.
uint32_t KernelFinder::kernel_code(uint32_t device_code) {
    uint32_t& code = names_[device_code];
    if (code == kUnknownCode) code = name_->dictionary().find(device_names_.dictionary().text(device_code));
    return code == kNullCode ? kUnknownCode : code;
}

uint32_t KernelFinder::find(int64_t start, uint32_t name, int64_t stream, int64_t task) {
    uint32_t best = kNoParent;
    int best_score = 0;
    each_starting(start, [&](Row row) {
        const bool same_name = name != kNullCode && name_ != nullptr && name_->code(row) == kernel_code(name);
        const bool same_task = stream_ != nullptr && task_ != nullptr && task != kNullInt &&
                               stream != kNullInt && stream_->integer(row) == stream &&
                               task_->integer(row) == task;
        const int score = (same_name ? 1 : 0) + (same_task ? 2 : 0);
        if (score == 0 || score < best_score) return;
        best = row;
        best_score = score;
    });
    return best;
}

uint32_t KernelFinder::starting(int64_t start) const {
    uint32_t last = kNoParent;
    each_starting(start, [&](Row row) { last = row; });
    return last;
}

std::unique_ptr<Column> id_column(const PageVector<uint32_t>& rows, int64_t id_base) {
    auto out = std::make_unique<Column>(ColumnType::kInt);
    for (const uint32_t row : rows) out->add_int(row == kNoParent ? kNullInt : id_base + row);
    return out;
}

}  // namespace profana
