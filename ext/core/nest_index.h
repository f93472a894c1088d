// Ranges that nest, made into an index that answers "which is the innermost that contains this one?" in
// logarithmic time.
//
// The rule is that of ContainmentStack. Where a stack needs everybody who asks in one order with the ranges,
// the index is made once from the ranges alone and takes questions as they come.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ext/core/by_key.h"

namespace profana {

class NestIndex {
  public:
    // Ranges of different keys know nothing of each other.
    void add(std::string_view key, int64_t id, int64_t start, int64_t end);
    // Once, after the last add().
    void build();
    // The id of the innermost range of the key that contains [start, end] whole, both ends included.
    std::optional<int64_t> find(std::string_view key, int64_t start, int64_t end);

  private:
    static constexpr uint32_t kNone = ~uint32_t{0};

    // Upwards along parents ends rise, so a jump over several of them is safe while the range it leads to
    // still ends too early.
    struct Node {
        int64_t start, end, id;
        uint32_t parent = kNone, jump = kNone, depth = 0;
    };
    static void link(std::vector<Node>& nodes);

    ByKey<std::vector<Node>> nodes_;
};

}  // namespace profana
