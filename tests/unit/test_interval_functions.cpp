// The interval functions as SQL sees them: NULL, errors, windows, tables, and reported cases of other tools.
#include <fstream>
#include <sstream>

#include "tests/unit/sql.h"

using profana::test::Sql;

namespace {

std::string read(const std::string& path) {
    std::ifstream file(std::string(TEST_DATA) + "/bugs/" + path);
    REQUIRE(file);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string set(const std::string& json) {
    return "interval_from_json('" + json + "')";
}

using Rows = std::vector<std::vector<std::string>>;

}  // namespace

TEST_CASE("interval aggregates: empty intervals and NULL") {
    Sql sql;
    sql.run("CREATE TABLE t(a, b)");
    for (const char* call : {"interval_agg(a, b)", "interval_coverage(a, b)", "interval_depth_max(a, b)",
                             "interval_union_agg(a)"}) {
        CHECK(sql.is_null(std::string("SELECT ") + call + " FROM t"));
    }
    sql.run("INSERT INTO t VALUES (NULL, 1), (1, NULL), (NULL, NULL)");
    CHECK(sql.is_null("SELECT interval_agg(a, b) FROM t"));
    sql.run("INSERT INTO t VALUES (5, 5), (9, 2)");
    CHECK(sql.text("SELECT interval_json(interval_agg(a, b)) FROM t") == "[]");
    CHECK(sql.integer("SELECT interval_coverage(a, b) FROM t") == 0);
    CHECK(sql.integer("SELECT interval_depth_max(a, b) FROM t") == 0);
    sql.run("INSERT INTO t VALUES (30, 40), (5, 20), (0, 10), (20, 22.0)");
    CHECK(sql.text("SELECT interval_json(interval_agg(a, b)) FROM t") == "[[0,22],[30,40]]");
    CHECK(sql.integer("SELECT interval_coverage(a, b) FROM t") == 32);
    CHECK(sql.integer("SELECT interval_depth_max(a, b) FROM t") == 2);
    CHECK(sql.text("SELECT interval_json(interval_union_agg(s)) FROM (SELECT interval_agg(a, b) AS s FROM t "
                   "GROUP BY a % 2)") == "[[0,22],[30,40]]");
}

TEST_CASE("interval functions: NULL in, NULL out, and the empty set") {
    Sql sql;
    const std::string one = set("[[1,2]]");
    sql.run("CREATE TABLE c AS SELECT " + one + " AS s");
    for (const char* call :
         {"interval_union(s, NULL)", "interval_intersect(NULL, s)", "interval_difference(s, NULL)",
          "interval_complement(NULL, 1, 2)", "interval_complement(s, NULL, 2)", "interval_clip(s, 1, NULL)",
          "interval_length(NULL)", "interval_count(NULL)", "interval_contains(s, NULL)",
          "interval_contains(NULL, 1)", "interval_json(NULL)", "interval_from_json(NULL)"}) {
        CHECK(sql.is_null("SELECT " + std::string(call) + " FROM c"));
    }
    CHECK(sql.text("SELECT interval_json(interval_union())") == "[]");
    CHECK(sql.integer("SELECT interval_union() = " + set("[[3,3]]")) == 1);
    CHECK(sql.integer("SELECT interval_count(interval_union())") == 0);
    CHECK(sql.text("SELECT interval_json(interval_union(" + set("[[5,9]]") + "," + set("[[0,5]]") + "," +
                   set("[[20,30]]") + "))") == "[[0,9],[20,30]]");
    CHECK(sql.text("SELECT interval_json(interval_intersect(" + set("[[0,9]]") + "," + set("[[2,12]]") + "," +
                   set("[[1,3],[8,20]]") + "))") == "[[2,3],[8,9]]");
    CHECK(sql.text("SELECT interval_json(interval_complement(" + one + ", 5, 0))") == "[]");
    CHECK(sql.text("SELECT interval_json(interval_complement(" + one + ", 0, 5))") == "[[0,1],[2,5]]");
    CHECK(sql.text("SELECT interval_json(interval_clip(" + set("[[0,9]]") + ", 3, 5))") == "[[3,5]]");
    CHECK(sql.integer("SELECT interval_length(" + set("[[-5,5],[7,8]]") + ")") == 11);
    CHECK(sql.rows("SELECT group_concat(interval_contains(" + set("[[2,4]]") +
                   ", value), '') FROM "
                   "json_each('[1,2,3,4,5]')") == Rows{{"01100"}});
    // Two sets in turn, and one that is none in between.
    sql.run("CREATE TABLE sets AS SELECT 1 AS number, " + set("[[2,4]]") + " AS s UNION ALL SELECT 2, " +
            set("[[6,8]]"));
    CHECK(sql.rows("SELECT number, t.value, interval_contains(s, t.value) FROM json_each('[3,7]') AS t CROSS "
                   "JOIN sets") == Rows{{"1", "3", "1"}, {"2", "3", "0"}, {"1", "7", "0"}, {"2", "7", "1"}});
    CHECK(sql.error("SELECT interval_contains(5, 3)") ==
          "interval_contains: argument set is INTEGER 5; accepted: a set of intervals (BLOB) as interval_agg "
          "and interval_from_json make it");
    CHECK(sql.integer("SELECT interval_contains(s, 7) FROM sets WHERE number = 2") == 1);
    // The set's JSON is JSON to SQLite too.
    CHECK(sql.text("SELECT json_array(interval_json(" + one + "))") == "[[[1,2]]]");
}

TEST_CASE("interval functions: wrong calls are told what is accepted") {
    Sql sql;
    CHECK(sql.error("SELECT interval_agg(1.5, 2)") ==
          "interval_agg: argument start is REAL 1.5; accepted: an INTEGER");
    CHECK(sql.error("SELECT interval_coverage(1, 'x')") ==
          "interval_coverage: argument end is TEXT 'x'; accepted: an INTEGER");
    CHECK(sql.error("SELECT interval_length('[[1,2]]')") ==
          "interval_length: argument set is TEXT '[[1,2]]'; accepted: a set of intervals (BLOB) as "
          "interval_agg "
          "and interval_from_json make it");
    CHECK(sql.error("SELECT interval_union(" + set("[]") + ", x'4953')") ==
          "interval_union: argument 2 is not a set of intervals: byte 2: only version 1 is known");
    CHECK(sql.error("SELECT interval_from_json('[[1]]')") ==
          "interval_from_json: argument json is element 0 is not a pair of integers: [1]");
    CHECK(sql.error("SELECT interval_intersect()") == "interval_intersect: takes one set or more, 0 given");
    CHECK(sql.error("SELECT interval_coverage(-9223372036854775807, 9223372036854775807)") ==
          "interval_coverage: the length 18446744073709551614 is larger than a 64-bit INTEGER");
    CHECK(sql.error("SELECT * FROM interval_each") == "interval_each: argument set is missing");
    CHECK(sql.error("SELECT * FROM interval_each(5)") ==
          "interval_each: argument set is INTEGER 5; accepted: a set of intervals (BLOB) as interval_agg and "
          "interval_from_json make it");
    CHECK(sql.error("SELECT interval_coverage(value, value + 1) OVER (ORDER BY value ROWS 1 PRECEDING) FROM "
                    "json_each('[1,2,3]')") ==
          "interval aggregates take only window frames that begin with UNBOUNDED PRECEDING");
}

TEST_CASE("interval aggregates as window functions, against a sum over single instants") {
    Sql sql;
    sql.run(
        "CREATE TABLE instant(t INTEGER PRIMARY KEY); WITH RECURSIVE n(t) AS (SELECT 0 UNION ALL SELECT t + "
        "1 FROM n "
        "WHERE t < 110) INSERT INTO instant SELECT t FROM n");
    sql.run(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b INTEGER); INSERT INTO t SELECT t, t * 7919 % "
        "90, "
        "t * 7919 % 90 + t * 31 % 14 - 2 FROM instant WHERE t BETWEEN 1 AND 60");
    // How many rows up to each cover an instant; then how many instants are covered, and the most rows on
    // one.
    sql.run(
        "CREATE TABLE expected AS WITH load AS (SELECT t.id, i.t, count(*) AS n FROM t JOIN t AS u ON u.id "
        "<= t.id "
        "JOIN instant AS i ON i.t >= u.a AND i.t < u.b GROUP BY 1, 2) SELECT t.id, count(n) AS covered, "
        "ifnull(max(n), 0) AS depth FROM t LEFT JOIN load USING (id) GROUP BY t.id");
    CHECK(sql.rows(
              "SELECT id, interval_coverage(a, b) OVER w, interval_depth_max(a, b) OVER w FROM t WINDOW w AS "
              "(ORDER BY id)") == sql.rows("SELECT * FROM expected ORDER BY id"));
    CHECK(sql.rows("SELECT id, interval_length(interval_agg(a, b) OVER (ORDER BY id)) FROM t") ==
          sql.rows("SELECT id, covered FROM expected ORDER BY id"));
}

TEST_CASE("interval tables: each, gaps, join, classes") {
    Sql sql;
    const std::string a = set("[[0,10],[20,30],[31,32]]"), b = set("[[5,22],[29,40]]");
    CHECK(sql.rows("SELECT start, end FROM interval_each(" + a + ")") ==
          Rows{{"0", "10"}, {"20", "30"}, {"31", "32"}});
    CHECK(sql.rows("SELECT * FROM interval_gaps(" + a + ")") == Rows{{"10", "20", "10"}, {"30", "31", "1"}});
    CHECK(sql.rows("SELECT * FROM interval_gaps(" + a + ", 2)") == Rows{{"10", "20", "10"}});
    CHECK(sql.rows("SELECT * FROM interval_join(" + a + ", " + b + ")") ==
          Rows{{"5", "10", "0", "10", "5", "22"},
               {"20", "22", "20", "30", "5", "22"},
               {"29", "30", "20", "30", "29", "40"},
               {"31", "32", "31", "32", "29", "40"}});
    CHECK(sql.rows("SELECT * FROM interval_classes(" + a + ", " + b + ")") ==
          Rows{{"1", "12"}, {"2", "19"}, {"3", "9"}});
    CHECK(sql.rows("SELECT * FROM interval_each(NULL)").empty());
    CHECK(sql.rows("SELECT * FROM interval_classes(" + a + ", NULL)").empty());
    CHECK(sql.rows("SELECT * FROM interval_each(interval_union())").empty());

    // Laterally joined, with a constraint on a column, and as a step of a recursion.
    sql.run("CREATE TABLE busy AS SELECT 1 AS step, " + a + " AS s UNION ALL SELECT 2, " + b +
            " UNION ALL SELECT 3, NULL");
    CHECK(
        sql.rows(
            "SELECT step, i.start FROM busy, interval_each(s) AS i WHERE i.end > 30 ORDER BY i.start DESC") ==
        Rows{{"1", "31"}, {"2", "29"}});
    CHECK(sql.rows("SELECT step, count(i.start) FROM busy LEFT JOIN interval_each(s) AS i GROUP BY step") ==
          Rows{{"1", "3"}, {"2", "2"}, {"3", "0"}});
    CHECK(sql.rows("WITH RECURSIVE r(n, s) AS (SELECT 0, " + a +
                   " UNION ALL SELECT n + 1, interval_clip(s, i.start + 1, 99) FROM r, interval_each(r.s) AS "
                   "i WHERE "
                   "i.rowid = 1 AND n < 3) SELECT n, interval_json(s) FROM r") ==
          Rows{{"0", "[[0,10],[20,30],[31,32]]"},
               {"1", "[[1,10],[20,30],[31,32]]"},
               {"2", "[[2,10],[20,30],[31,32]]"},
               {"3", "[[3,10],[20,30],[31,32]]"}});
    // Rows come by start, so SQLite need not sort them.
    for (const auto& row :
         sql.rows("EXPLAIN QUERY PLAN SELECT * FROM interval_each(" + a + ") ORDER BY start")) {
        CHECK(row.back().find("TEMP B-TREE") == std::string::npos);
    }
    // In a schema that is not trusted they still work: they read nothing.
    sql.run("PRAGMA trusted_schema = OFF; CREATE VIEW v AS SELECT count(*) AS n FROM interval_each(" + a +
            ")");
    CHECK(sql.integer("SELECT n FROM v") == 3);
}

TEST_CASE("interval_classes takes 16 sets") {
    Sql sql;
    std::string sets;
    for (int i = 0; i < 16; ++i) sets += (i > 0 ? ", " : "") + set("[[" + std::to_string(i) + ",16]]");
    const Rows rows = sql.rows("SELECT mask, length FROM interval_classes(" + sets + ")");
    REQUIRE(rows.size() == 16);
    for (int i = 0; i < 16; ++i) {
        CHECK(rows[static_cast<size_t>(i)] == std::vector<std::string>{std::to_string((2 << i) - 1), "1"});
    }
}

TEST_CASE("events of no length are counted but cover nothing") {
    Sql sql;
    sql.run("CREATE TABLE file(text); INSERT INTO file VALUES ('" +
            read("22-zero-duration-events/trace.json") + "')");
    sql.run(
        "CREATE TABLE ev AS SELECT CAST(e.value ->> 'ts' AS REAL) * 1000 AS start, "
        "(e.value ->> 'ts') * 1000.0 + (e.value ->> 'dur') * 1000.0 AS end FROM file, "
        "json_each(text, '$.traceEvents') AS e");
    CHECK(sql.rows("SELECT count(*), sum(start = end), interval_coverage(start, end), "
                   "interval_depth_max(start, end) "
                   "FROM ev") == Rows{{"6", "4", "20000", "1"}});
}

TEST_CASE("partly overlapping events are all kept") {
    Sql sql;
    sql.run("CREATE TABLE file(text); INSERT INTO file VALUES ('" +
            read("24-legitimate-overlap-kept/trace.json") + "')");
    sql.run(
        "CREATE TABLE ev AS SELECT round((e.value ->> 'ts') * 1000) AS start, round((e.value ->> 'ts') * "
        "1000 + "
        "(e.value ->> 'dur') * 1000) AS end FROM file, json_each(text, '$.traceEvents') AS e");
    CHECK(sql.rows("SELECT count(*), CAST(sum(end - start) AS INTEGER), interval_coverage(start, end), "
                   "CAST(sum(end - start) AS INTEGER) - interval_coverage(start, end) FROM ev") ==
          Rows{{"4", "215400", "210350", "5050"}});
}

TEST_CASE("a union leaves its input as it was, in any order and twice") {
    Sql sql;
    sql.run(read("28-merge-must-not-change-input/intervals.sql"));
    CHECK(sql.rows(
              "SELECT sum(end_ns - start_ns), interval_coverage(start_ns, end_ns), sum(end_ns - start_ns), "
              "interval_coverage(start_ns, end_ns) FROM op") == Rows{{"35000", "30000", "35000", "30000"}});
    for (const char* order : {"start_ns", "start_ns DESC", "end_ns", "random()"}) {
        CHECK(sql.integer("SELECT interval_coverage(start_ns, end_ns) FROM (SELECT * FROM op ORDER BY " +
                          std::string(order) + " LIMIT 3)") == 30000);
    }
}

TEST_CASE("exposed time is a difference of sets, not of durations") {
    Sql sql;
    sql.run(read("30-exposed-comm-minus-receive/intervals.sql"));
    sql.run(
        "CREATE TABLE s AS SELECT kind, interval_agg(start_ns, end_ns) AS busy FROM ev GROUP BY kind; "
        "CREATE VIEW exposed AS SELECT kind, interval_difference(busy, (SELECT busy FROM s WHERE kind = "
        "'compute')) AS busy FROM s WHERE kind <> 'compute'");
    CHECK(sql.integer("SELECT interval_length(interval_union_agg(busy)) FROM exposed") == 15000);
    CHECK(sql.rows("SELECT kind, interval_length(busy) FROM exposed ORDER BY kind DESC") ==
          Rows{{"receive", "5000"}, {"allreduce", "10000"}});
}

TEST_CASE("classes of serial kernels add up to the whole") {
    Sql sql;
    // Columns: step, name, type, core, start, duration in us.
    std::istringstream lines(read("31-parts-must-add-up/kernel_details.csv"));
    std::string line;
    std::getline(lines, line);
    sql.run("CREATE TABLE k(type, start, end)");
    while (std::getline(lines, line)) {
        std::vector<std::string> cells;
        std::istringstream row(line);
        for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
        sql.run("INSERT INTO k VALUES ('" + cells[2] + "', " + cells[4] + "000, (" + cells[4] + " + " +
                cells[5] + ") * 1000)");
    }
    CHECK(sql.rows("SELECT sum(part), (SELECT interval_coverage(start, end) FROM k), max(part) FROM (SELECT "
                   "interval_coverage(start, end) AS part FROM k GROUP BY type)") ==
          Rows{{"123000", "123000", "40000"}});
}

TEST_CASE("time split by which groups run together") {
    Sql sql;
    sql.run(read("32-overlap-of-three-groups/intervals.sql"));
    sql.run(
        "CREATE TABLE s AS SELECT grp, interval_agg(start_ns, end_ns) AS busy FROM ev GROUP BY grp UNION ALL "
        "SELECT 'window', interval_agg(start_ns, end_ns) FROM win");
    const std::string classes =
        "interval_classes((SELECT busy FROM s WHERE grp = 'compute'), (SELECT busy FROM s WHERE grp = "
        "'a2a'), (SELECT "
        "busy FROM s WHERE grp = 'ar'), (SELECT busy FROM s WHERE grp = 'window'))";
    // 8 is the window alone: nothing runs.
    CHECK(sql.rows("SELECT mask, length FROM " + classes) == Rows{{"8", "10000"},
                                                                  {"9", "30000"},
                                                                  {"10", "10000"},
                                                                  {"11", "20000"},
                                                                  {"12", "20000"},
                                                                  {"14", "10000"}});
    CHECK(sql.integer("SELECT sum(length) FROM " + classes) == 100000);
}

TEST_CASE("deep nesting costs a sort, not a product") {
    Sql sql;
    constexpr int64_t kNested = 50000;
    sql.run("CREATE TABLE ev(a, b)");
    sql.run(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 49999) INSERT INTO ev "
        "SELECT i, "
        "100000 - i FROM n UNION ALL SELECT 100000 + 2 * i, 100000 + 2 * i + 1 FROM n");
    for (const char* order : {"a", "b", "a * 7919 % 150001"}) {
        // One covers [0, 100000); behind it stand 50000 of length 1, the first of which touches.
        CHECK(sql.rows("SELECT count(*), interval_coverage(a, b), interval_depth_max(a, b), "
                       "interval_count(interval_agg(a, b)) FROM (SELECT * FROM ev ORDER BY " +
                       std::string(order) + " LIMIT 1000000)") ==
              Rows{{"100000", "150000", std::to_string(kNested), "50000"}});
    }
}
