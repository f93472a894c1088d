// A small JSON file read as a whole: profiler_info, profiler_metadata, info.json.N, communication.json.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>

#include "ext/core/progress.h"

namespace profana {

class JsonFile {
  public:
    // Plain or gzip. One that cannot be opened, is empty or no JSON gives a JsonFile without content and a
    // diagnostic (code side_file_unreadable).
    static JsonFile read(const std::string& path, LoadContext& context);
    // The same for JSON text out of another file.
    static JsonFile parse(std::string_view text, const std::string& path, Diagnostics& diagnostics);

    explicit operator bool() const { return found_; }
    simdjson::dom::element root() const { return root_; }

    // Values at a path of keys below the root; nullopt: not there, null, or of another kind. A number written
    // as text is a number.
    std::optional<simdjson::dom::element> at(std::initializer_list<std::string_view> keys) const;
    std::string text(std::initializer_list<std::string_view> keys) const;
    std::optional<int64_t> integer(std::initializer_list<std::string_view> keys) const;

  private:
    std::unique_ptr<simdjson::dom::parser> parser_;
    simdjson::dom::element root_;
    bool found_ = false;
};

// Readings of one value, in the same spirit.
std::optional<simdjson::dom::element> json_member(simdjson::dom::element value, std::string_view key);
std::string json_text(simdjson::dom::element value);                // a number as it is printed; else empty
std::optional<int64_t> json_integer(simdjson::dom::element value);  // a whole number, or text that is one
std::optional<double> json_real(simdjson::dom::element value);

}  // namespace profana
