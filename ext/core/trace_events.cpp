#include "ext/core/trace_events.h"

#include <algorithm>
#include <mutex>

#include "ext/core/input.h"
#include "ext/core/json_repair.h"
#include "ext/core/trace_scan.h"
#include "ext/core/trace_top.h"

namespace profana {
namespace {

constexpr size_t kTopBlock = size_t{1} << 16;
// Text between two lists, or behind the last, that is read to tell which of them it is.
constexpr std::string_view kBlanks = " \t\r\n";
// In the offset of a place: what stands there has to be repaired.
constexpr uint64_t kDamaged = uint64_t{1} << 63;

class EventParser : public ChunkParser {
  public:
    EventParser(const TraceRequest& request, TraceConsumer& consumer, unsigned threads, bool in_object)
        : consumer_(consumer) {
        for (unsigned i = 0; i < std::max(1u, threads); ++i)
            scanners_.push_back(std::make_unique<TraceScanner>(request, in_object));
    }

    size_t cut(std::string_view bytes, bool) const override { return cut_trace_events(bytes); }

    std::unique_ptr<ChunkResult> parse(const Chunk& chunk) override {
        auto result = std::make_unique<TraceChunkResult>();
        result->batch = consumer_.start_batch(chunk.worker);
        scanners_[chunk.worker]->scan(chunk, result.get());
        return result;
    }

    void merge(ChunkResult& result, uint64_t offset) override {
        auto& chunk = static_cast<TraceChunkResult&>(result);
        consumer_.merge(*chunk.batch, {next_line, offset + chunk.consumed});
        notes.append(chunk.notes);
        events += chunk.events;
        next_line += chunk.lines;
        end = offset + chunk.consumed;
        finished = chunk.finished;
        at_end = chunk.at_end;
    }

    FaultNotes notes;
    uint64_t events = 0, next_line = 1;
    uint64_t end = 0;  // of what is merged, in the file
    bool finished = false, at_end = false;

  private:
    TraceConsumer& consumer_;
    std::vector<std::unique_ptr<TraceScanner>> scanners_;
};

// One reading of one file.
class TraceReading {
  public:
    explicit TraceReading(LoadContext& context) : outer_(context), context_(context.telling(diagnostics_)) {}

    void open(const std::string& path) { open(Input::open(path, context_)); }
    void open(std::unique_ptr<Input> input) {
        input_ = std::move(input);
        path_ = input_->path();
    }

    TraceFacts read(const TraceRequest& request, TraceConsumer& consumer, const ChunkLimits& limits) {
        find_list();
        EventParser parser(request, consumer, context_.threads, top_.is_object());
        do {
            parser.next_line += lines_;
            lines_ = 0;
            parser.finished = parser.at_end = false;
            parser.end = offset_;
            rest_ = run_chunks(*input_, std::move(rest_), offset_, parser, context_, limits);
            offset_ = parser.end;
        } while (parser.finished && another_list(&parser.notes));
        if (!parser.finished && !parser.at_end) parser.notes.add(JsonFault::kNotClosed, offset_);
        parser.notes.append(top_.notes());
        TraceFacts found = facts(parser);
        if (request.report) report(parser.notes);
        return found;
    }

    // What stands before the events.
    TraceFacts read_head() {
        find_list();
        TraceFacts found;
        found.is_object = top_.is_object();
        found.keys = std::move(top_.keys());
        return found;
    }

  private:
    // Reads to the list of events.
    void find_list() {
        read_top();
        if (top_.state() == JsonTop::State::kList) return;
        if (input_is_empty_)
            throw file_error(path_, 0,
                             "the file is empty; a trace is a JSON list of events: export it again");
        if (!top_.is_object()) {
            throw file_error(path_, 0,
                             "no trace: the file begins neither with '[' (a list of events) nor with '{' (an "
                             "object with traceEvents); check the path");
        }
        if (top_.state() == JsonTop::State::kBroken) {
            throw file_error(path_, 0,
                             "no list of events found: not JSON at byte " + std::to_string(offset_) +
                                 "; check the path, or export it again");
        }
        throw file_error(path_, 0,
                         "no events: the object has no list under the key traceEvents; check the path");
    }

    // Feeds the file to top_ until that stops, or the file ends. rest_ begins at offset_ with what is not yet
    // read.
    void read_top() {
        for (;;) {
            const size_t used = top_.feed(rest_, offset_);
            lines_ += static_cast<uint64_t>(
                std::count(rest_.begin(), rest_.begin() + static_cast<ptrdiff_t>(used), '\n'));
            rest_.erase(0, used);
            offset_ += used;
            if (!rest_.empty() || !read_more()) return;
            if (offset_ == 0 && begins_as_utf16(rest_))
                throw file_error(path_, 0, "is UTF-16 text; save it as UTF-8");
        }
    }

    // Appends to rest_; false at the end of the file.
    bool read_more() {
        context_.progress.poll();
        const size_t before = rest_.size();
        rest_.resize(before + kTopBlock);
        rest_.resize(before + input_->read(rest_.data() + before, kTopBlock));
        if (offset_ == 0 && rest_.empty()) input_is_empty_ = true;
        return rest_.size() > before;
    }

    // Behind the end of a list: is there one more? Reads the other keys of an object, and looks for what does
    // not belong there.
    bool another_list(FaultNotes* notes) {
        top_.list_closed();
        if (top_.is_object()) {
            read_top();
            if (top_.state() == JsonTop::State::kList) {
                notes->add(JsonFault::kSecondList, offset_);
                return true;
            }
            if (top_.state() != JsonTop::State::kEnd && rest_.empty())
                notes->add(JsonFault::kNotClosed, offset_);
        }
        const char next = skip_to_text();
        if (next == '\0') return false;
        const bool list_follows = next == '[' || (next == ',' && !top_.is_object());
        if (!list_follows || top_.is_object()) {
            notes->add(JsonFault::kTrailingBytes, offset_);
            return false;
        }
        notes->add(JsonFault::kSplicedArray, offset_);
        rest_.erase(0, 1);
        ++offset_;
        return true;
    }

    // Drops blanks; the first other character, '\0' at the end of the file.
    char skip_to_text() {
        for (;;) {
            const size_t text = rest_.find_first_not_of(kBlanks);
            const size_t blank = text == std::string::npos ? rest_.size() : text;
            lines_ += static_cast<uint64_t>(
                std::count(rest_.begin(), rest_.begin() + static_cast<ptrdiff_t>(blank), '\n'));
            rest_.erase(0, blank);
            offset_ += blank;
            if (!rest_.empty()) return rest_.front() == '\0' ? '?' : rest_.front();
            if (!read_more()) return '\0';
        }
    }

    void report(const FaultNotes& notes) {
        for (Diagnostic& diagnostic : diagnostics_.rows()) outer_.diagnostics.add(std::move(diagnostic));
        notes.report(path_, outer_.diagnostics);
    }

    TraceFacts facts(EventParser& parser) {
        TraceFacts found;
        found.is_object = top_.is_object();
        found.events = parser.events;
        found.keys = std::move(top_.keys());
        int64_t base = 0;
        const Parsed parsed = found.key("baseTimeNanoseconds").integer(&base);
        if (parsed == Parsed::kExact || parsed == Parsed::kRounded) found.base_ns = base;
        if (parsed == Parsed::kNotANumber || parsed == Parsed::kOutOfRange)
            parser.notes.add(JsonFault::kBadBase, 0);
        bool truncated = parser.notes.has(JsonFault::kTruncated) || parser.notes.has(JsonFault::kNotClosed);
        bool corrupt = parser.notes.lost_something();
        for (const Diagnostic& diagnostic : diagnostics_.rows()) {
            truncated |= diagnostic.code == "gzip_truncated";
            corrupt |= diagnostic.code == "gzip_corrupt";
        }
        found.state = corrupt     ? FileState::kCorrupt
                      : truncated ? FileState::kTruncated
                                  : FileState::kComplete;
        return found;
    }

    std::string path_;
    LoadContext& outer_;
    Diagnostics diagnostics_;  // of this reading
    LoadContext context_;
    std::unique_ptr<Input> input_;
    JsonTop top_;
    std::string rest_;     // read, but not yet used
    uint64_t offset_ = 0;  // of rest_ in the file
    uint64_t lines_ = 0;   // line breaks outside of lists
    bool input_is_empty_ = false;
};

// Reads args through a window, since neighbours are mostly asked for one after another.
class TraceArgsSource : public LongSource {
  public:
    explicit TraceArgsSource(const std::vector<std::string>& paths, const std::vector<FileStamp>& stamps) {
        uint64_t begin = 0;
        for (size_t i = 0; i < paths.size(); ++i) {
            files_.push_back({begin, open(paths[i])});
            const std::unique_ptr<RandomFile>& file = files_.back().file;
            if ((file != nullptr ? file->stamp() : stamp_if_there(paths[i])) != stamps[i])
                throw file_changed(paths[i]);
            begin += stamps[i].size;
        }
    }

    std::string read(const LongRef& ref) const override {
        std::lock_guard lock(mutex_);
        const std::string_view raw = bytes(ref.offset & ~kDamaged, ref.length);
        if ((ref.offset & kDamaged) == 0) return std::string(raw);
        if (repair_.run(raw, JsonRepair::Behind::kNothing) != JsonRepair::End::kComplete) return "null";
        return repair_.text();
    }

  private:
    static constexpr size_t kWindow = size_t{1} << 18;
    struct File {
        uint64_t begin;
        std::unique_ptr<RandomFile> file;  // none: it was left out, so nothing in it is asked for
    };

    static std::unique_ptr<RandomFile> open(const std::string& path) {
        try {
            return std::make_unique<RandomFile>(path);
        } catch (const Error& error) {
            if (!is_of_file(error)) throw;
            return nullptr;
        }
    }

    // A file that became shorter gives fewer bytes.
    std::string_view bytes(uint64_t offset, size_t length) const {
        const auto after = std::upper_bound(files_.begin(), files_.end(), offset,
                                            [](uint64_t at, const File& file) { return at < file.begin; });
        const File& file = *std::prev(after);
        if (offset < window_begin_ || offset + length > window_begin_ + window_.size() ||
            window_of_ != &file) {
            window_of_ = &file;
            window_begin_ = offset;
            window_ = file.file->read(offset - file.begin, std::max(length, kWindow));
        }
        return std::string_view(window_).substr(offset - window_begin_, length);
    }

    std::vector<File> files_;
    mutable std::mutex mutex_;
    mutable const File* window_of_ = nullptr;
    mutable uint64_t window_begin_ = 0;
    mutable std::string window_;
    mutable JsonRepair repair_;
};

}  // namespace

const char* file_state_name(FileState state) {
    switch (state) {
        case FileState::kTruncated:
            return "truncated";
        case FileState::kCorrupt:
            return "corrupt";
        default:
            return "complete";
    }
}

JsonToken TraceFacts::key(std::string_view name) const {
    for (const auto& [key, value] : keys) {
        if (key == name) return JsonToken(value);
    }
    return {};
}

TraceFacts read_trace(const std::string& path, const TraceRequest& request, TraceConsumer& consumer,
                      LoadContext& context, const ChunkLimits& limits) {
    TraceReading reading(context);
    reading.open(path);
    return reading.read(request, consumer, limits);
}

TraceFacts read_trace(std::unique_ptr<Input> input, const TraceRequest& request, TraceConsumer& consumer,
                      LoadContext& context, const ChunkLimits& limits) {
    TraceReading reading(context);
    reading.open(std::move(input));
    return reading.read(request, consumer, limits);
}

TraceFacts read_trace_head(const std::string& path, LoadContext& context) {
    TraceReading reading(context);
    reading.open(path);
    return reading.read_head();
}

LongRef trace_args_place(const TraceEvent& event, uint64_t begin) {
    return LongRef::in_file((begin + event.args_offset) | (event.repaired ? kDamaged : 0),
                            static_cast<uint32_t>(event.args_length));
}

std::shared_ptr<const LongSource> trace_args_source(const std::vector<std::string>& paths,
                                                    const std::vector<FileStamp>& stamps) {
    return std::make_shared<TraceArgsSource>(paths, stamps);
}

}  // namespace profana
