#include "ext/core/json_token.h"

#include <cstring>

#include "ext/core/ascii.h"
#include "ext/core/utf8.h"

namespace profana {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// The value of \uXXXX at text[at]; -1: there is none.
int32_t unicode_escape(std::string_view text, size_t at) {
    if (text.size() - at < 6 || text[at] != '\\' || text[at + 1] != 'u') return -1;
    int32_t value = 0;
    for (size_t i = at + 2; i < at + 6; ++i) {
        const int digit = hex_digit(text[i]);
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

JsonEscape read_unicode(std::string_view text, size_t at) {
    const int32_t first = unicode_escape(text, at);
    if (first < 0) return {};
    if (first == 0) return {JsonEscape::kNul, 6, kReplacement};
    if (first < 0xD800 || first > 0xDFFF) return {JsonEscape::kGood, 6, static_cast<char32_t>(first)};
    const int32_t second = first < 0xDC00 ? unicode_escape(text, at + 6) : -1;
    if (second < 0xDC00 || second > 0xDFFF) return {JsonEscape::kLoneSurrogate, 6, kReplacement};
    return {JsonEscape::kGood, 12,
            static_cast<char32_t>(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))};
}

size_t skip_digits(std::string_view text, size_t at) {
    while (at < text.size() && is_ascii_digit(text[at])) ++at;
    return at;
}

}  // namespace

bool is_json_number(std::string_view text) {
    size_t at = !text.empty() && text[0] == '-' ? 1 : 0;
    const size_t whole = skip_digits(text, at);
    if (whole == at || (text[at] == '0' && whole > at + 1)) return false;
    at = whole;
    if (at < text.size() && text[at] == '.') {
        const size_t fraction = skip_digits(text, at + 1);
        if (fraction == at + 1) return false;
        at = fraction;
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
        const size_t exponent = skip_digits(text, at);
        if (exponent == at) return false;
        at = exponent;
    }
    return at == text.size();
}

JsonEscape read_json_escape(std::string_view text, size_t at) {
    if (at + 1 >= text.size()) return {};
    switch (text[at + 1]) {
        case '"':
        case '\\':
        case '/':
            return {JsonEscape::kGood, 2, static_cast<char32_t>(text[at + 1])};
        case 'b':
            return {JsonEscape::kGood, 2, U'\b'};
        case 'f':
            return {JsonEscape::kGood, 2, U'\f'};
        case 'n':
            return {JsonEscape::kGood, 2, U'\n'};
        case 'r':
            return {JsonEscape::kGood, 2, U'\r'};
        case 't':
            return {JsonEscape::kGood, 2, U'\t'};
        case 'u':
            return read_unicode(text, at);
        default:
            return {};
    }
}

bool has_good_escapes(std::string_view text) {
    for (size_t at = text.find('\\'); at != std::string_view::npos; at = text.find('\\', at)) {
        const JsonEscape escape = read_json_escape(text, at);
        if (escape.kind != JsonEscape::kGood) return false;
        at += escape.length;
    }
    return true;
}

bool JsonToken::is_integer() const {
    const std::string_view digits = !raw_.empty() && raw_.front() == '-' ? raw_.substr(1) : raw_;
    return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view JsonToken::text(std::string& scratch) const {
    if (is_null()) return {};
    const std::string_view bytes = bare();
    if (!is_string() || std::memchr(bytes.data(), '\\', bytes.size()) == nullptr) return bytes;
    scratch.clear();
    for (size_t at = 0; at < bytes.size();) {
        const size_t backslash = bytes.find('\\', at);
        scratch.append(bytes, at, backslash - at);
        if (backslash == std::string_view::npos) break;
        const JsonEscape escape = read_json_escape(bytes, backslash);
        append_utf8(escape.character, &scratch);
        at = backslash + escape.length;
    }
    return scratch;
}

}  // namespace profana
