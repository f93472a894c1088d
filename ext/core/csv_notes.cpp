#include "ext/core/csv_notes.h"

#include <algorithm>

namespace profana {
namespace {

struct Wording {
    Severity severity;
    const char* code;
    const char* message;  // the detail goes before it
};

constexpr Wording kWordings[] = {
    {Severity::kWarning, "torn_quote",
     "a quote that nothing closes within 16 MiB; it is read as a character of its cell"},
    {Severity::kWarning, "cells_missing", "; the columns without a cell are NULL"},
    {Severity::kWarning, "cells_surplus", ""},
    {Severity::kWarning, "row_cut", "the file ends within this row; its last, perhaps cut cell is NULL"},
    {Severity::kError, "row_too_long",
     "a line that does not end within 16 MiB, longer than any row; left out"},
    {Severity::kInfo, "repeated_header", "the header once more; left out"},
    {Severity::kInfo, "new_header", "another header; the rows behind it are read by it"},
    {Severity::kWarning, "not_a_number", " is no number; read as NULL"},
    {Severity::kWarning, "not_an_integer", " is no whole number; rounded"},
    {Severity::kWarning, "number_out_of_range", " is beyond 64 bits; read as NULL"},
    {Severity::kWarning, "implausible_value", " is more than a capture can have; read as NULL"},
    {Severity::kWarning, "invalid_utf8", " is not UTF-8; U+FFFD stands for each bad byte"},
};
static_assert(std::size(kWordings) == static_cast<size_t>(CsvNote::kCount));

}  // namespace

void CsvNotes::Places::insert(Place place) {
    const auto at = std::upper_bound(first.begin(), first.end(), place, [](const Place& a, const Place& b) {
        return a.lines_before < b.lines_before;
    });
    first.insert(at, std::move(place));
    if (first.size() > Diagnostics::kKeep) first.pop_back();
}

void CsvNotes::append(const CsvNotes& piece, int64_t lines_before) {
    for (size_t what = 0; what < places_.size(); ++what) {
        Places& to = places_[what];
        to.count += piece.places_[what].count;
        for (const Place& place : piece.places_[what].first) {
            const int64_t line = lines_before + place.lines_before;
            if (to.wants(line)) to.insert({line, place.detail});
        }
    }
}

void CsvNotes::report(const std::string& file, Diagnostics& diagnostics) const {
    for (size_t what = 0; what < places_.size(); ++what) {
        const Places& places = places_[what];
        Diagnostic diagnostic;
        diagnostic.file = file;
        diagnostic.severity = kWordings[what].severity;
        diagnostic.code = kWordings[what].code;
        for (const Place& place : places.first) {
            diagnostic.line = place.lines_before + 1;
            diagnostic.message = place.detail + kWordings[what].message;
            diagnostics.add(diagnostic);
        }
        diagnostic.count = places.count - places.first.size();
        if (diagnostic.count > 0) diagnostics.add(diagnostic);
    }
}

}  // namespace profana
