#include "vtab/read_ahead.h"

#include <algorithm>

#include "vtab/profile.h"

namespace profana {
namespace {

constexpr Model kLarge[] = {Model::kHostOp, Model::kLaunch, Model::kKernel, Model::kDeviceTask};

bool is_large(Model model) {
    return std::find(std::begin(kLarge), std::end(kLarge), model) != std::end(kLarge);
}

}  // namespace

void ReadAhead::expect(Model model, const Plan& plan) {
    // Nothing tells where one statement's plans end and the next one's begin, but those of one come at once.
    constexpr std::chrono::milliseconds kOneStatement{20};
    if (!is_large(model)) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - planned_at_ > kOneStatement) columns_ = {};
    planned_at_ = now;
    ColumnSet& wanted = columns_[static_cast<size_t>(model)];
    const int columns = static_cast<int>(model_specs()[static_cast<size_t>(model)].columns.size());
    const auto add = [&](int column) {
        if (column >= kFirstModelColumn && column < columns) wanted.add(column - kFirstModelColumn);
    };
    for (int column = 0; column < columns; ++column)
        if (plan.uses(column)) add(column);
    for (const PlanTerm& term : plan.terms) add(term.column);
    for (const OrderTerm& term : plan.order) add(term.column);
}

std::vector<LoadTask> ReadAhead::take(Connection& connection, Model model,
                                      const std::vector<LoadTask>& tasks) {
    std::vector<LoadTask> more;
    const auto nothing = [&](Model other) { return columns_[static_cast<size_t>(other)].empty(); };
    if (!is_large(model) || std::all_of(std::begin(kLarge), std::end(kLarge), nothing)) return more;
    const auto is_asked = [&](const std::shared_ptr<Table>& table) {
        return std::any_of(tasks.begin(), tasks.end(),
                           [&](const LoadTask& task) { return task.table == table.get(); });
    };
    for (const auto& profile : connection.profiles())
        for (const auto& source : profile->sources) {
            if (!source->loads_side_by_side() || !is_asked(source->table(model))) continue;
            for (const Model other : kLarge) {
                const ColumnSet& columns = columns_[static_cast<size_t>(other)];
                if (other == model || columns.empty()) continue;
                if (const auto table = source->table(other)) more.push_back({table.get(), columns});
            }
        }
    columns_ = {};
    return more;
}

}  // namespace profana
