// The texts of a dictionary that look like numbers. SQL compares such a text with a number by value when the
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
    explicit NumericTexts(const Dictionary& dictionary);
    // Adds the codes of all texts that may equal the number, perhaps some more that come close.
    void equal(double number, std::vector<uint32_t>& codes) const;
    size_t bytes() const { return bytes_.get(); }

  private:
    struct Entry {
        double value;
        uint32_t code;
    };
    std::vector<Entry> entries_;  // by value
    CountedBytes bytes_;
};

}  // namespace profana
