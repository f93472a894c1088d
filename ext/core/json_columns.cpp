#include "ext/core/json_columns.h"

namespace profana {

void add_json_text(ChunkColumn& column, const JsonToken& token, std::string& scratch) {
    if (token.is_null()) return column.add_null();
    column.add_text(token.text(scratch));
}

void add_json_any(ChunkColumn& column, const JsonToken& token, std::string& scratch) {
    if (token.is_null()) return column.add_null();
    if (token.is_string() || token.is_container()) return column.add_any_text(token.text(scratch));
    if (token.raw() == "true" || token.raw() == "false")
        return column.add_any(AnyValue::of(int64_t{token.raw() == "true"}));
    int64_t integer = 0;
    if (token.is_integer()) {
        if (token.integer(&integer) == Parsed::kExact) return column.add_any(AnyValue::of(integer));
        return column.add_any_text(token.raw());
    }
    double real = 0;
    if (token.real(&real) == Parsed::kExact) return column.add_any(AnyValue::of(real));
    column.add_any_text(token.raw());
}

}  // namespace profana
