// Rounding and text helpers at their edges; Python itself is the oracle of
// tests/functions/test_python_oracle.py.
#include "tests/unit/sql.h"

using profana::test::Sql;

TEST_CASE("round_even rounds the exact value, where SQLite's round() does not") {
    Sql sql;
    // 0.015 lies below the tie, 2.675 below, 0.125 on it.
    CHECK(sql.text(
              "SELECT round_even(0.015, 2) || ' ' || round_even(2.675, 2) || ' ' || round_even(0.125, 2)") ==
          "0.01 2.67 0.12");
    CHECK(sql.real("SELECT round_even(5.35 - 2.675, 2)") == 2.67);
    CHECK(sql.real("SELECT round_even(0 - 0.005, 2)") == -0.01);
    CHECK(sql.real("SELECT round_even(0.995 - 1.0, 2)") == -0.01);
    CHECK(sql.real("SELECT round_even(2.5)") == 2.0);
    CHECK(sql.real("SELECT round_even(-3.5)") == -4.0);
    CHECK(sql.integer("SELECT round_even(25, -1)") == 20);
    CHECK(sql.integer("SELECT round_even(-35, -1)") == -40);
    CHECK(sql.integer("SELECT round_even(7, -30)") == 0);
    CHECK(sql.integer("SELECT round_even(9223372036854775807, 5)") == INT64_MAX);
    CHECK(sql.real("SELECT round_even(1250.0, -2)") == 1200.0);
    CHECK(sql.real("SELECT round_even(1250.0000001, -2)") == 1300.0);
    CHECK(sql.text("SELECT CAST(round_even(9e999, 2) AS TEXT)") == "Inf");
    CHECK(sql.real("SELECT round_even(0.1, 9223372036854775807)") == 0.1);
    CHECK(sql.real("SELECT round_even(123.0, -9223372036854775807 - 1)") == 0.0);
    CHECK(sql.is_null("SELECT round_even(NULL, 2)"));
    CHECK(sql.is_null("SELECT round_even(1.5, NULL)"));
    CHECK(sql.error("SELECT round_even('1.5')") ==
          "round_even: argument x is TEXT '1.5'; accepted: an INTEGER or a REAL");
    CHECK(sql.error("SELECT round_even(1.5, 0.5)") ==
          "round_even: argument digits is REAL 0.5; accepted: an INTEGER");
    CHECK(sql.error("SELECT round_even()") == "round_even: takes (x [, digits]), 0 arguments given");
}

TEST_CASE("python_format fills the places {} of a template") {
    Sql sql;
    // print('{}, {}, {}{} [duration: {}]'.format('mm', 7, 'None', '', 1250 / 1e3))
    CHECK(sql.text("SELECT python_format('{}, {}, {}{} [duration: {}]', 'mm', 7, 'None', '', 1250 / 1e3)") ==
          "mm, 7, None [duration: 1.25]");
    CHECK(sql.text("SELECT python_format('{}{}', 3.0, -9223372036854775807 - 1)") ==
          "3.0-9223372036854775808");
    CHECK(sql.text("SELECT python_format('{} {}', 1e16, 0.1)") == "1e+16 0.1");
    CHECK(sql.text("SELECT python_format('{}', '{}')") == "{}");  // a value is no template
    CHECK(sql.text("SELECT python_format('no place, {, }')") == "no place, {, }");
    CHECK(sql.text("SELECT python_format('')").empty());
    CHECK(sql.text("SELECT python_format('{}', char(0x5427, 10))") == "\u5427\n");
    CHECK(sql.is_null("SELECT python_format(NULL, 1)"));
    CHECK(sql.is_null("SELECT python_format('{}, {}', 1, NULL)"));
    CHECK(sql.error("SELECT python_format()") == "python_format: takes a template, and a value for each {}");
    CHECK(sql.error("SELECT python_format('{}, {}', 1)") ==
          "python_format: 1 values for 2 places {} of the template");
    CHECK(sql.error("SELECT python_format('{}', 1, 2)") ==
          "python_format: 2 values for 1 places {} of the template");
    CHECK(sql.error("SELECT python_format('{}', x'00')") ==
          "python_format: argument value is BLOB of 1 bytes; accepted: a TEXT, an INTEGER, a REAL or NULL");
}

TEST_CASE("numbers as text") {
    Sql sql;
    CHECK(sql.text("SELECT fixed(2.675, 2)") == "2.67");
    CHECK(sql.text("SELECT fixed(5, 3)") == "5.000");
    CHECK(sql.text("SELECT fixed(1e22, 0)") == "10000000000000000000000");
    CHECK(sql.text("SELECT fixed(-9e999, 2)") == "-inf");
    CHECK(sql.error("SELECT fixed(1, -1)") ==
          "fixed: argument digits is INTEGER -1; accepted: an INTEGER from 0 to 1074");
    CHECK(sql.integer("SELECT length(fixed(0.1, 1074))") == 1076);
    CHECK(sql.text("SELECT repr_real(10)") == "10.0");
    CHECK(sql.text("SELECT repr_real(1e16)") == "1e+16");
    CHECK(sql.text("SELECT repr_real(0.00001)") == "1e-05");
    CHECK(sql.text("SELECT repr_real(9e999)") == "inf");
    CHECK(sql.text("SELECT format_us(1736413971558972912)") == "1736413971558972.912");
    CHECK(sql.text("SELECT format_us(-1)") == "-0.001");
    CHECK(sql.text("SELECT format_us(-9223372036854775807 - 1)") == "-9223372036854775.808");
    CHECK(sql.is_null("SELECT format_us(NULL)"));
}

TEST_CASE("shapes as lists of dims") {
    Sql sql;
    const auto dims = [&](const std::string& text) { return sql.text("SELECT shape_dims('" + text + "')"); };
    CHECK(dims("34,4096;7,128") == "[[34,4096],[7,128]]");
    CHECK(dims("\"34,4096;7,128\"") == "[[34,4096],[7,128]]");
    CHECK(dims("[[34, 4096], [7, 128]]") == "[[34,4096],[7,128]]");
    CHECK(dims("2,3;\r\n4") == "[[2,3],[4]]");
    CHECK(dims("5") == "[[5]]");
    CHECK(dims("") == "[[]]");
    CHECK(dims(";3") == "[[],[3]]");
    CHECK(dims("[[2, 3], []]") == "[[2,3],[]]");
    CHECK(dims("[[[2, 3], [4, 3]], []]") == "[[[2,3],[4,3]],[]]");
    for (const char* other :
         {"'N/A'", "'[[-1]]'", "'[[1.5]]'", "'[\"x\"]'", "'{}'", "'[[1],2]'", "'2,,3'", "NULL"}) {
        CHECK(sql.is_null(std::string("SELECT shape_dims(") + other + ")"));
        CHECK(sql.is_null(std::string("SELECT shape_numel(") + other + ")"));
    }
    CHECK(sql.rows("SELECT value ->> 0 FROM json_each(shape_dims('34,4096;7,128'))") ==
          std::vector<std::vector<std::string>>{{"34"}, {"7"}});
    CHECK(sql.integer("SELECT shape_numel('34,4096;7,128')") == 34 * 4096 + 7 * 128);
    CHECK(sql.integer("SELECT shape_numel('34,4096;7,128', 1)") == 7 * 128);
    CHECK(sql.integer("SELECT shape_numel('', 0)") == 1);
    CHECK(sql.integer("SELECT shape_numel('[[[2, 3], [4, 3]], []]', 0)") == 18);
    CHECK(sql.integer("SELECT shape_numel('[[0, 5]]')") == 0);
    CHECK(sql.is_null("SELECT shape_numel('2,3', 1)"));
    CHECK(sql.is_null("SELECT shape_numel('2,3', -1)"));
    CHECK(sql.is_null("SELECT shape_numel('4294967296,4294967296')"));
    CHECK(sql.error("SELECT shape_dims(5)") == "shape_dims: argument shapes is INTEGER 5; accepted: a TEXT");
}

TEST_CASE("names without their number") {
    Sql sql;
    const auto base = [&](const std::string& name) {
        return sql.text("SELECT op_base_name('" + name + "')");
    };
    CHECK(base("nn.Module: Linear_0") == "nn.Module: Linear");
    CHECK(base("Block_1_23") == "Block_1");
    CHECK(base("aten::add") == "aten::add");
    CHECK(base("MatMulV3") == "MatMulV3");
    CHECK(base("MatMul_V3") == "MatMul_V3");
    CHECK(base("copy_") == "copy_");
    CHECK(base("_1") == "_1");
    CHECK(base("12") == "12");
    CHECK(base("") == "");
}
