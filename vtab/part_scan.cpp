#include "vtab/part_scan.h"

#include <algorithm>
#include <limits>

#include "ext/core/numeric_texts.h"

namespace profana {
namespace {

// A search that leaves this few rows needs no test beside it, but for what SQLite does not look at again.
constexpr size_t kFew = 64;

bool is_bound(Op op) {
    return op == Op::kAbove || op == Op::kNotBelow || op == Op::kBelow || op == Op::kNotAbove;
}

Bound bound_of(Op op) {
    switch (op) {
        case Op::kAbove:
            return Bound::kAbove;
        case Op::kNotBelow:
            return Bound::kNotBelow;
        case Op::kBelow:
            return Bound::kBelow;
        default:
            return Bound::kNotAbove;
    }
}

// Calls f with the operand, or with each value of the list that it is.
template <class F>
void each_operand(Op op, sqlite3_value* value, F f) {
    if (op != Op::kIn) {
        f(Operand(value));
        return;
    }
    sqlite3_value* item = nullptr;
    int code = sqlite3_vtab_in_first(value, &item);
    for (; code == SQLITE_OK && item != nullptr; code = sqlite3_vtab_in_next(value, &item)) f(Operand(item));
    if (code == SQLITE_NOMEM) throw std::bad_alloc();
    if (code != SQLITE_OK && code != SQLITE_DONE) throw Error("profana: the list of an IN cannot be read");
}

bool text_passes(Op op, const std::string& pattern, std::string_view text, const char* c_str) {
    double unused = 0;
    const auto is_ascii = [](std::string_view s) {
        return std::all_of(s.begin(), s.end(), [](char c) { return (c & 0x80) == 0; });
    };
    const int order = text.compare(pattern);
    switch (op) {
        case Op::kLike:  // a host may have given LIKE a wider notion of case than ASCII's
            return !is_ascii(text) || sqlite3_strlike(pattern.c_str(), c_str, 0) == 0;
        case Op::kGlob:
            return sqlite3_strglob(pattern.c_str(), c_str) == 0;
        case Op::kAbove:
            return order > 0 || looks_numeric(text, &unused);  // SQL may compare it as a number
        case Op::kNotBelow:
            return order >= 0 || looks_numeric(text, &unused);
        case Op::kBelow:
            return order < 0 || looks_numeric(text, &unused);
        case Op::kNotAbove:
            return order <= 0 || looks_numeric(text, &unused);
        default:
            return true;
    }
}

void drop_repeated(std::vector<Index::Range>& ranges) {
    if (ranges.size() < 2) return;
    const auto before = [](Index::Range a, Index::Range b) { return a.first < b.first; };
    const auto same = [](Index::Range a, Index::Range b) { return a.first == b.first; };
    std::sort(ranges.begin(), ranges.end(), before);
    ranges.erase(std::unique(ranges.begin(), ranges.end(), same), ranges.end());
}

}  // namespace

PartScan::PartScan(const TableSpec& spec, const Part& part, size_t ordinal, Dictionary& texts)
    : spec_(spec),
      part_(part),
      texts_(texts),
      row_id_base_((static_cast<int64_t>(ordinal) << 32) + 1),
      access_(spec.columns.size()) {
    for (size_t c = 0; c < access_.size(); ++c)
        if (part.columns[c] == Part::kConstant && part.constants[c].is_text)
            access_[c].code = texts_.intern(part.constants[c].text);
}

// ---- before loading --------------------------------------------------------------------------------------

bool PartScan::may_pass(const Plan& plan, sqlite3_value** arguments) const {
    const int columns = static_cast<int>(spec_.columns.size());
    for (size_t i = 0; i < plan.terms.size(); ++i) {
        const PlanTerm& term = plan.terms[i];
        if (term.op == Op::kNothing || term.column >= columns || place(term.column) != Part::kConstant)
            continue;
        const Part::Constant& constant = part_.constants[static_cast<size_t>(term.column)];
        bool passes = false;
        each_operand(term.op, arguments[i], [&](const Operand& operand) {
            passes = passes || constant_may_pass(constant, term.op, operand);
        });
        if (!passes) return false;
    }
    return true;
}

ColumnSet PartScan::needed(const Plan& plan) const {
    const int columns = static_cast<int>(spec_.columns.size());
    ColumnSet needed;
    const auto need = [&](int column) {
        if (column >= 0 && column < columns && place(column) >= 0) needed.add(place(column));
    };
    for (int column = 0; column < columns; ++column)
        if (plan.uses(column)) need(column);
    for (const PlanTerm& term : plan.terms)
        if (term.op != Op::kNothing) need(term.column);
    for (const OrderTerm& term : plan.order) need(term.column);
    return needed;
}

void PartScan::resolve() {
    for (size_t c = 0; c < access_.size(); ++c) {
        Access& access = access_[c];
        const int at = part_.columns[c];
        if (at == Part::kConstant) {
            access.kind = part_.constants[c].null ? Access::kNull : Access::kConstant;
        } else if (at == Part::kRowId) {
            access.kind = Access::kRowId;
        } else if (part_.table->loaded(at)) {
            access.kind = Access::kNull;
            if (part_.table->absent(at)) continue;
            access.column = &part_.table->column(at);
            switch (access.column->type()) {
                case ColumnType::kInt:
                    access.kind = Access::kInt;
                    break;
                case ColumnType::kReal:
                    access.kind = Access::kReal;
                    break;
                case ColumnType::kText:
                    access.kind = Access::kText;
                    break;
                case ColumnType::kAny:
                    access.kind = Access::kAny;
                    break;
                case ColumnType::kLong:
                    access.kind = Access::kLong;
                    break;
            }
        }
    }
}

bool PartScan::find(int64_t id) {
    const uint64_t row = static_cast<uint64_t>(id) - static_cast<uint64_t>(part_.id_base);
    if (row >= part_.table->rows()) return false;
    tests_.clear();
    stream_interval(static_cast<Row>(row), static_cast<Row>(row) + 1, false);
    at_ = 0;
    return true;
}

// ---- searching -------------------------------------------------------------------------------------------

void PartScan::start(const Plan& plan, sqlite3_value** arguments, LoadContext& context) {
    first_ = 0;
    last_ = part_.table->rows();
    tests_.clear();
    bounds_.clear();
    if (&plan != plan_) {
        codes_.assign(plan.terms.size(), {});
        guesses_.assign(plan.terms.size(), kNullCode);
    }
    plan_ = &plan;
    best_.index = nullptr;
    best_.column = PlanTerm::kRowId;
    best_.rows = std::numeric_limits<size_t>::max();
    has_list_ = false;
    order_.reset();
    for (const bool whole : {true, false})
        for (size_t i = 0; i < plan.terms.size() && first_ < last_; ++i)
            if (equals_whole_number(spec_, plan.terms[i]) == whole && (whole || !leaves_few()))
                add_term(plan.terms[i], i, arguments[i], context);
    for (const Bounds& bounds : bounds_)
        if (first_ < last_ && !leaves_few()) search_bounds(bounds, context);
    if (!takes_search()) test_instead_of_search();
    arrange(plan, context);
}

void PartScan::add_term(const PlanTerm& term, size_t number, sqlite3_value* value, LoadContext& context) {
    if (term.op == Op::kNothing || term.column >= static_cast<int>(spec_.columns.size())) return;
    if (term.column == PlanTerm::kRowId) return add_row_numbers(term.op, value, row_id_base_);
    const int column = place(term.column);
    if (column == Part::kConstant) return;
    if (column == Part::kRowId) return add_row_numbers(term.op, value, part_.id_base);
    if (part_.table->absent(column)) {
        Part::Constant null;
        if (term.op == Op::kIn || !constant_may_pass(null, term.op, value)) nothing();
        return;
    }
    switch (term.op) {
        case Op::kEqual:
        case Op::kIn:
        case Op::kIs:
            return add_values(term.op, number, column, value, context);
        case Op::kIsNull:
            return add_null(column, context);
        case Op::kNotNull:
            tests_.push_back(RowTest::not_null(part_.table->column(column)));
            return;
        default:
            if (part_.table->type(column) == ColumnType::kText)
                add_texts(term.op, number, column, value, context);
            else
                add_bound(term.op, column, value);
    }
}

// Rowids and ids count from first_id.
void PartScan::add_row_numbers(Op op, sqlite3_value* value, int64_t first_id) {
    const auto row_of = [&](int64_t id, Row* row) {
        if (id < first_id ||
            static_cast<uint64_t>(id) - static_cast<uint64_t>(first_id) >= part_.table->rows())
            return false;
        *row = static_cast<Row>(static_cast<uint64_t>(id) - static_cast<uint64_t>(first_id));
        return true;
    };
    if (op == Op::kNotNull) return;
    if (op == Op::kIsNull) return nothing();
    if (is_bound(op)) {
        int64_t low = kNullInt, high = std::numeric_limits<int64_t>::max();
        if (!narrow(bound_of(op), Operand(value), &low, &high)) return;
        const int64_t last_id = first_id + part_.table->rows() - 1;
        low = std::max(low, first_id), high = std::min(high, last_id);
        if (low > high) return nothing();
        first_ = std::max(first_, static_cast<Row>(low - first_id));
        last_ = std::min(last_, static_cast<Row>(high - first_id) + 1);
        if (first_ >= last_) nothing();
        return;
    }
    set_.clear();
    each_operand(op, value, [&](const Operand& operand) { admit_integer(operand, set_); });
    PageVector<Row> rows;
    Row row = 0;
    if (op != Op::kIn) {
        if (set_.integers.empty() || !row_of(set_.integers[0], &row) || row < first_ || row >= last_)
            return nothing();
        first_ = row, last_ = row + 1;
        return;
    }
    for (const int64_t id : set_.integers)
        if (row_of(id, &row)) rows.push_back(row);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    if (has_list_ && list_.size() <= rows.size()) return;
    list_ = std::move(rows);
    has_list_ = true;
}

void PartScan::add_values(Op op, size_t number, int column, sqlite3_value* value, LoadContext& context) {
    const Table& here = *part_.table;
    set_.clear();
    bool is_null = false;
    each_operand(op, value, [&](const Operand& operand) {
        is_null = op == Op::kIs && operand.null();
        admit(operand, here, column, guesses_[number], context, set_);
    });
    // Texts are mostly asked for in the order in which they first appear.
    if (set_.codes.size() == 1) guesses_[number] = set_.codes[0] + 1;
    if (is_null) return add_null(column, context);
    if (set_.empty()) return nothing();
    if (set_.all) return;
    set_.sort();
    const Column& values = here.column(column);
    const bool one_integer = values.type() == ColumnType::kInt && set_.integers.size() == 1;
    const Index* index = here.index_for_search(column, context);
    if (index != nullptr) {
        ranges_.clear();
        const auto add = [&](Index::Range range) {
            if (range.size() > 0) ranges_.push_back(range);
        };
        for (const int64_t integer : set_.integers) add(index->equal(integer));
        for (const double real : set_.reals) add(index->equal(real));
        for (const uint32_t code : set_.codes) add(index->code(code));
        for (const uint64_t hash : set_.hashes) add(index->hashed(hash));
        drop_repeated(ranges_);  // an integer and the double of the same value lead to the same rows
        const bool taken = search(*index, ranges_.size() <= 1);
        if (taken && one_integer) {
            best_.column = column;
            best_.integer = set_.integers[0];
            return;
        }
    }
    if ((index == nullptr || best_.rows > kFew || one_integer) && RowTest::can_test(values, set_))
        tests_.push_back(RowTest::in_set(values, set_));
}

void PartScan::add_null(int column, LoadContext& context) {
    if (const Index* index = part_.table->index_for_search(column, context)) {
        ranges_.assign(1, index->nulls());
        search(*index, true);
    }
    tests_.push_back(RowTest::null(part_.table->column(column)));
}

void PartScan::add_bound(Op op, int column, sqlite3_value* value) {
    const auto same = [column](const Bounds& bounds) { return bounds.column == column; };
    auto bounds = std::find_if(bounds_.begin(), bounds_.end(), same);
    if (bounds == bounds_.end()) {
        bounds_.push_back({column, kNullInt + 1, std::numeric_limits<int64_t>::max(),
                           -std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::infinity()});
        bounds = bounds_.end() - 1;
    }
    const Operand operand(value);
    if (part_.table->type(column) == ColumnType::kInt)
        narrow(bound_of(op), operand, &bounds->low, &bounds->high);
    else
        narrow(bound_of(op), operand, &bounds->real_low, &bounds->real_high);
}

void PartScan::search_bounds(const Bounds& bounds, LoadContext& context) {
    const Table& here = *part_.table;
    const Column& values = here.column(bounds.column);
    const bool integers = values.type() == ColumnType::kInt;
    if (integers ? bounds.low > bounds.high : bounds.real_low > bounds.real_high) return nothing();
    size_t found = std::numeric_limits<size_t>::max();
    if (const Index* index = here.index_for_search(bounds.column, context)) {
        const size_t first =
            integers ? index->first_not_below(bounds.low) : index->first_not_below(bounds.real_low);
        const size_t last = integers ? index->first_above(bounds.high) : index->first_above(bounds.real_high);
        found = last - first;
        ranges_.assign(1, {first, last});
        // Rows far apart in the table cost a few times what a pass over their neighbours does.
        if (index->order().empty() || found < here.rows() / 8) search(*index, index->order().empty());
    }
    if (found > kFew)
        tests_.push_back(integers ? RowTest::in_range(values, bounds.low, bounds.high)
                                  : RowTest::in_range(values, bounds.real_low, bounds.real_high));
}

// LIKE, GLOB and comparisons with a text: asked of each text once, not of each row.
void PartScan::add_texts(Op op, size_t number, int column, sqlite3_value* value, LoadContext& context) {
    if (sqlite3_value_type(value) != SQLITE_TEXT) return;
    const Operand operand(value);
    if (is_bound(op) && operand.number().is_number()) return;
    const std::string pattern(operand.given().text);
    if (op == Op::kLike &&
        std::any_of(pattern.begin(), pattern.end(), [](char c) { return (c & 0x80) != 0; }))
        return;
    const Column& values = part_.table->column(column);
    const Dictionary& dictionary = values.dictionary();
    Codes& codes = codes_[number];
    if (codes.wanted.empty() || codes.operand != pattern) {
        std::vector<uint8_t> wanted(dictionary.size(), 0);
        LoopPoll poll(context);
        for (uint32_t code = 1; code < dictionary.size(); ++code) {
            wanted[code] = text_passes(op, pattern, dictionary.text(code), dictionary.c_str(code));
            poll.tick();
        }
        codes = {pattern, std::move(wanted)};
    }
    if (const Index* index = part_.table->index_for_search(column, context)) {
        ranges_.clear();
        for (uint32_t code = 1; code < dictionary.size(); ++code)
            if (codes.wanted[code] != 0) ranges_.push_back(index->code(code));
        search(*index, ranges_.size() <= 1);
    }
    tests_.push_back(RowTest::has_code(values, codes.wanted));
}

// Takes ranges_ if they hold fewer rows than what was found before.
bool PartScan::search(const Index& index, bool in_row_order) {
    size_t rows = 0;
    for (const Index::Range& range : ranges_) rows += range.size();
    if (rows == 0) nothing();
    if (rows == 0 || rows >= best_.rows) return false;
    test_instead_of_search();
    best_.rows = rows;
    best_.index = &index;
    best_.in_row_order = in_row_order;
    best_.column = PlanTerm::kRowId;
    std::swap(best_.ranges, ranges_);
    return true;
}

bool PartScan::leaves_few() const {
    return std::min<size_t>(last_ - first_, best_.rows) <= kFew;
}

bool PartScan::takes_list() const {
    return has_list_ && list_.size() < std::min<size_t>(last_ - first_, best_.rows);
}

bool PartScan::takes_search() const {
    return best_.index != nullptr && best_.rows < last_ - first_ && !takes_list();
}

// What the search so far was for, where other rows than those that it found are looked at.
void PartScan::test_instead_of_search() {
    if (best_.column == PlanTerm::kRowId) return;
    tests_.push_back(RowTest::in_range(part_.table->column(best_.column), best_.integer, best_.integer));
}

// ---- order -----------------------------------------------------------------------------------------------

// The plan's order inside this part: what is constant in it does not order anything.
std::vector<OrderTerm> PartScan::order_terms(const Plan& plan) const {
    std::vector<OrderTerm> terms;
    for (const OrderTerm& term : plan.order) {
        const int column = place(term.column);
        if (column == Part::kConstant || (column >= 0 && part_.table->absent(column))) continue;
        if (column == Part::kRowId) {
            terms.push_back({OrderTerm::kRowNumber, term.descending});
            break;  // no two rows have the same
        }
        terms.push_back({column, term.descending});
    }
    return terms;
}

// Streams the rows of the search that leaves the fewest. true: they come in row order.
bool PartScan::stream_fewest(LoadContext& context) {
    if (takes_list()) {
        stream_rows(list_.data(), list_.size(), false);
        return true;
    }
    if (!takes_search()) {
        stream_interval(first_, last_, false);
        return true;
    }
    const PageVector<Row>& order = best_.index->order();
    if (best_.ranges.size() == 1) {
        const Index::Range range = best_.ranges[0];
        if (order.empty())
            stream_interval(static_cast<Row>(range.first), static_cast<Row>(range.last), false);
        else
            stream_rows(order.data() + range.first, range.size(), false);
        return best_.in_row_order;
    }
    PageVector<Row> rows;
    rows.reserve(best_.rows);
    LoopPoll poll(context);
    for (const Index::Range& range : best_.ranges)
        for (size_t position = range.first; position < range.last; ++position) {
            rows.push_back(best_.index->row(position));
            poll.tick();
        }
    std::sort(rows.begin(), rows.end());
    stream_owned(std::move(rows), false);
    return true;
}

void PartScan::arrange(const Plan& plan, LoadContext& context) {
    const std::vector<OrderTerm> order = order_terms(plan);
    const bool everything =
        first_ == 0 && last_ == part_.table->rows() && !has_list_ && best_.index == nullptr;
    const auto stream_order = [&] {
        order_ = part_.table->order(order, context);
        if (order_->rows().empty())
            stream_interval(0, last_, false);
        else
            stream_rows(order_->rows().data(), order_->rows().size(), false);
    };
    const bool by_row = !order.empty() && order[0] == OrderTerm{OrderTerm::kRowNumber, false};
    if (!order.empty() && !by_row && everything && tests_.empty()) return stream_order();
    const bool in_row_order = stream_fewest(context);
    if (order.empty() || (by_row && in_row_order)) return;
    PageVector<Row> rows = collect(context);
    if (everything && rows.size() > last_ / 2) return stream_order();
    sort_by(*part_.table, order, rows, context);
    stream_owned(std::move(rows), true);
}

// ---- streaming -------------------------------------------------------------------------------------------

void PartScan::stream_interval(Row first, Row last, bool tested) {
    buffer_.clear();
    batch_ = nullptr;
    at_ = std::numeric_limits<size_t>::max();  // before the first
    if (tested || tests_.empty()) {
        base_ = first;
        batch_size_ = last - first;
        source_at_ = source_end_ = 0;
        return;
    }
    batch_size_ = 0;
    source_ = nullptr;
    source_at_ = first, source_end_ = last;
}

void PartScan::stream_rows(const Row* rows, size_t n, bool tested) {
    buffer_.clear();
    at_ = std::numeric_limits<size_t>::max();
    if (tested || tests_.empty()) {
        batch_ = rows;
        batch_size_ = n;
        source_at_ = source_end_ = 0;
        return;
    }
    batch_size_ = 0;
    source_ = rows;
    source_at_ = 0, source_end_ = n;
}

void PartScan::stream_owned(PageVector<Row> rows, bool tested) {
    owned_ = std::move(rows);
    stream_rows(owned_.data(), owned_.size(), tested);
}

PageVector<Row> PartScan::collect(LoadContext& context) {
    PageVector<Row> rows;
    LoopPoll poll(context);
    while (next(context)) {
        rows.push_back(row());
        poll.tick();
    }
    return rows;
}

// Tests rows until some pass. The first batches are small: a LIMIT or an EXISTS may want no more.
bool PartScan::refill(LoadContext& context) {
    constexpr size_t kBatch = 1024;
    LoopPoll poll(context);
    while (source_at_ < source_end_) {
        const size_t n =
            std::min(source_end_ - source_at_, std::clamp(buffer_.size() * 2, size_t{64}, kBatch));
        buffer_.resize(n);
        size_t kept = n, test = 0;
        if (source_ != nullptr) {
            std::copy_n(source_ + source_at_, n, buffer_.begin());
        } else {
            kept = tests_[test++].select(static_cast<Row>(source_at_), static_cast<Row>(source_at_ + n),
                                         buffer_.data());
        }
        for (; test < tests_.size() && kept > 0; ++test) kept = tests_[test].keep(buffer_.data(), kept);
        source_at_ += n;
        if (kept > 0) {
            batch_ = buffer_.data();
            batch_size_ = kept;
            at_ = 0;
            return true;
        }
        poll.tick();
    }
    at_ = batch_size_;
    return false;
}

// ---- values ----------------------------------------------------------------------------------------------

Cell PartScan::cell(int column) const {
    if (column == PlanTerm::kRowId) return Cell::of(row_id());
    const Access& access = access_[static_cast<size_t>(column)];
    switch (access.kind) {
        case Access::kUnknown:
        case Access::kNull:
            return {};
        case Access::kConstant:
            return constant_cell(part_.constants[static_cast<size_t>(column)]);
        case Access::kRowId:
            return Cell::of(part_.id_base + row());
        default:
            return cell_of(*access.column, row());
    }
}

namespace {

// Texts that outlive the statement, NUL-terminated. SQLite is spared a copy only when it finds the NUL by
// itself.
void result_text(sqlite3_context* context, const char* text, size_t length, bool has_nul) {
    sqlite3_result_text(context, text, has_nul ? static_cast<int>(length) : -1, SQLITE_STATIC);
}

void result_code(sqlite3_context* context, const Dictionary& dictionary, uint32_t code) {
    result_text(context, dictionary.c_str(code), dictionary.text(code).size(), dictionary.has_nul(code));
}

}  // namespace

void PartScan::result(sqlite3_context* context, int column, LoadContext& load) {
    const Access& access = access_[static_cast<size_t>(column)];
    switch (access.kind) {
        case Access::kInt: {
            if (comes_later()) access.column->prefetch_integer(batch_[at_ + kRowsAhead]);
            const int64_t value = access.column->integer(row());
            if (value != kNullInt) sqlite3_result_int64(context, value);
            return;
        }
        case Access::kText: {
            if (comes_later()) access.column->prefetch_code(batch_[at_ + kRowsAhead]);
            const uint32_t code = access.column->code(row());
            if (code != kNullCode) result_code(context, access.column->dictionary(), code);
            return;
        }
        case Access::kReal:
            sqlite3_result_double(context, access.column->real(row()));  // NaN becomes NULL
            return;
        case Access::kRowId:
            sqlite3_result_int64(context, part_.id_base + row());
            return;
        case Access::kNull:
            return;
        case Access::kConstant: {
            const Part::Constant& constant = part_.constants[static_cast<size_t>(column)];
            if (constant.is_text)
                result_code(context, texts_, access.code);
            else
                sqlite3_result_int64(context, constant.integer);
            return;
        }
        case Access::kAny: {
            const AnyValue& value = access.column->any(row());
            if (value.kind == AnyValue::kInteger) sqlite3_result_int64(context, value.integer);
            if (value.kind == AnyValue::kDouble) sqlite3_result_double(context, value.real);
            if (value.kind == AnyValue::kString)
                result_code(context, access.column->dictionary(), value.code);
            return;
        }
        case Access::kLong: {
            const LongRef& ref = access.column->long_ref(row());
            if (ref.kind == LongRef::kMemory) result_text(context, ref.text, ref.length, ref.has_nul);
            if (ref.kind == LongRef::kFile) {
                const std::string text = access.column->long_text(row());
                sqlite3_result_text(context, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
            }
            return;
        }
        case Access::kUnknown: {  // SQLite has not said that it wants this column
            ColumnSet missing;
            missing.add(part_.columns[static_cast<size_t>(column)]);
            part_.table->ensure(missing, load);
            resolve();
            return result(context, column, load);
        }
    }
}

}  // namespace profana
