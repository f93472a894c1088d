#include "vtab/load_parts.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace profana {
namespace {

// Loaders on worker threads may not ask SQLite anything: the statement's thread asks, and cancels them.
class SideBySide {
  public:
    SideBySide(const std::vector<LoadTask>& tasks, LoadContext& context) : tasks_(tasks), context_(context) {
        const size_t workers = std::min<size_t>(tasks.size(), std::max(1U, context.threads));
        threads_each_ = std::max(1U, context.threads / static_cast<unsigned>(workers));
        errors_.resize(tasks.size());
        try {
            for (size_t w = 0; w < workers; ++w) {
                ++running_;
                threads_.emplace_back([this] { work(); });
            }
        } catch (...) {  // no more threads to be had
            --running_;
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
        LoadContext context{progress_, context_.diagnostics, threads_each_, context_.max_inflated_bytes,
                            context_.memory_limit_bytes};
        for (size_t i = next_++; i < tasks_.size() && !progress_.cancelled(); i = next_++) {
            try {
                tasks_[i].table->ensure(tasks_[i].columns, context);
            } catch (...) {
                if (!progress_.cancelled()) errors_[i] = std::current_exception();
                progress_.cancel();
            }
        }
        std::lock_guard<std::mutex> lock(mutex_);
        if (--running_ == 0) done_.notify_one();
    }

    const std::vector<LoadTask>& tasks_;
    LoadContext& context_;
    Progress progress_;
    unsigned threads_each_ = 1;
    std::atomic<size_t> next_{0};
    std::vector<std::exception_ptr> errors_;  // by task
    std::mutex mutex_;
    std::condition_variable done_;
    size_t running_ = 0;
    std::vector<std::thread> threads_;
};

}  // namespace

void load_one_by_one(const std::vector<LoadTask>& tasks, LoadContext& context) {
    for (const LoadTask& task : tasks) task.table->ensure(task.columns, context);
}

void load_side_by_side(const std::vector<LoadTask>& tasks, LoadContext& context) {
    if (tasks.size() < 2 || context.threads < 2) return load_one_by_one(tasks, context);
    SideBySide(tasks, context).wait();
}

}  // namespace profana
