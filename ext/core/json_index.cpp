#include "ext/core/json_index.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <bitset>
#include <new>

#include "ext/core/json_repair.h"
#include "ext/core/json_token.h"

namespace profana {
namespace {

// The index takes 4 bytes for each of the text.
constexpr size_t kShortest = size_t{1} << 12, kLongest = size_t{1} << 26;

// The key and the colon before an object's value.
const uint32_t* skip_key(const char* text, const uint32_t* token) {
    return text[*token] == '"' && text[token[1]] == ':' ? token + 2 : nullptr;
}

}  // namespace

JsonIndex::JsonIndex() = default;
JsonIndex::~JsonIndex() = default;
JsonIndex::JsonIndex(JsonIndex&&) noexcept = default;

JsonIndex::Text JsonIndex::build(std::string_view text) {
    if (text.empty() || text.size() > kLongest) return Text::kNotIndexed;
    if (stage_ == nullptr || stage_->capacity() < text.size()) {
        constexpr size_t kUnusedDepth = 1;  // of simdjson's second stage
        const auto error = simdjson::get_active_implementation()->create_dom_parser_implementation(
            std::max(kShortest, std::bit_ceil(text.size())), kUnusedDepth, stage_);
        if (error) throw std::bad_alloc();
    }
    const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
    switch (stage_->stage1(bytes, text.size(), simdjson::stage1_mode::regular)) {
        case simdjson::SUCCESS:
            return Text::kPlain;
        case simdjson::UTF8_ERROR:  // found last
            return Text::kNotUtf8;
        default:
            return Text::kNotIndexed;
    }
}

bool is_utf8_piece(std::string_view text) {
    return simdjson::validate_utf8(text.data(), text.size());
}

const uint32_t* JsonIndex::begin() const {
    return stage_->structural_indexes.get();
}

const uint32_t* JsonIndex::end() const {
    return begin() + stage_->n_structural_indexes;
}

bool is_plain_json_scalar(std::string_view token) {
    return is_json_number(token) || token == "true" || token == "false" || token == "null";
}

const uint32_t* skip_json_container(const char* text, const uint32_t* token, size_t depth) {
    std::bitset<kMaxJsonDepth> objects;  // of the open containers, which are objects
    const size_t outside = depth;
    bool in_object = false;
    for (;;) {
        const char c = text[*token];
        if (c == '"') {
            ++token;
        } else if (c == '{' || c == '[') {
            if (depth == kMaxJsonDepth) return nullptr;
            in_object = c == '{';
            objects[depth++] = in_object;
            ++token;
            if (text[*token] != (in_object ? '}' : ']')) {
                if (in_object && (token = skip_key(text, token)) == nullptr) return nullptr;
                continue;
            }
        } else {
            if (!is_plain_json_scalar(json_token_text(text, token, token + 1))) return nullptr;
            ++token;
        }
        // Behind a value, or at the bracket that closes an empty container.
        for (;;) {
            if (text[*token] == ',') {
                ++token;
                if (in_object && (token = skip_key(text, token)) == nullptr) return nullptr;
                break;
            }
            if (text[*token] != (in_object ? '}' : ']')) return nullptr;
            ++token;
            if (--depth == outside) return token;
            in_object = objects[depth - 1];
        }
    }
}

}  // namespace profana
