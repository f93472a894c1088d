// compare_ratio, compare_verdict and quantile as SQL sees them.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/sql.h"

using profana::test::Sql;

TEST_CASE("compare_ratio is defined for every pair") {
    Sql db;
    CHECK(db.real("SELECT compare_ratio(4, 5)") == 1.25);
    CHECK(db.real("SELECT compare_ratio(4, 0)") == 0.0);
    CHECK(db.real("SELECT compare_ratio(0, 0)") == 1.0);
    CHECK(std::isinf(db.real("SELECT compare_ratio(0, 5)")));
    CHECK(std::isinf(db.real("SELECT compare_ratio(0, -5)")));
    CHECK(std::isinf(db.real("SELECT compare_ratio(NULL, 5)")));
    CHECK(db.real("SELECT compare_ratio(5, NULL)") == 0.0);
    CHECK(db.error("SELECT compare_ratio('5', 1)").find("compare_ratio") == 0);
}

TEST_CASE("compare_verdict looks at the ratio as it is shown") {
    Sql db;
    CHECK(db.text("SELECT compare_verdict(10, 11)") == "worse");
    CHECK(db.text("SELECT compare_verdict(11, 10)") == "better");
    CHECK(db.text("SELECT compare_verdict(100000, 100004)") == "same");   // 1.00004 shows as 1.0
    CHECK(db.text("SELECT compare_verdict(100000, 100006)") == "worse");  // 1.0001
    CHECK(db.text("SELECT compare_verdict(0, 0)") == "same");
    CHECK(db.text("SELECT compare_verdict(0, 1)") == "worse");
    CHECK(db.text("SELECT compare_verdict(0, -1)") == "better");
    CHECK(db.text("SELECT compare_verdict(-10, 5)") == "worse");
    CHECK(db.text("SELECT compare_verdict(-10, -20)") == "better");
    CHECK(db.text("SELECT compare_verdict(-10, -10)") == "same");
    CHECK(db.text("SELECT compare_verdict(NULL, 1)") == "comparison only");
    CHECK(db.text("SELECT compare_verdict(1, NULL)") == "base only");
    CHECK(db.is_null("SELECT compare_verdict(NULL, NULL)"));
}

TEST_CASE("quantile interpolates between neighbours") {
    Sql db;
    CHECK(db.real("SELECT quantile(value, 0.5) FROM json_each('[7,1,3]')") == 3.0);
    CHECK(db.real("SELECT quantile(value, 0.5) FROM json_each('[1,2,3,10]')") == 2.5);
    CHECK(db.real("SELECT quantile(value, 0.25) FROM json_each('[1,2,3,10]')") == 1.75);
    CHECK(db.real("SELECT quantile(value, 0) FROM json_each('[4,2,9]')") == 2.0);
    CHECK(db.real("SELECT quantile(value, 1) FROM json_each('[4,2,9]')") == 9.0);
    CHECK(db.real("SELECT quantile(value, 0.5) FROM json_each('[null,5,null]')") == 5.0);
    CHECK(db.is_null("SELECT quantile(value, 0.5) FROM json_each('[]')"));
    CHECK(db.error("SELECT quantile(value, 2) FROM json_each('[1]')").find("quantile: ") == 0);
    CHECK(db.error("SELECT quantile('a', 0.5)") ==
          "quantile: argument x is TEXT 'a'; accepted: a number, or what sample_agg() gives");
}

TEST_CASE("a quantile of samples is that of all their values") {
    Sql db;
    // 1 .. 7 in groups of unequal size: median 4, quartiles 2.5 and 5.5
    db.run(
        "CREATE TEMP TABLE part AS SELECT sample_agg(x) AS s FROM (SELECT column1 AS x, column2 AS k FROM "
        "(VALUES (7, 1), (1, 1), (3.0, 2), (NULL, 2), (2, 3), (6, 3), (5, 3), (4, 3), (NULL, 4))) GROUP BY "
        "k");
    CHECK(db.integer("SELECT count(*) FROM part") == 4);
    CHECK(db.integer("SELECT count(s) FROM part") == 3);
    CHECK(db.real("SELECT quantile(s, 0.5) FROM part") == 4.0);
    CHECK(db.real("SELECT quantile(s, 0.25) FROM part") == 2.5);
    CHECK(db.real("SELECT quantile(s, 0.75) FROM part") == 5.5);
    // samples and numbers together: 1 .. 8
    CHECK(db.real("SELECT quantile(s, 0.5) FROM (SELECT s FROM part UNION ALL SELECT 8)") == 4.5);
    CHECK(db.is_null("SELECT sample_agg(value) FROM json_each('[]')"));
    CHECK(db.error("SELECT quantile(x'0102', 0.5)") ==
          "quantile: argument x is BLOB of 2 bytes; accepted: a number, or what sample_agg() gives");
    // its mark alone: there is no sample of no values
    CHECK(db.error("SELECT quantile(x'73616D706C650001', 0.5)") ==
          "quantile: argument x is BLOB of 8 bytes; accepted: a number, or what sample_agg() gives");
    CHECK(db.error("SELECT quantile(x'73616D706C65000100', 0.5)") ==
          "quantile: argument x is BLOB of 9 bytes; accepted: a number, or what sample_agg() gives");
    CHECK(db.error("SELECT sample_agg('a')") ==
          "sample_agg: argument x is TEXT 'a'; accepted: an INTEGER or a REAL");
}
