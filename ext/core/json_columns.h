// JSON values as values of columns.
#pragma once

#include "ext/core/chunk_columns.h"
#include "ext/core/json_token.h"

namespace profana {

// Text as SQL sees it; NULL if absent or null. For kText columns.
void add_json_text(ChunkColumn& column, const JsonToken& token, std::string& scratch);
// With the type that it has in the file: integers, reals, true and false as 1 and 0, text. Integers beyond
// int64 stay text, with all their digits. For kAny columns.
void add_json_any(ChunkColumn& column, const JsonToken& token, std::string& scratch);

}  // namespace profana
