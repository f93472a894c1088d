// trace_event, communication and communication_matrix in SQL. Files under tests/data/bugs are small forms of
// traces that broke other tools; the values expected of them were worked out by plain programs of their own.
#include <string>

#include "tests/unit/files.h"
#include "tests/unit/sql.h"

using profana::test::Sql;

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string bug(const std::string& file) {
    return "trace_event('" TEST_DATA "/bugs/" + file + "')";
}

int64_t count_of(Sql& sql, const std::string& file, const std::string& code) {
    return sql.integer("SELECT coalesce(max(count), 0) FROM prof_diagnostic WHERE source LIKE '%/" + file +
                       "%' AND code = '" + code + "'");
}

}  // namespace

TEST_CASE("trace_event: paths of Windows with single backslashes") {
    Sql sql;
    CHECK(sql.rows("SELECT count(*), sum(dur_ns) FROM " + bug("01/trace.json") + " WHERE cat = 'kernel'") ==
          Rows{{"2", "30000"}});
    CHECK(sql.text("SELECT name FROM " + bug("01/trace.json") + " ORDER BY ts_ns DESC LIMIT 1") ==
          "C:\\work\new_kernel.py");
    CHECK(count_of(sql, "01/trace.json", "json_bad_escape") == 4);
}

TEST_CASE("trace_event: with strict set, the first fault is an error that names its place") {
    Sql sql;
    sql.run("SELECT profana_set('strict', 1)");
    CHECK_THAT(sql.error("SELECT count(*) FROM " + bug("03/trace.json")),
               Catch::Contains("03/trace.json: byte 78: ") && Catch::Contains("json_control_character"));
    sql.run("SELECT profana_set('strict', 0)");
    CHECK(sql.integer("SELECT count(*) FROM " + bug("03/trace.json")) == 3);
}

TEST_CASE("trace_event: bytes that are not UTF-8") {
    Sql sql;
    CHECK(sql.integer("SELECT count(*) FROM " + bug("02/trace.json")) == 3);
    CHECK(sql.rows("SELECT sum(dur_ns), min(name) FROM " + bug("02/trace.json") +
                   " WHERE cat = 'kernel' AND name LIKE 'void f%'")[0][1] == "void f\uFFFD\uFFFDk");
    CHECK(sql.integer("SELECT sum(dur_ns) FROM " + bug("02/trace.json") + " WHERE cat = 'kernel'") == 3500);
    CHECK(sql.integer("SELECT sum(json_valid(args)) FROM " + bug("02/trace.json")) == 3);
    CHECK(count_of(sql, "02/trace.json", "json_invalid_utf8") == 2);
}

TEST_CASE("trace_event: control characters in strings") {
    Sql sql;
    CHECK(sql.rows("SELECT name FROM " + bug("03/trace.json")) ==
          Rows{{"|||S(1): <module>\x01"}, {"line one\nline two"}, {"aten::add\t"}});
    CHECK(sql.integer("SELECT sum(dur_ns) FROM " + bug("03/trace.json")) == 60000);
    CHECK(count_of(sql, "03/trace.json", "json_control_character") == 3);
}

TEST_CASE("trace_event: bare inf, nan and N/A") {
    Sql sql;
    const std::string events = bug("05/trace.json");
    CHECK(sql.rows("SELECT name FROM " + events) ==
          Rows{{"Memcpy HtoD"}, {"nanosleep_kernel"}, {"infer_head"}, {"ok"}});
    CHECK(sql.integer("SELECT sum(dur_ns) FROM " + events) == 2450);
    CHECK(sql.real("SELECT avg(json_extract(args, '$.\"blocks per SM\"')) FROM " + events) == 2.0);
    CHECK(sql.text("SELECT json_extract(args, '$.note') FROM " + events +
                   " WHERE name = 'nanosleep_kernel'") == "N/A");
    CHECK(sql.is_null("SELECT json_extract(args, '$.\"registers per thread\"') FROM " + events +
                      " WHERE name = 'infer_head'"));
    CHECK(count_of(sql, "05/trace.json", "json_bare_value") == 4);
}

TEST_CASE("trace_event: files cut short") {
    Sql sql;
    const auto totals = [&](const std::string& file) {
        return sql.rows("SELECT count(*), sum(dur_ns) FROM " + bug(file))[0];
    };
    CHECK(totals("06/trace_cut.json") == std::vector<std::string>{"4", "46000"});
    CHECK(totals("06/trace_no_trailer.json.gz") == std::vector<std::string>{"5", "60000"});
    CHECK(totals("06/trace_half.json.gz") == std::vector<std::string>{"184", "1099000"});
    CHECK(count_of(sql, "trace_cut.json", "json_truncated") == 1);
    CHECK(count_of(sql, "trace_no_trailer.json.gz", "gzip_truncated") == 1);
    CHECK(count_of(sql, "trace_half.json.gz", "gzip_truncated") == 1);
}

TEST_CASE("trace_event: gzip of several members") {
    Sql sql;
    CHECK(sql.rows("SELECT count(*), sum(dur_ns) FROM " + bug("07/trace.json.gz")) == Rows{{"6", "21000"}});
}

TEST_CASE("trace_event: integers above 2^63 keep their digits") {
    Sql sql;
    const std::string events = bug("09/trace.json");
    // In args the text is the file's own; SQLite's JSON functions read such numbers as reals.
    CHECK(sql.integer("SELECT sum(dur_ns) FROM " + events + " WHERE args LIKE '%18446744073709551615%'") ==
          30000);
    CHECK(sql.integer("SELECT sum(dur_ns) FROM " + events + " WHERE args LIKE '%18446744073709551614%'") ==
          70000);
    TempFolder folder;
    const std::string path = folder.write(
        "ids.json",
        R"([{"ph":"s","id":18446744073709551615,"pid":18446744073709551614,"tid":-9223372036854775807},)"
        R"({"ph":"f","id":"7","pid":7,"tid":7.5},{"ph":"f","id":true,"pid":null}])");
    CHECK(sql.rows("SELECT id, typeof(id), pid, typeof(pid), tid, typeof(tid) FROM trace_event('" + path +
                   "')") == Rows{{"18446744073709551615", "text", "18446744073709551614", "text",
                                  "-9223372036854775807", "integer"},
                                 {"7", "text", "7", "integer", "7.5", "real"},
                                 {"1", "integer", "NULL", "null", "NULL", "null"}});
}

TEST_CASE("trace_event: metadata only") {
    Sql sql;
    CHECK(sql.rows("SELECT count(*), count(nullif(ph, 'M')), total(dur_ns), max(end_ns) - min(ts_ns) FROM " +
                   bug("14/trace.json")) == Rows{{"3", "0", "0.0", "NULL"}});
}

TEST_CASE("trace_event: the list at the top, in an object, or nowhere") {
    Sql sql;
    CHECK(sql.rows("SELECT count(*), sum(dur_ns) FROM " + bug("15/list.json")) == Rows{{"3", "9000"}});
    CHECK(sql.rows("SELECT count(*), sum(dur_ns) FROM " + bug("15/object.json")) == Rows{{"3", "9000"}});
    CHECK_THAT(sql.error("SELECT * FROM " + bug("15/other.json")),
               Catch::Contains("15/other.json: no events"));
}

TEST_CASE("trace_event: times as text, flow ids beyond the exact doubles") {
    Sql sql;
    const std::string events = bug("16/trace_view.json");
    CHECK(sql.rows("SELECT count(*), sum(dur_ns), max(end_ns) - min(ts_ns) FROM " + events +
                   " WHERE ph = 'X'") == Rows{{"5", "2400", "2440"}});
    CHECK(sql.rows("SELECT f.id, k.name FROM " + events + " AS f JOIN " + events +
                   " AS k ON k.ph = 'X' AND k.ts_ns = f.ts_ns AND k.pid = f.pid AND k.tid = f.tid"
                   " WHERE f.ph = 'f' ORDER BY f.id") ==
          Rows{{"1778600000000000121", "MatMul_0"}, {"1778600000000000122", "MatMul_1"}});
}

TEST_CASE("trace_event: the base of times before or behind the events") {
    Sql sql;
    const auto times = [&](const std::string& file) {
        return sql.rows("SELECT end_ns, ts_ns FROM " + bug(file) + " WHERE ph = 'X'")[0];
    };
    const auto rank0 = times("18/rank0.json"), rank1 = times("18/rank1.json");
    CHECK(rank0[0] == "1704067200001050000");
    CHECK(rank1[0] == "1704067200001050000");
    CHECK(std::stoll(rank1[1]) - std::stoll(rank0[1]) == 20000);
}

TEST_CASE("trace_event: parts of a microsecond") {
    Sql sql;
    CHECK(sql.rows("SELECT count(*), sum(dur_ns), avg(dur_ns) FROM " + bug("19/trace.json")) ==
          Rows{{"3", "900", "300.0"}});
    TempFolder folder;
    // Finer than ns: half to even.
    const std::string path = folder.write(
        "fine.json",
        R"([{"ts":0.0005,"dur":0.0015},{"ts":"0.0025","dur":828.33653125},{"ts":1e3,"dur":-0.001},)"
        R"({"ts":99999999999999999999,"dur":"x"}])");
    CHECK(sql.rows("SELECT ts_ns, dur_ns, end_ns FROM trace_event('" + path + "')") ==
          Rows{{"0", "2", "2"},
               {"2", "828337", "828339"},
               {"1000000", "-1", "999999"},
               {"NULL", "NULL", "NULL"}});
    CHECK(count_of(sql, "fine.json", "trace_time_out_of_range") == 1);
    CHECK(count_of(sql, "fine.json", "trace_bad_time") == 1);
    CHECK(count_of(sql, "fine.json", "trace_negative_duration") == 1);
    // Both are times, and their sum is not: the last is 2^62 ns, 4611686018427387.904 us.
    const std::string late = folder.write(
        "late.json", R"([{"ts":4611686018427387.903,"dur":0.001},{"ts":4611686018427387.903,"dur":0.002}])");
    CHECK(sql.rows("SELECT end_ns FROM trace_event('" + late + "')") ==
          Rows{{"4611686018427387904"}, {"NULL"}});
    CHECK(count_of(sql, "late.json", "trace_time_out_of_range") == 1);
    CHECK(sql.rows("SELECT dur_ns, end_ns FROM trace_event('" + late + "')").size() == 2);
    CHECK(count_of(sql, "late.json", "trace_time_out_of_range") == 1);
}

TEST_CASE("trace_event: events without length, and overlaps that are meant") {
    Sql sql;
    CHECK(sql.rows("SELECT count(*), count(*) FILTER (WHERE dur_ns = 0) FROM " + bug("22/trace.json")) ==
          Rows{{"6", "4"}});
    CHECK(sql.integer("SELECT interval_coverage(ts_ns, end_ns) FROM " + bug("22/trace.json")) == 20000);
    // Within each thread; the rest of the sum are overlaps.
    CHECK(
        sql.rows("SELECT sum(n), sum(total), sum(covered) FROM (SELECT count(*) AS n, sum(dur_ns) AS total, "
                 "interval_coverage(ts_ns, end_ns) AS covered FROM " +
                 bug("24/trace.json") + " GROUP BY tid)") == Rows{{"4", "215400", "210350"}});
}

TEST_CASE("trace_event: an operator's kernels by thread, not by time alone") {
    Sql sql;
    const std::string events = bug("38/trace.json");
    CHECK(
        sql.rows("SELECT op.name, sum(k.dur_ns) FROM " + events + " AS op JOIN " + events +
                 " AS l ON l.cat = 'cuda_runtime' AND l.pid = op.pid AND l.tid = op.tid AND l.ts_ns BETWEEN "
                 "op.ts_ns "
                 "AND op.end_ns JOIN " +
                 events +
                 " AS k ON k.cat = 'kernel' AND json_extract(k.args, '$.correlation') = json_extract(l.args, "
                 "'$.correlation') WHERE op.cat = 'cpu_op' GROUP BY 1 ORDER BY 1") ==
        Rows{{"aten::add", "4000"}, {"aten::mm", "30000"}});
}

TEST_CASE("trace_event: processes and threads are pairs of what the file says") {
    Sql sql;
    CHECK(sql.rows("SELECT sum(dur_ns) FROM " + bug("42/trace.json") +
                   " WHERE ph = 'X' GROUP BY pid, tid ORDER BY 1") ==
          Rows{{"10000"}, {"20000"}, {"30000"}, {"40000"}});
    CHECK(sql.rows("SELECT DISTINCT typeof(tid) FROM " + bug("44/trace.json") + " ORDER BY 1") ==
          Rows{{"integer"}, {"text"}});
}

TEST_CASE("trace_event: rows without times are as the file has them") {
    Sql sql;
    CHECK(sql.rows("SELECT count(*), sum(dur_ns), max(end_ns) - min(ts_ns) FROM " + bug("53/trace.json") +
                   " WHERE ph = 'X' AND ts_ns > 0") == Rows{{"3", "60000", "130000"}});
    CHECK(sql.integer("SELECT count(*) FROM " + bug("53/trace.json") +
                      " WHERE ph = 'X' AND ts_ns = 0 AND dur_ns = 0") == 2);
}

TEST_CASE("trace_event: a hundred thousand open brackets cost their event only") {
    Sql sql;
    CHECK(sql.integer("SELECT count(*) FROM " + bug("73/nested.json")) == 0);
    CHECK(count_of(sql, "73/nested.json", "json_too_deep") == 1);
    CHECK(sql.integer("SELECT count(*) FROM " + bug("73/flat.json")) == 1);
    CHECK(sql.integer("SELECT 1") == 1);
}

TEST_CASE("trace_event: many events, by closed form") {
    // 20000 kernels on 4 streams, each (i mod 100) + 0.5 us long: 20000 * 0.5 + 200 * 4950 us.
    std::string text = "{\"traceEvents\": [\n";
    for (int i = 0; i < 20000; ++i) {
        if (i > 0) text += ",\n";
        text += R"({"ph": "X", "cat": "kernel", "name": "kernel_)" + std::to_string(i % 37) +
                R"(", "pid": 0, "tid": )" + std::to_string(i % 4) + R"(, "ts": )" + std::to_string(i * 200) +
                ".000, \"dur\": " + std::to_string(i % 100) + R"(.500, "args": {"stream": )" +
                std::to_string(i % 4) + R"(, "correlation": )" + std::to_string(i) + "}}";
    }
    text += "\n]}\n";
    TempFolder folder;
    for (const std::string& path : {folder.write("t.json", text), folder.write("t.json.gz", gzip(text))}) {
        Sql sql;
        const std::string events = "trace_event('" + path + "')";
        CHECK(sql.rows("SELECT count(*), sum(dur_ns), count(DISTINCT tid), count(DISTINCT name) FROM " +
                       events) == Rows{{"20000", "1000000000", "4", "37"}});
        // Further columns, further passes.
        CHECK(sql.integer("SELECT sum(json_extract(args, '$.correlation')) FROM " + events) ==
              20000LL * 19999 / 2);
        CHECK(sql.integer("SELECT count(*) FROM " + events + " WHERE tid = json_extract(args, '$.stream')") ==
              20000);
        CHECK(sql.integer("SELECT max(line) FROM " + events) == 20001);
        CHECK(sql.integer("SELECT max(offset) FROM " + events) ==
              static_cast<int64_t>(text.rfind("{\"ph\"")));
    }
}

TEST_CASE("trace_event: names of processes and threads, given anywhere in the file") {
    TempFolder folder;
    const std::string path = folder.write(
        "t.json",
        R"([{"ph":"X","name":"a","pid":1,"tid":2},{"ph":"X","name":"b","pid":"1","tid":2},{"ph":"X","name":"c","pid":1,"tid":3},)"
        R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"first"}},{"ph":"M","name":"process_name","pid":1,"args":{"name":"\u0041scend"}},)"
        R"({"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"Stream 2"}},{"ph":"M","name":"process_labels","pid":1,"args":{"labels":"NPU"}},)"
        R"({"ph":"M","name":"process_name","pid":"1","args":{"name":"text"}},{"ph":"X","name":"d"}])");
    Sql sql;
    const Rows expected = {
        {"a", "Ascend", "Stream 2"}, {"b", "text", "NULL"}, {"c", "Ascend", "NULL"}, {"d", "NULL", "NULL"}};
    CHECK(sql.rows("SELECT name, process_name, thread_name FROM trace_event('" + path +
                   "') WHERE ph = 'X'") == expected);
    // After other columns have been read.
    Sql again;
    CHECK(again.integer("SELECT count(*) FROM trace_view('" + path + "')") == 9);
    CHECK(again.rows("SELECT thread_name FROM trace_view('" + path + "') WHERE name = 'a'") ==
          Rows{{"Stream 2"}});
    CHECK(again.rows("SELECT name, process_name, thread_name FROM trace_event('" + path +
                     "') WHERE ph = 'X'") == expected);
}

TEST_CASE("trace_event: characters that SQL texts cannot hold") {
    TempFolder folder;
    const std::string path = folder.write(
        "t.json", R"([{"name":"a\u0000b","args":{"x":"c\u0000d","y":"\ud800"}},{"name":"\ud83d\ude00"}])");
    Sql sql;
    CHECK(sql.rows("SELECT name, length(name), json_extract(args, '$.x'), json_extract(args, '$.y') FROM "
                   "trace_event('" +
                   path + "')") == Rows{{"a\uFFFD"
                                         "b",
                                         "3",
                                         "c\uFFFD"
                                         "d",
                                         "\uFFFD"},
                                        {"\U0001F600", "1", "NULL", "NULL"}});
    CHECK(count_of(sql, "t.json", "json_nul_character") == 2);
    CHECK(count_of(sql, "t.json", "json_lone_surrogate") == 1);
}

TEST_CASE("trace_event: slices of one export are one table") {
    TempFolder folder;
    const std::string output = folder.folder("mindstudio_profiler_output");
    folder.write(
        "mindstudio_profiler_output/msprof_slice_1_20260402160352.json",
        R"([{"ph":"X","name":"b","pid":1,"ts":2.0,"args":{"n":2}},{"ph":"X","name":"c","pid":1,"args":{"n":NaN}}])");
    folder.write(
        "mindstudio_profiler_output/msprof_slice_0_20260402160352.json",
        R"([{"ph":"X","name":"a","pid":1,"ts":1.0,"args":{"n":1}},{"ph":"M","name":"process_name","pid":1,"args":{"name":"CANN"}}])");
    Sql sql;
    for (const std::string& path : {folder.path(), output}) {
        CHECK(sql.rows(
                  "SELECT name, ts_ns, process_name, args, offset, file LIKE '%slice_0%' FROM trace_event('" +
                  path + "') WHERE ph = 'X'") == Rows{{"a", "1000", "CANN", R"({"n":1})", "1", "1"},
                                                      {"b", "2000", "CANN", R"({"n":2})", "1", "0"},
                                                      {"c", "NULL", "CANN", R"({"n":null})", "55", "0"}});
    }
}

TEST_CASE("trace_event: a slice that is none, or is no trace, is told and loses nothing else") {
    TempFolder folder;
    folder.write("msprof_slice_0_20260402160352.json", R"([{"ph":"X","name":"a","args":{"n":1}}])");
    const std::string bad = folder.write("msprof_slice_1_20260402160352.json", "x");
    folder.write("msprof_slice_3_20260402160352.json", R"([{"ph":"X","name":"b","args":{"n":2}}])");
    Sql sql;
    const std::string from = " FROM trace_event('" + folder.path() + "')";
    CHECK(sql.rows("SELECT name" + from) == Rows{{"a"}, {"b"}});
    CHECK(sql.rows("SELECT name, args" + from) == Rows{{"a", R"({"n":1})"}, {"b", R"({"n":2})"}});
    CHECK(sql.rows("SELECT severity, code, file, message LIKE '%slice 2 is not%', message LIKE '%no trace%' "
                   "FROM prof_diagnostic") ==
          Rows{{"warning", "slice_missing", folder.file("msprof_slice_0_20260402160352.json"), "1", "0"},
               {"error", "trace_unreadable", bad, "0", "1"}});
    for (const char* slice : {"0", "3"})
        folder.write("msprof_slice_" + std::string(slice) + "_20260402160352.json", "y");
    CHECK_THAT(sql.error("SELECT name" + from), Catch::Contains("no trace"));
}

TEST_CASE("trace_event: what cannot be read is refused with a reason") {
    Sql sql;
    TempFolder folder;
    const auto error = [&](const std::string& path) {
        return sql.error("SELECT * FROM trace_event('" + path + "')");
    };
    CHECK_THAT(error(folder.path()), Catch::Contains("a folder without trace_view.json"));
    CHECK_THAT(error(folder.file("none.json")), Catch::Contains("none.json"));
    CHECK_THAT(error(folder.write("empty.json", "")), Catch::Contains("empty"));
    CHECK_THAT(error("/etc/passwd"), Catch::Contains("no trace"));
    CHECK_THAT(sql.error("SELECT * FROM trace_event"), Catch::Contains("trace_event"));
    CHECK(::mkfifo(folder.file("fifo").c_str(), 0600) == 0);
    CHECK_THAT(error(folder.file("fifo")), Catch::Contains("fifo"));
    folder.write("a.pt.trace.json", "[]");
    CHECK(sql.integer("SELECT count(*) FROM trace_event('" + folder.path() + "')") == 0);
    folder.write("b.pt.trace.json", "[]");
    CHECK_THAT(error(folder.path()), Catch::Contains("a.pt.trace.json, b.pt.trace.json"));
}

TEST_CASE("communication: forms of all writers") {
    const std::string info =
        R"#({"Communication Time Info":{"Start Timestamp(us)":1736412474757059.8,"Elapse Time(ms)":86.4709076875,)#"
        R"#("Transit Time(ms)":0.23842478125,"Wait Time(ms)":2.5635312187499997,)#"
        R"#("Synchronization Time(ms)":2.5190503125,"Idle Time(ms)":83.6689516875,"Wait Time Ratio":0.9149,)#"
        R"#("Synchronization Time Ratio":0.9135},"Communication Bandwidth Info":{"RDMA":{"Transit Size(MB)":0,)#"
        R"#("Transit Time(ms)":0,"Bandwidth(GB/s)":NaN,"Large Packet Ratio":0,"Size Distribution":{}},)#"
        R"#("HCCS":{"Transit Size(MB)":28.5,"Transit Time(ms)":1.8168563124999997,"Bandwidth(GB/s)":15.7675,)#"
        R"#("Large Packet Ratio":0.25,"Size Distribution":{"2.064384":[12,1.5]}}}})#";
    const std::string total =
        R"#({"Communication Time Info":{"Elapse Time(ms)":1},"Communication Bandwidth Info":{}})#";
    TempFolder folder;
    folder.folder("ASCEND_PROFILER_OUTPUT");
    folder.write("ASCEND_PROFILER_OUTPUT/communication.json",
                 R"#({"step50":{"p2p":{},"collective":{"hcom_allReduce__271_0_1@11022204950826225271":)#" +
                     info + R"#(,"Total Op Info":)#" + total + "}}}");
    Sql sql;
    const std::string table = "communication('" + folder.path() + "')";
    CHECK(
        sql.rows("SELECT step, type, name, group_name, ranks, rank, transport FROM " + table) ==
        Rows{{"50", "collective", "hcom_allReduce__271_0_1", "11022204950826225271", "NULL", "NULL", "RDMA"},
             {"50", "collective", "hcom_allReduce__271_0_1", "11022204950826225271", "NULL", "NULL", "HCCS"},
             {"50", "collective", "Total Op Info", "NULL", "NULL", "NULL", "NULL"}});
    // Milliseconds to ns, half to even: 0.23842478125 ms is 238424.78125 ns.
    CHECK(sql.rows("SELECT DISTINCT start_ns, elapse_ns, transit_ns, wait_ns, synchronization_ns, idle_ns, "
                   "wait_ratio, "
                   "synchronization_ratio FROM " +
                   table + " ORDER BY start_ns DESC") ==
          Rows{{"1736412474757059800", "86470908", "238425", "2563531", "2519050", "83668952", "0.9149",
                "0.9135"},
               {"NULL", "1000000", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL"}});
    CHECK(sql.rows("SELECT transit_size_mb, transport_transit_ns, bandwidth_gb_per_s, large_packet_ratio, "
                   "size_distribution FROM " +
                   table + " WHERE transport IS NOT NULL") ==
          Rows{{"0.0", "0", "NULL", "0.0", "{}"},
               {"28.5", "1816856", "15.7675", "0.25", R"#({"2.064384":[12,1.5]})#"}});
    CHECK(count_of(sql, "communication.json", "json_bare_value") == 1);

    const auto places = [&](const std::string& text) {
        return sql.rows("SELECT step, type, name, group_name, ranks, rank FROM communication('" +
                        folder.write("c.json", text) + "')");
    };
    CHECK(places(R"#({"hcom_send_@12":)#" + total + "}") ==
          Rows{{"NULL", "NULL", "hcom_send_", "12", "NULL", "NULL"}});
    CHECK(places(R"#({"step":{"p2p":{"hcom_send__1":)#" + total + "}}}") ==
          Rows{{"NULL", "p2p", "hcom_send__1", "NULL", "NULL", "NULL"}});
    CHECK(places(R"#({"(0, 1)":{"step5":{"op@7":{"0":)#" + total + R"#(,"1":)#" + total + "}}}}") ==
          Rows{{"5", "NULL", "op", "7", "(0, 1)", "0"}, {"5", "NULL", "op", "7", "(0, 1)", "1"}});
    CHECK(places(R"#({"step0":{"p2p":{},"collective":{}}})#").empty());
    CHECK(places("{}").empty());
    const auto error = [&](const std::string& text) {
        return sql.error("SELECT * FROM communication('" + folder.write("e.json", text) + "')");
    };
    CHECK_THAT(error(R"#({"traceEvents":[]})#"), Catch::Contains("not a communication.json"));
    CHECK_THAT(error(R"#({"a":1 ? 2})#"), Catch::Contains("not JSON, at byte"));
}

TEST_CASE("communication: what is whole before a damaged place is read") {
    TempFolder folder;
    const std::string head = R"#({"step1":{"collective":{)#";
    const auto operation = [](const std::string& name) {
        return '"' + name +
               R"#(@7":{"Communication Time Info":{"Elapse Time(ms)":1},)#"
               R"#("Communication Bandwidth Info":{"RDMA":{"Transit Size(MB)":2}}})#";
    };
    const std::string three = head + operation("a") + "," + operation("b") + "," + operation("c") + "}}}";
    const size_t b_end = three.find(",\"c@7"), a_end = three.find(",\"b@7");
    const std::string links = R"#({"step1":{"collective":{"a@7":{"0-1":{"Transport Type":"SIO"},)#"
                              R"#("1-0":{"Transport Type":"SIO"}}}}})#";
    const size_t link_end = links.find(",\"1-0");
    Sql sql;
    // Wherever the file is cut, the operations before that place are there, and the loss is told.
    for (size_t cut = 1; cut < three.size(); ++cut) {
        INFO(cut);
        const std::string path = folder.write(std::to_string(cut) + ".json", three.substr(0, cut));
        const size_t whole = cut >= three.size() - 3 ? 3 : cut >= b_end ? 2 : cut >= a_end ? 1 : 0;
        CHECK(sql.rows("SELECT name FROM communication('" + path + "')").size() == whole);
        CHECK(count_of(sql, path.substr(folder.path().size() + 1), "json_truncated") == 1);
    }
    for (size_t cut = 1; cut < links.size(); ++cut) {
        INFO(cut);
        const std::string path = folder.write(std::to_string(cut) + "m.json", links.substr(0, cut));
        const size_t whole = cut >= links.size() - 4 ? 2 : cut >= link_end ? 1 : 0;
        CHECK(sql.rows("SELECT name FROM communication_matrix('" + path + "')").size() == whole);
        CHECK(count_of(sql, path.substr(folder.path().size() + 1), "json_truncated") == 1);
    }
    // Nonsense in the middle.
    const std::string path =
        folder.write("torn.json", three.substr(0, a_end) + " ??? " + three.substr(a_end));
    CHECK(sql.rows("SELECT name FROM communication('" + path + "')") == Rows{{"a"}});
    CHECK(count_of(sql, "torn.json", "json_garbage") == 1);
}

TEST_CASE("communication_matrix: links of all writers") {
    TempFolder folder;
    const std::string path = folder.write(
        "communication_matrix.json",
        R"#({"step50":{"p2p":{},"collective":{"allreduce-top1@110":{"0-1":{"Transport Type":"HCCS",)#"
        R"#("Transit Size(MB)":37.781504,"Transit Time(ms)":2.24104478125,"Bandwidth(GB/s)":16.8589,)#"
        R"#("Op Name":"hcom_allReduce__271_2_1"}}}}})#");
    Sql sql;
    CHECK(sql.rows("SELECT * FROM communication_matrix('" + path + "')") ==
          Rows{{"50", "collective", "allreduce-top1", "110", "NULL", "0", "1", "HCCS", "37.781504", "2241045",
                "16.8589", "hcom_allReduce__271_2_1"}});
    const std::string flat =
        folder.write("m.json", R"#({"hcom_x@9":{"3-12":{"Transport Type":"LOCAL","Transit Size(MB)":1}}})#");
    CHECK(sql.rows("SELECT step, name, group_name, source_rank, target_rank, transport, op_name FROM "
                   "communication_matrix('" +
                   flat + "')") == Rows{{"NULL", "hcom_x", "9", "3", "12", "LOCAL", "NULL"}});
    // communication.json has sizes and times, too, but of no link.
    const std::string operations = folder.write(
        "communication.json",
        R"#({"step1":{"collective":{"a@7":{"Communication Time Info":{"Elapse Time(ms)":1},)#"
        R"#("Communication Bandwidth Info":{"RDMA":{"Transit Size(MB)":2,"Transit Time(ms)":3}}}}}})#");
    CHECK_THAT(sql.error("SELECT * FROM communication_matrix('" + operations + "')"),
               Catch::Contains("not a communication_matrix.json"));
}

TEST_CASE("communication: a value that is there and no number is told; blanks around numbers are none") {
    TempFolder folder;
    const std::string path = folder.write(
        "communication.json",
        R"#({"step1":{"collective":{"x@1":{"Communication Time Info":{)#"
        R"#("Start Timestamp(us)":"1719300191013381.561\t","Elapse Time(ms)":"abc","Wait Time Ratio":" 0.5 ",)#"
        R"#("Idle Time(ms)":1e30,"Wait Time(ms)":"N/A"},)#"
        R"#("Communication Bandwidth Info":{"RDMA":{"Transit Size(MB)":"zz"}}}}}})#");
    Sql sql;
    CHECK(sql.rows("SELECT start_ns, elapse_ns, wait_ratio, idle_ns, transit_size_mb FROM communication('" +
                   path + "')") == Rows{{"1719300191013381561", "NULL", "0.5", "NULL", "NULL"}});
    CHECK(count_of(sql, "communication.json", "not_a_number") == 2);
    CHECK(count_of(sql, "communication.json", "number_out_of_range") == 1);
}

TEST_CASE("trace_event: a time as text with an escaped tab behind it, and escaped keys") {
    TempFolder folder;
    const std::string path =
        folder.write("trace_view.json",
                     R"#([{"\u0070h":"X","n\u0061me":"a","ts":"1736413971558972.912\t","d\u0075r":1}])#");
    Sql sql;
    CHECK(sql.rows("SELECT ph, name, ts_ns, dur_ns FROM trace_event('" + path + "')") ==
          Rows{{"X", "a", "1736413971558972912", "1000"}});
    CHECK(count_of(sql, "trace_view.json", "trace_bad_time") == 0);
}

TEST_CASE("trace_event: a base beyond 64 bits is told") {
    TempFolder folder;
    const std::string path = folder.write(
        "a.json",
        R"#({"baseTimeNanoseconds":99999999999999999999,"traceEvents":[{"ph":"X","ts":1,"dur":1}]})#");
    Sql sql;
    CHECK(sql.rows("SELECT ts_ns FROM trace_event('" + path + "')") == Rows{{"1000"}});
    CHECK(count_of(sql, "a.json", "trace_bad_base") == 1);
}
