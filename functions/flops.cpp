// The flops_* family: floating-point operations of an operator from the shapes of its operands.
//
// The same for all: a multiply-add counts 2; only the matrix products count; the result is an exact INTEGER;
// NULL in gives NULL; a shape that does not fit, or a result beyond 64 bits, is an error.
// Formulas: the table of supported operators in Ascend's operator_mfu page; where they differ, the doc says
// so.
#include "ext/core/flops.h"

#include "ext/registry.h"
#include "functions/shape_arguments.h"

namespace profana {
namespace {

using Body = int64_t (*)(const Arguments&);

constexpr Parameter::Kind kOptional = Parameter::kOptional, kNullable = Parameter::kNullable;

void integer_answer(sqlite3_context* context, int count, sqlite3_value** values, const char* function,
                    std::initializer_list<Parameter> parameters, Body body) {
    answer(context, count, values, function, parameters,
           [&](const Arguments& in) { sqlite3_result_int64(context, body(in)); });
}

flops::Layout layout(const Arguments& in, int i) {
    const auto value = flops::parse_layout(in.text(i));
    if (!value) in.refuse(i, "BNSD, BSND, BSH, SBH or TND");
    return *value;
}

flops::Convention convention(const Arguments& in, int i) {
    if (!in.given(i)) return flops::Convention::kRecorder;
    const auto value = flops::parse_convention(in.text(i));
    if (!value) in.refuse(i, "recorder, causal_exact or full");
    return *value;
}

void mm(sqlite3_context* context, int count, sqlite3_value** values) {
    integer_answer(context, count, values, "flops_mm", {{"a"}, {"b"}},
                   [](const Arguments& in) { return flops::mm(in.shape(0), in.shape(1)); });
}

void bmm(sqlite3_context* context, int count, sqlite3_value** values) {
    integer_answer(context, count, values, "flops_bmm", {{"a"}, {"b"}},
                   [](const Arguments& in) { return flops::bmm(in.shape(0), in.shape(1)); });
}

void matmul(sqlite3_context* context, int count, sqlite3_value** values) {
    integer_answer(context, count, values, "flops_matmul", {{"a"}, {"b"}},
                   [](const Arguments& in) { return flops::matmul(in.shape(0), in.shape(1)); });
}

void linear(sqlite3_context* context, int count, sqlite3_value** values) {
    integer_answer(context, count, values, "flops_linear", {{"input"}, {"weight"}},
                   [](const Arguments& in) { return flops::linear(in.shape(0), in.shape(1)); });
}

void addmm(sqlite3_context* context, int count, sqlite3_value** values) {
    integer_answer(context, count, values, "flops_addmm", {{"mat1"}, {"mat2"}},
                   [](const Arguments& in) { return flops::mm(in.shape(0), in.shape(1)); });
}

void all_gather_base_mm(sqlite3_context* context, int count, sqlite3_value** values) {
    integer_answer(
        context, count, values, "flops_all_gather_base_mm", {{"x1"}, {"x2"}, {"world_size"}},
        [](const Arguments& in) { return flops::all_gather_mm(in.shape(0), in.shape(1), in.integer(2, 1)); });
}

void transpose_batchmatmul(sqlite3_context* context, int count, sqlite3_value** values) {
    integer_answer(context, count, values, "flops_transpose_batchmatmul",
                   {{"x1"}, {"x2"}, {"perm_x1", kOptional}, {"perm_x2", kOptional}}, [](const Arguments& in) {
                       const auto perm = [&in](int i) {
                           return in.given(i) ? in.integers(i) : std::vector<int64_t>{0, 1, 2};
                       };
                       return flops::transpose_bmm(in.shape(0), in.shape(1), perm(2), perm(3));
                   });
}

// NULL for the group list of one x and several weights: how the rows are dealt out is not known.
void grouped_matmul(sqlite3_context* context, int count, sqlite3_value** values) {
    answer(context, count, values, "flops_grouped_matmul",
           {{"x_shapes"}, {"w_shapes"}, {"group_list", kNullable}}, [&](const Arguments& in) {
               const auto x = in.shapes(0), weights = in.shapes(1);
               if (x.size() != weights.size() && count == 3 && !in.given(2)) return;
               sqlite3_result_int64(context, flops::grouped_matmul(x, weights, in.optional_integers(2)));
           });
}

void quant_matmul_gelu(sqlite3_context* context, int count, sqlite3_value** values) {
    integer_answer(
        context, count, values, "flops_quant_matmul_gelu", {{"x1"}, {"x2"}},
        [](const Arguments& in) { return flops::rows_by_weight(in.shape(0), in.shape(1), false); });
}

void grouped_matmul_swiglu_quant_v2(sqlite3_context* context, int count, sqlite3_value** values) {
    integer_answer(
        context, count, values, "flops_grouped_matmul_swiglu_quant_v2", {{"x"}, {"weight"}},
        [](const Arguments& in) { return flops::rows_by_weight(in.shape(0), in.shape(1), false); });
}

int64_t gmm_with_shared_expert(const Arguments& in) {
    const auto transposed = [&in](int i) { return in.given(i) && in.flag(i); };
    const int64_t routed = flops::rows_by_weight(in.shape(0), in.shape(1), transposed(4));
    if (!in.given(2) || !in.given(3)) return routed;
    const int64_t shared = flops::rows_by_weight(in.shape(2), in.shape(3), transposed(5));
    return flops::sum(routed, shared);
}

void alltoallv_gmm(sqlite3_context* context, int count, sqlite3_value** values) {
    integer_answer(context, count, values, "flops_alltoallv_gmm",
                   {{"gmm_x"},
                    {"gmm_w"},
                    {"mm_x", kNullable},
                    {"mm_w", kNullable},
                    {"trans_gmm", kOptional},
                    {"trans_mm", kOptional}},
                   gmm_with_shared_expert);
}

void gmm_alltoallv(sqlite3_context* context, int count, sqlite3_value** values) {
    integer_answer(context, count, values, "flops_gmm_alltoallv",
                   {{"gmm_x"},
                    {"gmm_w"},
                    {"mm_x", kNullable},
                    {"mm_w", kNullable},
                    {"trans_gmm", kOptional},
                    {"trans_mm", kOptional}},
                   gmm_with_shared_expert);
}

// NULL where layout TND lacks the sequences' lengths.
void attention_answer(sqlite3_context* context, const flops::Attention& call) {
    if (call.layout == flops::Layout::kTnd && (!call.ends_q || !call.ends_kv)) return;
    sqlite3_result_int64(context, flops::attention(call));
}

void fusion_attention(sqlite3_context* context, int count, sqlite3_value** values) {
    answer(context, count, values, "flops_fusion_attention",
           {{"q"},
            {"k"},
            {"v"},
            {"head_num"},
            {"layout"},
            {"sparse_mode", kOptional},
            {"seq_q", kNullable},
            {"seq_kv", kNullable},
            {"convention", kOptional}},
           [&](const Arguments& in) {
               flops::Attention call;
               call.q = in.shape(0), call.k = in.shape(1), call.v = in.shape(2);
               call.q_heads = in.integer(3, 1);
               call.layout = layout(in, 4);
               call.sparse_mode = in.given(5) ? in.integer(5) : 0;
               call.ends_q = in.optional_integers(6), call.ends_kv = in.optional_integers(7);
               call.convention = convention(in, 8);
               attention_answer(context, call);
           });
}

void fused_infer_attention_score(sqlite3_context* context, int count, sqlite3_value** values) {
    answer(context, count, values, "flops_fused_infer_attention_score",
           {{"q"},
            {"k"},
            {"v"},
            {"layout"},
            {"num_heads"},
            {"num_kv_heads", kOptional},
            {"sparse_mode", kOptional},
            {"seq_q", kNullable},
            {"seq_kv", kNullable},
            {"convention", kOptional}},
           [&](const Arguments& in) {
               flops::Attention call;
               call.q = in.shape(0), call.k = in.shape(1), call.v = in.shape(2);
               call.layout = layout(in, 3);
               call.q_heads = in.integer(4, 1);
               call.kv_heads = in.given(5) ? in.integer(5, 0) : 0;
               if (call.kv_heads == 0) call.kv_heads = call.q_heads;
               call.sparse_mode = in.given(6) ? in.integer(6) : 0;
               call.ends_q = in.optional_integers(7), call.ends_kv = in.optional_integers(8);
               call.convention = convention(in, 9);
               attention_answer(context, call);
           });
}

void block_sparse_attention(sqlite3_context* context, int count, sqlite3_value** values) {
    integer_answer(context, count, values, "flops_block_sparse_attention",
                   {{"q"},
                    {"k"},
                    {"v"},
                    {"mask"},
                    {"block_shape"},
                    {"q_layout", kOptional},
                    {"kv_layout", kOptional},
                    {"seq_q", kNullable},
                    {"seq_kv", kNullable},
                    {"num_kv_heads", kOptional}},
                   [](const Arguments& in) {
                       flops::BlockSparse call;
                       call.q = in.shape(0), call.k = in.shape(1), call.v = in.shape(2);
                       std::string why;
                       auto mask = parse_nested_flags(in.text(3), 4, &why);
                       if (!mask)
                           in.refuse(3, "a JSON array [sequence][head][query block][key block] of 0 and 1 (" +
                                            why + ")");
                       call.mask = std::move(*mask);
                       const auto block = in.integers(4);
                       if (block.size() != 2 || block[0] < 1 || block[1] < 1)
                           in.refuse(4, "two sizes of at least 1, as '[128,128]'");
                       call.block_q = block[0], call.block_kv = block[1];
                       if (in.given(5)) call.q_layout = layout(in, 5);
                       if (in.given(6)) call.kv_layout = layout(in, 6);
                       call.lengths_q = in.optional_integers(7), call.lengths_kv = in.optional_integers(8);
                       if (in.given(9)) call.kv_heads = in.integer(9, 1);
                       return flops::block_sparse_attention(call);
                   });
}

void topk_attention(sqlite3_context* context, int count, sqlite3_value** values) {
    integer_answer(context, count, values, "flops_topk_attention",
                   {{"contexts"}, {"k"}, {"heads"}, {"dim_qk"}, {"dim_v", kOptional}},
                   [](const Arguments& in) {
                       const int64_t dim = in.integer(3, 0);
                       return flops::topk_attention(in.integers(0), in.integer(1, 0), in.integer(2, 0), dim,
                                                    in.given(4) ? in.integer(4, 0) : dim);
                   });
}

void convolution(sqlite3_context* context, int count, sqlite3_value** values) {
    integer_answer(context, count, values, "flops_convolution", {{"output"}, {"weight"}},
                   [](const Arguments& in) { return flops::convolution(in.shape(0), in.shape(1)); });
}

void backward(sqlite3_context* context, int count, sqlite3_value** values) {
    integer_answer(context, count, values, "flops_backward", {{"kind"}, {"forward_flops"}},
                   [](const Arguments& in) {
                       const auto kind = in.text(0);
                       const int64_t forward = in.integer(1, 0);
                       if (kind == "matmul" || kind == "convolution")
                           return flops::Product{2, forward}.value();
                       if (kind == "flash_attention")
                           return flops::sum(flops::Product{2, forward}.value(), forward / 2);
                       in.refuse(0, "matmul, convolution or flash_attention");
                   });
}

constexpr FunctionSpec kFunctions[] = {
    {"flops_mm", -1, kPure, "flops_mm(a SHAPE, b SHAPE) -> INTEGER", "torch.mm: a=[M,K], b=[K,N]: 2*M*K*N.",
     mm},
    {"flops_bmm", -1, kPure, "flops_bmm(a SHAPE, b SHAPE) -> INTEGER",
     "torch.bmm: a=[B,M,K], b=[B,K,N]: 2*B*M*K*N.", bmm},
    {"flops_matmul", -1, kPure, "flops_matmul(a SHAPE, b SHAPE) -> INTEGER",
     "torch.matmul: 2*prod(batch)*M*K*N, batch dims broadcast; a vector a has M=1, a vector b has N=1.",
     matmul},
    {"flops_linear", -1, kPure, "flops_linear(input SHAPE, weight SHAPE) -> INTEGER",
     "torch.nn.functional.linear: weight=[out,in]: 2*prod(input without its last dim)*out*in.", linear},
    {"flops_addmm", -1, kPure, "flops_addmm(mat1 SHAPE, mat2 SHAPE) -> INTEGER",
     "torch.addmm: 2*M*K*N of mat1 x mat2; the added matrix counts nothing.", addmm},
    {"flops_all_gather_base_mm", -1, kPure,
     "flops_all_gather_base_mm(x1 SHAPE, x2 SHAPE, world_size INTEGER) -> INTEGER",
     "npu_all_gather_base_mm: x1=[rows of one rank,K], x2=[K,N]: 2*rows*world_size*K*N.", all_gather_base_mm},
    {"flops_transpose_batchmatmul", -1, kPure,
     "flops_transpose_batchmatmul(x1 SHAPE, x2 SHAPE [, perm_x1 LIST, perm_x2 LIST]) -> INTEGER",
     "npu_transpose_batchmatmul: both shapes permuted first (default [0,1,2]), then 2*B*M*K*N.",
     transpose_batchmatmul},
    {"flops_grouped_matmul", -1, kPure,
     "flops_grouped_matmul(x_shapes SHAPES, w_shapes SHAPES [, group_list LIST]) -> INTEGER",
     "npu_grouped_matmul: as many weights as x: the sum of 2*rows*K*N; a weight [experts,K,N] counts once, "
     "since each "
     "row meets one expert. One x and several weights: its rows dealt out by group_list, given as lengths or "
     "as "
     "cumulative ends; NULL for a NULL group_list.",
     grouped_matmul},
    {"flops_quant_matmul_gelu", -1, kPure, "flops_quant_matmul_gelu(x1 SHAPE, x2 SHAPE) -> INTEGER",
     "npu_quant_matmul_gelu: 2*prod(x1 without its last dim)*K*N.", quant_matmul_gelu},
    {"flops_grouped_matmul_swiglu_quant_v2", -1, kPure,
     "flops_grouped_matmul_swiglu_quant_v2(x SHAPE, weight SHAPE) -> INTEGER",
     "npu_grouped_matmul_swiglu_quant_v2: weight=[experts,K,N]: 2*M*K*N, each row meets one expert.",
     grouped_matmul_swiglu_quant_v2},
    {"flops_alltoallv_gmm", -1, kPure,
     "flops_alltoallv_gmm(gmm_x SHAPE, gmm_w SHAPE [, mm_x SHAPE, mm_w SHAPE [, trans_gmm, trans_mm]]) -> "
     "INTEGER",
     "npu_alltoallv_gmm: 2*rows*K*N of the routed experts, plus the same of the shared expert where mm_x and "
     "mm_w are "
     "given; trans_* = 1: that weight is [..,N,K].",
     alltoallv_gmm},
    {"flops_gmm_alltoallv", -1, kPure,
     "flops_gmm_alltoallv(gmm_x SHAPE, gmm_w SHAPE [, mm_x SHAPE, mm_w SHAPE [, trans_gmm, trans_mm]]) -> "
     "INTEGER",
     "npu_gmm_alltoallv: as flops_alltoallv_gmm.", gmm_alltoallv},
    {"flops_fusion_attention", -1, kPure,
     "flops_fusion_attention(q SHAPE, k SHAPE, v SHAPE, head_num INTEGER, layout TEXT [, sparse_mode INTEGER "
     "[, seq_q LIST, seq_kv LIST [, convention TEXT]]]) -> INTEGER",
     "npu_fusion_attention: 2*score_elements*(dim_qk + dim_v), elements of all batches and query heads. "
     "layout BNSD, "
     "BSND, BSH, SBH or TND; sparse_mode 0 (dense), 2 (causal from the top left), 3 (causal from the bottom "
     "right). "
     "TND takes the cumulative lengths seq_q and seq_kv; without them NULL. convention: recorder (default: "
     "half "
     "squares for causal modes, none masked in TND, as the data's recorder counts), causal_exact (element by "
     "element: "
     "what a kernel computes that skips the mask) or full (nothing masked: model FLOPs).",
     fusion_attention},
    {"flops_fused_infer_attention_score", -1, kPure,
     "flops_fused_infer_attention_score(q SHAPE, k SHAPE, v SHAPE, layout TEXT, num_heads INTEGER [, "
     "num_kv_heads "
     "INTEGER [, sparse_mode INTEGER [, seq_q LIST, seq_kv LIST [, convention TEXT]]]]) -> INTEGER",
     "npu_fused_infer_attention_score: as flops_fusion_attention; num_kv_heads 0 or left out: as num_heads. "
     "Key heads "
     "only split the width of BSH and SBH.",
     fused_infer_attention_score},
    {"flops_block_sparse_attention", -1, kPure,
     "flops_block_sparse_attention(q SHAPE, k SHAPE, v SHAPE, mask JSON, block_shape LIST [, q_layout TEXT, "
     "kv_layout "
     "TEXT [, seq_q LIST, seq_kv LIST [, num_kv_heads INTEGER]]]) -> INTEGER",
     "npu_block_sparse_attention: elements are the tokens of the blocks with 1 in mask[sequence][head][query "
     "block]"
     "[key block], blocks at the edge cut to the real lengths. Layouts default to TND; lengths are "
     "cumulative in TND, "
     "one by one otherwise.",
     block_sparse_attention},
    {"flops_topk_attention", -1, kPure,
     "flops_topk_attention(contexts LIST, k INTEGER, heads INTEGER, dim_qk INTEGER [, dim_v INTEGER]) -> "
     "INTEGER",
     "Attention that reads at most k positions of each query token's context: 2*heads*sum(min(context, "
     "k))*(dim_qk + "
     "dim_v); dim_v left out: as dim_qk.",
     topk_attention},
    {"flops_convolution", -1, kPure, "flops_convolution(output SHAPE, weight SHAPE) -> INTEGER",
     "Convolution of any dimension: output=[N,Cout,..], weight=[Cout,Cin/groups,kernel..]: "
     "2*prod(output)*prod(weight without its first dim).",
     convolution},
    {"flops_backward", 2, kPure, "flops_backward(kind TEXT, forward_flops INTEGER) -> INTEGER",
     "A convention for work that nobody recorded: matmul and convolution 2 x forward (two products of the "
     "same size), "
     "flash_attention 2.5 x forward (five products against two, the scores being computed again). Never "
     "applied "
     "by a view.",
     backward},
};

}  // namespace

std::span<const FunctionSpec> flops_functions() {
    return kFunctions;
}

}  // namespace profana
