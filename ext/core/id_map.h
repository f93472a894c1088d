// From the ids of a file's rows to the rows: the hash side of a join.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "ext/core/pages.h"

namespace profana {

class IdMap {
  public:
    static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

    IdMap() = default;
    // ids[row] is the id of the row; INT64_MIN (the store's NULL) is no id. Fewer than 2^32 - 1 rows.
    explicit IdMap(std::span<const int64_t> ids);

    // The first row of that id; kNone: there is none.
    uint32_t find(int64_t id) const {
        if (dense_.empty()) return find_hashed(id);
        if (!pages_.empty()) return find_in_pages(id);
        const uint64_t place = static_cast<uint64_t>(id) - static_cast<uint64_t>(base_);
        return place < dense_.size() ? dense_[place] : kNone;
    }
    // The row after `row` that has the same id.
    uint32_t next(uint32_t row) const { return next_.empty() ? kNone : next_[row]; }
    // How many rows have an id that an earlier row has.
    uint64_t repeated() const { return repeated_; }

  private:
    struct Slot {
        int64_t id;
        uint32_t row = kNone;
    };
    // Ids in a few clusters, far from each other: those of one page stand side by side in dense_.
    static constexpr int kPageShift = 10;
    static constexpr uint64_t kPageIds = uint64_t{1} << kPageShift;
    struct Page {
        int64_t number = 0;      // id >> kPageShift
        uint32_t begin = kNone;  // in dense_, by kPageIds
    };

    bool make_pages(std::span<const int64_t> ids);
    size_t slot_of_page(int64_t number) const;
    uint32_t* place_of(int64_t id);
    uint32_t find_in_pages(int64_t id) const {
        const Page& page = pages_[slot_of_page(id >> kPageShift)];
        if (page.begin == kNone) return kNone;
        return dense_[page.begin * kPageIds + (static_cast<uint64_t>(id) & (kPageIds - 1))];
    }
    uint32_t find_hashed(int64_t id) const;
    void add(uint32_t* first, uint32_t row, size_t rows, PageVector<uint32_t>& last);

    int64_t base_ = 0;
    PageVector<uint32_t> dense_;  // by id - base_, where the ids lie close together; or page by page
    std::vector<Page> pages_;     // open addressing, a power of two; empty: dense_ is one piece
    PageVector<Slot> slots_;      // open addressing, a power of two; where the ids lie far apart
    PageVector<uint32_t> next_;   // empty: no id is repeated
    uint64_t repeated_ = 0;
};

}  // namespace profana
