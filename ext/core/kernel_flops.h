// FLOPs where nobody recorded them: of a device kernel from its shapes and formats, of a framework operator
// from its input dims. Estimates: whatever does not fit a rule is unknown, never an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ext/core/shape.h"

namespace profana {

// Tensors as the profiler lists them. An entry that is not a shape is nullopt.
using TensorList = std::vector<std::optional<Shape>>;

// 'a;b;;c' or a JSON array of arrays; a nested list of tensors is one entry without a shape.
TensorList parse_tensors(std::string_view text);
std::vector<std::string_view> parse_formats(std::string_view text);  // by ';'

// What the shapes of a kernel mean.
//   gemm                  inputs a, b, output; either operand may be stored transposed, the output tells
//   which gemm_scatter          the same, but the output holds only a part of the rows grouped_gemm as many
//   outputs as pairs of inputs; or one x, whose rows each meet one weight convolution           inputs x,
//   weight, output y convolution_dgrad     inputs weight, dy (last), output dx convolution_wgrad     inputs
//   x, dy (last), output dw attention             inputs q, k, v; the softmax statistics [B,N,S,8] among the
//   outputs tell the layout attention_backward    the same statistics among the inputs; five products against
//   the forward's two
struct KernelShapes {
    TensorList inputs, outputs;
    std::vector<std::string_view> input_formats, output_formats;
    // The weight of a convolution as the framework has it, where known: kernels see it padded.
    std::optional<Shape> weight;
};
struct KernelRule {
    std::string_view name;
    std::optional<int64_t> (*apply)(const KernelShapes&);
};
const KernelRule* find_kernel_rule(std::string_view name);  // nullptr: there is none
std::string kernel_rules();                                 // their names, for error messages
std::optional<int64_t> kernel_flops(const KernelRule& rule, const KernelShapes& shapes);

// What the input dims of an operator mean. The operands begin at input `first`.
//   mm, bmm, matmul, linear              two operands
//   convolution                          x, weight, (bias), stride, padding, dilation, transposed, output
//   padding convolution_backward                 dy, x, weight, .., output mask; as many products as it wants
//   gradients attention_bnsd, attention_bsnd       q, k, v; causal where concrete argument `causal_at` says
//   True attention_bnsd_backward, ..          the same, five products against two
struct OperatorCall {
    TensorList inputs;
    std::vector<std::string_view> scalars;  // by position, beside the inputs; empty where not known
    size_t first = 0;
    std::optional<size_t> causal_at;
};
struct OperatorRule {
    std::string_view name;
    std::optional<int64_t> (*apply)(const OperatorCall&);
};
const OperatorRule* find_operator_rule(std::string_view name);
std::string operator_rules();
std::optional<int64_t> operator_flops(const OperatorRule& rule, const OperatorCall& call);

// The entries of a JSON array of strings ('["", "[4, 4]", "False"]'), without their quotes.
std::vector<std::string_view> parse_scalars(std::string_view json);

}  // namespace profana
