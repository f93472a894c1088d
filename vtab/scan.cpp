#include "vtab/scan.h"

#include <algorithm>
#include <utility>

#include "ext/connection.h"
#include "vtab/load_parts.h"
#include "vtab/operand.h"
#include "vtab/outer_joins.h"

namespace profana {
namespace {

constexpr int kProfileColumn = 0, kIdColumn = 2;  // of tables over profiles

// While parts are chosen the scan that asks does not count as open: they may look at files anew.
class NotCounted {
  public:
    explicit NotCounted(Connection& connection) : connection_(connection) { --connection_.scans; }
    ~NotCounted() { ++connection_.scans; }
    NotCounted(const NotCounted&) = delete;
    NotCounted& operator=(const NotCounted&) = delete;

  private:
    Connection& connection_;
};

// See Scan::id_lookup_.
int id_lookup(const Plan& plan) {
    const auto is = [&](int term, int column) {
        const PlanTerm& asked = plan.terms[static_cast<size_t>(term)];
        return asked.column == column && asked.op == Op::kEqual;
    };
    if (plan.terms.size() != 2 || !plan.order.empty()) return -1;
    for (const int place : {0, 1})
        if (is(place, kProfileColumn) && is(1 - place, kIdColumn)) return place;
    return -1;
}

}  // namespace

Scan::Scan(Connection& connection, TableProvider& provider, const TableSpec& spec,
           std::shared_ptr<ScanCommon> common)
    : connection_(connection), provider_(provider), spec_(spec), common_(std::move(common)) {
    connection_.pinned.insert(common_);
    ++connection_.cursors;
    if (connection_.scans++ == 0) ++connection_.scan_runs;
}

// SQLite closes the cursors of subqueries and of OR branches while the statement goes on, and may still hold
// texts of their tables.
Scan::~Scan() {
    --connection_.scans;
    if (--connection_.cursors == 0) connection_.pinned.clear();
}

// ---- xFilter ---------------------------------------------------------------------------------------------

void Scan::filter(const char* plan_text, sqlite3_value** arguments) {
    current_ = nullptr;
    if (!context_) context_.emplace(connection_.load_context());
    connection_.progress();  // forgets an interrupt that has been dealt with
    choose_plan(plan_text);
    if (id_lookup_ >= 0 && look_up_id(arguments)) return;
    choose_parts(arguments);
    live_.clear();
    for (const uint32_t part : chosen_->directory.find(part_terms_, arguments))
        if (scan_of(part).may_pass(*plan_, arguments)) live_.push_back(scans_[part].get());
    load_parts();
    for (PartScan* scan : live_) scan->start(*plan_, arguments, *context_);
    begin();
}

void Scan::choose_plan(const char* text) {
    for (const KnownPlan& known : plans_)
        if (known.text == text) {
            plan_ = known.plan.get();
            id_lookup_ = known.id_lookup;
            part_terms_ = known.part_terms;
            return;
        }
    plans_.push_back({text, std::make_unique<Plan>(Plan::parse(text)), -1, {}});
    Plan& plan = *plans_.back().plan;
    const auto test = [](const PlanTerm& term) { return is_test(term.op); };
    if (std::any_of(plan.terms.begin(), plan.terms.end(), test) && outer_join_may_run(connection_.db()))
        for (PlanTerm& term : plan.terms)
            if (test(term)) term.op = Op::kNothing;
    plan_ = &plan;
    id_lookup_ = plans_.back().id_lookup = spec_.over_profiles ? id_lookup(plan) : -1;
    part_terms_ = plans_.back().part_terms = PartDirectory::terms(spec_, plan);
}

// Finds one row where it is known already which parts there are, and they are loaded. false: to be done at
// length.
bool Scan::look_up_id(sqlite3_value** arguments) {
    sqlite3_value *alias = arguments[id_lookup_], *id = arguments[1 - id_lookup_];
    if (chosen_ == nullptr || sqlite3_value_type(alias) != SQLITE_TEXT ||
        sqlite3_value_type(id) != SQLITE_INTEGER)
        return false;
    const auto part = chosen_->directory.part_of(text_of(alias), sqlite3_value_int64(id));
    if (!part || loaded_for_[*part] != plan_ || !scans_[*part]->find(sqlite3_value_int64(id))) return false;
    merging_ = skipping_ = false;
    live_.assign(1, scans_[*part].get());
    live_at_ = 0;
    current_ = live_[0];
    return true;
}

// What the caller asks of the table itself, as the texts of its arguments. In place: a join asks for every
// row.
void Scan::read_request(sqlite3_value** arguments) {
    asked_.arguments.resize(spec_.arguments.size());
    asked_.given.assign(spec_.arguments.size(), false);
    for (std::string& text : asked_.arguments) text.clear();
    for (size_t i = 0; i < plan_->terms.size(); ++i) {
        const int argument = plan_->terms[i].column - static_cast<int>(spec_.columns.size());
        if (argument < 0 || sqlite3_value_type(arguments[i]) == SQLITE_NULL) continue;
        asked_.arguments[static_cast<size_t>(argument)] = text_of(arguments[i]);
        asked_.given[static_cast<size_t>(argument)] = true;
    }
}

void Scan::check_request() const {
    for (size_t a = 0; a < asked_.arguments.size(); ++a) {
        const ColumnSpec& argument = spec_.arguments[a];
        if (!asked_.given[a] && a < static_cast<size_t>(spec_.required_arguments))
            throw Error(std::string("profana: ") + spec_.name + " needs its argument " + argument.name +
                        " (" + argument.doc + "); write FROM " + spec_.name + "(...) or WHERE " +
                        argument.name + " = ...");
        if (asked_.arguments[a].find('\0') != std::string::npos)
            throw Error(std::string("profana: ") + spec_.name + ": its argument " + argument.name +
                        " has a NUL in it: '" + excerpt(asked_.arguments[a]) + "'");
    }
}

void Scan::choose_parts(sqlite3_value** arguments) {
    if (chosen_ != nullptr && spec_.arguments.empty()) return;
    read_request(arguments);
    if (chosen_ != nullptr && chosen_->request == asked_) return;
    check_request();
    std::shared_ptr<ChosenParts> parts = parts_asked_for();
    connection_.pinned.insert(parts);
    scans_.clear();
    chosen_ = std::move(parts);
    scans_.resize(chosen_->parts.size());
    loaded_for_.assign(chosen_->parts.size(), nullptr);
}

// A correlated subquery opens a cursor for every row: what was chosen for the last one is good for the next.
std::shared_ptr<ChosenParts> Scan::parts_asked_for() {
    std::shared_ptr<ChosenParts>& last = common_->chosen;
    if (last != nullptr && still_holds(*last)) return last;
    const NotCounted before_first_row(connection_);
    auto chosen = std::make_shared<ChosenParts>(spec_, provider_.parts(connection_, asked_));
    chosen->request = asked_;
    chosen->settings_revision = connection_.settings().revision();
    chosen->scan_run = connection_.scan_runs;
    chosen->profiles = connection_.profiles();
    chosen->chosen_at = std::chrono::steady_clock::now();
    if (spec_.reads_files || spec_.over_profiles) last = chosen;
    return chosen;
}

// While a statement runs a look at its files is good for a millisecond. Not for the whole run: a host that
// leaves a statement unfinished would never see a file change. Profiles stay as they are while other cursors
// are open, once the first of them has asked.
bool Scan::still_holds(const ChosenParts& chosen) const {
    constexpr std::chrono::milliseconds kGoodFor{1};
    if (chosen.settings_revision != connection_.settings().revision()) return false;
    if (spec_.over_profiles)
        return connection_.scans > 1 && chosen.scan_run == connection_.scan_runs &&
               chosen.profiles == connection_.profiles();
    return !chosen.parts.empty() && std::chrono::steady_clock::now() - chosen.chosen_at < kGoodFor &&
           chosen.request == asked_;
}

PartScan& Scan::scan_of(uint32_t part) {
    if (scans_[part] == nullptr)
        scans_[part] = std::make_unique<PartScan>(spec_, chosen_->parts[part], part, common_->texts);
    return *scans_[part];
}

void Scan::load_parts() {
    std::vector<LoadTask> tasks;
    std::vector<PartScan*> fresh;
    for (PartScan* scan : live_) {
        const Plan*& loaded_for = loaded_for_[scan->ordinal()];
        if (loaded_for == plan_) continue;
        tasks.push_back({&scan->table(), scan->needed(*plan_)});
        fresh.push_back(scan);
        loaded_for = plan_;
    }
    if (tasks.empty()) return;
    if (spec_.over_profiles)
        load_side_by_side(tasks, provider_.read_ahead(connection_, tasks), *context_);
    else
        load_one_by_one(tasks, *context_);
    for (PartScan* scan : fresh) scan->resolve();
}

// ---- rows ------------------------------------------------------------------------------------------------

// Stands on the first row.
void Scan::begin() {
    merging_ = !plan_->order.empty() && live_.size() > 1;
    skipping_ = plan_->distinct;
    last_.clear();
    live_at_ = 0;
    if (merging_) {
        std::erase_if(live_, [this](PartScan* scan) { return !scan->next(*context_); });
        const auto later = [this](const PartScan* a, const PartScan* b) { return comes_later(a, b); };
        std::make_heap(live_.begin(), live_.end(), later);
        current_ = live_.empty() ? nullptr : live_.front();
    } else {
        first_of_live();
    }
    if (skipping_ && current_ != nullptr) is_repeated();
}

// The heap's order: the row that comes first stands at the top.
bool Scan::comes_later(const PartScan* a, const PartScan* b) const {
    for (const OrderTerm& term : plan_->order) {
        const int order = compare(a->cell(term.column), b->cell(term.column));
        if (order != 0) return term.descending ? order < 0 : order > 0;
    }
    return a->row_id() > b->row_id();
}

void Scan::first_of_live() {
    for (; live_at_ < live_.size(); ++live_at_) {
        current_ = live_[live_at_];
        if (current_->next(*context_)) return;
    }
    current_ = nullptr;
}

// The current part has gone one row on, if it has more.
void Scan::advance(bool more) {
    const auto later = [this](const PartScan* a, const PartScan* b) { return comes_later(a, b); };
    while (true) {
        if (merging_) {
            std::pop_heap(live_.begin(), live_.end(),
                          later);  // takes out the top, which no longer belongs there
            if (more)
                std::push_heap(live_.begin(), live_.end(), later);
            else
                live_.pop_back();
            current_ = live_.empty() ? nullptr : live_.front();
        } else if (!more) {
            ++live_at_;
            first_of_live();
        }
        if (!skipping_ || current_ == nullptr || !is_repeated()) return;
        more = current_->next(*context_);
    }
}

// Whether the row equals the one before in the columns of the order; remembers it if not.
bool Scan::is_repeated() {
    bool same = !last_.empty();
    for (size_t i = 0; same && i < last_.size(); ++i)
        same = compare(current_->cell(plan_->order[i].column), last_[i]) == 0;
    if (same) return true;
    last_.clear();
    for (const OrderTerm& term : plan_->order) last_.push_back(current_->cell(term.column));
    return false;
}

// Rows that are equal in the distinct columns may differ in their rowids. SQLite 3.40 does not tell the
// planner that the query uses them; but it asks for them at the first row where they matter, so nothing is
// skipped before.
int64_t Scan::row_id() {
    skipping_ = false;
    return current_->row_id();
}

void Scan::column(sqlite3_context* context, int column) {
    const size_t columns = spec_.columns.size();
    if (static_cast<size_t>(column) < columns) return current_->result(context, column, *context_);
    const size_t argument = static_cast<size_t>(column) - columns;
    if (!chosen_->request.given[argument]) return;
    const std::string& text = chosen_->request.arguments[argument];
    sqlite3_result_text(context, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

}  // namespace profana
