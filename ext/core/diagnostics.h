// What readers skipped, repaired or missed: the rows of prof_diagnostic.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace profana {

enum class Severity { kInfo, kWarning, kError };

struct Diagnostic {
    Severity severity = Severity::kWarning;
    std::string file;
    int64_t line = 0;        // 1-based; 0: not known
    int64_t offset = -1;     // byte offset in the (inflated) file; -1: not known
    std::string code;        // snake_case, stable: tests and users filter by it
    std::string message;     // what was found and what was done about it
    uint64_t count = 1;      // how often the same code was met in the file, this row being the first
};

// Thread-safe. The same code in the same file is kept for its first kKeep places; later ones only count.
class Diagnostics {
  public:
    static constexpr uint64_t kKeep = 20;

    // With strict set, a warning or error is thrown as an Error instead of being kept.
    void set_strict(bool strict) { strict_ = strict; }
    bool strict() const { return strict_; }
    void add(Diagnostic diagnostic);
    // Before a file is read anew; with a code: only what has it.
    void forget(const std::string& file, const std::string& code = {});
    void forget_below(const std::string& path, const std::string& code);  // the path itself, too
    std::vector<Diagnostic> rows() const;
    // What was met in a file: each code with the severity of its first place.
    std::vector<std::pair<std::string, Severity>> told_of(const std::string& file) const;

  private:
    template <class IsMeant>
    void forget_those(IsMeant is_meant);

    mutable std::mutex mutex_;
    bool strict_ = false;
    std::vector<Diagnostic> rows_;
    struct Seen {
        uint64_t kept = 0;
        size_t first = 0;
    };
    std::map<std::pair<std::string, std::string>, Seen> seen_;  // (file, code)
};

}  // namespace profana
