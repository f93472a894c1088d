#include "ext/sqlite.h"

namespace profana {

int result_code(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::kCannotOpen:
            return SQLITE_CANTOPEN;
        case ErrorKind::kInterrupted:
            return SQLITE_INTERRUPT;
        case ErrorKind::kNoMemory:
            return SQLITE_NOMEM;
        case ErrorKind::kTooBig:
            return SQLITE_TOOBIG;
        case ErrorKind::kGeneral:
        case ErrorKind::kStrict:
            break;
    }
    return SQLITE_ERROR;
}

std::string double_quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

}  // namespace profana
