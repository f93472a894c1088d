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
    kImplausible,
    kInvalidUtf8,
    kCount
};

class CsvNotes {
  public:
    // `detail` makes what the message adds about this place; it is asked only for places that are kept.
    template <class Detail>
    void add(CsvNote what, int64_t lines_before, Detail detail) {
        Places& places = places_[static_cast<size_t>(what)];
        ++places.count;
        if (places.wants(lines_before)) places.insert({lines_before, detail()});
    }
    // The notes of a piece of the file, before which `lines_before` line feeds stand.
    void append(const CsvNotes& piece, int64_t lines_before);
    void report(const std::string& file, Diagnostics& diagnostics) const;

  private:
    struct Place {
        int64_t lines_before;
        std::string detail;
    };
    // Columns are read one after the other; the places kept are the first in the file all the same.
    struct Places {
        uint64_t count = 0;
        std::vector<Place> first;  // by line

        bool wants(int64_t lines_before) const {
            return first.size() < Diagnostics::kKeep || lines_before < first.back().lines_before;
        }
        void insert(Place place);
    };
    std::array<Places, static_cast<size_t>(CsvNote::kCount)> places_;
};

}  // namespace profana
