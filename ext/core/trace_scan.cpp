#include "ext/core/trace_scan.h"

#include <algorithm>
#include <cstring>

#include "ext/core/ascii.h"

namespace profana {
namespace {

constexpr size_t kLongestField = 4;  // name, args
// How far back from the end a cut is looked for whose event begins with the same key as the chunk's first.
constexpr size_t kSameKeyWindow = size_t{1} << 16;
// Events that seem to have no end, after each of which reading is tried anew from the next event.
constexpr unsigned kIncompleteTries = 16;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

size_t blanks_behind(std::string_view text, size_t at) {
    while (at < text.size() && is_json_blank(text[at])) ++at;
    return at;
}

size_t blanks_before(std::string_view text, size_t at) {
    while (at > 0 && is_json_blank(text[at - 1])) --at;
    return at;
}

// The key with which an object begins, with its quotes; empty: text[brace] does not begin an object with a
// key.
std::string_view first_key(std::string_view text, size_t brace) {
    if (brace >= text.size() || text[brace] != '{') return {};
    const size_t quote = blanks_behind(text, brace + 1);
    if (quote >= text.size() || text[quote] != '"') return {};
    const size_t end = text.find('"', quote + 1);
    return end == std::string_view::npos ? text.substr(quote) : text.substr(quote, end + 1 - quote);
}

// The last `},{"` from `lowest` on, as the position of its last brace; 0: none.
size_t last_cut(std::string_view text, size_t lowest, std::string_view key) {
    for (size_t end = text.size(); end > lowest;) {
        const auto* found = static_cast<const char*>(memrchr(text.data() + lowest, '{', end - lowest));
        if (found == nullptr) return 0;
        const auto brace = static_cast<size_t>(found - text.data());
        end = brace;
        const size_t comma = blanks_before(text, brace);
        if (comma == 0 || text[comma - 1] != ',') continue;
        const size_t close = blanks_before(text, comma - 1);
        if (close == 0 || text[close - 1] != '}') continue;
        const std::string_view here = first_key(text, brace);
        if (!here.empty() && (key.empty() || here == key)) return brace;
    }
    return 0;
}

}  // namespace

size_t cut_trace_events(std::string_view bytes) {
    const std::string_view key = first_key(bytes, blanks_behind(bytes, 0));
    if (!key.empty() && bytes.size() > kSameKeyWindow) {
        const size_t cut = last_cut(bytes, bytes.size() - kSameKeyWindow, key);
        if (cut > 0) return cut;
    }
    return last_cut(bytes, 0, {});
}

JsonKeySet::JsonKeySet(const std::vector<std::string>& keys) : keys_(keys) {
    for (size_t i = 0; i < keys_.size(); ++i)
        by_length_[std::min(keys_[i].size(), kLengths - 1)].push_back(static_cast<int>(i));
}

int JsonKeySet::find(std::string_view key) const {
    for (const int i : by_length_[std::min(key.size(), kLengths - 1)]) {
        if (keys_[static_cast<size_t>(i)] == key) return i;
    }
    return -1;
}

TraceScanner::TraceScanner(const TraceRequest& request, bool in_object)
    : request_(request), in_object_(in_object), arg_keys_(request.arg_keys), arg_values_(arg_keys_.size()) {
    event_.arg_values = arg_values_;
}

void TraceScanner::scan(const Chunk& chunk, TraceChunkResult* result) {
    chunk_ = &chunk;
    result_ = result;
    text_ = chunk.bytes;
    at_ = lines_counted_to_ = 0;
    incomplete_ = 0;
    behind_event_ = ends_in_event_ = false;
    lost_ = told_ = chunk.within_row;
    lost_at_ = 0;
    const_cast<char*>(text_.data())[text_.size()] = '\0';  // in the chunk's padding
    text_kind_ = index_.build(text_);
    const bool indexed = text_kind_ != JsonIndex::Text::kNotIndexed;
    const uint32_t* token = indexed ? index_.begin() : nullptr;
    Step step = Step::kGoOn;
    while (step == Step::kGoOn) {
        if (indexed) {
            token = std::lower_bound(token, index_.end(), at_);
            scan_plain(&token);
        }
        step = scan_carefully();
    }
    result->consumed = at_;
    result->at_end = chunk.at_end;
    if (request_.fields & kTraceLine)
        result->lines +=
            static_cast<uint64_t>(std::count(text_.begin() + static_cast<ptrdiff_t>(lines_counted_to_),
                                             text_.begin() + static_cast<ptrdiff_t>(at_), '\n'));
}

// Nothing in the strings of an event that has to be repaired?
bool TraceScanner::has_good_characters(std::string_view event) const {
    return has_good_escapes(event) && (text_kind_ == JsonIndex::Text::kPlain || is_utf8_piece(event));
}

// ---- along the index -------------------------------------------------------------------------------------

// Reads events and the commas between them as long as all is well.
void TraceScanner::scan_plain(const uint32_t** token) {
    const char* text = text_.data();
    const uint32_t* const end = index_.end();
    const uint32_t* next = *token;
    // Inside what the index takes for a string there is nothing to go on with.
    if (next == end || skip_blanks(at_) != *next) return;
    while (next < end) {
        if (behind_event_) {
            if (text[*next] != ',') break;
            at_ = *next + 1;
            behind_event_ = false;
            ++next;
            continue;
        }
        if (text[*next] != '{') break;
        const uint32_t* const behind = walk_event(text, next);
        if (behind == nullptr) break;
        const size_t close = behind[-1] + 1;
        if (!has_good_characters(text_.substr(*next, close - *next))) break;
        event_.args_offset = place(args_token_);
        event_.args_length = event_.args.raw().size();
        event_.repaired = false;
        take_event(*next);
        at_ = close;
        behind_event_ = true;
        next = behind;
    }
    *token = next;
}

JsonToken* TraceScanner::wanted_field(std::string_view key) {
    const auto wanted = [this](TraceField field, JsonToken* token) {
        return request_.fields & field ? token : nullptr;
    };
    switch (key.size()) {
        case 2:
            if (key == "ph") return &event_.ph;  // always: without it an object is no event
            if (key == "ts") return wanted(kTraceTs, &event_.ts);
            if (key == "id") return wanted(kTraceId, &event_.id);
            if (key == "bp") return wanted(kTraceBp, &event_.bp);
            return nullptr;
        case 3:
            if (key == "dur") return wanted(kTraceDur, &event_.dur);
            if (key == "pid") return wanted(kTracePid, &event_.pid);
            if (key == "tid") return wanted(kTraceTid, &event_.tid);
            if (key == "cat") return wanted(kTraceCat, &event_.cat);
            return nullptr;
        case 4:
            if (key == "name") return wanted(kTraceName, &event_.name);
            if (key == "args") return wanted(kTraceArgs, &event_.args);
            return nullptr;
        default:
            return nullptr;
    }
}

// The key as its escapes mean it; hardly any has some.
std::string_view TraceScanner::plain_key(std::string_view key) {
    if (std::memchr(key.data(), '\\', key.size()) == nullptr) return key;
    return JsonToken({key.data() - 1, key.size() + 2}).text(key_);
}

const uint32_t* TraceScanner::walk_event(const char* text, const uint32_t* token) {
    event_.ph = event_.cat = event_.name = event_.pid = event_.tid = JsonToken();
    event_.ts = event_.dur = event_.id = event_.bp = event_.args = JsonToken();
    if (!arg_values_.empty()) std::fill(arg_values_.begin(), arg_values_.end(), JsonToken());
    args_token_ = 0;
    return walk_json_object(text, token, [&](std::string_view written, const uint32_t* value) {
        // An escape makes a key longer than any that is known.
        const std::string_view key = written.size() > kLongestField ? plain_key(written) : written;
        const bool is_args = key == "args";
        const uint32_t* behind = is_args && text[*value] == '{' && !arg_values_.empty()
                                     ? walk_args(text, value)
                                     : skip_json_value(text, value, 1);
        if (behind == nullptr) return behind;
        if (is_args) args_token_ = *value;
        if (JsonToken* field = wanted_field(key)) *field = JsonToken(json_token_text(text, value, behind));
        return behind;
    });
}

const uint32_t* TraceScanner::walk_args(const char* text, const uint32_t* token) {
    std::fill(arg_values_.begin(), arg_values_.end(), JsonToken());
    return walk_json_object(text, token, [&](std::string_view key, const uint32_t* value) {
        const uint32_t* behind = skip_json_value(text, value, 2);
        if (behind == nullptr) return behind;
        const int wanted = arg_keys_.find(key);
        if (wanted >= 0)
            arg_values_[static_cast<size_t>(wanted)] = JsonToken(json_token_text(text, value, behind));
        return behind;
    });
}

// Hands the event in event_, which begins at text_[at], to the batch.
void TraceScanner::take_event(size_t at) {
    if (lost_) {
        if (event_.ph.absent()) return;  // an object inside of what was lost
        settle_loss();
        ends_in_event_ = false;
    }
    event_.offset = place(at);
    if (request_.fields & kTraceLine) {
        result_->lines +=
            static_cast<uint64_t>(std::count(text_.begin() + static_cast<ptrdiff_t>(lines_counted_to_),
                                             text_.begin() + static_cast<ptrdiff_t>(at), '\n'));
        lines_counted_to_ = at;
        event_.line = result_->lines;
    }
    ++result_->events;
    result_->batch->event(event_);
}

// ---- everything else -------------------------------------------------------------------------------------

size_t TraceScanner::skip_blanks(size_t at) const {
    return blanks_behind(text_, at);
}

// Takes one step at text_[at_], whatever stands there.
TraceScanner::Step TraceScanner::scan_carefully() {
    if (lost_) {
        at_ = next_event(at_).value_or(text_.size());
        behind_event_ = false;  // a comma that has to follow may be lost as well
    }
    at_ = skip_blanks(at_);
    while (text_.substr(at_, kByteOrderMark.size()) == kByteOrderMark)
        at_ = skip_blanks(at_ + kByteOrderMark.size());
    if (at_ == text_.size()) {
        reach_end();
        return Step::kStop;
    }
    switch (text_[at_]) {
        case '{':
            if (behind_event_) note(JsonFault::kMissingComma, at_);
            behind_event_ = false;
            return repair_event();
        case ',':
            if (!behind_event_) note(JsonFault::kExtraComma, at_);
            behind_event_ = false;
            ++at_;
            return Step::kGoOn;
        case ']':
            return behind_list();
        case '[':
            note(JsonFault::kSplicedArray, at_++);
            behind_event_ = false;
            return Step::kGoOn;
        case '"':
        case '}':
            if (in_object_ && (text_[at_] == '}' || is_key(at_))) {
                note(JsonFault::kNotClosed, at_);
                result_->finished = true;
                const size_t before = blanks_before(text_, at_);
                return stop_at(behind_event_ || before == 0 ? at_
                                                            : before - 1);  // the comma belongs to the object
            }
            [[fallthrough]];
        default:
            return skip_element();
    }
}

JsonRepair::Behind TraceScanner::behind_chunk() const {
    return chunk_->at_end ? JsonRepair::Behind::kFileEnd : JsonRepair::Behind::kMore;
}

TraceScanner::Step TraceScanner::repair_event() {
    const size_t begin = at_;
    const JsonRepair::End end = repair_.run(text_.substr(begin), behind_chunk(), "args");
    if (end == JsonRepair::End::kIncomplete) return skip_incomplete();
    for (const JsonRepair::Note& found : repair_.notes()) {
        if (end == JsonRepair::End::kComplete) note(found.fault, begin + found.offset);
    }
    at_ = begin + repair_.consumed();
    if (end == JsonRepair::End::kTooDeep) {
        note(JsonFault::kTooDeep, begin);
        behind_event_ = true;
        return Step::kGoOn;
    }
    const std::string& event = repair_.text();
    if (end == JsonRepair::End::kComplete && repaired_index_.build(event) == JsonIndex::Text::kPlain &&
        walk_event(event.c_str(), repaired_index_.begin()) != nullptr) {
        event_.args_offset = place(begin + repair_.tracked().offset);
        event_.args_length = repair_.tracked().length;
        event_.repaired = true;
        take_event(begin);
        behind_event_ = true;
        return Step::kGoOn;
    }
    lose(JsonFault::kEventSkipped, begin);
    return Step::kGoOn;
}

// The event at at_ does not end in the chunk. If a longer one can be had, it will be. If not, the file may be
// cut off here, or a quote or bracket is missing and further events can be found inside of what seems one.
TraceScanner::Step TraceScanner::skip_incomplete() {
    if (!chunk_->at_end && !chunk_->too_long) {
        settle_loss();
        return stop_at(at_);
    }
    const size_t begin = at_;
    const std::optional<size_t> next = next_event(begin + 1);
    const bool give_up = !next.has_value() || ++incomplete_ > kIncompleteTries;
    if (!lost_) ends_in_event_ = true;
    lose(next.has_value() || chunk_->at_end ? JsonFault::kEventSkipped : JsonFault::kEventTooLong, begin);
    at_ = give_up ? text_.size() : *next;
    return Step::kGoOn;
}

// At the bracket that ends the list, if nothing like a list follows.
TraceScanner::Step TraceScanner::behind_list() {
    const size_t before = blanks_before(text_, at_);
    if (before > 0 && text_[before - 1] == ',') note(JsonFault::kExtraComma, before - 1);
    size_t next = skip_blanks(at_ + 1);
    if (next < text_.size() && text_[next] == ',') next = skip_blanks(next + 1);
    settle_loss();
    if (next < text_.size() && (text_[next] == '[' || text_[next] == '{')) {
        note(JsonFault::kSplicedArray, at_);
        at_ = text_[next] == '[' ? next + 1 : next;
        behind_event_ = false;
        return Step::kGoOn;
    }
    result_->finished = true;
    return stop_at(at_ + 1);
}

// No event: a number or a string in the list, or no JSON at all.
TraceScanner::Step TraceScanner::skip_element() {
    const size_t begin = at_;
    if (std::strchr("}:", text_[at_]) == nullptr) {  // NUL among them
        const JsonRepair::End end = repair_.run(text_.substr(at_), behind_chunk());
        if (end == JsonRepair::End::kComplete && repair_.consumed() > 0) {
            note(JsonFault::kNotAnEvent, begin);
            at_ += repair_.consumed();
            behind_event_ = true;
            return Step::kGoOn;
        }
    }
    lose(JsonFault::kGarbage, begin);
    return Step::kGoOn;
}

TraceScanner::Step TraceScanner::stop_at(size_t at) {
    at_ = at;
    return Step::kStop;
}

// Reading cannot go on at text_[begin]: looks for the next event, from at_ on or just behind begin.
void TraceScanner::lose(JsonFault fault, size_t begin) {
    if (!lost_) {
        lost_ = true;
        loss_ = fault;
        lost_at_ = begin;
    }
    at_ = next_event(std::max(at_, begin + 1)).value_or(text_.size());
    behind_event_ = false;
}

void TraceScanner::settle_loss() {
    if (lost_ && !told_) note(loss_, lost_at_);
    lost_ = told_ = false;
}

// Nothing is left of the chunk.
void TraceScanner::reach_end() {
    if (!chunk_->at_end) {
        result_->continues = lost_ && (ends_in_event_ || told_);
        return settle_loss();
    }
    if (lost_ && ends_in_event_) return note(JsonFault::kTruncated, lost_at_);
    const std::optional<size_t> close = lost_ ? last_list_end(lost_at_) : std::nullopt;
    settle_loss();
    if (close.has_value()) {
        result_->finished = true;
        at_ = *close;
    } else {
        note(JsonFault::kNotClosed, text_.size());
    }
}

// Where text was lost up to the end of the file: behind the last bracket that may have closed the list.
std::optional<size_t> TraceScanner::last_list_end(size_t lowest) const {
    for (size_t close = text_.rfind(']'); close != std::string_view::npos && close > lowest;
         close = text_.rfind(']', close - 1)) {
        const size_t before = blanks_before(text_, close);
        if (before > 0 && text_[before - 1] == '}') return close + 1;
    }
    return std::nullopt;
}

// The next `{"` from `from` on that stands where an event may.
std::optional<size_t> TraceScanner::next_event(size_t from) const {
    for (size_t brace = text_.find('{', from); brace != std::string_view::npos;
         brace = text_.find('{', brace + 1)) {
        if (first_key(text_, brace).empty()) continue;
        const size_t before = blanks_before(text_, brace);
        if (before == 0 || std::strchr(",[]}", text_[before - 1]) != nullptr) return brace;
    }
    return std::nullopt;
}

// Does the string at `quote` have a colon behind it?
bool TraceScanner::is_key(size_t quote) const {
    for (size_t at = quote + 1; at < text_.size(); ++at) {
        if (text_[at] == '\\') {
            ++at;
        } else if (text_[at] == '"') {
            at = skip_blanks(at + 1);
            return at < text_.size() && text_[at] == ':';
        }
    }
    return false;
}

}  // namespace profana
