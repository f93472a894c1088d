// Parallel parsing of one file in chunks of about a MiB, cut at row boundaries that are then proved.
//
// Cuts are guesses. A chunk is accepted only after the chunk before it was parsed exactly to its end; so by
// induction from the file's known start every accepted cut is true. Where a guess was wrong, the chunks after
// it are thrown away and cut anew from the last proved row.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "ext/core/input.h"

namespace profana {

// What a parser made of one chunk. Parsers derive their own kind.
struct ChunkResult {
    virtual ~ChunkResult() = default;
    size_t consumed = 0;    // bytes that were whole rows; less than the chunk: the cut was wrong
    bool finished = false;  // the last row of the file stands before `consumed`; the rest is not rows
};

struct Chunk {
    std::string_view bytes;    // followed by at least kChunkPadding bytes that may be read and changed
    uint64_t offset = 0;       // of its first byte in the (inflated) file
    bool at_end = false;       // nothing follows in the file
    bool proved = false;       // cut again after a wrong guess: what is left over must be reported, not cut anew
    unsigned worker = 0;       // which worker parses it: for state kept from chunk to chunk
};
constexpr size_t kChunkPadding = 128;

class ChunkParser {
  public:
    virtual ~ChunkParser() = default;
    // The length of a prefix of `bytes` that seems to be whole rows; 0: no cut to be seen, read more.
    virtual size_t cut(std::string_view bytes) const = 0;
    // On any worker thread. Diagnostics go into the result and are reported by merge().
    virtual std::unique_ptr<ChunkResult> parse(const Chunk& chunk) = 0;
    // In file order, never two at a time.
    virtual void merge(ChunkResult& result, uint64_t offset) = 0;
};

struct ChunkLimits {
    size_t chunk_bytes = size_t{1} << 20;
    size_t row_bytes = size_t{1} << 30;  // a row longer than this ends the file with a diagnostic
};

// Parses the input from `carry` (bytes already read from it, the first at file offset `offset`) to its end or to
// a result that says finished. Returns the bytes behind the last row, as far as they are read (all, if not
// finished). Polls context.progress; all workers have ended when it returns or throws.
std::string run_chunks(Input& input, std::string carry, uint64_t offset, ChunkParser& parser, LoadContext& context,
                       const ChunkLimits& limits = {});

}  // namespace profana
