// What the readers of traces share: host operators with their trees, Python calls, steps, and flows from
// launch to work.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ext/core/nest_events.h"
#include "vtab/model_rows.h"
#include "vtab/trace_records.h"

namespace profana {

constexpr std::string_view kStepMark = "ProfilerStep#";
// N of a name that contains ProfilerStep# and ends in #N.
std::optional<int64_t> step_of_name(std::string_view name);

// The rows of prof_step, and which of them a time falls into.
class Steps {
  public:
    // A step that is there already keeps its first window.
    void add(int64_t step, int64_t start, int64_t end, uint64_t offset);
    void finish();  // before at()
    // The last step by start that has the time within its bounds, both included; kNullInt: none.
    int64_t at(int64_t time) const;
    // The step column for rows with these starts.
    std::unique_ptr<Column> column(const Column& start_ns) const;
    const ModelRows& rows() const { return rows_; }

  private:
    ModelRows rows_{Model::kStep};
    Column& step_ = rows_.column("step");
    Column& start_ = rows_.column("start_ns");
    Column& end_ = rows_.column("end_ns");
    Column& source_ = rows_.column("source_row");
    PageVector<int64_t> starts_, ends_, numbers_;
    std::unordered_set<int64_t> known_;
    Nesting nesting_;
};

// Finds rows by (thread, start); the last row wins.
class RowsByPlace {
  public:
    void add(uint32_t lane, int64_t start, uint32_t row) { places_.push_back({start, lane, row}); }
    void finish();
    uint32_t find(uint32_t lane, int64_t start) const;  // kNoParent: none

  private:
    struct Place {
        int64_t start;
        uint32_t lane, row;
    };
    PageVector<Place> places_;
};

// Rows of prof_host_op of a trace.
class HostOps {
  public:
    enum class Tree : bool { kNo, kYes };  // does the compare tool take it for an operator?

    ModelRows& rows() { return rows_; }
    const ModelRows& rows() const { return rows_; }

    // The last row: whose thread it is, and its part in the compare tool's tree. `launches`: work can be
    // bound to it.
    void place(uint32_t lane, Tree tree, bool launches);

    // After all rows. Sorts what innermost_starting() searches.
    void finish();
    // The innermost of the rows that launch and start exactly then, of that thread if there is one;
    // kNoParent.
    uint32_t innermost_starting(int64_t start, uint32_t lane) const;
    // The smallest row of the tree on the thread of `row` that contains it whole; kNoParent: none.
    uint32_t operator_around(uint32_t row) const;
    // All rows whose kind has this code, by place.
    RowsByPlace places_of_kind(uint32_t code) const;

    // Adds the wanted columns that follow from others: trees, self times, steps.
    void derive(const ColumnSet& wanted, const Steps& steps, int64_t id_base);
    // When the work of the dequeue event that runs at each of `times` was enqueued; kNullInt: none runs, or
    // its enqueue event is not there.
    PageVector<int64_t> enqueued_at(const PageVector<int64_t>& times) const;
    // host_op_id of memory records, by the compare tool's tree.
    std::unique_ptr<Column> attach(const PageVector<int64_t>& times, int64_t id_base);

    const Column& start() const { return times_.start(); }
    const Column& end() const { return times_.end(); }
    TimeColumns& times() { return times_; }

  private:
    void nest_operators();
    void nest_threads() const;
    void derive_operators(int64_t id_base);
    void derive_threads(int64_t id_base);

    ModelRows rows_{Model::kHostOp};
    TimeColumns times_{rows_};
    PageVector<uint32_t> lanes_;    // by row
    PageVector<uint32_t> in_tree_;  // rows of the compare tool's tree, in row order
    std::vector<char> is_in_tree_;  // by row
    struct Started {
        int64_t start;
        uint32_t row;
    };
    std::vector<Started> launching_;    // rows that work can be bound to
    std::optional<Nesting> operators_;  // over in_tree_
    PageVector<int64_t> operator_start_, operator_end_;
    mutable std::optional<Nesting> threads_;  // over all rows
};

// Rows of prof_python_call.
class PythonCalls {
  public:
    void add(int64_t tid, uint32_t lane, uint32_t name, int64_t start, int64_t dur, uint64_t offset);
    TraceTextColumn& names() { return names_; }
    void derive(const ColumnSet& wanted, int64_t id_base);
    const ModelRows& rows() const { return rows_; }

  private:
    ModelRows rows_{Model::kPythonCall};
    TimeColumns times_{rows_, false};
    TraceTextColumn names_{rows_.column("name")};
    Column &tid_ = rows_.column("thread_id"), &source_ = rows_.column("source_row");
    PageVector<int64_t> lanes_;
};

// One end of a flow, threads and ids numbered over the whole trace.
constexpr int64_t kTextFlowId = kNullInt / 2;  // ids that are no numbers are numbered below this
struct FlowEnd {
    int64_t id;
    int64_t ts_ns;
    uint64_t offset;
    uint32_t lane;
    uint8_t kind;
    uint8_t category;  // where one kind has several
    bool is_start;
};

// A start and an end that belong together: same id and kind.
struct FlowPair {
    FlowEnd start, end;
};

// Pairs of one kind, in order of the id's first appearance. With as many ends as starts of an id they pair in
// order; else each end belongs to the last start.
std::vector<FlowPair> pair_flows(const PageVector<FlowEnd>& flows, uint8_t kind);

// prof_fwd_bwd of the flows of one kind: a row for each end, in file order. A repeated id counts once, by its
// last start and end: the ends before the last have no start.
void add_forward_backward(const PageVector<FlowEnd>& flows, uint8_t kind, const std::vector<TraceLane>& lanes,
                          ModelRows& rows);

}  // namespace profana
