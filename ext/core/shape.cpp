#include "ext/core/shape.h"

#include <charconv>

namespace profana {
namespace {

// Reads left to right; the first mistake is kept.
class Reader {
  public:
    Reader(std::string_view text, std::string* why) : text_(text), why_(why) {}

    void skip_blanks() {
        while (at_ < text_.size() &&
               (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n'))
            ++at_;
    }
    bool done() {
        skip_blanks();
        return at_ == text_.size();
    }
    bool take(char c) {
        skip_blanks();
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    bool take_word(std::string_view word) {
        skip_blanks();
        if (text_.substr(at_, word.size()) != word) return false;
        at_ += word.size();
        return true;
    }
    bool integer(int64_t* value) {
        skip_blanks();
        const char* begin = text_.data() + at_;
        const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), *value);
        if (error == std::errc::result_out_of_range) return fail("a number beyond 64 bits");
        if (error != std::errc()) return fail("expected an integer");
        at_ += static_cast<size_t>(end - begin);
        return true;
    }
    bool dim(int64_t* value) {
        if (!integer(value)) return false;
        return *value >= 0 || fail("a dim is negative");
    }
    bool fail(const char* what) {
        if (why_ != nullptr && why_->empty())
            *why_ = std::string(what) + " at character " + std::to_string(at_ + 1);
        return false;
    }

  private:
    std::string_view text_;
    std::string* why_;
    size_t at_ = 0;
};

// A CSV cell's own quotes, as some writers leave them: "32,1024".
std::string_view unquoted(std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
    return text;
}

using Item = bool (Reader::*)(int64_t*);

// '[' has been taken: items up to ']'.
bool bracketed(Reader& reader, Item item, std::vector<int64_t>* out) {
    if (reader.take(']')) return true;
    do {
        int64_t value = 0;
        if (!(reader.*item)(&value)) return false;
        out->push_back(value);
    } while (reader.take(','));
    return reader.take(']') || reader.fail("expected ',' or ']'");
}

// Items up to the end or a ';', which is left; nothing at all is a scalar.
bool bare(Reader& reader, Item item, bool empty, std::vector<int64_t>* out) {
    if (empty) return true;
    do {
        int64_t value = 0;
        if (!(reader.*item)(&value)) return false;
        out->push_back(value);
    } while (reader.take(','));
    return true;
}

std::optional<std::vector<int64_t>> one_list(std::string_view text, Item item, std::string* why) {
    if (why != nullptr) why->clear();
    text = unquoted(text);
    Reader reader(text, why);
    std::vector<int64_t> out;
    const bool ok = reader.take('[') ? bracketed(reader, item, &out) : bare(reader, item, text.empty(), &out);
    if (!ok) return std::nullopt;
    if (!reader.done()) {
        reader.fail("unexpected text");
        return std::nullopt;
    }
    return out;
}

// The comma form of several tensors; an empty piece is a scalar.
std::optional<std::vector<Shape>> semicolon_shapes(std::string_view text, std::string* why) {
    std::vector<Shape> out;
    while (true) {
        const size_t end = text.find(';');
        auto shape = one_list(text.substr(0, end), &Reader::dim, why);
        if (!shape) return std::nullopt;
        out.push_back(std::move(*shape));
        if (end == std::string_view::npos) return out;
        text.remove_prefix(end + 1);
    }
}

// An array of arrays: one '[' has been taken.
std::optional<std::vector<Shape>> nested_shapes(Reader& reader) {
    std::vector<Shape> out;
    do {
        Shape shape;
        if (!reader.take('[')) {
            reader.fail("expected '['");
            return std::nullopt;
        }
        if (!bracketed(reader, &Reader::dim, &shape)) return std::nullopt;
        out.push_back(std::move(shape));
    } while (reader.take(','));
    if (!reader.take(']') || !reader.done()) {
        reader.fail("expected ',' or ']'");
        return std::nullopt;
    }
    return out;
}

bool nested_level(Reader& reader, int level, int depth, NestedFlags* out) {
    if (!reader.take('[')) return reader.fail("expected '['");
    int64_t count = 0;
    if (!reader.take(']')) {
        do {
            ++count;
            if (level + 1 < depth) {
                if (!nested_level(reader, level + 1, depth, out)) return false;
            } else if (reader.take_word("true")) {
                out->values.push_back(true);
            } else if (reader.take_word("false")) {
                out->values.push_back(false);
            } else {
                int64_t value = 0;
                if (!reader.integer(&value)) return false;
                out->values.push_back(value != 0);
            }
        } while (reader.take(','));
        if (!reader.take(']')) return reader.fail("expected ',' or ']'");
    }
    out->lengths[static_cast<size_t>(level)].push_back(count);
    return true;
}

}  // namespace

std::optional<Shape> parse_shape(std::string_view text, std::string* why) {
    return one_list(text, &Reader::dim, why);
}

std::optional<std::vector<int64_t>> parse_integers(std::string_view text, std::string* why) {
    return one_list(text, &Reader::integer, why);
}

std::optional<std::vector<Shape>> parse_shapes(std::string_view text, std::string* why) {
    if (why != nullptr) why->clear();
    text = unquoted(text);
    Reader reader(text, why);
    if (!reader.take('[')) return semicolon_shapes(text, why);
    Reader inside = reader;
    if (inside.take('[')) return nested_shapes(reader);
    auto shape = one_list(text, &Reader::dim, why);
    if (!shape) return std::nullopt;
    return std::vector<Shape>{std::move(*shape)};
}

std::optional<NestedFlags> parse_nested_flags(std::string_view text, int depth, std::string* why) {
    if (why != nullptr) why->clear();
    Reader reader(unquoted(text), why);
    NestedFlags out;
    out.lengths.resize(static_cast<size_t>(depth));
    if (!nested_level(reader, 0, depth, &out)) return std::nullopt;
    if (!reader.done()) {
        reader.fail("unexpected text");
        return std::nullopt;
    }
    return out;
}

std::string shape_excerpt(const Shape& shape) {
    constexpr size_t kShown = 16;
    if (shape.size() <= kShown) return shape_text(shape);
    std::string out = shape_text({shape.begin(), shape.begin() + kShown});
    out.back() = ',';
    return out + "...]";
}

std::string shape_text(const Shape& shape) {
    std::string out = "[";
    for (size_t i = 0; i < shape.size(); ++i) {
        if (i > 0) out += ',';
        out += std::to_string(shape[i]);
    }
    return out + ']';
}

}  // namespace profana
