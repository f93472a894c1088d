// Communication groups as META_DATA names them: the object parallel_group_info of profiler_metadata.json.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "vtab/db_load.h"

namespace profana {

class ProcessGroups {
  public:
    struct Group {
        std::string communicator, name, ranks;  // ranks: a JSON array; empty: unknown
        int64_t rank = kNullInt;
    };
    explicit ProcessGroups(Load& load);

    const std::vector<Group>& all() const { return groups_; }  // as they are listed
    // The name of the group that events call so, by its communicator or by the hash of that; nullptr: none.
    const std::string* name_of(std::string_view group) const;

  private:
    std::vector<Group> groups_;
    std::map<std::string, size_t, std::less<>> by_label_;
};

}  // namespace profana
