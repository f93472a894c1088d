// How much memory the process may still take: the basis of the memory_limit setting.
#include "ext/core/memory.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <string>

#include "ext/connection.h"

namespace profana {
namespace {

// The number on the first line of a file; `fallback` where there is none ("max" in a cgroup file).
uint64_t number_in(const char* path, uint64_t fallback) {
    std::ifstream file(path);
    uint64_t value = 0;
    return file >> value ? value : fallback;
}

uint64_t meminfo_available() {
    std::ifstream file("/proc/meminfo");
    for (std::string key; file >> key;) {
        uint64_t kib = 0;
        if (key == "MemAvailable:" && file >> kib) return kib * 1024;
        std::getline(file, key);
    }
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size)
                                 : uint64_t{1} << 32;
}

// Of the pages of files that a cgroup counts as used, those that it gives back when memory is short.
uint64_t cgroup_reclaimable() {
    std::ifstream file("/sys/fs/cgroup/memory.stat");
    uint64_t bytes = 0;
    for (std::string key; file >> key >> bytes;)
        if (key == "inactive_file") return bytes;
    return 0;
}

uint64_t measured_memory() {
    const uint64_t free = meminfo_available();
    const uint64_t limit = number_in("/sys/fs/cgroup/memory.max", UINT64_MAX);
    const uint64_t used = number_in("/sys/fs/cgroup/memory.current", 0);
    const uint64_t kept = used - std::min(used, cgroup_reclaimable());
    return std::min(free, limit > kept ? limit - kept : 0);
}

}  // namespace

// Cursors ask, and a correlated subquery opens one for each row: the files are read once a second at most.
uint64_t available_memory() {
    static std::atomic<uint64_t> bytes{0};
    static std::atomic<int64_t> asked{0};
    const int64_t now = std::chrono::duration_cast<std::chrono::milliseconds>(
                            std::chrono::steady_clock::now().time_since_epoch())
                            .count();
    const int64_t last = asked.load();
    if (last == 0 || now - last > 1000) {
        bytes = measured_memory() + counted_bytes();
        asked = now;
    }
    return bytes;
}

}  // namespace profana
