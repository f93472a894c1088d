#include "ext/core/numeric_texts.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ext/core/row_sort.h"

namespace profana {

namespace {

// SQLite's own conversion of decimals may be off by some units in the last place. No more than that: times in
// microseconds stand close together.
double slack_of(double number) {
    constexpr double kUnits = 4 * std::numeric_limits<double>::epsilon();
    return std::isfinite(number) ? std::abs(number) * kUnits : 0;
}

}  // namespace

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

NumericTexts::NumericTexts(const Column& column, LoadContext& context)
    : crowded_(column.dictionary().size(), false) {
    LoopPoll poll(context);
    if (column.type() == ColumnType::kAny)
        for (size_t row = 0; row < column.size() && !has_numbers_; ++row) {
            const AnyValue::Kind kind = column.any(static_cast<Row>(row)).kind;
            has_numbers_ = kind == AnyValue::kInteger || kind == AnyValue::kDouble;
            poll.tick();
        }
    const Dictionary& dictionary = column.dictionary();
    for (uint32_t code = 1; code < dictionary.size(); ++code) {
        double value = 0;
        if (looks_numeric(dictionary.text(code), &value)) entries_.push_back({value, code});
        poll.tick();
    }
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.value < b.value; });
    for (size_t i = 1; i < entries_.size(); ++i) {
        const Entry &a = entries_[i - 1], &b = entries_[i];
        // The same infinite value twice has no difference.
        if (a.value == b.value || b.value - a.value <= 2 * (slack_of(a.value) + slack_of(b.value)))
            crowded_[a.code] = crowded_[b.code] = true;
    }
    bytes_.set(entries_.capacity() * sizeof(Entry) + crowded_.capacity() / 8);
}

void NumericTexts::equal(double number, std::vector<uint32_t>& codes) const {
    const double slack = slack_of(number);
    auto entry = std::lower_bound(entries_.begin(), entries_.end(), number - slack,
                                  [](const Entry& a, double value) { return a.value < value; });
    for (; entry != entries_.end() && entry->value <= number + slack; ++entry) codes.push_back(entry->code);
}

}  // namespace profana
