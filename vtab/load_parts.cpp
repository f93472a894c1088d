#include "vtab/load_parts.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "ext/core/threads.h"
#include "ext/sqlite.h"

namespace profana {
namespace {

// Loaders on worker threads may not ask SQLite anything: the statement's thread asks, and cancels them.
class SideBySide {
  public:
    SideBySide(const std::vector<LoadTask>& tasks, const std::vector<LoadTask>& ahead, LoadContext& context)
        : tasks_(tasks), asked_(tasks.size()), context_(context) {
        tasks_.insert(tasks_.end(), ahead.begin(), ahead.end());
        // Of tables that wait for each other more can be begun than there are cores.
        const unsigned threads = std::max(1U, context.threads), spare = ahead.empty() ? 0 : threads;
        const size_t workers = std::min<size_t>(tasks_.size(), threads + spare);
        threads_each_ = std::max(1U, spare > 0 ? threads : threads / static_cast<unsigned>(workers));
        errors_.resize(asked_);
        threads_.reserve(workers);
        try {
            for (size_t w = 0; w < workers; ++w) {
                count_running(1);
                threads_.push_back(start_thread([this] { work(); }));
            }
        } catch (...) {  // no more threads to be had
            count_running(-1);
            if (threads_.empty()) throw;
        }
    }

    ~SideBySide() {
        for (std::thread& thread : threads_) thread.join();
    }

    void wait() {
        std::unique_lock<std::mutex> lock(mutex_);
        while (!done_.wait_for(lock, std::chrono::milliseconds(20), [this] { return running_ == 0; })) {
            lock.unlock();
            try {
                context_.progress.poll();
            } catch (...) {
                progress_.cancel();
                throw;
            }
            lock.lock();
        }
        for (const std::exception_ptr& error : errors_)
            if (error) std::rethrow_exception(error);
    }

  private:
    void work() {
        LoadContext context = context_.beside(progress_, threads_each_);
        for (size_t i = next_++; i < tasks_.size() && !progress_.cancelled(); i = next_++) {
            try {
                tasks_[i].table->ensure(tasks_[i].columns, context);
            } catch (...) {
                if (i >= asked_) continue;
                if (!progress_.cancelled()) errors_[i] = std::current_exception();
                progress_.cancel();
            }
        }
        count_running(-1);
    }

    void count_running(int more) {
        const std::lock_guard<std::mutex> lock(mutex_);
        running_ += more;
        if (running_ == 0) done_.notify_one();
    }

    std::vector<LoadTask> tasks_;
    size_t asked_;  // that many of them; the others are read ahead
    LoadContext& context_;
    Progress progress_;
    unsigned threads_each_ = 1;
    std::atomic<size_t> next_{0};
    std::vector<std::exception_ptr> errors_;  // by task
    std::mutex mutex_;
    std::condition_variable done_;
    int running_ = 0;
    std::vector<std::thread> threads_;
};

}  // namespace

void load_one_by_one(const std::vector<LoadTask>& tasks, LoadContext& context) {
    for (const LoadTask& task : tasks) task.table->ensure(task.columns, context);
}

void load_side_by_side(const std::vector<LoadTask>& tasks, const std::vector<LoadTask>& ahead,
                       LoadContext& context) {
    // Databases are read by connections of our own, on the thread that reads.
    const bool alone = context.threads < 2 || sqlite3_threadsafe() == 0;
    if (tasks.size() + ahead.size() < 2 || alone) return load_one_by_one(tasks, context);
    SideBySide(tasks, ahead, context).wait();
}

}  // namespace profana
