// prof_host_op, prof_python_call and prof_fwd_bwd: PYTORCH_API and CANN_API.
#include <algorithm>
#include <numeric>

#include "ext/core/ascii.h"
#include "ext/core/nest_events.h"
#include "ext/core/plausible.h"
#include "vtab/db_beside.h"
#include "vtab/db_loaders.h"

namespace profana {
namespace {

// Links of the framework itself are numbered from here on, above those of CANN.
constexpr int64_t kFirstFrameworkLink = int64_t{5} << 28;

const EnumNames kApiTypes = {{20000, "acl"},          {15000, "model"},  {10000, "node"},
                             {5500, "communication"}, {5000, "runtime"}, {50001, "op"},
                             {50002, "queue"},        {50003, "trace"},  {50004, "mstx"}};

EnumNames api_types(Load& load) {
    EnumNames names = read_enum(load, {"ENUM_API_TYPE"}, {});
    names.insert(kApiTypes.begin(), kApiTypes.end());
    return names;
}

bool is_step_name(std::string_view name) {
    return name.find("ProfilerStep#") != std::string_view::npos;
}

bool is_module_name(std::string_view name) {
    return begins_with_word(name, "nn.module:");
}

bool is_queue_name(std::string_view name) {
    return name.starts_with("Enqueue") || name.starts_with("Dequeue");
}

const char* kind_name(HostKind kind) {
    switch (kind) {
        case HostKind::kOp:
            return "op";
        case HostKind::kQueue:
            return "queue";
        case HostKind::kTrace:
        case HostKind::kAnnotation:
            break;
    }
    return "annotation";
}

}  // namespace

NameTest::NameTest(Load& load, Test test)
    : strings_(load.strings()), test_(test), known_(strings_.size(), -1) {}

bool NameTest::of(const DbRow& row, int cell) {
    if (row.is_null(cell)) return false;
    if (row.is_text(cell)) return test_(row.text(cell));
    const uint32_t place = strings_.find(row.integer(cell));
    if (place == IdMap::kNone) return false;
    if (known_[place] < 0) known_[place] = test_(strings_.text(place)) ? 1 : 0;
    return known_[place] == 1;
}

HostKinds::HostKinds(Load& load, DbScan& scan) : strings_(load.strings()), type_(scan.cell({"type"})) {
    if (type_ != kNoCell) {
        for (const auto& [type, name] : api_types(load)) {
            if (name == "op") by_type_[type] = HostKind::kOp;
            if (name == "queue") by_type_[type] = HostKind::kQueue;
            if (name == "trace") by_type_[type] = HostKind::kTrace;
            if (name == "mstx") by_type_[type] = HostKind::kAnnotation;
        }
        return;
    }
    // Exports before August 2024 have no type: only operators fill these.
    name_ = scan.cell({"name"});
    connection_ = scan.cell({"connectionId"});
    for (const char* column : {"sequenceNumber", "fwdThreadId", "inputShapes", "inputDtypes"}) {
        const int cell = scan.cell({column});
        if (cell != kNoCell) operator_cells_.push_back(cell);
    }
}

HostKind HostKinds::of(const DbRow& row) {
    if (type_ == kNoCell) return guess(row);
    const auto kind = by_type_.find(row.integer(type_));
    return kind == by_type_.end() ? HostKind::kOp : kind->second;
}

HostKind HostKinds::guess(const DbRow& row) {
    const uint32_t place = strings_.find(row.integer(name_));
    if (place != IdMap::kNone && is_queue_name(strings_.text(place))) return HostKind::kQueue;
    const bool is_operator =
        operator_cells_.empty() || std::any_of(operator_cells_.begin(), operator_cells_.end(),
                                               [&](int cell) { return !row.is_null(cell); });
    return is_operator || !row.is_null(connection_) ? HostKind::kOp : HostKind::kTrace;
}

const Connections& Load::connections() {
    return profile.connections.get(context, [&] {
        auto out = std::make_unique<Connections>();
        const DbTable* table = file.table("CONNECTION_IDS");
        if (table == nullptr) return out;
        PageVector<int64_t> ids;
        DbScan scan(file, *table);
        const int id = scan.cell({"id"}), link = scan.cell({"connectionId"});
        const size_t expected = scan.expected_rows();
        ids.reserve(expected);
        out->link.reserve(expected);
        scan.run(context, [&](const DbRow& row) {
            ids.push_back(row.integer(id));
            out->link.push_back(row.integer(link));
        });
        out->rows = IdMap(ids);
        return out;
    });
}

OperatorsMaker::OperatorsMaker(Load& load, DbScan& scan)
    : step_(load, is_step_name),
      start_(scan.cell({"startNs"})),
      end_(scan.cell({"endNs"})),
      name_(scan.cell({"name"})),
      connection_(scan.cell({"connectionId"})),
      thread_(scan.cell({"globalTid"})) {
    const size_t expected = scan.expected_rows();
    made_->host_op.reserve(expected);
    for (PageVector<int64_t>* values : {&made_->start, &made_->end, &made_->connection, &made_->process})
        values->reserve(expected);
}

void OperatorsMaker::add(const DbRow& row, uint32_t host_op) {
    const int64_t both = row.integer(thread_);
    made_->host_op.push_back(host_op);
    const Span span = plausible({row.integer(start_), row.integer(end_)});
    made_->start.push_back(span.start);
    made_->end.push_back(span.end);
    made_->connection.push_back(row.integer(connection_));
    made_->process.push_back(both == kNullInt ? kNullInt : both >> 32);
    made_->is_step.push_back(step_.of(row, name_));
}

const Operators& Load::operators() {
    return profile.operators.get(context, [&] {
        const DbTable* table = file.table("PYTORCH_API");
        if (table == nullptr) return std::make_unique<Operators>();
        DbScan scan(file, *table);
        HostKinds kinds(*this, scan);
        OperatorsMaker operators(*this, scan);
        uint32_t next = 0;
        scan.run(context, [&](const DbRow& row) {
            const HostKind kind = kinds.of(row);
            if (kind == HostKind::kTrace) return;
            const uint32_t host_op = next++;
            if (kind == HostKind::kOp) operators.add(row, host_op);
        });
        return operators.finish();
    });
}

namespace {

// prof_host_op.connection_id of a PYTORCH_API row.
class HostConnection {
  public:
    explicit HostConnection(const Connections& connections)
        : connections_(connections), links_(connections.link) {}

    int64_t of(HostKind kind, int64_t id) const {
        const uint32_t first = connections_.rows.find(id);
        if (first == IdMap::kNone) return kNullInt;
        if (kind == HostKind::kQueue) {
            const int64_t link = connections_.link[first];
            return link >= kFirstFrameworkLink ? link - kFirstFrameworkLink : link;
        }
        // What two rows share leads from forward to backward, not to the device.
        int64_t lowest = kNullInt;
        for (uint32_t row = first; row != IdMap::kNone; row = connections_.rows.next(row)) {
            const int64_t link = apply(NullRule::kConnection, connections_.link[row]);
            if (link == kNullInt || links_.next(links_.find(link)) != IdMap::kNone) continue;
            if (lowest == kNullInt || link < lowest) lowest = link;
        }
        return lowest;
    }

  private:
    const Connections& connections_;
    IdMap links_;  // link -> rows
};

// Call stacks by PYTORCH_API.callchainId: the frames joined, as codes of the column.
class CallStacks {
  public:
    CallStacks(Load& load, Dictionary& dictionary) {
        const DbTable* table = load.file.table("PYTORCH_CALLCHAINS");
        if (table == nullptr) return;
        struct Frame {
            int64_t chain, depth;
            uint32_t text;
        };
        std::vector<Frame> frames;
        Dictionary texts;
        TextCells cells(load, texts, "PYTORCH_CALLCHAINS.stack", TextRule::kAsIs);
        DbScan scan(load.file, *table);
        const int id = scan.cell({"id"}), stack = scan.cell({"stack"}), depth = scan.cell({"stackDepth"});
        scan.run(load.context, [&](const DbRow& row) {
            const uint32_t text = cells.code(row, stack);
            if (text != kNullCode && row.integer(id) != kNullInt)
                frames.push_back({row.integer(id), row.integer(depth), text});
        });
        cells.report(load);
        std::stable_sort(frames.begin(), frames.end(), [](const Frame& a, const Frame& b) {
            return std::make_pair(a.chain, a.depth) < std::make_pair(b.chain, b.depth);
        });
        std::vector<int64_t> chains;
        std::string joined;
        for (size_t i = 0; i < frames.size(); ++i) {
            const bool first = i == 0 || frames[i].chain != frames[i - 1].chain;
            if (first) joined.clear();
            if (!first) joined += ";\r\n";
            joined += texts.text(frames[i].text);
            if (i + 1 < frames.size() && frames[i + 1].chain == frames[i].chain) continue;
            chains.push_back(frames[i].chain);
            codes_.push_back(dictionary.intern(joined));
        }
        by_chain_ = IdMap(chains);
    }

    uint32_t code(int64_t chain) const {
        const uint32_t place = by_chain_.find(chain);
        return place == IdMap::kNone ? kNullCode : codes_[place];
    }

  private:
    IdMap by_chain_;
    std::vector<uint32_t> codes_;
};

// The events of prof_host_op, as far as their nesting on threads needs them.
struct ThreadEvents {
    PageVector<int64_t> thread, start, end;
    int thread_cell = kNoCell, start_cell = kNoCell, end_cell = kNoCell;

    void ask(DbScan& scan) {
        thread_cell = scan.cell({"globalTid"});
        start_cell = scan.cell({"startNs"});
        end_cell = scan.cell({"endNs"});
    }
    void add(const DbRow& row) {
        thread.push_back(row.integer(thread_cell));
        const Span span = plausible({row.integer(start_cell), row.integer(end_cell)});
        start.push_back(span.start);
        end.push_back(span.end);
    }
    void append(const ThreadEvents& more) {
        thread.insert(thread.end(), more.thread.begin(), more.thread.end());
        start.insert(start.end(), more.start.begin(), more.start.end());
        end.insert(end.end(), more.end.begin(), more.end.end());
    }
};

int64_t row_id(const Load& load, uint32_t row) {
    return row == kNoParent ? kNullInt : load.profile.id_base + row;
}

void fill_thread_tree(const Load& load, const ThreadEvents& events, Column* parent, Column* depth) {
    if (parent == nullptr && depth == nullptr) return;
    const Nesting nesting = nest_by_containment(events.thread, events.start, events.end);
    for (size_t row = 0; row < events.start.size(); ++row) {
        if (parent != nullptr) parent->add_int(row_id(load, nesting.parent[row]));
        if (depth != nullptr) depth->add_int(nesting.depth[row]);
    }
}

// The columns of the compare tool's tree, of operators only.
void fill_operator_tree(Load& load, size_t rows) {
    Column *parent = load.out("parent_id"), *depth = load.out("depth"), *root = load.out("root_id"),
           *self = load.out("self_ns");
    if (parent == nullptr && depth == nullptr && root == nullptr && self == nullptr) return;
    const Operators& ops = load.operators();
    const Nesting nesting = nest_by_cursor(ops.start, ops.end);
    const OperatorTotals totals = operator_totals(nesting, ops.start, ops.end, ops.is_step);
    const auto op_id = [&](uint32_t op) {
        return op == kNoParent ? kNullInt : row_id(load, ops.host_op[op]);
    };
    const auto fill = [&](Column* column, const auto& value) {
        if (column == nullptr) return;
        std::vector<int64_t> values(rows, kNullInt);
        for (uint32_t op = 0; op < ops.start.size() && ops.host_op[op] < rows; ++op)
            values[ops.host_op[op]] = value(op);
        column->add_ints(values.data(), values.size());
    };
    fill(parent, [&](uint32_t op) { return op_id(nesting.parent[op]); });
    fill(depth, [&](uint32_t op) { return static_cast<int64_t>(nesting.depth[op]); });
    fill(root, [&](uint32_t op) { return op_id(totals.root[op]); });
    fill(self, [&](uint32_t op) { return totals.self_ns[op]; });
}

// input_shapes and input_types. Exports of schema 1.0.0 write each into the other's column: the first row
// that has either tells, for shapes hold no letters.
class InputCells {
  public:
    InputCells(Load& load, DbScan& scan)
        : strings_(load.strings()),
          shapes_cell_(scan.cell({"inputShapes"})),
          types_cell_(scan.cell({"inputDtypes"})),
          shapes_out_(load.out("input_shapes")),
          types_out_(load.out("input_types")) {
        if (shapes_out_ != nullptr)
            shapes_.emplace(load, shapes_out_->dictionary(), "PYTORCH_API.inputShapes", TextRule::kAsIs);
        if (types_out_ != nullptr)
            types_.emplace(load, types_out_->dictionary(), "PYTORCH_API.inputDtypes", TextRule::kAsIs);
    }
    void add(const DbRow& row) {
        if (!decided_) decide(row);
        if (shapes_) shapes_out_->add_code(shapes_->code(row, shapes_cell_));
        if (types_) types_out_->add_code(types_->code(row, types_cell_));
    }
    void report(Load& load) const {
        if (shapes_) shapes_->report(load);
        if (types_) types_->report(load);
        if (swapped_)
            load.tell(
                Severity::kInfo, "swapped_columns", "PYTORCH_API.inputShapes",
                "inputShapes holds data types and inputDtypes shapes, as exports of schema 1.0.0 do: read "
                "the other way round");
    }

  private:
    void decide(const DbRow& row) {
        const std::string_view shapes = string_of(strings_, row, shapes_cell_),
                               types = string_of(strings_, row, types_cell_);
        const auto has_letter = [](std::string_view text) {
            return std::any_of(text.begin(), text.end(), is_ascii_letter);
        };
        decided_ = has_letter(shapes) || has_letter(types);
        swapped_ = has_letter(shapes) && !has_letter(types) && shapes != "N/A";
        if (swapped_) std::swap(shapes_cell_, types_cell_);
    }

    const DbStrings& strings_;
    int shapes_cell_, types_cell_;
    Column *shapes_out_, *types_out_;
    std::optional<TextCells> shapes_, types_;
    bool decided_ = false, swapped_ = false;
};

// claim: on the operators, which are then found on the way.
uint64_t copy_framework_rows(Load& load, const DbTable& table, ThreadEvents* events,
                             MadeOnce<Operators>::Lock claim) {
    RowCopy rows(load, table);
    HostKinds kinds(load, rows.scan());
    rows.thread("process_id", "thread_id", {"globalTid"});
    rows.text("name", {"name"}, TextRule::kAsIs);
    rows.span({"startNs"}, {"endNs"});
    rows.integer("sequence_number", {"sequenceNumber"}, NullRule::kId);
    rows.integer("fwd_thread_id", {"fwdThreadId"}, NullRule::kConnection);
    rows.source_row();
    Column *kind_out = load.out("kind"), *stack_out = load.out("call_stack"),
           *link_out = load.out("connection_id");
    std::optional<InputCells> inputs;
    if (load.wants({"input_shapes", "input_types"})) inputs.emplace(load, rows.scan());
    std::optional<CallStacks> stacks;
    if (stack_out != nullptr) stacks.emplace(load, stack_out->dictionary());
    std::optional<HostConnection> links;
    if (link_out != nullptr) links.emplace(load.connections());
    const int chain = stacks ? rows.scan().cell({"callchainId"}) : kNoCell;
    const int connection = links ? rows.scan().cell({"connectionId"}) : kNoCell;
    if (events != nullptr) events->ask(rows.scan());
    std::optional<OperatorsMaker> operators;
    if (claim.owns_lock()) operators.emplace(load, rows.scan());
    uint32_t next = 0;
    const uint64_t copied = rows.run([&](const DbRow& row, bool) {
        const HostKind kind = kinds.of(row);
        if (kind == HostKind::kTrace) return false;
        if (operators && kind == HostKind::kOp) operators->add(row, next);
        ++next;
        if (inputs) inputs->add(row);
        if (kind_out != nullptr) kind_out->add_text(kind_name(kind));
        if (stacks) stack_out->add_code(stacks->code(row.integer(chain)));
        if (links) link_out->add_int(links->of(kind, row.integer(connection)));
        if (events != nullptr) events->add(row);
        return true;
    });
    if (inputs) inputs->report(load);
    if (operators) load.profile.operators.keep(operators->finish(), std::move(claim));
    return copied;
}

// A call of CANN is named as in traces: Node@launch.
const char* api_prefix(const std::string& type) {
    if (type == "acl") return "AscendCL@";
    if (type == "model") return "Model@";
    if (type == "node") return "Node@";
    if (type == "communication" || type == "hccl") return "Communication@";
    if (type == "runtime") return "Runtime@";
    return "";
}

// Names of CANN calls: a code for each pair of type and string.
class ApiNames {
  public:
    ApiNames(Load& load, Dictionary& dictionary)
        : types_(api_types(load)),
          cells_(load, texts_, "CANN_API.name", TextRule::kAsIs),
          dictionary_(dictionary) {}

    uint32_t code(const DbRow& row, int type_cell, int name_cell) {
        const uint32_t text = cells_.code(row, name_cell);
        if (text == kNullCode) return kNullCode;
        const int64_t type = row.integer(type_cell);
        auto& codes = codes_[type];
        if (codes.size() <= text) codes.resize(text + 1, kNullCode);
        if (codes[text] == kNullCode) {
            const auto known = types_.find(type);
            const std::string name = known == types_.end() ? "" : api_prefix(known->second);
            codes[text] = dictionary_.intern(name + std::string(texts_.text(text)));
        }
        return codes[text];
    }
    void report(Load& load) const { cells_.report(load); }

  private:
    EnumNames types_;
    Dictionary texts_;
    TextCells cells_;
    Dictionary& dictionary_;
    std::unordered_map<int64_t, std::vector<uint32_t>> codes_;  // by type, by code in texts_
};

uint64_t copy_cann_rows(Load& load, const DbTable& table, ThreadEvents* events) {
    RowCopy rows(load, table);
    rows.thread("process_id", "thread_id", {"globalTid"});
    rows.span({"startNs"}, {"endNs"});
    rows.integer("connection_id", {"connectionId"}, NullRule::kConnection);
    rows.source_row();
    Column *name_out = load.out("name"), *kind_out = load.out("kind");
    std::optional<ApiNames> names;
    if (name_out != nullptr) names.emplace(load, name_out->dictionary());
    const int name = names ? rows.scan().cell({"name"}) : kNoCell,
              type = names ? rows.scan().cell({"type"}) : kNoCell;
    if (events != nullptr) events->ask(rows.scan());
    const uint64_t copied = rows.run([&](const DbRow& row, bool) {
        if (names) name_out->add_code(names->code(row, type, name));
        if (kind_out != nullptr) kind_out->add_text("api");
        if (events != nullptr) events->add(row);
        return true;
    });
    if (names) names->report(load);
    return copied;
}

}  // namespace

// PYTORCH_API and CANN_API are read side by side.
void load_host_op(Load& load) {
    const DbTable* framework = load.file.table("PYTORCH_API");
    // Who asks when operators start asks next what they launched, or does so now on another thread: at once.
    MadeOnce<Operators>::Lock claim;
    if (framework != nullptr && load.wants({"start_ns"})) claim = load.profile.operators.claim();
    const bool nested = load.wants({"thread_parent_id", "thread_depth"});
    ThreadEvents events, cann_events;
    load.strings();
    load.steps();
    uint64_t rows = 0, cann_rows = 0;
    LoadBeside cann(load, [&](Load& side) {
        if (const DbTable* table = side.file.table("CANN_API"))
            cann_rows = copy_cann_rows(side, *table, nested ? &cann_events : nullptr);
    });
    if (framework != nullptr)
        rows = copy_framework_rows(load, *framework, nested ? &events : nullptr, std::move(claim));
    cann.finish();
    // Of these the columns continue; the others have nothing to say of a call of CANN.
    const auto common = {"process_id", "thread_id", "name",   "kind",          "step",
                         "start_ns",   "end_ns",    "dur_ns", "connection_id", "source_row"};
    if (cann_rows > 0)
        for (const char* column : common) load.out(column);
    load.pad(rows);
    cann.append(common);
    rows += cann_rows;
    events.append(cann_events);
    load.pad(rows);
    load.set_rows(rows);
    fill_operator_tree(load, rows);
    if (nested) fill_thread_tree(load, events, load.out("thread_parent_id"), load.out("thread_depth"));
}

void load_python_call(Load& load) {
    const DbTable* table = load.file.table("PYTORCH_API");
    if (table == nullptr) return load.set_rows(0);
    RowCopy rows(load, *table);
    HostKinds kinds(load, rows.scan());
    rows.thread(nullptr, "thread_id", {"globalTid"});
    rows.text("name", {"name"}, TextRule::kAsIs);
    rows.span({"startNs"}, {"endNs"});
    rows.source_row();
    Column* is_module = load.out("is_module");
    NameTest module(load, is_module_name);
    const int name = is_module != nullptr ? rows.scan().cell({"name"}) : kNoCell;
    std::optional<ThreadEvents> events;
    if (load.wants({"parent_id", "depth"})) events.emplace().ask(rows.scan());
    const uint64_t copied = rows.run([&](const DbRow& row, bool) {
        if (kinds.of(row) != HostKind::kTrace) return false;
        if (is_module != nullptr) is_module->add_int(module.of(row, name) ? 1 : 0);
        if (events) events->add(row);
        return true;
    });
    load.set_rows(copied);
    if (events) fill_thread_tree(load, *events, load.out("parent_id"), load.out("depth"));
}

namespace {

// By row of CONNECTION_IDS: its rowid.
std::vector<int64_t> connection_rowids(Load& load) {
    std::vector<int64_t> out;
    if (const DbTable* table = load.file.table("CONNECTION_IDS")) {
        DbScan scan(load.file, *table);
        const int rowid = scan.rowid();
        scan.run(load.context, [&](const DbRow& row) { out.push_back(row.integer(rowid)); });
    }
    return out;
}

}  // namespace

// A forward and a backward operator share a link, and no third row has it.
void load_fwd_bwd(Load& load) {
    const Operators& ops = load.operators();
    const Connections& connections = load.connections();
    std::vector<int64_t> links;
    std::vector<uint32_t> owners, rows;  // rows: of CONNECTION_IDS
    for (uint32_t op = 0; op < ops.start.size(); ++op)
        for (uint32_t row = connections.rows.find(ops.connection[op]); row != IdMap::kNone;
             row = connections.rows.next(row)) {
            links.push_back(connections.link[row]);
            owners.push_back(op);
            rows.push_back(row);
        }
    struct Pair {
        int64_t link;
        uint32_t forward, backward;
        uint32_t row;  // of CONNECTION_IDS, of the backward operator
    };
    std::vector<Pair> pairs;
    const IdMap by_link(links);
    for (uint32_t place = 0; place < links.size(); ++place) {
        const uint32_t second = by_link.next(place);
        if (by_link.find(links[place]) != place || second == IdMap::kNone ||
            by_link.next(second) != IdMap::kNone)
            continue;
        uint32_t forward = place, backward = second;
        if (owners[forward] == owners[backward]) continue;
        if (ops.start[owners[backward]] < ops.start[owners[forward]]) std::swap(forward, backward);
        pairs.push_back({links[place], owners[forward], owners[backward], rows[backward]});
    }
    std::stable_sort(pairs.begin(), pairs.end(), [&](const Pair& a, const Pair& b) {
        return std::make_pair(ops.start[a.backward], a.link) < std::make_pair(ops.start[b.backward], b.link);
    });
    Column *forward_ns = load.out("forward_ns"), *backward_ns = load.out("backward_ns"),
           *process = load.out("backward_process_id"), *flow = load.out("flow_id"),
           *source = load.out("source_row");
    const std::vector<int64_t> rowids = source != nullptr ? connection_rowids(load) : std::vector<int64_t>();
    for (const Pair& pair : pairs) {
        if (forward_ns != nullptr) forward_ns->add_int(ops.start[pair.forward]);
        if (backward_ns != nullptr) backward_ns->add_int(ops.start[pair.backward]);
        if (process != nullptr) process->add_int(ops.process[pair.backward]);
        if (flow != nullptr) flow->add_int(pair.link);
        if (source != nullptr) source->add_int(pair.row < rowids.size() ? rowids[pair.row] : kNullInt);
    }
    load.set_rows(pairs.size());
}

}  // namespace profana
