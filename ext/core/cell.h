// One value as SQL sees it, and SQLite's order of values: NULL, then numbers, then texts by bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "ext/core/store.h"

namespace profana {

struct Cell {
    enum Kind : uint8_t { kNull, kInteger, kReal, kText } kind = kNull;
    int64_t integer = 0;
    double real = 0;
    std::string_view text;

    static Cell of(int64_t value);
    static Cell of(double value);  // NaN: NULL
    static Cell of(std::string_view value);
    bool is_number() const { return kind == kInteger || kind == kReal; }
};

// The value of a column in one row. Not for kLong columns, whose texts may stand in a file.
Cell cell_of(const Column& column, Row row);

// Three-way comparisons. An integer and a double are compared exactly, where a conversion of either would
// round.
int compare(int64_t a, double b);
int compare(const Cell& a, const Cell& b);

}  // namespace profana
