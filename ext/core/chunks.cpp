// The pipeline of chunks.h.
//
// Workers take turns at reading: one at a time fills a buffer, cuts it and puts the chunk at the end of the
// window. Each then parses its own chunk. Whoever finishes while the window's front is parsed merges from the
// front on, one at a time. The window is short, so memory stays at a few chunks however slow merging is; and
// since it keeps the bytes of every chunk that is not merged yet, a wrong cut can be taken back even when the
// file cannot be read again (gzip).
//
// After a wrong cut the window shrinks to one chunk and grows again with every good one: a file whose cuts
// are mostly wrong costs no more than reading it in sequence.
#include "ext/core/chunks.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "ext/core/threads.h"

namespace profana {
namespace {

constexpr auto kPollEvery = std::chrono::milliseconds(20);

// Room for one chunk with the free bytes around it.
class Buffer {
  public:
    char* data() { return bytes_.get() + kChunkLead; }
    size_t room() const { return room_; }
    void grow(size_t room, size_t keep) {
        if (room <= room_) return;
        auto bytes = std::make_unique_for_overwrite<char[]>(kChunkLead + room + kChunkPadding);
        if (keep > 0) std::memcpy(bytes.get() + kChunkLead, data(), keep);
        bytes_ = std::move(bytes);
        room_ = room;
    }

  private:
    std::unique_ptr<char[]> bytes_;
    size_t room_ = 0;
};

// A chunk on its way from being cut to being merged.
struct Piece {
    std::unique_ptr<Buffer> buffer;
    Chunk chunk;
    size_t seen = 0;  // bytes that were looked at to find the cut
    std::unique_ptr<ChunkResult> result;
    bool parsed = false;
};

// What is read and not yet cut. Used by one thread at a time.
class Cutter {
  public:
    Cutter(Input& input, const ChunkParser& parser, const ChunkLimits& limits, std::string carry,
           uint64_t offset)
        : input_(input), parser_(parser), limits_(limits), pending_(std::move(carry)), offset_(offset) {}

    // Cuts the next chunk into the piece; false: nothing is left.
    bool cut(Piece& piece) {
        size_t want = std::max({limits_.chunk_bytes, next_.at_least, size_t{1}});
        size_t have = 0, length = 0;
        bool whole_row_seen = true;
        for (;;) {
            have = fill(*piece.buffer, have, want);
            piece.chunk.at_end = have < want;
            if (piece.chunk.at_end) {
                length = have;
                break;
            }
            length = parser_.cut({piece.buffer->data(), have}, next_.too_long);
            if (length > 0) break;
            if (have >= limits_.row_bytes) {
                length = have;
                whole_row_seen = false;
                break;
            }
            want = std::min(limits_.row_bytes, want * 2);
        }
        piece.seen = have;
        piece.chunk.bytes = {piece.buffer->data(), length};
        piece.chunk.offset = offset_;
        piece.chunk.too_long = next_.too_long || !whole_row_seen;
        piece.chunk.within_row = next_.within_row;
        take(*piece.buffer, have, length);
        next_ = {};
        return length > 0;
    }

    // What is known of a chunk before it is cut.
    struct Next {
        size_t at_least = 0;      // bytes that it has, if there are so many
        bool too_long = false;    // its first row does not end within any length that may be tried
        bool within_row = false;  // as Chunk::within_row
    };

    // Takes bytes back. The next chunk begins with them.
    void put_back(std::string bytes, uint64_t offset, Next next) {
        bytes.append(pending_, taken_);
        pending_ = std::move(bytes);
        taken_ = 0;
        offset_ = offset;
        next_ = next;
    }

    std::string rest() const { return pending_.substr(taken_); }

  private:
    // Makes the buffer hold `want` bytes, `have` of which are there; fewer at the end of the file.
    size_t fill(Buffer& buffer, size_t have, size_t want) {
        buffer.grow(want, have);
        const size_t known = std::min(want, pending_.size() - taken_);
        if (known > have) std::memcpy(buffer.data() + have, pending_.data() + taken_ + have, known - have);
        have = std::max(have, known);
        while (have < want) {
            const size_t got = input_.read(buffer.data() + have, want - have);
            if (got == 0) break;
            have += got;
        }
        return have;
    }

    // Of the buffer's bytes, `length` were cut off; the others wait for the next chunk.
    void take(Buffer& buffer, size_t have, size_t length) {
        offset_ += length;
        if (have <= pending_.size() - taken_) {
            taken_ += length;
            return;
        }
        pending_.assign(buffer.data() + length, have - length);
        taken_ = 0;
    }

    Input& input_;
    const ChunkParser& parser_;
    const ChunkLimits& limits_;
    std::string pending_;  // read, from taken_ on not yet cut
    size_t taken_ = 0;
    uint64_t offset_;  // in the file, of the first byte not yet cut
    Next next_;
};

class Pipeline {
  public:
    Pipeline(Input& input, std::string carry, uint64_t offset, ChunkParser& parser, LoadContext& context,
             const ChunkLimits& limits)
        : input_(input),
          parser_(parser),
          context_(context),
          limits_(limits),
          cutter_(input, parser, limits, std::move(carry), offset),
          threads_(std::max(1u, context.threads)),
          widest_(2 * size_t{threads_} + 1),
          width_(widest_) {}

    std::string run() {
        context_.progress.poll();
        // Most files are one chunk: they are not worth a thread.
        if (parse_next(0)) run_workers();
        if (failure_) std::rethrow_exception(failure_);
        return std::move(rest_);
    }

  private:
    void run_workers() {
        std::vector<std::thread> workers;
        start(workers);
        try {
            std::unique_lock lock(mutex_);
            while (!done_) {
                ended_.wait_for(lock, kPollEvery);
                lock.unlock();
                context_.progress.poll();
                lock.lock();
            }
        } catch (...) {
            fail(std::current_exception());
        }
        for (std::thread& worker : workers) worker.join();
    }

    void start(std::vector<std::thread>& workers) {
        workers.reserve(threads_);
        try {
            for (unsigned i = 0; i < threads_; ++i)
                workers.push_back(start_thread([this, i] {
                    while (parse_next(i)) continue;
                }));
        } catch (const std::system_error&) {
            if (workers.empty())
                fail(std::make_exception_ptr(Error("profana: cannot start a thread; too many run")));
        }
    }

    // One turn of a worker: cut a chunk, parse it, merge what can be merged. False: all is done.
    bool parse_next(unsigned worker) {
        try {
            const std::shared_ptr<Piece> piece = cut_next();
            if (piece == nullptr) return false;
            piece->chunk.worker = worker;
            auto result = parser_.parse(piece->chunk);
            std::unique_lock lock(mutex_);
            piece->result = std::move(result);
            piece->parsed = true;
            if (!merging_) merge_front(lock);
            return !done_;
        } catch (...) {
            fail(std::current_exception());
            return false;
        }
    }

    // The next chunk, as soon as the window has room for it; nullptr: all is done.
    std::shared_ptr<Piece> cut_next() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [&] { return done_ || (!reading_ && !all_cut_ && window_.size() < width_); });
            if (done_) return nullptr;
            const auto piece = std::make_shared<Piece>();
            piece->buffer = spare_buffer();
            reading_ = true;
            lock.unlock();
            bool any = false;
            std::exception_ptr failure;
            try {
                any = cutter_.cut(*piece);
            } catch (...) {
                failure = std::current_exception();
            }
            lock.lock();
            reading_ = false;
            changed_.notify_all();
            if (failure) std::rethrow_exception(failure);
            all_cut_ = piece->chunk.at_end;
            if (any) {
                window_.push_back(piece);
                return piece;
            }
            if (window_.empty()) end("");
        }
    }

    std::unique_ptr<Buffer> spare_buffer() {
        if (spare_.empty()) return std::make_unique<Buffer>();
        auto buffer = std::move(spare_.back());
        spare_.pop_back();
        return buffer;
    }

    // Merges parsed chunks from the window's front on. Called and left with the lock held.
    void merge_front(std::unique_lock<std::mutex>& lock) {
        merging_ = true;
        while (!done_ && !window_.empty() && window_.front()->parsed) {
            const std::shared_ptr<Piece> piece = window_.front();
            lock.unlock();
            parser_.merge(*piece->result, piece->chunk.offset);
            const size_t consumed = piece->result->consumed;
            const bool finished = piece->result->finished, continues = piece->result->continues;
            piece->result.reset();
            lock.lock();
            settle(*piece, consumed, finished, continues, lock);
        }
        merging_ = false;
    }

    // What follows from the front chunk's result: it was cut well, or it was not, or it was the last.
    void settle(Piece& piece, size_t consumed, bool finished, bool continues,
                std::unique_lock<std::mutex>& lock) {
        const Chunk& chunk = piece.chunk;
        if (!finished && consumed == chunk.bytes.size() && (!continues || chunk.at_end)) {
            window_.pop_front();
            if (piece.buffer->room() <= 2 * limits_.chunk_bytes) spare_.push_back(std::move(piece.buffer));
            width_ = std::min(width_ + 1, widest_);
            if (window_.empty() && all_cut_) end("");
        } else if (!finished && consumed == 0 && chunk.too_long && !chunk.at_end) {
            report_too_long(chunk);
            end("");
        } else {
            changed_.wait(lock, [&] { return !reading_; });
            if (done_) return;
            std::string rest(chunk.bytes.substr(consumed));
            for (size_t i = 1; i < window_.size(); ++i) rest += window_[i]->chunk.bytes;
            window_.clear();
            if (finished || (chunk.at_end && !chunk.within_row)) return end(rest + cutter_.rest());
            Cutter::Next next;
            next.within_row = continues;
            if (consumed == 0) {
                next.at_least = std::min(2 * piece.seen, limits_.row_bytes);
                next.too_long = piece.seen >= limits_.row_bytes;
            }
            cutter_.put_back(std::move(rest), chunk.offset + consumed, next);
            all_cut_ = false;
            width_ = 1;
        }
        changed_.notify_all();
    }

    void report_too_long(const Chunk& chunk) {
        context_.diagnostics.add({.severity = Severity::kError,
                                  .file = input_.path(),
                                  .offset = static_cast<int64_t>(chunk.offset),
                                  .code = "row_too_long",
                                  .message = "a row does not end within " +
                                             std::to_string(limits_.row_bytes) +
                                             " bytes; nothing behind it was read"});
    }

    void end(std::string rest) {
        rest_ = std::move(rest);
        done_ = true;
        changed_.notify_all();
        ended_.notify_all();
    }

    void fail(std::exception_ptr failure) {
        std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::move(failure);
        end("");
    }

    Input& input_;
    ChunkParser& parser_;
    LoadContext& context_;
    const ChunkLimits& limits_;
    Cutter cutter_;  // used by whoever set reading_
    const unsigned threads_;
    const size_t widest_;

    std::mutex mutex_;                           // guards everything below
    std::condition_variable changed_;            // for workers
    std::condition_variable ended_;              // for the statement's thread: done_
    std::deque<std::shared_ptr<Piece>> window_;  // cut and not yet merged, in file order
    std::vector<std::unique_ptr<Buffer>> spare_;
    size_t width_;
    bool reading_ = false, merging_ = false, all_cut_ = false, done_ = false;
    std::string rest_;
    std::exception_ptr failure_;
};

}  // namespace

std::string run_chunks(Input& input, std::string carry, uint64_t offset, ChunkParser& parser,
                       LoadContext& context, const ChunkLimits& limits) {
    return Pipeline(input, std::move(carry), offset, parser, context, limits).run();
}

}  // namespace profana
