#include "ext/core/csv_index.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstring>

namespace profana {
namespace {

constexpr size_t kBlock = 64;

// One bit for each of 64 bytes.
struct Block {
    uint64_t quotes, commas, feeds;
};

#ifdef __SSE2__

using Bytes = __m128i[4];

void load(Bytes& bytes, const char* at) {
    for (int i = 0; i < 4; ++i) bytes[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at) + i);
}

uint64_t equal_bytes(const Bytes& bytes, char c) {
    const __m128i wanted = _mm_set1_epi8(c);
    uint64_t bits = 0;
    for (int i = 0; i < 4; ++i) {
        const auto part = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes[i], wanted)));
        bits |= uint64_t{part} << (16 * i);
    }
    return bits;
}

// What occurs among all bytes seen so far.
struct Seen {
    __m128i all = _mm_setzero_si128(), least = _mm_set1_epi8(-1);

    void add(const Bytes& bytes) {
        all = _mm_or_si128(all,
                           _mm_or_si128(_mm_or_si128(bytes[0], bytes[1]), _mm_or_si128(bytes[2], bytes[3])));
        least = _mm_min_epu8(
            least, _mm_min_epu8(_mm_min_epu8(bytes[0], bytes[1]), _mm_min_epu8(bytes[2], bytes[3])));
    }
    // Only ASCII, and no NUL.
    bool plain() const {
        const __m128i nul = _mm_cmpeq_epi8(least, _mm_setzero_si128());
        return _mm_movemask_epi8(_mm_or_si128(all, nul)) == 0;
    }
};

#else

// Eight bytes at a time, the lowest first.
using Bytes = uint64_t[8];
static_assert(std::endian::native == std::endian::little);

constexpr uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;

void load(Bytes& bytes, const char* at) {
    std::memcpy(bytes, at, sizeof bytes);
}

// The high bit of each byte that is zero.
uint64_t zero_bytes(uint64_t word) {
    return ~(((word & ~kHighs) + ~kHighs) | word) & kHighs;
}

uint64_t equal_bytes(const Bytes& bytes, char c) {
    const uint64_t wanted = kOnes * static_cast<unsigned char>(c);
    uint64_t bits = 0;
    for (int i = 0; i < 8; ++i)
        bits |= ((zero_bytes(bytes[i] ^ wanted) >> 7) * 0x0102040810204080 >> 56) << (8 * i);
    return bits;
}

// What occurs among all bytes seen so far.
struct Seen {
    uint64_t all = 0, nul = 0;

    void add(const Bytes& bytes) {
        for (const uint64_t word : bytes) {
            all |= word;
            nul |= zero_bytes(word);
        }
    }
    // Only ASCII, and no NUL.
    bool plain() const { return ((all & kHighs) | nul) == 0; }
};

#endif

Block read_block(const char* at, Seen* seen) {
    Bytes bytes;
    load(bytes, at);
    seen->add(bytes);
    return {equal_bytes(bytes, '"'), equal_bytes(bytes, ','), equal_bytes(bytes, '\n')};
}

// Each bit: is the number of set bits up to and with it odd?
uint64_t running_parity(uint64_t bits) {
    for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
    return bits;
}

constexpr uint64_t below(int bit) {
    return (uint64_t{1} << bit) - 1;
}

// A closing quote with text behind it: does it rather open a cell, so that the one at `cell` is torn?
bool opens_another_cell(const char* cell, const char* close) {
    if (std::find(cell, close, '\n') != close) return true;
    while (*close == '"' && close > cell) --close;
    return *close == ',';
}

uint32_t count_feeds(const char* from, const char* to) {
    return static_cast<uint32_t>(std::count(from, to, '\n'));
}

}  // namespace

void CsvIndex::end_row(size_t end, uint32_t lines_in_row) {
    rows_.push_back({static_cast<uint32_t>(begin_), static_cast<uint32_t>(first_),
                     static_cast<uint32_t>(end - first_), lines_});
    first_ = end;
    lines_ += lines_in_row;
}

void CsvIndex::read(std::string_view text, End end) {
    text_ = text.data();
    size_ = text.size();
    // Each byte ends one cell at most, and so does the text's end.
    if (ends_room_ < size_ + 1) {
        ends_room_ = size_ + 1;
        ends_ = std::make_unique_for_overwrite<uint32_t[]>(ends_room_);
    }
    rows_.clear();
    torn_quotes_.clear();
    begin_ = first_ = 0;
    lines_ = 0;
    plain_ = true;
    last_row_open_ = false;
    while (begin_ < size_) {
        if (read_regular()) break;
        const bool ends_with_text = end == End::kEndOfFile || (end == End::kLongRow && begin_ == 0);
        const size_t torn = torn_quotes_.size();
        if (!read_carefully(ends_with_text)) {
            torn_quotes_.resize(torn);
            break;
        }
    }
    consumed_ = begin_;
}

// Reads regular rows from begin_ on. False: the row at begin_ needs care, or is not closed by a line feed.
bool CsvIndex::read_regular() {
    uint32_t* const ends = ends_.get();
    size_t count = first_;
    Seen seen;
    uint64_t inside = 0;        // all ones: the block begins within quotes
    uint64_t may_open = 1;      // first bit: a quote may open the block
    uint64_t must_follow = 0;   // first bit: a closing quote stands before the block
    uint32_t quoted_feeds = 0;  // in the row at hand
    bool regular = true;
    for (size_t at = begin_; at < size_ && regular; at += kBlock) {
        Block block = read_block(text_ + at, &seen);
        if (size_ - at < kBlock) {
            const uint64_t valid = below(static_cast<int>(size_ - at));
            block.quotes &= valid, block.commas &= valid, block.feeds &= valid;
        }
        const uint64_t quoted = running_parity(block.quotes) ^ inside;
        uint64_t separators = (block.commas | block.feeds) & ~quoted;
        const uint64_t opening = block.quotes & quoted, closing = block.quotes & ~quoted;
        const uint64_t bad_opening = opening & ~((separators | closing) << 1 | may_open);
        uint64_t bad_closing = (closing << 1 | must_follow) & ~(separators | opening);
        may_open = (separators | closing) >> 63;
        must_follow = closing >> 63;
        inside = static_cast<uint64_t>(static_cast<int64_t>(quoted) >> 63);
        // What stands behind a closing quote may still be a line's CR, or lie behind the text.
        for (uint64_t left = bad_closing; left != 0; left &= left - 1) {
            const int bit = std::countr_zero(left);
            const size_t place = at + static_cast<size_t>(bit);
            if (place >= size_ || (text_[place] == '\r' && place + 1 < size_ && text_[place + 1] == '\n'))
                bad_closing &= ~(uint64_t{1} << bit);
        }
        uint64_t valid = ~uint64_t{0};
        if ((bad_opening | bad_closing) != 0) {
            valid = below(std::countr_zero(bad_opening | bad_closing));
            separators &= valid;
            regular = false;
        }
        uint64_t quoted_feeds_here = block.feeds & quoted & valid;
        const uint64_t row_ends = block.feeds & separators;
        const size_t counted = count;
        for (uint64_t left = separators; left != 0; left &= left - 1)
            ends[count++] = static_cast<uint32_t>(at + static_cast<size_t>(std::countr_zero(left)));
        for (uint64_t left = row_ends; left != 0; left &= left - 1) {
            const int bit = std::countr_zero(left);
            if (quoted_feeds_here != 0) {
                quoted_feeds += static_cast<uint32_t>(std::popcount(quoted_feeds_here & below(bit)));
                quoted_feeds_here &= ~below(bit);
            }
            end_row(
                counted + static_cast<size_t>(std::popcount(separators & (below(bit) | uint64_t{1} << bit))),
                quoted_feeds + 1);
            begin_ = at + static_cast<size_t>(bit) + 1;
            quoted_feeds = 0;
        }
        quoted_feeds += static_cast<uint32_t>(std::popcount(quoted_feeds_here));
    }
    if (!seen.plain()) plain_ = false;
    return begin_ == size_;
}

// Reads the row at begin_. False: it does not end in the text, and may go on behind it.
bool CsvIndex::read_carefully(bool ends_with_text) {
    const char *at = text_ + begin_, *const end = text_ + size_;
    const uint32_t first_line = lines_;
    size_t count = first_;
    for (;;) {
        const char* const cell = at;
        if (at < end && *at == '"') {
            // To the closing quote: the first that is not doubled.
            const char* close = at + 1;
            for (;;) {
                close = static_cast<const char*>(std::memchr(close, '"', static_cast<size_t>(end - close)));
                if (close == nullptr || close + 1 == end || close[1] != '"') break;
                close += 2;
            }
            if (close == nullptr && !ends_with_text) return false;
            if (close != nullptr) {
                const char* const next = close + 1;
                if (next == end && !ends_with_text) return false;
                const bool ends_cell = next == end || *next == ',' || *next == '\n' ||
                                       (*next == '\r' && (next + 1 == end || next[1] == '\n'));
                if (ends_cell || !opens_another_cell(cell, close))
                    at = next;
                else
                    close = nullptr;
            }
            if (close == nullptr) {
                torn_quotes_.push_back(first_line + count_feeds(text_ + begin_, cell));
                ++at;
            }
        }
        while (at < end && *at != ',' && *at != '\n') ++at;
        if (at == end && !ends_with_text) return false;
        ends_[count++] = static_cast<uint32_t>(at - text_);
        if (at == end || *at == '\n') break;
        ++at;
    }
    const bool closed = at < end;
    end_row(count, count_feeds(text_ + begin_, at) + (closed ? 1 : 0));
    last_row_open_ = !closed;
    plain_ = false;  // not looked at
    begin_ = static_cast<size_t>(at - text_) + (closed ? 1 : 0);
    return true;
}

void CsvIndex::join_cells(CsvRow& row, uint32_t number, uint32_t extra) {
    uint32_t* const ends = ends_.get() + row.first;
    std::copy(ends + number + extra, ends + row.cells, ends + number);
    row.cells -= extra;
}

namespace {

size_t count_quotes(std::string_view text) {
    const char *at = text.data(), *const end = at + text.size();
    size_t count = 0;
    for (; static_cast<size_t>(end - at) >= kBlock; at += kBlock) {
        Bytes bytes;
        load(bytes, at);
        count += static_cast<size_t>(std::popcount(equal_bytes(bytes, '"')));
    }
    return count + static_cast<size_t>(std::count(at, end, '"'));
}

}  // namespace

size_t csv_cut(std::string_view text) {
    const size_t last = text.rfind('\n');
    if (last == std::string_view::npos) return 0;
    bool quoted = count_quotes(text.substr(0, last)) % 2 != 0;
    for (size_t at = last;;) {
        if (text[at] == '\n' && !quoted) return at + 1;
        if (at == 0) return last + 1;
        --at;
        if (text[at] == '"') quoted = !quoted;
    }
}

}  // namespace profana
