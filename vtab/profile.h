// An open profile: what a path turned out to be, and the model tables it can fill.
//
// Recognition (vtab/recognize.*) looks at a path and makes one Source a rank; each kind of source is a reader
// of its own (vtab/read_text.*, read_db.*, read_gpu.* ...) behind this interface.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ext/core/input.h"
#include "vtab/model_tables.h"

namespace profana {

class Connection;

// The options of profana_open, as JSON: {"rank":3,"step":10,"device":0,"chip":"Ascend910B3","source":"db",
// "gpu_flow_cat":"ac2g"}.
struct ProfileOptions {
    std::optional<int64_t> rank, step, device;
    std::string chip, source, gpu_flow_cat;
};

// What prof_source shows of one rank.
struct SourceFacts {
    std::string path;       // what was opened for this rank
    std::string kind;       // text, db, gpu, trace, msprof, msprof_db, msmonitor
    std::string framework;  // PyTorch, MindSpore, msprof; empty: unknown
    std::optional<int64_t> rank;
    std::string level;      // Level0, Level1, Level2, Level_none; empty: unknown
    std::string versions;   // JSON object: torch_npu, CANN, schema ...
    std::string files;      // JSON array of the files found, relative to path
    std::string missing;    // JSON object: model table -> why this source cannot fill it
    std::string state;      // complete, truncated, corrupt, as far as read
    // Id of the first row of every model table of this source: 1, and 2^32 further for each source of the
    // profile, so that ids are unique in it. Columns that name rows (kernel_id, parent_id ...) hold row + id_base.
    int64_t id_base = 1;
};

class Source {
  public:
    virtual ~Source() = default;
    virtual const SourceFacts& facts() const = 0;
    // The model table, not yet read; nullptr: this source has nothing to fill it with.
    virtual std::shared_ptr<Table> table(Model model) = 0;
    // Files whose change means that everything must be read again.
    virtual std::vector<std::string> files() const = 0;
};

class Profile {
  public:
    std::string alias, path;
    ProfileOptions options;
    std::vector<std::shared_ptr<Source>> sources;  // one a rank, by rank
    std::vector<std::pair<std::string, FileStamp>> stamps;
};

// Recognizes path and makes its sources. Throws an Error that lists what was looked for.
std::shared_ptr<Profile> open_profile(Connection& connection, const std::string& alias, const std::string& path,
                                      const ProfileOptions& options);

}  // namespace profana
