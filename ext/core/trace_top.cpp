#include "ext/core/trace_top.h"

#include <algorithm>

#include "ext/core/ascii.h"
#include "ext/core/json_repair.h"

namespace profana {
namespace {

// Keys and values beyond these many bytes are read over and not kept. What profilers write is some kB.
constexpr size_t kMostBytes = size_t{1} << 26;
constexpr std::string_view kListKey = "traceEvents";

}  // namespace

size_t JsonTop::feed(std::string_view bytes, uint64_t offset) {
    const auto done = [this] {
        return state_ == State::kList || state_ == State::kEnd || state_ == State::kBroken;
    };
    size_t at = 0;
    while (at < bytes.size() && !done()) {
        take(bytes[at], offset + at);
        if (state_ == State::kBroken) break;
        ++at;
    }
    return at;
}

void JsonTop::take(char c, uint64_t offset) {
    if (state_ == State::kInKey) return in_key(c);
    if (state_ == State::kInValue) {
        // A bare value ends where something else begins, which is still to be read.
        const bool bare = depth_ == 0 && !in_string_;
        if (!bare) return in_value(c);
        if (!is_json_blank(c) && c != ',' && c != '}') return keep(c);
        end_value();
    }
    if (is_json_blank(c)) return;
    switch (state_) {
        case State::kBegin:
            return begin(c);
        case State::kKey:
            if (c == '"') {
                key_.clear();
                escaped_ = false;
                state_ = State::kInKey;
            } else if (c == '}') {
                state_ = State::kEnd;
            } else if (c == ',') {
                notes_.add(JsonFault::kExtraComma, offset);
            } else {
                state_ = State::kBroken;
            }
            return;
        case State::kColon:
            state_ = c == ':' ? State::kValue : State::kBroken;
            return;
        case State::kValue:
            return begin_value(c, offset);
        case State::kBehindValue:
            if (c == '"') {  // a comma is missing
                notes_.add(JsonFault::kMissingComma, offset);
                state_ = State::kKey;
                return take(c, offset);
            }
            state_ = c == ',' ? State::kKey : c == '}' ? State::kEnd : State::kBroken;
            return;
        default:
            return;
    }
}

void JsonTop::begin(char c) {
    if (c == '\xEF' || c == '\xBB' || c == '\xBF') return;  // byte order mark
    if (c == '[') {
        state_ = State::kList;
    } else if (c == '{') {
        is_object_ = true;
        state_ = State::kKey;
    } else {
        state_ = State::kBroken;
    }
}

void JsonTop::in_key(char c) {
    if (c == '"' && !escaped_) {
        state_ = State::kColon;
        return;
    }
    if (key_.size() < kMostBytes) key_.push_back(c);
    escaped_ = c == '\\' && !escaped_;
}

void JsonTop::begin_value(char c, uint64_t offset) {
    if (c == '[' && key_ == kListKey) {
        state_ = State::kList;
        return;
    }
    value_.clear();
    value_offset_ = offset;
    depth_ = c == '{' || c == '[' ? 1 : 0;
    in_string_ = c == '"';
    escaped_ = false;
    state_ = State::kInValue;
    if (c == ',' || c == '}') {  // no value at all
        end_value();
        return take(c, offset);
    }
    keep(c);
}

void JsonTop::in_value(char c) {
    keep(c);
    if (in_string_) {
        if (c == '"' && !escaped_) in_string_ = false;
        escaped_ = c == '\\' && !escaped_;
    } else if (c == '"') {
        in_string_ = true;
    } else if (c == '{' || c == '[') {
        ++depth_;
    } else if (c == '}' || c == ']') {
        --depth_;
    }
    if (depth_ == 0 && !in_string_) end_value();
}

void JsonTop::keep(char c) {
    if (value_.size() <= kMostBytes) value_.push_back(c);
}

void JsonTop::end_value() {
    state_ = State::kBehindValue;
    if (value_.empty()) {
        notes_.add(JsonFault::kMissingValue, value_offset_);
        value_ = "null";
    } else if (bytes_kept_ + key_.size() + value_.size() > kMostBytes) {
        notes_.add(JsonFault::kLongValue, value_offset_);
        return;
    } else {
        const auto end = repair_.run(value_, JsonRepair::Behind::kNothing);
        for (const JsonRepair::Note& note : repair_.notes())
            notes_.add(note.fault, value_offset_ + note.offset);
        if (end == JsonRepair::End::kTooDeep) notes_.add(JsonFault::kTooDeep, value_offset_);
        value_ = end == JsonRepair::End::kComplete ? repair_.text() : "null";
    }
    bytes_kept_ += key_.size() + value_.size();
    const auto [known, is_new] = places_.try_emplace(key_, keys_.size());
    if (is_new)
        keys_.emplace_back(key_, value_);
    else
        keys_[known->second].second = value_;
}

}  // namespace profana
