// trace_event: one row per event of a trace file, as it stands in the file.
//
// A pass over the file fills the columns that a query needs and that are not there yet; further columns take
// further passes. Times of a file that counts from a base are made absolute when the pass is over, for the
// base may stand behind the events; names of processes and threads are given to events then, too.
#include <map>

#include "ext/connection.h"
#include "ext/core/json_columns.h"
#include "ext/core/json_fault.h"
#include "ext/core/plausible.h"
#include "ext/core/trace_events.h"
#include "ext/core/utf8.h"
#include "vtab/raw_files.h"
#include "vtab/raw_json.h"

namespace profana {
namespace {

enum TraceColumn {
    kPh,
    kCat,
    kName,
    kPid,
    kTid,
    kTsNs,
    kDurNs,
    kEndNs,
    kId,
    kBp,
    kArgs,
    kProcessName,
    kThreadName,
    kOffset,
    kLine,
    kFile,
    kColumns
};

TableSpec make_spec() {
    constexpr ColumnType I = ColumnType::kInt, T = ColumnType::kText, A = ColumnType::kAny,
                         L = ColumnType::kLong;
    TableSpec spec{
        "trace_event",
        "Events of a trace: trace_view.json, msprof_*.json, *.pt.trace.json, plain or gzip; one row per "
        "event, metadata included.",
        {{"ph", T, "phase: X span, M metadata, s and f begin and end of a flow, i instant, C counter"},
         {"cat", T, "category; NULL: the event has none"},
         {"name", T, "name"},
         {"pid", A, "process, integer or text as in the file; integers beyond 64 bits are text"},
         {"tid", A, "thread or stream, as pid"},
         {"ts_ns", I, "ns, start; baseTimeNanoseconds is added where the file has it"},
         {"dur_ns", I, "ns; NULL: the event has none"},
         {"end_ns", I, "ns, ts_ns + dur_ns"},
         {"id", A, "id of a flow, as pid"},
         {"bp", T, "binding point of a flow's end: e, enclosing slice"},
         {"args", L, "JSON, as in the file, repaired where that is damaged"},
         {"process_name", T, "what a metadata event of the file calls the process"},
         {"thread_name", T, "what a metadata event of the file calls the thread"},
         {"offset", I, "byte offset of the event in the (inflated) file"},
         {"line", I, "line of the file on which the event begins"},
         {"file", T, "path of the file read"}},
        {{"path", T, "file, or folder with trace_view.json or msprof_*.json and its slices"}},
        1};
    spec.reads_files = true;
    spec.alias = "trace_view";
    return spec;
}

unsigned fields_for(const ColumnSet& wanted) {
    constexpr unsigned kFields[kColumns] = {
        kTracePh, kTraceCat, kTraceName, kTracePid, kTraceTid, kTraceTs, kTraceDur,  kTraceTs | kTraceDur,
        kTraceId, kTraceBp,  kTraceArgs, 0,         0,         0,        kTraceLine, 0};
    unsigned fields = 0;
    wanted.each([&](int column) { fields |= kFields[column]; });
    return fields;
}

// Names of processes and threads by key: what metadata events say, and which key each event has.
class TrackNames {
  public:
    enum Level { kProcess, kThread, kLevels };
    struct Found {
        Level level;
        std::string key, name;
    };

    explicit TrackNames(unsigned workers)
        : keys_(std::vector<ColumnType>(kLevels, ColumnType::kText), nullptr) {
        ColumnSet both;
        both.add(kProcess);
        both.add(kThread);
        for (unsigned i = 0; i < workers; ++i)
            workers_.push_back(std::make_unique<WorkerColumns>(keys_, both));
        merger_ = std::make_unique<ColumnMerger>(keys_, both, workers);
    }

    ChunkColumns begin_chunk(unsigned worker) { return workers_[worker]->begin_chunk(); }

    static void add_keys(const TraceEvent& event, ChunkColumns& chunk, std::vector<Found>& found) {
        const std::string process(event.pid.raw());
        const std::string thread = process + '\n' + std::string(event.tid.raw());
        if (!event.pid.is_null()) chunk[kProcess].add_text(process);
        if (!event.tid.is_null()) chunk[kThread].add_text(thread);
        chunk.end_row();
        if (event.ph.bare() != "M" || event.arg_values.empty() || event.arg_values[0].is_null()) return;
        std::string scratch;
        const std::string name(event.arg_values[0].text(scratch));
        if (event.name.bare() == "process_name") found.push_back({kProcess, process, name});
        if (event.name.bare() == "thread_name") found.push_back({kThread, thread, name});
    }

    void merge(ChunkColumns& chunk, unsigned worker, std::vector<Found>& found, LoadContext& context) {
        merger_->append(chunk, worker, context);
        for (Found& one : found) names_[one.level][one.key] = std::move(one.name);  // the last one counts
    }

    // Writes the name of each event's process or thread.
    void fill(Level level, Column& names) {
        Column& keys = keys_.building(level);
        std::vector<uint32_t> name_of_key(keys.dictionary().size(), kNullCode);
        for (uint32_t code = 1; code < keys.dictionary().size(); ++code) {
            const auto name = names_[level].find(std::string(keys.dictionary().text(code)));
            if (name != names_[level].end()) name_of_key[code] = names.dictionary().intern(name->second);
        }
        for (size_t row = 0; row < keys.codes().size(); ++row) names.add_code(name_of_key[keys.codes()[row]]);
    }

  private:
    Table keys_;  // never read by a query
    std::vector<std::unique_ptr<WorkerColumns>> workers_;
    std::unique_ptr<ColumnMerger> merger_;
    std::map<std::string, std::string> names_[kLevels];
};

// One chunk of events on its way into columns.
class TraceRows : public TraceBatch {
  public:
    TraceRows(ChunkColumns columns, unsigned worker_, const std::string& file, std::optional<uint64_t> begin)
        : chunk(std::move(columns)), worker(worker_), file_(file), begin_(begin) {}

    void event(const TraceEvent& event) override {
        add_text(kPh, event.ph);
        add_text(kCat, event.cat);
        add_text(kName, event.name);
        add_any(kPid, event.pid);
        add_any(kTid, event.tid);
        add_any(kId, event.id);
        add_text(kBp, event.bp);
        add_times(event);
        if (chunk.has(kArgs)) add_args(event);
        if (chunk.has(kOffset)) chunk[kOffset].add_int(static_cast<int64_t>(event.offset));
        if (chunk.has(kLine)) chunk[kLine].add_int(static_cast<int64_t>(event.line));
        if (chunk.has(kFile)) chunk[kFile].add_text(file_);
        chunk.end_row();
        if (tracks) TrackNames::add_keys(event, *tracks, names);
    }

    ChunkColumns chunk;
    const unsigned worker;
    std::optional<ChunkColumns> tracks;  // where names are wanted
    std::vector<TrackNames::Found> names;
    FaultNotes notes;

  private:
    void add_text(int column, const JsonToken& token) {
        if (chunk.has(column)) add_json_text(chunk[column], token, scratch_);
    }
    void add_any(int column, const JsonToken& token) {
        if (chunk.has(column)) add_json_any(chunk[column], token, scratch_);
    }

    int64_t read_time(const JsonToken& token, uint64_t offset) {
        int64_t ns = kNullInt;
        switch (token.microseconds_as_ns(&ns)) {
            case Parsed::kExact:
            case Parsed::kRounded:
                return ns;
            case Parsed::kEmpty:
                return kNullInt;
            case Parsed::kOutOfRange:
                notes.add(JsonFault::kTimeOutOfRange, offset);
                return kNullInt;
            default:
                notes.add(JsonFault::kBadTime, offset);
                return kNullInt;
        }
    }

    // Times still count from the file's base.
    void add_times(const TraceEvent& event) {
        const int64_t ts = chunk.has(kTsNs) ? read_time(event.ts, event.offset) : kNullInt;
        const int64_t dur = chunk.has(kDurNs) ? read_time(event.dur, event.offset) : kNullInt;
        if (chunk.has(kTsNs)) chunk[kTsNs].add_int(ts);
        if (chunk.has(kDurNs)) chunk[kDurNs].add_int(dur);
        if (dur < 0 && dur != kNullInt) notes.add(JsonFault::kNegativeDuration, event.offset);
    }

    void add_args(const TraceEvent& event) {
        if (event.args.is_null()) return;
        if (begin_ && event.args_length > 0)
            chunk[kArgs].add_long(trace_args_place(event, *begin_));
        else
            chunk[kArgs].add_long(event.args.raw());
    }

    const std::string& file_;
    const std::optional<uint64_t> begin_;  // see TraceColumns::read
    std::string scratch_;
};

// Fills columns of a table from files.
class TraceColumns : public TraceConsumer {
  public:
    TraceColumns(Table& table, const ColumnSet& wanted, bool names_wanted, LoadContext& context)
        : table_(table), context_(context), merger_(table, wanted, std::max(1u, context.threads)) {
        for (unsigned i = 0; i < std::max(1u, context.threads); ++i)
            workers_.push_back(std::make_unique<WorkerColumns>(table, wanted));
        if (names_wanted) names_.emplace(std::max(1u, context.threads));
        request_.fields = fields_for(wanted);
        if (!names_wanted) return;
        request_.fields |= kTracePh | kTraceName | kTracePid | kTraceTid;
        request_.arg_keys = {"name"};
    }

    // begin: where the file begins among all files, if its args stay there; nullopt: it is compressed.
    void read(const std::string& file, uint64_t bytes, std::optional<uint64_t> begin, bool report) {
        file_ = repair_utf8(file);
        bytes_ = bytes;
        begin_ = begin;
        notes_ = {};
        request_.report = report;
        first_row_ = merger_.rows();
        const TraceFacts facts = read_trace(file, request_, *this, context_);
        if (facts.base_ns) add_base(first_row_, *facts.base_ns);
        notes_.report(file, context_.diagnostics);
    }

    uint64_t rows() const { return merger_.rows(); }

    void finish() {
        if (!names_) return;
        names_->fill(TrackNames::kProcess, table_.building(kProcessName));
        names_->fill(TrackNames::kThread, table_.building(kThreadName));
    }

    std::unique_ptr<TraceBatch> start_batch(unsigned worker) override {
        auto rows = std::make_unique<TraceRows>(workers_[worker]->begin_chunk(), worker, file_, begin_);
        if (names_) rows->tracks = names_->begin_chunk(worker);
        return rows;
    }

    void merge(TraceBatch& batch, const TraceBatchPlace& place) override {
        auto& rows = static_cast<TraceRows&>(batch);
        const uint64_t first = merger_.rows();
        const bool lines = rows.chunk.has(kLine);
        merger_.append(rows.chunk, rows.worker, context_);
        if (lines) {
            Blocks<int64_t>& line = table_.building(kLine).ints();
            for (uint64_t row = first; row < merger_.rows(); ++row)
                line[row] += static_cast<int64_t>(place.first_line);
        }
        if (names_) names_->merge(*rows.tracks, rows.worker, rows.names, context_);
        notes_.append(rows.notes);
        if (begin_ && bytes_ > place.end)
            merger_.check_ahead(merger_.rows() - first_row_, place.end, bytes_ - place.end, context_);
    }

  private:
    void add_base(uint64_t first, int64_t base) {
        if ((request_.fields & kTraceTs) == 0) return;
        Blocks<int64_t>& ts = table_.building(kTsNs).ints();
        for (uint64_t row = first; row < merger_.rows(); ++row) {
            if (ts[row] == kNullInt || !__builtin_add_overflow(ts[row], base, &ts[row])) continue;
            ts[row] = kNullInt;
            notes_.add(JsonFault::kTimeOutOfRange, 0);
        }
    }

    Table& table_;
    LoadContext& context_;
    ColumnMerger merger_;
    std::vector<std::unique_ptr<WorkerColumns>> workers_;
    std::optional<TrackNames> names_;
    TraceRequest request_;
    std::string file_;
    uint64_t bytes_ = 0, first_row_ = 0;  // of the file
    std::optional<uint64_t> begin_;
    FaultNotes notes_;
};

void fill_end(Table& table, FaultNotes& notes) {
    const auto times = [&](int column) -> const Blocks<int64_t>& {
        return table.loaded(column) ? table.column(column).ints()
                                    : std::as_const(table.building(column)).ints();
    };
    const Blocks<int64_t>&ts = times(kTsNs), &dur = times(kDurNs);
    Column& end = table.building(kEndNs);
    for (size_t row = 0; row < ts.size(); ++row) {
        const int64_t value = sum_ns(ts[row], dur[row]);
        if (value == kNullInt && ts[row] != kNullInt && dur[row] != kNullInt)
            notes.add(JsonFault::kTimeOutOfRange, 0);  // known by its row alone
        end.add_int(value);
    }
}

// What a table is read from.
struct TraceFiles {
    std::vector<std::string> paths;
    std::vector<FileStamp> stamps;
};

// A slice that is no trace. It has brought no row: what fails later is an error of all.
void report_left_out(const std::string& path, const Error& error, Diagnostics& diagnostics) {
    diagnostics.add({.severity = Severity::kError,
                     .file = path,
                     .code = "trace_unreadable",
                     .message = reason_of(error) + "; the file is left out"});
}

// One file after the other. Of several slices each may be no trace, but not all.
void read_files(const TraceFiles& files, TraceColumns& columns, bool report, LoadContext& context) {
    uint64_t begin = 0;
    size_t left_out = 0;
    for (size_t i = 0; i < files.paths.size(); ++i) {
        const std::string& path = files.paths[i];
        if (stamp_if_there(path) != files.stamps[i]) throw file_changed(path);
        const uint64_t rows_before = columns.rows();
        try {
            const bool compressed = Input::open(path, context)->compressed();
            columns.read(path, files.stamps[i].size, compressed ? std::nullopt : std::optional(begin),
                         report);
        } catch (const Error& error) {
            const bool no_trace = is_of_file(error) && columns.rows() == rows_before;
            if (!no_trace || ++left_out == files.paths.size()) throw;
            if (report) report_left_out(path, error, context.diagnostics);
        }
        begin += files.stamps[i].size;
    }
}

void load(const TraceFiles& files, Table& table, const ColumnSet& wanted, LoadContext& context) {
    const auto missing = [&](int column) { return wanted.has(column) && !table.loaded(column); };
    ColumnSet read;
    wanted.each([&](int column) {
        if (column != kEndNs && column != kProcessName && column != kThreadName) read.add(column);
    });
    if (missing(kEndNs)) {
        if (!table.loaded(kTsNs)) read.add(kTsNs);
        if (!table.loaded(kDurNs)) read.add(kDurNs);
    }
    const bool names = missing(kProcessName) || missing(kThreadName);
    if (names || !read.empty() || !table.rows_known()) {
        TraceColumns columns(table, read, names, context);
        read_files(files, columns, !table.rows_known(), context);
        if (table.rows_known() && table.rows() != columns.rows()) throw file_changed(files.paths.front());
        columns.finish();
        if (read.has(kArgs))
            table.building(kArgs).set_long_source(trace_args_source(files.paths, files.stamps));
    }
    if (!missing(kEndNs)) return;
    FaultNotes notes;
    fill_end(table, notes);
    notes.report(files.paths.front(), context.diagnostics);
}

class TraceEventProvider : public TableProvider {
  public:
    std::vector<Part> parts(Connection& connection, const ScanRequest& request) override {
        const std::vector<std::string> paths =
            raw_files(request.arguments[0], FileRole::kTrace, "trace_event",
                      "trace_view.json, msprof_*.json or *.pt.trace.json");
        std::string key = "trace_event";
        for (const std::string& path : paths) key.append("\n").append(path);
        Part part;
        part.table = connection.cached_table(key, paths, [&] {
            report_missing_slices(request.arguments[0], paths, connection.diagnostics());
            TraceFiles files{paths, {}};
            for (const std::string& path : paths) files.stamps.push_back(stamp_if_there(path));
            std::vector<ColumnType> types;
            for (const ColumnSpec& column : trace_event_spec().columns) types.push_back(column.type);
            return std::make_shared<Table>(
                types, [files](Table& table, const ColumnSet& wanted, LoadContext& context) {
                    load(files, table, wanted, context);
                });
        });
        for (int column = 0; column < kColumns; ++column) part.columns.push_back(column);
        return {part};
    }

    double expected_rows(Connection&) override { return 1e6; }
};

}  // namespace

const TableSpec& trace_event_spec() {
    static const TableSpec spec = make_spec();
    return spec;
}

std::unique_ptr<TableProvider> trace_event_provider() {
    return std::make_unique<TraceEventProvider>();
}

}  // namespace profana
