#include "ext/core/memory.h"

#include <atomic>
#include <string>

#include "ext/core/error.h"

namespace profana {
namespace {

std::atomic<uint64_t> account{0};

}  // namespace

void CountedBytes::set(size_t bytes) {
    account.fetch_add(static_cast<uint64_t>(bytes) - bytes_, std::memory_order_relaxed);
    bytes_ = bytes;
}

uint64_t counted_bytes() {
    return account.load(std::memory_order_relaxed);
}

void check_memory_limit(uint64_t limit_bytes) {
    const uint64_t held = counted_bytes();
    if (limit_bytes == 0 || held <= limit_bytes) return;
    // Not kNoMemory: hosts replace the text of SQLITE_NOMEM by their own.
    throw Error("profana: loaded tables hold " + std::to_string(held) +
                " bytes, more than the setting memory_limit of " + std::to_string(limit_bytes) +
                " bytes; ask for fewer columns, close profiles with profana_close(), or raise it with "
                "profana_set('memory_limit', BYTES)");
}

}  // namespace profana
