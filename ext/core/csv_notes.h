// What was noticed while rows were read: kept short, however dirty the file.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "ext/core/diagnostics.h"

namespace profana {

enum class CsvNote {
    kTornQuote,
    kCellsMissing,
    kCellsSurplus,
    kRowCut,
    kRowTooLong,
    kRepeatedHeader,
    kNewHeader,
    kNotANumber,
    kNotAnInteger,
    kOutOfRange,
    kInvalidUtf8,
    kCount
};

class CsvNotes {
  public:
    // `detail` makes what the message adds about this place; it is asked only while places are kept.
    template <class Detail>
    void add(CsvNote what, int64_t lines_before, Detail detail) {
        Places& places = places_[static_cast<size_t>(what)];
        if (++places.count <= Diagnostics::kKeep) places.first.push_back({lines_before, detail()});
    }
    // The notes of a piece of the file, before which `lines_before` line feeds stand.
    void append(const CsvNotes& piece, int64_t lines_before);
    void report(const std::string& file, Diagnostics& diagnostics) const;

  private:
    struct Place {
        int64_t lines_before;
        std::string detail;
    };
    struct Places {
        uint64_t count = 0;
        std::vector<Place> first;
    };
    std::array<Places, static_cast<size_t>(CsvNote::kCount)> places_;
};

}  // namespace profana
