// mfu(), actual_tflops(), chip_peak() and the tables of chips. Expected values are the arithmetic that gives
// them.
#include <catch2/catch.hpp>

#include "tests/unit/sql.h"

using profana::test::Sql;

namespace {

// Tables that stand in for open profiles: names in temp come before the extension's own.
void stand_in_profile(Sql& sql) {
    sql.run("CREATE TEMP TABLE prof_source(alias, rank, chip_option)");
    sql.run("CREATE TEMP TABLE prof_device(profile, rank, chip, ai_core_num, aic_frequency_mhz)");
}

}  // namespace

TEST_CASE("rate and share of the peak") {
    Sql sql;
    // 2*512^3 operations in 348.3 us; 2*1024^3 in 2401.4 us
    CHECK(sql.real("SELECT actual_tflops(flops_mm('[512,512]','[512,512]'), 348300)") ==
          Approx(2.0 * 512 * 512 * 512 / 348.3e-6 / 1e12));
    CHECK(sql.text("SELECT printf('%.2f', actual_tflops(flops_mm('[512,512]','[512,512]'), 348300))") ==
          "0.77");
    CHECK(sql.text("SELECT printf('%.2f', actual_tflops(flops_mm('[1024,1024]','[1024,1024]'), 2401400))") ==
          "0.89");
    CHECK(sql.real("SELECT mfu(103079215104, 142740, 353894400000000)") ==
          Approx(103079215104.0 / 142740e-9 / 353.8944e12));
    CHECK(sql.real("SELECT mfu(100, 1, 1e11)") == Approx(1.0));
    for (const char* nothing :
         {"mfu(NULL,1,1)", "mfu(1,NULL,1)", "mfu(1,1,NULL)", "mfu(1,0,1)", "mfu(1,-5,1)", "mfu(1,1,0)",
          "actual_tflops(NULL,1)", "actual_tflops(1,0)", "actual_tflops(1,NULL)"})
        CHECK(sql.is_null(std::string("SELECT ") + nothing));
    CHECK_THAT(sql.error("SELECT mfu('much', 1, 1)"), Catch::Contains("mfu: argument flops is TEXT 'much'"));
}

TEST_CASE("model work, work done again, and kernel time are three figures") {
    Sql sql;
    // forward 3, again 3, backward 6 TFLOP; step of 30 ms, kernels of 6 + 6 + 12 ms; peak 989.4 TFLOPS
    CHECK(sql.real("SELECT mfu(3e12 + 6e12, 30e6, 989.4e12)") == Approx(9.0 / (0.030 * 989.4)));
    CHECK(sql.real("SELECT mfu(3e12 + 3e12 + 6e12, 30e6, 989.4e12)") == Approx(12.0 / (0.030 * 989.4)));
    CHECK(sql.real("SELECT mfu(12e12, 24e6, 989.4e12)") == Approx(12.0 / (0.024 * 989.4)));
}

TEST_CASE("the peak of a named chip is the dense one") {
    Sql sql;
    CHECK(sql.real("SELECT chip_peak('FLOAT16', 'Ascend910B3')") == 20 * 1800e6 * 8192);
    CHECK(sql.real("SELECT chip_peak('DT_BF16', 'ascend910b1')") == 24 * 1850e6 * 8192);
    CHECK(sql.real("SELECT chip_peak('INT8', 'Ascend910B1')") == 24 * 1850e6 * 16384);
    CHECK(sql.real("SELECT chip_peak('DT_FLOAT8_E4M3FN', 'Ascend950PR_9599')") == 36 * 1800e6 * 16384);
    CHECK(sql.is_null("SELECT chip_peak('DT_FLOAT8_E4M3FN', 'Ascend910B1')"));
    CHECK(sql.real("SELECT chip_peak('c10::BFloat16', 'NVIDIA A100-SXM4-80GB')") == 312e12);
    CHECK(sql.real("SELECT chip_peak('float', 'NVIDIA A100-PG509-200')") == 19.5e12);
    CHECK(sql.real("SELECT chip_peak('c10::Half', 'NVIDIA H100 80GB HBM3')") == 989.4e12);
    CHECK(sql.real("SELECT chip_peak('bf16', 'NVIDIA H100 PCIe')") == 756e12);
    CHECK(sql.real("SELECT chip_peak('bf16', 'AMD Instinct MI300X VF')") == 1307.4e12);
    CHECK(sql.real("SELECT chip_peak('fp8', 'NVIDIA H20')") == 296e12);
    CHECK(sql.real("SELECT chip_peak('fp16', 'Tesla V100-SXM2-16GB')") == 125e12);
    // 420 of the dense 989.5, not of the 1979 with sparsity
    CHECK(sql.real("SELECT mfu(420e12, 1e9, chip_peak('bf16', 'H200'))") == Approx(420 / 989.5));
    CHECK(sql.real("SELECT mfu(156e12, 1e9, chip_peak('bf16', 'A100'))") == Approx(0.5));
    CHECK(sql.is_null("SELECT mfu(10e12, 1e9, chip_peak('bf16', 'X1'))"));
    CHECK(
        sql.real(
            "SELECT sparse_flops_per_s FROM chip_peaks WHERE chip = 'NVIDIA H200 SXM' AND dtype = 'bf16'") ==
        1979e12);
    CHECK(sql.integer("SELECT count(*) FROM chip_peaks WHERE source IS NULL OR dense_flops_per_s <= 0 "
                      "OR sparse_flops_per_s < dense_flops_per_s") == 0);
    CHECK(sql.integer("SELECT count(*) FROM chip_names WHERE chip NOT IN (SELECT chip FROM chip_peaks)") ==
          0);
    CHECK(sql.integer("SELECT count(*) FROM chip_peaks WHERE dtype NOT IN (SELECT dtype FROM dtype_names)") ==
          0);
}

TEST_CASE("types without a peak, unknown names and NULL give NULL") {
    Sql sql;
    for (const char* type : {"INT32", "INT64", "BOOL", "UINT8", "DT_FLOAT8_E5M2", "", "N/A"})
        CHECK(sql.is_null("SELECT chip_peak('" + std::string(type) + "', 'Ascend910B3')"));
    CHECK(sql.is_null("SELECT chip_peak(NULL, 'A100')"));
    CHECK(sql.is_null("SELECT chip_peak('bf16', NULL)"));
    CHECK(sql.is_null("SELECT chip_peak('bf16', 'Ascend910B')"));  // may be any A2 or A3 part
    CHECK(sql.is_null("SELECT chip_peak('bf16')"));                // no profile is open
    CHECK_THAT(sql.error("SELECT chip_peak()"), Catch::Contains("chip_peak: takes (dtype, [chip])"));
    CHECK_THAT(sql.error("SELECT chip_peak(16, 'A100')"), Catch::Contains("argument dtype is INTEGER 16"));
}

TEST_CASE("every source's names of a type mean the same peak") {
    Sql sql;
    for (const char* name : {"DT_BF16", "BF16", "bfloat16", "c10::BFloat16", "torch.bfloat16", " BF16 "})
        CHECK(sql.real("SELECT chip_peak('" + std::string(name) + "', 'A100')") == 312e12);
    for (const char* name : {"FLOAT16", "c10::Half", "half", "float16", "FLOAT16_", "DT_FLOAT16"})
        CHECK(sql.real("SELECT chip_peak('" + std::string(name) + "', 'H100')") == 989.4e12);
    for (const char* name : {"c10::Float8_e4m3fn", "DT_FLOAT8_E5M2", "fp8", "torch.float8_e5m2"})
        CHECK(sql.real("SELECT chip_peak('" + std::string(name) + "', 'H100')") == 1978.9e12);
    for (const char* name : {"INT8", "DT_INT8", "signed char", "torch.int8"})
        CHECK(sql.real("SELECT chip_peak('" + std::string(name) + "', 'A100')") == 624e12);
    CHECK(sql.real("SELECT chip_peak('DT_INT4', 'A100')") == 1248e12);
    CHECK(sql.real("SELECT chip_peak('FLOAT', 'Ascend910B3')") ==
          sql.real("SELECT chip_peak('FLOAT16', 'Ascend910B3')"));
}

TEST_CASE("users add chips and change figures") {
    Sql sql;
    sql.run("INSERT INTO chip_peaks(chip, dtype, dense_flops_per_s) VALUES ('X1', 'bf16', 100e12)");
    CHECK(sql.real("SELECT chip_peak('bf16', 'x1')") == 100e12);
    sql.run(
        "INSERT OR REPLACE INTO chip_peaks(chip, dtype, dense_flops_per_s) VALUES ('NVIDIA A100', 'bf16', "
        "300e12)");
    CHECK(sql.real("SELECT chip_peak('bf16', 'NVIDIA A100-SXM4-80GB')") == 300e12);
    sql.run("UPDATE chip_peaks SET dense_flops_per_s = 310e12 WHERE chip = 'NVIDIA A100' AND dtype = 'fp16'");
    CHECK(sql.real("SELECT chip_peak('fp16', 'A100')") == 310e12);
    sql.run("INSERT INTO dtype_names VALUES ('bf16', 'brainfloat')");
    CHECK(sql.real("SELECT chip_peak('BrainFloat', 'X1')") == 100e12);
    CHECK(sql.integer("SELECT count(*) FROM (VALUES ('bf16'), ('fp16'), ('bf16')) WHERE chip_peak(column1, "
                      "'A100') > 305e12") == 1);
}

TEST_CASE("the peak of the open profile") {
    Sql sql;
    stand_in_profile(sql);
    sql.run("INSERT INTO prof_source VALUES ('run', 0, NULL), ('run', 1, NULL)");
    sql.run(
        "INSERT INTO prof_device VALUES ('run', 0, 'Ascend910B', 24, 1850.0), ('run', 1, 'Ascend910B', 24, "
        "1850.0)");
    CHECK(sql.real("SELECT chip_peak('FLOAT16')") == 363.7248e12);
    CHECK(sql.real("SELECT chip_peak('FLOAT')") == 363.7248e12);
    CHECK(sql.real("SELECT chip_peak('INT8')") == 2 * 363.7248e12);
    CHECK(sql.is_null("SELECT chip_peak('INT32')"));

    SECTION("20 cores at 1650 MHz") {
        sql.run("UPDATE prof_device SET ai_core_num = 20, aic_frequency_mhz = 1650.0");
        CHECK(sql.real("SELECT chip_peak('FLOAT16')") == 270.336e12);
    }
    SECTION("what info.json says comes before nominal figures") {
        sql.run("UPDATE prof_device SET chip = 'Ascend910B3'");
        CHECK(sql.real("SELECT chip_peak('FLOAT16')") == 363.7248e12);
    }
    SECTION("a chip named when opening comes before info.json") {
        sql.run("UPDATE prof_source SET chip_option = 'Ascend910B3'");
        CHECK(sql.real("SELECT chip_peak('FLOAT16')") == 294.912e12);
    }
    SECTION("a user's row comes before all") {
        sql.run("UPDATE prof_device SET chip = 'Ascend910B3'");
        sql.run(
            "INSERT OR REPLACE INTO chip_peaks(chip, dtype, dense_flops_per_s) VALUES ('Ascend910B3', "
            "'fp16', 250e12)");
        CHECK(sql.real("SELECT chip_peak('FLOAT16')") == 250e12);
        CHECK(sql.real("SELECT chip_peak('BF16')") == 363.7248e12);
    }
    SECTION("without info.json the named chip's nominal figures") {
        sql.run(
            "UPDATE prof_device SET chip = 'NVIDIA H100 80GB HBM3', ai_core_num = 132, aic_frequency_mhz = "
            "NULL");
        CHECK(sql.real("SELECT chip_peak('c10::BFloat16')") == 989.4e12);
        sql.run("DELETE FROM prof_device");
        CHECK(sql.is_null("SELECT chip_peak('FLOAT16')"));
        sql.run("UPDATE prof_source SET chip_option = 'A100'");
        CHECK(sql.real("SELECT chip_peak('FLOAT16')") == 312e12);
    }
    SECTION("profiles on different chips have no common peak") {
        sql.run("INSERT INTO prof_source VALUES ('gpu', NULL, 'A100')");
        CHECK(sql.is_null("SELECT chip_peak('FLOAT16')"));
        CHECK(sql.real("SELECT peak_flops FROM rank_peak WHERE profile = 'gpu' AND dtype = 'fp16'") ==
              312e12);
    }
}

TEST_CASE("nest_within finds the innermost range that contains the row whole") {
    Sql sql;
    sql.run("CREATE TEMP TABLE event(id, start_ns, end_ns, ask)");
    const auto within = [&sql](const char* rows) {
        sql.run("DELETE FROM event");
        sql.run(std::string("INSERT INTO event VALUES ") + rows);
        std::string out;
        for (const auto& row : sql.rows(
                 "SELECT nest_within(id, start_ns, end_ns) OVER (ORDER BY start_ns, end_ns DESC, ask, id "
                 "ROWS UNBOUNDED PRECEDING) FROM event ORDER BY start_ns, end_ns DESC, ask, id"))
            out += row[0] + " ";
        return out;
    };
    CHECK(within("(1,0,100,0), (2,10,50,0), (3,20,30,0), (4,60,90,0)") == "NULL 1 2 1 ");
    CHECK(within("(1,0,100,0), (2,100,120,0)") == "NULL NULL ");                    // only touches
    CHECK(within("(1,0,100,0), (NULL,0,100,1), (NULL,100,100,1)") == "NULL 1 1 ");  // both ends included
    CHECK(within("(1,0,100,0), (2,50,150,0), (NULL,60,80,1), (NULL,120,130,1)") == "NULL NULL 2 2 ");
    // An ask that straddles a range leaves it open for later rows.
    CHECK(within("(1,0,100,0), (2,10,50,0), (NULL,40,60,1), (NULL,45,50,1)") == "NULL 1 1 2 ");
    CHECK(within("(1,0,10,0), (2,0,10,0), (NULL,0,10,1)") == "NULL 1 2 ");
    CHECK_THAT(
        sql.error("SELECT nest_within(id, start_ns, end_ns) OVER (ORDER BY start_ns DESC ROWS UNBOUNDED "
                  "PRECEDING) FROM "
                  "(VALUES (1)), (SELECT 1 AS id, 5 AS start_ns, 6 AS end_ns UNION ALL SELECT 2, 9, 10)"),
        Catch::Contains("nest_within: rows must come by rising time"));
}
