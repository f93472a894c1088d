#include "ext/core/id_map.h"

#include <algorithm>
#include <bit>
#include <random>

namespace profana {
namespace {

constexpr int64_t kNoId = std::numeric_limits<int64_t>::min();

// Of this process, so that no file can be made to collide.
uint64_t seed() {
    static const uint64_t value = (uint64_t{std::random_device{}()} << 32) | std::random_device{}();
    return value;
}

uint64_t mixed(int64_t id) {
    uint64_t x = static_cast<uint64_t>(id) ^ seed();
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

}  // namespace

IdMap::IdMap(std::span<const int64_t> ids) {
    int64_t low = std::numeric_limits<int64_t>::max(), high = kNoId;
    for (const int64_t id : ids) {
        if (id == kNoId) continue;
        low = std::min(low, id);
        high = std::max(high, id);
    }
    if (high == kNoId) return;
    const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    const bool dense = span / 8 <= ids.size() + 128;
    if (dense) {
        base_ = low;
        dense_.assign(span + 1, kNone);
    } else {
        slots_.resize(std::bit_ceil(ids.size() * 2 + 2));
    }
    std::vector<uint32_t> last;  // row of the same id that came last, by first row; made when an id repeats
    for (uint32_t row = 0; row < ids.size(); ++row) {
        const int64_t id = ids[row];
        if (id == kNoId) continue;
        if (dense) {
            add(&dense_[static_cast<uint64_t>(id) - static_cast<uint64_t>(low)], row, ids.size(), last);
            continue;
        }
        size_t slot = mixed(id) & (slots_.size() - 1);
        while (slots_[slot].row != kNone && slots_[slot].id != id) slot = (slot + 1) & (slots_.size() - 1);
        slots_[slot].id = id;
        add(&slots_[slot].row, row, ids.size(), last);
    }
}

void IdMap::add(uint32_t* first, uint32_t row, size_t rows, std::vector<uint32_t>& last) {
    if (*first == kNone) {
        *first = row;
        return;
    }
    ++repeated_;
    if (next_.empty()) {
        next_.assign(rows, kNone);
        last.assign(rows, kNone);
    }
    const uint32_t before = last[*first] == kNone ? *first : last[*first];
    next_[before] = row;
    last[*first] = row;
}

uint32_t IdMap::find_hashed(int64_t id) const {
    if (slots_.empty() || id == kNoId) return kNone;
    size_t slot = mixed(id) & (slots_.size() - 1);
    while (slots_[slot].row != kNone && slots_[slot].id != id) slot = (slot + 1) & (slots_.size() - 1);
    return slots_[slot].row;
}

}  // namespace profana
