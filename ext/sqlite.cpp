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
            break;
    }
    return SQLITE_ERROR;
}

}  // namespace profana
