#include "vtab/db_beside.h"

#include <chrono>
#include <system_error>
#include <utility>

#include "ext/core/threads.h"

namespace profana {
namespace {

void append_rows(Column& to, const Column& from) {
    if (from.type() == ColumnType::kInt) {
        for (size_t i = 0; i < from.size();) {
            const auto piece = from.ints().piece(i);
            to.add_ints(piece.data(), piece.size());
            i += piece.size();
        }
        return;
    }
    Recoder codes(from.dictionary(), to.dictionary());
    for (Row row = 0; row < from.size(); ++row) to.add_code(codes(from.code(row)));
}

}  // namespace

LoadBeside::LoadBeside(Load& load, Work work)
    : beside_(load),
      work_(std::move(work)),
      context_(load.context.beside(progress_, 1)),
      table_(make_model_table(load.model(), [](Table&, const ColumnSet&, LoadContext&) {})),
      load_(load.profile, load.file.path(), load.model(), *table_, load.wanted(), context_) {
    if (load.context.threads < 2 || sqlite3_threadsafe() == 0) return;
    try {
        thread_ = start_thread([this] { run(); });
    } catch (const std::system_error&) {  // no more threads to be had: finish() does the work
    }
}

LoadBeside::~LoadBeside() {
    progress_.cancel();
    if (thread_.joinable()) thread_.join();
}

void LoadBeside::run() noexcept {
    try {
        work_(load_);
    } catch (...) {
        thrown_ = std::current_exception();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    has_ended_ = true;
    ended_.notify_one();
}

void LoadBeside::finish() {
    if (!has_thread() && !has_ended_) run();
    std::unique_lock<std::mutex> lock(mutex_);
    while (!ended_.wait_for(lock, std::chrono::milliseconds(20), [this] { return has_ended_; })) {
        lock.unlock();
        beside_.context.poll();
        lock.lock();
    }
    if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void LoadBeside::append(std::initializer_list<const char*> columns) {
    for (const char* name : columns) {
        if (!load_.has_filled(name)) continue;
        if (Column* to = beside_.out(name)) append_rows(*to, *load_.out(name));
    }
}

}  // namespace profana
