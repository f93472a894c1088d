// group_concat with an order of its own: SQLite takes ORDER BY within an aggregate from 3.44 on, and sorting
// the rows beforehand costs a second sort of everything where the groups already come one after the other.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ext/registry.h"
#include "functions/aggregate.h"
#include "functions/arguments.h"

namespace profana {
namespace {

constexpr const char* kName = "ordered_concat";

class OrderedTexts {
  public:
    void add(sqlite3_value** values) {
        if (is_null(values[0])) return;
        const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
        if (text == nullptr) throw std::bad_alloc();
        if (items_.empty()) separator_ = text_argument({kName, "separator", values[1]});
        items_.push_back({key({"first", values[2]}),
                          key({"second", values[3]}),
                          {text, static_cast<size_t>(sqlite3_value_bytes(values[0]))}});
    }

    bool empty() const { return items_.empty(); }
    std::string joined() {
        const auto earlier = [](const Item& a, const Item& b) {
            return a.first != b.first ? a.first < b.first : a.second < b.second;
        };
        if (!std::is_sorted(items_.begin(), items_.end(), earlier))
            std::stable_sort(items_.begin(), items_.end(), earlier);
        if (items_.size() == 1) return std::move(items_[0].text);
        std::string out;
        for (const Item& item : items_) {
            if (&item != items_.data()) out += separator_;
            out += item.text;
        }
        return out;
    }

  private:
    struct Item {
        std::optional<int64_t> first, second;  // none comes before every number, as NULL does
        std::string text;
    };
    struct Key {
        const char* name;
        sqlite3_value* value;
    };

    static std::optional<int64_t> key(const Key& key) {
        if (is_null(key.value)) return std::nullopt;
        return integer_argument({kName, key.name, key.value});
    }

    std::vector<Item> items_;
    std::string separator_;
};

void add_text(sqlite3_context* context, int, sqlite3_value** values) {
    guard_function(context, [&] { aggregate_state<OrderedTexts>(context).add(values); });
}

void join_texts(sqlite3_context* context) {
    guard_function(context, [&] {
        const auto texts = aggregate_take<OrderedTexts>(context);
        if (texts != nullptr && !texts->empty()) result_text(context, texts->joined());
    });
}

constexpr std::array kFunctions{
    FunctionSpec{
        kName, 4, kPure, "ordered_concat(x ANY, separator TEXT, first INTEGER, second INTEGER) -> TEXT",
        "Aggregate: the group's values joined by the separator, in the order of first, then of second, NULL "
        "before numbers and rows alike as they come. NULL values are left out; NULL when none is left. The "
        "first row's separator counts. What group_concat(x, separator ORDER BY first, second) is from SQLite "
        "3.44 on.",
        nullptr, add_text, join_texts},
};

}  // namespace

std::span<const FunctionSpec> ordered_text_functions() {
    return kFunctions;
}

}  // namespace profana
