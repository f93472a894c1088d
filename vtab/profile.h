// An open profile: what a path turned out to be, and the model tables it can fill.
//
// Recognition (vtab/recognize.*) looks at a path and makes captures, one a rank; each kind of capture has a
// reader of its own (vtab/read_text.*, read_db.*, read_gpu.*) that makes it a Source behind this interface.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ext/core/input.h"
#include "vtab/model_tables.h"

namespace profana {

class Connection;

// In Profile::stamps: what was told of the profile must be told anew. No file has such a stamp, nor has one
// that is not there.
constexpr FileStamp kReadAgain{~uint64_t{0}, ~uint64_t{0}, 2, 0};

// The options of profana_open, as JSON: {"rank":3,"step":10,"device":0,"chip":"Ascend910B3","source":"db",
// "gpu_flow_cat":"ac2g"}.
struct ProfileOptions {
    std::optional<int64_t> rank, step, device;
    std::string chip, source, gpu_flow_cat;
};

// What prof_source shows of one rank.
struct SourceFacts {
    std::string path;       // what was opened for this rank
    std::string kind;       // text, db, gpu, trace, msprof, msprof_db, msmonitor, analysis
    std::string framework;  // PyTorch, MindSpore, msprof; empty: unknown
    std::optional<int64_t> rank;
    std::string level;                     // Level0, Level1, Level2, Level_none; empty: unknown
    std::string versions;                  // JSON object: torch_npu, CANN, schema ...
    std::string files;                     // JSON array of the files found, relative to path
    std::string state;                     // complete, partial, truncated, corrupt, as far as read
    std::map<Model, std::string> missing;  // why this source cannot fill the table
    // Id of the first row of every model table of this source: 1, and 2^32 further for each source of the
    // profile, so that ids are unique in it. Columns that name rows (kernel_id, parent_id ...) hold row +
    // id_base.
    int64_t id_base = 1;
};

class Source {
  public:
    virtual ~Source() = default;
    virtual const SourceFacts& facts() const = 0;
    // The model table, not yet read; nullptr: this source has nothing to fill it with. The table's loader
    // owns what it needs: it may outlive the Source.
    virtual std::shared_ptr<Table> table(Model model) = 0;
    // Whether its tables may load beside one another, and gain by it.
    virtual bool loads_side_by_side() const { return false; }
    // Nanoseconds that the reader added to the times in the file. May read the file.
    virtual int64_t time_base_ns(LoadContext&) { return 0; }
    // Files whose change means that everything must be read again.
    virtual std::vector<std::string> files() const = 0;
};

class Profile {
  public:
    std::string alias, path;
    ProfileOptions options;
    std::vector<std::shared_ptr<Source>> sources;  // one a rank, by rank
    std::vector<std::pair<std::string, FileStamp>> stamps;
    struct Folder {
        std::string path;
        FileStamp stamp;
        size_t names;  // what tells the names in it from others
    };
    std::vector<Folder> folders;
    std::timed_mutex checking;                          // of what follows
    bool step_checked = false;                          // options.step is known to exist
    bool device_checked = false;                        // options.device is known to exist
    std::optional<std::vector<int64_t>> known_devices;  // where its kernels are not: those that there are
    // The sources as they are without option device, newly made; empty: it is not given.
    std::function<std::vector<std::shared_ptr<Source>>(LoadContext&)> of_all_devices;
    bool ranges_asked = false;  // somebody has read prof_mstx_range: what MFU misses is of interest
};

// Reads the options of profana_open; empty text: none. Error: no JSON object, an unknown key, a wrong type.
ProfileOptions parse_profile_options(const std::string& json);

// Recognizes path and makes its sources. Throws an Error that lists what was looked for.
std::shared_ptr<Profile> open_profile(Connection& connection, const std::string& alias,
                                      const std::string& path, const ProfileOptions& options);

// Makes `profile` the one of its alias. close_profile: false if there is none.
void add_profile(Connection& connection, std::shared_ptr<Profile> profile);
bool close_profile(Connection& connection, const std::string& alias);

// Between statements: reads profiles whose files have changed anew, and opens the connection's main database
// as profile `main` if it is a profiler's.
void refresh_profiles(Connection& connection);

// Step numbers and devices of a source, ascending. May read its files.
std::vector<int64_t> source_steps(Source& source, LoadContext& context);
std::vector<int64_t> source_devices(Source& source, LoadContext& context);

std::vector<int64_t> kernel_devices(Source& source, LoadContext& context);
// Devices that any of its rows names, in no order. Reads all of its files.
std::vector<int64_t> every_device(Source& source, LoadContext& context);

// Registers the model tables and prof_source. Returns an SQLite result code.
int register_profile_tables(Connection& connection);

}  // namespace profana
