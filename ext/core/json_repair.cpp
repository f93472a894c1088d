#include "ext/core/json_repair.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "ext/core/json_token.h"
#include "ext/core/utf8.h"

namespace profana {
namespace {

// How far a reading of the text ahead of a quote looks for the end of the key there.
constexpr size_t kKeyLookahead = 1024;
constexpr std::string_view kBlanks = " \t\r\n";

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool ends_word(char c) {
    return is_blank(c) || std::strchr(",:{}[]\"", c) != nullptr;  // NUL among them
}

bool is_digit(char c) {
    return static_cast<unsigned char>(c - '0') < 10;
}

// The first byte from `at` on that copy_string() has to look at.
size_t skip_plain(std::string_view text, size_t at) {
    static constexpr auto kPlain = [] {
        std::array<bool, 256> plain{};
        for (size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
        return plain;
    }();
    while (at < text.size() && kPlain[static_cast<unsigned char>(text[at])]) ++at;
    return at;
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
    return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                      [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
}

// A number that nobody knows, as C, C++, Python, JavaScript and MSVC (1.#INF, -1.#IND) print it.
bool is_unknown_number(std::string_view word) {
    std::string_view plain = word;
    if (plain.front() == '-' || plain.front() == '+') plain.remove_prefix(1);
    for (const char* known : {"nan", "inf", "infinity", "n/a", "null", "none", "undefined", "nan(ind)"}) {
        if (equals_ignoring_case(plain, known)) return true;
    }
    return word.find(".#") != std::string_view::npos;
}

void append_escaped(unsigned char c, std::string* out) {
    constexpr char kHex[] = "0123456789abcdef";
    switch (c) {
        case '\n':
            out->append("\\n");
            break;
        case '\r':
            out->append("\\r");
            break;
        case '\t':
            out->append("\\t");
            break;
        default:
            out->append("\\u00");
            out->push_back(kHex[c >> 4]);
            out->push_back(kHex[c & 15]);
    }
}

}  // namespace

size_t JsonRepair::skip_blanks(size_t at) const {
    while (at < in_.size() && is_blank(in_[at])) ++at;
    return at;
}

void JsonRepair::copy_blanks() {
    const size_t end = skip_blanks(at_);
    out_.append(in_, at_, end - at_);
    at_ = end;
}

void JsonRepair::write_comma() {
    comma_written_ = out_.size();
    out_.push_back(',');
}

// Takes back the comma behind which no pair came.
void JsonRepair::drop_comma() {
    if (behind_comma()) out_.erase(comma_written_, 1);
}

// Is a comma the last that was written, but for blanks?
bool JsonRepair::behind_comma() const {
    return comma_written_ < out_.size() && out_[comma_written_] == ',' &&
           out_.find_first_not_of(kBlanks, comma_written_ + 1) == std::string::npos;
}

JsonRepair::End JsonRepair::run(std::string_view text, Behind behind, std::string_view tracked_key) {
    in_ = text;
    behind_ = behind;
    tracked_key_ = tracked_key;
    at_ = comma_ = comma_written_ = 0;
    tracking_ = false;
    tracked_ = {};
    stack_.clear();
    out_.clear();
    notes_.clear();
    State state = State::kValue;
    while (state < State::kComplete && !(state == State::kBehindValue && stack_.empty())) {
        copy_blanks();
        last_ = state;
        state = at_ < in_.size() ? step(state) : State::kIncomplete;
    }
    switch (state) {
        case State::kIncomplete:
            return End::kIncomplete;
        case State::kLost:
            return End::kLost;
        case State::kDeep:
            return skip_deep();
        default:
            return End::kComplete;
    }
}

size_t JsonRepair::close_text() {
    if (stack_.empty()) out_.clear();
    const bool lacks_value =
        last_ == State::kColon || (last_ == State::kValue && !stack_.empty() && in_object());
    if (!lacks_value) drop_comma();
    const size_t read = out_.size();
    if (lacks_value) out_.append(last_ == State::kColon ? ":null" : "null");
    for (; !stack_.empty(); stack_.pop_back()) out_.push_back(in_object() ? '}' : ']');
    return read;
}

JsonRepair::State JsonRepair::step(State state) {
    switch (state) {
        case State::kValue:
            return value();
        case State::kFirstKey:
            return first_key();
        case State::kKey:
            return key();
        case State::kColon:
            return colon();
        default:
            return behind_value();
    }
}

// ---- values ----------------------------------------------------------------------------------------------

JsonRepair::State JsonRepair::value() {
    switch (in_[at_]) {
        case '"':
            return string(false);
        case '{':
        case '[':
            return open(in_[at_]);
        case '}':
        case ']':
        case ',':
            if (stack_.empty()) return State::kLost;
            note(JsonFault::kMissingValue, at_);
            out_.append("null");
            return State::kBehindValue;
        case ':':
            note(JsonFault::kExtraColon, at_++);
            return State::kValue;
        default:
            return word();
    }
}

JsonRepair::State JsonRepair::word() {
    size_t end = at_;
    while (end < in_.size() && !ends_word(in_[end])) ++end;
    if (end == in_.size() && !stack_.empty()) return State::kIncomplete;
    if (end == at_) return State::kLost;  // a NUL byte
    const std::string_view word = in_.substr(at_, end - at_);
    if (word == "null" || word == "true" || word == "false" || is_json_number(word)) {
        out_.append(word);
    } else if (word == "True" || word == "False") {
        note(JsonFault::kBareValue, at_);
        out_.append(word == "True" ? "true" : "false");
    } else if (is_unknown_number(word)) {
        note(JsonFault::kBareValue, at_);
        out_.append("null");
    } else {
        const bool number = is_digit(word.front()) || std::strchr("+-.", word.front()) != nullptr;
        note(number ? JsonFault::kBadNumber : JsonFault::kBareValue, at_);
        copy_string(at_, end);
    }
    at_ = end;
    return State::kBehindValue;
}

JsonRepair::State JsonRepair::open(char bracket) {
    if (stack_.size() == kMaxJsonDepth) return State::kDeep;
    stack_.push_back(bracket);
    out_.push_back(bracket);
    ++at_;
    if (bracket == '{') return State::kFirstKey;
    copy_blanks();
    return at_ < in_.size() && in_[at_] == ']' ? close() : State::kValue;
}

JsonRepair::State JsonRepair::close() {
    out_.push_back(in_object() ? '}' : ']');
    stack_.pop_back();
    ++at_;
    return State::kBehindValue;
}

// A bracket that is not the one to be closed next: close all up to its own, or all if it belongs to none.
JsonRepair::State JsonRepair::close_mismatched(char bracket) {
    note(JsonFault::kMissingBracket, at_);
    const bool ours = stack_.find(bracket == '}' ? '{' : '[') != std::string::npos;
    while (!stack_.empty() && in_object() != (bracket == '}')) {
        close();
        --at_;
    }
    if (ours) return close();
    return State::kBehindValue;
}

// ---- objects and arrays ----------------------------------------------------------------------------------

JsonRepair::State JsonRepair::first_key() {
    return in_[at_] == '}' ? close() : key();
}

JsonRepair::State JsonRepair::key() {
    switch (in_[at_]) {
        case '"': {
            const size_t quote = out_.size();
            const State next = string(true);
            if (stack_.size() == 1 && next == State::kColon)
                tracking_ = std::string_view(out_).substr(quote + 1, out_.size() - quote - 2) == tracked_key_;
            return next;
        }
        case ',':
            note(JsonFault::kExtraComma, at_++);
            return State::kKey;
        case '}':
        case ']':
            if (behind_comma()) note(JsonFault::kExtraComma, comma_);
            drop_comma();
            return in_[at_] == '}' ? close() : close_mismatched(']');
        case '{':
            return object_where_key_expected();
        default:
            return bare_key();
    }
}

JsonRepair::State JsonRepair::bare_key() {
    size_t end = at_;
    while (end < in_.size() && !ends_word(in_[end])) ++end;
    const size_t next = skip_blanks(end);
    if (next == in_.size()) return State::kIncomplete;
    if (end == at_ || in_[next] != ':') return State::kLost;
    note(JsonFault::kBareKey, at_);
    copy_string(at_, end);
    at_ = end;
    return State::kColon;
}

// `...},{`: the brackets that end this object are missing, and the next one begins. Otherwise the text was
// cut off in the middle and written on by somebody else.
JsonRepair::State JsonRepair::object_where_key_expected() {
    size_t before = comma_;
    while (before > 0 && is_blank(in_[before - 1])) --before;
    if (!behind_comma() || before == 0 || (in_[before - 1] != '}' && in_[before - 1] != ']'))
        return State::kLost;
    note(JsonFault::kMissingBracket, at_);
    drop_comma();
    while (!stack_.empty()) close();
    at_ = comma_;
    return State::kBehindValue;
}

JsonRepair::State JsonRepair::colon() {
    switch (in_[at_]) {
        case ':':
            ++at_;
            break;
        case ',':
        case '}':
        case ']':
            break;  // value() writes the missing value
        default:
            return State::kLost;
    }
    out_.push_back(':');
    if (tracking_ && stack_.size() == 1) tracked_.offset = skip_blanks(at_);
    return State::kValue;
}

JsonRepair::State JsonRepair::behind_value() {
    if (tracking_ && stack_.size() == 1) {
        tracking_ = false;
        size_t end = at_;
        while (end > tracked_.offset && is_blank(in_[end - 1])) --end;
        tracked_.length = end - tracked_.offset;
    }
    return in_object() ? next_in_object() : next_in_array();
}

JsonRepair::State JsonRepair::next_in_object() {
    switch (in_[at_]) {
        case ',':
            comma_ = at_++;
            break;
        case '}':
            return close();
        case ']':
            return close_mismatched(']');
        case '"':
            note(JsonFault::kMissingComma, at_);
            comma_ = at_;
            break;
        default:
            return State::kLost;
    }
    write_comma();
    return State::kKey;
}

JsonRepair::State JsonRepair::next_in_array() {
    switch (in_[at_]) {
        case ',': {
            const size_t next = skip_blanks(at_ + 1);
            if (next < in_.size() && in_[next] == ']') {
                note(JsonFault::kExtraComma, at_);
                at_ = next;
                return close();
            }
            ++at_;
            break;
        }
        case ']':
            return close();
        case '}':
            return close_mismatched('}');
        case ':':
            return State::kLost;
        default:
            note(JsonFault::kMissingComma, at_);
    }
    write_comma();
    return State::kValue;
}

// Too deep to be read; follow the brackets, so that reading can go on behind them.
JsonRepair::End JsonRepair::skip_deep() {
    size_t depth = stack_.size();
    bool in_string = false;
    for (; at_ < in_.size(); ++at_) {
        const char c = in_[at_];
        if (in_string) {
            if (c == '\\') ++at_;
            if (c == '"') in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            ++at_;
            return End::kTooDeep;
        }
    }
    at_ = in_.size();
    return behind_ == Behind::kMore ? End::kIncomplete : End::kTooDeep;
}

// ---- strings ---------------------------------------------------------------------------------------------

JsonRepair::State JsonRepair::string(bool is_key) {
    const size_t begin = at_ + 1;
    size_t end = begin;
    const StringEnd how = find_string_end(begin, is_key, &end);
    if (how == StringEnd::kIncomplete) return State::kIncomplete;
    if (how == StringEnd::kCut) {
        at_ = end;
        return State::kLost;
    }
    if (how == StringEnd::kNoQuote) note(JsonFault::kUnclosedString, at_);
    copy_string(begin, end);
    at_ = how == StringEnd::kQuote ? end + 1 : end;
    return is_key ? State::kColon : State::kBehindValue;
}

JsonRepair::StringEnd JsonRepair::find_string_end(size_t from, bool is_key, size_t* end) const {
    size_t escaped_end =
        0;  // an escaped quote that would be the end, were the backslash before it a character
    for (size_t at = from; at < in_.size(); ++at) {
        if (in_[at] == '\\') {
            ++at;
            if (escaped_end == 0 && at < in_.size() && in_[at] == '"' && closes_string(at, is_key))
                escaped_end = at;
        } else if (in_[at] == '"') {
            if (closes_string(at, is_key)) {
                *end = at;
                return StringEnd::kQuote;
            }
            if (escaped_end >
                0) {  // "C:\dir\", "next": a quote that cannot be the end shows where the end was
                *end = escaped_end;
                return StringEnd::kQuote;
            }
            StringEnd how;
            if (event_begins(at, &how, end) && *end >= from) return how;
        }
    }
    if (escaped_end > 0 && behind_ == Behind::kNothing) {
        *end = escaped_end;
        return StringEnd::kQuote;
    }
    return StringEnd::kIncomplete;
}

// Can the text go on behind this quote as JSON does behind a string?
bool JsonRepair::closes_string(size_t quote, bool is_key) const {
    const size_t next = skip_blanks(quote + 1);
    if (next >= in_.size()) return true;
    if (is_key && in_[next] == ':') return true;
    if (stack_.empty()) return true;
    return in_object() ? closes_in_object(next) && (!is_key || in_[next] != '"') : closes_in_array(next);
}

bool JsonRepair::closes_in_object(size_t next) const {
    if (in_[next] == '"') return key_at(next);  // a comma is missing
    if (in_[next] == '}' || in_[next] == ']') return brackets_then_more(next);
    if (in_[next] != ',') return false;
    const size_t after = skip_blanks(next + 1);
    if (after >= in_.size()) return true;
    if (in_[after] == '"') return key_at(after);
    return std::strchr("},{", in_[after]) != nullptr;
}

bool JsonRepair::closes_in_array(size_t next) const {
    if (in_[next] == '}' || in_[next] == ']') return brackets_then_more(next);
    if (in_[next] != ',') return false;
    const size_t after = skip_blanks(next + 1);
    if (after >= in_.size() || is_digit(in_[after])) return true;
    if (std::strchr("\"{[],-", in_[after]) != nullptr) return true;
    for (const std::string_view word : {"true", "false", "null", "NaN", "nan", "Infinity", "inf", "N/A"}) {
        if (in_.substr(after, word.size()) == word) return true;
    }
    return false;
}

// Closing brackets that end the value, or behind which a comma stands.
bool JsonRepair::brackets_then_more(size_t at) const {
    for (size_t open = stack_.size(); open > 0; --open) {
        if (at >= in_.size() || in_[at] == ',') return true;
        if (in_[at] == '"') return in_object() && key_at(at);
        if (in_[at] != '}' && in_[at] != ']') return false;
        at = skip_blanks(at + 1);
    }
    return at >= in_.size() || in_[at] != '"';
}

// Does a string with a colon behind it begin here?
bool JsonRepair::key_at(size_t quote) const {
    const size_t limit = std::min(in_.size(), quote + kKeyLookahead);
    for (size_t at = quote + 1; at < limit; ++at) {
        if (in_[at] == '\\') {
            ++at;
        } else if (in_[at] == '"') {
            do ++at;
            while (at < limit && is_blank(in_[at]));
            return at >= limit || in_[at] == ':';
        }
    }
    return true;  // longer than anybody looks
}

// A quote inside a string that begins the first key of the next event: `"name":"no end},{"ph":` lost the
// quote that closes it, `"name":"cut o[{"ph":` was cut off.
bool JsonRepair::event_begins(size_t quote, StringEnd* how, size_t* end) const {
    const auto back = [this](size_t at) {
        while (at > 0 && is_blank(in_[at - 1])) --at;
        return at;
    };
    size_t at = back(quote);
    if (at == 0 || in_[at - 1] != '{' || !key_at(quote)) return false;
    const size_t brace = at - 1;
    const bool is_ph = in_.substr(quote, 4) == "\"ph\"";
    at = back(brace);
    const char before = at > 0 ? in_[at - 1] : '\0';
    if (before == ',') at = back(at - 1);
    if (before != ',' || at == 0 || in_[at - 1] != '}') {
        *how = StringEnd::kCut;
        *end = brace;
        return is_ph || before == ',' || before == '[';
    }
    for (size_t open = stack_.size(); open > 0 && at > 0 && in_[at - 1] == '}'; --open) at = back(at - 1);
    *how = StringEnd::kNoQuote;
    *end = at;
    return true;
}

// Writes in_[from, to) as a JSON string. Each kind of fault is noted once.
void JsonRepair::copy_string(size_t from, size_t to) {
    const size_t first_note = notes_.size();
    const auto note_once = [&](JsonFault fault, size_t at) {
        const auto same = [&](const Note& n) { return n.fault == fault; };
        if (std::none_of(notes_.begin() + static_cast<ptrdiff_t>(first_note), notes_.end(), same))
            note(fault, at);
    };
    out_.push_back('"');
    for (size_t at = from; at < to;) {
        const size_t plain = skip_plain(in_.substr(0, to), at);
        out_.append(in_, at, plain - at);
        at = plain;
        if (at == to) break;
        const auto c = static_cast<unsigned char>(in_[at]);
        if (c == '\\') {
            at += copy_escape(at, to);
        } else if (c == '"') {
            note_once(JsonFault::kUnescapedQuote, at++);
            out_.append("\\\"");
        } else if (c == 0) {
            note_once(JsonFault::kNulCharacter, at++);
            out_.append("\\ufffd");
        } else if (c < 0x20) {
            note_once(JsonFault::kControlCharacter, at++);
            append_escaped(c, &out_);
        } else if (const size_t length = utf8_length(in_.substr(0, to), at); length > 0) {
            out_.append(in_, at, length);
            at += length;
        } else {
            note_once(JsonFault::kInvalidUtf8, at++);
            append_utf8(0xFFFD, &out_);
        }
    }
    out_.push_back('"');
}

size_t JsonRepair::copy_escape(size_t at, size_t to) {
    const JsonEscape escape = read_json_escape(in_.substr(0, to), at);
    switch (escape.kind) {
        case JsonEscape::kGood:
            out_.append(in_, at, escape.length);
            break;
        case JsonEscape::kUnknown:
            note(JsonFault::kBadEscape, at);
            out_.append("\\\\");
            break;
        case JsonEscape::kLoneSurrogate:
            note(JsonFault::kLoneSurrogate, at);
            out_.append("\\ufffd");
            break;
        case JsonEscape::kNul:
            note(JsonFault::kNulCharacter, at);
            out_.append("\\ufffd");
            break;
    }
    return escape.length;
}

}  // namespace profana
