// The flops_* functions: each operator of the page, both shape notations, exactness and errors.
// Expected values are written as the arithmetic that gives them.
#include <catch2/catch.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/sql.h"

using profana::test::Sql;

namespace {

std::string quoted(const std::string& text) {
    std::string out(1, '\'');
    return out.append(text).append(1, '\'');
}

std::string list(const std::vector<int64_t>& values) {
    std::ostringstream out;
    for (size_t i = 0; i < values.size(); ++i) out << (i > 0 ? "," : "") << values[i];
    return out.str();
}

std::string shape(const std::vector<int64_t>& dims) {
    std::string out = "'[";
    return out.append(list(dims)).append("]'");
}

// The same JSON value `times` times in an array.
std::string nested(const std::string& value, int64_t times) {
    std::ostringstream out;
    out << '[';
    for (int64_t i = 0; i < times; ++i) out << (i > 0 ? "," : "") << value;
    out << ']';
    return out.str();
}

}  // namespace

TEST_CASE("a plain product counts two for each multiply-add") {
    Sql sql;
    CHECK(sql.integer("SELECT flops_mm('[128,64]', '[64,256]')") == 2LL * 128 * 64 * 256);
    CHECK(sql.integer("SELECT flops_addmm('[128,64]', '[64,256]')") == 2LL * 128 * 64 * 256);
    CHECK(sql.integer("SELECT flops_bmm('[8,128,64]', '[8,64,256]')") == 2LL * 8 * 128 * 64 * 256);
    CHECK(sql.integer("SELECT flops_linear('[4,32,64]', '[256,64]')") == 2LL * (4 * 32) * 256 * 64);
    CHECK(sql.integer("SELECT flops_linear('[64]', '[256,64]')") == 2LL * 256 * 64);
    CHECK(sql.integer("SELECT flops_linear('[4,64]', '[64]')") == 2LL * 4 * 64);
}

TEST_CASE("both notations of a shape mean the same") {
    Sql sql;
    for (const char* a : {"[128,64]", "128,64", "\"128,64\"", " [ 128 , 64 ] "})
        CHECK(sql.integer("SELECT flops_mm(" + quoted(a) + ", '64,256')") == 2LL * 128 * 64 * 256);
    CHECK(sql.integer("SELECT flops_matmul(64, '[64]')") == 2LL * 64);  // one dim needs no brackets
}

TEST_CASE("matmul resolves vectors and broadcasts batches") {
    Sql sql;
    CHECK(sql.integer("SELECT flops_matmul('[64]', '[64]')") == 2LL * 64);
    CHECK(sql.integer("SELECT flops_matmul('[64]', '[64,16]')") == 2LL * 64 * 16);
    CHECK(sql.integer("SELECT flops_matmul('[64]', '[3,5,64,16]')") == 2LL * 3 * 5 * 64 * 16);
    CHECK(sql.integer("SELECT flops_matmul('[32,64]', '[64]')") == 2LL * 32 * 64);
    CHECK(sql.integer("SELECT flops_matmul('[3,5,32,64]', '[64]')") == 2LL * 3 * 5 * 32 * 64);
    CHECK(sql.integer("SELECT flops_matmul('[3,5,32,64]', '[64,16]')") == 2LL * 3 * 5 * 32 * 64 * 16);
    CHECK(sql.integer("SELECT flops_matmul('[3,1,32,64]', '[5,64,16]')") == 2LL * 3 * 5 * 32 * 64 * 16);
    CHECK(sql.integer("SELECT flops_matmul('[1,32,64]', '[7,3,5,64,16]')") == 2LL * 7 * 3 * 5 * 32 * 64 * 16);
    CHECK(sql.integer("SELECT flops_matmul('[0,32,64]', '[1,64,16]')") == 0);
    CHECK_THAT(sql.error("SELECT flops_matmul('[2,32,64]', '[3,64,16]')"), Catch::Contains("flops_matmul") &&
                                                                               Catch::Contains("broadcast") &&
                                                                               Catch::Contains("[2,32,64]"));
}

TEST_CASE("products of fused NPU operators") {
    Sql sql;
    CHECK(sql.integer("SELECT flops_all_gather_base_mm('[256,512]', '[512,1024]', 8)") ==
          2LL * (256 * 8) * 512 * 1024);
    CHECK(sql.integer("SELECT flops_transpose_batchmatmul('[4,32,64]', '[4,64,16]')") ==
          2LL * 4 * 32 * 64 * 16);
    // x1 = [M,B,K] as [B,M,K]; x2 = [B,N,K] as [B,K,N]
    CHECK(sql.integer("SELECT flops_transpose_batchmatmul('[32,4,64]', '[4,16,64]', '[1,0,2]', '[0,2,1]')") ==
          2LL * 4 * 32 * 64 * 16);
    CHECK(sql.integer("SELECT flops_quant_matmul_gelu('[2,128,64]', '[64,256]')") ==
          2LL * (2 * 128) * 64 * 256);
    // eight experts, of which each of the 96 rows meets one
    CHECK(sql.integer("SELECT flops_grouped_matmul_swiglu_quant_v2('[96,64]', '[8,64,256]')") ==
          2LL * 96 * 64 * 256);
    CHECK(sql.integer("SELECT flops_alltoallv_gmm('[96,64]', '[8,64,256]')") == 2LL * 96 * 64 * 256);
    CHECK(sql.integer("SELECT flops_alltoallv_gmm('[96,64]', '[8,64,256]', '[40,32]', '[32,16]')") ==
          2LL * 96 * 64 * 256 + 2LL * 40 * 32 * 16);
    CHECK(sql.integer("SELECT flops_gmm_alltoallv('[96,64]', '[8,256,64]', '[40,32]', '[16,32]', 1, 1)") ==
          2LL * 96 * 64 * 256 + 2LL * 40 * 32 * 16);
    CHECK(sql.integer("SELECT flops_gmm_alltoallv('[96,64]', '[8,64,256]', NULL, NULL, 0, 1)") ==
          2LL * 96 * 64 * 256);
    CHECK(sql.integer("SELECT flops_gmm_alltoallv('[96,64]', '[8,64,256]', '[40,32]', NULL)") ==
          2LL * 96 * 64 * 256);
}

TEST_CASE("grouped matmul: one weight each, or rows dealt out by the group list") {
    Sql sql;
    CHECK(sql.integer("SELECT flops_grouped_matmul('[[10,4],[6,8]]', '[[4,8],[8,2]]')") ==
          2LL * 10 * 4 * 8 + 2LL * 6 * 8 * 2);
    CHECK(sql.integer("SELECT flops_grouped_matmul('10,4;6,8', '4,8;8,2')") ==
          2LL * 10 * 4 * 8 + 2LL * 6 * 8 * 2);
    const long long uneven = 2LL * 4 * 4 * 8 + 0 + 2LL * 6 * 4 * 3;
    CHECK(sql.integer("SELECT flops_grouped_matmul('[[10,4]]', '[[4,8],[4,8],[4,3]]', '[4,0,6]')") == uneven);
    CHECK(sql.integer("SELECT flops_grouped_matmul('[10,4]', '4,8;4,8;4,3', '4,4,10')") ==
          uneven);  // cumulative
    // The last entry equals the row count, but the sum does not exceed it: these are lengths.
    CHECK(sql.integer("SELECT flops_grouped_matmul('[10,4]', '4,8;4,8;4,3', '0,0,10')") == 2LL * 10 * 4 * 3);
    CHECK(sql.is_null("SELECT flops_grouped_matmul('[10,4]', '4,8;4,8', NULL)"));
    CHECK_THAT(sql.error("SELECT flops_grouped_matmul('[10,4]', '4,8;4,8')"), Catch::Contains("group_list"));
    CHECK_THAT(sql.error("SELECT flops_grouped_matmul('[10,4]', '4,8;4,8', '4,4')"),
               Catch::Contains("10 rows"));
    CHECK_THAT(sql.error("SELECT flops_grouped_matmul('[10,4]', '4,8;4,8', '10')"),
               Catch::Contains("1 entries for 2"));
    CHECK_THAT(sql.error("SELECT flops_grouped_matmul('[10,4]', '4,8;4,8', '12,-2')"),
               Catch::Contains("negative"));
    CHECK_THAT(sql.error("SELECT flops_grouped_matmul('10,4;3,4', '4,8;4,8;4,8', '4,4,2')"),
               Catch::Contains("equal counts"));
}

TEST_CASE("a grouped weight counts once, whatever the number of experts") {  // expert weights in one tensor
    Sql sql;
    const long long expected = 2LL * 10 * 4 * 8;
    CHECK(expected == 640);
    CHECK(sql.integer("SELECT flops_grouped_matmul('10,4', '3,4,8', '4,4,10')") == expected);
    CHECK(sql.integer("SELECT flops_grouped_matmul('10,4', '3,4,8', '4,0,6')") == expected);
    CHECK(sql.integer("SELECT flops_grouped_matmul('10,4', '3,4,8')") == expected);
}

TEST_CASE("top-k attention reads at most k positions of a context") {
    Sql sql;
    const long long elements = 1000 + 3 * 2048;
    CHECK(sql.integer("SELECT flops_topk_attention('[1000,3000,8192,8192]', 2048, 16, 128)") ==
          2LL * 16 * elements * (128 + 128));
    CHECK(sql.integer("SELECT flops_topk_attention('1000,3000,8192,8192', 2048, 16, 128)") == 58523648);
    CHECK(sql.integer("SELECT flops_topk_attention('[1000]', 2048, 16, 192, 128)") ==
          2LL * 16 * 1000 * (192 + 128));
    CHECK(sql.is_null("SELECT flops_topk_attention('[1000]', NULL, 16, 128)"));
}

TEST_CASE("attention: every layout of one call gives the same") {
    Sql sql;
    const long long dense = 2LL * (2 * 16 * 1024 * 1024) * (128 + 128);
    CHECK(dense == 17179869184);
    const struct {
        const char* layout;
        const char* shape;
    } calls[] = {{"BNSD", "[2,16,1024,128]"},
                 {"BSND", "[2,1024,16,128]"},
                 {"BSH", "[2,1024,2048]"},
                 {"SBH", "[1024,2,2048]"}};
    for (const auto& call : calls) {
        const std::string s = quoted(call.shape), args = s + "," + s + "," + s;
        CHECK(sql.integer("SELECT flops_fusion_attention(" + args + ", 16, '" + call.layout + "', 0)") ==
              dense);
        CHECK(sql.integer("SELECT flops_fusion_attention(" + args + ", 16, '" + call.layout + "')") == dense);
        CHECK(sql.integer("SELECT flops_fusion_attention(" + args + ", 16, '" + call.layout + "', 2)") ==
              dense / 2);
        CHECK(sql.integer("SELECT flops_fusion_attention(" + args + ", 16, '" + call.layout + "', 3)") ==
              dense / 2);
        CHECK(sql.integer("SELECT flops_fused_infer_attention_score(" + args + ", '" + call.layout +
                          "', 16)") == dense);
        CHECK(sql.integer("SELECT flops_fused_infer_attention_score(" + args + ", '" + call.layout +
                          "', 16, 0, 3)") == dense / 2);
    }
    const std::string t = "'[2048,16,128]'", args = t + "," + t + "," + t;
    CHECK(sql.integer("SELECT flops_fusion_attention(" + args +
                      ", 16, 'TND', 0, '[1024,2048]', '[1024,2048]')") == dense);
    // The recorder halves nothing in TND.
    CHECK(sql.integer("SELECT flops_fusion_attention(" + args +
                      ", 16, 'tnd', 3, '1024,2048', '1024,2048')") == dense);
    CHECK(sql.integer("SELECT flops_fused_infer_attention_score(" + args +
                      ", 'TND', 16, 0, 0, '1024,2048,0,0', '1024,2048,0')") == dense);
}

TEST_CASE("attention: causal modes by half squares when lengths differ") {
    Sql sql;
    const auto flops = [&sql](int sq, int skv, int mode) {
        const std::string q = shape({1, 3, sq, 5}), kv = shape({1, 3, skv, 5});
        return sql.integer("SELECT flops_fusion_attention(" + q + "," + kv + "," + kv + ", 3, 'BNSD', " +
                           std::to_string(mode) + ")");
    };
    const long long unit = 2LL * 3 * (5 + 5);
    CHECK(flops(6, 4, 2) == unit * (6 * 4 - 4 * 4 / 2));
    CHECK(flops(4, 6, 2) == unit * (4 * 4 / 2));
    CHECK(flops(6, 4, 3) == unit * (4 * 4 / 2));
    CHECK(flops(4, 6, 3) == unit * (4 * 6 - 4 * 4 / 2));
    // 7 x 7 / 2 = 24.5 is not rounded before the end: 2 x 3 x 24.5 x 10 = 1470
    CHECK(flops(7, 7, 2) == 1470);
    CHECK_THAT(sql.error("SELECT flops_fusion_attention('1,3,4,5','1,3,4,5','1,3,4,5',3,'BNSD',4)"),
               Catch::Contains("sparse_mode 4"));
}

TEST_CASE("attention: the exact causal count and the full one, by name") {
    Sql sql;
    const auto elements = [&sql](int sq, int skv, int mode, const char* convention) {
        const std::string q = shape({1, 1, sq, 1}), kv = shape({1, 1, skv, 1});
        const auto flops =
            sql.integer("SELECT flops_fusion_attention(" + q + "," + kv + "," + kv + ", 1, 'BNSD', " +
                        std::to_string(mode) + ", NULL, NULL, '" + convention + "')");
        return flops / 4;  // 2 x elements x (1 + 1)
    };
    CHECK(elements(4, 6, 0, "causal_exact") == 24);
    CHECK(elements(4, 6, 2, "causal_exact") == 1 + 2 + 3 + 4);
    CHECK(elements(4, 6, 3, "causal_exact") == 3 + 4 + 5 + 6);
    CHECK(elements(6, 4, 2, "causal_exact") == 1 + 2 + 3 + 4 + 4 + 4);
    CHECK(elements(6, 4, 3, "causal_exact") == 0 + 0 + 1 + 2 + 3 + 4);
    CHECK(elements(4, 6, 2, "full") == 24);
    CHECK(elements(4, 6, 3, "recorder") == 24 - 8);
    const std::string s = "'1,16,16384,128'", args = s + "," + s + "," + s;
    const long long exact =
        sql.integer("SELECT flops_fusion_attention(" + args + ",16,'BNSD',3,NULL,NULL,'causal_exact')");
    CHECK(exact == 4LL * 16 * 128 * 134225920);
    CHECK(sql.real("SELECT mfu(" + std::to_string(exact) + ", 5825000, 312e12)") ==
          Approx(0.605028467392979));
    const long long full =
        sql.integer("SELECT flops_fusion_attention(" + args + ",16,'BNSD',3,NULL,NULL,'full')");
    CHECK(sql.real("SELECT mfu(" + std::to_string(full) + ", 5825000, 312e12)") == Approx(1.20998308327941));
}

TEST_CASE("attention: query heads count, key heads only split the width") {
    Sql sql;
    const long long expected = 2LL * 2 * 32 * 1024 * 1024 * (192 + 128);
    CHECK(expected == 42949672960);
    CHECK(sql.integer(
              "SELECT flops_fusion_attention('2,32,1024,192','2,8,1024,192','2,8,1024,128',32,'BNSD')") ==
          expected);
    CHECK(sql.integer("SELECT flops_fusion_attention('2,1024,6144','2,1024,1536','2,1024,1024',32,'BSH')") ==
          expected);
    CHECK(sql.integer(
              "SELECT "
              "flops_fused_infer_attention_score('2,1024,6144','2,1024,1536','2,1024,1024','BSH',32,8)") ==
          expected);
    // num_kv_heads 0 takes 32 heads: k of 1536 would have a head dim of 48, not 192
    CHECK_THAT(
        sql.error(
            "SELECT flops_fused_infer_attention_score('2,1024,6144','2,1024,1536','2,1024,1024','BSH',32,0)"),
        Catch::Contains("head dim"));
}

TEST_CASE("attention: sequences of different lengths in TND") {
    Sql sql;
    const long long elements = 3LL * 5 + 4 * 4 + 0 * 2;  // ends 3,7,7 and 5,9,11
    CHECK(sql.integer(
              "SELECT "
              "flops_fusion_attention('[7,2,8]','[11,2,8]','[11,2,8]',2,'TND',0,'[3,7,7]','[5,9,11]')") ==
          2LL * 2 * elements * 16);
    CHECK(sql.is_null("SELECT flops_fusion_attention('[7,2,8]','[7,2,8]','[7,2,8]',2,'TND')"));
    CHECK_THAT(sql.error("SELECT flops_fusion_attention('[7,2,8]','[7,2,8]','[7,2,8]',2,'TND',0,'3,7','7')"),
               Catch::Contains("1 sequences") && Catch::Contains("2"));
    CHECK_THAT(
        sql.error("SELECT flops_fusion_attention('[7,2,8]','[7,2,8]','[7,2,8]',2,'TND',0,'5,3','3,7')"),
        Catch::Contains("never fall"));
    const long long exact = (1 + 2 + 3) + (1 + 2 + 3 + 4);  // causal, equal lengths 3 and 4
    CHECK(sql.integer(
              "SELECT "
              "flops_fusion_attention('[7,2,8]','[7,2,8]','[7,2,8]',2,'TND',3,'3,7','3,7','causal_exact')") ==
          2LL * 2 * exact * 16);
}

TEST_CASE("block-sparse attention counts the valid blocks, cut to the real lengths") {
    Sql sql;
    // one sequence, two heads, 5 query and 7 key tokens in blocks of 4: query blocks 4+1, key blocks 4+3
    const std::string shapes = "'[5,2,8]', '[7,2,8]', '[7,2,6]'";
    const long long elements = 4 * 4 + 1 * 3 /* head 0 */ + 4 * 3 /* head 1 */;
    CHECK(sql.integer("SELECT flops_block_sparse_attention(" + shapes +
                      ", '[[[[1,0],[0,1]],[[0,1],[0,0]]]]', '[4,4]')") == 2LL * elements * (8 + 6));
    CHECK(sql.integer("SELECT flops_block_sparse_attention(" + shapes +
                      ", '[[[[true,false],[false,true]],[[false,true],[false,false]]]]', '4,4', 'TND', "
                      "'TND', '[5]', '[7]')") == 2LL * elements * (8 + 6));
    // two sequences of 3 and 2 query tokens, 4 and 3 key tokens (cumulative), one block each
    CHECK(sql.integer("SELECT flops_block_sparse_attention(" + shapes +
                      ", '[[[[1]],[[1]]],[[[1]],[[0]]]]', '[4,4]', 'TND', 'TND', "
                      "'[3,5]', '[4,7]')") == 2LL * (3 * 4 + 3 * 4 + 2 * 3) * (8 + 6));
    // BNSD: lengths are not cumulative; a block beyond the length counts nothing
    CHECK(sql.integer("SELECT "
                      "flops_block_sparse_attention('1,1,8,8','1,1,8,8','1,1,8,8','[[[[1,1],[1,1]]]]','4,4','"
                      "BNSD','BNSD','[6]','[4]')") == 2LL * (6 * 4) * 16);
    CHECK_THAT(sql.error("SELECT flops_block_sparse_attention(" + shapes + ", '[[[1]]]', '[4,4]')"),
               Catch::Contains("mask"));
    CHECK_THAT(sql.error("SELECT flops_block_sparse_attention(" + shapes + ", '[[[[1]]]]', '[4,4]')"),
               Catch::Contains("heads"));
    CHECK_THAT(sql.error("SELECT flops_block_sparse_attention(" + shapes + ", '[[[[1]],[[1]]]]', '[0,4]')"),
               Catch::Contains("block_shape"));
    CHECK_THAT(sql.error("SELECT flops_block_sparse_attention(" + shapes +
                         ", '[[[[1]],[[1]]],[[[1]],[[1]]]]', '[4,4]')"),
               Catch::Contains("seq_q"));
}

TEST_CASE("convolutions and the backward convention") {
    Sql sql;
    // AlexNet's first layer: 64 filters of 3x11x11, output 55x55
    CHECK(sql.integer("SELECT flops_convolution('32,64,55,55', '64,3,11,11')") ==
          2LL * 32 * 64 * 55 * 55 * 3 * 11 * 11);
    CHECK(sql.integer("SELECT flops_convolution('1,64,56,56', '64,1,3,3')") ==
          2LL * 64 * 56 * 56 * 9);  // depthwise
    CHECK(sql.integer("SELECT flops_backward('matmul', 100)") == 200);
    CHECK(sql.integer("SELECT flops_backward('convolution', 100)") == 200);
    CHECK(sql.integer("SELECT flops_backward('flash_attention', 100)") == 250);
    CHECK_THAT(sql.error("SELECT flops_backward('softmax', 100)"), Catch::Contains("flash_attention"));
}

TEST_CASE("results are exact up to 2^63 - 1 and an error beyond") {
    Sql sql;
    // 2 x 3037000499^2 / 2: the largest square below 2^62 doubled stays in range
    CHECK(sql.integer("SELECT flops_matmul('[2147483647,2147483647]', '[2147483647]')") ==
          2LL * 2147483647LL * 2147483647LL);
    CHECK(sql.integer("SELECT flops_mm('[94906267,94906267]', '[94906267,1]')") ==
          2LL * 94906267LL * 94906267LL);  // odd beyond 2^53 / 2
    CHECK_THAT(sql.error("SELECT flops_mm('[4294967296,1]', '[1,1073741824]')"),
               Catch::Contains("flops_mm") && Catch::Contains("64 bits"));
    CHECK_THAT(sql.error("SELECT flops_mm('[9223372036854775807,2]', '[2,9223372036854775807]')"),
               Catch::Contains("64 bits"));
    CHECK(sql.integer(
              "SELECT flops_mm('[9223372036854775807,9223372036854775807]', '[9223372036854775807,0]')") ==
          0);
    const std::string huge = "'[1,1,9223372036854775807,1]'";
    CHECK_THAT(sql.error("SELECT flops_fusion_attention(" + huge + "," + huge + "," + huge + ",1,'BNSD')"),
               Catch::Contains("64 bits"));
    CHECK_THAT(sql.error("SELECT flops_backward('matmul', 9223372036854775807)"), Catch::Contains("64 bits"));
}

TEST_CASE("NULL in gives NULL out") {
    Sql sql;
    for (const char* call : {"flops_mm(NULL,'1,1')",
                             "flops_mm('1,1',NULL)",
                             "flops_bmm(NULL,NULL)",
                             "flops_matmul('1',NULL)",
                             "flops_linear(NULL,'1,1')",
                             "flops_addmm('1,1',NULL)",
                             "flops_all_gather_base_mm('1,1','1,1',NULL)",
                             "flops_transpose_batchmatmul(NULL,'1,1,1')",
                             "flops_grouped_matmul(NULL,'1,1')",
                             "flops_quant_matmul_gelu(NULL,'1,1')",
                             "flops_grouped_matmul_swiglu_quant_v2('1,1',NULL)",
                             "flops_alltoallv_gmm(NULL,'1,1,1')",
                             "flops_gmm_alltoallv('1,1',NULL)",
                             "flops_fusion_attention('1,1,1,1','1,1,1,1','1,1,1,1',NULL,'BNSD')",
                             "flops_fusion_attention('1,1,1,1','1,1,1,1','1,1,1,1',1,NULL)",
                             "flops_fused_infer_attention_score(NULL,'1,1,1,1','1,1,1,1','BNSD',1)",
                             "flops_block_sparse_attention('1,1,1','1,1,1','1,1,1',NULL,'1,1')",
                             "flops_convolution(NULL,'1,1')",
                             "flops_backward('matmul',NULL)",
                             "flops_backward(NULL,1)"})
        CHECK(sql.is_null(std::string("SELECT ") + call));
}

TEST_CASE("a wrong call says function, argument, value and what is accepted") {
    Sql sql;
    CHECK_THAT(sql.error("SELECT flops_mm('[2,3]', '[4,5]')"),
               Catch::Contains("flops_mm") && Catch::Contains("b [4,5]") && Catch::Contains("4") &&
                   Catch::Contains("3"));
    CHECK_THAT(sql.error("SELECT flops_mm('[2,3,4]', '[4,5]')"),
               Catch::Contains("a [2,3,4]") && Catch::Contains("[M,K]"));
    CHECK_THAT(sql.error("SELECT flops_mm('2 by 3', '[3,5]')"),
               Catch::Contains("flops_mm: argument a is TEXT '2 by 3'") && Catch::Contains("'[32,1024]'"));
    CHECK_THAT(sql.error("SELECT flops_mm('[2,-3]', '[3,5]')"), Catch::Contains("negative"));
    CHECK_THAT(sql.error("SELECT flops_mm('[2,3', '[3,5]')"), Catch::Contains("']'"));
    CHECK_THAT(sql.error("SELECT flops_mm('[99999999999999999999,3]', '[3,5]')"), Catch::Contains("64 bits"));
    CHECK_THAT(sql.error("SELECT flops_mm(x'0203', '[3,5]')"), Catch::Contains("BLOB"));
    CHECK_THAT(sql.error("SELECT flops_mm('[2,3]')"), Catch::Contains("(a, b), 1 arguments given"));
    CHECK_THAT(sql.error("SELECT flops_all_gather_base_mm('1,1','1,1','many')"),
               Catch::Contains("argument world_size is TEXT 'many'"));
    CHECK_THAT(sql.error("SELECT flops_all_gather_base_mm('1,1','1,1',0)"), Catch::Contains("at least 1"));
    CHECK_THAT(
        sql.error("SELECT flops_fusion_attention('1,1,1','1,1,1','1,1,1',1,'HBS')"),
        Catch::Contains("argument layout is TEXT 'HBS'") && Catch::Contains("BNSD, BSND, BSH, SBH or TND"));
    CHECK_THAT(sql.error("SELECT flops_fusion_attention('1,8,30','1,8,30','1,8,30',4,'BSH')"),
               Catch::Contains("does not divide by 4"));
    CHECK_THAT(sql.error("SELECT flops_fusion_attention('1,4,8,16','1,3,8,16','1,3,8,16',4,'BNSD')"),
               Catch::Contains("do not divide"));
    CHECK_THAT(sql.error("SELECT flops_fusion_attention('1,4,8,16','1,4,8,16','1,4,8,16',8,'BNSD')"),
               Catch::Contains("head count is 8"));
    CHECK_THAT(sql.error("SELECT flops_transpose_batchmatmul('1,2,3','1,3,4','[0,0,2]')"),
               Catch::Contains("perm_x1"));
    CHECK_THAT(sql.error("SELECT flops_alltoallv_gmm('1,2','1,2,3',NULL,NULL,2)"), Catch::Contains("0 or 1"));
    CHECK_THAT(sql.error("SELECT flops_convolution('1,64,5,5', '32,3,3,3')"), Catch::Contains("channels"));
}

TEST_CASE("properties that hold for any shape") {
    Sql sql;
    std::mt19937 random(20240611);  // fixed seed
    std::uniform_int_distribution<int64_t> dim(1, 300), few(1, 4);
    for (int round = 0; round < 50; ++round) {
        const int64_t m = dim(random), k = dim(random), n = dim(random), b = few(random), heads = few(random),
                      d = dim(random);
        const int64_t mm = sql.integer("SELECT flops_mm(" + shape({m, k}) + "," + shape({k, n}) + ")");
        CHECK(sql.integer("SELECT flops_bmm(" + shape({1, m, k}) + "," + shape({1, k, n}) + ")") == mm);
        CHECK(sql.integer("SELECT flops_matmul(" + shape({m, k}) + "," + shape({k, n}) + ")") == mm);
        CHECK(sql.integer("SELECT flops_linear(" + shape({m, k}) + "," + shape({n, k}) + ")") == mm);
        CHECK(sql.integer("SELECT flops_grouped_matmul(" + shape({m, k}) + "," + shape({k, n}) + ")") == mm);
        CHECK(sql.integer("SELECT flops_bmm(" + shape({b, m, k}) + "," + shape({b, k, n}) + ")") == b * mm);
        CHECK(sql.integer("SELECT flops_convolution(" + shape({m, n, 1, 1}) + "," + shape({n, k, 1, 1}) +
                          ")") == mm);

        const std::string q = shape({b, m, heads, d}), kv = shape({b, n, heads, d});
        const int64_t dense = sql.integer("SELECT flops_fusion_attention(" + q + "," + kv + "," + kv + "," +
                                          std::to_string(heads) + ",'BSND')");
        std::vector<int64_t> ends_q, ends_kv;
        for (int64_t i = 1; i <= b; ++i) ends_q.push_back(i * m), ends_kv.push_back(i * n);
        const std::string tq = shape({b * m, heads, d}), tkv = shape({b * n, heads, d});
        CHECK(sql.integer("SELECT flops_fusion_attention(" + tq + "," + tkv + "," + tkv + "," +
                          std::to_string(heads) + ",'TND',0," + quoted(list(ends_q)) + "," +
                          quoted(list(ends_kv)) + ")") == dense);

        const int64_t block = 64, rows = (m + block - 1) / block, columns = (n + block - 1) / block;
        const std::string mask = nested(nested(nested(nested("1", columns), rows), heads), b);
        CHECK(sql.integer("SELECT flops_block_sparse_attention(" + q + "," + kv + "," + kv + ",'" + mask +
                          "','[64,64]','BSND','BSND')") == dense);

        const std::string head = shape({1, m, 1, 1}), same = head + "," + head + "," + head;
        const int64_t causal =
            sql.integer("SELECT flops_fusion_attention(" + same + ",1,'BSND',2,NULL,NULL,'causal_exact')");
        CHECK(causal == 4 * (m * (m + 1) / 2));  // square: both corners agree
        CHECK(sql.integer("SELECT flops_fusion_attention(" + same +
                          ",1,'BSND',3,NULL,NULL,'causal_exact')") == causal);
    }
}
