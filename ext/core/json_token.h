// One JSON value as it stands in a file, and what it can be read as. Nothing is decoded before it is asked
// for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ext/core/decimal.h"

namespace profana {

class JsonToken {
  public:
    JsonToken() = default;
    // The value's text without blanks around it: "..." with its quotes, a number, true, {...}, [...].
    explicit JsonToken(std::string_view raw) : raw_(raw) {}

    std::string_view raw() const { return raw_; }
    bool absent() const { return raw_.empty(); }
    bool is_null() const { return raw_.empty() || raw_ == "null"; }
    bool is_string() const { return !raw_.empty() && raw_.front() == '"'; }
    bool is_container() const { return !raw_.empty() && (raw_.front() == '{' || raw_.front() == '['); }
    // A number without fraction and exponent, of any size.
    bool is_integer() const;

    // The text of a string with its escapes resolved, of anything else as written; empty if is_null(). The
    // view lies in the token's own bytes, or in `scratch` where escapes had to be resolved.
    std::string_view text(std::string& scratch) const;
    // The bytes between the quotes, escapes as they are; of anything else as written. For comparisons with
    // words that need no escapes.
    std::string_view bare() const { return is_string() ? raw_.substr(1, raw_.size() - 2) : raw_; }

    // Numbers, quoted or not, from their decimal text. kEmpty: is_null() or "".
    Parsed microseconds_as_ns(int64_t* ns) const { return scaled(3, ns); }
    Parsed integer(int64_t* value) const { return scaled(0, value); }
    Parsed scaled(int scale, int64_t* value) const {  // times 10^scale
        return number([&](std::string_view text) { return parse_scaled(text, scale, value); });
    }
    Parsed real(double* value) const {
        return number([&](std::string_view text) { return parse_real(text, value); });
    }

  private:
    // Escapes are resolved only where the text without is no number: "1.5\t" is one.
    template <class Parse>
    Parsed number(Parse parse) const {
        if (is_null()) return Parsed::kEmpty;
        const Parsed parsed = parse(bare());
        if (parsed != Parsed::kNotANumber || !is_string()) return parsed;
        std::string scratch;
        return parse(text(scratch));
    }

    std::string_view raw_;
};

// As JSON writes numbers: no leading zeros or plus, digits on both sides of the point.
bool is_json_number(std::string_view text);

// One escape of a JSON string, as it is to be read.
struct JsonEscape {
    enum Kind : uint8_t { kGood, kUnknown, kLoneSurrogate, kNul };
    Kind kind = kUnknown;  // kUnknown: not an escape, the backslash stands for itself
    size_t length = 1;     // bytes that it takes in the file
    char32_t character = U'\\';
};
// text[at] is a backslash. A surrogate without its other half and the character NUL become U+FFFD: neither
// can stand in an SQL text.
JsonEscape read_json_escape(std::string_view text, size_t at);
// Are all escapes of the text of kind kGood?
bool has_good_escapes(std::string_view text);

}  // namespace profana
