// CSV files of any bytes: what is read does not depend on the cuts into chunks nor on the columns asked for,
// texts are UTF-8, `extra` is valid JSON. The first byte chooses between a header of ours and the input's
// own.
#include <simdjson.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "ext/core/csv.h"
#include "ext/core/csv_load.h"
#include "ext/core/utf8.h"
#include "tests/fuzz/memory_input.h"

using namespace profana;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

std::shared_ptr<const CsvFormat> known_format() {
    auto format = std::make_shared<CsvFormat>();
    format->name = "fuzz";
    format->columns = {{"name", CsvValue::kText, "Name|Op Name", ""},
                       {"dur_ns", CsvValue::kTime, "Duration", ""},
                       {"size_bytes", CsvValue::kBytes, "Size", ""},
                       {"rate", CsvValue::kRate, "Rate", ""},
                       {"step", CsvValue::kStep, "Step Id", ""},
                       {"count", CsvValue::kInteger, "Count", ""},
                       {"any", CsvValue::kAny, "Any", ""},
                       {"extra", CsvValue::kExtra, "", ""},
                       {"line", CsvValue::kLine, "", ""}};
    format->free_text = "name";
    return format;
}

constexpr const char* kHeader = "Name,Duration(us),Size(KB),Rate(GB/s),Step Id,Count,Any,Own\n";

struct Read {
    std::string values, codes;
    uint64_t rows = 0;
};

std::string any_text(const Column& column, Row row) {
    const AnyValue& any = column.any(row);
    switch (any.kind) {
        case AnyValue::kInteger:
            return "i" + std::to_string(any.integer);
        case AnyValue::kDouble:
            return "r" + std::to_string(any.real);
        case AnyValue::kString:
            return "t" + std::string(column.dictionary().text(any.code));
        default:
            return "n";
    }
}

std::string text_of(const Column& column, Row row) {
    if (column.is_null(row)) return "NULL";
    switch (column.type()) {
        case ColumnType::kInt:
            return std::to_string(column.integer(row));
        case ColumnType::kReal:
            return std::to_string(column.real(row));
        case ColumnType::kText:
            return std::string(column.text(row));
        case ColumnType::kAny:
            return any_text(column, row);
        case ColumnType::kLong:
            return column.long_text(row);
    }
    return {};
}

void check_value(const CsvFormat& format, size_t number, const Column& column, Row row) {
    const std::string text = text_of(column, row);
    require(is_utf8_text(text));
    if (format.columns[number].value != CsvValue::kExtra || column.is_null(row)) return;
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    const auto error = parser.parse(simdjson::padded_string(text)).get(root);
    require(error == simdjson::SUCCESS || error == simdjson::NUMBER_ERROR);  // integers beyond 64 bits
    require(error != simdjson::SUCCESS || root.is_object());
}

// All columns, or none.
Read read(const std::shared_ptr<const CsvFormat>& format, std::string_view text, const ChunkLimits& limits,
          bool all) {
    Progress progress;
    Diagnostics diagnostics;
    LoadContext context{progress, diagnostics, 1, 0, 0};
    std::vector<ColumnType> types;
    ColumnSet wanted;
    for (size_t c = 0; c < format->columns.size(); ++c) {
        types.push_back(column_type(format->columns[c].value));
        if (all) wanted.add(static_cast<int>(c));
    }
    std::vector<char> present(format->columns.size(), false);
    Read out;
    // A header further down may bring a column that was not there: all is read again.
    for (bool again = true; again;) {
        again = false;
        Table table(types, [&](Table& building, const ColumnSet& missing, LoadContext& loading) {
            fuzz::MemoryInput input(text);
            CsvStart start = read_csv_start(input, "", 0, 0);
            if (start.found) {
                const CsvPlan plan(*format, start.heads);
                for (size_t c = 0; c < present.size(); ++c) present[c] = present[c] || plan.has(c);
            }
            missing.each([&](int c) {
                if (!present[static_cast<size_t>(c)]) building.set_absent(c);
            });
            CsvLoad load(*format, building, missing, present, loading, limits);
            again = !load.read(input, std::move(start));
            if (again) throw Error("again");
            building.set_rows(load.rows());
            load.report(diagnostics, true);
        });
        try {
            table.ensure(wanted, context);
        } catch (const Error&) {
            if (!again) throw;
            continue;
        }
        out.rows = table.rows();
        for (Row row = 0; all && row < table.rows(); ++row) {
            for (size_t c = 0; c < types.size(); ++c) {
                const auto column = static_cast<int>(c);
                if (table.absent(column)) continue;
                check_value(*format, c, table.column(column), row);
                out.values += text_of(table.column(column), row) + '\x1f';
            }
            out.values += '\x1e';
        }
    }
    for (const Diagnostic& d : diagnostics.rows())
        out.codes += d.code + ":" + std::to_string(d.line) + "*" + std::to_string(d.count) + ";";
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const auto format = known_format();
    if (size == 0 || size > 4096) return 0;
    std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (data[0] % 4 != 0) text.insert(0, kHeader);
    try {
        // No row is too long, or many are.
        for (const size_t longest : {size_t{1} << 20, size_t{64}}) {
            const Read whole = read(format, text, {longest, longest}, true);
            for (const size_t chunk : {size_t{1}, size_t{17}, std::min(longest, text.size() / 3 + 1)}) {
                const Read pieces = read(format, text, {chunk, longest}, true);
                require(pieces.values == whole.values && pieces.codes == whole.codes);
            }
            require(read(format, text, {longest, longest}, false).rows == whole.rows);
        }
    } catch (const Error&) {  // no header, UTF-16
        require(data[0] % 4 == 0);
    }
    return 0;
}
