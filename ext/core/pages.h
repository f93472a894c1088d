// Memory for what is loaded: pieces of 32 KiB and more, cut out of regions of 2 MiB and used again by whoever
// needs the next, on any thread.
//
// Using memory for the first time costs more than filling it: a page fault for every 4 KiB. So what a
// parser's thread lets go is what the columns take next; malloc would keep the two apart. A region goes back
// to the system when nothing in it is used, but for a few that are kept. Large pages would spare faults, but
// a virtual machine whose host takes back what is free gets them ten times slower than small ones.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace profana {

// Any alignment up to that of operator new. Thread-safe. Throws std::bad_alloc.
void* take_memory(size_t bytes);
void give_memory(void* at, size_t bytes);  // bytes: as asked for

// What is taken from the system for pieces, in use or kept; for tests.
size_t memory_from_system();

template <class T>
struct PageAllocator {
    using value_type = T;
    PageAllocator() = default;
    template <class U>
    PageAllocator(const PageAllocator<U>&) {}
    T* allocate(size_t n) {
        if (n > std::numeric_limits<size_t>::max() / sizeof(T)) throw std::bad_alloc();
        return static_cast<T*>(take_memory(n * sizeof(T)));
    }
    void deallocate(T* at, size_t n) { give_memory(at, n * sizeof(T)); }
    bool operator==(const PageAllocator&) const { return true; }
};

// For vectors that grow large or live long.
template <class T>
using PageVector = std::vector<T, PageAllocator<T>>;

}  // namespace profana
