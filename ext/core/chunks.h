// Parallel parsing of one file in chunks of about a MiB, cut at row boundaries that are then proved.
//
// Cuts are guesses. A chunk is accepted only after the chunk before it was parsed exactly to its end; so by
// induction from the file's known start every accepted cut is true. Where a guess was wrong, the chunks after
// it are thrown away and cut anew from the last proved row.
//
// A parser may therefore take the start of its chunk for the start of a row, always: what it makes of a wrong
// start is thrown away.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ext/core/input.h"

namespace profana {

// What a parser made of one chunk. Parsers derive their own kind.
struct ChunkResult {
    virtual ~ChunkResult() = default;
    size_t consumed = 0;     // bytes that were whole rows; less than the chunk: the cut was wrong
    bool finished = false;   // the last row of the file stands before `consumed`; the rest is not rows
    bool continues = false;  // what stands behind `consumed` belongs to a row that is left out
};

constexpr size_t kChunkLead = 64, kChunkPadding = 128;

struct Chunk {
    // Not to be changed: a chunk may be cut anew. The kChunkLead bytes before it and the kChunkPadding bytes
    // behind it may be read and changed at will.
    std::string_view bytes;
    uint64_t offset = 0;      // of its first byte in the (inflated) file
    bool at_end = false;      // nothing follows in the file
    bool too_long = false;    // its first row did not end within ChunkLimits::row_bytes
    bool within_row = false;  // it begins where the chunk before said `continues`
    unsigned worker = 0;  // which worker parses it, below LoadContext::threads: for state kept between chunks
};

class ChunkParser {
  public:
    virtual ~ChunkParser() = default;

    // The length of a prefix of `bytes` that seems to be whole rows; 0: no cut to be seen, read more.
    // With too_long, the first row is known not to end within them, or not to be read as it seems.
    virtual size_t cut(std::string_view bytes, bool too_long) const = 0;

    // On any worker thread. Diagnostics go into the result and are reported by merge().
    // Stops before a row that the chunk does not hold to its end, as `consumed` says; if that is the chunk's
    // first row, the same row comes again in a chunk twice as long. With at_end or too_long nothing longer
    // will come: the parser repairs or skips what it can and stops only before what it leaves to the caller.
    // Of a chunk that begins within a row it may consume that row's rest alone.
    virtual std::unique_ptr<ChunkResult> parse(const Chunk& chunk) = 0;

    // In file order, never two at a time; any thread.
    virtual void merge(ChunkResult& result, uint64_t offset) = 0;
};

struct ChunkLimits {
    size_t chunk_bytes = size_t{1} << 20;
    size_t row_bytes = size_t{1} << 30;  // no chunk is made longer than this for the sake of one row
};

// Parses the input from `carry` (bytes already read from it, the first at file offset `offset`) to its end or
// to a result that says finished. Returns the bytes behind the last row: all that are left of the file, or as
// many of them as are read when a result said finished. A parser that makes nothing of a row too long ends
// the file with a diagnostic (row_too_long). Polls context.progress; all workers have ended when it returns
// or throws.
std::string run_chunks(Input& input, std::string carry, uint64_t offset, ChunkParser& parser,
                       LoadContext& context, const ChunkLimits& limits = {});

}  // namespace profana
