// What can be wrong with JSON text, and how it is told to users: codes, messages, counts.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ext/core/diagnostics.h"

namespace profana {

enum class JsonFault : uint8_t {
    // Inside a value; each is repaired.
    kBadEscape,
    kLoneSurrogate,
    kNulCharacter,
    kInvalidUtf8,
    kControlCharacter,
    kUnescapedQuote,
    kUnclosedString,
    kBareValue,
    kBadNumber,
    kMissingValue,
    kBareKey,
    kExtraColon,
    kMissingComma,
    kExtraComma,
    kMissingBracket,
    // Of a list of events.
    kSplicedArray,
    kNotAnEvent,
    kGarbage,
    kEventSkipped,
    kEventTooLong,
    kTooDeep,
    kTruncated,
    kNotClosed,
    kTrailingBytes,
    kSecondList,
    kLongValue,
    // Of an event's values.
    kBadTime,
    kTimeOutOfRange,
    kNegativeDuration,
    kBadBase,
    kCount
};

const char* fault_code(JsonFault fault);

// Counts faults of one piece of a file, with the first places of each kind.
class FaultNotes {
  public:
    void add(JsonFault fault, uint64_t offset);
    void append(const FaultNotes& other);
    uint64_t count(JsonFault fault) const { return of(fault).count; }
    bool has(JsonFault fault) const { return count(fault) > 0; }
    // Values or events are missing from what was read.
    bool lost_something() const;
    // One diagnostic a kept place.
    void report(const std::string& file, Diagnostics& diagnostics) const;

  private:
    struct Seen {
        uint64_t count = 0;
        std::vector<uint64_t> offsets;
    };
    const Seen& of(JsonFault fault) const { return seen_[static_cast<size_t>(fault)]; }
    std::array<Seen, static_cast<size_t>(JsonFault::kCount)> seen_;
};

}  // namespace profana
