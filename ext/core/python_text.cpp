#include "ext/core/python_text.h"

#include <simdjson.h>

#include "ext/core/rounding.h"
#include "ext/core/shape.h"

namespace profana {

namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

// One for each thread: texts are small and many, and a parser keeps its buffers. What it parses lives until
// it parses again.
std::optional<element> parse(std::string_view text) {
    static thread_local simdjson::dom::parser parser;
    element document;
    if (parser.parse(text.data(), text.size()).get(document)) return std::nullopt;
    return document;
}

void append_quoted(std::string& out, std::string_view text) {
    const bool has_single = text.find('\'') != std::string_view::npos;
    const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
    out += quote;
    for (size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        // The controls and the blank that do not break, U+0080 to U+00A0, are two bytes in UTF-8.
        const bool is_c1 =
            byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) <= 0xa0;
        char escape[8];
        if (text[i] == quote || text[i] == '\\') {
            out += '\\';
            out += text[i];
        } else if (text[i] == '\n') {
            out += "\\n";
        } else if (text[i] == '\r') {
            out += "\\r";
        } else if (text[i] == '\t') {
            out += "\\t";
        } else if (byte < 0x20 || byte == 0x7f || is_c1) {
            if (is_c1) ++i;
            std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(text[i]));
            out += escape;
        } else {
            out += text[i];
        }
    }
    out += quote;
}

void append_repr(std::string& out, element value) {
    bool first = true;
    const auto separate = [&] {
        if (!first) out += ", ";
        first = false;
    };
    switch (value.type()) {
        case element_type::ARRAY:
            out += '[';
            for (const element item : simdjson::dom::array(value)) {
                separate();
                append_repr(out, item);
            }
            out += ']';
            return;
        case element_type::OBJECT:
            out += '{';
            for (const auto field : simdjson::dom::object(value)) {
                separate();
                append_quoted(out, field.key);
                out += ": ";
                append_repr(out, field.value);
            }
            out += '}';
            return;
        case element_type::STRING:
            append_quoted(out, std::string_view(value));
            return;
        case element_type::INT64:
            out += std::to_string(int64_t(value));
            return;
        case element_type::UINT64:
            out += std::to_string(uint64_t(value));
            return;
        case element_type::DOUBLE:
            out += repr_real(double(value));
            return;
        case element_type::BOOL:
            out += bool(value) ? "True" : "False";
            return;
        case element_type::NULL_VALUE:
            out += "None";
            return;
    }
}

bool is_dim(element value) {
    int64_t dim = 0;
    return value.get(dim) == simdjson::SUCCESS && dim >= 0;
}

// [2,3], [], or a list of such.
bool is_shape(element value, int depth) {
    simdjson::dom::array items;
    if (value.get(items) || depth > 8) return false;
    bool all_dims = true, all_shapes = true;
    for (const element item : items) {
        all_dims = all_dims && is_dim(item);
        all_shapes = all_shapes && is_shape(item, depth + 1);
    }
    return all_dims || all_shapes;
}

bool add_numel(element shape, int64_t* sum) {
    int64_t product = 1;
    for (const element item : simdjson::dom::array(shape)) {
        int64_t dim = 0;
        if (item.is_array()) {
            product = 0;  // a list of tensors has no elements besides theirs
            if (!add_numel(item, sum)) return false;
        } else if (item.get(dim) || __builtin_mul_overflow(product, dim, &product)) {
            return false;
        }
    }
    return !__builtin_add_overflow(*sum, product, sum);
}

}  // namespace

std::string python_repr(std::string_view text) {
    const std::string_view body = text.substr(std::min(text.size(), text.find_first_not_of(" \t\r\n")));
    if (body.empty() || (body[0] != '[' && body[0] != '{')) return std::string(text);
    const auto document = parse(text);
    if (!document) return std::string(text);
    std::string out;
    append_repr(out, *document);
    return out;
}

std::optional<std::string> shape_dims(std::string_view text) {
    // One list of dims is the shape of one argument, in either notation; the rest of JSON is a list of
    // shapes.
    if (const auto shapes = parse_shapes(text)) {
        std::string json = "[";
        for (const Shape& shape : *shapes) json += (json.size() > 1 ? "," : "") + shape_text(shape);
        return json + ']';
    }
    const auto document = parse(text);
    simdjson::dom::array arguments;
    if (!document || document->get(arguments)) return std::nullopt;
    for (const element argument : arguments) {
        if (!is_shape(argument, 0)) return std::nullopt;
    }
    return simdjson::minify(*document);
}

std::optional<int64_t> shape_numel(std::string_view text, std::optional<int64_t> index) {
    const auto json = shape_dims(text);
    if (!json) return std::nullopt;
    const simdjson::dom::array arguments = *parse(*json);
    int64_t sum = 0, place = 0;
    bool found = !index;
    for (const element argument : arguments) {
        const bool wanted = !index || *index == place++;
        found = found || wanted;
        if (wanted && !add_numel(argument, &sum)) return std::nullopt;
    }
    return found ? std::optional(sum) : std::nullopt;
}

}  // namespace profana
