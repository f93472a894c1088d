// The events of a trace as compact records, in file order: what is left of a file of hundreds of megabytes
// once it has been parsed, before it is known what each event is.
//
// Which process an event belongs to (and so which table) may stand behind it in the file; so the readers of
// traces (vtab/ascend_trace.*, gpu_trace.*) look at the records only when the whole file is read. A record
// keeps what its event has of the wanted args and nothing else; texts are kept once a batch, undecoded.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ext/core/plausible.h"
#include "ext/core/store.h"
#include "ext/core/trace_events.h"

namespace profana {

// An arg that is wanted: an integer (quoted or not), or a text (raw JSON where it is a list).
struct TraceArg {
    const char* key;
    bool is_text;
};

// What a reader wants of a trace.
struct TracePlan {
    std::vector<TraceArg> args;  // at most 32
    // The kind of an event (ph X or i) by its category in lower case, and of a flow; kDrop: not wanted.
    static constexpr uint8_t kDrop = 255;
    std::function<uint8_t(std::string_view category, bool instant)> event_kind;
    std::function<uint8_t(std::string_view category)> flow_kind;
};

struct TraceRecord {
    uint64_t offset;        // in the file
    int64_t ts_ns, dur_ns;  // kNullInt: not given
    uint32_t name;          // text of the batch; 0: none
    uint32_t lane;          // (pid, tid) of the batch
    uint32_t args;          // place of its first arg in the batch's values
    uint32_t mask;          // which args it has, by number
    uint8_t kind;
};

struct TraceFlow {
    uint64_t offset;
    int64_t ts_ns;
    int64_t id;        // kNullInt: id_text
    uint32_t id_text;  // of the batch; an id beyond int64
    uint32_t lane;
    uint8_t kind;
    bool is_start;
};

struct TraceMeta {  // ph M
    uint32_t name, lane;
    uint32_t text;   // args.name or args.labels; 0: none
    int64_t number;  // args.sort_index; kNullInt: none
};

struct TraceLaneText {
    std::string pid, tid;  // raw JSON
};

// The records of one chunk of the file.
struct TraceRecordBatch {
    PageVector<TraceRecord> events;
    PageVector<int64_t> values;  // args, a text as its code
    PageVector<TraceFlow> flows;
    std::vector<TraceMeta> metas;
    std::vector<TraceLaneText> lanes;
    Dictionary texts;  // raw JSON
    std::vector<Diagnostic> notes;
    bool has_far_times = false;  // which may leave 64 bits when a base or a duration is added

    // An arg of an event; kNullInt: it has none.
    int64_t arg(const TraceRecord& event, unsigned number) const {
        if ((event.mask >> number & 1) == 0) return kNullInt;
        return values[event.args +
                      static_cast<unsigned>(__builtin_popcount(event.mask & ((1u << number) - 1)))];
    }
    uint32_t text_arg(const TraceRecord& event, unsigned number) const {
        const int64_t code = arg(event, number);
        return code == kNullInt ? 0 : static_cast<uint32_t>(code);
    }
};

// A thread of the trace: pid and tid as numbers where they are numbers.
struct TraceLane {
    int64_t pid = kNullInt, tid = kNullInt;  // kNullInt: a text, or not given
    std::string pid_text, tid_text;
    uint32_t process = 0;  // numbers the pids
};

class TraceRecords {
  public:
    // Reads whole files, which are slices of one trace. One that cannot be read ends there, with a diagnostic
    // (code trace_unreadable).
    static TraceRecords read(const std::vector<std::string>& paths, const TracePlan& plan,
                             LoadContext& context);

    FileState state = FileState::kComplete;  // the worst of the files'
    std::string unreadable;  // why no event of any file could be read; empty: some were, or there are none
    TraceFacts facts;        // of the last file
    std::vector<std::unique_ptr<TraceRecordBatch>> batches;  // in file order
    std::vector<int64_t> base_ns;                            // by batch: what its times count from

    // Threads and processes over all batches.
    std::vector<TraceLane> lanes;
    uint32_t processes = 0;
    // lane_of[batch][lane of the batch] -> number in `lanes`.
    std::vector<std::vector<uint32_t>> lane_of;

  private:
    void number_lanes();
};

// A text of a batch as it is to be shown: a string without quotes and escapes, a list without blanks.
std::string_view decode_trace_text(std::string_view raw, std::string& scratch);

// Texts of one batch after the other in a column: each is decoded and looked up once a batch. N/A is NULL.
class TraceTextColumn {
  public:
    explicit TraceTextColumn(Column& column) : column_(column) {}
    void start_batch(const TraceRecordBatch& batch);
    void add(uint32_t text) { column_.add_code(code(text)); }
    uint32_t code(uint32_t text) {
        if (text == 0) return kNullCode;
        return codes_[text] != kNotDecoded ? codes_[text] : decode(text);
    }

  private:
    static constexpr uint32_t kNotDecoded = ~0u;
    uint32_t decode(uint32_t text);
    Column& column_;
    const TraceRecordBatch* batch_ = nullptr;
    std::vector<uint32_t> codes_;
    std::string scratch_;
};

// Sizes among the args of events.
class ArgSizes {
  public:
    // NULL where no capture can have it.
    int64_t take(int64_t bytes) {
        const bool good = bytes == kNullInt || is_size(bytes);
        implausible_ += !good;
        return good ? bytes : kNullInt;
    }
    void report(const std::string& file, Diagnostics& diagnostics) const;

  private:
    uint64_t implausible_ = 0;
};

}  // namespace profana
