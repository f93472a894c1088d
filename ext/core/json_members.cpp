#include "ext/core/json_members.h"

namespace profana {
namespace {

size_t string_end(std::string_view text, size_t at) {
    for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\') ++at;
    }
    return at + 1;
}

}  // namespace

size_t json_skip_blanks(std::string_view text, size_t at) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r'))
        ++at;
    return at;
}

size_t json_value_end(std::string_view text, size_t at) {
    size_t depth = 0;
    do {
        switch (text[at]) {
            case '"':
                at = string_end(text, at);
                break;
            case '{':
            case '[':
                ++depth;
                ++at;
                break;
            case '}':
            case ']':
                --depth;
                ++at;
                break;
            default:
                if (depth > 0)
                    ++at;
                else
                    at = std::min(text.find_first_of(" \t\r\n,:}]", at), text.size());
        }
    } while (depth > 0 && at < text.size());
    return at;
}

JsonToken json_member(const JsonToken& object, std::string_view key) {
    JsonToken found;
    each_json_member(object, [&](const JsonToken& name, const JsonToken& value) {
        if (name.bare() == key) found = value;
    });
    return found;
}

}  // namespace profana
