#include "vtab/json_file.h"

#include "ext/core/decimal.h"
#include "ext/core/input.h"
#include "ext/core/utf8.h"

namespace profana {
namespace {

using simdjson::dom::element;

void report(Diagnostics& diagnostics, const std::string& path, const std::string& what) {
    diagnostics.add(
        {.file = path, .code = "side_file_unreadable", .message = what + "; the file is left out"});
}

}  // namespace

JsonFile JsonFile::read(const std::string& path, LoadContext& context) {
    std::string text;
    try {
        text = read_small_file(path, context);
    } catch (const Error& error) {
        if (!is_of_file(error)) throw;
        report(context.diagnostics, path, reason_of(error));
        return {};
    }
    return parse(text, path, context.diagnostics);
}

JsonFile JsonFile::parse(std::string_view text, const std::string& path, Diagnostics& diagnostics) {
    JsonFile file;
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    if (trim(text).empty()) {
        report(diagnostics, path, "the file is empty");
        return file;
    }
    file.parser_ = std::make_unique<simdjson::dom::parser>();
    simdjson::error_code error = file.parser_->parse(text.data(), text.size()).get(file.root_);
    if (error == simdjson::UTF8_ERROR) {
        const std::string repaired = repair_utf8(text);
        error = file.parser_->parse(repaired).get(file.root_);
    }
    file.found_ = error == simdjson::SUCCESS;
    if (!file.found_)
        report(diagnostics, path, std::string("not valid JSON: ") + simdjson::error_message(error));
    return file;
}

std::optional<element> JsonFile::at(std::initializer_list<std::string_view> keys) const {
    if (!found_) return std::nullopt;
    std::optional<element> here = root_;
    for (const std::string_view key : keys) {
        here = json_member(*here, key);
        if (!here) return std::nullopt;
    }
    return here;
}

std::string JsonFile::text(std::initializer_list<std::string_view> keys) const {
    const auto value = at(keys);
    return value ? json_text(*value) : std::string();
}

std::optional<int64_t> JsonFile::integer(std::initializer_list<std::string_view> keys) const {
    const auto value = at(keys);
    return value ? json_integer(*value) : std::nullopt;
}

std::optional<element> json_member(element value, std::string_view key) {
    element member;
    if (!value.is_object() || value.at_key(key).get(member) != simdjson::SUCCESS || member.is_null())
        return std::nullopt;
    return member;
}

std::string json_text(element value) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) return std::string(text);
    return value.is_number() || value.is_bool() ? simdjson::minify(value) : std::string();
}

std::optional<int64_t> json_integer(element value) {
    int64_t number = 0;
    if (value.get(number) == simdjson::SUCCESS) return number;
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS && parse_integer(text, &number) == Parsed::kExact) return number;
    return std::nullopt;
}

std::optional<double> json_real(element value) {
    double number = 0;
    if (value.get(number) == simdjson::SUCCESS) return number;
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS && parse_real(text, &number) == Parsed::kExact) return number;
    return std::nullopt;
}

}  // namespace profana
