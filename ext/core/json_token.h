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
    bool is_string() const { return !raw_.empty() && raw_.front() == '"'; }
    bool is_container() const { return !raw_.empty() && (raw_.front() == '{' || raw_.front() == '['); }
    // Absent, null, or a bare word that stands for an unknown number: NaN, inf, -Infinity, N/A.
    bool is_null() const;

    // The text of a string with its escapes resolved, of anything else as written; empty if is_null(). The
    // view lies in the token's own bytes, or in `scratch` where escapes had to be resolved.
    std::string_view text(std::string& scratch) const;
    // The bytes between the quotes, escapes as they are; of anything else as written. For comparisons with
    // words that need no escapes.
    std::string_view bare() const { return is_string() ? raw_.substr(1, raw_.size() - 2) : raw_; }

    // Numbers, quoted or not, from their decimal text. kEmpty: is_null() or "".
    Parsed microseconds_as_ns(int64_t* ns) const {
        return is_null() ? Parsed::kEmpty : parse_scaled(bare(), 3, ns);
    }
    Parsed integer(int64_t* value) const { return is_null() ? Parsed::kEmpty : parse_integer(bare(), value); }
    Parsed real(double* value) const { return is_null() ? Parsed::kEmpty : parse_real(bare(), value); }

  private:
    std::string_view raw_;
};

}  // namespace profana
