// Which parts of a scan over profiles can have the rows that are asked for. A join asks for every row, and of
// a cluster there are as many parts as ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ext/core/by_key.h"
#include "ext/sqlite.h"
#include "vtab/plan.h"
#include "vtab/table_module.h"

namespace profana {

class PartDirectory {
  public:
    // The terms of a plan that tell parts, by their place in it; -1: there is none.
    struct Terms {
        int profile = -1, rank = -1, id = -1;
    };
    static Terms terms(const TableSpec& spec, const Plan& plan);

    PartDirectory(const TableSpec& spec, const std::vector<Part>& parts);
    // Numbers of parts, in their order: all that can have such rows, and maybe others. The operands of the
    // plan's terms.
    std::span<const uint32_t> find(const Terms& terms, sqlite3_value** operands);
    // The part that the rows with such ids are in, if there are any.
    std::optional<uint32_t> part_of(std::string_view profile, int64_t id);

  private:
    using Numbers = std::vector<uint32_t>;
    struct OfProfile {
        Numbers all;
        std::unordered_map<int64_t, Numbers> by_rank;     // of known ranks
        std::unordered_map<uint64_t, Numbers> by_source;  // see source_of()
    };

    Numbers all_;
    ByKey<OfProfile> profiles_;
    bool tells_profiles_ = false;
};

}  // namespace profana
