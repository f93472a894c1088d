// Errors inside the library: thrown by readers and functions, turned into an SQLite error at the C boundary.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "ext/core/utf8.h"

namespace profana {

// kStrict: a finding that the user asked to be an error; nobody goes on past it.
enum class ErrorKind { kGeneral, kCannotOpen, kInterrupted, kNoMemory, kTooBig, kStrict };

class Error : public std::runtime_error {
  public:
    explicit Error(std::string message, ErrorKind kind = ErrorKind::kGeneral)
        : std::runtime_error(std::move(message)), kind_(kind) {}
    ErrorKind kind() const { return kind_; }

  private:
    ErrorKind kind_;
};

// The one form of an error about a file: "profana: FILE: line N: what; what to do". line 0: not known.
inline Error file_error(const std::string& file, long long line, const std::string& what,
                        ErrorKind kind = ErrorKind::kGeneral) {
    const std::string place = line > 0 ? ": line " + std::to_string(line) : std::string();
    return Error("profana: " + excerpt(file) + place + ": " + what, kind);
}

// Whether the file is at fault: what else there is can still be read.
inline bool is_of_file(const Error& error) {
    return error.kind() == ErrorKind::kGeneral || error.kind() == ErrorKind::kCannotOpen;
}

// What such an error says of its file, to stand in a sentence or a cell.
inline std::string reason_of(const Error& error) {
    const std::string what = error.what();
    constexpr std::string_view kName = "profana: ";
    return what.starts_with(kName) ? what.substr(kName.size()) : what;
}

}  // namespace profana
