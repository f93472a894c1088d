#include "ext/core/csv_heads.h"

#include <algorithm>
#include <cstring>

#include "ext/core/ascii.h"
#include "ext/core/csv_cells.h"
#include "ext/core/utf8.h"

namespace profana {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Writers differ in case, and in blanks and underscores between words.
std::string common_spelling(std::string_view text) {
    std::string out;
    for (char c : text) {
        if (c == ' ' || c == '\t' || c == '-') c = '_';
        if (c == '_' && (out.empty() || out.back() == '_')) continue;
        out += ascii_lower(c);
    }
    while (!out.empty() && out.back() == '_') out.pop_back();
    return out;
}

struct Unit {
    CsvValue value;
    const char* name;
    int scale;
    int64_t factor;
};
constexpr int64_t kKilo = 1024;
constexpr Unit kUnits[] = {
    {CsvValue::kTime, "", 3, 1},
    {CsvValue::kTime, "us", 3, 1},
    {CsvValue::kTime, "ns", 0, 1},
    {CsvValue::kTime, "ms", 6, 1},
    {CsvValue::kTime, "s", 9, 1},
    {CsvValue::kBytes, "", 0, 1},
    {CsvValue::kBytes, "b", 0, 1},
    {CsvValue::kBytes, "byte", 0, 1},
    {CsvValue::kBytes, "kb", 0, kKilo},
    {CsvValue::kBytes, "mb", 0, kKilo* kKilo},
    {CsvValue::kBytes, "gb", 0, kKilo* kKilo* kKilo},
    {CsvValue::kPercent, "%", 0, 1},
    {CsvValue::kRate, "gb/s", 0, 1},
};

// A length has the units of a time.
bool measures(const Unit& unit, CsvValue value) {
    return unit.value == (value == CsvValue::kLength ? CsvValue::kTime : value);
}

bool has_unit(CsvValue value) {
    return std::any_of(std::begin(kUnits), std::end(kUnits),
                       [&](const Unit& unit) { return measures(unit, value); });
}

// The unit as the value may have it; nullptr: "Time(%)" is no time.
const Unit* find_unit(CsvValue value, const std::string& name) {
    for (const Unit& unit : kUnits)
        if (measures(unit, value) && unit.name == name) return &unit;
    return nullptr;
}

bool is_unit(const std::string& name) {
    return !name.empty() && std::any_of(std::begin(kUnits), std::end(kUnits),
                                        [&](const Unit& unit) { return unit.name == name; });
}

bool is_number(CsvValue value) {
    switch (value) {
        case CsvValue::kText:
        case CsvValue::kAny:
        case CsvValue::kExtra:
        case CsvValue::kLine:
            return false;
        default:
            return true;
    }
}

bool is_from_cell(CsvValue value) {
    return value != CsvValue::kExtra && value != CsvValue::kLine;
}

template <class F>
void each_spelling(const CsvColumn& column, F f) {
    std::string_view left = column.heads;
    while (!left.empty()) {
        const size_t bar = std::min(left.find('|'), left.size());
        f(left.substr(0, bar));
        left.remove_prefix(std::min(bar + 1, left.size()));
    }
}

bool matches(const CsvColumn& column, const CsvHead& head, CsvPlan::Source* source) {
    if (!is_from_cell(column.value)) return false;
    bool named = false;
    each_spelling(column, [&](std::string_view name) { named |= common_spelling(name) == head.name; });
    if (!named) return false;
    if (!has_unit(column.value)) return head.unit.empty();
    const Unit* unit = find_unit(column.value, head.unit);
    if (unit == nullptr) return false;
    source->scale = unit->scale;
    source->factor = unit->factor;
    return true;
}

}  // namespace

CsvHead read_csv_head(std::string_view head) {
    if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
    CsvHead out;
    const size_t open = head.rfind('(');
    if (open != std::string_view::npos && head.ends_with(')')) {
        out.unit = common_spelling(head.substr(open + 1, head.size() - open - 2));
        if (is_unit(out.unit))
            head = head.substr(0, open);
        else
            out.unit.clear();
    }
    out.name = common_spelling(head);
    return out;
}

CsvPlan::CsvPlan(const CsvFormat& format, std::vector<std::string> heads)
    : format_(format), heads_(std::move(heads)), sources_(format.columns.size()) {
    std::unordered_set<std::string> keys;
    for (uint32_t cell = 0; cell < heads_.size(); ++cell) {
        const CsvHead head = read_csv_head(heads_[cell]);
        known_.insert(head.name);
        size_t column = format.by_position ? cell : 0;
        Source source;
        if (!format.by_position)
            while (column < format.columns.size() && !matches(format.columns[column], head, &source))
                ++column;
        source.cell = static_cast<int>(cell);
        if (column < format.columns.size() && is_from_cell(format.columns[column].value) &&
            sources_[column].cell < 0) {
            sources_[column] = source;
            if (is_number(format.columns[column].value)) number_cells_.push_back(source.cell);
            continue;
        }
        if (column < format.columns.size()) repeated_.push_back(heads_[cell]);
        // A key of its own, whatever the head is.
        std::string key = heads_[cell].empty() ? "column_" + std::to_string(cell + 1) : heads_[cell];
        for (int n = 2; !keys.insert(key).second; ++n) key = heads_[cell] + "_" + std::to_string(n);
        unknown_.push_back({cell, json_quoted(key)});
    }
    if (format.free_text != nullptr)
        free_cell_ = sources_[static_cast<size_t>(format.column(format.free_text))].cell;
    if (!format.by_position)
        for (const CsvColumn& column : format.columns)
            each_spelling(column, [&](std::string_view name) { known_.insert(common_spelling(name)); });
    for (const std::string& name : known_) {
        if (name.empty()) continue;
        const char first = name.front();
        may_begin_[static_cast<unsigned char>(first)] = true;
        if (first >= 'a' && first <= 'z') may_begin_[first - 'a' + 'A'] = true;
        // What may stand before it: a byte-order mark, a quote, a blank.
        for (const char c : {kByteOrderMark[0], '"', ' ', '\t'})
            may_begin_[static_cast<unsigned char>(c)] = true;
    }
}

bool CsvPlan::has(size_t column) const {
    switch (format_.columns[column].value) {
        case CsvValue::kLine:
            return true;
        case CsvValue::kExtra:
            return !unknown_.empty();
        default:
            return sources_[column].cell >= 0;
    }
}

std::string CsvPlan::lacks() const {
    std::string out;
    for (const char* name : format_.required) {
        const auto column = static_cast<size_t>(format_.column(name));
        if (sources_[column].cell >= 0) continue;
        std::string spellings;
        each_spelling(format_.columns[column], [&](std::string_view spelling) {
            spellings += (spellings.empty() ? "'" : " or '") + std::string(spelling) + "'";
        });
        out += (out.empty() ? "no head " : ", no head ") + spellings;
    }
    return out;
}

CsvPlan::Header CsvPlan::compare_header(const CsvIndex& index, const CsvRow& row,
                                        std::string& scratch) const {
    if (row.cells < 2) return Header::kNo;
    // Most rows that begin like a header differ in their second cell.
    const auto is_known = [&](uint32_t cell) {
        return known_.count(read_csv_head(cell_text(index.cell(row, cell), scratch)).name) > 0;
    };
    if (!is_known(1) || !is_known(0)) return Header::kNo;
    uint32_t same = 0, known = 0;
    for (uint32_t cell = 0; cell < row.cells; ++cell) {
        std::string_view text = cell_text(index.cell(row, cell), scratch);
        if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
        if (cell < heads_.size() && text == heads_[cell]) ++same;
        if (is_known(cell)) ++known;
    }
    if (same == heads_.size() && row.cells == heads_.size()) return Header::kSame;
    return !format_.by_position && known * 2 > row.cells ? Header::kOther : Header::kNo;
}

}  // namespace profana
