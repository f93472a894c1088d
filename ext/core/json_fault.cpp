#include "ext/core/json_fault.h"

namespace profana {
namespace {

struct FaultText {
    JsonFault fault;
    const char* code;
    Severity severity;
    const char* message;
};

constexpr auto kNote = Severity::kInfo, kRepaired = Severity::kWarning, kLost = Severity::kError;

constexpr FaultText kTexts[] = {
    {JsonFault::kBadEscape, "json_bad_escape", kRepaired,
     "a backslash that begins no escape of JSON; kept as a character"},
    {JsonFault::kLoneSurrogate, "json_lone_surrogate", kRepaired,
     "half a surrogate pair, which is no character; replaced by U+FFFD"},
    {JsonFault::kNulCharacter, "json_nul_character", kRepaired,
     "the character NUL, at which SQL texts end; replaced by U+FFFD"},
    {JsonFault::kInvalidUtf8, "json_invalid_utf8", kRepaired,
     "bytes that are not UTF-8 in a string; each replaced by U+FFFD"},
    {JsonFault::kControlCharacter, "json_control_character", kRepaired,
     "a control character without escape in a string; kept"},
    {JsonFault::kUnescapedQuote, "json_unescaped_quote", kRepaired,
     "a quote inside a string without escape; taken as a character"},
    {JsonFault::kUnclosedString, "json_unclosed_string", kRepaired,
     "a string without closing quote; ended before the brackets that close its event"},
    {JsonFault::kBareValue, "json_bare_value", kRepaired,
     "a bare word where a value belongs; NaN, inf and N/A are read as NULL, other words as text"},
    {JsonFault::kBadNumber, "json_bad_number", kRepaired, "not a number as JSON writes it; kept as text"},
    {JsonFault::kMissingValue, "json_missing_value", kRepaired, "no value where one belongs; read as NULL"},
    {JsonFault::kBareKey, "json_bare_key", kRepaired, "a key without quotes; read as if it had them"},
    {JsonFault::kExtraColon, "json_extra_colon", kRepaired, "one colon too many; ignored"},
    {JsonFault::kMissingComma, "json_missing_comma", kRepaired, "a comma is missing; read as if there"},
    {JsonFault::kExtraComma, "json_extra_comma", kRepaired, "one comma too many; ignored"},
    {JsonFault::kMissingBracket, "json_missing_bracket", kRepaired,
     "a closing bracket is missing; read as if it stood here"},
    {JsonFault::kSplicedArray, "json_spliced_array", kRepaired,
     "the list ends and another begins; their events are read as one list"},
    {JsonFault::kNotAnEvent, "json_not_an_event", kLost, "an element of the list that is no object; skipped"},
    {JsonFault::kGarbage, "json_garbage", kLost,
     "text between events that is no JSON; skipped to the next event"},
    {JsonFault::kEventSkipped, "json_event_skipped", kLost,
     "an event that cannot be read as JSON; skipped to the next event"},
    {JsonFault::kEventTooLong, "json_event_too_long", kLost,
     "an event that does not end within 64 MiB; skipped to the next event"},
    {JsonFault::kTooDeep, "json_too_deep", kLost, "a value nested deeper than 1000 levels; skipped"},
    {JsonFault::kTruncated, "json_truncated", kLost,
     "the file ends inside this event, which is dropped; counts and sums are lower bounds"},
    {JsonFault::kNotClosed, "json_not_closed", kRepaired,
     "the list of events is not closed: its writer may have been stopped; what was written is read"},
    {JsonFault::kTrailingBytes, "json_trailing_bytes", kRepaired, "text behind the end of the JSON; ignored"},
    {JsonFault::kSecondList, "json_second_list", kRepaired,
     "traceEvents is given once more; the events of all its lists are read"},
    {JsonFault::kLongValue, "json_long_value", kLost,
     "a value beside the events longer than 64 MiB; not kept"},
    {JsonFault::kBadTime, "trace_bad_time", kRepaired, "ts or dur is no number; read as NULL"},
    {JsonFault::kTimeOutOfRange, "trace_time_out_of_range", kRepaired,
     "a time that no capture can have; read as NULL"},
    {JsonFault::kNegativeDuration, "trace_negative_duration", kNote, "dur is negative; kept as it is"},
    {JsonFault::kBadBase, "trace_bad_base", kRepaired,
     "baseTimeNanoseconds is no number of 64 bits; times are as the events have them"},
};

constexpr bool texts_in_order() {
    for (size_t i = 0; i < std::size(kTexts); ++i) {
        if (static_cast<size_t>(kTexts[i].fault) != i) return false;
    }
    return std::size(kTexts) == static_cast<size_t>(JsonFault::kCount);
}
static_assert(texts_in_order());

}  // namespace

const char* fault_code(JsonFault fault) {
    return kTexts[static_cast<size_t>(fault)].code;
}

void FaultNotes::add(JsonFault fault, uint64_t offset) {
    Seen& seen = seen_[static_cast<size_t>(fault)];
    if (seen.offsets.size() < Diagnostics::kKeep) seen.offsets.push_back(offset);
    ++seen.count;
}

void FaultNotes::append(const FaultNotes& other) {
    for (size_t i = 0; i < seen_.size(); ++i) {
        for (const uint64_t offset : other.seen_[i].offsets) {
            if (seen_[i].offsets.size() < Diagnostics::kKeep) seen_[i].offsets.push_back(offset);
        }
        seen_[i].count += other.seen_[i].count;
    }
}

bool FaultNotes::lost_something() const {
    for (const FaultText& text : kTexts) {
        if (text.severity == kLost && text.fault != JsonFault::kTruncated && has(text.fault)) return true;
    }
    return false;
}

void FaultNotes::report(const std::string& file, Diagnostics& diagnostics) const {
    for (const FaultText& text : kTexts) {
        const Seen& seen = of(text.fault);
        uint64_t uncounted = seen.count - seen.offsets.size();  // further ones, whose places were not kept
        for (const uint64_t offset : seen.offsets) {
            diagnostics.add({.severity = text.severity,
                             .file = file,
                             .offset = static_cast<int64_t>(offset),
                             .code = text.code,
                             .message = text.message,
                             .count = 1 + uncounted});
            uncounted = 0;
        }
    }
}

}  // namespace profana
