// From the ids of a file's rows to the rows: the hash side of a join.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

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
    uint32_t find_hashed(int64_t id) const;
    void add(uint32_t* first, uint32_t row, size_t rows, std::vector<uint32_t>& last);

    int64_t base_ = 0;
    std::vector<uint32_t> dense_;  // by id - base_; used where the ids lie close together
    std::vector<Slot> slots_;      // open addressing, a power of two
    std::vector<uint32_t> next_;   // empty: no id is repeated
    uint64_t repeated_ = 0;
};

}  // namespace profana
