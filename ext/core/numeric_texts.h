// The texts of a column that look like numbers. SQL compares such a text with a number by value when the
// other side is a numeric column; these are found here so that no join on such columns looks at every text
// for every row.
#pragma once

#include <string_view>
#include <vector>

#include "ext/core/store.h"

namespace profana {

// Whether SQLite could take the text for a number (spaces around it included), and roughly which.
bool looks_numeric(std::string_view text, double* value);

class NumericTexts {
  public:
    NumericTexts(const Column& column, LoadContext& context);
    // Adds the codes of all texts that may equal the number, perhaps some more that come close.
    void equal(double number, std::vector<uint32_t>& codes) const;
    // No other value of the column can equal this text, whatever SQL takes it for.
    bool only_itself(uint32_t code) const { return !has_numbers_ && !crowded_[code]; }
    size_t bytes() const { return bytes_.get(); }

  private:
    struct Entry {
        double value;
        uint32_t code;
    };
    std::vector<Entry> entries_;  // by value
    std::vector<bool> crowded_;   // by code: there are other texts that may be the same number
    bool has_numbers_ = false;    // beside the texts
    CountedBytes bytes_;
};

}  // namespace profana
