// sequence_match: two lists side by side, matched items on one row. A list is a JSON array, or what
// sequence_agg makes of rows: that spares writing and reading the JSON, and tells the ids of what matched.
//
// The list of sequence_agg is a pointer value: it passes from the aggregate to the table function within a
// statement and cannot be stored.
#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ext/connection.h"
#include "ext/core/sequence_match.h"
#include "ext/core/text_hash.h"
#include "functions/aggregate.h"
#include "functions/arguments.h"
#include "functions/row_order.h"
#include "functions/table_function.h"

namespace profana {

namespace {

constexpr const char* kList = "sequence_agg";
constexpr const char* kPointerType = "profana_sequence";

// Texts as numbers: equal texts have equal numbers, and NULL has one of its own.
class Numbering {
  public:
    using Text = std::optional<std::string_view>;
    int32_t of(Text text) {
        if (!text) {
            if (null_ < 0) null_ = next(std::nullopt);
            return null_;
        }
        const auto known = numbers_.find(*text);
        if (known != numbers_.end()) return known->second;
        return numbers_.emplace(*text, next(std::string(*text))).first->second;
    }
    const std::vector<std::optional<std::string>>& texts() const { return texts_; }

  private:
    int32_t next(std::optional<std::string> text) {
        texts_.push_back(std::move(text));
        return static_cast<int32_t>(texts_.size()) - 1;
    }

    std::unordered_map<std::string, int32_t, TextHash, std::equal_to<>> numbers_;
    std::vector<std::optional<std::string>> texts_;  // by number
    int32_t null_ = -1;
};

// Items of one list with their ids.
class Sequence {
  public:
    void add(int n, sqlite3_value** values) {
        if (n < kFirstKey) throw Error("sequence_agg: takes an item and an id, and keys to order by");
        if (items_.size() == kMostItems / 2)
            throw Error("sequence_agg: more than " + std::to_string(kMostItems / 2) + " items",
                        ErrorKind::kTooBig);
        Numbering::Text item;
        if (!is_null(values[0])) item = text_argument({kList, "item", values[0]});
        ids_.push_back(integer_argument({kList, "id", values[1]}));
        items_.push_back(numbering_.of(item));
        keys_.add(kList, values + kFirstKey, n - kFirstKey);
    }

    void sort() {
        const std::vector<uint32_t> order = keys_.order();
        keys_ = {};
        if (order.empty()) return;
        Items items;
        std::vector<int64_t> ids;
        items.reserve(order.size());
        ids.reserve(order.size());
        for (const uint32_t i : order) {
            items.push_back(items_[i]);
            ids.push_back(ids_[i]);
        }
        items_ = std::move(items);
        ids_ = std::move(ids);
    }

    const Items& items() const { return items_; }
    const std::vector<int64_t>& ids() const { return ids_; }

    // The items with the numbers that `other` gives to equal ones.
    Items items_as(const Sequence& other) const {
        Numbering common = other.numbering_;
        std::vector<int32_t> number;
        for (const auto& text : numbering_.texts()) number.push_back(common.of(text));
        Items items;
        items.reserve(items_.size());
        for (const int32_t item : items_) items.push_back(number[static_cast<size_t>(item)]);
        return items;
    }

  private:
    static constexpr int kFirstKey = 2;
    Numbering numbering_;
    Items items_;
    std::vector<int64_t> ids_;
    RowOrderKeys keys_;
};

void add_item(sqlite3_context* context, int n, sqlite3_value** values) {
    guard_function(context, [&] { aggregate_state<Sequence>(context).add(n, values); });
}

void make_sequence(sqlite3_context* context) {
    guard_function(context, [&] {
        auto sequence = aggregate_take<Sequence>(context);
        if (sequence == nullptr) sequence = std::make_unique<Sequence>();
        sequence->sort();
        sqlite3_result_pointer(context, sequence.release(), kPointerType,
                               [](void* made) { delete static_cast<Sequence*>(made); });
    });
}

// run_number(x): the state of the window function.
class RunNumber {
  public:
    void add(sqlite3_value* value) {
        const bool null = is_null(value);
        const int64_t x = null ? 0 : integer_argument({"run_number", "x", value});
        if (number_ == 0 || null != null_ || x != x_) ++number_;
        null_ = null, x_ = x;
    }
    int64_t number() const { return number_; }

  private:
    bool null_ = false;
    int64_t x_ = 0, number_ = 0;
};

void add_to_run(sqlite3_context* context, int, sqlite3_value** values) {
    guard_function(context, [&] { aggregate_state<RunNumber>(context).add(values[0]); });
}

void run_number(sqlite3_context* context) {
    guard_function(context, [&] {
        if (const auto* run = aggregate_peek<RunNumber>(context))
            sqlite3_result_int64(context, run->number());
    });
}

void last_run_number(sqlite3_context* context) {
    guard_function(context, [&] {
        if (const auto run = aggregate_take<RunNumber>(context)) sqlite3_result_int64(context, run->number());
    });
}

void refuse_frame(sqlite3_context* context, int, sqlite3_value**) {
    sqlite3_result_error(context, "run_number takes the window frame ROWS UNBOUNDED PRECEDING only", -1);
}

const Sequence* sequence_of(sqlite3_value* value) {
    return static_cast<const Sequence*>(sqlite3_value_pointer(value, kPointerType));
}

// The rows in the order of the lists: before each block what base skips, then what comparison skips.
class MatchRows : public FunctionRows {
  public:
    MatchRows() = default;
    MatchRows(std::vector<MatchedBlock> blocks, size_t base_size, size_t comparison_size)
        : blocks_(std::move(blocks)) {
        blocks_.push_back({static_cast<int32_t>(base_size), static_cast<int32_t>(comparison_size), 0});
    }
    MatchRows(std::vector<MatchedBlock> blocks, const Sequence& base, const Sequence& comparison)
        : MatchRows(std::move(blocks), base.items().size(), comparison.items().size()) {
        base_ids_ = base.ids();
        comparison_ids_ = comparison.ids();
    }

    bool next() override {
        while (block_ < blocks_.size()) {
            const MatchedBlock& block = blocks_[block_];
            in_base_ = base_ < block.base + block.length;
            in_comparison_ = comparison_ < block.comparison + block.length;
            if (base_ < block.base) {
                in_comparison_ = false;
            } else if (comparison_ < block.comparison) {
                in_base_ = false;
            }
            if (in_base_ || in_comparison_) {
                base_ += in_base_;
                comparison_ += in_comparison_;
                ++ordinal_;
                return true;
            }
            ++block_;
        }
        return false;
    }

    void column(sqlite3_context* context, int index) const override {
        if (index == 0) sqlite3_result_int64(context, ordinal_);
        if (index == 1 && in_base_) sqlite3_result_int(context, base_ - 1);
        if (index == 2 && in_comparison_) sqlite3_result_int(context, comparison_ - 1);
        if (index == 3 && in_base_) result_id(context, base_ids_, base_ - 1);
        if (index == 4 && in_comparison_) result_id(context, comparison_ids_, comparison_ - 1);
    }

  private:
    static void result_id(sqlite3_context* context, const std::vector<int64_t>& ids, int32_t index) {
        if (!ids.empty()) sqlite3_result_int64(context, ids[static_cast<size_t>(index)]);
    }

    std::vector<int64_t> base_ids_, comparison_ids_;  // empty: the items have none
    std::vector<MatchedBlock> blocks_;                // the last one is empty and stands behind both lists
    size_t block_ = 0;
    int32_t base_ = 0, comparison_ = 0;  // items given out
    bool in_base_ = false, in_comparison_ = false;
    int64_t ordinal_ = 0;
};

bool is_subsequence(sqlite3_value* method) {
    if (method == nullptr || is_null(method)) return false;
    const Argument argument{"sequence_match", "method", method};
    const std::string_view name = text_argument(argument);
    if (name != "block" && name != "lcs") refuse(argument, "'block' or 'lcs'");
    return name == "lcs";
}

std::vector<MatchedBlock> match(const Items& base, const Items& comparison, bool subsequence,
                                Connection& connection) {
    return subsequence ? match_subsequence(base, comparison, connection.progress())
                       : match_blocks(base, comparison, connection.progress());
}

std::unique_ptr<FunctionRows> sequence_match(Connection& connection, FunctionArguments arguments) {
    const bool subsequence = is_subsequence(arguments[2]);
    const Sequence* base_list = sequence_of(arguments[0]);
    const Sequence* comparison_list = sequence_of(arguments[1]);
    if (base_list != nullptr && comparison_list != nullptr) {
        auto blocks =
            match(base_list->items(), comparison_list->items_as(*base_list), subsequence, connection);
        return std::make_unique<MatchRows>(std::move(blocks), *base_list, *comparison_list);
    }
    if (base_list != nullptr || comparison_list != nullptr)
        throw Error("sequence_match: one list is of sequence_agg() and the other is not");
    if (is_null(arguments[0]) || is_null(arguments[1])) return std::make_unique<MatchRows>();
    const std::string_view base = text_argument({"sequence_match", "base_json", arguments[0]});
    const std::string_view comparison = text_argument({"sequence_match", "comparison_json", arguments[1]});
    ItemPair items;
    try {
        items = items_from_json(base, comparison);
    } catch (const Error& error) {
        throw Error(std::string("sequence_match: ") + error.what(), error.kind());
    }
    auto blocks = match(items.base, items.comparison, subsequence, connection);
    return std::make_unique<MatchRows>(std::move(blocks), items.base.size(), items.comparison.size());
}

constexpr std::array kFunctions{
    FunctionSpec{
        kList, -1, kPure,
        "sequence_agg(item TEXT, id INTEGER [, first INTEGER] [, second INTEGER] ...) -> POINTER",
        "Aggregate: the items as a list for sequence_match within the same statement, with an id for "
        "each (NULL equals NULL), in the order of the first key, then of the second and so on, six at most, "
        "NULL before "
        "numbers and rows alike as they come; without rows an empty list. It cannot be stored: "
        "elsewhere it reads as NULL. sequence_match((SELECT sequence_agg(name, id, start_ns) FROM "
        "a), (SELECT sequence_agg(name, id, start_ns) FROM b)).",
        nullptr, add_item, make_sequence},
    FunctionSpec{
        "run_number", 1, kPure, "run_number(x INTEGER) -> INTEGER",
        "Window function over ordered rows (ROWS UNBOUNDED PRECEDING): the number of the run of equal "
        "values that the row stands in, 1 for the first; NULL equals NULL.",
        nullptr, add_to_run, last_run_number, run_number, refuse_frame},
};

const std::vector<TableFunctionSpec> kTables{
    {"sequence_match",
     "Which items of two lists belong together, one row per pair and per item without partner, in the order "
     "of the "
     "lists: before each matched block first the items only in base, then those only in comparison. Method "
     "'block' "
     "(default): the longest block of items that both lists contain, of equals the first in base, then the "
     "first in "
     "comparison; then the same before and behind it. This is the rule of msprof-analyze compare (Python's "
     "difflib "
     "without junk), and may pair fewer items than possible. Method 'lcs': a longest common subsequence; "
     "where a "
     "stretch differs in more than 2048 places, a good one instead. Numbers are equal by value, texts byte "
     "by byte. "
     "No rows if a list is NULL. Instead of JSON arrays both lists may be scalar subqueries of sequence_agg.",
     {{"ordinal", "INTEGER", "1, 2, 3 ... in the order of the rows"},
      {"base_index", "INTEGER", "place in base, from 0; NULL: only in comparison"},
      {"comparison_index", "INTEGER", "place in comparison, from 0; NULL: only in base"},
      {"base_id", "INTEGER", "id of the item in base; NULL: only in comparison, or a JSON array"},
      {"comparison_id", "INTEGER", "id of the item in comparison; NULL: only in base, or a JSON array"}},
     {{"base_json", "TEXT", "JSON array of texts, numbers, true, false or null; or a sequence_agg"},
      {"comparison_json", "TEXT", "JSON array of the same"},
      {"method", "TEXT", "'block' or 'lcs'; NULL: 'block'"}},
     2,
     0,
     100000,
     sequence_match},
};

}  // namespace

std::span<const FunctionSpec> matching_functions() {
    return kFunctions;
}

std::span<const TableFunctionSpec> matching_tables() {
    return kTables;
}

}  // namespace profana
