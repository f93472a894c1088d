// The bytes that all tables of the process hold, and the limit that loading keeps to.
//
// SQLite's own heap limits do not see the store, so the store counts for itself: every block that a column, a
// dictionary or an index takes is counted from allocation to release, also while a table is still loading.
#pragma once

#include <cstddef>
#include <cstdint>

namespace profana {

// A part of the process's account; what it counts leaves the account with it.
class CountedBytes {
  public:
    CountedBytes() = default;
    ~CountedBytes() { set(0); }
    CountedBytes(const CountedBytes&) = delete;
    CountedBytes& operator=(const CountedBytes&) = delete;

    void set(size_t bytes);
    void add(size_t bytes) { set(bytes_ + bytes); }
    size_t get() const { return bytes_; }

  private:
    size_t bytes_ = 0;
};

uint64_t counted_bytes();

// Throws once the process's tables hold more than the limit (setting memory_limit); 0: no limit. Thread-safe.
void check_memory_limit(uint64_t limit_bytes);

}  // namespace profana
