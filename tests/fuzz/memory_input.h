// A file in memory, for fuzz targets.
#pragma once

#include <algorithm>
#include <string_view>

#include "ext/core/input.h"

namespace profana::fuzz {

class MemoryInput : public Input {
  public:
    explicit MemoryInput(std::string_view bytes) : bytes_(bytes) {
        path_ = "memory";
        size_on_disk_ = bytes.size();
    }
    size_t read(char* buffer, size_t n) override {
        n = std::min(n, bytes_.size() - at_);
        std::copy_n(bytes_.data() + at_, n, buffer);
        at_ += n;
        return n;
    }
    bool compressed() const override { return false; }

  private:
    std::string_view bytes_;
    size_t at_ = 0;
};

}  // namespace profana::fuzz
