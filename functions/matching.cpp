// sequence_match: two lists side by side, matched items on one row.
#include "ext/connection.h"
#include "ext/core/sequence_match.h"
#include "functions/arguments.h"
#include "functions/table_function.h"

namespace profana {

namespace {

// The rows in the order of the lists: before each block what base skips, then what comparison skips.
class MatchRows : public FunctionRows {
  public:
    MatchRows() = default;
    MatchRows(std::vector<MatchedBlock> blocks, size_t base_size, size_t comparison_size)
        : blocks_(std::move(blocks)) {
        blocks_.push_back({static_cast<int32_t>(base_size), static_cast<int32_t>(comparison_size), 0});
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
    }

  private:
    std::vector<MatchedBlock> blocks_;  // the last one is empty and stands behind both lists
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

std::unique_ptr<FunctionRows> sequence_match(Connection& connection, FunctionArguments arguments) {
    const bool subsequence = is_subsequence(arguments[2]);
    if (is_null(arguments[0]) || is_null(arguments[1])) return std::make_unique<MatchRows>();
    const std::string_view base = text_argument({"sequence_match", "base_json", arguments[0]});
    const std::string_view comparison = text_argument({"sequence_match", "comparison_json", arguments[1]});
    ItemPair items;
    try {
        items = items_from_json(base, comparison);
    } catch (const Error& error) {
        throw Error(std::string("sequence_match: ") + error.what(), error.kind());
    }
    auto blocks = subsequence ? match_subsequence(items.base, items.comparison, connection.progress())
                              : match_blocks(items.base, items.comparison, connection.progress());
    return std::make_unique<MatchRows>(std::move(blocks), items.base.size(), items.comparison.size());
}

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
     "No rows if a list is NULL.",
     {{"ordinal", "INTEGER", "1, 2, 3 ... in the order of the rows"},
      {"base_index", "INTEGER", "place in base, from 0; NULL: only in comparison"},
      {"comparison_index", "INTEGER", "place in comparison, from 0; NULL: only in base"}},
     {{"base_json", "TEXT", "JSON array of texts, numbers, true, false or null"},
      {"comparison_json", "TEXT", "JSON array of the same"},
      {"method", "TEXT", "'block' or 'lcs'; NULL: 'block'"}},
     2,
     0,
     100000,
     sequence_match},
};

}  // namespace

std::span<const FunctionSpec> matching_functions() {
    return {};
}

std::span<const TableFunctionSpec> matching_tables() {
    return kTables;
}

}  // namespace profana
