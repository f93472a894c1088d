#include "vtab/trace_records.h"

#include <algorithm>
#include <atomic>

#include "ext/core/ascii.h"
#include "ext/core/plausible.h"

namespace profana {
namespace {

// Args of metadata events, asked for behind those of the plan.
constexpr const char* kMetaKeys[] = {"name", "labels", "sort_index"};
constexpr size_t kSortIndex = 2;

constexpr size_t kMaxNotes = 64;  // of one chunk; more only count

// Three times that are not far add up within 64 bits. 2^61 ns since 1970 is the year 2043.
bool is_far(int64_t ns) {
    constexpr int64_t kFar = int64_t{1} << 61;
    return ns > kFar || (ns < -kFar && ns != kNullInt);
}

// Kinds of the categories met in a batch, found by their raw text: there are few.
class CategoryCache {
  public:
    template <class KindOf>
    uint8_t find(std::string_view raw, bool instant, const KindOf& kind_of) {
        for (const Entry& entry : entries_)
            if (entry.instant == instant && entry.raw == raw) return entry.kind;
        const JsonToken token(raw);
        const uint8_t kind = kind_of(lower_case(trim(token.bare())), instant);
        if (entries_.size() < 64) entries_.push_back({std::string(raw), kind, instant});
        return kind;
    }

  private:
    struct Entry {
        std::string raw;
        uint8_t kind;
        bool instant;
    };
    std::vector<Entry> entries_;
};

// Room for a batch, by what the last one held: neighbours are much alike, and a vector that grows is copied.
class BatchRoom {
  public:
    void reserve(TraceRecordBatch& batch) const {
        batch.events.reserve(events_);
        batch.values.reserve(values_);
        batch.flows.reserve(flows_);
    }
    void learn(const TraceRecordBatch& batch) {
        events_ = with_margin(batch.events.size());
        values_ = with_margin(batch.values.size());
        flows_ = with_margin(batch.flows.size());
    }

  private:
    static size_t with_margin(size_t n) { return n + n / 16; }
    std::atomic<size_t> events_ = 4096, values_ = 0, flows_ = 0;  // read by workers while one learns
};

class RecordingBatch : public TraceBatch {
  public:
    RecordingBatch(const TracePlan& plan, const std::string& path, const BatchRoom& room)
        : plan_(plan), path_(path), out_(std::make_unique<TraceRecordBatch>()) {
        room.reserve(*out_);
    }

    void event(const TraceEvent& event) override {
        const std::string_view ph = event.ph.bare();
        if (ph.size() != 1) return;
        switch (ph.front()) {
            case 'X':
                span(event, false);
                break;
            case 'i':
            case 'I':
                span(event, true);
                break;
            case 's':
                flow(event, true);
                break;
            case 'f':
            case 't':
                flow(event, false);
                break;
            case 'M':
                meta(event);
                break;
            case 'B':
                halved(event);
                break;
            default:
                break;
        }
    }

    std::unique_ptr<TraceRecordBatch> take() { return std::move(out_); }

  private:
    void span(const TraceEvent& event, bool instant) {
        const uint8_t kind = events_.find(event.cat.raw(), instant, plan_.event_kind);
        if (kind == TracePlan::kDrop) return;
        TraceRecord record{};
        record.offset = event.offset;
        record.kind = kind;
        record.ts_ns = time(event.ts, event.offset, "ts");
        record.dur_ns = instant ? 0 : time(event.dur, event.offset, "dur");
        if (record.dur_ns != kNullInt && !is_length(record.dur_ns)) {
            note(event.offset, "implausible_value", "dur is more than a year; it is NULL");
            record.dur_ns = kNullInt;
        }
        if (record.dur_ns < 0 && record.dur_ns != kNullInt)
            note(event.offset, "negative_duration", "dur is negative; the row is kept as it is");
        out_->has_far_times |= is_far(record.ts_ns) || is_far(record.dur_ns);
        record.name = text(event.name);
        record.lane = lane(event);
        record.args = static_cast<uint32_t>(out_->values.size());
        for (size_t i = 0; i < plan_.args.size(); ++i) record.mask |= arg(event.arg_values[i], i);
        out_->events.push_back(record);
    }

    // Profilers write spans whole. Other tools write their begin and their end (E) as events of their own.
    void halved(const TraceEvent& event) {
        if (events_.find(event.cat.raw(), false, plan_.event_kind) == TracePlan::kDrop) return;
        note(event.offset, "trace_begin_without_dur",
             "an event of phase B, whose end is another event, makes no row here; trace_event() has both");
    }

    // Keeps an arg; its bit in the mask, 0 if there is none.
    uint32_t arg(const JsonToken& token, size_t number) {
        if (token.absent()) return 0;
        int64_t value = 0;
        if (plan_.args[number].is_text) {
            value = text(token);
            if (value == 0) return 0;
        } else if (token.integer(&value) != Parsed::kExact) {
            return 0;
        }
        out_->values.push_back(value);
        return 1u << number;
    }

    void flow(const TraceEvent& event, bool is_start) {
        const uint8_t kind = flows_.find(event.cat.raw(), false, [&](const std::string& category, bool) {
            return plan_.flow_kind(category);
        });
        if (kind == TracePlan::kDrop) return;
        TraceFlow flow{};
        flow.offset = event.offset;
        flow.kind = kind;
        flow.is_start = is_start;
        flow.ts_ns = time(event.ts, event.offset, "ts");
        out_->has_far_times |= is_far(flow.ts_ns);
        flow.lane = lane(event);
        if (event.id.integer(&flow.id) != Parsed::kExact) {
            flow.id = kNullInt;
            flow.id_text = text(event.id);
        }
        out_->flows.push_back(flow);
    }

    void meta(const TraceEvent& event) {
        TraceMeta meta{text(event.name), lane(event), 0, kNullInt};
        for (size_t i = plan_.args.size(); i < event.arg_values.size(); ++i) {
            const JsonToken& value = event.arg_values[i];
            if (value.absent()) continue;
            if (i == plan_.args.size() + kSortIndex) {
                if (value.integer(&meta.number) != Parsed::kExact) meta.number = kNullInt;
            } else {
                meta.text = text(value);
            }
        }
        out_->metas.push_back(meta);
    }

    int64_t time(const JsonToken& token, uint64_t offset, const char* field) {
        int64_t ns = kNullInt;
        const Parsed parsed = token.microseconds_as_ns(&ns);
        if (parsed == Parsed::kExact || parsed == Parsed::kRounded) return ns;
        note(offset, "bad_time",
             std::string(field) + (parsed == Parsed::kEmpty ? " is not given" : " is no time") +
                 "; it is unknown");
        return kNullInt;
    }

    uint32_t text(const JsonToken& token) { return token.is_null() ? 0 : out_->texts.intern(token.raw()); }

    uint32_t lane(const TraceEvent& event) {
        const std::string_view pid = event.pid.raw(), tid = event.tid.raw();
        if (!out_->lanes.empty()) {
            const TraceLaneText& last = out_->lanes[last_lane_];
            if (last.pid == pid && last.tid == tid) return last_lane_;
        }
        key_.assign(pid);
        key_ += '\n';
        key_ += tid;
        last_lane_ = lanes_.intern(key_) - 1;
        if (last_lane_ == out_->lanes.size()) out_->lanes.push_back({std::string(pid), std::string(tid)});
        return last_lane_;
    }

    void note(uint64_t offset, const char* code, std::string message) {
        if (out_->notes.size() >= kMaxNotes) {
            for (Diagnostic& diagnostic : out_->notes)
                if (diagnostic.code == code) {
                    ++diagnostic.count;
                    return;
                }
        }
        Diagnostic diagnostic;
        diagnostic.file = path_;
        diagnostic.offset = static_cast<int64_t>(offset);
        diagnostic.code = code;
        diagnostic.message = std::move(message);
        out_->notes.push_back(std::move(diagnostic));
    }

    const TracePlan& plan_;
    const std::string& path_;
    std::unique_ptr<TraceRecordBatch> out_;
    CategoryCache events_, flows_;
    Dictionary lanes_;
    std::string key_;
    uint32_t last_lane_ = 0;
};

class Recorder : public TraceConsumer {
  public:
    Recorder(const TracePlan& plan, const std::string& path, LoadContext& context, TraceRecords& records)
        : plan_(plan), path_(path), context_(context), records_(records) {}

    std::unique_ptr<TraceBatch> start_batch(unsigned) override {
        return std::make_unique<RecordingBatch>(plan_, path_, room_);
    }

    void merge(TraceBatch& batch, const TraceBatchPlace&) override {
        std::unique_ptr<TraceRecordBatch> records = static_cast<RecordingBatch&>(batch).take();
        for (Diagnostic& note : records->notes) context_.diagnostics.add(std::move(note));
        records->notes.clear();
        room_.learn(*records);
        records_.batches.push_back(std::move(records));
    }

  private:
    const TracePlan& plan_;
    const std::string& path_;
    LoadContext& context_;
    TraceRecords& records_;
    BatchRoom room_;
};

// 7 and "7" are the same thread.
void read_lane_part(const std::string& raw, int64_t& number, std::string& text) {
    const JsonToken token(raw);
    if (token.integer(&number) == Parsed::kExact) return;
    number = kNullInt;
    std::string scratch;
    text = token.text(scratch);
}

// Readers add base and durations: what is no time then is unknown, and told here.
void check_far_times(const TraceRecordBatch& batch, int64_t base, const std::string& path,
                     Diagnostics& diagnostics) {
    const auto note = [&](uint64_t offset, const char* what) {
        diagnostics.add({.file = path,
                         .offset = static_cast<int64_t>(offset),
                         .code = "trace_time_out_of_range",
                         .message = std::string(what) + " is no time that a capture can have; it is NULL"});
    };
    for (const TraceRecord& event : batch.events) {
        if (event.ts_ns == kNullInt) continue;
        const int64_t start = sum_ns(event.ts_ns, base);
        if (start == kNullInt)
            note(event.offset, "ts with the base of the trace");
        else if (event.dur_ns != kNullInt && sum_ns(start, event.dur_ns) == kNullInt)
            note(event.offset, "the end of ts and dur");
    }
    for (const TraceFlow& flow : batch.flows)
        if (flow.ts_ns != kNullInt && sum_ns(flow.ts_ns, base) == kNullInt)
            note(flow.offset, "ts of a flow with the base of the trace");
}

void report_unreadable(const std::string& path, const Error& error, Diagnostics& diagnostics) {
    diagnostics.add({.severity = Severity::kError,
                     .file = path,
                     .code = "trace_unreadable",
                     .message = std::string(error.what()) + "; what was read before counts"});
}

}  // namespace

TraceRecords TraceRecords::read(const std::vector<std::string>& paths, const TracePlan& plan,
                                LoadContext& context) {
    TraceRequest request;
    request.fields =
        kTracePh | kTraceCat | kTraceName | kTracePid | kTraceTid | kTraceTs | kTraceDur | kTraceId;
    for (const TraceArg& arg : plan.args) request.arg_keys.push_back(arg.key);
    for (const char* key : kMetaKeys) request.arg_keys.push_back(key);
    TraceRecords records;
    std::string fault;
    uint64_t events = 0;
    for (const std::string& path : paths) {
        Recorder recorder(plan, path, context, records);
        try {
            records.facts = read_trace(path, request, recorder, context);
            events += records.facts.events;
            if (records.facts.state != FileState::kComplete && fault.empty())
                fault = path + ": no event in it can be read";
        } catch (const Error& error) {
            if (!is_of_file(error)) throw;
            records.facts.state = FileState::kCorrupt;
            if (fault.empty()) fault = reason_of(error);
            report_unreadable(path, error, context.diagnostics);
        }
        records.state = std::max(records.state, records.facts.state);
        const int64_t base = records.facts.base_ns.value_or(0);
        for (size_t b = records.base_ns.size(); b < records.batches.size(); ++b)
            if (records.batches[b]->has_far_times || is_far(base))
                check_far_times(*records.batches[b], base, path, context.diagnostics);
        records.base_ns.resize(records.batches.size(), base);
    }
    for (const auto& batch : records.batches)
        events += batch->events.size() + batch->flows.size() + batch->metas.size();
    if (events == 0) records.unreadable = std::move(fault);
    records.number_lanes();
    return records;
}

void TraceRecords::number_lanes() {
    std::unordered_map<std::string, uint32_t> by_key, process_by_key;
    for (const auto& batch : batches) {
        std::vector<uint32_t> numbers;
        for (const TraceLaneText& raw : batch->lanes) {
            TraceLane lane;
            read_lane_part(raw.pid, lane.pid, lane.pid_text);
            read_lane_part(raw.tid, lane.tid, lane.tid_text);
            const std::string pid = std::to_string(lane.pid) + '\n' + lane.pid_text;
            const auto [process, new_process] = process_by_key.emplace(pid, processes);
            if (new_process) ++processes;
            lane.process = process->second;
            const std::string key = pid + '\n' + std::to_string(lane.tid) + '\n' + lane.tid_text;
            const auto [found, new_lane] = by_key.emplace(key, static_cast<uint32_t>(lanes.size()));
            if (new_lane) lanes.push_back(std::move(lane));
            numbers.push_back(found->second);
        }
        lane_of.push_back(std::move(numbers));
    }
}

std::string_view decode_trace_text(std::string_view raw, std::string& scratch) {
    const JsonToken token(raw);
    if (!token.is_container()) return token.text(scratch);
    scratch.clear();
    bool in_string = false;
    for (size_t i = 0; i < raw.size(); ++i) {
        const char c = raw[i];
        if (in_string && c == '\\' && i + 1 < raw.size()) {
            scratch += c;
            scratch += raw[++i];
            continue;
        }
        if (c == '"') in_string = !in_string;
        if (in_string || (c != ' ' && c != '\t' && c != '\n' && c != '\r')) scratch += c;
    }
    return scratch;
}

void TraceTextColumn::start_batch(const TraceRecordBatch& batch) {
    batch_ = &batch;
    codes_.assign(batch.texts.size(), kNotDecoded);
}

uint32_t TraceTextColumn::decode(uint32_t text) {
    const std::string_view value = decode_trace_text(batch_->texts.text(text), scratch_);
    return codes_[text] = value == "N/A" ? kNullCode : column_.dictionary().intern(value);
}

void ArgSizes::report(const std::string& file, Diagnostics& diagnostics) const {
    if (implausible_ > 0)
        diagnostics.add({.file = file,
                         .code = "implausible_value",
                         .message = "sizes of events are more than 32 PiB; they are NULL",
                         .count = implausible_});
}

}  // namespace profana
