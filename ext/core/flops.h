// Floating-point operations of the operators whose work is a matrix product, from the shapes of their
// operands.
//
// A multiply-add counts two; bias, scaling, softmax, masks, activations and data movement count nothing.
// Results are exact. A shape that does not fit throws a ShapeError whose text begins with the argument's
// name; so does a result beyond 64 bits.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "ext/core/shape.h"

namespace profana::flops {

__extension__ typedef unsigned __int128 Wide;

// A product of sizes. It remembers that it grew too large and that a factor was 0, so factors come in any
// order.
class Product {
  public:
    Product(std::initializer_list<int64_t> factors);
    Product& times(int64_t factor) { return times_wide(static_cast<Wide>(factor)); }  // factor >= 0
    Product& times_wide(Wide factor);
    int64_t value() const;  // throws ShapeError when beyond 64 bits

  private:
    uint64_t value_ = 1;
    bool zero_ = false, overflow_ = false;
};

int64_t sum(int64_t a, int64_t b);  // of two results; throws ShapeError when beyond 64 bits

int64_t mm(const Shape& a, const Shape& b);      // [M,K] x [K,N]; addmm is the same
int64_t bmm(const Shape& a, const Shape& b);     // [B,M,K] x [B,K,N]
int64_t matmul(const Shape& a, const Shape& b);  // torch.matmul: vectors, matrices, broadcast batch dims
int64_t linear(const Shape& input, const Shape& weight);
int64_t all_gather_mm(const Shape& x1, const Shape& x2, int64_t world_size);
int64_t transpose_bmm(const Shape& x1, const Shape& x2, const std::vector<int64_t>& perm_x1,
                      const std::vector<int64_t>& perm_x2);

// Rows of x against a weight [K,N] or [experts,K,N], of which each row meets one expert.
// transposed: the weight is [.., N, K].
int64_t rows_by_weight(const Shape& x, const Shape& weight, bool transposed);

// One weight for each x; or one x whose rows group_list deals out to the weights: as lengths, or as
// cumulative ends (the last one is the row count and the sum is more).
int64_t grouped_matmul(const std::vector<Shape>& x, const std::vector<Shape>& weights,
                       const std::optional<std::vector<int64_t>>& group_list);

// Convolution of any dimension, from what was produced: output [N,Cout,..], weight [Cout,Cin/groups,..].
int64_t convolution(const Shape& output, const Shape& weight);

enum class Layout { kBnsd, kBsnd, kBsh, kSbh, kTnd };
std::optional<Layout> parse_layout(std::string_view name);  // upper or lower case

// How masked-out score elements count.
//   recorder      causal modes by half squares, no mask in TND: what the recorder of mfu_flops writes
//   causal_exact  the elements below the diagonal, one by one: what a kernel that skips the rest computes
//   full          all of them: model FLOPs
enum class Convention { kRecorder, kCausalExact, kFull };
std::optional<Convention> parse_convention(std::string_view name);

// Twice the score elements of one head of one sequence, so that half squares stay whole numbers.
// sparse_mode 0: none masked; 2: causal from the top left; 3: causal from the bottom right.
Wide twice_scores(int64_t seq_q, int64_t seq_kv, int64_t sparse_mode, Convention convention);

struct Attention {
    Shape q, k, v;
    Layout layout = Layout::kBnsd;
    int64_t q_heads = 0;   // 0: as the shape says (TND)
    int64_t kv_heads = 0;  // 0: found from the shapes
    int64_t sparse_mode = 0;
    std::optional<std::vector<int64_t>> ends_q, ends_kv;  // TND: cumulative lengths
    Convention convention = Convention::kRecorder;
};
int64_t attention(const Attention& call);

// Block-sparse attention: mask[batch][head][query block][key block].
struct BlockSparse {
    Shape q, k, v;
    NestedFlags mask;
    int64_t block_q = 0, block_kv = 0;
    Layout q_layout = Layout::kTnd, kv_layout = Layout::kTnd;
    std::optional<std::vector<int64_t>> lengths_q, lengths_kv;  // per sequence; TND: cumulative
    int64_t kv_heads = 1;                                       // splits the width of BSH and SBH
};
int64_t block_sparse_attention(const BlockSparse& call);

// Attention that reads at most k of each query token's context.
int64_t topk_attention(const std::vector<int64_t>& contexts, int64_t k, int64_t heads, int64_t dim_qk,
                       int64_t dim_v);

}  // namespace profana::flops
