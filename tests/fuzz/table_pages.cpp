// Pages of a database, whatever is in them: no read beyond them, every row whole, and the rows the same
// however few columns are asked for.
#include "ext/core/table_pages.h"

#include <cstdlib>
#include <cstring>

using namespace profana;

namespace {

class Image : public PageFile {
  public:
    Image(const uint8_t* data, size_t size) : data_(data), size_(size) {}
    bool read(uint64_t offset, unsigned char* to, size_t n) override {
        if (offset > size_ || n > size_ - offset) return false;
        std::memcpy(to, data_ + offset, n);
        return true;
    }

  private:
    const uint8_t* data_;
    size_t size_;
};

bool same(const StoredCell& a, const StoredCell& b) {
    if (a.kind != b.kind) return false;
    switch (a.kind) {
        case StoredCell::Kind::kNull:
            return true;
        case StoredCell::Kind::kInteger:
            return a.integer == b.integer;
        case StoredCell::Kind::kReal:
            return std::memcmp(&a.real, &b.real, sizeof a.real) == 0;
        case StoredCell::Kind::kText:
        case StoredCell::Kind::kBlob:
            return a.bytes == b.bytes;
    }
    return false;
}

size_t touched(const StoredCell& cell) {
    const bool has_bytes = cell.kind == StoredCell::Kind::kText || cell.kind == StoredCell::Kind::kBlob;
    size_t sum = 0;
    if (has_bytes)
        for (const char byte : cell.bytes) sum += static_cast<unsigned char>(byte);
    return sum;
}

}  // namespace

// A database file, whose table begins at page 2.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    constexpr size_t kMostRows = 20000;  // pages that lead to one another give more without end
    if (size < 100) return 0;
    PageFormat format;
    format.page_bytes = uint32_t{data[16]} << 8 | data[17];
    if (format.page_bytes != 1024 && format.page_bytes != 4096) format.page_bytes = 512;
    format.usable_bytes = format.page_bytes - data[20] % 33;
    format.pages = static_cast<uint32_t>(size / format.page_bytes);
    Image file(data, size);
    TablePages all(file, format, 2, {{0}, {1, true}, {}, {3}, {2, false, true}, {7}});
    TablePages one(file, format, 2, {{1, true}});
    size_t sum = 0;
    for (size_t rows = 0; rows < kMostRows && all.next(); ++rows) {
        if (!one.next()) std::abort();
        for (int i = 0; i < 6; ++i) sum += touched(all.cells()[i]);
        if (!same(all.cells()[1], one.cells()[0])) std::abort();
    }
    if (sum == SIZE_MAX) std::abort();  // so that the bytes are read
    return 0;
}
