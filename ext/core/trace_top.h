// Reads what stands around a list of events: the brackets at the top of the file and the other keys of an
// object. Takes the file's bytes piece by piece; stops behind the bracket that opens the list, and goes on
// behind the one that closes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ext/core/json_fault.h"
#include "ext/core/json_repair.h"

namespace profana {

class JsonTop {
  public:
    enum class State : uint8_t {
        kBegin,
        kKey,  // a key, or the end of the object
        kInKey,
        kColon,
        kValue,
        kInValue,
        kBehindValue,  // a comma, or the end of the object
        kList,         // behind the bracket that opens a list of events
        kEnd,          // behind the bracket that closes the object
        kBroken,       // no JSON that could be followed any further
    };

    // Reads on from bytes, which begin at `offset` of the file; returns how many it took. It takes all,
    // unless it comes to kList, kEnd or kBroken.
    size_t feed(std::string_view bytes, uint64_t offset);
    // The list's closing bracket has been read.
    void list_closed() { state_ = is_object_ ? State::kBehindValue : State::kEnd; }

    State state() const { return state_; }
    bool is_object() const { return is_object_; }
    // The raw, repaired JSON of each value, by key in order of first appearance; the last value of a key
    // counts.
    std::vector<std::pair<std::string, std::string>>& keys() { return keys_; }
    FaultNotes& notes() { return notes_; }

  private:
    void take(char c, uint64_t offset);
    void begin(char c);
    void in_key(char c);
    void begin_value(char c, uint64_t offset);
    void in_value(char c);
    void end_value();
    void keep(char c);

    State state_ = State::kBegin;
    bool is_object_ = false;
    std::string key_, value_;
    uint64_t value_offset_ = 0;
    size_t depth_ = 0;
    bool in_string_ = false, escaped_ = false;
    std::vector<std::pair<std::string, std::string>> keys_;
    std::unordered_map<std::string, size_t> places_;  // of a key in keys_
    size_t bytes_kept_ = 0;
    JsonRepair repair_;
    FaultNotes notes_;
};

}  // namespace profana
