#include "ext/core/nest_tree.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "ext/core/nesting.h"

namespace profana {

void NestTree::add(std::string_view key, int64_t id, int64_t start, std::optional<int64_t> end) {
    trees_.get(key).events.push_back({id, start, end});
}

void NestTree::build() {
    trees_.each(link);
}

void NestTree::link(Tree& tree) {
    std::sort(tree.events.begin(), tree.events.end(), [](const Event& a, const Event& b) {
        return std::tie(a.start, a.id) < std::tie(b.start, b.id);
    });
    EventStack stack;
    for (const Event& event : tree.events) {
        stack.move_to(event.start);
        if (const auto parent = stack.innermost()) tree.parents.emplace_back(event.id, *parent);
        if (event.end) stack.push(event.id, event.start, *event.end);
    }
    std::sort(tree.parents.begin(), tree.parents.end());
}

void NestTree::find_moments(Tree& tree) {
    std::vector<int64_t> times;
    times.reserve(tree.events.size() * 4);
    for (const Event& event : tree.events) {
        if (!event.end) continue;
        for (const int64_t time : {event.start, *event.end}) {
            times.push_back(time);
            if (time < std::numeric_limits<int64_t>::max()) times.push_back(time + 1);
        }
    }
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    EventStack stack;
    auto event = tree.events.begin();
    for (const int64_t time : times) {
        for (; event != tree.events.end() && event->start <= time; ++event) {
            stack.move_to(event->start);
            if (event->end) stack.push(event->id, event->start, *event->end);
        }
        stack.move_to(time);
        tree.moments.push_back({time, stack.innermost(), stack.strictly_inside(time)});
    }
}

const NestTree::Moment* NestTree::moment(std::string_view key, int64_t time) {
    Tree* found = trees_.find(key);
    if (found == nullptr) return nullptr;
    Tree& tree = *found;
    if (tree.moments.empty()) find_moments(tree);
    const auto behind = std::upper_bound(tree.moments.begin(), tree.moments.end(), time,
                                         [](int64_t t, const Moment& moment) { return t < moment.time; });
    return behind == tree.moments.begin() ? nullptr : &*std::prev(behind);
}

std::optional<int64_t> NestTree::at(std::string_view key, int64_t time) {
    const Moment* found = moment(key, time);
    return found == nullptr ? std::nullopt : found->at;
}

std::optional<int64_t> NestTree::inside(std::string_view key, int64_t time) {
    const Moment* found = moment(key, time);
    return found == nullptr ? std::nullopt : found->inside;
}

std::optional<int64_t> NestTree::parent(std::string_view key, int64_t id) {
    const Tree* tree = trees_.find(key);
    if (tree == nullptr) return std::nullopt;
    const auto& parents = tree->parents;
    const auto found =
        std::partition_point(parents.begin(), parents.end(), [&](const auto& p) { return p.first < id; });
    if (found == parents.end() || found->first != id) return std::nullopt;
    return found->second;
}

}  // namespace profana
