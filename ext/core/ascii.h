// Letters and digits of ASCII, whatever locale the host has set: <cctype> goes by it, and in a Turkish one i
// and I are letters of two kinds.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace profana {

constexpr char ascii_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr char ascii_upper(char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

constexpr bool is_ascii_letter(char c) {
    return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z';
}

constexpr bool is_ascii_digit(char c) {
    return c >= '0' && c <= '9';
}

// What JSON allows between its parts.
constexpr bool is_json_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

inline std::string lower_case(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), ascii_lower);
    return out;
}

inline std::string upper_case(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), ascii_upper);
    return out;
}

// Does the text begin with the word, which is in lower case, in any case of letters?
inline bool begins_with_word(std::string_view text, std::string_view word) {
    return text.size() >= word.size() && std::equal(word.begin(), word.end(), text.begin(),
                                                    [](char a, char b) { return a == ascii_lower(b); });
}

}  // namespace profana
