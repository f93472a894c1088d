#include "ext/core/csv_convert.h"

#include "ext/core/csv_cells.h"
#include "ext/core/decimal.h"
#include "ext/core/json_token.h"
#include "ext/core/plausible.h"
#include "ext/core/utf8.h"

namespace profana {
namespace {

constexpr int64_t kNoId = 4294967295;  // what profilers write for an id that is not there

// Files have fractions of what we count in.
bool rounds(CsvValue kind) {
    return kind == CsvValue::kTime || kind == CsvValue::kLength || kind == CsvValue::kBytes;
}

bool is_plausible(CsvValue kind, int64_t value) {
    switch (kind) {
        case CsvValue::kTime:
            return is_time(value);
        case CsvValue::kLength:
            return is_length(value);
        case CsvValue::kBytes:
            return is_size(value);
        default:
            return true;
    }
}

}  // namespace

void CsvConverter::convert(size_t column, ChunkColumn& to) {
    const CsvPlan::Source& source = plan_.source(column);
    const int scale = source.scale;
    const int64_t factor = source.factor;
    switch (format_.columns[column].value) {
        case CsvValue::kInteger:
        case CsvValue::kTime:
        case CsvValue::kLength:
            return integers(column, to, [scale](std::string_view text, int64_t* value) {
                return parse_scaled(text, scale, value);
            });
        case CsvValue::kId:
        case CsvValue::kStep:
            return integers(column, to, [](std::string_view text, int64_t* value) {
                const Parsed parsed = parse_integer(text, value);
                return parsed == Parsed::kExact && *value == kNoId ? Parsed::kEmpty : parsed;
            });
        case CsvValue::kBytes:
            return integers(column, to, [factor](std::string_view text, int64_t* value) {
                return parse_times(text, factor, value);
            });
        case CsvValue::kReal:
        case CsvValue::kPercent:
        case CsvValue::kRate:
            return reals(column, to);
        case CsvValue::kText:
            return texts(column, to);
        case CsvValue::kAny:
            return anything(column, to);
        case CsvValue::kExtra:
            return extras(to);
        case CsvValue::kLine:
            return;  // known only when all lines before are counted: see the merging of chunks
    }
}

template <class Read>
void CsvConverter::each_cell(int cell, Read read) {
    const auto number = static_cast<uint32_t>(cell);
    for (const CsvRow& row : index_.rows())
        read(number < row.cells ? index_.cell(row, number) : std::string_view(), row);
}

template <class Parse>
void CsvConverter::integers(size_t column, ChunkColumn& to, Parse parse) {
    const CsvValue kind = format_.columns[column].value;
    const bool may_round = rounds(kind);
    each_cell(plan_.source(column).cell, [&](std::string_view cell, const CsvRow& row) {
        int64_t value = 0;
        const Parsed parsed = parse(cell, &value);
        const bool usual = parsed == Parsed::kExact || (may_round && parsed == Parsed::kRounded);
        to.add_int(usual && is_plausible(kind, value) ? value : unusual_integer(column, cell, row, parse));
    });
}

// In quotes, missing, a word, no number at all, or more than a capture has.
template <class Parse>
int64_t CsvConverter::unusual_integer(size_t column, std::string_view cell, const CsvRow& row, Parse parse) {
    std::string_view text;
    if (!cell_value(cell, scratch_, &text)) return kNullInt;
    const CsvValue kind = format_.columns[column].value;
    if (kind == CsvValue::kStep && text.starts_with("step")) text.remove_prefix(4);
    if (kind == CsvValue::kId && text == "host") return kNullInt;
    int64_t value = 0;
    const Parsed parsed = parse(text, &value);
    const bool is_number = parsed == Parsed::kExact || parsed == Parsed::kRounded;
    if (is_number && !is_plausible(kind, value)) {
        note(CsvNote::kImplausible, row, head(column), text);
        return kNullInt;
    }
    switch (parsed) {
        case Parsed::kExact:
            return value;
        case Parsed::kRounded:
            if (!rounds(kind)) note(CsvNote::kNotAnInteger, row, head(column), text);
            return value;
        case Parsed::kEmpty:
            return kNullInt;
        case Parsed::kOutOfRange:
            note(CsvNote::kOutOfRange, row, head(column), text);
            return kNullInt;
        case Parsed::kNotANumber:
            break;
    }
    note(CsvNote::kNotANumber, row, head(column), text);
    return kNullInt;
}

void CsvConverter::reals(size_t column, ChunkColumn& to) {
    each_cell(plan_.source(column).cell, [&](std::string_view cell, const CsvRow& row) {
        double value = kNullReal;
        std::string_view text;
        if (parse_real(cell, &value) == Parsed::kExact || !cell_value(cell, scratch_, &text))
            return to.add_real(value);
        const Parsed parsed = parse_real(text, &value);
        if (parsed == Parsed::kOutOfRange) note(CsvNote::kOutOfRange, row, head(column), text);
        if (parsed == Parsed::kNotANumber) note(CsvNote::kNotANumber, row, head(column), text);
        to.add_real(value);
    });
}

void CsvConverter::texts(size_t column, ChunkColumn& to) {
    each_cell(plan_.source(column).cell, [&](std::string_view cell, const CsvRow& row) {
        std::string_view text;
        if (cell_value(cell, scratch_, &text))
            to.add_text(as_utf8(text, head(column), row));
        else
            to.add_null();
    });
}

void CsvConverter::anything(size_t column, ChunkColumn& to) {
    each_cell(plan_.source(column).cell, [&](std::string_view cell, const CsvRow& row) {
        const std::string_view text = cell_text(cell, scratch_);
        const AnyValue number = cell_number(text);
        if (text.empty() || number.kind != AnyValue::kNull)
            to.add_any(number);
        else
            to.add_any_text(as_utf8(text, head(column), row));
    });
}

void CsvConverter::extras(ChunkColumn& to) {
    std::string object;
    for (const CsvRow& row : index_.rows()) {
        object.clear();
        for (const CsvPlan::Unknown& unknown : plan_.unknown()) {
            std::string_view text;
            if (unknown.cell >= row.cells || !cell_value(index_.cell(row, unknown.cell), scratch_, &text))
                continue;
            object += object.empty() ? '{' : ',';
            object += unknown.key;
            object += ':';
            if (is_json_number(text))
                object += text;
            else
                object += json_quoted(as_utf8(text, plan_.heads()[unknown.cell], row));
        }
        if (object.empty())
            to.add_null();
        else
            to.add_long(object += '}');
    }
}

std::string_view CsvConverter::as_utf8(std::string_view text, const std::string& head, const CsvRow& row) {
    if (index_.plain() || is_utf8_text(text)) return text;
    note(CsvNote::kInvalidUtf8, row, head, text);
    repaired_ = repair_utf8(text);
    return repaired_;
}

void CsvConverter::note(CsvNote what, const CsvRow& row, const std::string& head, std::string_view text) {
    notes_.add(what, row.line, [&] { return excerpt(head) + ": '" + excerpt(text) + "'"; });
}

bool fits_number(std::string_view cell, std::string& scratch) {
    std::string_view text;
    double value = 0;
    return !cell_value(cell, scratch, &text) || parse_real(text, &value) != Parsed::kNotANumber;
}

}  // namespace profana
