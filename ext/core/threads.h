// Threads beside the statement's own.
#pragma once

#include <signal.h>

#include <exception>
#include <system_error>
#include <thread>
#include <utility>

namespace profana {

// Signals are the host's business: its own threads take them. Throws std::system_error where no more threads
// are to be had.
template <class Work>
std::thread start_thread(Work work) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread thread;
    std::exception_ptr failure;
    try {
        thread = std::thread(std::move(work));
    } catch (...) {
        failure = std::current_exception();
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (failure) std::rethrow_exception(failure);
    return thread;
}

}  // namespace profana
