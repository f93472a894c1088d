#include "ext/core/nest_index.h"

#include <algorithm>
#include <tuple>

namespace profana {

void NestIndex::add(std::string_view key, int64_t id, int64_t start, int64_t end) {
    nodes_.get(key).push_back({start, end, id});
}

void NestIndex::build() {
    nodes_.each(link);
}

void NestIndex::link(std::vector<Node>& nodes) {
    std::sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) {
        return std::tie(a.start, b.end, a.id) < std::tie(b.start, a.end, b.id);
    });
    std::vector<uint32_t> open;
    for (uint32_t i = 0; i < nodes.size(); ++i) {
        Node& node = nodes[i];
        while (!open.empty() && nodes[open.back()].end < node.end) open.pop_back();
        node.depth = static_cast<uint32_t>(open.size());
        if (!open.empty()) {
            // A jump as long as the two before it together, where these are equally long: log steps to any
            // depth.
            const uint32_t parent = node.parent = open.back(), jump = nodes[parent].jump;
            const uint32_t far = jump == kNone ? kNone : nodes[jump].jump;
            const bool doubles = far != kNone && nodes[parent].depth - nodes[jump].depth ==
                                                     nodes[jump].depth - nodes[far].depth;
            node.jump = doubles ? far : parent;
        }
        open.push_back(i);
    }
}

std::optional<int64_t> NestIndex::find(std::string_view key, int64_t start, int64_t end) {
    const std::vector<Node>* found = nodes_.find(key);
    if (found == nullptr) return std::nullopt;
    const std::vector<Node>& nodes = *found;
    const auto behind = std::upper_bound(nodes.begin(), nodes.end(), start,
                                         [](int64_t time, const Node& node) { return time < node.start; });
    if (behind == nodes.begin()) return std::nullopt;
    const Node* node = &*std::prev(behind);
    while (node->end < end) {
        if (node->parent == kNone) return std::nullopt;
        node = &nodes[nodes[node->jump].end < end ? node->jump : node->parent];
    }
    return node->id;
}

}  // namespace profana
