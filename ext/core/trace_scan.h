// Finds the events in one chunk of a list of events.
//
// Plain JSON is read along its index of tokens. An event with anything wrong in it, and whatever else stands
// between events, goes through JsonRepair one event at a time; then reading goes on along the index. Which
// way an event is read depends on its text alone, never on the fields asked for, so every pass over a file
// sees the same events.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "ext/core/json_fault.h"
#include "ext/core/json_index.h"
#include "ext/core/json_repair.h"
#include "ext/core/trace_events.h"

namespace profana {

struct TraceChunkResult : ChunkResult {
    std::unique_ptr<TraceBatch> batch;
    FaultNotes notes;
    uint64_t events = 0;
    uint64_t lines = 0;   // line breaks in the consumed bytes, if asked for
    bool at_end = false;  // of the file
};

// Finds the values of wanted keys while an object is walked over.
class JsonKeySet {
  public:
    explicit JsonKeySet(const std::vector<std::string>& keys);
    size_t size() const { return keys_.size(); }
    int find(std::string_view key) const;  // -1: not wanted

  private:
    static constexpr size_t kLengths = 32;
    std::vector<std::string> keys_;
    std::array<std::vector<int>, kLengths> by_length_;  // the last holds all longer ones
};

// The length of a prefix of `bytes`, which begin with an event, that seems to be whole events; 0: none to be
// seen.
size_t cut_trace_events(std::string_view bytes);

// Kept by a worker from chunk to chunk.
class TraceScanner {
  public:
    // in_object: the list is the value of a key, so the keys that follow it must not be taken for events.
    TraceScanner(const TraceRequest& request, bool in_object);
    TraceScanner(const TraceScanner&) = delete;
    TraceScanner& operator=(const TraceScanner&) = delete;
    void scan(const Chunk& chunk, TraceChunkResult* result);

  private:
    enum class Step : uint8_t { kGoOn, kStop };

    void scan_plain(const uint32_t** token);
    Step scan_carefully();
    Step repair_event();
    Step skip_incomplete();
    Step behind_list();
    Step skip_element();
    Step stop_at(size_t at);
    void lose(JsonFault fault, size_t resume_from);
    void settle_loss();
    void reach_end();

    const uint32_t* walk_event(const char* text, const uint32_t* token);
    void take_event(size_t at);
    bool has_good_characters(std::string_view event) const;
    std::string_view plain_key(std::string_view key);
    JsonToken* wanted_field(std::string_view key);
    const uint32_t* walk_args(const char* text, const uint32_t* token);

    JsonRepair::Behind behind_chunk() const;
    size_t skip_blanks(size_t at) const;
    std::optional<size_t> next_event(size_t from) const;
    std::optional<size_t> last_list_end(size_t lowest) const;
    bool is_key(size_t quote) const;
    uint64_t place(size_t at) const { return chunk_->offset + at; }
    void note(JsonFault fault, size_t at) { result_->notes.add(fault, place(at)); }

    const TraceRequest& request_;
    const bool in_object_;
    const JsonKeySet arg_keys_;
    JsonIndex index_, repaired_index_;
    JsonRepair repair_;
    TraceEvent event_;
    std::vector<JsonToken> arg_values_;
    std::string key_;        // of plain_key()
    size_t args_token_ = 0;  // where args begins in the text walked over

    // Of the chunk being scanned.
    const Chunk* chunk_ = nullptr;
    TraceChunkResult* result_ = nullptr;
    std::string_view text_;
    JsonIndex::Text text_kind_ = JsonIndex::Text::kNotIndexed;
    size_t at_ = 0;
    bool behind_event_ = false;  // a comma or the end of the list has to follow
    size_t lines_counted_to_ = 0;
    unsigned incomplete_ = 0;
    // Between a place where reading got lost and the next event.
    bool lost_ = false;
    bool ends_in_event_ = false;  // what is lost begins with an event that does not end
    bool told_ = false;           // of what is lost, in the chunk where it begins
    JsonFault loss_ = JsonFault::kEventSkipped;
    size_t lost_at_ = 0;
};

}  // namespace profana
