// FLOPs of a framework operator from its input dims and scalar arguments.
#include <algorithm>

#include "ext/core/flops.h"
#include "ext/core/kernel_flops.h"

namespace profana {
namespace {

using Tensor = std::optional<Shape>;
using Flops = std::optional<int64_t>;

// Far beyond any tensor, and small enough that sums and products of two stay within 64 bits.
constexpr int64_t kLargest = int64_t{1} << 30;

Tensor at(const TensorList& list, size_t i) {
    return i < list.size() ? list[i] : std::nullopt;
}

std::string_view scalar(const OperatorCall& call, size_t i) {
    return i < call.scalars.size() ? call.scalars[i] : std::string_view();
}

// A convolution's stride, padding or dilation: a list with a number for each spatial dim, or one for all.
std::optional<std::vector<int64_t>> spatial(const OperatorCall& call, size_t i, size_t dims) {
    auto values = parse_integers(scalar(call, i));
    if (!values || values->empty()) return std::nullopt;
    if (values->size() == 1) values->resize(dims, values->front());
    const bool sane =
        std::all_of(values->begin(), values->end(), [](int64_t v) { return v >= 0 && v < kLargest; });
    if (values->size() != dims || !sane) return std::nullopt;
    return values;
}

// Batch and spatial dims of the output, multiplied: x [N,C,..], weight [Cout,C/groups,..].
Flops output_positions(const OperatorCall& call, const Shape& x, const Shape& weight, size_t stride_at) {
    const size_t dims = x.size() - 2;
    const auto stride = spatial(call, stride_at, dims), padding = spatial(call, stride_at + 1, dims),
               dilation = spatial(call, stride_at + 2, dims);
    if (!stride || !padding || !dilation) return std::nullopt;
    flops::Product out{x[0]};
    for (size_t i = 0; i < dims; ++i) {
        const int64_t size = x[i + 2], kernel = weight[i + 2];
        if (size >= kLargest || kernel >= kLargest || kernel < 1 || (*stride)[i] < 1) return std::nullopt;
        const int64_t room = size + 2 * (*padding)[i] - (*dilation)[i] * (kernel - 1) - 1;
        if (room < 0) return std::nullopt;
        out.times(room / (*stride)[i] + 1);
    }
    return out.value();
}

// 2 x all of a x all of b but its first dim.
int64_t twice_product(const Shape& a, const Shape& b) {
    flops::Product out{2};
    for (const int64_t dim : a) out.times(dim);
    for (size_t i = 1; i < b.size(); ++i) out.times(b[i]);
    return out.value();
}

Flops convolution(const OperatorCall& call) {
    const Tensor x = at(call.inputs, call.first), weight = at(call.inputs, call.first + 1);
    if (!x || !weight || x->size() < 3 || weight->size() != x->size()) return std::nullopt;
    if (scalar(call, call.first + 6) == "True") return twice_product(*x, *weight);  // transposed
    const Flops positions = output_positions(call, *x, *weight, call.first + 3);
    if (!positions) return std::nullopt;
    return twice_product({*positions, (*weight)[0]}, *weight);
}

// Gradients of x and weight take a product of the forward's size each.
Flops convolution_backward(const OperatorCall& call) {
    const Tensor dy = at(call.inputs, call.first), x = at(call.inputs, call.first + 1),
                 weight = at(call.inputs, call.first + 2);
    if (!dy || !x || !weight || weight->size() < 3) return std::nullopt;
    const bool transposed = scalar(call, call.first + 7) == "True";
    const std::string_view mask = scalar(call, call.first + 10);  // [x, weight, bias]
    const size_t comma = mask.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    const int64_t wanted =
        (mask.substr(0, comma).find("True") != std::string_view::npos ? 1 : 0) +
        (mask.substr(comma + 1, mask.find(',', comma + 1) - comma).find("True") != std::string_view::npos
             ? 1
             : 0);
    return flops::Product{wanted, twice_product(transposed ? *x : *dy, *weight)}.value();
}

Flops attention(const OperatorCall& call, flops::Layout layout, bool backward) {
    const Tensor q = at(call.inputs, call.first), k = at(call.inputs, call.first + 1),
                 v = at(call.inputs, call.first + 2);
    if (!q || !k || !v || !call.causal_at) return std::nullopt;
    const std::string_view causal = scalar(call, *call.causal_at);
    if (causal != "True" && causal != "False") return std::nullopt;
    flops::Attention of;
    of.q = *q, of.k = *k, of.v = *v, of.layout = layout;
    // torch puts the diagonal at the top left, flash_attn at the bottom right.
    of.sparse_mode = causal == "False" ? 0 : layout == flops::Layout::kBnsd ? 2 : 3;
    of.convention = flops::Convention::kCausalExact;
    const int64_t forward = flops::attention(of);
    return backward ? flops::sum(flops::sum(forward, forward), forward / 2) : forward;
}

template <int64_t (*Formula)(const Shape&, const Shape&)>
Flops of_two(const OperatorCall& call) {
    const Tensor a = at(call.inputs, call.first), b = at(call.inputs, call.first + 1);
    if (!a || !b) return std::nullopt;
    return Formula(*a, *b);
}

constexpr OperatorRule kRules[] = {
    {"mm", of_two<flops::mm>},
    {"bmm", of_two<flops::bmm>},
    {"matmul", of_two<flops::matmul>},
    {"linear", of_two<flops::linear>},
    {"convolution", convolution},
    {"convolution_backward", convolution_backward},
    {"attention_bnsd", [](const OperatorCall& c) { return attention(c, flops::Layout::kBnsd, false); }},
    {"attention_bsnd", [](const OperatorCall& c) { return attention(c, flops::Layout::kBsnd, false); }},
    {"attention_bnsd_backward",
     [](const OperatorCall& c) { return attention(c, flops::Layout::kBnsd, true); }},
    {"attention_bsnd_backward",
     [](const OperatorCall& c) { return attention(c, flops::Layout::kBsnd, true); }},
};

}  // namespace

const OperatorRule* find_operator_rule(std::string_view name) {
    for (const OperatorRule& rule : kRules)
        if (rule.name == name) return &rule;
    return nullptr;
}

std::optional<int64_t> operator_flops(const OperatorRule& rule, const OperatorCall& call) {
    try {
        return rule.apply(call);
    } catch (const ShapeError&) {
        return std::nullopt;
    }
}

std::string operator_rules() {
    std::string out;
    for (const OperatorRule& rule : kRules) out.append(out.empty() ? "" : ", ").append(rule.name);
    return out;
}

std::vector<std::string_view> parse_scalars(std::string_view json) {
    std::vector<std::string_view> out;
    size_t begin = 0;
    bool inside = false;
    for (size_t i = 0; i < json.size(); ++i) {
        if (json[i] == '\\' && inside) {
            ++i;
        } else if (json[i] == '"') {
            if (inside) out.push_back(json.substr(begin, i - begin));
            inside = !inside;
            begin = i + 1;
        }
    }
    return out;
}

}  // namespace profana
