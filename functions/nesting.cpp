// Nesting as window functions: who encloses whom, in one pass over rows ordered by time, so that trees of
// operators, modules and ranges are plain SQL.
//
//   nest_parent(id, start_ns, end_ns) OVER (PARTITION BY profile ORDER BY start_ns, id ROWS UNBOUNDED
//   PRECEDING)
//
// Points (allocations, launches, markers) are rows of the same stream whose end is NULL: they get an answer
// and never enclose anything. Merge them in with UNION ALL and order them behind the events of equal time.
#include "ext/core/nesting.h"

#include <array>

#include "ext/registry.h"
#include "functions/aggregate.h"
#include "functions/arguments.h"

namespace profana {

namespace {

// A window function whose state knows the answer of the row it saw last.
template <class State>
void answer_of(sqlite3_context* context) {
    guard_function(context, [&] {
        if (const State* state = aggregate_peek<State>(context)) state->result(context);
    });
}
template <class State>
void last_answer_of(sqlite3_context* context) {
    guard_function(context, [&] {
        if (const auto state = aggregate_take<State>(context)) state->result(context);
    });
}
template <class State>
void step_of(sqlite3_context* context, int, sqlite3_value** values) {
    guard_function(context, [&] {
        try {
            aggregate_state<State>(context).step(values);
        } catch (const Error& error) {
            const std::string text = error.what();
            const std::string name = State::kName;
            throw Error(text.compare(0, name.size(), name) == 0 ? text : name + ": " + text);
        }
    });
}
void no_inverse(sqlite3_context* context, int, sqlite3_value**) {
    sqlite3_result_error(context, "nest functions take the window frame ROWS UNBOUNDED PRECEDING only", -1);
}

// A row of an event stream: (id, start, end). Its time may be unknown, and a point has no end.
struct StreamRow {
    StreamRow(const char* function, sqlite3_value** values)
        : known(!is_null(values[1])), is_point(is_null(values[2])) {
        if (!known) return;
        start = integer_argument({function, "start", values[1]});
        if (is_point) return;
        id = integer_argument({function, "id", values[0]});
        end = integer_argument({function, "end", values[2]});
    }
    bool known, is_point;
    int64_t id = 0, start = 0, end = 0;
};

// The functions over the stack of open events differ in what they look up before the row's event is pushed.
template <class Lookup>
class StackState {
  public:
    static constexpr const char* kName = Lookup::kName;
    void step(sqlite3_value** values) {
        const StreamRow row(kName, values);
        answer_.reset();
        if (!row.known) return;
        stack_.move_to(row.start);
        answer_ = Lookup::find(stack_, row);
        if (!row.is_point) stack_.push(row.id, row.start, row.end);
    }
    void result(sqlite3_context* context) const { result_optional(context, answer_); }

  private:
    EventStack stack_;
    std::optional<int64_t> answer_;
};

struct Parent {
    static constexpr const char* kName = "nest_parent";
    static std::optional<int64_t> find(const EventStack& stack, const StreamRow&) {
        return stack.innermost();
    }
};

struct Depth {
    static constexpr const char* kName = "nest_depth";
    static std::optional<int64_t> find(const EventStack& stack, const StreamRow&) { return stack.depth(); }
};

struct Root {
    static constexpr const char* kName = "nest_root";
    static std::optional<int64_t> find(const EventStack& stack, const StreamRow& row) {
        if (stack.depth() > 0 || row.is_point) return stack.outermost();
        return row.id;
    }
};

struct Inside {
    static constexpr const char* kName = "nest_inside";
    static std::optional<int64_t> find(const EventStack& stack, const StreamRow& row) {
        return stack.strictly_inside(row.start);
    }
};

// nest_within(id, start, end): a row with id NULL asks and contains nothing.
class WithinState {
  public:
    static constexpr const char* kName = "nest_within";
    void step(sqlite3_value** values) {
        answer_.reset();
        if (is_null(values[1]) || is_null(values[2])) return;
        const int64_t start = integer_argument({kName, "start", values[1]});
        const int64_t end = integer_argument({kName, "end", values[2]});
        answer_ = stack_.find(start, end);
        if (!is_null(values[0])) stack_.push(integer_argument({kName, "id", values[0]}), end);
    }
    void result(sqlite3_context* context) const { result_optional(context, answer_); }

  private:
    ContainmentStack stack_;
    std::optional<int64_t> answer_;
};

// cursor_cover(id, end, point): a row is a range (id, end) where point is NULL, else a point.
class CursorState {
  public:
    static constexpr const char* kName = "cursor_cover";
    void step(sqlite3_value** values) {
        answer_.reset();
        if (!is_null(values[2])) {
            answer_ = cursor_.cover(integer_argument({kName, "point", values[2]}));
        } else if (!is_null(values[1])) {
            cursor_.add_range(integer_argument({kName, "id", values[0]}),
                              integer_argument({kName, "end", values[1]}));
        }
    }
    void result(sqlite3_context* context) const { result_optional(context, answer_); }

  private:
    ForwardCursor cursor_;
    std::optional<int64_t> answer_;
};

// A sum as SQL's sum() forms it: NULL without values, INTEGER while all are, and an error where it overflows.
struct Sum {
    bool any = false, real = false;
    int64_t whole = 0;
    double fraction = 0;

    void add(const Sum& other) {
        any |= other.any;
        real |= other.real;
        fraction += other.fraction;
        if (__builtin_add_overflow(whole, other.whole, &whole)) throw Error("integer overflow");
    }
};

// nest_total(value, depth) over rows in reverse order of the tree. below_ holds, by rising depth, the sums of
// the subtrees whose parent is still to come.
class TotalState {
  public:
    static constexpr const char* kName = "nest_total";
    void step(sqlite3_value** values) {
        const int64_t depth = integer_argument({kName, "depth", values[1]});
        total_ = value_of({kName, "value", values[0]});
        for (; !below_.empty() && below_.back().depth > depth; below_.pop_back())
            total_.add(below_.back().sum);
        if (below_.empty() || below_.back().depth < depth) below_.push_back({depth, Sum()});
        below_.back().sum.add(total_);
    }
    void result(sqlite3_context* context) const {
        if (!total_.any) return;
        if (total_.real) {
            sqlite3_result_double(context, total_.fraction + static_cast<double>(total_.whole));
        } else {
            sqlite3_result_int64(context, total_.whole);
        }
    }

  private:
    static Sum value_of(const Argument& argument) {
        Sum sum;
        if (is_null(argument.value)) return sum;
        sum.any = true;
        sum.real = sqlite3_value_type(argument.value) == SQLITE_FLOAT;
        if (sum.real) {
            sum.fraction = sqlite3_value_double(argument.value);
        } else {
            sum.whole = integer_argument(argument);
        }
        return sum;
    }

    struct Level {
        int64_t depth;
        Sum sum;
    };
    std::vector<Level> below_;
    Sum total_;
};

template <class State>
FunctionSpec window(int arguments, const char* signature, const char* doc) {
    return {State::kName,          arguments,        kPure,     signature, doc, nullptr, step_of<State>,
            last_answer_of<State>, answer_of<State>, no_inverse};
}

const std::array kFunctions{
    window<StackState<Parent>>(3, "nest_parent(id INTEGER, start INTEGER, end INTEGER) -> INTEGER",
                               "Window function over rows ordered by start (ROWS UNBOUNDED PRECEDING): the "
                               "id of the event that encloses "
                               "the row, NULL for a root. Before each row the events that ended before its "
                               "start (end < start) are taken "
                               "off the stack of open ones, from the top down to the first that did not; "
                               "that one is the parent. So an "
                               "event starting exactly at another's end is its child, and of equal starts "
                               "the earlier row is the parent. "
                               "A row with end NULL is a point: it gets the enclosing event and encloses "
                               "nothing. A row with start NULL "
                               "gets NULL. Error if starts fall. The rule of the operator and module trees "
                               "of msprof-analyze compare."),
    window<StackState<Depth>>(
        3, "nest_depth(id INTEGER, start INTEGER, end INTEGER) -> INTEGER",
        "Window function like nest_parent: how many events enclose the row, 0 for a root."),
    window<StackState<Root>>(3, "nest_root(id INTEGER, start INTEGER, end INTEGER) -> INTEGER",
                             "Window function like nest_parent: the id of the outermost event that encloses "
                             "the row; a root's own id; "
                             "NULL for a point outside of all."),
    window<StackState<Inside>>(3, "nest_inside(id INTEGER, start INTEGER, end INTEGER) -> INTEGER",
                               "Window function like nest_parent: the id of the deepest event of the tree "
                               "that began before the row's "
                               "start and ends after it, both strictly, as do all its ancestors; NULL if "
                               "there is none. Rows of other "
                               "kinds ask as points (end NULL). The rule by which operators, call stacks and "
                               "backward passes find their "
                               "module: an operator that starts exactly with a module is not in it."),
    window<WithinState>(3, "nest_within(id INTEGER, start INTEGER, end INTEGER) -> INTEGER",
                        "Window function over rows ordered by start, then by end DESC (ROWS UNBOUNDED "
                        "PRECEDING): the id of the "
                        "innermost earlier event that contains the row's [start, end] whole, both ends "
                        "included; NULL if there is none. "
                        "A row with id NULL asks and contains nothing; order it behind events of equal "
                        "times. Of an event that another "
                        "one overlaps without containing it, the part behind the other's start no longer "
                        "counts. Error in another order. "
                        "The rule by which ranges nest into modules."),
    window<CursorState>(
        3, "cursor_cover(id INTEGER, end INTEGER, point INTEGER) -> INTEGER",
        "Window function over ranges (point NULL; placed in the order by their start) and points (placed by "
        "themselves, behind ranges of equal start) in one stream: the id of the first range by start that "
        "had not "
        "ended (end < point) before this or any earlier point. The cursor never goes back: an outer range "
        "wins "
        "over those inside it. NULL for ranges and where no begun range is left. For points in another order "
        "than "
        "time, ask with the running maximum of the points and compare the range's start with the point "
        "itself. The "
        "rule that gives kernels to cube operators, tasks to collectives, launches to a module's operators."),
    window<TotalState>(2, "nest_total(value NUMERIC, depth INTEGER) -> NUMERIC",
                       "Window function over the rows of a tree in reverse order of start (ORDER BY start "
                       "DESC, id DESC ROWS "
                       "UNBOUNDED PRECEDING), depth as nest_depth gives it: the sum of value over the row "
                       "and everything below it. "
                       "NULL values add nothing; NULL if there is no value at all. Sums of INTEGER are "
                       "exact, error on overflow."),
};

}  // namespace

std::span<const FunctionSpec> nesting_functions() {
    return kFunctions;
}

}  // namespace profana
