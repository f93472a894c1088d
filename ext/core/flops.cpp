// The matrix products; attention is in flops_attention.cpp.
#include "ext/core/flops.h"

#include <algorithm>
#include <limits>
#include <string>

namespace profana::flops {
namespace {

[[noreturn]] void bad(const char* argument, const Shape& shape, const std::string& why) {
    throw ShapeError(std::string(argument) + " " + shape_excerpt(shape) + ": " + why);
}

void need_rank(const char* argument, const Shape& shape, size_t rank, const char* form) {
    if (shape.size() != rank)
        bad(argument, shape,
            std::to_string(rank) + " dims are needed, " + form + "; it has " + std::to_string(shape.size()));
}

void need_rank_at_least(const char* argument, const Shape& shape, size_t rank) {
    if (shape.size() < rank) bad(argument, shape, "at least " + std::to_string(rank) + " dims are needed");
}

void need_inner(const char* argument, const Shape& shape, int64_t have, int64_t want, const char* other) {
    if (have != want)
        bad(argument, shape,
            "its inner dim is " + std::to_string(have) + ", that of " + other + " is " +
                std::to_string(want));
}

// 2 x all dims but the last.
Product twice_rows(const Shape& shape) {
    Product out{2};
    for (size_t i = 0; i + 1 < shape.size(); ++i) out.times(shape[i]);
    return out;
}

// 2 x the batch dims as torch broadcasts them: from the right, 1 stretches.
Product twice_batch(const Shape& a, const Shape& b) {
    const size_t na = a.size() - 2, nb = b.size() - 2, n = std::max(na, nb);
    Product out{2};
    for (size_t i = 0; i < n; ++i) {
        const int64_t x = i < na ? a[na - 1 - i] : 1, y = i < nb ? b[nb - 1 - i] : 1;
        if (x != y && x != 1 && y != 1)
            bad("b", b, "its batch dims do not broadcast with those of a " + shape_excerpt(a));
        out.times(x == 1 ? y : x);
    }
    return out;
}

Shape permuted(const char* argument, const Shape& shape, const char* perm_argument,
               const std::vector<int64_t>& perm) {
    need_rank_at_least(argument, shape, 2);
    std::vector<bool> used(shape.size(), false);
    Shape out;
    for (const int64_t from : perm) {
        if (from < 0 || from >= static_cast<int64_t>(shape.size()) || used[static_cast<size_t>(from)])
            bad(perm_argument, perm,
                std::string("not an order of the dims of ") + argument + " " + shape_excerpt(shape));
        used[static_cast<size_t>(from)] = true;
        out.push_back(shape[static_cast<size_t>(from)]);
    }
    if (perm.size() != shape.size())
        bad(perm_argument, perm,
            std::string("not an order of the dims of ") + argument + " " + shape_excerpt(shape));
    return out;
}

// The rows that each weight of a grouped matmul gets.
std::vector<int64_t> group_rows(std::vector<int64_t> groups, size_t weights, int64_t total) {
    if (groups.size() != weights)
        bad("group_list", groups,
            std::to_string(groups.size()) + " entries for " + std::to_string(weights) + " weights");
    const auto rows_in_all = [&groups] {
        int64_t out = 0;
        for (const int64_t length : groups) {
            if (length < 0) bad("group_list", groups, "a length is negative");
            out = sum(out, length);
        }
        return out;
    };
    if (rows_in_all() > total && groups.back() == total)
        for (size_t i = groups.size() - 1; i > 0; --i) groups[i] -= groups[i - 1];
    if (rows_in_all() != total)
        bad("group_list", groups, "its rows do not add up to the " + std::to_string(total) + " rows of x");
    return groups;
}

}  // namespace

Product::Product(std::initializer_list<int64_t> factors) {
    for (const int64_t factor : factors) times(factor);
}

Product& Product::times_wide(Wide factor) {
    if (factor == 0) {
        zero_ = true;
        return *this;
    }
    const Wide result = factor > std::numeric_limits<uint64_t>::max() ? 0 : factor * value_;
    overflow_ = overflow_ || result == 0 || result > std::numeric_limits<uint64_t>::max();
    value_ = static_cast<uint64_t>(result);
    return *this;
}

int64_t Product::value() const {
    if (zero_) return 0;
    if (overflow_ || value_ > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        throw ShapeError("the result is beyond 64 bits");
    return static_cast<int64_t>(value_);
}

int64_t sum(int64_t a, int64_t b) {
    if (a > std::numeric_limits<int64_t>::max() - b) throw ShapeError("the result is beyond 64 bits");
    return a + b;
}

int64_t mm(const Shape& a, const Shape& b) {
    need_rank("a", a, 2, "[M,K]");
    need_rank("b", b, 2, "[K,N]");
    need_inner("b", b, b[0], a[1], "a");
    return Product{2, a[0], a[1], b[1]}.value();
}

int64_t bmm(const Shape& a, const Shape& b) {
    need_rank("a", a, 3, "[B,M,K]");
    need_rank("b", b, 3, "[B,K,N]");
    if (a[0] != b[0])
        bad("b", b, "its batch is " + std::to_string(b[0]) + ", that of a is " + std::to_string(a[0]));
    need_inner("b", b, b[1], a[2], "a");
    return Product{2, a[0], a[1], a[2], b[2]}.value();
}

int64_t matmul(const Shape& a, const Shape& b) {
    need_rank_at_least("a", a, 1);
    need_rank_at_least("b", b, 1);
    const int64_t k = a.back();
    need_inner("b", b, b.size() == 1 ? b[0] : b[b.size() - 2], k, "a");
    if (b.size() == 1) return twice_rows(a).times(k).value();  // also vector by vector
    if (a.size() == 1) return twice_rows(b).times(b.back()).value();
    return twice_batch(a, b).times(a[a.size() - 2]).times(k).times(b.back()).value();
}

int64_t linear(const Shape& input, const Shape& weight) {
    need_rank_at_least("input", input, 1);
    if (weight.size() != 1) need_rank("weight", weight, 2, "[out,in]");  // [in]: one output
    need_inner("weight", weight, weight.back(), input.back(), "input");
    return twice_rows(input).times(weight.back()).times(weight.size() == 1 ? 1 : weight[0]).value();
}

int64_t all_gather_mm(const Shape& x1, const Shape& x2, int64_t world_size) {
    need_rank("x1", x1, 2, "[rows of one rank,K]");
    need_rank("x2", x2, 2, "[K,N]");
    need_inner("x2", x2, x2[0], x1[1], "x1");
    if (world_size < 1)
        throw ShapeError("world_size " + std::to_string(world_size) + ": at least 1 is needed");
    return Product{2, x1[0], world_size, x1[1], x2[1]}.value();
}

int64_t transpose_bmm(const Shape& x1, const Shape& x2, const std::vector<int64_t>& perm_x1,
                      const std::vector<int64_t>& perm_x2) {
    const Shape left = permuted("x1", x1, "perm_x1", perm_x1), right = permuted("x2", x2, "perm_x2", perm_x2);
    need_inner("x2", x2, right[right.size() - 2], left.back(), "x1");
    if (left.size() == 3 && right.size() == 3 && left[0] != right[0])
        bad("x2", x2,
            "its batch is " + std::to_string(right[0]) + ", that of x1 is " + std::to_string(left[0]));
    return twice_rows(left).times(left.back()).times(right.back()).value();
}

int64_t rows_by_weight(const Shape& x, const Shape& weight, bool transposed) {
    need_rank_at_least("x", x, 2);
    need_rank_at_least("weight", weight, 2);
    const int64_t k = weight[weight.size() - (transposed ? 1 : 2)],
                  n = weight[weight.size() - (transposed ? 2 : 1)];
    need_inner("weight", weight, k, x.back(), "x");
    return twice_rows(x).times(k).times(n).value();
}

int64_t grouped_matmul(const std::vector<Shape>& x, const std::vector<Shape>& weights,
                       const std::optional<std::vector<int64_t>>& group_list) {
    int64_t out = 0;
    if (x.size() == weights.size()) {
        for (size_t i = 0; i < x.size(); ++i) out = sum(out, rows_by_weight(x[i], weights[i], false));
        return out;
    }
    if (x.size() != 1)
        throw ShapeError("w_shapes: " + std::to_string(weights.size()) + " weights for " +
                         std::to_string(x.size()) + " tensors of x; equal counts are needed, or one x");
    if (!group_list) throw ShapeError("group_list: needed where one x meets several weights");
    need_rank_at_least("x", x[0], 2);
    const int64_t k = x[0].back();
    Product total{1};
    for (size_t i = 0; i + 1 < x[0].size(); ++i) total.times(x[0][i]);
    const auto lengths = group_rows(*group_list, weights.size(), total.value());
    for (size_t i = 0; i < weights.size(); ++i)
        out = sum(out, rows_by_weight({lengths[i], k}, weights[i], false));
    return out;
}

int64_t convolution(const Shape& output, const Shape& weight) {
    need_rank_at_least("output", output, 2);
    need_rank("weight", weight, output.size(), "[Cout,Cin/groups,kernel..]");
    if (output[1] != weight[0])
        bad("weight", weight,
            "it has " + std::to_string(weight[0]) + " output channels, output has " +
                std::to_string(output[1]));
    Product out{2};
    for (const int64_t dim : output) out.times(dim);
    for (size_t i = 1; i < weight.size(); ++i) out.times(weight[i]);
    return out.value();
}

}  // namespace profana::flops
