// How long work stays interruptible, and where what it notices goes.
//
// The thread that owns the SQL statement calls Progress::poll() every few milliseconds; worker threads only
// look at cancelled(), or have a Progress of their own. They never call SQLite on the statement's connection.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "ext/core/diagnostics.h"
#include "ext/core/error.h"
#include "ext/core/memory.h"

namespace profana {

class Progress {
  public:
    virtual ~Progress() = default;

    // On the statement's own thread: has the user asked to stop? Sets cancelled().
    virtual bool interrupted() { return false; }

    bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
    void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
    void reset() { cancelled_.store(false, std::memory_order_relaxed); }  // for the next statement

    // Throws Error(kInterrupted) once the user has asked to stop. Statement's thread only.
    void poll() {
        if (cancelled() || interrupted()) {
            cancel();
            throw Error("interrupted", ErrorKind::kInterrupted);
        }
    }

  private:
    std::atomic<bool> cancelled_{false};
};

template <class Mutex>
std::unique_lock<Mutex> lock_interruptibly(Mutex& mutex, Progress& progress) {
    std::unique_lock<Mutex> lock(mutex, std::try_to_lock);
    while (!lock.owns_lock() && !lock.try_lock_for(std::chrono::milliseconds(20))) progress.poll();
    return lock;
}

// Everything a loader may use of its surroundings.
struct LoadContext {
    Progress& progress;
    Diagnostics& diagnostics;
    unsigned threads = 1;             // worker threads beside the statement's own
    uint64_t max_inflated_bytes = 0;  // limit for one compressed file; 0: none
    uint64_t memory_limit_bytes = 0;  // for all tables of the process; 0: none

    // What a loader calls every few thousand rows, on the statement's thread.
    void poll() {
        progress.poll();
        check_memory_limit(memory_limit_bytes);
    }

    // The same, but what is noticed goes elsewhere; or for a thread beside the statement's, with its own
    // progress.
    LoadContext telling(Diagnostics& elsewhere) const {
        return {progress, elsewhere, threads, max_inflated_bytes, memory_limit_bytes};
    }
    LoadContext beside(Progress& own, unsigned own_threads) const {
        return {own, diagnostics, own_threads, max_inflated_bytes, memory_limit_bytes};
    }
};

}  // namespace profana
