#include "ext/core/diagnostics.h"

#include <algorithm>

#include "ext/core/error.h"

namespace profana {
namespace {

// The message of an error about the file names it once more.
void drop_file(std::string& message, const std::string& file) {
    const std::string name = excerpt(file) + ": ";
    if (message.starts_with(name)) message.erase(0, name.size());
}

}  // namespace

void Diagnostics::add(Diagnostic diagnostic) {
    drop_file(diagnostic.message, diagnostic.file);
    if (strict_ && diagnostic.severity != Severity::kInfo) {
        const bool at_byte = diagnostic.line == 0 && diagnostic.offset >= 0;
        const std::string place = at_byte ? "byte " + std::to_string(diagnostic.offset) + ": " : "";
        throw file_error(diagnostic.file, diagnostic.line,
                         place + diagnostic.message + " (code " + diagnostic.code +
                             "); profana_set('strict', 0) goes on past it",
                         ErrorKind::kStrict);
    }
    std::lock_guard<std::mutex> lock(mutex_);
    Seen& seen = seen_[{diagnostic.file, diagnostic.code}];
    if (seen.kept > 0) rows_[seen.first].count += diagnostic.count;
    if (seen.kept >= kKeep) return;
    if (seen.kept++ == 0) seen.first = rows_.size();
    rows_.push_back(std::move(diagnostic));
}

void Diagnostics::forget(const std::string& file, const std::string& code) {
    forget_those([&](const Diagnostic& d) { return d.file == file && (code.empty() || d.code == code); });
}

void Diagnostics::forget_below(const std::string& path, const std::string& code) {
    forget_those([&](const Diagnostic& d) {
        return d.code == code && (d.file == path || d.file.starts_with(path + "/"));
    });
}

template <class IsMeant>
void Diagnostics::forget_those(IsMeant is_meant) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (std::erase_if(rows_, is_meant) == 0) return;
    seen_.clear();
    for (size_t i = 0; i < rows_.size(); ++i) {
        Seen& seen = seen_[{rows_[i].file, rows_[i].code}];
        if (seen.kept++ == 0) seen.first = i;
    }
}

std::vector<Diagnostic> Diagnostics::rows() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return rows_;
}

std::vector<std::pair<std::string, Severity>> Diagnostics::told_of(const std::string& file) const {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::pair<std::string, Severity>> out;
    for (auto seen = seen_.lower_bound({file, {}}); seen != seen_.end() && seen->first.first == file; ++seen)
        out.emplace_back(seen->first.second, rows_[seen->second.first].severity);
    return out;
}

}  // namespace profana
