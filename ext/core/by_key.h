// Values by the text of their keys. Who asks mostly asks for one key many times in a row: the one found last
// is remembered, so asking is for one thread at a time.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "ext/core/text_hash.h"

namespace profana {

template <class Value>
class ByKey {
  public:
    ByKey() = default;
    ByKey(const ByKey&) = delete;
    ByKey& operator=(const ByKey&) = delete;

    // Made where it is not there yet.
    Value& get(std::string_view key) {
        Value* found = find(key);
        if (found != nullptr) return *found;
        last_ = &*values_.emplace(key, Value()).first;
        return last_->second;
    }
    // nullptr: there is none.
    Value* find(std::string_view key) {
        if (last_ != nullptr && last_->first == key) return &last_->second;
        const auto found = values_.find(key);
        if (found == values_.end()) return nullptr;
        last_ = &*found;
        return &last_->second;
    }
    template <class F>
    void each(F f) {
        for (auto& [key, value] : values_) f(value);
    }

  private:
    std::unordered_map<std::string, Value, TextHash, std::equal_to<>> values_;  // nodes of it never move
    std::pair<const std::string, Value>* last_ = nullptr;
};

}  // namespace profana
