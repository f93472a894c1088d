#include "ext/core/numeric_texts.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace profana {

bool looks_numeric(std::string_view text, double* value) {
    constexpr std::string_view kSpaces = " \t\n\v\f\r";
    const size_t first = text.find_first_not_of(kSpaces);
    if (first == std::string_view::npos) return false;
    const size_t last = text.find_last_not_of(kSpaces);
    text = text.substr(first, last + 1 - first);
    if (text.front() == '+') text.remove_prefix(1);
    if (text.empty() ||
        (text.front() != '-' && text.front() != '.' && (text.front() < '0' || text.front() > '9')))
        return false;
    const auto [end, error] = fast_float::from_chars(text.data(), text.data() + text.size(), *value);
    return end == text.data() + text.size() && error != std::errc::invalid_argument;
}

NumericTexts::NumericTexts(const Dictionary& dictionary) {
    for (uint32_t code = 1; code < dictionary.size(); ++code) {
        double value = 0;
        if (looks_numeric(dictionary.text(code), &value)) entries_.push_back({value, code});
    }
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.value < b.value; });
    bytes_.set(entries_.capacity() * sizeof(Entry));
}

void NumericTexts::equal(double number, std::vector<uint32_t>& codes) const {
    // SQLite's own conversion of decimals may be off by some units in the last place. No more than that:
    // times in microseconds stand close together.
    constexpr double kUnits = 4 * std::numeric_limits<double>::epsilon();
    const double slack = std::isfinite(number) ? std::abs(number) * kUnits : 0;
    auto entry = std::lower_bound(entries_.begin(), entries_.end(), number - slack,
                                  [](const Entry& a, double value) { return a.value < value; });
    for (; entry != entries_.end() && entry->value <= number + slack; ++entry) codes.push_back(entry->code);
}

}  // namespace profana
