#include "ext/core/pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace profana {
namespace {

constexpr size_t kRegion = size_t{2} << 20, kSmallest = size_t{32} << 10, kLargest = size_t{1} << 20;
constexpr size_t kPage = 4096, kKept = 8;        // regions that stay though nothing in them is used
constexpr size_t kKeptLarge = size_t{64} << 20;  // bytes of larger pieces that stay

// Sanitizers see what goes wrong in pieces of their own only.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kPlain = true;
#else
constexpr bool kPlain = false;
#endif

size_t piece_size(size_t bytes) {
    return std::max(kSmallest, std::bit_ceil(bytes));
}

size_t whole_pages(size_t bytes) {
    return (bytes + kPage - 1) / kPage * kPage;
}

void* map(size_t bytes) {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    return at;
}

// Aligned to a region: a piece tells its region.
char* map_aligned(size_t bytes) {
    char* wide = static_cast<char*>(map(bytes + kRegion));
    char* at = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(wide) + kRegion - 1) & ~(kRegion - 1));
    if (at > wide) munmap(wide, static_cast<size_t>(at - wide));
    if (at < wide + kRegion) munmap(at + bytes, static_cast<size_t>(wide + kRegion - at));
    return at;
}

class Pool {
  public:
    void* take(size_t piece) {
        std::lock_guard lock(mutex_);
        std::vector<Region*>& open = open_of(piece);
        if (open.empty()) open.push_back(new_region(piece));
        Region& region = *open.back();
        const int number = std::countr_zero(region.free);
        region.free &= region.free - 1;
        if (region.free == 0) open.pop_back();
        return region.at + static_cast<size_t>(number) * piece;
    }

    void give(void* at, size_t piece) {
        std::lock_guard lock(mutex_);
        char* begin = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(at) & ~(kRegion - 1));
        Region& region = *regions_.at(begin);
        std::vector<Region*>& open = open_of(piece);
        if (region.free == 0) open.push_back(&region);
        region.free |= uint64_t{1} << (static_cast<size_t>(static_cast<char*>(at) - begin) / piece);
        if (region.free != all_free(piece)) return;
        open.erase(std::find(open.begin(), open.end(), &region));
        regions_.erase(begin);
        if (kept_.size() < kKept)
            kept_.push_back(begin);
        else
            munmap(begin, kRegion);
    }

    size_t bytes() {
        std::lock_guard lock(mutex_);
        return (regions_.size() + kept_.size()) * kRegion;
    }

  private:
    struct Region {
        char* at;
        uint64_t free;  // a bit for each piece
    };

    static uint64_t all_free(size_t piece) {
        const size_t pieces = kRegion / piece;
        return pieces == 64 ? ~uint64_t{0} : (uint64_t{1} << pieces) - 1;
    }

    std::vector<Region*>& open_of(size_t piece) { return open_[std::countr_zero(piece / kSmallest)]; }

    Region* new_region(size_t piece) {
        char* at = nullptr;
        if (kept_.empty()) {
            at = map_aligned(kRegion);
        } else {
            at = kept_.back();
            kept_.pop_back();
        }
        return regions_.emplace(at, std::make_unique<Region>(Region{at, all_free(piece)}))
            .first->second.get();
    }

    std::mutex mutex_;
    std::unordered_map<char*, std::unique_ptr<Region>> regions_;  // by their beginning
    std::vector<Region*> open_[6];  // with free pieces, by size: 32 KiB to 1 MiB
    std::vector<char*> kept_;
};

// Pieces larger than a region's: those given back last serve those asked for next.
class LargePool {
  public:
    void* take(size_t bytes) {
        if (const Kept kept = take_kept(bytes); kept.at != nullptr) {
            if (kept.bytes > bytes) munmap(kept.at + bytes, kept.bytes - bytes);
            return kept.at;
        }
        return map(bytes);
    }

    void give(void* at, size_t bytes) {
        std::lock_guard lock(mutex_);
        kept_.push_back({static_cast<char*>(at), bytes});
        kept_bytes_ += bytes;
        while (kept_bytes_ > kKeptLarge) {
            munmap(kept_.front().at, kept_.front().bytes);
            kept_bytes_ -= kept_.front().bytes;
            kept_.pop_front();
        }
    }

    size_t bytes() {
        std::lock_guard lock(mutex_);
        return kept_bytes_;
    }

  private:
    struct Kept {
        char* at = nullptr;
        size_t bytes = 0;
    };

    // The smallest that is large enough.
    Kept take_kept(size_t bytes) {
        std::lock_guard lock(mutex_);
        auto best = kept_.end();
        for (auto it = kept_.begin(); it != kept_.end(); ++it)
            if (it->bytes >= bytes && (best == kept_.end() || it->bytes <= best->bytes)) best = it;
        if (best == kept_.end()) return {};
        const Kept kept = *best;
        kept_.erase(best);
        kept_bytes_ -= kept.bytes;
        return kept;
    }

    std::mutex mutex_;
    std::deque<Kept> kept_;  // in the order in which they were given
    size_t kept_bytes_ = 0;
};

// Never destroyed: columns may outlive other static objects.
Pool& pool() {
    static Pool* const it = new Pool;
    return *it;
}

LargePool& large_pool() {
    static LargePool* const it = new LargePool;
    return *it;
}

}  // namespace

void* take_memory(size_t bytes) {
    if (kPlain || bytes < kSmallest) return ::operator new(bytes);
    if (bytes <= kLargest) return pool().take(piece_size(bytes));
    return large_pool().take(whole_pages(bytes));
}

void give_memory(void* at, size_t bytes) {
    if (at == nullptr) return;
    if (kPlain || bytes < kSmallest)
        ::operator delete(at);
    else if (bytes <= kLargest)
        pool().give(at, piece_size(bytes));
    else
        large_pool().give(at, whole_pages(bytes));
}

size_t memory_from_system() {
    return pool().bytes() + large_pool().bytes();
}

}  // namespace profana
