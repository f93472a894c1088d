// Walks over the members of small JSON values: side files, whose nesting is known. The text must be valid
// JSON, as JsonRepair writes it.
#pragma once

#include <string>
#include <string_view>

#include "ext/core/json_token.h"

namespace profana {

// The place behind the value that begins at text[at].
size_t json_value_end(std::string_view text, size_t at);
// The place of the next character from `at` on that is no blank.
size_t json_skip_blanks(std::string_view text, size_t at);

// Calls f(key, value) for each member of an object, in order, the key as a token with its quotes. Nothing if
// the value is no object.
template <class F>
void each_json_member(const JsonToken& object, F f) {
    const std::string_view text = object.raw();
    if (text.empty() || text.front() != '{') return;
    size_t at = json_skip_blanks(text, 1);
    while (at < text.size() && text[at] == '"') {
        const size_t key_end = json_value_end(text, at);
        const JsonToken key(text.substr(at, key_end - at));
        at = json_skip_blanks(text, json_skip_blanks(text, key_end) + 1);
        const size_t end = json_value_end(text, at);
        f(key, JsonToken(text.substr(at, end - at)));
        at = json_skip_blanks(text, json_skip_blanks(text, end) + 1);
    }
}

// The member with this key, the last if there are several; absent: there is none.
JsonToken json_member(const JsonToken& object, std::string_view key);

}  // namespace profana
