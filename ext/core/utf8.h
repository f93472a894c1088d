// UTF-8 as SQL texts need it: files hold other encodings, cut characters and NUL bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace profana {

constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

// Bytes of the UTF-8 character at text[at]; 0: none, or not well-formed.
size_t utf8_length(std::string_view text, size_t at);

// All of it well-formed, and no NUL in it?
bool is_utf8_text(std::string_view text);
// With U+FFFD in place of every NUL and every byte that belongs to no character.
std::string repair_utf8(std::string_view text);

// Whether a file that begins so is UTF-16: by its mark or, without one, since of each two bytes of its first
// line one is NUL, as in ASCII.
bool begins_as_utf16(std::string_view text);

void append_utf8(char32_t character, std::string* out);

// What a message shows of a text from outside, a path or a value: on one line, valid, and of a long text the
// two ends.
std::string excerpt(std::string_view text);

// `text` as a JSON string with its quotes; what is no UTF-8 is repaired.
std::string json_quoted(std::string_view text);

}  // namespace profana
