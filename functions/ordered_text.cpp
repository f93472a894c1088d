// group_concat with an order of its own: SQLite takes ORDER BY within an aggregate from 3.44 on, and sorting
// the rows beforehand costs a second sort of everything where the groups already come one after the other.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "ext/registry.h"
#include "functions/aggregate.h"
#include "functions/arguments.h"
#include "functions/row_order.h"

namespace profana {
namespace {

constexpr const char* kName = "ordered_concat";
constexpr int kFirstKey = 2;

class OrderedTexts {
  public:
    void add(int n, sqlite3_value** values) {
        if (n <= kFirstKey) throw Error("ordered_concat: takes a value, a separator and one key at least");
        if (is_null(values[0])) return;
        if (sqlite3_value_type(values[0]) == SQLITE_BLOB)
            refuse({kName, "x", values[0]}, "a text, a number or NULL");
        const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
        if (text == nullptr) throw std::bad_alloc();
        if (keys_.rows() == 0) {
            separator_ = text_argument({kName, "separator", values[1]});
        } else {
            if (keys_.rows() == 1) make_room();
            ends_.push_back(texts_.size());
            texts_ += separator_;
        }
        keys_.add(kName, values + kFirstKey, n - kFirstKey);
        texts_.append(text, static_cast<size_t>(sqlite3_value_bytes(values[0])));
    }

    bool empty() const { return keys_.rows() == 0; }
    std::string joined() {
        const std::vector<uint32_t> order = keys_.order();
        if (order.empty()) return std::move(texts_);
        std::string out;
        out.reserve(texts_.size());
        for (size_t i = 0; i < order.size(); ++i) {
            if (i > 0) out += separator_;
            out += text(order[i]);
        }
        return out;
    }

  private:
    // Most groups have a single row; those with more mostly have a few, and take memory for these at once.
    void make_room() {
        constexpr size_t kBytes = 256, kRows = 16;
        texts_.reserve(texts_.size() + kBytes);
        ends_.reserve(kRows);
        keys_.reserve(kRows);
    }
    std::string_view text(size_t i) const {
        const size_t begin = i == 0 ? 0 : ends_[i - 1] + separator_.size(),
                     end = i == ends_.size() ? texts_.size() : ends_[i];
        return std::string_view(texts_).substr(begin, end - begin);
    }

    RowOrderKeys keys_;
    std::string texts_;         // as they came, with the separator between them
    std::vector<size_t> ends_;  // of each but the last
    std::string separator_;
};

void add_text(sqlite3_context* context, int n, sqlite3_value** values) {
    guard_function(context, [&] { aggregate_state<OrderedTexts>(context).add(n, values); });
}

void join_texts(sqlite3_context* context) {
    guard_function(context, [&] {
        const auto texts = aggregate_take<OrderedTexts>(context);
        if (texts != nullptr && !texts->empty()) result_text(context, texts->joined());
    });
}

constexpr std::array kFunctions{
    FunctionSpec{
        kName, -1, kPure,
        "ordered_concat(x ANY, separator TEXT, first INTEGER [, second INTEGER] ...) -> TEXT",
        "Aggregate: the group's values joined by the separator, in the order of the first key, then of the "
        "second and so on, six at most, NULL before numbers and rows alike as they come. NULL values are "
        "left out, a BLOB is an error; NULL when none is left. The first row's separator counts. What "
        "group_concat(x, separator ORDER BY first, second) is from SQLite 3.44 on.",
        nullptr, add_text, join_texts},
};

}  // namespace

std::span<const FunctionSpec> ordered_text_functions() {
    return kFunctions;
}

}  // namespace profana
