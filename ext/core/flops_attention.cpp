// Attention: 2 x score elements x (width of q.k + width of v), query heads and batch within the elements.
#include <algorithm>
#include <limits>
#include <string>

#include "ext/core/flops.h"

namespace profana::flops {
namespace {

// One operand by its roles. Unflattened layouts bring their own head count.
struct Dims {
    int64_t batch = 1, heads = 0, seq = 0, width = 0;
};

[[noreturn]] void bad(const char* argument, const Shape& shape, const std::string& why) {
    throw ShapeError(std::string(argument) + " " + shape_excerpt(shape) + ": " + why);
}

bool is_flat(Layout layout) {
    return layout == Layout::kBsh || layout == Layout::kSbh;
}

const char* form_of(Layout layout) {
    switch (layout) {
        case Layout::kBnsd:
            return "BNSD [batch,heads,seq,dim]";
        case Layout::kBsnd:
            return "BSND [batch,seq,heads,dim]";
        case Layout::kBsh:
            return "BSH [batch,seq,hidden]";
        case Layout::kSbh:
            return "SBH [seq,batch,hidden]";
        case Layout::kTnd:
            return "TND [tokens,heads,dim]";
    }
    return "";
}

int64_t divided(const char* argument, const Shape& shape, int64_t hidden, int64_t by, const char* what) {
    if (by < 1 || hidden % by != 0)
        bad(argument, shape,
            "its width " + std::to_string(hidden) + " does not divide by " + std::to_string(by) + " " + what);
    return hidden / by;
}

// Flat layouts: heads is the given count. Others: the shape's own.
Dims dims_of(const char* argument, const Shape& shape, Layout layout, int64_t heads) {
    const size_t rank = layout == Layout::kBnsd || layout == Layout::kBsnd ? 4 : 3;
    if (shape.size() != rank) bad(argument, shape, std::string("layout ") + form_of(layout) + " is expected");
    switch (layout) {
        case Layout::kBnsd:
            return {shape[0], shape[1], shape[2], shape[3]};
        case Layout::kBsnd:
            return {shape[0], shape[2], shape[1], shape[3]};
        case Layout::kBsh:
            return {shape[0], heads, shape[1], divided(argument, shape, shape[2], heads, "heads")};
        case Layout::kSbh:
            return {shape[1], heads, shape[0], divided(argument, shape, shape[2], heads, "heads")};
        case Layout::kTnd:
            return {1, shape[1], shape[0], shape[2]};
    }
    return {};
}

// Lengths of sequences from their cumulative ends; ends of 0 behind the last sequence are padding.
std::vector<int64_t> lengths_from_ends(const char* argument, std::vector<int64_t> ends) {
    const std::vector<int64_t> given = ends;
    while (!ends.empty() && ends.back() == 0) ends.pop_back();
    for (size_t i = ends.size(); i-- > 0;) {
        const int64_t before = i == 0 ? 0 : ends[i - 1];
        if (before < 0 || ends[i] < before) bad(argument, given, "cumulative lengths never fall");
        ends[i] -= before;
    }
    return ends;
}

void check_operands(const Attention& call, const Dims& q, const Dims& k, const Dims& v) {
    if (call.q_heads > 0 && call.q_heads != q.heads)
        bad("q", call.q,
            "it has " + std::to_string(q.heads) + " heads, the head count is " +
                std::to_string(call.q_heads));
    if (k.width != q.width)
        bad("k", call.k,
            "its head dim is " + std::to_string(k.width) + ", that of q is " + std::to_string(q.width));
    if (k.heads < 1 || q.heads % k.heads != 0)
        bad("k", call.k,
            "its " + std::to_string(k.heads) + " heads do not divide q's " + std::to_string(q.heads));
    if (k.batch != q.batch) bad("k", call.k, "its batch is not that of q " + shape_excerpt(call.q));
    if (v.batch != k.batch || v.heads != k.heads || v.seq != k.seq)
        bad("v", call.v, "batch, heads and length are not those of k " + shape_excerpt(call.k));
}

// Key heads of a flat layout: the width of a query head tells them where nobody does.
int64_t kv_heads_of(const Attention& call) {
    if (!is_flat(call.layout)) return 0;
    if (call.kv_heads > 0) return call.kv_heads;
    if (call.k.size() != 3) bad("k", call.k, std::string("layout ") + form_of(call.layout) + " is expected");
    const Dims q = dims_of("q", call.q, call.layout, call.q_heads);
    return divided("k", call.k, call.k[2], q.width, "(the head dim of q)");
}

Wide twice_scores_by_sequence(const Attention& call) {
    const auto q = lengths_from_ends("seq_q", *call.ends_q), kv = lengths_from_ends("seq_kv", *call.ends_kv);
    if (q.size() != kv.size())
        bad("seq_kv", *call.ends_kv,
            std::to_string(kv.size()) + " sequences, seq_q has " + std::to_string(q.size()));
    // The recorder writes TND without a mask.
    const int64_t mode = call.convention == Convention::kCausalExact ? call.sparse_mode : 0;
    constexpr Wide kTooMany = static_cast<Wide>(std::numeric_limits<int64_t>::max()) << 32;
    Wide out = 0;
    for (size_t i = 0; i < q.size(); ++i) {
        out += twice_scores(q[i], kv[i], mode, call.convention);
        if (out > kTooMany) throw ShapeError("the result is beyond 64 bits");
    }
    return out;
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

// Real lengths of the sequences of one operand.
std::vector<int64_t> sequence_lengths(const char* argument, const std::optional<std::vector<int64_t>>& given,
                                      Layout layout, int64_t seq, size_t batch) {
    if (!given) {
        if (layout == Layout::kTnd && batch > 1)
            throw ShapeError(std::string(argument) + ": needed for layout TND with " + std::to_string(batch) +
                             " sequences");
        return std::vector<int64_t>(batch, seq);
    }
    std::vector<int64_t> out = *given;
    while (!out.empty() && out.back() == 0 && out.size() > batch) out.pop_back();
    if (out.size() != batch)
        bad(argument, *given,
            std::to_string(out.size()) + " lengths for " + std::to_string(batch) + " sequences in mask");
    if (layout == Layout::kTnd) {
        for (size_t i = batch; i-- > 1;) out[i] -= out[i - 1];
    }
    for (const int64_t length : out)
        if (length < 0)
            bad(argument, *given,
                layout == Layout::kTnd ? "cumulative lengths never fall" : "a length is negative");
    return out;
}

}  // namespace

std::optional<Layout> parse_layout(std::string_view name) {
    const std::string text = lower(name);
    if (text == "bnsd") return Layout::kBnsd;
    if (text == "bsnd") return Layout::kBsnd;
    if (text == "bsh") return Layout::kBsh;
    if (text == "sbh") return Layout::kSbh;
    if (text == "tnd") return Layout::kTnd;
    return std::nullopt;
}

std::optional<Convention> parse_convention(std::string_view name) {
    const std::string text = lower(name);
    if (text == "recorder") return Convention::kRecorder;
    if (text == "causal_exact") return Convention::kCausalExact;
    if (text == "full") return Convention::kFull;
    return std::nullopt;
}

Wide twice_scores(int64_t seq_q, int64_t seq_kv, int64_t sparse_mode, Convention convention) {
    if (sparse_mode != 0 && sparse_mode != 2 && sparse_mode != 3)
        throw ShapeError(
            "sparse_mode " + std::to_string(sparse_mode) +
            ": 0 (no mask), 2 (causal from the top left) and 3 (causal from the bottom right) have a rule");
    const Wide q = static_cast<Wide>(seq_q), kv = static_cast<Wide>(seq_kv);
    if (sparse_mode == 0 || convention == Convention::kFull) return 2 * q * kv;
    const Wide small = std::min(q, kv);
    // The triangle next to the corner where the diagonal starts: with its diagonal, or as a half square.
    const Wide triangle = convention == Convention::kCausalExact ? small * (small + 1) : small * small;
    const bool corner_only = sparse_mode == 2 ? q < kv : q >= kv;
    if (corner_only) return triangle;
    // The other corner's triangle is masked: with the diagonal taken out, or as a half square.
    const Wide masked = convention == Convention::kCausalExact ? small * small - small : small * small;
    return 2 * q * kv - masked;
}

int64_t attention(const Attention& call) {
    const bool tnd = call.layout == Layout::kTnd;
    if (is_flat(call.layout) && call.q_heads < 1)
        throw ShapeError("head count " + std::to_string(call.q_heads) + ": at least 1 is needed for layout " +
                         form_of(call.layout));
    const Dims q = dims_of("q", call.q, call.layout, call.q_heads);
    const int64_t kv_heads = kv_heads_of(call);
    const Dims k = dims_of("k", call.k, call.layout, kv_heads),
               v = dims_of("v", call.v, call.layout, kv_heads);
    check_operands(call, q, k, v);
    if (tnd && (!call.ends_q || !call.ends_kv)) throw ShapeError("seq_q and seq_kv: needed for layout TND");
    const Wide twice =
        tnd ? twice_scores_by_sequence(call) : twice_scores(q.seq, k.seq, call.sparse_mode, call.convention);
    const Wide width = static_cast<Wide>(q.width) + static_cast<Wide>(v.width);
    return Product{q.batch, q.heads}.times_wide(twice).times_wide(width).value();
}

int64_t block_sparse_attention(const BlockSparse& call) {
    if (call.block_q < 1 || call.block_kv < 1)
        throw ShapeError("block_shape: two sizes of at least 1 are needed");
    const auto& lengths =
        call.mask.lengths;  // batches; heads by batch; query blocks by head; key blocks by row
    const size_t batch = static_cast<size_t>(lengths[0][0]);
    if (batch == 0) return 0;
    const Dims q = dims_of("q", call.q, call.q_layout, lengths[1][0]);
    const Dims v = dims_of("v", call.v, call.kv_layout, call.kv_heads);
    const Dims k = dims_of("k", call.k, call.kv_layout, call.kv_heads);
    if (k.width != q.width)
        bad("k", call.k,
            "its head dim is " + std::to_string(k.width) + ", that of q is " + std::to_string(q.width));
    if (v.batch != k.batch || v.heads != k.heads || v.seq != k.seq)
        bad("v", call.v, "batch, heads and length are not those of k " + shape_excerpt(call.k));
    if (call.q_layout != Layout::kTnd && static_cast<size_t>(q.batch) != batch)
        throw ShapeError("mask: it has " + std::to_string(batch) + " sequences, q has " +
                         std::to_string(q.batch));
    const auto q_lengths = sequence_lengths("seq_q", call.lengths_q, call.q_layout, q.seq, batch);
    const auto kv_lengths = sequence_lengths("seq_kv", call.lengths_kv, call.kv_layout, v.seq, batch);
    const auto tokens = [](int64_t length, int64_t block, int64_t index) {
        Wide start = static_cast<Wide>(block) * static_cast<Wide>(index);
        return start >= static_cast<Wide>(length) ? 0 : std::min(block, length - static_cast<int64_t>(start));
    };
    Wide elements = 0;
    size_t head_at = 0, row_at = 0, flag_at = 0;
    for (size_t b = 0; b < batch; ++b) {
        if (lengths[1][b] != q.heads)
            throw ShapeError("mask: sequence " + std::to_string(b) + " has " + std::to_string(lengths[1][b]) +
                             " heads, q has " + std::to_string(q.heads));
        for (int64_t head = 0; head < lengths[1][b]; ++head, ++head_at)
            for (int64_t q_block = 0; q_block < lengths[2][head_at]; ++q_block, ++row_at) {
                const int64_t q_tokens = tokens(q_lengths[b], call.block_q, q_block);
                for (int64_t kv_block = 0; kv_block < lengths[3][row_at]; ++kv_block, ++flag_at)
                    if (call.mask.values[flag_at])
                        elements += static_cast<Wide>(q_tokens) *
                                    static_cast<Wide>(tokens(kv_lengths[b], call.block_kv, kv_block));
            }
    }
    const Wide width = static_cast<Wide>(q.width) + static_cast<Wide>(v.width);
    return Product{2}.times_wide(elements).times_wide(width).value();
}

int64_t topk_attention(const std::vector<int64_t>& contexts, int64_t k, int64_t heads, int64_t dim_qk,
                       int64_t dim_v) {
    if (k < 0 || heads < 0 || dim_qk < 0 || dim_v < 0)
        throw ShapeError("k, heads and dims: 0 or more are needed");
    Wide elements = 0;
    for (const int64_t context : contexts) {
        if (context < 0) bad("contexts", contexts, "a length is negative");
        elements += static_cast<Wide>(std::min(context, k));
    }
    return Product{2, heads}
        .times_wide(elements)
        .times_wide(static_cast<Wide>(dim_qk) + static_cast<Wide>(dim_v))
        .value();
}

}  // namespace profana::flops
