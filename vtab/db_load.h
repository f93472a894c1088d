// Filling a model table from a profiler's database: what all loaders of vtab/db_*.cpp share.
//
// A loader asks the Load for the columns that are wanted, scans the file's tables in order of rowid and joins
// them in memory by id. What several tables need (strings, joins, the operators) is kept in DbProfile.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ext/core/id_map.h"
#include "vtab/db_file.h"
#include "vtab/model_tables.h"
#include "vtab/read_db.h"

namespace profana {

// STRING_IDS.
class DbStrings {
  public:
    DbStrings(DbFile& file, LoadContext& context);
    size_t size() const { return texts_.size(); }
    uint32_t find(int64_t id) const { return ids_.find(id); }  // place of the string; IdMap::kNone
    // A string that is NULL has no data().
    std::string_view text(uint32_t place) const { return texts_[place]; }

  private:
    IdMap ids_;
    std::vector<std::string_view> texts_;
    Arena arena_;
};

class Load;

// Made by the first load that needs it, while the others wait, interruptibly.
template <class T>
class MadeOnce {
  public:
    using Lock = std::unique_lock<std::timed_mutex>;

    template <class Make>
    const T& get(LoadContext& context, Make make) {
        if (const T* found = made_.find()) return *found;
        const Lock lock = lock_interruptibly(mutex_, context.progress);
        const T* found = made_.find();
        return found != nullptr ? *found : made_.set(make());
    }

    // For a load that can make it on its way: the right to, which owns nothing where it is made already or by
    // another just now.
    Lock claim() {
        Lock lock(mutex_, std::try_to_lock);
        if (lock.owns_lock() && made_.find() != nullptr) lock.unlock();
        return lock;
    }
    void keep(std::unique_ptr<const T> made, Lock claim) {
        made_.set(std::move(made));
        claim.unlock();
    }

  private:
    std::timed_mutex mutex_;
    BuiltOnce<T> made_;
};

// STEP_TIME: which ProfilerStep a time lies in, both ends included; of several the one that starts last.
class StepWindows {
  public:
    struct Window {
        int64_t step, start, end, rowid;
    };
    StepWindows(DbFile& file, LoadContext& context);
    int64_t step_at(int64_t time) const;                             // kNullInt: none
    const std::vector<Window>& windows() const { return windows_; }  // as the file has them

  private:
    std::vector<Window> windows_, by_start_;
    std::vector<int64_t> latest_end_;  // of by_start_[0..i]
};

// COMPUTE_TASK_INFO joined with TASK: the kernels, in order of TASK.
struct KernelJoin {
    PageVector<uint32_t> task;     // by kernel: the row of TASK, counted from 0 in order of rowid
    PageVector<uint32_t> info;     // by kernel: the row of COMPUTE_TASK_INFO, likewise
    PageVector<int64_t> task_ids;  // by kernel: globalTaskId
    size_t info_rows = 0;          // of COMPUTE_TASK_INFO
    IdMap by_task_id;              // globalTaskId -> kernel
};

// Makes the KernelJoin while TASK is read, in order of rowid.
class KernelJoinMaker {
  public:
    explicit KernelJoinMaker(Load& load);  // reads COMPUTE_TASK_INFO
    // The kernel of the next row of TASK; kNone: it is no kernel, or not of the device that counts.
    uint32_t add(int64_t task_id, bool mine) {
        const uint32_t place = by_id_.find(task_id);
        const uint32_t row = row_++;
        if (place == IdMap::kNone) return IdMap::kNone;
        ++matched_;
        if (!mine) return IdMap::kNone;
        join_->task.push_back(row);
        join_->info.push_back(place);
        join_->task_ids.push_back(task_id);
        return static_cast<uint32_t>(join_->task.size() - 1);
    }
    std::unique_ptr<KernelJoin> finish();

  private:
    Load& load_;
    std::unique_ptr<KernelJoin> join_ = std::make_unique<KernelJoin>();
    IdMap by_id_;  // globalTaskId -> row of COMPUTE_TASK_INFO
    uint32_t row_ = 0;
    uint64_t matched_ = 0;
};

// Which rows of TASK, in order of rowid, are kernels.
class KernelRows {
  public:
    explicit KernelRows(const KernelJoin& join) : join_(join) {}
    // Of the next row of TASK; kNone: it is no kernel.
    uint32_t next() {
        const bool kernel = kernel_ < join_.task.size() && join_.task[kernel_] == row_;
        ++row_;
        return kernel ? kernel_++ : IdMap::kNone;
    }

  private:
    const KernelJoin& join_;
    uint32_t row_ = 0, kernel_ = 0;
};

// CONNECTION_IDS: the links of each PYTORCH_API.connectionId.
struct Connections {
    PageVector<int64_t> link;  // by row
    IdMap rows;                // id -> rows
};

// The kinds of PYTORCH_API rows.
enum class HostKind { kOp, kQueue, kTrace, kAnnotation };

class HostKinds {
  public:
    HostKinds(Load& load, DbScan& scan);
    HostKind of(const DbRow& row);

  private:
    HostKind guess(const DbRow& row);

    const DbStrings& strings_;
    std::map<int64_t, HostKind> by_type_;
    int type_ = kNoCell, name_ = kNoCell, connection_ = kNoCell;
    std::vector<int> operator_cells_;  // that only operators fill
};

// A test of names, each string once.
class NameTest {
  public:
    using Test = bool (*)(std::string_view);
    NameTest(Load& load, Test test);
    bool of(const DbRow& row, int cell);

  private:
    const DbStrings& strings_;
    Test test_;
    std::vector<int8_t> known_;  // by place of the string; -1: not yet
};

// The operators (kind op) of PYTORCH_API in order of rowid.
struct Operators {
    PageVector<uint32_t> host_op;  // row of prof_host_op
    PageVector<int64_t> start, end, connection, process;
    std::vector<bool> is_step;  // a ProfilerStep#
};

// Makes the Operators while PYTORCH_API is read, in order of rowid.
class OperatorsMaker {
  public:
    OperatorsMaker(Load& load, DbScan& scan);
    void add(const DbRow& row, uint32_t host_op);
    std::unique_ptr<Operators> finish() { return std::move(made_); }

  private:
    std::unique_ptr<Operators> made_ = std::make_unique<Operators>();
    NameTest step_;
    int start_, end_, name_, connection_, thread_;
};

// What the tables of one source share. They load side by side; what one of them makes for all, the others
// wait for. Who makes the operators may need the strings and the connections meanwhile; nobody else waits
// twice.
struct DbProfile {
    DbFiles files;
    ProfileOptions options;
    int64_t id_base = 1;
    std::mutex mutex;                                    // of the next two
    std::map<std::string, FileStamp> stamps;             // as first read
    std::set<std::pair<std::string, std::string>> told;  // diagnostics given: what and where

    MadeOnce<DbStrings> strings;
    MadeOnce<StepWindows> steps;
    MadeOnce<KernelJoin> kernels;
    MadeOnce<Connections> connections;
    MadeOnce<Operators> operators;
};

// One run of a loader.
class Load {
  public:
    Load(DbProfile& shared, const std::string& path, Model model, Table& to, const ColumnSet& wanted,
         LoadContext& load_context);

    DbProfile& profile;
    DbFile file;
    LoadContext& context;

    // The column of the model table, to be filled: nullptr if it is not asked for or already there.
    Column* out(const char* column);
    bool wants(std::initializer_list<const char*> columns);
    bool has_filled(const char* column) const { return filled_.count(model_column(model_, column)) > 0; }
    const ColumnSet& wanted() const { return wanted_; }
    Model model() const { return model_; }
    // Fills columns that are given so far with NULL up to that number of rows.
    void pad(uint64_t rows);
    void set_rows(uint64_t rows) { rows_ = rows; }
    // Wanted columns that nobody filled are absent; others have as many rows as the table. In a damaged file
    // one scan may end before another.
    void finish();

    // A finding that is told once per source: `what` is its code, `where` the table and column.
    void tell(Severity severity, const std::string& what, const std::string& where,
              const std::string& message, uint64_t count = 1);

    void tell_implausible(const std::string& table, uint64_t count);

    // Kept in the profile, made on first use.
    const DbStrings& strings();
    const StepWindows& steps();
    const KernelJoin& kernels();
    const Connections& connections();
    const Operators& operators();

  private:
    Table& table_;
    const ColumnSet& wanted_;
    Model model_;
    std::set<int> filled_;
    uint64_t rows_ = 0;
};

// How the text of a string becomes a value.
enum class TextRule {
    kAsIs,
    kKnown,   // empty and N/A are unknown: NULL
    kShapes,  // as kKnown, but for "" in quotes, a scalar's shape; quotes are dropped
};

// Turns cells that hold ids of STRING_IDS into codes of a dictionary, each string once.
class TextCells {
  public:
    TextCells(Load& load, Dictionary& dictionary, std::string where, TextRule rule);
    uint32_t code(const DbRow& row, int cell);
    uint32_t code(int64_t id);
    void report(Load& load) const;  // after the scan: ids that name no string

  private:
    uint32_t code_of_text(std::string_view text);

    const DbStrings& strings_;
    Dictionary& dictionary_;
    std::string where_;
    TextRule rule_;
    std::vector<uint32_t> codes_;  // by place of the string
    std::string scratch_;
    uint64_t dangling_ = 0;
};

// The names of an ENUM_ table, or the known ones where the file lacks it.
using EnumNames = std::map<int64_t, std::string>;
EnumNames read_enum(Load& load, std::initializer_list<const char*> tables, EnumNames fallback);
void add_enum(Column& column, const EnumNames& names, int64_t value);  // N/A and the like are NULL

// Whole numbers that stand for "none", by what the column is.
enum class NullRule {
    kNone,        // every number counts
    kId,          // -1, 2^32 - 1, 2^63 - 1
    kConnection,  // as kId, and 0
    kSize,        // as kId, anything negative, and what is no size
    kTime,        // as kId, 0, and what is no time
    kBytes,       // what is no size
};
int64_t apply(NullRule rule, int64_t value);
int64_t apply(NullRule rule, int64_t value, uint64_t& implausible);  // counts what is damage, to be told

// Copies the rows of one table of the file into the model table, a cell for a column.
class RowCopy {
  public:
    RowCopy(Load& load, const DbTable& table) : load_(load), table_(table), scan_(load.file, table) {}

    using Names = std::initializer_list<std::string_view>;
    void integer(const char* column, Names names, NullRule rule = NullRule::kNone);
    void real(const char* column, Names names);
    void text(const char* column, Names names, TextRule rule);  // ids of STRING_IDS
    void plain_text(const char* column, Names names);           // text in place
    void enumeration(const char* column, Names names, EnumNames enum_names);
    void thread(const char* process_column, const char* thread_column, Names names);  // globalTid
    void source_row();
    // start_ns, end_ns, dur_ns and step, as far as the model table has them.
    void span(Names start, Names end);
    // device_id, and only the rows of the device that the profile is limited to; the latter alone.
    void device(Names names);
    void only_device(Names names);

    DbScan& scan() { return scan_; }
    bool has_columns() const { return !copies_.empty() || has_span(); }
    // Copies the rows for which keep(row, mine) holds and that are mine: of the device that the profile is
    // limited to. keep sees every row of the table. Returns the number of rows copied.
    template <class Keep>
    uint64_t run(Keep keep);
    uint64_t run() {
        return run([](const DbRow&, bool) { return true; });
    }

  private:
    enum class Kind { kInteger, kReal, kText, kPlainText, kEnum, kProcess, kThread };
    struct Copy {
        Kind kind;
        int cell;
        Column* column;
        NullRule rule = NullRule::kNone;
        TextCells* text = nullptr;
        const EnumNames* names = nullptr;
    };
    void add(Kind kind, const char* column, int cell, NullRule rule = NullRule::kNone);
    bool has_span() const { return start_ || end_ || duration_ || step_; }
    void copy(const DbRow& row);
    void copy_span(const DbRow& row);
    void report() const;

    Load& load_;
    const DbTable& table_;
    DbScan scan_;
    std::vector<Copy> copies_;
    std::vector<std::unique_ptr<TextCells>> texts_;
    std::vector<std::unique_ptr<EnumNames>> enums_;
    int start_cell_ = kNoCell, end_cell_ = kNoCell, device_cell_ = kNoCell;
    Column *start_ = nullptr, *end_ = nullptr, *duration_ = nullptr, *step_ = nullptr;
    uint64_t rows_ = 0, implausible_ = 0;
};

// The text that a cell of ids of STRING_IDS names; empty: none.
std::string_view string_of(const DbStrings& strings, const DbRow& row, int cell);

// Whether a row is of the device that the profile is limited to; rows that name none are.
inline bool of_device(const ProfileOptions& options, const DbRow& row, int device_cell) {
    return !options.device || row.is_null(device_cell) || row.integer(device_cell) == *options.device;
}

template <class Keep>
uint64_t RowCopy::run(Keep keep) {
    scan_.run(load_.context, [&](const DbRow& row) {
        const bool mine = of_device(load_.profile.options, row, device_cell_);
        if (!keep(row, mine) || !mine) return;
        copy(row);
        ++rows_;
    });
    report();
    return rows_;
}

}  // namespace profana
