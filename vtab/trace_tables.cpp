#include "vtab/trace_tables.h"

#include <algorithm>
#include <unordered_map>

#include "ext/core/ascii.h"
#include "ext/core/decimal.h"
#include "ext/core/radix_sort.h"

namespace profana {
namespace {

std::unique_ptr<Column> int_column() {
    return std::make_unique<Column>(ColumnType::kInt);
}

// parent and depth columns of all rows from a nesting over all of them, or over `members`.
void set_tree(ModelRows& rows, const char* parent_name, const char* depth_name, const Nesting& nesting,
              const PageVector<uint32_t>* members, int64_t id_base) {
    auto parents = int_column(), depths = int_column();
    const auto add = [&](size_t i) {
        const uint32_t parent = nesting.parent[i];
        const uint32_t row = parent == kNoParent || members == nullptr ? parent : (*members)[parent];
        parents->add_int(parent == kNoParent ? kNullInt : id_base + row);
        depths->add_int(nesting.depth[i]);
    };
    size_t next = 0;
    for (size_t row = 0, count = rows.rows(); row < count; ++row) {
        if (members == nullptr || (next < members->size() && (*members)[next] == row)) {
            add(next++);
        } else {
            parents->add_null();
            depths->add_null();
        }
    }
    rows.set(parent_name, std::move(parents));
    rows.set(depth_name, std::move(depths));
}

}  // namespace

std::optional<int64_t> step_of_name(std::string_view name) {
    if (name.find(kStepMark) == std::string_view::npos) return std::nullopt;
    const std::string_view number = name.substr(name.rfind('#') + 1);
    int64_t step = 0;
    if (number.empty() || parse_integer(number, &step) != Parsed::kExact) return std::nullopt;
    return step;
}

void Steps::add(int64_t step, int64_t start, int64_t end, uint64_t offset) {
    if (start == kNullInt || end == kNullInt) return;
    if (!known_.insert(step).second) return;
    numbers_.push_back(step);
    starts_.push_back(start);
    ends_.push_back(end);
    step_.add_int(step);
    start_.add_int(start);
    end_.add_int(end);
    source_.add_int(static_cast<int64_t>(offset));
}

void Steps::finish() {
    nesting_ = nest_by_cursor(starts_, ends_);
}

int64_t Steps::at(int64_t time) const {
    if (time == kNullInt) return kNullInt;
    const auto& order = nesting_.order;
    const auto after = std::upper_bound(order.begin(), order.end(), time,
                                        [&](int64_t t, uint32_t step) { return t < starts_[step]; });
    if (after == order.begin()) return kNullInt;
    uint32_t step = *(after - 1);
    while (step != kNoParent && ends_[step] < time) step = nesting_.parent[step];
    return step == kNoParent ? kNullInt : numbers_[step];
}

std::unique_ptr<Column> Steps::column(const Column& start_ns) const {
    auto out = int_column();
    for (size_t row = 0; row < start_ns.size(); ++row)
        out->add_int(at(start_ns.integer(static_cast<Row>(row))));
    return out;
}

void HostOps::place(uint32_t lane, Tree tree, bool launches) {
    const auto row = static_cast<uint32_t>(lanes_.size());
    lanes_.push_back(lane);
    is_in_tree_.push_back(tree == Tree::kYes);
    const int64_t time = start().integer(row);
    if (tree == Tree::kYes) in_tree_.push_back(row);
    if (launches && time != kNullInt) launching_.push_back({time, row});
}

void HostOps::finish() {
    radix_sort(launching_, [](const Started& started) { return started.start; });
}

uint32_t HostOps::innermost_starting(int64_t time, uint32_t lane) const {
    auto at = std::upper_bound(launching_.begin(), launching_.end(), time,
                               [](int64_t t, const Started& started) { return t < started.start; });
    uint32_t any = kNoParent;
    while (at != launching_.begin() && (--at)->start == time) {
        if (lanes_[at->row] == lane) return at->row;
        if (any == kNoParent) any = at->row;
    }
    return any;
}

uint32_t HostOps::operator_around(uint32_t row) const {
    nest_threads();
    uint32_t around = threads_->parent[row];
    while (around != kNoParent && !is_in_tree_[around]) around = threads_->parent[around];
    return around;
}

RowsByPlace HostOps::places_of_kind(uint32_t code) const {
    RowsByPlace places;
    const Column& kind = rows_.get("kind");
    for (uint32_t row = 0; row < lanes_.size(); ++row)
        if (kind.code(row) == code) places.add(lanes_[row], start().integer(row), row);
    places.finish();
    return places;
}

void HostOps::nest_operators() {
    if (operators_) return;
    operator_start_.clear();
    operator_end_.clear();
    for (const uint32_t row : in_tree_) {
        operator_start_.push_back(start().integer(row));
        operator_end_.push_back(end().integer(row));
    }
    operators_ = nest_by_cursor(operator_start_, operator_end_);
}

void HostOps::nest_threads() const {
    if (threads_) return;
    const PageVector<int64_t> lanes(lanes_.begin(), lanes_.end());
    threads_ = nest_by_containment(lanes, int_values(start()), int_values(end()));
}

void HostOps::derive_operators(int64_t id_base) {
    nest_operators();
    set_tree(rows_, "parent_id", "depth", *operators_, &in_tree_, id_base);
    const Column& name = rows_.get("name");
    std::vector<char> step_of_code(name.dictionary().size(), 0);
    for (uint32_t code = 1; code < step_of_code.size(); ++code)
        step_of_code[code] = name.dictionary().text(code).find(kStepMark) != std::string_view::npos;
    std::vector<bool> is_step;
    for (const uint32_t row : in_tree_) is_step.push_back(step_of_code[name.code(row)] != 0);
    const OperatorTotals totals = operator_totals(*operators_, operator_start_, operator_end_, is_step);
    PageVector<int64_t> roots(lanes_.size(), kNullInt), self(lanes_.size(), kNullInt);
    for (size_t i = 0; i < in_tree_.size(); ++i) {
        if (totals.root[i] != kNoParent) roots[in_tree_[i]] = id_base + in_tree_[totals.root[i]];
        self[in_tree_[i]] = totals.self_ns[i];
    }
    auto root_column = int_column(), self_column = int_column();
    root_column->add_ints(roots.data(), roots.size());
    self_column->add_ints(self.data(), self.size());
    rows_.set("root_id", std::move(root_column));
    rows_.set("self_ns", std::move(self_column));
}

void HostOps::derive_threads(int64_t id_base) {
    nest_threads();
    set_tree(rows_, "thread_parent_id", "thread_depth", *threads_, nullptr, id_base);
}

void HostOps::derive(const ColumnSet& wanted, const Steps& steps, int64_t id_base) {
    if (wants_any(wanted, Model::kHostOp, {"step"}) && !rows_.has("step"))
        rows_.set("step", steps.column(start()));
    if (wants_any(wanted, Model::kHostOp, {"parent_id", "depth", "root_id", "self_ns"}) &&
        !rows_.has("depth"))
        derive_operators(id_base);
    if (wants_any(wanted, Model::kHostOp, {"thread_parent_id", "thread_depth"}) && !rows_.has("thread_depth"))
        derive_threads(id_base);
}

PageVector<int64_t> HostOps::enqueued_at(const PageVector<int64_t>& times) const {
    PageVector<uint32_t> dequeues;
    std::unordered_map<int64_t, int64_t> enqueued;  // by correlation id; the last in the file counts
    const Column &kind = rows_.get("kind"), &name = rows_.get("name"),
                 &connection = rows_.get("connection_id");
    const uint32_t queue = kind.dictionary().find("queue");
    for (Row row = 0; row < lanes_.size(); ++row) {
        if (kind.code(row) != queue || queue == kNullCode || start().integer(row) == kNullInt) continue;
        const std::string_view text = name.text(row);
        if (begins_with_word(text, "dequeue")) dequeues.push_back(row);
        if (begins_with_word(text, "enqueue")) enqueued[connection.integer(row)] = start().integer(row);
    }
    const auto before = [&](int64_t time, uint32_t row) { return time < start().integer(row); };
    std::stable_sort(dequeues.begin(), dequeues.end(),
                     [&](uint32_t a, uint32_t b) { return start().integer(a) < start().integer(b); });
    PageVector<int64_t> out;
    for (const int64_t time : times) {
        const auto after = std::upper_bound(dequeues.begin(), dequeues.end(), time, before);
        out.push_back(kNullInt);
        if (time == kNullInt || after == dequeues.begin() || end().integer(*(after - 1)) < time) continue;
        const auto found = enqueued.find(connection.integer(*(after - 1)));
        if (found != enqueued.end()) out.back() = found->second;
    }
    return out;
}

std::unique_ptr<Column> HostOps::attach(const PageVector<int64_t>& times, int64_t id_base) {
    nest_operators();
    auto out = int_column();
    for (const uint32_t at : attach_by_cursor(*operators_, operator_start_, operator_end_, times))
        out->add_int(at == kNoParent ? kNullInt : id_base + in_tree_[at]);
    return out;
}

void PythonCalls::add(int64_t tid, uint32_t lane, uint32_t name, int64_t start, int64_t dur,
                      uint64_t offset) {
    tid_.add_int(tid);
    names_.add(name);
    times_.add(start, dur);
    source_.add_int(static_cast<int64_t>(offset));
    lanes_.push_back(lane);
}

void PythonCalls::derive(const ColumnSet& wanted, int64_t id_base) {
    if (wants_any(wanted, Model::kPythonCall, {"is_module"}) && !rows_.has("is_module")) {
        const Column& name = rows_.get("name");
        std::vector<char> module_of_code;
        for (uint32_t code = 0; code < name.dictionary().size(); ++code)
            module_of_code.push_back(code > 0 &&
                                     begins_with_word(name.dictionary().text(code), "nn.module:"));
        auto column = int_column();
        for (Row row = 0; row < name.size(); ++row) column->add_int(module_of_code[name.code(row)]);
        rows_.set("is_module", std::move(column));
    }
    if (!wants_any(wanted, Model::kPythonCall, {"parent_id", "depth"}) || rows_.has("depth")) return;
    const Nesting nesting = nest_by_containment(lanes_, int_values(times_.start()), int_values(times_.end()));
    set_tree(rows_, "parent_id", "depth", nesting, nullptr, id_base);
}

namespace {

struct FlowPlace {
    int64_t id;
    uint32_t at;  // in the list of flows
};

// The flows of a kind by id, each id's in file order.
std::vector<FlowPlace> by_id(const PageVector<FlowEnd>& flows, uint8_t kind) {
    std::vector<FlowPlace> order;
    for (uint32_t i = 0; i < flows.size(); ++i)
        if (flows[i].kind == kind) order.push_back({flows[i].id, i});
    radix_sort(order, [](const FlowPlace& place) { return place.id; });
    return order;
}

template <class F>
void each_id(const std::vector<FlowPlace>& order, F f) {
    for (size_t first = 0; first < order.size();) {
        size_t last = first;
        while (last < order.size() && order[last].id == order[first].id) ++last;
        f(order.data() + first, order.data() + last);
        first = last;
    }
}

}  // namespace

std::vector<FlowPair> pair_flows(const PageVector<FlowEnd>& flows, uint8_t kind) {
    struct Found {
        uint32_t first, start, end;
    };
    std::vector<Found> found;
    PageVector<uint32_t> starts, ends;
    each_id(by_id(flows, kind), [&](const FlowPlace* first, const FlowPlace* last) {
        starts.clear();
        ends.clear();
        for (const FlowPlace* place = first; place != last; ++place)
            (flows[place->at].is_start ? starts : ends).push_back(place->at);
        if (starts.empty()) return;
        for (size_t i = 0; i < ends.size(); ++i)
            found.push_back({first->at, starts.size() == ends.size() ? starts[i] : starts.back(), ends[i]});
    });
    radix_sort(found, [](const Found& pair) { return int64_t{pair.first}; });
    std::vector<FlowPair> pairs;
    pairs.reserve(found.size());
    for (const Found& pair : found) pairs.push_back({flows[pair.start], flows[pair.end]});
    return pairs;
}

void add_forward_backward(const PageVector<FlowEnd>& flows, uint8_t kind, const std::vector<TraceLane>& lanes,
                          ModelRows& rows) {
    struct End {
        uint32_t at;
        int64_t forward;
    };
    std::vector<End> ends;
    each_id(by_id(flows, kind), [&](const FlowPlace* first, const FlowPlace* last) {
        int64_t forward = kNullInt;
        const FlowPlace* last_end = nullptr;
        for (const FlowPlace* place = first; place != last; ++place) {
            if (flows[place->at].is_start)
                forward = flows[place->at].ts_ns;
            else
                last_end = place;
        }
        for (const FlowPlace* place = first; place != last; ++place)
            if (!flows[place->at].is_start)
                ends.push_back({place->at, place == last_end ? forward : kNullInt});
    });
    std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.at < b.at; });
    Column &forward = rows.column("forward_ns"), &backward = rows.column("backward_ns");
    Column &thread = rows.column("backward_thread_id"), &process = rows.column("backward_process_id");
    Column &id = rows.column("flow_id"), &source = rows.column("source_row");
    for (const End& end : ends) {
        const FlowEnd& flow = flows[end.at];
        forward.add_int(end.forward);
        backward.add_int(flow.ts_ns);
        thread.add_int(lanes[flow.lane].tid);
        process.add_int(lanes[flow.lane].pid);
        id.add_int(flow.id < kTextFlowId ? kNullInt : flow.id);
        source.add_int(static_cast<int64_t>(flow.offset));
    }
}

void RowsByPlace::finish() {
    radix_sort(places_, [](const Place& place) { return int64_t{place.lane}; });
    radix_sort(places_, [](const Place& place) { return place.start; });
}

uint32_t RowsByPlace::find(uint32_t lane, int64_t start) const {
    const auto after = std::upper_bound(places_.begin(), places_.end(), Place{start, lane, 0},
                                        [](const Place& a, const Place& b) {
                                            return a.start != b.start ? a.start < b.start : a.lane < b.lane;
                                        });
    if (after == places_.begin()) return kNoParent;
    const Place& found = *(after - 1);
    return found.start == start && found.lane == lane ? found.row : kNoParent;
}

}  // namespace profana
