// The project's SQL files, as they are embedded into the library at build time.
#pragma once

#include <string>
#include <vector>

namespace profana {

struct EmbeddedSql {
    std::string path;  // below sql/: views/10_overall.sql
    std::string text;
};

const std::vector<EmbeddedSql>& embedded_sql();  // in order of path

}  // namespace profana
