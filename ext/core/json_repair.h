// Reads one JSON value of damaged text and writes it again as valid JSON.
//
// Profilers write broken JSON in many ways: raw bytes and control characters in strings, single backslashes,
// quotes that nobody escaped, NaN and N/A, values or commas left out, brackets that a killed writer never
// closed. Text that is valid comes out as it went in (escapes of NUL and of half surrogates excepted). A
// string ends at a quote behind which the text can go on as JSON does; for valid text that is its own quote.
//
// One forward pass with a stack of its own: deep nesting costs no recursion, and its depth is bounded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ext/core/json_fault.h"

namespace profana {

constexpr size_t kMaxJsonDepth = 1000;

class JsonRepair {
  public:
    enum class End : uint8_t {
        kComplete,    // text() is the value
        kIncomplete,  // the text ends inside the value
        kTooDeep,     // nested deeper than kMaxJsonDepth; consumed() leads behind the value
        kLost,        // no reading of the text makes sense from consumed() on
    };
    struct Note {
        JsonFault fault;
        size_t offset;  // in the text
    };
    struct Place {
        size_t offset = 0, length = 0;
    };

    // What follows behind the text: more of the same file, the file's end (which may cut the value off), or
    // nothing that belongs to the value (which is known to end with the text).
    enum class Behind : uint8_t { kMore, kFileEnd, kNothing };

    // Reads the value at the begin of text. tracked_key: of the value's own keys, the one whose value's place
    // in the damaged text is wanted.
    End run(std::string_view text, Behind behind, std::string_view tracked_key = {});

    const std::string& text() const { return out_; }
    // After any other end than kComplete: closes what is still open in text(), which then is valid JSON, or
    // empty if nothing was read. Returns the length of what was read; what reaches beyond it is unfinished.
    size_t close_text();
    size_t consumed() const { return at_; }
    const std::vector<Note>& notes() const { return notes_; }
    Place tracked() const { return tracked_; }

  private:
    enum class State : uint8_t {
        kValue,
        kFirstKey,
        kKey,
        kColon,
        kBehindValue,
        kComplete,
        kIncomplete,
        kDeep,
        kLost
    };
    enum class StringEnd : uint8_t { kQuote, kNoQuote, kIncomplete, kCut };

    State step(State state);
    State value();
    State word();
    State first_key();
    State key();
    State bare_key();
    State colon();
    State behind_value();
    State next_in_object();
    State next_in_array();
    State open(char bracket);
    State close();
    State close_mismatched(char bracket);
    State object_where_key_expected();
    State string(bool is_key);
    End skip_deep();
    void copy_blanks();
    void write_comma();
    void drop_comma();
    bool behind_comma() const;

    StringEnd find_string_end(size_t from, bool is_key, size_t* end) const;
    bool closes_string(size_t quote, bool is_key) const;
    bool closes_in_array(size_t next) const;
    bool closes_in_object(size_t next) const;
    bool brackets_then_more(size_t at) const;
    bool key_at(size_t quote) const;
    bool event_begins(size_t quote, StringEnd* how, size_t* end) const;
    void copy_string(size_t from, size_t to);
    size_t copy_escape(size_t at, size_t to);

    bool in_object() const { return stack_.back() == '{'; }
    size_t skip_blanks(size_t at) const;
    void note(JsonFault fault, size_t offset) { notes_.push_back({fault, offset}); }

    std::string_view in_;
    Behind behind_ = Behind::kMore;
    State last_ = State::kValue;  // of the last step
    size_t at_ = 0;
    size_t comma_ = 0;          // the last comma between two pairs of an object
    size_t comma_written_ = 0;  // the last comma in out_
    std::string stack_;
    std::string out_;
    std::vector<Note> notes_;
    std::string_view tracked_key_;
    Place tracked_;
    bool tracking_ = false;
};

}  // namespace profana
