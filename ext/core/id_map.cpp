#include "ext/core/id_map.h"

#include <algorithm>
#include <bit>
#include <random>

namespace profana {
namespace {

constexpr int64_t kNoId = std::numeric_limits<int64_t>::min();
constexpr uint64_t kSparse = 16;  // so many places for an id are fewer bytes than a hash takes
constexpr uint64_t kSmall = 128;  // and so many are nothing

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
    if (span / kSparse <= ids.size() + kSmall) {
        base_ = low;
        dense_.assign(span + 1, kNone);
    } else if (!make_pages(ids)) {
        slots_.resize(std::bit_ceil(ids.size() * 2 + 2));
    }
    PageVector<uint32_t> last;  // row of the same id that came last, by first row; made when an id repeats
    for (uint32_t row = 0; row < ids.size(); ++row)
        if (ids[row] != kNoId) add(place_of(ids[row]), row, ids.size(), last);
}

// false: the ids lie too far apart, a page would hold too few of them.
bool IdMap::make_pages(std::span<const int64_t> ids) {
    const uint64_t most = (ids.size() + kSmall) * kSparse / kPageIds;
    uint32_t made = 0;
    pages_.resize(64);
    int64_t before = kNoId;  // no id's page
    for (const int64_t id : ids) {
        const int64_t number = id >> kPageShift;
        if (id == kNoId || number == before) continue;
        before = number;
        Page& page = pages_[slot_of_page(number)];
        if (page.begin != kNone) continue;
        if (made == most) {
            pages_ = {};
            return false;
        }
        page = {number, made++};
        if (made * 2 <= pages_.size()) continue;
        std::vector<Page> fewer(pages_.size() * 2);
        fewer.swap(pages_);
        for (const Page& known : fewer)
            if (known.begin != kNone) pages_[slot_of_page(known.number)] = known;
    }
    dense_.assign(made * kPageIds, kNone);
    return true;
}

size_t IdMap::slot_of_page(int64_t number) const {
    size_t slot = mixed(number) & (pages_.size() - 1);
    while (pages_[slot].begin != kNone && pages_[slot].number != number)
        slot = (slot + 1) & (pages_.size() - 1);
    return slot;
}

// Where the first row of an id is kept; it is one of those that the map is made of.
uint32_t* IdMap::place_of(int64_t id) {
    if (!pages_.empty()) {
        const Page& page = pages_[slot_of_page(id >> kPageShift)];
        return &dense_[page.begin * kPageIds + (static_cast<uint64_t>(id) & (kPageIds - 1))];
    }
    if (!dense_.empty()) return &dense_[static_cast<uint64_t>(id) - static_cast<uint64_t>(base_)];
    size_t slot = mixed(id) & (slots_.size() - 1);
    while (slots_[slot].row != kNone && slots_[slot].id != id) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot].id = id;
    return &slots_[slot].row;
}

void IdMap::add(uint32_t* first, uint32_t row, size_t rows, PageVector<uint32_t>& last) {
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
