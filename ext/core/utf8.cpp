#include "ext/core/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace profana {

size_t utf8_length(std::string_view text, size_t at) {
    if (at >= text.size()) return 0;
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return 1;
    const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() - at < length) return 0;
    for (size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return 0;
    }
    // Longer than needed, a surrogate, or beyond U+10FFFF.
    if (first == 0xE0 && byte(1) < 0xA0) return 0;
    if (first == 0xED && byte(1) > 0x9F) return 0;
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    if (first == 0xF4 && byte(1) > 0x8F) return 0;
    return length;
}

namespace {

// Eight bytes of ASCII without a NUL: most texts are nothing else.
bool is_plain_word(const char* bytes) {
    constexpr uint64_t kOnes = 0x0101010101010101, kHighBits = 0x8080808080808080;
    uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return ((word | (word - kOnes)) & kHighBits) == 0;
}

}  // namespace

bool is_utf8_text(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
        if (text.size() - at >= sizeof(uint64_t) && is_plain_word(text.data() + at)) {
            at += sizeof(uint64_t);
            continue;
        }
        const size_t length = text[at] == '\0' ? 0 : utf8_length(text, at);
        if (length == 0) return false;
        at += length;
    }
    return true;
}

std::string repair_utf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (size_t at = 0; at < text.size();) {
        const size_t length = text[at] == '\0' ? 0 : utf8_length(text, at);
        out += length > 0 ? text.substr(at, length) : kReplacementCharacter;
        at += std::max<size_t>(length, 1);
    }
    return out;
}

void append_utf8(char32_t c, std::string* out) {
    const auto byte = [out](char32_t value) { out->push_back(static_cast<char>(value)); };
    if (c < 0x80) {
        byte(c);
    } else if (c < 0x800) {
        byte(0xC0 | c >> 6);
        byte(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        byte(0xE0 | c >> 12);
        byte(0x80 | (c >> 6 & 0x3F));
        byte(0x80 | (c & 0x3F));
    } else {
        byte(0xF0 | c >> 18);
        byte(0x80 | (c >> 12 & 0x3F));
        byte(0x80 | (c >> 6 & 0x3F));
        byte(0x80 | (c & 0x3F));
    }
}

bool begins_as_utf16(std::string_view text) {
    constexpr size_t kLookedAt = 64;
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return true;
    text = text.substr(0, std::min(kLookedAt, text.find('\n')));
    size_t nuls[2] = {0, 0};
    for (size_t i = 0; i < text.size(); ++i) nuls[i % 2] += text[i] == '\0';
    const size_t pairs = text.size() / 2;
    return pairs > 1 && ((nuls[0] >= pairs && nuls[1] == 0) || (nuls[1] == pairs && nuls[0] == 0));
}

std::string excerpt(std::string_view text) {
    constexpr size_t kLongest = 200, kBegin = 140, kEnd = 57;
    std::string out;
    if (text.size() <= kLongest) {
        out = repair_utf8(text);
    } else {
        const auto within_character = [&](size_t at) {
            return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
        };
        size_t begin = kBegin, end = text.size() - kEnd;
        for (int i = 0; i < 3 && within_character(begin); ++i) --begin;
        for (int i = 0; i < 3 && within_character(end); ++i) ++end;
        out = repair_utf8(text.substr(0, begin)) + "..." + repair_utf8(text.substr(end));
    }
    std::replace_if(
        out.begin(), out.end(), [](char c) { return c >= 0 && c < ' '; }, ' ');
    return out;
}

std::string json_quoted(std::string_view text) {
    static constexpr char kHex[] = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : repair_utf8(text)) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += "\\u00";
            out += kHex[c >> 4];
            out += kHex[c & 15];
        } else {
            out += c;
        }
    }
    return out + '"';
}

}  // namespace profana
