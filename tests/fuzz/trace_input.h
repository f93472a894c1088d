// Traces in memory, for fuzz targets.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ext/core/trace_events.h"
#include "tests/fuzz/memory_input.h"

namespace profana::fuzz {

struct Event {
    std::string ph, name, args, key;
    uint64_t offset = 0;
    bool operator==(const Event&) const = default;
};

class Collector : public TraceConsumer {
  public:
    struct Batch : TraceBatch {
        std::vector<Event> events;
        void event(const TraceEvent& e) override {
            std::string scratch;
            Event& event = events.emplace_back();
            event.ph = e.ph.text(scratch);
            event.name = e.name.text(scratch);
            event.args = e.args.raw();
            event.key = e.arg_values[0].raw();
            event.offset = e.offset;
        }
    };
    std::unique_ptr<TraceBatch> start_batch(unsigned) override { return std::make_unique<Batch>(); }
    void merge(TraceBatch& batch, const TraceBatchPlace&) override {
        for (Event& event : static_cast<Batch&>(batch).events) events.push_back(std::move(event));
    }
    std::vector<Event> events;
};

// All events, read in chunks of about so many bytes; false: no trace. faults: how many diagnostics there
// were.
inline bool read_events(std::string_view text, size_t chunk_bytes, std::vector<Event>* events, size_t* faults,
                        unsigned fields = kTracePh | kTraceName | kTraceArgs) {
    Progress progress;
    Diagnostics diagnostics;
    LoadContext context{progress, diagnostics, 1, 0, 0};
    Collector collector;
    TraceRequest request;
    request.fields = fields;
    request.arg_keys = {"k"};
    try {
        read_trace(std::make_unique<MemoryInput>(text), request, collector, context,
                   {chunk_bytes, size_t{1} << 22});
    } catch (const Error&) {
        return false;
    }
    *events = std::move(collector.events);
    *faults = diagnostics.rows().size();
    return true;
}

}  // namespace profana::fuzz
