// The places of all tokens of a text (simdjson's first stage: brackets, colons, commas, begins of strings and
// of bare values), and a strict walk along them.
//
// simdjson's own readers stop at the first error of a document and do not tell where a skipped value ends
// without reading it by their rules. Here every chunk of a file must be proved to end where it was cut, and
// one bad event must cost that event only; so the walk is our own, on top of the part of simdjson that is
// fast.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace simdjson::internal {
class dom_parser_implementation;
}

namespace profana {

class JsonIndex {
  public:
    JsonIndex();
    ~JsonIndex();
    JsonIndex(JsonIndex&&) noexcept;

    enum class Text : uint8_t {
        kPlain,
        kNotUtf8,    // somewhere; the tokens are found all the same
        kNotIndexed  // control characters in strings, a string without end, or too long: no tokens
    };
    // Finds the tokens of a text behind which a NUL stands.
    Text build(std::string_view text);

    // Positions in the text, in order. At end() and one further stands the position of the NUL.
    const uint32_t* begin() const;
    const uint32_t* end() const;

  private:
    std::unique_ptr<simdjson::internal::dom_parser_implementation> stage_;
};

// A piece of a text that is kNotUtf8 as a whole: is it UTF-8?
bool is_utf8_piece(std::string_view text);

// The raw token that begins at `token` and ends before `next`.
inline std::string_view json_token_text(const char* text, const uint32_t* token, const uint32_t* next) {
    size_t end = *next;
    while (end > *token &&
           (text[end - 1] == ' ' || text[end - 1] == '\t' || text[end - 1] == '\n' || text[end - 1] == '\r'))
        --end;
    return {text + *token, end - *token};
}

const uint32_t* skip_json_container(const char* text, const uint32_t* token, size_t depth);
bool is_plain_json_scalar(std::string_view token);

// Walks over the value that begins at `token`; depth counts the containers around it. Returns the first token
// behind it, or nullptr if the value is not plain JSON: then JsonRepair has to read it. Escapes are not
// looked at.
inline const uint32_t* skip_json_value(const char* text, const uint32_t* token, size_t depth) {
    const char c = text[*token];
    if (c == '"') return token + 1;
    if (c == '{' || c == '[') return skip_json_container(text, token, depth);
    return is_plain_json_scalar(json_token_text(text, token, token + 1)) ? token + 1 : nullptr;
}

// Walks over the object that begins at `token`. on_pair(key, value) walks over the value and returns the
// token behind it or nullptr, as skip_json_value does; key is the text between the quotes.
template <class OnPair>
const uint32_t* walk_json_object(const char* text, const uint32_t* token, OnPair on_pair) {
    ++token;
    if (text[*token] == '}') return token + 1;
    for (;;) {
        if (text[*token] != '"' || text[token[1]] != ':') return nullptr;
        const std::string_view key = json_token_text(text, token, token + 1);
        token = on_pair(key.substr(1, key.size() - 2), token + 2);
        if (token == nullptr) return nullptr;
        if (text[*token] == '}') return token + 1;
        if (text[*token] != ',') return nullptr;
        ++token;
    }
}

}  // namespace profana
