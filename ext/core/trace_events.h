// Reads the events of a trace (trace_view.json, msprof_*.json, *.pt.trace.json, plain or gzip) on all cores.
//
// The file is a list of events, or an object that holds the list under "traceEvents". It is read once, in
// chunks, and never kept: a consumer takes from each event what it needs, on worker threads, one batch a
// chunk, and joins the batches in file order. Damaged text is repaired or skipped event by event; every such
// place becomes a diagnostic with its byte offset.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ext/core/chunks.h"
#include "ext/core/json_token.h"
#include "ext/core/store.h"

namespace profana {

// The fields of an event that a consumer asks for; others stay absent.
enum TraceField : unsigned {
    kTracePh = 1u << 0,
    kTraceCat = 1u << 1,
    kTraceName = 1u << 2,
    kTracePid = 1u << 3,
    kTraceTid = 1u << 4,
    kTraceTs = 1u << 5,
    kTraceDur = 1u << 6,
    kTraceId = 1u << 7,
    kTraceBp = 1u << 8,
    kTraceArgs = 1u << 9,  // the whole of args, as a span
    kTraceLine = 1u << 10,
};

struct TraceRequest {
    unsigned fields = 0;
    // Keys of args whose values are wanted, as written in the file ("Task Type", "Stream Id"). All are found
    // in one pass over args, which costs little whatever their number.
    std::vector<std::string> arg_keys;
    // False for a second pass over a file: what is wrong with its JSON does not depend on the fields and is
    // known.
    bool report = true;
};

// Tokens are valid during TraceBatch::event() only.
struct TraceEvent {
    JsonToken ph, cat, name, pid, tid, ts, dur, id, bp, args;
    std::span<const JsonToken> arg_values;  // by the order of TraceRequest::arg_keys; absent where not there
    uint64_t offset = 0;                    // of the event in the (inflated) file
    uint64_t args_offset = 0;               // of args there, and
    uint64_t args_length = 0;               // its length there
    bool repaired = false;                  // the tokens stand in a repaired copy of the event
    uint64_t line = 0;                      // line breaks between the begin of the batch and the event
};

// What a consumer keeps of one chunk.
class TraceBatch {
  public:
    virtual ~TraceBatch() = default;
    virtual void event(const TraceEvent& event) = 0;
};

struct TraceBatchPlace {
    uint64_t first_line = 1;  // line of the file on which the batch begins; known if kTraceLine is asked for
    uint64_t end = 0;         // byte offset in the (inflated) file behind the batch
};

class TraceConsumer {
  public:
    virtual ~TraceConsumer() = default;
    // On any worker thread. A batch whose chunk turns out to be cut wrongly is dropped, never merged.
    virtual std::unique_ptr<TraceBatch> start_batch(unsigned worker) = 0;
    // In file order, never two at a time.
    virtual void merge(TraceBatch& batch, const TraceBatchPlace& place) = 0;
};

enum class FileState { kComplete, kTruncated, kCorrupt };
const char* file_state_name(FileState state);  // complete, truncated, corrupt

// What a file says beside its events.
struct TraceFacts {
    FileState state = FileState::kComplete;  // corrupt: at least one event had to be skipped
    bool is_object = false;
    uint64_t events = 0;
    // Times in the file count from here; absolute ns = base_ns + ts. Written before or behind the events, so
    // it is known when all are read.
    std::optional<int64_t> base_ns;
    // The other keys of the top object in order, with their values' raw JSON: distributedInfo,
    // deviceProperties, displayTimeUnit, schemaVersion, traceName ... Of a key given twice the last value
    // counts.
    std::vector<std::pair<std::string, std::string>> keys;
    JsonToken key(std::string_view name) const;  // absent: not there
};

// An event longer than row_bytes is given up, and reading goes on at the next.
constexpr ChunkLimits kTraceLimits{size_t{1} << 20, size_t{1} << 26};

// Reads the whole file. Throws Error for a file that is no trace, and what Input throws.
TraceFacts read_trace(const std::string& path, const TraceRequest& request, TraceConsumer& consumer,
                      LoadContext& context, const ChunkLimits& limits = kTraceLimits);
// The same for bytes from elsewhere.
TraceFacts read_trace(std::unique_ptr<Input> input, const TraceRequest& request, TraceConsumer& consumer,
                      LoadContext& context, const ChunkLimits& limits = kTraceLimits);

// Only what stands before the events: is_object and keys as far as known then. Reads no further than the
// first event. Throws as read_trace does.
TraceFacts read_trace_head(const std::string& path, LoadContext& context);

// Args of an event of a plain file as a place in the file, for a kLong column. `begin` is where the file
// begins if several are read one behind the other: the sizes of those before it.
LongRef trace_args_place(const TraceEvent& event, uint64_t begin);
// Reads such places again; gives valid JSON, repaired as during the first reading. Throws where a file is no
// longer what it was then, by its stamp.
std::shared_ptr<const LongSource> trace_args_source(const std::vector<std::string>& paths,
                                                    const std::vector<FileStamp>& stamps);

}  // namespace profana
