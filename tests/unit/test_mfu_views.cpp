// The MFU views over small profiles made by hand. Tables in temp stand in for those of open profiles.
#include <catch2/catch.hpp>

#include "tests/unit/sql.h"

using profana::test::Sql;
using Rows = std::vector<std::vector<std::string>>;

namespace {

// A profile 'run' with one rank 0 on a chip of 100 TFLOPS for fp16 and bf16.
class Profile : public Sql {
  public:
    Profile() {
        run("CREATE TEMP TABLE prof_source(alias, rank, kind, chip_option);"
            "CREATE TEMP TABLE prof_device(profile, rank, chip, ai_core_num, aic_frequency_mhz);"
            "CREATE TEMP TABLE prof_mstx_range(profile, rank, id INTEGER PRIMARY KEY, thread_id, event_type, "
            "domain, message,"
            "  start_ns, end_ns);"
            "CREATE TEMP TABLE prof_host_op(profile, rank, id INTEGER PRIMARY KEY, thread_id, name, kind, "
            "step, start_ns, end_ns,"
            "  input_shapes, input_types, concrete_inputs, connection_id, kernel_count DEFAULT 0, "
            "kernel_names, "
            "kernel_ns DEFAULT 0);"
            "CREATE TEMP TABLE prof_launch(profile, rank, host_op_id, kernel_id, comm_op_id, device_task_id);"
            "CREATE TEMP TABLE prof_kernel(profile, rank, id INTEGER PRIMARY KEY, name, op_type, step, "
            "start_ns, end_ns, dur_ns,"
            "  input_shapes, input_types, input_formats, output_shapes, output_formats, is_communication);"
            "CREATE TEMP TABLE prof_comm_op(profile, rank, id INTEGER PRIMARY KEY, name, op_type, start_ns, "
            "dur_ns);"
            "CREATE TEMP TABLE prof_device_task(profile, rank, id INTEGER PRIMARY KEY, name, connection_id, "
            "start_ns, dur_ns,"
            "  is_schedule);"
            "CREATE TEMP TABLE prof_fwd_bwd(profile, rank, forward_ns, backward_ns, backward_thread_id);"
            "CREATE TEMP TABLE prof_step(profile, rank, step, start_ns, end_ns);"
            // What an operator launched, as the library tells it.
            "CREATE TEMP TRIGGER launched AFTER INSERT ON prof_launch BEGIN"
            "  UPDATE prof_host_op SET (kernel_count, kernel_names, kernel_ns) ="
            "    (SELECT count(l.kernel_id), ordered_concat(k.name, ', ', k.start_ns, k.id), "
            "coalesce(sum(k.dur_ns), 0)"
            "       FROM prof_launch AS l LEFT JOIN prof_kernel AS k"
            "         ON k.profile = l.profile AND k.id = l.kernel_id AND k.is_communication IS NOT 1"
            "      WHERE l.profile = NEW.profile AND l.host_op_id = NEW.host_op_id)"
            "   WHERE profile = NEW.profile AND id = NEW.host_op_id;"
            "END;"
            "INSERT INTO prof_source VALUES ('run', 0, 'db', NULL);"
            "INSERT INTO prof_device VALUES ('run', 0, 'C100', NULL, NULL);"
            "INSERT INTO chip_peaks(chip, dtype, dense_flops_per_s) VALUES ('C100', 'fp16', 100e12), "
            "('C100', 'bf16', 100e12)");
    }

    void range(const std::string& domain, const std::string& message, int start, int end, int thread = 1) {
        run("INSERT INTO prof_mstx_range(profile, rank, thread_id, event_type, domain, message, start_ns, "
            "end_ns) VALUES ('run', 0, " +
            std::to_string(thread) + ", 'start/end', '" + domain + "', '" + message + "', " +
            std::to_string(start) + ", " + std::to_string(end) + ")");
    }
    void record(const std::string& message, int start, int end, int thread = 1) {
        range("mfu_flops", message, start, end, thread);
    }

    int op(const std::string& name, int start, int end, int thread = 1) {
        run("INSERT INTO prof_host_op(profile, rank, thread_id, name, kind, start_ns, end_ns) VALUES ('run', "
            "0, " +
            std::to_string(thread) + ", '" + name + "', 'op', " + std::to_string(start) + ", " +
            std::to_string(end) + ")");
        return static_cast<int>(sqlite3_last_insert_rowid(db()));
    }

    // A product of 128 x 64 by 64 x 256 that recorded its dims.
    int mm() {
        const int id = op("aten::mm", 100, 300);
        run("UPDATE prof_host_op SET input_shapes = '[[128,64],[64,256]]' WHERE id = " + std::to_string(id));
        return id;
    }

    int kernel(int op, const std::string& name, int start, int dur, const std::string& inputs = "'2,2;2,2'",
               const std::string& outputs = "'2,2'", const std::string& types = "'DT_BF16;DT_BF16'",
               const std::string& op_type = "") {
        const std::string type = op_type.empty() ? name : op_type;
        run("INSERT INTO prof_kernel(profile, rank, name, op_type, start_ns, end_ns, dur_ns, input_shapes, "
            "input_types, output_shapes) "
            "VALUES ('run', 0, '" +
            name + "', " + (type == "NULL" ? "NULL" : "'" + type + "'") + ", " + std::to_string(start) +
            ", " + std::to_string(start + dur) + ", " + std::to_string(dur) + ", " + inputs + ", " + types +
            ", " + outputs + ")");
        const int id = static_cast<int>(sqlite3_last_insert_rowid(db()));
        run("INSERT INTO prof_launch VALUES ('run', 0, " + std::to_string(op) + ", " + std::to_string(id) +
            ", NULL, NULL)");
        return id;
    }
};

}  // namespace

TEST_CASE("FLOPs belong to the operator, however many kernels it launched") {
    Profile p;
    // aten::mm of 128x64 by 64x256: a layout kernel of 1 us and the product of 3 us
    const long long flops = 2LL * 128 * 256 * 64;
    CHECK(flops == 4194304);
    p.record("4194304-mm", 100, 200);
    const int mm = p.op("aten::mm", 110, 190);
    p.kernel(mm, "TransData_1", 1000, 1000, "'64,256'", "'64,256'", "'DT_BF16'", "TransData");
    p.kernel(mm, "MatMulV3_1", 2000, 3000, "'128,64;64,256'", "'128,256'", "'DT_BF16;DT_BF16'", "MatMulV3");
    // per kernel as the reference: each is given everything
    CHECK(p.rows("SELECT kernel_name, flops, round(mfu, 9) FROM operator_mfu") ==
          Rows{{"TransData_1", "4194304", "0.04194304"}, {"MatMulV3_1", "4194304", "0.013981013"}});
    // the operator: 4194304 / 4 us / 100 TFLOPS
    CHECK(p.real("SELECT mfu FROM mfu_record") == Approx(0.01048576));
    CHECK(
        p.rows("SELECT flops, kernels, busy_ns, kernel_ns, op_names, dtype, is_recompute FROM mfu_record") ==
        Rows{{"4194304", "2", "4000", "4000", "aten::mm", "bf16", "0"}});
    // by shapes: the product has all of it
    CHECK(p.rows("SELECT kernel_name, flops, round(mfu, 9), shapes_from, estimated, is_recorded FROM "
                 "kernel_mfu_estimate") ==
          Rows{{"MatMulV3_1", "4194304", "0.013981013", "kernel", "1", "1"}});
    CHECK(p.real("SELECT kernel_eff FROM mfu_total WHERE scope = 'operator' AND name = 'mm'") ==
          Approx(0.01048576));
}

TEST_CASE("kernels without shapes share their operator's FLOPs by time") {
    Profile p;
    const int linear = p.op("aten::linear", 100, 300), addmm = p.op("aten::addmm", 110, 290);
    p.run(
        "UPDATE prof_host_op SET input_types = '[\"c10::Half\",\"c10::Half\",\"c10::Half\"]', input_shapes = "
        "CASE name WHEN 'aten::linear' THEN '[[128,64],[256,64],[256]]' ELSE "
        "'[[256],[128,64],[64,256],[],[]]' END");
    const int launch = p.op("cudaLaunchKernel", 120, 130);
    p.run("UPDATE prof_host_op SET kind = 'runtime' WHERE name = 'cudaLaunchKernel'");
    (void)linear, (void)addmm;
    for (const auto& [name, start, dur] : {std::tuple{"void cutlass::Kernel2<gemm>", 1000, 3000},
                                           {"void splitKreduce_kernel", 4000, 500},
                                           {"sm90_xmma_gemm_tail", 4500, 1000}})
        p.kernel(launch, name, start, dur, "NULL", "NULL", "NULL", "NULL");
    // three quarters, nothing and a quarter of 2*128*256*64
    CHECK(
        p.rows("SELECT kernel_name, flops, op_name, op_flops, dtype, shapes_from FROM kernel_mfu_estimate") ==
        Rows{{"void cutlass::Kernel2<gemm>", "3145728.0", "aten::addmm", "4194304", "fp16", "operator"},
             {"void splitKreduce_kernel", "0", "aten::addmm", "4194304", "fp16", "operator"},
             {"sm90_xmma_gemm_tail", "1048576.0", "aten::addmm", "4194304", "fp16", "operator"}});
    CHECK(p.real("SELECT sum(flops) FROM kernel_mfu_estimate") == 4194304.0);
    // no operator of a backward pass: the model's work is all the work
    CHECK(p.rows("SELECT flops_source, flops = 4194304, model_flops = 4194304, e2e_ns, computing_ns, "
                 "round(counted_ratio, 6) "
                 "FROM mfu_total WHERE scope = 'profile'") ==
          Rows{{"estimated", "1", "1", "4500", "4500", "0.888889"}});
}

TEST_CASE("a kernel without type beside a product that tells its own shapes counts nothing") {
    Profile p;
    const int mm = p.mm();
    p.kernel(mm, "MatMulV3_1", 1000, 3000, "'128,64;64,256'", "'128,256'", "'DT_BF16;DT_BF16'", "MatMulV3");
    p.kernel(mm, "gemm_tail", 4000, 1000, "NULL", "NULL", "NULL", "NULL");
    CHECK(
        p.rows("SELECT kernel_name, flops, shapes_from FROM kernel_mfu_estimate") ==
        Rows{{"MatMulV3_1", std::to_string(2LL * 128 * 64 * 256), "kernel"}, {"gemm_tail", "0", "operator"}});
}

TEST_CASE("a product that does not tell its shapes leaves its operator's FLOPs to the kernel beside it") {
    Profile p;
    const int mm = p.mm();
    p.kernel(mm, "MatMulV3_1", 1000, 3000, "NULL", "NULL", "NULL", "MatMulV3");
    p.kernel(mm, "gemm_tail", 4000, 1000, "NULL", "NULL", "NULL", "NULL");
    CHECK(p.rows("SELECT kernel_name, flops FROM kernel_mfu_estimate") ==
          Rows{{"MatMulV3_1", "NULL"}, {"gemm_tail", std::to_string(2LL * 128 * 64 * 256)}});
}

TEST_CASE("kernels elsewhere change nothing of a product that formats pad") {
    Profile p;
    const int mm = p.mm(), other = p.op("aten::add", 400, 500);
    p.kernel(mm, "nz", 1000, 3000, "'4,8,16,16;16,4,16,16'", "'16,8,16,16'", "'DT_BF16;DT_BF16'", "MatMulV3");
    p.kernel(mm, "nd", 4000, 1000, "'128,64;64,256'", "'128,256'", "'DT_BF16;DT_BF16'", "MatMulV3");
    p.run(
        "UPDATE prof_kernel SET input_formats = 'FRACTAL_NZ;FRACTAL_NZ', output_formats = 'FRACTAL_NZ' WHERE "
        "name = 'nz'");
    const auto estimated = [&] {
        return p.rows(
            "SELECT kernel_name, flops, shapes_from FROM kernel_mfu_estimate WHERE op_type = 'MatMulV3'");
    };
    const Rows before = estimated();
    CHECK(before[0] == Rows{{"nz", std::to_string(2LL * 128 * 64 * 256), "operator"}}[0]);
    p.kernel(other, "bare", 6000, 100, "NULL", "NULL", "NULL", "NULL");
    CHECK(estimated() == before);
}

TEST_CASE("of types the first with a peak counts; what is no list of types loses nothing") {
    Profile p;
    const int mm = p.op("aten::mm", 100, 300);
    for (const auto& [types, name] :
         {std::pair{"'FLOAT;DT_BF16'", "a"}, std::pair{"'[\"c10::Half\"]'", "b"},
          std::pair{"'[\"c10::Half'", "c"}, std::pair{"'\"DT_BF16\";\\'", "d"}, std::pair{"''", "e"}})
        p.kernel(mm, name, 1000, 1000, "'2,2;2,2'", "'2,2'", types, "MatMulV3");
    CHECK(p.rows("SELECT kernel_name, flops, dtype FROM kernel_mfu_estimate ORDER BY kernel_name") ==
          Rows{{"a", "16", "fp32"},
               {"b", "16", "fp16"},
               {"c", "16", "NULL"},
               {"d", "16", "NULL"},
               {"e", "16", "NULL"}});
}

TEST_CASE("an operator around a counted one counts nothing of its own") {
    Profile p;
    // addmm made of a product and an addition: the product's FLOPs are mm's, and those of addmm are the same
    // ones
    p.op("aten::addmm", 100, 300);
    p.op("aten::mm", 110, 190);
    p.run(
        "UPDATE prof_host_op SET input_types = '[\"c10::Half\",\"c10::Half\",\"c10::Half\"]', input_shapes = "
        "CASE name "
        "WHEN 'aten::mm' THEN '[[128,64],[64,256]]' ELSE '[[256],[128,64],[64,256],[],[]]' END");
    const int inner = p.op("cudaLaunchKernel", 120, 130), outer = p.op("cudaLaunchKernel", 200, 210);
    p.run("UPDATE prof_host_op SET kind = 'runtime' WHERE name = 'cudaLaunchKernel'");
    p.kernel(inner, "gemm", 1000, 3000, "NULL", "NULL", "NULL", "NULL");
    p.kernel(outer, "elementwise_add", 4000, 500, "NULL", "NULL", "NULL", "NULL");
    const std::string product = std::to_string(2LL * 128 * 64 * 256);
    CHECK(p.rows("SELECT kernel_name, op_name, flops FROM kernel_mfu_estimate") ==
          Rows{{"gemm", "aten::mm", product}});
    // where the inner one's dims do not tell, the outer one's count for the kernels that are its own
    p.run("UPDATE prof_host_op SET input_shapes = '[[128,64],[1,256]]' WHERE name = 'aten::mm'");
    CHECK(p.rows("SELECT kernel_name, op_name, flops FROM kernel_mfu_estimate") ==
          Rows{{"gemm", "aten::addmm", product}, {"elementwise_add", "aten::addmm", "0"}});
}

TEST_CASE("a record takes the operators that start within it, both ends included") {
    Profile p;
    p.record("1000-first", 100, 200);
    p.record("2000-second", 200, 300);
    p.record("500-inner", 210, 220);
    p.kernel(p.op("before", 99, 150), "K0", 1000, 10);
    p.kernel(p.op("at_start", 100, 110), "K1", 1100, 10);
    p.kernel(p.op("at_end", 200, 400), "K2", 1200, 10);  // of both records
    p.kernel(p.op("late_kernel", 215, 216), "K3", 999999, 10);
    p.kernel(p.op("after", 301, 302), "K4", 1400, 10);
    CHECK(p.rows("SELECT op_name, kernel_name, flops, flops_op_name FROM operator_mfu") ==
          Rows{{"at_start", "K1", "1000", "first"},
               {"at_end", "K2", "1000", "first"},
               {"at_end", "K2", "2000", "second"},
               {"late_kernel", "K3", "2000", "second"},
               {"late_kernel", "K3", "500", "inner"}});
}

TEST_CASE("which records and kernels count, and what is said of the others") {
    Profile p;
    for (const char* message :
         {"mm", "12", "-5-mm", "0-mm", "12-", "1.5-mm", " 7-mm", "99999999999999999999-mm"})
        p.record(message, 100, 200);
    p.record("700-mm", 300, 300);
    p.record("007-a-b", 400, 500);
    p.record("11-lonely", 600, 700);
    const int ab = p.op("aten::a", 410, 420);
    p.kernel(ab, "same", 5000, 10);
    p.kernel(ab, "same", 5000, 10);  // found twice
    p.kernel(ab, "no_input_shapes", 6000, 10, "NULL");
    p.kernel(ab, "no_output_shapes", 7000, 10, "'2,2'", "NULL");
    p.kernel(ab, "no_time", 8000, 0);
    CHECK(p.rows("SELECT flops, flops_op_name, kernel_name, round(actual_tflops, 9) FROM operator_mfu") ==
          Rows{{"7", "a-b", "same", "0.0007"}});
    CHECK(p.rows("SELECT flops_op_name, kernels, busy_ns FROM mfu_record") ==
          Rows{{"a-b", "2", "10"}, {"lonely", "0", "NULL"}});
    CHECK(p.rows("SELECT code, count FROM mfu_diagnostic ORDER BY code") ==
          Rows{{"flops_record_ignored", "9"},
               {"flops_record_without_kernel", "1"},
               {"kernel_without_shapes", "2"},
               {"no_module_ranges", "0"}});
}

TEST_CASE("the first kernel's first input decides the type of a record") {
    Profile p;
    p.run("INSERT INTO chip_peaks(chip, dtype, dense_flops_per_s) VALUES ('C100', 'int8', 200e12)");
    const auto peak = [&p](const std::string& types, const std::string& second = "'INT8'") {
        p.run(
            "DELETE FROM prof_mstx_range; DELETE FROM prof_host_op; DELETE FROM prof_kernel; DELETE FROM "
            "prof_launch");
        p.record("1000-mm", 100, 200);
        const int op = p.op("aten::mm", 110, 120);
        p.kernel(op, "second", 2000, 10, "'2'", "'2'", second);
        p.kernel(op, "first", 1000, 10, "'2'", "'2'", types);
        return p.rows("SELECT chip_peak_tflops, dtype, mfu IS NULL FROM operator_mfu");
    };
    CHECK(peak("'DT_BF16;INT8'") == Rows{{"100.0", "bf16", "0"}, {"100.0", "bf16", "0"}});
    CHECK(peak("'INT8;DT_BF16'", "'DT_BF16'") == Rows{{"200.0", "int8", "0"}, {"200.0", "int8", "0"}});
    CHECK(peak("NULL") == Rows{{"100.0", "fp16", "0"}, {"100.0", "fp16", "0"}});
    CHECK(peak("';INT8'") == Rows{{"100.0", "fp16", "0"}, {"100.0", "fp16", "0"}});
    // another type: the rate is still there, the share is not
    CHECK(peak("'INT32;DT_BF16'") == Rows{{"NULL", "NULL", "1"}, {"NULL", "NULL", "1"}});
    CHECK(p.real("SELECT actual_tflops FROM operator_mfu") == Approx(1000 / 10e-9 / 1e12));
    CHECK(p.rows("SELECT code, count FROM mfu_diagnostic WHERE code GLOB 'dtype*'") ==
          Rows{{"dtype_without_peak", "1"}});
    p.run("UPDATE prof_device SET chip = 'unheard of'");
    CHECK(p.rows("SELECT code FROM mfu_diagnostic WHERE code GLOB 'chip*'") == Rows{{"chip_not_known"}});
}

TEST_CASE("several profiles and ranks stand side by side") {
    Profile p;
    p.run(
        "INSERT INTO prof_source VALUES ('run', 1, 'db', NULL), ('other', 0, 'db', 'A100');"
        "INSERT INTO prof_device VALUES ('run', 1, 'C100', NULL, NULL)");
    // the same times on two ranks and in another profile; ids are unique within a profile
    for (const auto& [profile, rank, id] : {std::tuple{"run", 0, 1}, {"run", 1, 2}, {"other", 0, 3}}) {
        const std::string who =
            "'" + std::string(profile) + "', " + std::to_string(rank) + ", " + std::to_string(id);
        p.run(
            "INSERT INTO prof_mstx_range VALUES (" + who +
            ", 1, 'start/end', 'mfu_flops', '1000-mm', 100, 200);"
            "INSERT INTO prof_host_op(profile, rank, id, thread_id, name, kind, start_ns, end_ns) VALUES (" +
            who +
            ", 1, 'aten::mm', 'op', 110, 120);"
            "INSERT INTO prof_kernel(profile, rank, id, name, start_ns, end_ns, dur_ns, input_shapes, "
            "input_types, output_shapes) VALUES (" +
            who +
            ", 'MatMul', 1000, 1010, 10, '2,2;2,2', 'BF16', '2,2');"
            "INSERT INTO prof_launch SELECT profile, rank, id, id, NULL, NULL FROM prof_kernel WHERE id = " +
            std::to_string(id));
    }
    CHECK(p.rows("SELECT profile, rank_id, kernel_id, chip_peak_tflops FROM operator_mfu") ==
          Rows{{"other", "0", "3", "312.0"}, {"run", "0", "1", "100.0"}, {"run", "1", "2", "100.0"}});
    CHECK(p.integer("SELECT count(*) FROM operator_mfu WHERE profile = 'run' AND rank_id = 1") == 1);
}

TEST_CASE("work done again counts for the hardware, not for the model") {
    Profile p;
    p.run("INSERT INTO prof_step VALUES ('run', 0, 5, 0, 100000)");
    const auto work = [&p](const char* message, int start, int thread) {
        p.record(message, start, start + 10, thread);
        p.kernel(p.op("aten::mm", start + 1, start + 5, thread), "MatMul", start * 10, 200);
    };
    work("3000-mm", 100, 1);  // forward
    SECTION("directly in a checkpoint") {
        p.op("CheckpointFunctionBackward", 1000, 2000, 2);
        work("3000-mm", 1100, 2);
        CHECK(p.rows("SELECT is_recompute FROM mfu_record") == Rows{{"0"}, {"1"}});
    }
    SECTION("in a module called by the backward pass") {
        p.op("MmBackward0", 1000, 2000, 2);
        p.range("Module", "Linear", 1050, 1200, 2);
        work("3000-mm", 1100, 2);
        CHECK(p.rows("SELECT is_recompute FROM mfu_record") == Rows{{"0"}, {"1"}});
    }
    // model 3000, all 6000 operations; 100 us of wall time, 400 ns of kernels, 100 TFLOPS
    CHECK(p.rows("SELECT flops, model_flops, e2e_ns, computing_ns FROM mfu_total WHERE scope = 'profile'") ==
          Rows{{"6000", "3000", "100000", "400"}});
    CHECK(p.real("SELECT mfu FROM mfu_total WHERE scope = 'profile'") == Approx(3000 / (100e-6 * 100e12)));
    CHECK(p.real("SELECT hfu FROM mfu_total WHERE scope = 'profile'") == Approx(6000 / (100e-6 * 100e12)));
    CHECK(p.real("SELECT kernel_eff FROM mfu_total WHERE scope = 'profile'") ==
          Approx(6000 / (400e-9 * 100e12)));
}

TEST_CASE("what cannot be told to be work done again leaves the model's share open") {
    Profile p;
    p.record("3000-mm", 100, 110);
    p.kernel(p.op("aten::mm", 101, 105), "MatMul", 1000, 200);
    p.op("MyLinearBackward", 1000, 2000, 2);  // may call a product of its own, or forward work again
    p.record("3000-mm", 1100, 1110, 2);
    p.kernel(p.op("aten::mm", 1101, 1105, 2), "MatMul", 11000, 200);
    CHECK(p.rows("SELECT is_recompute FROM mfu_record") == Rows{{"0"}, {"NULL"}});
    CHECK(p.rows("SELECT model_flops, mfu, hfu IS NULL FROM mfu_total WHERE scope = 'profile'") ==
          Rows{{"NULL", "NULL", "0"}});
}

TEST_CASE("totals of mixed types weigh each type with its own peak") {
    Profile p;
    p.run("INSERT INTO chip_peaks(chip, dtype, dense_flops_per_s) VALUES ('C100', 'int8', 200e12)");
    p.record("1000-a", 100, 110), p.record("4000-b", 200, 210), p.record("9-c", 300, 310);
    p.kernel(p.op("aten::a", 101, 102), "A", 1000, 100, "'2'", "'2'", "'BF16'");
    p.kernel(p.op("aten::b", 201, 202), "B", 1050, 100, "'2'", "'2'", "'INT8'");
    p.kernel(p.op("aten::c", 301, 302), "C", 1900, 100, "'2'", "'2'", "'INT32'");
    // kernels run 1000-1150 and 1900-2000; 1000/100T + 4000/200T = 30 ps of work at the peak
    CHECK(p.rows("SELECT flops, flops_without_peak, e2e_ns, computing_ns FROM mfu_total WHERE scope = "
                 "'profile'") == Rows{{"5009", "9", "1000", "250"}});
    CHECK(p.real("SELECT mfu FROM mfu_total WHERE scope = 'profile'") == Approx(30e-12 / 1e-6));
    CHECK(p.real("SELECT kernel_eff FROM mfu_total WHERE scope = 'profile'") == Approx(30e-12 / 250e-9));
    CHECK(p.real("SELECT peak_flops FROM mfu_total WHERE scope = 'profile'") == Approx(5000 / 30e-12));
    CHECK(p.rows("SELECT name, flops, mfu IS NULL FROM mfu_total WHERE scope = 'dtype'") ==
          Rows{{"NULL", "9", "1"}, {"bf16", "1000", "0"}, {"int8", "4000", "0"}});
}

TEST_CASE("operators belong to the innermost module, and to its kind of instance") {
    Profile p;
    p.range("Module", "Net", 0, 1000);
    p.range("Module", "Block", 10, 200), p.range("Module", "Linear", 20, 100);
    p.range("Module", "Block", 210, 400), p.range("Module", "Linear", 220, 300);
    p.range("Module", "Block", 410, 600), p.range("Module", "Linear", 420, 500);
    p.range("default", "not a module", 0, 5000);
    for (const int block : {0, 200, 400}) {
        p.record("1000000-linear", block + 30, block + 50);
        const int mm = p.op("aten::addmm", block + 35, block + 45);
        p.kernel(mm, "MatMul", 10000 + block, 10);
        p.kernel(mm, "Cast", 10020 + block, 2 + block / 100);
        p.kernel(p.op("aten::gelu", block + 120, block + 130), "Gelu", 10100 + block, 4, "NULL", "NULL");
    }
    p.kernel(p.op("aten::extra", 540, 550), "Extra", 10600, 6);  // the third block is another one
    p.kernel(p.op("outside", 2000, 2010), "Outside", 20000, 6);
    p.op("launches nothing", 140, 150);
    CHECK(p.rows("SELECT parent_module, module, op_name, kernel_list, total_kernel_duration_ns, op_count, "
                 "op_order FROM module_mfu") ==
          Rows{{"Net/Block", "Linear", "aten::addmm", "MatMul, Cast", "42", "3", "0"},
               {"Net", "Block_0", "aten::gelu", "Gelu", "8", "2", "0"},
               {"Net", "Block_1", "aten::gelu", "Gelu", "4", "1", "0"},
               {"Net", "Block_1", "aten::extra", "Extra", "6", "1", "1"}});
    // 10^6 operations in 10 ns of 100 TFLOPS = 1; Cast: 2, 4 and 6 ns give 5, 2.5 and 1.666667, mean 3.055556
    CHECK(p.rows("SELECT round(json_extract(avg_mfu, '$[0]'), 6), round(json_extract(avg_mfu, '$[1]'), 6) "
                 "FROM module_mfu "
                 "WHERE op_name = 'aten::addmm'") == Rows{{"1.0", "3.055556"}});
    CHECK(p.text("SELECT avg_mfu FROM cluster_module_mfu WHERE op_name = 'aten::addmm'") == "100.0%,305.56%");
}

TEST_CASE("neighbouring rows of unlike instances get numbers") {
    Profile p;
    p.range("Module", "Net", 0, 1000);
    for (const int block : {0, 200}) {
        p.range("Module", "Block", block + 10, block + 200);
        p.kernel(p.op("aten::add", block + 20, block + 30), "Add", 10000 + block, 4);
    }
    p.kernel(p.op("aten::mul", 240, 250), "Mul", 10600, 6);
    CHECK(p.rows("SELECT module, op_name, op_count FROM module_mfu") ==
          Rows{{"Block_0", "aten::add", "1"}, {"Block_1", "aten::add", "1"}, {"Block_1", "aten::mul", "1"}});
}

TEST_CASE("unlike instances are numbered by first appearance on their own rank") {
    Profile p;
    p.run("INSERT INTO prof_source VALUES ('run', 1, 'db', NULL)");
    // rank 0: add, then mul; rank 1, later: mul, then add
    for (const int rank : {0, 1}) {
        const int base = rank * 100000;
        p.range("Module", "Net", base, base + 1000);
        for (const int block : {0, 200}) {
            p.range("Module", "Block", base + block + 10, base + block + 200);
            const char* name = (block == 0) == (rank == 0) ? "aten::add" : "aten::mul";
            p.kernel(p.op(name, base + block + 20, base + block + 30), "K", 500000 + base + block, 4);
        }
    }
    for (const char* table : {"prof_mstx_range", "prof_host_op"})
        p.run("UPDATE " + std::string(table) + " SET rank = 1 WHERE start_ns >= 100000");
    CHECK(p.rows("SELECT rank_id, module, op_name FROM module_mfu") == Rows{{"0", "Block_0", "aten::add"},
                                                                            {"0", "Block_1", "aten::mul"},
                                                                            {"1", "Block_0", "aten::mul"},
                                                                            {"1", "Block_1", "aten::add"}});
    CHECK(p.rows("SELECT rank, parent_module, module, count(*) FROM module_range GROUP BY 1, 2, 3") ==
          Rows{{"0", "", "Net", "1"},
               {"0", "Net", "Block", "2"},
               {"1", "", "Net", "1"},
               {"1", "Net", "Block", "2"}});
}

TEST_CASE("the backward pass goes to the module of its forward operator") {
    Profile p;
    p.range("Module", "Net", 0, 1000), p.range("Module", "Linear", 20, 100);
    p.kernel(p.op("aten::mm", 35, 45), "MatMul", 10000, 10);
    p.op("MmBackward0", 2000, 2100, 2);
    const int first = p.op("aten::mm", 2010, 2020, 2), second = p.op("aten::mm", 2030, 2040, 2);
    p.kernel(first, "MatMul", 12000, 20);
    p.kernel(second, "MatMul", 12100, 30);
    p.kernel(p.op("aten::other", 2150, 2160, 2), "Other", 12200, 30);
    p.run("INSERT INTO prof_fwd_bwd VALUES ('run', 0, 35, 2000, 2)");
    CHECK(p.rows("SELECT direction, parent_module, module, op_name, total_kernel_duration_ns, op_order FROM "
                 "module_mfu") == Rows{{"forward", "Net", "Linear", "aten::mm", "10", "0"},
                                       {"backward", "Net", "Linear", "aten::mm", "20", "0"},
                                       {"backward", "Net", "Linear", "aten::mm", "30", "1"}});
    CHECK(p.integer("SELECT count(*) FROM cluster_module_mfu") == 1);
}

TEST_CASE("kernels stand before collectives in a kernel list, those before what starts them") {
    Profile p;
    p.range("Module", "Net", 0, 1000);
    const int op = p.op("HcclAlltoallv", 100, 200);
    p.kernel(op, "Late", 9000, 1);
    p.kernel(op, "Early", 8000, 1);
    p.run(
        "INSERT INTO prof_comm_op VALUES ('run', 0, 1, 'hcom_alltoallv__1', 'hcom_alltoallv_', 100, 50);"
        "INSERT INTO prof_launch VALUES ('run', 0, 1, NULL, 1, NULL), ('run', 0, 1, NULL, NULL, 1), "
        "('run', 0, 1, NULL, NULL, 2);"
        "INSERT INTO prof_device_task VALUES ('run', 0, 1, 'hcom_alltoallv_AicpuKernel', 7, 50, 8, 1), "
        "('run', 0, 2, 'AI_CPU', 7, 50, 8, 0);"
        "INSERT INTO prof_device_task VALUES ('run', 1, 3, 'of another operator', 7, 50, 8, 1)");
    CHECK(p.rows("SELECT kernel_list, total_kernel_duration_ns FROM module_mfu") ==
          Rows{{"Early, Late, hcom_alltoallv_, hcom_alltoallv_AicpuKernel", "60"}});
}

TEST_CASE(
    "runs of a module count together only where operators and kernels are the same, whatever the names "
    "hold") {
    Profile p;
    const auto two_runs = [&p](const std::vector<std::pair<std::string, std::string>>& first,
                               const std::vector<std::pair<std::string, std::string>>& second) {
        p.run(
            "DELETE FROM prof_mstx_range; DELETE FROM prof_host_op; DELETE FROM prof_kernel; DELETE FROM "
            "prof_launch");
        int at = 0;
        for (const auto& run : {first, second}) {
            p.range("Module", "M", at, at + 100);
            for (size_t i = 0; i < run.size(); ++i) {
                const int start = at + 10 * static_cast<int>(i) + 1;
                p.kernel(p.op(run[i].first, start, start + 5), run[i].second, 1000 + start, 1, "'2'", "'2'",
                         "'FLOAT'", "T");
            }
            at += 1000;
        }
        return p.integer("SELECT max(op_count) FROM module_mfu");
    };
    CHECK(two_runs({{"a", "x"}, {"b", "y"}}, {{"a", "x"}, {"b", "y"}}) == 2);
    CHECK(two_runs({{"a", "x\x1fy"}, {"a", "z"}}, {{"a", "x"}, {"a", "y\x1fz"}}) == 1);
    CHECK(two_runs({{"a/b", "x"}, {"c", "x"}}, {{"a", "x"}, {"b/c", "x"}}) == 1);
    CHECK(two_runs({{"a/b", "x"}}, {{"a", "x"}, {"b", "x"}}) == 1);
}

TEST_CASE("without recorded FLOPs the switches to set are named") {
    Profile p;
    CHECK_THAT(p.text("SELECT message FROM mfu_diagnostic WHERE code = 'no_flops_records'"),
               Catch::Contains("mstx=True") && Catch::Contains("msprof_tx=True") &&
                   Catch::Contains("with_flops=True") && Catch::Contains("Db"));
    p.range("default", "a mark", 0, 10);
    CHECK_THAT(p.text("SELECT message FROM mfu_diagnostic WHERE code = 'no_flops_records'"),
               Catch::Contains("with_flops=True") && Catch::Contains("mstx_domain_include"));
    CHECK(p.rows("SELECT * FROM operator_mfu").empty());
    CHECK(p.rows("SELECT * FROM module_mfu").empty());
    CHECK(p.rows("SELECT * FROM mfu_record").empty());
    CHECK(p.rows("SELECT * FROM mfu_total").empty());
}

TEST_CASE("estimates take the operator's shapes where formats pad") {
    Profile p;
    const int op = p.op("aten::_convolution", 100, 200);
    p.run(
        "UPDATE prof_host_op SET input_shapes = '32,3,224,224;' || char(13, 10) || '64,3,11,11;' || char(13, "
        "10) || '64;'");
    p.kernel(op, "Conv2D1", 1000, 1000, "'32,1,224,224,8;121,4,16,8;64'", "'32,8,55,55,8'",
             "'FLOAT16;FLOAT16;FLOAT'", "Conv2D");
    p.run("UPDATE prof_kernel SET input_formats = 'NC1HWC0;FRACTAL_Z;NCHW', output_formats = 'NC1HWC0'");
    CHECK(p.rows("SELECT flops, dtype, shapes_from FROM kernel_mfu_estimate") ==
          Rows{{std::to_string(2LL * 32 * 55 * 55 * 64 * 3 * 121), "fp16", "kernel and operator"}});
    p.run("UPDATE prof_host_op SET input_shapes = NULL");
    CHECK(p.rows("SELECT flops, shapes_from FROM kernel_mfu_estimate") ==
          Rows{{std::to_string(2LL * 32 * 55 * 55 * 64 * 8 * 121), "kernel"}});
    p.run("UPDATE prof_kernel SET output_shapes = NULL");
    CHECK(p.rows("SELECT flops, mfu, formula FROM kernel_mfu_estimate") ==
          Rows{{"NULL", "NULL", "2*positions*prod(weight)"}});
    p.run("INSERT INTO kernel_flops_rules VALUES ('conv2d1*', NULL, NULL)");  // types, not names: no effect
    CHECK(p.rows("SELECT kernel_id FROM kernel_mfu_estimate").size() == 1);
    p.run("INSERT INTO kernel_flops_rules VALUES ('conv2d', NULL, NULL)");
    CHECK(p.rows("SELECT kernel_id FROM kernel_mfu_estimate").size() ==
          1);  // the longer pattern conv2d* still decides
    p.run("DELETE FROM kernel_flops_rules WHERE pattern = 'conv2d*'");
    CHECK(p.rows("SELECT kernel_id FROM kernel_mfu_estimate").empty());
}
