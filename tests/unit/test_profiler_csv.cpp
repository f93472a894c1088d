// profiler_csv: any CSV file with its own heads.
#include <string>

#include "tests/unit/files.h"
#include "tests/unit/sql.h"

using profana::test::Sql;

namespace {

using Rows = std::vector<std::vector<std::string>>;

void make(Sql& sql, const std::string& table, const std::string& file) {
    sql.run("CREATE VIRTUAL TABLE temp." + table + " USING profiler_csv('" + file + "')");
}

}  // namespace

TEST_CASE("profiler_csv: the heads are the file's, the values what they look like", "[csv]") {
    TempFolder folder;
    Sql sql;
    const std::string text =
        "\xEF\xBB\xBFMode,Max,Hit Rate(%),\"a \"\"b\"\", c\",Max,,MAX\r\n"
        "Tx (MB/s),12,0.5,x,1,2,3\r\n"
        "\"two\r\nlines\",007,1736413971558972.912\t,,N/A\r\n"
        "cut,1,2,3,4,5,6,7\r\n";
    for (const std::string& file : {folder.write("any.csv", text), folder.write("any.csv.gz", gzip(text))}) {
        make(sql, "t", file);
        CHECK(sql.rows("SELECT name FROM pragma_table_xinfo('t')") ==
              Rows{{"Mode"}, {"Max"}, {"Hit Rate(%)"}, {"a \"b\", c"}, {"Max_2"}, {"column_6"}, {"MAX_3"}});
        CHECK(sql.rows("SELECT * FROM t") ==
              Rows{{"Tx (MB/s)", "12", "0.5", "x", "1", "2", "3"},
                   {"two\r\nlines", "007", "1736413971558972.912", "NULL", "N/A", "NULL", "NULL"},
                   {"cut", "1", "2", "3", "4", "5", "6"}});
        CHECK(sql.rows("SELECT typeof(\"Max\"), typeof(\"Hit Rate(%)\") FROM t") ==
              Rows{{"integer", "real"}, {"text", "text"}, {"integer", "integer"}});
        CHECK(sql.integer("SELECT sum(\"Max\") FROM t WHERE \"Max\" > 5 AND typeof(\"Max\") = 'integer'") ==
              12);
        CHECK(sql.rows("SELECT code, line FROM prof_diagnostic WHERE file = '" + file + "' ORDER BY 1") ==
              Rows{{"cells_missing", "3"}, {"cells_surplus", "5"}});
        sql.run("DROP TABLE t");
    }
}

TEST_CASE("profiler_csv: heads of another encoding are repaired as cells are", "[csv]") {
    TempFolder folder;
    Sql sql;
    make(sql, "t", folder.write("gbk.csv", "a,\xC3\xFB\xB3\xC6,b\n1,2,3\n"));  // two characters of GBK
    std::string repaired;
    for (int bad = 0; bad < 4; ++bad) repaired += "\xEF\xBF\xBD";
    CHECK(sql.rows("SELECT name FROM pragma_table_xinfo('t')") == Rows{{"a"}, {repaired}, {"b"}});
    CHECK(sql.rows("SELECT * FROM t") == Rows{{"1", "2", "3"}});
}

TEST_CASE("profiler_csv: paths with quotes, and calls that are wrong", "[csv]") {
    TempFolder folder;
    Sql sql;
    make(sql, "t", [&] {
        folder.write("o'neil.csv", "a\n1\n");
        return folder.file("o''neil.csv");
    }());
    CHECK(sql.integer("SELECT a FROM t") == 1);
    const auto error = [&](const std::string& schema, const std::string& call) {
        return sql.error("CREATE VIRTUAL TABLE " + schema + ".u USING profiler_csv" + call);
    };
    CHECK_THAT(error("temp", ""), Catch::Contains("profiler_csv takes one argument, the file"));
    CHECK_THAT(error("temp", "('a.csv', header=yes)"), Catch::Contains("takes one argument"));
    CHECK_THAT(error("temp", "('" + folder.file("none.csv") + "')"), Catch::Contains("no such file"));
    CHECK_THAT(error("temp", "('" + folder.path() + "')"), Catch::Contains("is a folder"));
    CHECK_THAT(error("temp", "('" + folder.write("empty.csv", "") + "')"), Catch::Contains("is empty"));
    CHECK_THAT(error("temp", "('/dev/zero')"), Catch::Contains("is a device"));
    CHECK_THAT(error("main", "('" + folder.write("a.csv", "a\n") + "')"),
               Catch::Contains("profiler_csv: its tables are made in the schema temp"));
    std::string wide = "c0";
    for (int i = 1; i < 2500; ++i) wide += ",c" + std::to_string(i);
    CHECK_THAT(error("temp", "('" + folder.write("wide.csv", wide + "\n") + "')"),
               Catch::Contains("has 2500 columns") && Catch::Contains("2000"));
}

TEST_CASE("profiler_csv: a file that changes keeps its heads or is an error", "[csv]") {
    TempFolder folder;
    Sql sql;
    const std::string file = folder.write("a.csv", "a,b\n1,2\n");
    make(sql, "old", file);
    CHECK(sql.rows("SELECT * FROM old") == Rows{{"1", "2"}});
    folder.write("a.csv", "a,b\n1,2\n3,4\n");
    CHECK(sql.rows("SELECT * FROM old") == Rows{{"1", "2"}, {"3", "4"}});
    folder.write("a.csv", "a,b,c\n1,2,3\n");
    CHECK_THAT(sql.error("SELECT * FROM old"),
               Catch::Contains("has other heads than when the table was made"));
    make(sql, "new", file);
    CHECK(sql.rows("SELECT * FROM new") == Rows{{"1", "2", "3"}});
    CHECK_THAT(sql.error("SELECT * FROM old"), Catch::Contains("has other heads"));
    CHECK(sql.rows("SELECT * FROM new AS n JOIN new AS m ON m.b = n.b WHERE n.c = 3") ==
          Rows{{"1", "2", "3", "1", "2", "3"}});
}

TEST_CASE("profiler_csv: a view of a database cannot read files through it", "[csv]") {
    TempFolder folder;
    Sql sql;
    make(sql, "t", folder.write("a.csv", "a\n1\n"));
    sql.run("CREATE TEMP VIEW v AS SELECT * FROM t");
    CHECK(sql.integer("SELECT a FROM v") == 1);
    sql.run("CREATE VIEW main.w AS SELECT * FROM t");
    CHECK(sql.error("SELECT * FROM main.w") != "");
    CHECK(sql.text("SELECT signature FROM profana_help WHERE name = 'profiler_csv' AND kind = 'module'") ==
          "CREATE VIRTUAL TABLE temp.t USING profiler_csv('file.csv')");
}
