#include "ext/core/kernel_flops.h"

#include <algorithm>

#include "ext/core/flops.h"

namespace profana {
namespace {

using Tensor = std::optional<Shape>;
using Flops = std::optional<int64_t>;

constexpr int64_t kMostPadding = 32;  // a dim is padded to a whole number of tiles of 8, 16 or 32

// A matrix, or a batch of them, in plain dims.
struct Matrix {
    std::vector<int64_t> batch;
    int64_t rows = 0, columns = 0;
    bool padded = false;  // dims are whole tiles: may be more than the real ones
};

Tensor at(const TensorList& list, size_t i) {
    return i < list.size() ? list[i] : std::nullopt;
}

std::string_view format_at(const std::vector<std::string_view>& formats, size_t i) {
    std::string_view format = i < formats.size() ? formats[i] : std::string_view();
    constexpr std::string_view kOldPrefix = "FORMAT_";  // captures of 2023
    if (format.substr(0, kOldPrefix.size()) == kOldPrefix) format.remove_prefix(kOldPrefix.size());
    return format;
}

bool is_nz(std::string_view format) {
    return format.find("_NZ") != std::string_view::npos || format == "NZ";
}

int64_t product(int64_t factor, const std::vector<int64_t>& batch, std::initializer_list<int64_t> dims) {
    flops::Product out{factor};
    for (const int64_t dim : batch) out.times(dim);
    for (const int64_t dim : dims) out.times(dim);
    return out.value();
}

// NZ stores [.., N1, M1, M0, N0] for [.., M1*M0, N1*N0].
std::optional<Matrix> matrix_of(const TensorList& list, const std::vector<std::string_view>& formats,
                                size_t i) {
    const Tensor shape = at(list, i);
    const bool nz = is_nz(format_at(formats, i));
    if (!shape || shape->size() < (nz ? 4U : 2U)) return std::nullopt;
    const auto& d = *shape;
    const size_t n = d.size();
    Matrix out;
    out.padded = nz;
    out.batch.assign(d.begin(), d.end() - (nz ? 4 : 2));
    out.rows = nz ? product(1, {}, {d[n - 3], d[n - 2]}) : d[n - 2];
    out.columns = nz ? product(1, {}, {d[n - 4], d[n - 1]}) : d[n - 1];
    return out;
}

// Whether two dims are the same one, and its real size: that of the operand that is not padded.
std::optional<int64_t> same_dim(int64_t a, bool a_padded, int64_t b, bool b_padded) {
    if (a == b) return a;
    if (a_padded && !b_padded && a > b && a - b < kMostPadding) return b;
    if (b_padded && !a_padded && b > a && b - a < kMostPadding) return a;
    return std::nullopt;
}

// The inner dim of out = a x b, whichever way the operands are stored.
std::optional<int64_t> inner_dim(const Matrix& a, const Matrix& b, const Matrix& out, bool any_rows) {
    for (const bool a_turned : {false, true})
        for (const bool b_turned : {false, true}) {
            const int64_t m = a_turned ? a.columns : a.rows, ka = a_turned ? a.rows : a.columns;
            const int64_t n = b_turned ? b.rows : b.columns, kb = b_turned ? b.columns : b.rows;
            if (!any_rows && !same_dim(m, a.padded, out.rows, out.padded)) continue;
            if (!same_dim(n, b.padded, out.columns, out.padded)) continue;
            if (const auto k = same_dim(ka, a.padded, kb, b.padded)) return k;
        }
    return std::nullopt;
}

// All rows of a tensor as those of one matrix.
Matrix flattened(Matrix matrix) {
    matrix.rows = product(1, matrix.batch, {matrix.rows});
    matrix.batch.clear();
    return matrix;
}

Flops gemm(const KernelShapes& shapes, size_t a_at, size_t b_at, size_t out_at) {
    auto a = matrix_of(shapes.inputs, shapes.input_formats, a_at);
    const auto b = matrix_of(shapes.inputs, shapes.input_formats, b_at);
    const auto out = matrix_of(shapes.outputs, shapes.output_formats, out_at);
    if (!a || !b || !out) return std::nullopt;
    auto k = inner_dim(*a, *b, *out, false);
    if (!k) k = inner_dim(flattened(*a), *b, flattened(*out), false);
    if (!k) return std::nullopt;
    return product(2, out->batch, {out->rows, out->columns, *k});
}

Flops gemm_scatter(const KernelShapes& shapes) {
    const auto a = matrix_of(shapes.inputs, shapes.input_formats, 0);
    const auto b = matrix_of(shapes.inputs, shapes.input_formats, 1);
    const auto out = matrix_of(shapes.outputs, shapes.output_formats, 0);
    if (!a || !b || !out) return std::nullopt;
    const auto k = inner_dim(*a, *b, *out, true);
    if (!k) return std::nullopt;
    const int64_t m = same_dim(a->columns, a->padded, *k, false) ? a->rows : a->columns;
    return product(2, a->batch, {m, out->columns, *k});
}

Flops grouped_gemm(const KernelShapes& shapes) {
    const auto is_matrix = [](const Tensor& tensor) { return tensor && tensor->size() >= 2; };
    const auto groups =
        static_cast<size_t>(std::count_if(shapes.outputs.begin(), shapes.outputs.end(), is_matrix));
    int64_t out = 0;
    for (size_t i = 0; i < groups; ++i) {
        const Flops one = gemm(shapes, i, groups + i, i);
        if (!one) return std::nullopt;
        out = flops::sum(out, *one);
    }
    if (groups == 0) return std::nullopt;
    return out;
}

// Batch and spatial dims of a feature map, multiplied; 0: not a feature map.
int64_t positions(const Tensor& shape, std::string_view format) {
    if (!shape || shape->size() < 3) return 0;
    const auto& d = *shape;
    size_t first = 2, last = d.size();  // NCHW, NCDHW, ND
    if (format == "NHWC" || format == "NDHWC") first = 1, last = d.size() - 1;
    if (format.find("C1HWC0") != std::string_view::npos) {  // NC1HWC0
        if (d.size() != 5) return 0;
        last = 4;
    }
    if (format == "NDC1HWC0") return d.size() == 6 ? product(1, {}, {d[0], d[1], d[3], d[4]}) : 0;
    int64_t out = d[0];
    for (size_t i = first; i < last; ++i) out = product(1, {}, {out, d[i]});
    return out;
}

bool is_feature_map(const Tensor& shape) {
    return shape && shape->size() >= 3;
}

Flops convolution(int64_t output_positions, const Tensor& weight) {
    if (output_positions == 0 || !weight || weight->size() < 3) return std::nullopt;
    return product(2, *weight, {output_positions});
}

size_t last_feature_map(const TensorList& list) {
    for (size_t i = list.size(); i-- > 0;)
        if (is_feature_map(list[i])) return i;
    return list.size();
}

Flops convolution_forward(const KernelShapes& shapes) {
    return convolution(positions(at(shapes.outputs, 0), format_at(shapes.output_formats, 0)),
                       shapes.weight ? shapes.weight : at(shapes.inputs, 1));
}

// Both gradients are products over the positions of dy, the last feature map that comes in.
Flops of_gradient(const KernelShapes& shapes, const Tensor& weight) {
    const size_t dy = last_feature_map(shapes.inputs);
    return convolution(positions(at(shapes.inputs, dy), format_at(shapes.input_formats, dy)), weight);
}

Flops convolution_dgrad(const KernelShapes& shapes) {
    const auto first = std::find_if(shapes.inputs.begin(), shapes.inputs.end(), is_feature_map);
    if (shapes.weight || first == shapes.inputs.end()) return of_gradient(shapes, shapes.weight);
    return of_gradient(shapes, *first);
}

Flops convolution_wgrad(const KernelShapes& shapes) {
    return of_gradient(shapes, shapes.weight ? shapes.weight : at(shapes.outputs, 0));
}

// Softmax statistics: [B,N,S,8].
const Shape* statistics(const TensorList& list, size_t first) {
    for (size_t i = first; i < list.size(); ++i)
        if (list[i] && list[i]->size() == 4 && list[i]->back() == 8) return &*list[i];
    return nullptr;
}

// The layout in which q has the batch, heads and length of the statistics.
std::optional<flops::Layout> layout_of(const Shape& q, const Shape& stats) {
    const int64_t b = stats[0], n = stats[1], s = stats[2];
    if (q.size() == 4 && q[0] == b && q[1] == n && q[2] == s) return flops::Layout::kBnsd;
    if (q.size() == 4 && q[0] == b && q[1] == s && q[2] == n) return flops::Layout::kBsnd;
    if (q.size() == 3 && q[0] == b && q[1] == s) return flops::Layout::kBsh;
    if (q.size() == 3 && q[0] == s && q[1] == b) return flops::Layout::kSbh;
    return std::nullopt;
}

// A causal mask handed over as one small square that stands for any length.
bool has_compressed_mask(const TensorList& inputs, int64_t seq_q) {
    const Shape square{2048, 2048};
    return seq_q != 2048 && std::find(inputs.begin(), inputs.end(), Tensor(square)) != inputs.end();
}

// Without statistics: three dims are [B,S,H] if the last one is too wide for a single head; of four dims the
// length is where q and k differ.
std::optional<flops::Layout> layout_without_statistics(const Shape& q, const Shape& k) {
    constexpr int64_t kWidestHead = 512;
    if (q.size() == 3 && k.size() == 3 && q[2] > kWidestHead) return flops::Layout::kBsh;
    if (q.size() == 4 && k.size() == 4 && q[2] != k[2] && q[1] % std::max<int64_t>(k[1], 1) == 0 && q[2] == 1)
        return flops::Layout::kBnsd;
    if (q.size() == 4 && k.size() == 4 && q[1] != k[1] && q[2] % std::max<int64_t>(k[2], 1) == 0 && q[1] == 1)
        return flops::Layout::kBsnd;
    return std::nullopt;
}

Flops attention(const KernelShapes& shapes, bool backward) {
    const Tensor q = at(shapes.inputs, 0), k = at(shapes.inputs, 1), v = at(shapes.inputs, 2);
    if (!q || !k || !v) return std::nullopt;
    const Shape* stats = statistics(backward ? shapes.inputs : shapes.outputs, backward ? 3 : 0);
    const auto layout = stats != nullptr ? layout_of(*q, *stats)
                        : backward       ? std::nullopt
                                         : layout_without_statistics(*q, *k);
    if (!layout) return std::nullopt;
    flops::Attention call;
    call.q = *q, call.k = *k, call.v = *v, call.layout = *layout;
    const bool flat = *layout == flops::Layout::kBsh || *layout == flops::Layout::kSbh;
    if (flat && stats == nullptr && *k != *v) return std::nullopt;  // head dims may differ
    call.q_heads = stats != nullptr ? (*stats)[1] : flat ? 1 : 0;
    if (flat && stats == nullptr && (*q)[2] != (*k)[2]) {
        // Fewer key heads: their number is not known, but the width of all query heads is, and it is all that
        // counts.
        call.k[2] = call.v[2] = (*q)[2];
    }
    const int64_t seq_q = *layout == flops::Layout::kBnsd  ? (*q)[2]
                          : *layout == flops::Layout::kSbh ? (*q)[0]
                                                           : (*q)[1];
    call.sparse_mode = has_compressed_mask(shapes.inputs, seq_q) ? 3 : 0;
    call.convention = flops::Convention::kCausalExact;
    const int64_t forward = flops::attention(call);
    return backward ? flops::sum(flops::sum(forward, forward), forward / 2) : forward;
}

constexpr KernelRule kRules[] = {
    {"gemm", [](const KernelShapes& s) { return gemm(s, 0, 1, 0); }},
    {"gemm_scatter", gemm_scatter},
    {"grouped_gemm", grouped_gemm},
    {"convolution", convolution_forward},
    {"convolution_dgrad", convolution_dgrad},
    {"convolution_wgrad", convolution_wgrad},
    {"attention", [](const KernelShapes& s) { return attention(s, false); }},
    {"attention_backward", [](const KernelShapes& s) { return attention(s, true); }},
};

}  // namespace

TensorList parse_tensors(std::string_view text) {
    TensorList out;
    if (text.find('[') == std::string_view::npos) {
        while (true) {
            const size_t end = text.find(';');
            out.push_back(parse_shape(text.substr(0, end)));
            if (end == std::string_view::npos) return out;
            text.remove_prefix(end + 1);
        }
    }
    int depth = 0;
    size_t begin = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[' && ++depth == 2) begin = i;
        if (text[i] == ']' && depth-- == 2) out.push_back(parse_shape(text.substr(begin, i + 1 - begin)));
    }
    return out;
}

std::vector<std::string_view> parse_formats(std::string_view text) {
    std::vector<std::string_view> out;
    while (true) {
        const size_t end = text.find(';');
        out.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return out;
        text.remove_prefix(end + 1);
    }
}

const KernelRule* find_kernel_rule(std::string_view name) {
    for (const KernelRule& rule : kRules)
        if (rule.name == name) return &rule;
    return nullptr;
}

std::optional<int64_t> kernel_flops(const KernelRule& rule, const KernelShapes& shapes) {
    try {
        return rule.apply(shapes);
    } catch (const ShapeError&) {
        return std::nullopt;
    }
}

std::string kernel_rules() {
    std::string out;
    for (const KernelRule& rule : kRules) out.append(out.empty() ? "" : ", ").append(rule.name);
    return out;
}

}  // namespace profana
