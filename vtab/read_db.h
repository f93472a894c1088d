// Profiler databases as a source of the model tables: ascend_pytorch_profiler_N.db,
// ascend_mindspore_profiler_N.db, msprof_*.db and msmonitor_*.db, with analysis.db or
// communication_analyzer.db beside them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ext/connection.h"
#include "vtab/profile.h"

namespace profana {

// What a database holds, told by its tables.
enum class DbContent {
    kUnknown,     // no database, or not a profiler's
    kUnreadable,  // a database, maybe, that is damaged or may not be read
    kPyTorch,     // PYTORCH_API and msprof's tables
    kMindSpore,   // msprof's tables in a file named so
    kMsprof,      // msprof's tables
    kMsmonitor,   // msprof's tables in a file named so
    kAnalysis,    // StepTraceTime, CommAnalyzer...
    kCluster,     // cluster_analysis.db of msprof-analyze
};

struct DatabaseLook {
    DbContent content;
    std::string unreadable;            // the text of an error; empty: it can be read
    std::optional<int64_t> rank = {};  // of RANK_DEVICE_MAP
};

// Looks into a file that may be a database. Never opens it but through SQLite: another way of closing it
// would drop the locks that the host holds on its own database. A locked one throws, for that passes.
DatabaseLook look_into_database(const std::string& path, LoadContext& context);
void report_unreadable_database(const std::string& path, const std::string& why, Diagnostics& diagnostics);

// The files of one rank. All but `profiler` may be empty.
struct DbFiles {
    std::string profiler;                   // the database with TASK, PYTORCH_API ...
    std::string analysis;                   // analysis.db or communication_analyzer.db
    std::vector<std::string> device_infos;  // PROF_*/device_N/info.json.N
    std::string unreadable;                 // why the database cannot be read; empty: it can
};

// `facts` carries what the path told (kind, framework, rank, level, versions, files); what it leaves empty is
// taken from the database. Throws an Error when the database cannot be opened at all.
std::shared_ptr<Source> make_db_source(SourceFacts facts, DbFiles files, const ProfileOptions& options,
                                       LoadContext& context);

}  // namespace profana
