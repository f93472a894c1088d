// The raw CSV tables in SQL. Files under tests/data/bugs are small forms of files that broke other tools; the
// values expected of them were worked out by plain programs of their own.
#include <fcntl.h>
#include <sys/stat.h>

#include <string>

#include "tests/unit/files.h"
#include "tests/unit/sql.h"

using profana::test::Sql;

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string bug(const std::string& table, const std::string& file) {
    return table + "('" TEST_DATA "/bugs/" + file + "')";
}

}  // namespace

TEST_CASE("kernel_details: byte-order mark, CRLF, quoted line ends, Chinese", "[csv]") {
    Sql sql;
    const std::string file = bug("kernel_details", "10/kernel_details.csv");
    CHECK(sql.rows("SELECT step, name, line FROM " + file) ==
          Rows{{"1", "\u7b97\u5b50_\u77e9\u9635\u4e58,\u878d\u5408", "2"},
               {"1", "two\r\nlines", "3"},
               {"1", "LayerNorm", "5"}});
    CHECK(sql.integer("SELECT sum(dur_ns) FROM " + file) == 20000);
    CHECK(sql.integer("SELECT min(start_ns) FROM " + file) == 1712345678900306491);
    const std::string gbk = bug("kernel_details", "10/kernel_details_gbk.csv");
    CHECK(sql.integer("SELECT sum(dur_ns) FROM " + gbk) == 12500);
    CHECK(sql.text("SELECT name FROM " + gbk).find("\uFFFD") != std::string::npos);
    CHECK(sql.integer("SELECT count FROM prof_diagnostic WHERE code = 'invalid_utf8'") == 1);
}

TEST_CASE("kernel_details: empty cells in the first row", "[csv]") {
    Sql sql;
    const std::string file = bug("kernel_details", "11/kernel_details.csv");
    CHECK(sql.rows("SELECT name, step, device_id, model_id FROM " + file) ==
          Rows{{"MatMul_1", "NULL", "NULL", "NULL"},
               {"Add_2", "3", "0", "NULL"},
               {"MatMul_1", "NULL", "NULL", "NULL"}});
    CHECK(sql.integer("SELECT sum(dur_ns) FROM " + file) == 30750);
}

TEST_CASE("numbers with tabs, shapes in three quotes", "[csv]") {
    Sql sql;
    CHECK(sql.rows("SELECT start_ns, start_ns + dur_ns, input_shapes FROM " +
                   bug("kernel_details", "13/kernel_details.csv")) ==
          Rows{{"1741234567890972912", "1741234567891156416", "4096,1024;1024,512"},
               {"1741234567891200001", "1741234567891200021", "512;512"}});
    CHECK(sql.integer("SELECT size_bytes FROM " + bug("operator_memory", "13/operator_memory.csv")) ==
          197120);
}

TEST_CASE("operator_memory: KB and MB of 1024", "[csv]") {
    Sql sql;
    CHECK(sql.rows("SELECT size_bytes, allocation_total_reserved_bytes, alloc_ns, release_ns, dur_ns FROM " +
                   bug("operator_memory", "21/operator_memory.csv")) ==
          Rows{{"196608", "253755392", "1698765432119902500", "1698765432119939200", "36700"}});
}

TEST_CASE("op_statistic with and without columns", "[csv]") {
    Sql sql;
    CHECK(
        sql.rows("SELECT coalesce(b.op_type, n.op_type), coalesce(n.total_ns, 0) - coalesce(b.total_ns, 0), "
                 "n.ratio_percent IS NULL FROM " +
                 bug("op_statistic", "41/base_op_statistic.csv") + " b FULL JOIN " +
                 bug("op_statistic", "41/new_op_statistic.csv") +
                 " n ON n.op_type = b.op_type AND n.core_type = b.core_type ORDER BY 2") ==
        Rows{{"TransData", "-60000", "1"},
             {"MatMulV2", "-24000", "0"},
             {"Add", "4000", "0"},
             {"MatMulV3", "55000", "0"}});
}

TEST_CASE("kernel_details: heads of versions and levels", "[csv]") {
    Sql sql;
    const auto row = [&](const std::string& file) {
        return sql.rows("SELECT block_num, input_shapes, dur_ns, aic_mac_ratio, extra FROM " +
                        bug("kernel_details", "48/" + file))[0];
    };
    CHECK(row("l1_old.csv") == Rows{{"20", "16,16;16,16", "50000", "0.9", "NULL"}}[0]);
    CHECK(row("l1_new.csv") == row("l1_old.csv"));
    CHECK(row("metrics_off.csv") == Rows{{"20", "NULL", "50000", "NULL", "NULL"}}[0]);
    CHECK(row("l0.csv") == Rows{{"NULL", "NULL", "50000", "NULL", "NULL"}}[0]);
}

TEST_CASE("a folder stands for its file, the newest export and all its slices", "[csv]") {
    TempFolder folder;
    Sql sql;
    const std::string heads = "Op Name,Task Duration(us)\n";
    const std::string output = folder.folder("mindstudio_profiler_output");
    folder.write("mindstudio_profiler_output/op_summary_20260101000000.csv", heads + "old,1\n");
    folder.write("mindstudio_profiler_output/op_summary_slice_0_20260402160352.csv", heads + "a,1\nb,2\n");
    folder.write("mindstudio_profiler_output/op_summary_slice_10_20260402160352.csv", heads + "d,4\n");
    folder.write("mindstudio_profiler_output/op_summary_slice_2_20260402160352.csv",
                 "Device_id," + heads + "0,c,3\n");
    const Rows expected = {
        {"a", "1000", "NULL"}, {"b", "2000", "NULL"}, {"c", "3000", "0"}, {"d", "4000", "NULL"}};
    for (const std::string& path : {folder.path(), output})
        CHECK(sql.rows("SELECT name, dur_ns, device_id FROM op_summary('" + path + "')") == expected);
    CHECK(sql.error("SELECT * FROM kernel_details('" + folder.path() + "')")
              .find("a folder without kernel_details.csv") != std::string::npos);
    folder.folder("ASCEND_PROFILER_OUTPUT");
    folder.write("ASCEND_PROFILER_OUTPUT/kernel_details.csv.gz", gzip("Name,Duration(us)\nx,5\n"));
    CHECK(sql.rows("SELECT name, dur_ns FROM kernel_details('" + folder.path() + "')") ==
          Rows{{"x", "5000"}});
}

TEST_CASE("slices that lack among those of a folder are named", "[csv]") {
    TempFolder folder;
    Sql sql;
    const std::string row = "Op Name,Task Duration(us)\nx,1\n", query = "SELECT count(*) FROM op_summary('";
    const auto found = [&] {
        return sql.rows("SELECT severity, file, message FROM prof_diagnostic WHERE code = 'slice_missing'");
    };
    for (const int slice : {2, 4, 10, 11})
        folder.write("op_summary_slice_" + std::to_string(slice) + "_20260402160352.csv", row);
    CHECK(sql.integer(query + folder.path() + "')") == 4);
    CHECK(found() == Rows{{"warning", folder.file("op_summary_slice_2_20260402160352.csv"),
                           "the file is one of several slices, and slice 0 to 1, 3, 5 to 9 is not in the "
                           "folder; the rows of what is there are read"}});
    for (const int slice : {0, 1, 3, 5, 6, 7, 8, 9})
        folder.write("op_summary_slice_" + std::to_string(slice) + "_20260402160352.csv", row);
    CHECK(sql.integer(query + folder.path() + "')") == 12);
    CHECK(found().empty());
    // One that is named is what was asked for.
    CHECK(sql.integer(query + folder.file("op_summary_slice_4_20260402160352.csv") + "')") == 1);
    CHECK(found().empty());
}

TEST_CASE("slices may be compressed, some or all", "[csv]") {
    TempFolder folder;
    Sql sql;
    const std::string heads = "Op Name,Task Duration(us)\n";
    folder.write("op_summary_slice_10_20260402160352.csv.gz", gzip(heads + "c,3\n"));
    folder.write("op_summary_slice_2_20260402160352.csv.gz", gzip(heads + "b,2\n"));
    folder.write("op_summary_slice_0_20260101000000.csv.gz", gzip(heads + "old,9\n"));
    const std::string query = "SELECT name, dur_ns FROM op_summary('" + folder.path() + "')";
    CHECK(sql.rows(query) == Rows{{"b", "2000"}, {"c", "3000"}});
    folder.write("op_summary_slice_0_20260402160352.csv", heads + "a,1\n");
    folder.write("op_summary_slice_0_20260402160352.csv.gz", gzip(heads + "a,1\n"));
    CHECK(sql.rows(query) == Rows{{"a", "1000"}, {"b", "2000"}, {"c", "3000"}});
}

TEST_CASE("paths that cannot be read", "[csv]") {
    TempFolder folder;
    Sql sql;
    const auto error = [&](const std::string& path) {
        return sql.error("SELECT * FROM kernel_details('" + path + "')");
    };
    CHECK(error("/etc/passwd").find("profana: /etc/passwd: line 1: is no kernel_details file") == 0);
    CHECK(error(folder.file("none.csv")).find("no such file") != std::string::npos);
    CHECK(error(folder.write("empty.csv", "")).find("is empty") != std::string::npos);
    CHECK(error("/dev/null").find("is a device") != std::string::npos);
    REQUIRE(::mkfifo(folder.file("fifo").c_str(), 0600) == 0);
    CHECK(error(folder.file("fifo")).find("is a pipe") != std::string::npos);
    CHECK(sql.error("SELECT * FROM kernel_details").find("kernel_details") != std::string::npos);
}

TEST_CASE("a changed file is read again, and what was said of it is forgotten", "[csv]") {
    TempFolder folder;
    Sql sql;
    const std::string path = folder.write("a.csv", "Name,Duration(us)\na,x\n");
    const std::string query = "SELECT name, dur_ns FROM kernel_details('" + path + "')";
    CHECK(sql.rows(query) == Rows{{"a", "NULL"}});
    CHECK(sql.integer("SELECT count(*) FROM prof_diagnostic WHERE code = 'not_a_number'") == 1);
    folder.write("a.csv", "Name,Duration(us)\nb,12\nc,13\n");
    CHECK(sql.rows(query) == Rows{{"b", "12000"}, {"c", "13000"}});
    CHECK(sql.integer("SELECT count(*) FROM prof_diagnostic WHERE code = 'not_a_number'") == 0);

    // Size and time of change may be those of before.
    struct stat before {};
    REQUIRE(::stat(path.c_str(), &before) == 0);
    folder.write("a.csv", "Name,Duration(us)\nb,12\nc,14\n");
    const timespec times[2] = {before.st_atim, before.st_mtim};
    REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
    CHECK(sql.rows(query) == Rows{{"b", "12000"}, {"c", "14000"}});
}

TEST_CASE("a changed file is seen while another statement on it has not ended", "[csv]") {
    TempFolder folder;
    Sql sql;
    const std::string path = folder.write("a.csv", "Name,Duration(us)\na,1\nb,2\n");
    const std::string query = "SELECT name FROM kernel_details('" + path + "')";
    sqlite3_stmt* left = nullptr;
    REQUIRE(sqlite3_prepare_v2(sql.db(), query.c_str(), -1, &left, nullptr) == SQLITE_OK);
    REQUIRE(sqlite3_step(left) == SQLITE_ROW);
    ::usleep(2000);  // a look is good for a millisecond
    folder.write("a.csv", "Name,Duration(us)\nc,12345\n");
    CHECK(sql.rows(query) == Rows{{"c"}});
    REQUIRE(sqlite3_step(left) == SQLITE_ROW);  // its rows are those it began with
    CHECK(std::string(reinterpret_cast<const char*>(sqlite3_column_text(left, 0))) == "b");
    CHECK(sqlite3_step(left) == SQLITE_DONE);
    sqlite3_finalize(left);
    CHECK(sql.rows(query) == Rows{{"c"}});
}

TEST_CASE("a subquery for each row reads each row's own file", "[csv]") {
    TempFolder folder;
    Sql sql;
    const std::string heads = "Name,Duration(us)\n";
    const std::string list =
        folder.write("list.csv", heads + folder.file("a.csv") + ",1\n" + folder.file("b.csv") + ",2\n" +
                                     folder.file("a.csv") + ",3\n");
    folder.write("a.csv", heads + "a,5\n");
    folder.write("b.csv", heads + "b,7\n");
    CHECK(sql.rows("SELECT (SELECT sum(k.dur_ns) FROM kernel_details(l.name) AS k) FROM kernel_details('" +
                   list + "') AS l") == Rows{{"5000"}, {"7000"}, {"5000"}});
}

TEST_CASE("a file that is read in two ways keeps what was said of either", "[csv]") {
    TempFolder folder;
    Sql sql;
    const std::string path = folder.write("a.csv", "Name,Op Name,Duration(us)\na,b,x\n");
    const auto codes = [&] { return sql.rows("SELECT code FROM prof_diagnostic ORDER BY code"); };
    const std::string kernels = "SELECT dur_ns FROM kernel_details('" + path + "')";
    sql.run("CREATE VIRTUAL TABLE temp.cells USING profiler_csv('" + path + "')");
    CHECK(sql.rows(kernels) == Rows{{"NULL"}});
    const Rows said = codes();
    CHECK(said == Rows{{"not_a_number"}, {"repeated_head"}});
    CHECK(sql.rows("SELECT * FROM temp.cells") == Rows{{"a", "b", "x"}});
    CHECK(codes() == said);
    // When it changes, both go.
    folder.write("a.csv", "Name,Op Name,Duration(us)\na,b,12\n");
    CHECK(sql.rows("SELECT * FROM temp.cells") == Rows{{"a", "b", "12"}});
    CHECK(codes().empty());
    CHECK(sql.rows(kernels) == Rows{{"12000"}});
    CHECK(codes() == Rows{{"repeated_head"}});
}

TEST_CASE("a head that is no UTF-8 names a column of profiler_csv all the same", "[csv]") {
    Sql sql;
    TempFolder folder;
    const std::string path = folder.write("heads.csv", std::string("a\0b,\xff"
                                                                   "c\n1,2\n",
                                                                   11));
    sql.run("CREATE VIRTUAL TABLE temp.cells USING profiler_csv('" + path + "')");
    CHECK(sql.rows("SELECT \"a\xEF\xBF\xBD"
                   "b\", \"\xEF\xBF\xBD"
                   "c\" FROM temp.cells") == Rows{{"1", "2"}});
}

TEST_CASE("a load can be interrupted", "[csv]") {
    TempFolder folder;
    std::string text = "Name,Duration(us),Type\n";
    for (int i = 0; i < 400000; ++i) text += "some_kernel,1.25,MatMulV3\n";
    Sql sql;
    const std::string path = folder.write("a.csv", text);
    int calls = 0;
    sqlite3_progress_handler(
        sql.db(), 1, [](void* n) { return ++*static_cast<int*>(n) > 200 ? 1 : 0; }, &calls);
    CHECK(sql.error("SELECT count(name), sum(dur_ns) FROM kernel_details('" + path + "')") == "interrupted");
    sqlite3_progress_handler(sql.db(), 0, nullptr, nullptr);
    CHECK(sql.rows("SELECT count(name), sum(dur_ns) FROM kernel_details('" + path + "')") ==
          Rows{{"400000", "500000000"}});
}
