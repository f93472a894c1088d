#include "ext/core/table_pages.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace profana {
namespace {

constexpr unsigned char kInnerPage = 5, kLeafPage = 13;
constexpr uint32_t kInnerHead = 12, kLeafHead = 8;  // bytes before the places of the cells
constexpr size_t kDeepest = 20;                     // more than 2^32 pages never need
constexpr size_t kRunBytes = size_t{128} << 10;     // read at once where leaves stand side by side
constexpr uint32_t kFarthest = 4;                   // from a leaf to the next: what is between is read along
constexpr uint64_t kLockByte = uint64_t{1} << 30;   // its page is no table's
constexpr size_t kSlack = 32;                       // numbers at the end of a page may be read beyond it
constexpr uint64_t kLongestHead = 98307, kLongestRecord = 1'000'000'000;  // SQLite's limits

uint32_t two_bytes(const unsigned char* at) {
    return uint32_t{at[0]} << 8 | at[1];
}

uint32_t four_bytes(const unsigned char* at) {
    return two_bytes(at) << 16 | two_bytes(at + 2);
}

uint64_t eight_bytes(const unsigned char* at) {
    return uint64_t{four_bytes(at)} << 32 | four_bytes(at + 4);
}

// A number of 1 to 9 bytes, moving `at` behind it.
uint64_t varint(const unsigned char*& at) {
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) {
        const unsigned char byte = *at++;
        value = value << 7 | (byte & 0x7F);
        if (byte < 0x80) return value;
    }
    return value << 8 | *at++;
}

constexpr uint64_t kReal = 7, kZero = 8, kOne = 9, kFirstBlob = 12;

// Bytes of a value; the types 10 and 11 are not in use.
uint64_t stored_bytes(uint64_t type) {
    constexpr uint8_t kNumbers[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
    return type < kFirstBlob ? kNumbers[type] : (type - kFirstBlob) / 2;
}

int64_t stored_integer(const unsigned char* at, uint64_t bytes) {
    return static_cast<int64_t>(eight_bytes(at)) >> (64 - 8 * bytes);
}

void set_cell(StoredCell& cell, uint64_t type, const unsigned char* at, bool is_real) {
    const uint64_t bytes = stored_bytes(type);
    if (type >= kFirstBlob) {
        cell.kind = type % 2 == 1 ? StoredCell::Kind::kText : StoredCell::Kind::kBlob;
        cell.bytes = {reinterpret_cast<const char*>(at), static_cast<size_t>(bytes)};
        return;
    }
    if (type == 0) {
        cell.kind = StoredCell::Kind::kNull;
        return;
    }
    if (type == kReal) {
        cell.real = std::bit_cast<double>(eight_bytes(at));
        cell.kind = std::isnan(cell.real) ? StoredCell::Kind::kNull : StoredCell::Kind::kReal;
        return;
    }
    cell.integer = type == kZero ? 0 : type == kOne ? 1 : stored_integer(at, bytes);
    cell.kind = is_real ? StoredCell::Kind::kReal : StoredCell::Kind::kInteger;
    if (is_real) cell.real = static_cast<double>(cell.integer);
}

}  // namespace

DatabaseHeader read_database_header(const unsigned char* bytes) {
    constexpr uint32_t kUtf8 = 1;
    DatabaseHeader header;
    header.page_bytes = two_bytes(bytes + 16) == 1 ? 65536 : two_bytes(bytes + 16);
    header.reserved_bytes = bytes[20];
    // The count is that of the last change, unless an old version of SQLite made it.
    if (four_bytes(bytes + 24) == four_bytes(bytes + 92)) header.pages = four_bytes(bytes + 28);
    header.is_utf8 = four_bytes(bytes + 56) == kUtf8;
    return header;
}

std::optional<PageFormat> page_format(const DatabaseHeader& header, uint64_t file_bytes) {
    constexpr uint32_t kLeastPage = 512, kLeastUsable = 480;
    const uint32_t bytes = header.page_bytes;
    if (!header.is_utf8 || !std::has_single_bit(bytes) || bytes < kLeastPage) return std::nullopt;
    if (bytes - header.reserved_bytes < kLeastUsable) return std::nullopt;
    constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
    const auto there = static_cast<uint32_t>(std::min(file_bytes / bytes, kMost));
    return PageFormat{bytes, bytes - header.reserved_bytes, header.pages != 0 ? header.pages : there};
}

TablePages::TablePages(PageFile& file, const PageFormat& format, uint32_t root_page,
                       const std::vector<StoredColumn>& columns)
    : file_(file), format_(format), cells_(columns.size()) {
    for (size_t cell = 0; cell < columns.size(); ++cell) {
        if (columns[cell].place == kRowidPlace)
            rowid_cells_.push_back(cell);
        else
            wanted_.push_back({columns[cell], cell});
    }
    std::sort(wanted_.begin(), wanted_.end(),
              [](const Wanted& a, const Wanted& b) { return a.column.place < b.column.place; });
    above_.push_back({{root_page}, 0});
}

bool TablePages::next() {
    if (irregular_) return false;
    while (cell_ == cell_count_)
        if (!next_leaf()) return false;
    irregular_ = !read_cell();
    ++cell_;
    return !irregular_;
}

// false: there is no further leaf, or something is irregular.
bool TablePages::next_leaf() {
    while (run_at_ == run_leaves_.size() && !above_.empty()) {
        Inner& above = above_.back();
        if (above.at == above.children.size()) {
            above_.pop_back();
        } else {
            const bool above_leaves = above_.size() == leaf_depth_;
            irregular_ = !(above_leaves ? read_run(above) : descend(above.children[above.at]));
            if (irregular_) return false;
        }
    }
    if (run_at_ == run_leaves_.size()) return false;
    irregular_ = !open_leaf(run_leaves_[run_at_++]);
    return !irregular_;
}

// To the children of a page; where it turns out to be the first leaf, it is read again with those beside it.
bool TablePages::descend(uint32_t page) {
    if (!may_be_table(page) || !read_pages(page, 1, inner_page_)) return false;
    if (leaf_depth_ == 0 && inner_page_[0] == kLeafPage) {
        leaf_depth_ = above_.size();
        return true;
    }
    if (inner_page_[0] != kInnerPage || above_.size() == kDeepest) return false;
    ++above_.back().at;
    return read_children(inner_page_.data());
}

bool TablePages::read_children(const unsigned char* page) {
    const uint32_t count = two_bytes(page + 3);
    if (count == 0 || count > most_cells() || kInnerHead + 2 * count > format_.usable_bytes) return false;
    Inner inner;
    inner.children.reserve(count + 1);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t at = two_bytes(page + kInnerHead + 2 * i);
        if (at < kInnerHead + 2 * count || at > format_.usable_bytes - 5) return false;
        const unsigned char* behind = page + at + 4;
        varint(behind);
        if (behind > page + format_.usable_bytes) return false;
        inner.children.push_back(four_bytes(page + at));
    }
    inner.children.push_back(four_bytes(page + 8));
    above_.push_back(std::move(inner));
    return true;
}

// The next leaf and those that stand behind it in the file, too.
bool TablePages::read_run(Inner& above) {
    const size_t most = std::max<size_t>(kRunBytes / format_.page_bytes, 1);
    run_leaves_.clear();
    run_at_ = 0;
    run_first_ = above.children[above.at];
    uint32_t last = run_first_;
    do {
        last = above.children[above.at++];
        if (!may_be_table(last)) return false;
        run_leaves_.push_back(last);
    } while (above.at < above.children.size() && above.children[above.at] > last &&
             above.children[above.at] - last <= kFarthest && above.children[above.at] - run_first_ < most);
    return read_pages(run_first_, last - run_first_ + 1, run_);
}

// Page 1 is the schema's.
bool TablePages::may_be_table(uint32_t page) const {
    return page >= 2 && page <= format_.pages && page != kLockByte / format_.page_bytes + 1;
}

bool TablePages::read_pages(uint32_t first, size_t n, PageVector<unsigned char>& to) {
    if (first > format_.pages || n > format_.pages - first + 1) return false;
    const size_t bytes = n * format_.page_bytes;
    if (to.size() < bytes + kSlack) to.resize(bytes + kSlack);
    return file_.read(uint64_t{first - 1} * format_.page_bytes, to.data(), bytes);
}

bool TablePages::open_leaf(uint32_t page) {
    leaf_ = run_.data() + size_t{page - run_first_} * format_.page_bytes;
    cell_ = 0;
    cell_count_ = 0;
    const uint32_t count = two_bytes(leaf_ + 3);
    if (leaf_[0] != kLeafPage || count > most_cells() || kLeafHead + 2 * count > format_.usable_bytes)
        return false;
    if (count == 0 && leaf_depth_ > 1) return false;  // only a table without rows has an empty leaf
    cell_count_ = count;
    for (uint32_t i = 0; i < count; ++i)
        if (!cell_fits(two_bytes(leaf_ + kLeafHead + 2 * i))) return false;
    return true;
}

// SQLite takes a page with one bad cell for bad as a whole, so that every column has the same rows.
bool TablePages::cell_fits(uint32_t at) const {
    const uint32_t usable = format_.usable_bytes;
    if (at < kLeafHead + 2 * cell_count_ || at > usable - 4) return false;
    const unsigned char* record = leaf_ + at;
    const uint64_t payload = varint(record), local = local_bytes(payload);
    varint(record);
    return payload <= kLongestRecord &&
           static_cast<uint64_t>(record - leaf_) + local + (local < payload ? 4 : 0) <= usable;
}

// How much of a record stands in the leaf.
uint64_t TablePages::local_bytes(uint64_t payload) const {
    const uint32_t usable = format_.usable_bytes;
    if (payload <= usable - 35) return payload;
    const uint64_t least = (usable - 12) * 32 / 255 - 23, filled = least + (payload - least) % (usable - 4);
    return filled <= usable - 35 ? filled : least;
}

bool TablePages::read_cell() {
    const unsigned char* record = leaf_ + two_bytes(leaf_ + kLeafHead + 2 * cell_);
    const uint64_t payload = varint(record), local = local_bytes(payload);
    const auto rowid = static_cast<int64_t>(varint(record));
    record_bytes_ = payload;
    Decoded decoded = decode(record, local, payload);
    if (decoded == Decoded::kNeedsMore) {
        if (!read_rest(payload, record, local)) return false;
        decoded = decode(rest_.data(), payload, payload);
    }
    if (decoded != Decoded::kWhole) return false;
    for (const size_t cell : rowid_cells_) {
        cells_[cell].kind = StoredCell::Kind::kInteger;
        cells_[cell].integer = rowid;
    }
    return true;
}

// A record that goes on in pages of its own, in one piece.
bool TablePages::read_rest(uint64_t payload, const unsigned char* local, size_t local_bytes) {
    uint32_t page = four_bytes(local + local_bytes);
    const size_t room = format_.usable_bytes - 4;
    if ((payload - local_bytes) / room > format_.pages) return false;
    rest_.assign(payload + kSlack, 0);
    std::memcpy(rest_.data(), local, local_bytes);
    for (uint64_t at = local_bytes; at < payload;) {
        if (!may_be_table(page) || !read_pages(page, 1, inner_page_)) return false;
        const size_t n = std::min<uint64_t>(room, payload - at);
        std::memcpy(rest_.data() + at, inner_page_.data() + 4, n);
        at += n;
        page = four_bytes(inner_page_.data());
    }
    return true;
}

// Fills the cells from the first `bytes` of a record of `payload` bytes.
TablePages::Decoded TablePages::decode(const unsigned char* record, size_t bytes, uint64_t payload) {
    const unsigned char* head = record;
    const uint64_t head_bytes = varint(head);
    if (head_bytes == 0 || head_bytes > payload || head_bytes > kLongestHead) return Decoded::kIrregular;
    if (head_bytes > bytes) return Decoded::kNeedsMore;
    const unsigned char* const head_end = record + head_bytes;
    uint64_t at = head_bytes, type = 0;  // end and type of the value before `place`
    int place = 0;
    for (const Wanted& wanted : wanted_) {
        StoredCell& cell = cells_[wanted.cell];
        for (; place <= wanted.column.place && head < head_end; ++place) {
            type = varint(head);
            if (head > head_end || type == 10 || type == 11) return Decoded::kIrregular;
            at += stored_bytes(type);
            if (at > payload) return Decoded::kIrregular;
        }
        if (place <= wanted.column.place) {  // the row is older than the column
            if (wanted.column.has_default || at != payload) return Decoded::kIrregular;
            cell.kind = StoredCell::Kind::kNull;
            continue;
        }
        if (head == head_end && at != payload) return Decoded::kIrregular;
        if (at > bytes) return Decoded::kNeedsMore;
        set_cell(cell, type, record + (at - stored_bytes(type)), wanted.column.is_real);
    }
    return Decoded::kWhole;
}

}  // namespace profana
