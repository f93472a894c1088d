#include "vtab/plan.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "ext/connection.h"
#include "vtab/part_columns.h"

namespace profana {
namespace {

const ColumnSpec& column_spec(const TableSpec& spec, int column) {
    const auto c = static_cast<size_t>(column);
    return c < spec.columns.size() ? spec.columns[c] : spec.arguments[c - spec.columns.size()];
}

std::string column_name(const TableSpec& spec, int column) {
    return column == PlanTerm::kRowId ? "rowid" : column_spec(spec, column).name;
}

const char* op_text(Op op) {
    switch (op) {
        case Op::kEqual:
            return " = ?";
        case Op::kIn:
            return " IN (?)";
        case Op::kIs:
            return " IS ?";
        case Op::kIsNull:
            return " IS NULL";
        case Op::kNotNull:
            return " NOT NULL";
        case Op::kAbove:
            return " > ?";
        case Op::kNotBelow:
            return " >= ?";
        case Op::kBelow:
            return " < ?";
        case Op::kNotAbove:
            return " <= ?";
        case Op::kLike:
            return " LIKE ?";
        case Op::kGlob:
            return " GLOB ?";
        case Op::kNothing:
            break;
    }
    return "";
}

}  // namespace

// ---- idxStr ----------------------------------------------------------------------------------------------

std::string Plan::text(const TableSpec& spec) const {
    std::string machine = "[", people;
    for (const PlanTerm& term : terms) {
        machine += "t" + std::to_string(term.column) + static_cast<char>(term.op);
        people += (people.empty() ? " " : " AND ") + column_name(spec, term.column) + op_text(term.op);
    }
    for (size_t i = 0; i < order.size(); ++i) {
        machine += "o" + std::to_string(order[i].column) + (order[i].descending ? "-" : "+");
        people += (i > 0      ? ", "
                   : distinct ? " DISTINCT BY "
                              : " ORDER BY ") +
                  column_name(spec, order[i].column) + (order[i].descending ? " DESC" : "");
    }
    if (distinct) machine += "d";
    char digits[17];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, used, 16);
    machine += "u" + std::string(digits, end) + "]";
    return machine + people;
}

bool equals_whole_number(const TableSpec& spec, const PlanTerm& term) {
    if (term.op != Op::kEqual && term.op != Op::kIs) return false;
    if (term.column == PlanTerm::kRowId) return true;
    const auto column = static_cast<size_t>(term.column);
    return column < spec.columns.size() && spec.columns[column].type == ColumnType::kInt;
}

Plan Plan::parse(const char* text) {
    Plan plan;
    const char* end = std::strchr(text, ']');
    for (const char* at = text + 1; at < end;) {
        const char kind = *at++;
        if (kind == 'd') {
            plan.distinct = true;
        } else if (kind == 'u') {
            at = std::from_chars(at, end, plan.used, 16).ptr;
        } else {
            int column = 0;
            at = std::from_chars(at, end, column).ptr;
            if (kind == 't')
                plan.terms.push_back({column, static_cast<Op>(*at++)});
            else
                plan.order.push_back({column, *at++ == '-'});
        }
    }
    return plan;
}

// ---- estimates -------------------------------------------------------------------------------------------

namespace {

// How many rows a scan gives and what it costs, from what is loaded, else from guesses.
class Estimate {
  public:
    Estimate(std::vector<Part> parts, double guess) : parts_(std::move(parts)) {
        guess_ = parts_.empty() ? guess : guess / static_cast<double>(parts_.size());
        if (parts_.empty()) parts_.emplace_back();
    }

    // right: the operand, where it is a constant; else nullptr.
    void add(const PlanTerm& term, sqlite3_value* right) { terms_.push_back({term, right}); }

    void run(const Plan& plan) {
        // A value costs about one and a half times what a step of the scan does.
        const double per_row = (11.0 + 17.0 * std::popcount(plan.used)) / 20;
        for (const Part& part : parts_) {
            const double all = rows_of(part);
            double share = 1;
            bool searched = false;
            for (const auto& [term, right] : terms_) {
                share *= std::clamp(selectivity(part, all, term, right), 0.0, 1.0);
                searched = searched || can_search(term);
            }
            const double rows = all * share;
            rows_ += rows;
            cost_ += rows * per_row + 1;
            cost_ += searched ? std::log2(all + 2) : terms_.empty() ? 0 : all * 0.1;
        }
        if (!plan.order.empty()) cost_ += rows_ * 0.2;
    }

    double rows() const { return rows_; }
    double cost() const { return cost_; }

  private:
    double rows_of(const Part& part) const {
        return part.table && part.table->rows_known() ? static_cast<double>(part.table->rows()) : guess_;
    }

    static bool can_search(const PlanTerm& term) { return !is_test(term.op); }

    // The share of the part's rows that one constraint lets through.
    double selectivity(const Part& part, double rows, const PlanTerm& term, sqlite3_value* right) const {
        const int place = term.column == PlanTerm::kRowId ? Part::kRowId
                          : part.columns.empty()          ? 0
                                                          : part.columns[static_cast<size_t>(term.column)];
        if (place == Part::kConstant) {
            const Part::Constant& constant = part.constants[static_cast<size_t>(term.column)];
            if (term.op == Op::kIsNull || term.op == Op::kNotNull)
                return constant.null == (term.op == Op::kIsNull);
            if (right != nullptr && term.op != Op::kIn) return constant_may_pass(constant, term.op, right);
            return term.op == Op::kEqual || term.op == Op::kIs ? 1 / static_cast<double>(parts_.size()) : 1;
        }
        switch (term.op) {
            case Op::kEqual:
            case Op::kIs:
                return 1 / distinct(part, rows, place);
            case Op::kIn:
                return 25 / distinct(part, rows, place);
            case Op::kIsNull:
                return 0.05;
            case Op::kNotNull:
                return 0.95;
            case Op::kLike:
            case Op::kGlob:
                return 0.1;
            default:
                return 0.25;
        }
    }

    static double distinct(const Part& part, double rows, int place) {
        if (place == Part::kRowId) return rows + 1;
        if (!part.table || !part.table->loaded(place)) return rows / 10 + 1;
        return part.table->absent(place) ? 1e9 : part.table->distinct(place);
    }

    std::vector<Part> parts_;
    double guess_ = 0, rows_ = 0, cost_ = 0;
    std::vector<std::pair<PlanTerm, sqlite3_value*>> terms_;
};

// ---- xBestIndex ------------------------------------------------------------------------------------------

// BINARY is memcmp on the database's own encoding: UTF-16 orders texts otherwise than the store does.
bool texts_are_utf8(Connection& connection) {
    sqlite3_stmt* statement = nullptr;
    bool utf8 = false;
    if (sqlite3_prepare_v2(connection.db(), "PRAGMA encoding", -1, &statement, nullptr) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        utf8 =
            sqlite3_stricmp(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)), "UTF-8") == 0;
    sqlite3_finalize(statement);
    return utf8;
}

class Planner {
  public:
    Planner(Connection& connection, TableProvider& provider, const TableSpec& spec, sqlite3_index_info* info)
        : connection_(connection), provider_(provider), spec_(spec), info_(info) {}

    int run() {
        request_.arguments.resize(spec_.arguments.size());
        request_.given.resize(spec_.arguments.size());
        for (int i = 0; i < info_->nConstraint; ++i)
            if (!add_argument(i)) return SQLITE_CONSTRAINT;
        for (int i = 0; i < info_->nConstraint; ++i) add_constraint(i);
        plan_.used = used_columns();
        consume_order();
        estimate();
        provider_.planned(plan_);
        info_->idxNum = 0;
        info_->idxStr = sqlite3_mprintf("%s", plan_.text(spec_).c_str());
        info_->needToFreeIdxStr = 1;
        return info_->idxStr == nullptr ? SQLITE_NOMEM : SQLITE_OK;
    }

  private:
    int columns() const { return static_cast<int>(spec_.columns.size()); }

    int column_of(int constraint) const { return spec_column(spec_, info_->aConstraint[constraint].iColumn); }

    uint64_t used_columns() const {
        constexpr uint64_t kBeyond = uint64_t{1} << 63;
        const size_t arguments = spec_.arguments.size();
        uint64_t used = (info_->colUsed & ~kBeyond) >> arguments;
        if ((info_->colUsed & kBeyond) != 0) used |= ~uint64_t{0} << (63 - arguments);
        return used;
    }

    sqlite3_value* right_of(int i) const {
        sqlite3_value* value = nullptr;
        return sqlite3_vtab_rhs_value(info_, i, &value) == SQLITE_OK ? value : nullptr;
    }

    void use(int i, PlanTerm term, bool omit) {
        plan_.terms.push_back(term);
        info_->aConstraintUsage[i].argvIndex = static_cast<int>(plan_.terms.size());
        info_->aConstraintUsage[i].omit = omit;
    }

    // An argument of the call. false: it is given, but not in this order of the joined tables.
    bool add_argument(int i) {
        const auto& constraint = info_->aConstraint[i];
        const int column = column_of(i);
        if (column < columns() || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) return true;
        if (!constraint.usable) return false;
        use(i, {column, Op::kEqual}, true);
        sqlite3_value* right = right_of(i);
        if (right == nullptr || sqlite3_value_type(right) == SQLITE_NULL) return true;
        const auto argument = static_cast<size_t>(column - columns());
        const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(right));
        if (text == nullptr) throw std::bad_alloc();
        request_.arguments[argument] = text;
        request_.given[argument] = true;
        return true;
    }

    void add_constraint(int i) {
        const int column = column_of(i);
        if (info_->aConstraint[i].usable == 0 || column >= columns()) return;
        const bool list = sqlite3_vtab_in(info_, i, -1) != 0;
        Op op{};
        if (!takes(i, list, &op)) return;
        if (list) sqlite3_vtab_in(info_, i, 1);
        // A scan gives no other rows, so SQLite need not look again.
        use(i, {column, op}, equals_whole_number(spec_, {column, op}));
        searched_.push_back({plan_.terms.back(), list ? nullptr : right_of(i)});
    }

    bool takes(int i, bool list, Op* op) {
        const int column = column_of(i);
        const ColumnType type =
            column == PlanTerm::kRowId ? ColumnType::kInt : spec_.columns[static_cast<size_t>(column)].type;
        const bool number = type == ColumnType::kInt || type == ColumnType::kReal;
        switch (info_->aConstraint[i].op) {
            case SQLITE_INDEX_CONSTRAINT_ISNULL:
                *op = Op::kIsNull;
                return true;
            case SQLITE_INDEX_CONSTRAINT_ISNOTNULL:
                *op = Op::kNotNull;
                return true;
            case SQLITE_INDEX_CONSTRAINT_LIKE:
                *op = Op::kLike;
                return type == ColumnType::kText;
            case SQLITE_INDEX_CONSTRAINT_GLOB:
                *op = Op::kGlob;
                return type == ColumnType::kText;
            case SQLITE_INDEX_CONSTRAINT_EQ:
                *op = list ? Op::kIn : Op::kEqual;
                return is_binary(i);
            case SQLITE_INDEX_CONSTRAINT_IS:
                *op = Op::kIs;
                return is_binary(i);
            case SQLITE_INDEX_CONSTRAINT_GT:
                *op = Op::kAbove;
                break;
            case SQLITE_INDEX_CONSTRAINT_GE:
                *op = Op::kNotBelow;
                break;
            case SQLITE_INDEX_CONSTRAINT_LT:
                *op = Op::kBelow;
                break;
            case SQLITE_INDEX_CONSTRAINT_LE:
                *op = Op::kNotAbove;
                break;
            default:  // LIMIT and OFFSET among them: stopping early needs no help from us
                return false;
        }
        return is_binary(i) && (number || (type == ColumnType::kText && utf8()));
    }

    bool is_binary(int i) const { return sqlite3_stricmp(sqlite3_vtab_collation(info_, i), "BINARY") == 0; }

    bool utf8() {
        if (!utf8_known_) utf8_ = texts_are_utf8(connection_);
        utf8_known_ = true;
        return utf8_;
    }

    // ORDER BY, GROUP BY and DISTINCT over columns that rows can be sorted by.
    void consume_order() {
        constexpr int kMostTerms = 8;
        if (info_->nOrderBy == 0 || info_->nOrderBy > kMostTerms) return;
        std::vector<OrderTerm> order;
        for (int i = 0; i < info_->nOrderBy; ++i) {
            const auto& term = info_->aOrderBy[i];
            const int column = spec_column(spec_, term.iColumn);
            if (column >= columns()) return;
            if (column >= 0) {
                const ColumnType type = spec_.columns[static_cast<size_t>(column)].type;
                if (type == ColumnType::kLong) return;
                if ((type == ColumnType::kText || type == ColumnType::kAny) && !utf8()) return;
            }
            order.push_back({column, term.desc != 0});
        }
        plan_.order = std::move(order);
        plan_.distinct = sqlite3_vtab_distinct(info_) >= 2 && only_order_is_used();
        info_->orderByConsumed = 1;
    }

    // Whether all that the query knows of a row are the columns it wants to be distinct; see Scan::row_id.
    bool only_order_is_used() const {
        uint64_t order = 0;
        for (const OrderTerm& term : plan_.order) {
            if (term.column < 0 || term.column >= 63) return false;
            order |= uint64_t{1} << term.column;
        }
        return (plan_.used & ~order) == 0;
    }

    void estimate() {
        constexpr double kMissingArgument = 1e15;
        Estimate estimate(provider_.known_parts(connection_, request_), provider_.expected_rows(connection_));
        for (const auto& [term, right] : searched_) estimate.add(term, right);
        estimate.run(plan_);
        double cost = estimate.cost();
        for (size_t a = 0; a < static_cast<size_t>(spec_.required_arguments); ++a)
            if (!has_term(columns() + static_cast<int>(a))) cost = kMissingArgument;
        info_->estimatedCost = cost;
        info_->estimatedRows = static_cast<sqlite3_int64>(std::max(1.0, std::round(estimate.rows())));
        for (const PlanTerm& term : plan_.terms)
            if (term.column == PlanTerm::kRowId && term.op == Op::kEqual)
                info_->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
    }

    bool has_term(int column) const {
        return std::any_of(plan_.terms.begin(), plan_.terms.end(),
                           [column](const PlanTerm& term) { return term.column == column; });
    }

    Connection& connection_;
    TableProvider& provider_;
    const TableSpec& spec_;
    sqlite3_index_info* info_;
    Plan plan_;
    ScanRequest request_;
    std::vector<std::pair<PlanTerm, sqlite3_value*>> searched_;
    bool utf8_known_ = false, utf8_ = false;
};

}  // namespace

int make_plan(Connection& connection, TableProvider& provider, const TableSpec& spec,
              sqlite3_index_info* info) {
    return Planner(connection, provider, spec, info).run();
}

}  // namespace profana
