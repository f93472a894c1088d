// A part of a load that runs beside it on the other core.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "vtab/db_load.h"

namespace profana {

// Runs work(load) with a Load of its own: on a thread of its own where the load may use one, else in
// finish(). Connection, columns and progress are not those of the load beside which it runs. What the profile
// keeps (Load::strings() and the like) is made by one side only; what both need must be there before.
class LoadBeside {
  public:
    using Work = std::function<void(Load&)>;
    LoadBeside(Load& load, Work work);
    ~LoadBeside();  // stops the work
    LoadBeside(const LoadBeside&) = delete;
    LoadBeside& operator=(const LoadBeside&) = delete;

    bool has_thread() const { return thread_.joinable(); }
    // Waits, interruptibly, and throws what the work threw.
    void finish();
    // Puts the rows of those of the columns that the work has filled behind the rows of the load.
    void append(std::initializer_list<const char*> columns);

  private:
    void run() noexcept;

    Load& beside_;
    Work work_;
    Progress progress_;
    LoadContext context_;
    std::shared_ptr<Table> table_;
    Load load_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool has_ended_ = false;
    std::exception_ptr thrown_;
    std::thread thread_;
};

}  // namespace profana
