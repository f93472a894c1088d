// Estimates of FLOPs for views: by rule, from shapes alone, NULL where the shapes do not tell.
#include "ext/core/kernel_flops.h"

#include "ext/registry.h"
#include "functions/shape_arguments.h"

namespace profana {
namespace {

constexpr Parameter::Kind kNullable = Parameter::kNullable;

TensorList tensors(const Arguments& in, int i) {
    return in.given(i) ? parse_tensors(in.text(i)) : TensorList();
}

std::vector<std::string_view> formats(const Arguments& in, int i) {
    return in.given(i) ? parse_formats(in.text(i)) : std::vector<std::string_view>();
}

void result(sqlite3_context* context, const std::optional<int64_t>& flops) {
    if (flops) sqlite3_result_int64(context, *flops);
}

void kernel(sqlite3_context* context, int count, sqlite3_value** values) {
    answer(
        context, count, values, "kernel_flops",
        {{"rule"},
         {"input_shapes", kNullable},
         {"input_formats", kNullable},
         {"output_shapes", kNullable},
         {"output_formats", kNullable},
         {"weight", kNullable}},
        [&](const Arguments& in) {
            const KernelRule* rule = find_kernel_rule(in.text(0));
            if (rule == nullptr) in.refuse(0, kernel_rules());
            KernelShapes shapes{tensors(in, 1), tensors(in, 3), formats(in, 2), formats(in, 4), std::nullopt};
            if (in.given(5)) shapes.weight = parse_shape(in.text(5));
            result(context, kernel_flops(*rule, shapes));
        });
}

void op(sqlite3_context* context, int count, sqlite3_value** values) {
    answer(context, count, values, "op_flops",
           {{"rule"},
            {"first"},
            {"input_dims", kNullable},
            {"concrete_inputs", kNullable},
            {"causal_at", kNullable}},
           [&](const Arguments& in) {
               const OperatorRule* rule = find_operator_rule(in.text(0));
               if (rule == nullptr) in.refuse(0, operator_rules());
               OperatorCall call{tensors(in, 2), {}, static_cast<size_t>(in.integer(1, 0)), std::nullopt};
               if (in.given(3)) call.scalars = parse_scalars(in.text(3));
               if (in.given(4)) call.causal_at = static_cast<size_t>(in.integer(4, 0));
               result(context, operator_flops(*rule, call));
           });
}

constexpr FunctionSpec kFunctions[] = {
    {"kernel_flops", -1, kPure,
     "kernel_flops(rule TEXT, input_shapes TEXT, input_formats TEXT, output_shapes TEXT, output_formats TEXT "
     "[, weight "
     "SHAPE]) -> INTEGER",
     "FLOPs of an NPU kernel by a rule of kernel_flops_rules, from shapes and formats as prof_kernel has "
     "them: 2*M*K*N "
     "of a gemm, either operand plain or NZ and stored either way round, the output tells which; "
     "2*positions*prod(weight) "
     "of a convolution and of each of its gradients, channels padded as the format pads them unless weight "
     "is given; "
     "attention as flops_fusion_attention, causal_exact where the mask is the compressed 2048 x 2048 one, "
     "else full, "
     "backward 2.5 times. NULL where the shapes do not fit the rule. Error: unknown rule.",
     kernel},
    {"op_flops", -1, kPure,
     "op_flops(rule TEXT, first INTEGER, input_dims TEXT [, concrete_inputs TEXT [, causal_at INTEGER]]) -> "
     "INTEGER",
     "FLOPs of a framework operator by a rule of op_flops_rules, from its input dims (JSON or the profiler's "
     "form), the "
     "operands beginning at input `first`, and its scalar arguments: stride, padding, dilation and output "
     "mask of "
     "convolutions, is_causal of attention at `causal_at` (causal_exact, or full). NULL where they do not "
     "tell. Error: "
     "unknown rule.",
     op},
};

}  // namespace

std::span<const FunctionSpec> kernel_flops_functions() {
    return kFunctions;
}

}  // namespace profana
