// The items of two JSON arrays, numbered so that equal ones have equal numbers.
#include <simdjson.h>

#include <cstring>
#include <unordered_map>

#include "ext/core/sequence_match.h"

namespace profana {

namespace {

using simdjson::dom::element_type;

class Numbering {
  public:
    int32_t of(simdjson::dom::element item) {
        switch (item.type()) {
            case element_type::STRING:
                return number(texts_, std::string_view(item));
            case element_type::INT64:
                return number(integers_, int64_t(item));
            case element_type::UINT64:  // only above int64
                return number(large_, uint64_t(item));
            case element_type::DOUBLE:
                return of_real(double(item));
            case element_type::BOOL:
                return number(truths_, bool(item) ? 1 : 0);
            case element_type::NULL_VALUE:
                return number(truths_, 2);
            default:
                throw Error("");
        }
    }
    int32_t count() const { return count_; }

  private:
    template <class Key>
    int32_t number(std::unordered_map<Key, int32_t>& known, Key key) {
        const auto [at, is_new] = known.try_emplace(key, count_);
        if (is_new) ++count_;
        return at->second;
    }

    int32_t of_real(double real) {
        if (real >= -0x1p63 && real < 0x1p63 && real == static_cast<double>(static_cast<int64_t>(real))) {
            return number(integers_, static_cast<int64_t>(real));
        }
        if (real >= 0x1p63 && real < 0x1p64) return number(large_, static_cast<uint64_t>(real));
        return number(reals_, real);
    }

    std::unordered_map<std::string_view, int32_t> texts_;  // views into the parsed documents
    std::unordered_map<int64_t, int32_t> integers_;
    std::unordered_map<uint64_t, int32_t> large_;
    std::unordered_map<double, int32_t> reals_;
    std::unordered_map<int, int32_t> truths_;
    int32_t count_ = 0;
};

Items read_items(simdjson::dom::parser& parser, std::string_view json, const char* name,
                 Numbering& numbering) {
    simdjson::dom::array array;
    if (const auto error = parser.parse(json.data(), json.size()).get(array)) {
        throw Error(std::string("argument ") + name +
                    " is not a JSON array: " + simdjson::error_message(error));
    }
    Items items;
    items.reserve(array.size());
    for (const simdjson::dom::element item : array) {
        if (item.is_array() || item.is_object()) {
            throw Error(std::string("argument ") + name + ": item " + std::to_string(items.size()) + " is " +
                        excerpt(simdjson::minify(item)) + "; accepted: texts, numbers, true, false, null");
        }
        if (items.size() == kMostItems / 2) {
            throw Error(std::string("argument ") + name + " has more than " + std::to_string(kMostItems / 2) +
                            " items",
                        ErrorKind::kTooBig);
        }
        items.push_back(numbering.of(item));
    }
    return items;
}

}  // namespace

ItemPair items_from_json(std::string_view base, std::string_view comparison) {
    simdjson::dom::parser base_parser, comparison_parser;
    Numbering numbering;
    ItemPair pair;
    pair.base = read_items(base_parser, base, "base_json", numbering);
    pair.comparison = read_items(comparison_parser, comparison, "comparison_json", numbering);
    return pair;
}

}  // namespace profana
