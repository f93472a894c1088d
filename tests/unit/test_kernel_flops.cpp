// Estimates from shapes: kernels of NPUs in plain and packed formats, operators of GPU traces. AlexNet's
// layers (batch 32) are the examples: what the profiler shows of them, against what the layers are.
#include <catch2/catch.hpp>

#include "tests/unit/sql.h"

using profana::test::Sql;

namespace {

std::string text(const char* value) {
    std::string out;
    return value == nullptr ? "NULL" : out.append("'").append(value).append("'");
}

std::string kernel(const char* rule, const char* inputs, const char* formats, const char* outputs,
                   const char* output_formats, const char* weight = nullptr) {
    return "SELECT kernel_flops('" + std::string(rule) + "', " + text(inputs) + ", " + text(formats) + ", " +
           text(outputs) + ", " + text(output_formats) + ", " + text(weight) + ")";
}

std::string op(const char* rule, int first, const char* dims, const char* concrete = nullptr,
               const char* causal_at = "NULL") {
    return "SELECT op_flops('" + std::string(rule) + "', " + std::to_string(first) + ", " + text(dims) +
           ", " + text(concrete) + ", " + causal_at + ")";
}

}  // namespace

TEST_CASE("a kernel's operands may be stored either way round") {
    Sql sql;
    const long long fc6 = 2LL * 32 * 9216 * 4096;
    CHECK(sql.integer(kernel("gemm", "32,9216;4096,9216;4096", "FORMAT_ND;FORMAT_ND;FORMAT_ND", "32,4096",
                             "FORMAT_ND")) == fc6);
    CHECK(sql.integer(kernel("gemm", "32,4096;4096,9216", "ND;ND", "32,9216", "ND")) ==
          fc6);  // gradient of x
    CHECK(sql.integer(kernel("gemm", "32,4096;32,9216", "ND;ND", "4096,9216", "ND")) ==
          fc6);  // gradient of the weight
    CHECK(sql.integer(kernel("gemm", "9216,32;9216,4096", nullptr, "32,4096", nullptr)) == fc6);
    CHECK(sql.integer(kernel("gemm", "8,64,32;8,16,32", "ND;ND", "8,64,16", "ND")) == 2LL * 8 * 64 * 32 * 16);
    CHECK(sql.integer(kernel("gemm", "4,8,32;32,16", "ND;ND", "32,16", "ND")) ==
          2LL * 32 * 32 * 16);  // rows of [4,8] are 32
    CHECK(sql.integer(kernel("gemm", "4,8,32;32,16", "ND;ND", "4,8,16", "ND")) == 2LL * 32 * 32 * 16);
    CHECK(sql.is_null(kernel("gemm", "32,9216;4096,4096", "ND;ND", "32,4096", "ND")));
    CHECK(sql.is_null(kernel("gemm", "32,9216", "ND", "32,4096", "ND")));
    CHECK(sql.is_null(kernel("gemm", nullptr, nullptr, nullptr, nullptr)));
    CHECK(sql.is_null(kernel("gemm", "a;b", "ND;ND", "c", "ND")));
    CHECK(sql.is_null(kernel("gemm", "9223372036854775807,2;2,9223372036854775807", "ND;ND",
                             "9223372036854775807,9223372036854775807", "ND")));
}

TEST_CASE("NZ holds a matrix in tiles") {
    Sql sql;
    // [N1,M1,M0,N0]: 576*16 = 9216 columns, 2*16 = 32 rows
    CHECK(sql.integer(kernel("gemm", "576,2,16,16;576,256,16,16", "FRACTAL_NZ;FRACTAL_NZ", "256,2,16,16",
                             "FRACTAL_NZ")) == 2LL * 32 * 9216 * 4096);
    // 1000 classes stand as 63 tiles of 16 = 1008
    CHECK(sql.integer(kernel("gemm", "256,2,16,16;256,63,16,16", "FRACTAL_NZ;FRACTAL_NZ", "63,2,16,16",
                             "FRACTAL_NZ")) == 2LL * 32 * 4096 * 1008);
    // a plain operand tells the real inner dim
    CHECK(sql.integer(kernel("gemm", "32,1000;63,256,16,16", "ND;FRACTAL_NZ", "32,4096", "ND")) ==
          2LL * 32 * 1000 * 4096);
    CHECK(sql.integer(kernel("gemm", "32,256,1,1,16,16;1,1,16,16", "FRACTAL_NZ;FRACTAL_NZ",
                             "32,256,1,1,16,16", "FRACTAL_NZ")) == 2LL * 32 * 256 * 16 * 16 * 16);
}

TEST_CASE("products fused with communication or over groups") {
    Sql sql;
    CHECK(sql.integer(kernel("gemm", "1024,4096;4096,16384", "ND;ND", "1024,16384", "ND")) ==
          2LL * 1024 * 4096 * 16384);
    // 8 ranks: an eighth of the 8192 rows stays here
    CHECK(sql.integer(kernel("gemm_scatter", "8192,2048;2048,4096", "ND;ND", "1024,4096", "ND")) ==
          2LL * 8192 * 2048 * 4096);
    CHECK(sql.integer(kernel("grouped_gemm", "10,4;3,4,8;;3", "ND;ND;ND;ND", "10,8", "ND")) ==
          2LL * 10 * 4 * 8);
    CHECK(sql.integer(kernel("grouped_gemm", "10,4;6,8;4,8;8,2", nullptr, "10,8;6,2", nullptr)) ==
          2LL * 10 * 4 * 8 + 2LL * 6 * 8 * 2);
    CHECK(sql.is_null(kernel("grouped_gemm", "10,4", "ND", "", "ND")));
}

TEST_CASE("convolutions of AlexNet from packed formats") {
    Sql sql;
    // conv2: 64 -> 192 channels, 5x5, 27x27; fp32 channels stand in groups of 8
    const long long conv2 = 2LL * 32 * 27 * 27 * 192 * 64 * 5 * 5;
    CHECK(sql.integer(kernel("convolution", "32,8,27,27,8;200,12,16,8;192", "NC1HWC0;FRACTAL_Z;NCHW",
                             "32,24,27,27,8", "NC1HWC0")) == conv2);
    CHECK(sql.integer(kernel("convolution_dgrad", "4;200,12,16,8;32,24,27,27,8", "NCHW;FRACTAL_Z;NC1HWC0",
                             "32,8,27,27,8", "NC1HWC0")) == conv2);
    CHECK(sql.integer(kernel("convolution_wgrad", "32,8,27,27,8;4;32,24,27,27,8", "NC1HWC0;NCHW;NC1HWC0",
                             "200,12,16,8", "FRACTAL_Z")) == conv2);
    // the unified core's form, channels by 16, without the sizes as an input
    CHECK(sql.integer(kernel("convolution_dgrad", "100,12,16,16;32,12,27,27,16", "FRACTAL_Z;NC1HWC0",
                             "32,4,27,27,16", "NC1HWC0")) == conv2);
    // conv1: 3 -> 64 channels, 11x11, 55x55; 3 channels stand as 8 unless the operator's weight is known
    const char* inputs = "32,1,224,224,8;121,4,16,8;64";
    CHECK(sql.integer(kernel("convolution", inputs, "NC1HWC0;FRACTAL_Z;NCHW", "32,8,55,55,8", "NC1HWC0")) ==
          2LL * 32 * 55 * 55 * 64 * 8 * 121);
    CHECK(sql.integer(kernel("convolution", inputs, "NC1HWC0;FRACTAL_Z;NCHW", "32,8,55,55,8", "NC1HWC0",
                             "[64,3,11,11]")) == 2LL * 32 * 55 * 55 * 64 * 3 * 11 * 11);
    CHECK(sql.integer(kernel("convolution", "8,3,224,224;64,3,7,7", "ND;ND", "8,64,112,112", "ND")) ==
          2LL * 8 * 112 * 112 * 64 * 3 * 49);
    CHECK(sql.integer(kernel("convolution", "8,224,224,3;64,7,7,3", "NHWC;NHWC", "8,112,112,64", "NHWC")) ==
          2LL * 8 * 112 * 112 * 64 * 3 * 49);
    CHECK(sql.is_null(kernel("convolution", "8,3", "ND", "8,64", "ND")));
    CHECK(sql.is_null(kernel("convolution_wgrad", "", "", "", "")));
}

TEST_CASE("attention kernels by their softmax statistics") {
    Sql sql;
    const long long dense = 2LL * 32 * 1024 * 1024 * (128 + 128);
    const char* stats = "1,32,1024,8;1,32,1024,8;;1,1024,4096";
    CHECK(sql.integer(kernel("attention", "1,1024,4096;1,1024,4096;1,1024,4096;1024,1024", nullptr, stats,
                             nullptr)) == dense);
    CHECK(sql.integer(kernel("attention", "1024,1,4096;1024,1,4096;1024,1,4096", nullptr, stats, nullptr)) ==
          dense);
    CHECK(sql.integer(kernel("attention", "1,32,1024,128;1,32,1024,128;1,32,1024,128", nullptr, stats,
                             nullptr)) == dense);
    CHECK(sql.integer(kernel("attention", "1,1024,32,128;1,1024,8,128;1,1024,8,128", nullptr, stats,
                             nullptr)) == dense);
    // 16 query and 8 key heads of 128, 4096 tokens, the compressed mask: 4096*4097/2 elements a head
    const long long causal = 2LL * 16 * (4096LL * 4097 / 2) * (128 + 128);
    CHECK(sql.integer(kernel("attention", "4096,1,2048;4096,1,1024;4096,1,1024;;;;2048,2048;;", nullptr,
                             "1,16,4096,8;1,16,4096,8;;4096,1,2048", nullptr)) == causal);
    CHECK(sql.integer(
              kernel("attention_backward",
                     "4096,1,2048;4096,1,1024;4096,1,1024;4096,1,2048;2048,2048;1,16,4096,8;1,16,4096,8",
                     nullptr, "4096,1,2048;4096,1,1024;4096,1,1024", nullptr)) == causal * 5 / 2);
    // decoding without statistics: one query token, 512 in the cache
    CHECK(sql.integer(kernel("attention", "4,32,1,128;4,8,512,128;4,8,512,128", nullptr, "4,32,1,128",
                             nullptr)) == 2LL * 4 * 32 * 512 * 256);
    CHECK(sql.integer(kernel("attention", "4,1,4096;4,512,4096;4,512,4096", nullptr, "4,1,4096", nullptr)) ==
          2LL * 4 * 512 * (4096 + 4096));
    CHECK(sql.is_null(kernel("attention", "7,2,8;7,2,8;7,2,8", nullptr, "7,2,8",
                             nullptr)));  // lengths of sequences not known
    CHECK(sql.is_null(
        kernel("attention_backward", "1,32,64,8;1,32,64,8;1,32,64,8", nullptr, "1,32,64,8", nullptr)));
}

TEST_CASE("operators of a trace from their input dims") {
    Sql sql;
    CHECK(sql.integer(op("mm", 1, "[[2048],[141,512],[512,2048],[],[]]")) == 2LL * 141 * 512 * 2048);
    CHECK(sql.integer(op("mm", 1, "4096;\r\n32,9216;\r\n9216,4096;\r\n;\r\n")) == 2LL * 32 * 9216 * 4096);
    CHECK(sql.integer(op("linear", 0, "[[1,141,512],[2048,512],[2048]]")) == 2LL * 141 * 512 * 2048);
    CHECK(sql.integer(op("bmm", 0, "[[8,64,32],[8,32,16]]")) == 2LL * 8 * 64 * 32 * 16);
    CHECK(sql.integer(op("matmul", 0, "[[2,3,64,32],[32,16]]")) == 2LL * 6 * 64 * 32 * 16);
    CHECK(sql.is_null(op("mm", 0, "[[141,512],[511,2048]]")));
    CHECK(sql.is_null(op("mm", 0, "[[[2,3],[2,3]],[3,4]]")));  // a list of tensors is no operand
    CHECK(sql.is_null(op("mm", 0, nullptr)));
    CHECK(sql.is_null(op("mm", 5, "[[2,3],[3,4]]")));
    CHECK_THAT(sql.error(op("einsum", 0, "[]")),
               Catch::Contains("op_flops: argument rule is TEXT 'einsum'; accepted: mm, bmm"));
    CHECK_THAT(sql.error(kernel("softmax", "", "", "", "")),
               Catch::Contains("kernel_flops: argument rule") && Catch::Contains("gemm, "));
}

TEST_CASE("convolution operators need their scalar arguments") {
    Sql sql;
    const char* conv1 = "[[32,3,224,224],[64,3,11,11],[64],[],[],[],[],[],[]]";
    const long long forward = 2LL * 32 * 55 * 55 * 64 * 3 * 121;  // (224 + 2*2 - 10 - 1) / 4 + 1 = 55
    CHECK(sql.integer(op("convolution", 0, conv1,
                         R"(["","","","[4, 4]","[2, 2]","[1, 1]","False","[0, 0]","1"])")) == forward);
    CHECK(sql.is_null(op("convolution", 0, conv1)));
    CHECK(sql.is_null(
        op("convolution", 0, conv1, R"(["","","","[0, 0]","[2, 2]","[1, 1]","False","[0, 0]","1"])")));
    CHECK(sql.is_null(
        op("convolution", 0, "[[1,1,3,3],[1,1,5,5]]", R"(["","","","[1]","[0]","[1]","False","[0]","1"])")));
    // transposed: every input position meets the whole kernel; x [1,8,5,5], weight [8,4,3,3]
    CHECK(sql.integer(op("convolution", 0, "[[1,8,5,5],[8,4,3,3],[]]",
                         R"(["","","","[2]","[0]","[1]","True","[0]","1"])")) == 2LL * 8 * 25 * 4 * 9);
    const char* back = "[[32,64,55,55],[32,3,224,224],[64,3,11,11],[],[],[],[],[],[],[],[]]";
    CHECK(sql.integer(
              op("convolution_backward", 0, back,
                 R"(["","","","[64]","[4,4]","[2,2]","[1,1]","False","[0,0]","1","[False, True, True]"])")) ==
          forward);
    CHECK(sql.integer(
              op("convolution_backward", 0, back,
                 R"(["","","","[64]","[4,4]","[2,2]","[1,1]","False","[0,0]","1","[True, True, False]"])")) ==
          2 * forward);
    CHECK(sql.integer(op(
              "convolution_backward", 0, back,
              R"(["","","","[64]","[4,4]","[2,2]","[1,1]","False","[0,0]","1","[False, False, True]"])")) ==
          0);
    CHECK(sql.is_null(op("convolution_backward", 0, back)));
}

TEST_CASE("attention operators count the mask when the trace says so") {
    Sql sql;
    const char* bnsd = "[[1,8,141,64],[1,8,141,64],[1,8,141,64],[],[],[]]";
    const char* bsnd = "[[1,141,8,64],[1,141,8,64],[1,141,8,64]]";
    const long long full = 2LL * 8 * 141 * 141 * (64 + 64), causal = 2LL * 8 * (141 * 142 / 2) * (64 + 64);
    CHECK(sql.integer(op("attention_bnsd", 0, bnsd, R"(["","","","0.","False","False"])", "4")) == full);
    CHECK(sql.integer(op("attention_bnsd", 0, bnsd, R"(["","","","0.","True","False"])", "4")) == causal);
    CHECK(sql.integer(op("attention_bsnd", 0, bsnd, R"(["","","","0.","True"])", "4")) == causal);
    CHECK(sql.is_null(op("attention_bnsd", 0, bnsd, nullptr, "4")));
    CHECK(sql.is_null(op("attention_bnsd", 0, bnsd, R"(["","","","0.","True"])")));
    CHECK(sql.integer(op("attention_bnsd_backward", 0, bnsd, R"(["","","","0.","False"])", "4")) ==
          full * 5 / 2);
}
