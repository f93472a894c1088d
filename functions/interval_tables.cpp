// Sets of intervals as rows: their intervals, their gaps, the classes of their overlap.
#include <array>
#include <limits>

#include "functions/interval_argument.h"
#include "functions/table_function.h"

namespace profana {

namespace {

// Rows of integers that are known when the call is made, `width` to a row.
class IntegerRows : public FunctionRows {
  public:
    explicit IntegerRows(size_t width) : width_(width) {}
    void add(std::initializer_list<int64_t> row) { values_.insert(values_.end(), row); }
    bool next() override {
        at_ = started_ ? at_ + width_ : 0;
        started_ = true;
        return at_ < values_.size();
    }
    void column(sqlite3_context* context, int index) const override {
        sqlite3_result_int64(context, values_[at_ + static_cast<size_t>(index)]);
    }

  private:
    size_t width_;
    std::vector<int64_t> values_;
    size_t at_ = 0;
    bool started_ = false;
};

using Rows = std::unique_ptr<FunctionRows>;

// A length as INTEGER; it may need 64 bits without a sign.
int64_t signed_length(const char* function, uint64_t length) {
    if (length > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        throw Error(std::string(function) + ": the length " + std::to_string(length) +
                    " is larger than a 64-bit INTEGER");
    }
    return static_cast<int64_t>(length);
}

bool any_null(FunctionArguments arguments) {
    for (sqlite3_value* value : arguments) {
        if (value != nullptr && is_null(value)) return true;
    }
    return false;
}

Rows each(Connection&, FunctionArguments arguments) {
    auto rows = std::make_unique<IntegerRows>(2);
    if (any_null(arguments)) return rows;
    for (const Interval& interval : set_argument({"interval_each", "set", arguments[0]})) {
        rows->add({interval.start, interval.end});
    }
    return rows;
}

Rows gaps(Connection&, FunctionArguments arguments) {
    auto rows = std::make_unique<IntegerRows>(3);
    if (any_null(arguments)) return rows;
    const IntervalSet set = set_argument({"interval_gaps", "set", arguments[0]});
    const int64_t least =
        arguments[1] == nullptr ? 1 : integer_argument({"interval_gaps", "min", arguments[1]});
    for (size_t i = 1; i < set.size(); ++i) {
        const Interval gap{set[i - 1].end, set[i].start};
        if (least > 0 && length(gap) < static_cast<uint64_t>(least)) continue;
        rows->add({gap.start, gap.end, signed_length("interval_gaps", length(gap))});
    }
    return rows;
}

Rows classes(Connection&, FunctionArguments arguments) {
    auto rows = std::make_unique<IntegerRows>(2);
    if (any_null(arguments)) return rows;
    std::vector<IntervalSet> sets;
    for (size_t i = 0; i < arguments.size() && arguments[i] != nullptr; ++i) {
        const std::string name = std::to_string(i + 1);
        sets.push_back(set_argument({"interval_classes", name.c_str(), arguments[i]}));
    }
    for (const OverlapClass& overlap : overlap_classes(sets)) {
        rows->add({static_cast<int64_t>(overlap.mask), signed_length("interval_classes", overlap.length)});
    }
    return rows;
}

// Pairs of intervals that overlap. Both sets are disjoint, so that one walk over both meets them all.
Rows join(Connection&, FunctionArguments arguments) {
    auto rows = std::make_unique<IntegerRows>(6);
    if (any_null(arguments)) return rows;
    const IntervalSet a = set_argument({"interval_join", "a", arguments[0]});
    const IntervalSet b = set_argument({"interval_join", "b", arguments[1]});
    for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
        const int64_t start = std::max(x->start, y->start), end = std::min(x->end, y->end);
        if (start < end) rows->add({start, end, x->start, x->end, y->start, y->end});
        if (x->end < y->end) {
            ++x;
        } else {
            ++y;
        }
    }
    return rows;
}

constexpr int kMostClasses = 16;

std::vector<FunctionColumn> class_arguments() {
    static const std::array<const char*, kMostClasses> names{"a", "b", "c", "d", "e", "f", "g", "h",
                                                             "i", "j", "k", "l", "m", "n", "o", "p"};
    std::vector<FunctionColumn> arguments;
    for (const char* name : names) arguments.push_back({name, "BLOB", "a set of intervals"});
    return arguments;
}

const std::vector<TableFunctionSpec> kTables{
    {"interval_each",
     "The intervals of a set, by rising start. No rows for NULL.",
     {{"start", "INTEGER", "first instant of the interval"},
      {"end", "INTEGER", "first instant behind the interval"}},
     {{"set", "BLOB", "a set of intervals"}},
     1,
     0,
     1000,
     each},
    {"interval_gaps",
     "The gaps between the intervals of a set, by rising start. No rows for NULL.",
     {{"start", "INTEGER", "end of the interval before the gap"},
      {"end", "INTEGER", "start of the interval behind the gap"},
      {"length", "INTEGER", "end - start"}},
     {{"set", "BLOB", "a set of intervals"},
      {"min", "INTEGER", "gaps shorter than this are left out; default 1"}},
     1,
     0,
     1000,
     gaps},
    {"interval_classes",
     "How long which of several sets hold together: one row for each combination that occurs. Time in no set "
     "is in "
     "no row; pass the window as one more set to see it. At most 16 sets. No rows if a set is NULL.",
     {{"mask", "INTEGER",
       "sum of 1 for the first set, 2 for the second, 4 for the third ... of those that hold"},
      {"length", "INTEGER", "length of the time in which exactly these hold"}},
     class_arguments(),
     1,
     0,
     8,
     classes},
    {"interval_join",
     "The overlaps of the intervals of two sets, by rising start. No rows if a set is NULL.",
     {{"start", "INTEGER", "start of the overlap"},
      {"end", "INTEGER", "end of the overlap"},
      {"a_start", "INTEGER", "the interval of a"},
      {"a_end", "INTEGER", "the interval of a"},
      {"b_start", "INTEGER", "the interval of b"},
      {"b_end", "INTEGER", "the interval of b"}},
     {{"a", "BLOB", "a set of intervals"}, {"b", "BLOB", "a set of intervals"}},
     2,
     0,
     1000,
     join},
};

}  // namespace

std::span<const TableFunctionSpec> interval_tables() {
    return kTables;
}

}  // namespace profana
