// What is named instead of a file, and loads that are stopped: every function that takes a path, whatever it
// is given, says what is wrong and comes back.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "tests/unit/files.h"
#include "tests/unit/sql.h"

using profana::test::Sql;

namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr const char* kFunctions[] = {
    "kernel_details",   "op_summary",      "op_statistic",        "api_statistic", "step_trace_time",
    "operator_details", "operator_memory", "memory_record",       "task_time",     "trace_event",
    "trace_view",       "communication",   "communication_matrix"};

std::string call(const std::string& function, const std::string& path) {
    return "SELECT * FROM " + function + "('" + path + "')";
}

// What a program is, to a reader of text: an ELF head, zeros, and every byte.
std::string binary() {
    std::string bytes(
        "\x7f"
        "ELF\x02\x01\x01",
        7);
    bytes.append(64, '\0');
    for (int i = 0; i < 20000; ++i) bytes += static_cast<char>((i * 7919 + i / 251) & 0xff);
    return bytes;
}

// Runs body as a user who owns nothing, where the tests run as root.
template <class Body>
void as_nobody(Body body) {
    constexpr uid_t kNobody = 65534;
    const bool root = ::geteuid() == 0;
    if (root) REQUIRE(::seteuid(kNobody) == 0);
    body();
    if (root) REQUIRE(::seteuid(0) == 0);
}

std::string large_csv() {
    std::string text = "Name,Duration(us),Type\n";
    for (int i = 0; i < 400000; ++i) text += "some_kernel,1.25,MatMulV3\n";
    return text;
}

std::string large_trace() {
    std::string text = R"({"traceEvents":[{"ph":"X","name":"k","cat":"kernel","ts":1.5,"dur":1.25})";
    for (int i = 1; i < 200000; ++i) text += R"(,{"ph":"X","name":"k","cat":"kernel","ts":1.5,"dur":1.25})";
    return text + "]}";
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("every function: what is not the file it takes", "[errors]") {
    TempFolder folder;
    Sql sql;
    const std::string fifo = folder.file("fifo");
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    const std::string empty_folder = folder.folder("nothing");
    const struct {
        std::string path, says;
    } cases[] = {
        {"/etc/passwd", "profana: /etc/passwd: "},
        {empty_folder, "a folder without "},
        {folder.file("none"), "no such file"},
        {"", "no such file"},
        {folder.write("empty", ""), "empty"},
        {folder.write("empty.gz", gzip("")), "empty"},
        {folder.write("blank", "\n\n \n"), "blank: "},
        {fifo, "is a pipe"},
        {"/dev/zero", "is a device"},
        {"/dev/null", "is a device"},
        {folder.write("program", binary()), "program: "},
        {folder.write("program.gz", gzip(binary())), "program.gz: "},
        {folder.write("zeros", std::string(100000, '\0')), "zeros: "},
        {folder.write("file", "x") + "/more", "not a folder"},
    };
    for (const char* function : kFunctions) {
        for (const auto& [path, says] : cases) {
            INFO(function << "('" << path << "')");
            CHECK_THAT(sql.error(call(function, path)),
                       Catch::StartsWith("profana: ") && Catch::Contains(says));
        }
        INFO(function);
        CHECK_THAT(sql.error(std::string("SELECT * FROM ") + function), Catch::Contains(function));
        CHECK_THAT(sql.error(std::string("SELECT * FROM ") + function + "(NULL)"), Catch::Contains(function));
        CHECK_THAT(sql.error(std::string("SELECT * FROM ") + function + "(42)"), Catch::Contains("42"));
    }
    CHECK(sql.integer("SELECT count(*) FROM prof_diagnostic WHERE severity = 'error'") == 0);
}

TEST_CASE("paths that are no text", "[errors]") {
    TempFolder folder;
    Sql sql;
    const std::string path = folder.write("\xFF.csv", "Name,Duration(us)\na,x\n"),
                      hex_nul = "CAST(x'2F2F002F' AS TEXT)";
    sqlite3_stmt* statement = nullptr;
    REQUIRE(sqlite3_prepare_v2(sql.db(), "SELECT dur_ns FROM kernel_details(?)", -1, &statement, nullptr) ==
            SQLITE_OK);
    sqlite3_bind_text(statement, 1, path.c_str(), -1, SQLITE_TRANSIENT);
    CHECK(sqlite3_step(statement) == SQLITE_ROW);
    sqlite3_finalize(statement);
    // Hosts refuse a text that is no UTF-8, and with it the whole table.
    const std::string shown = folder.file("\uFFFD.csv");
    CHECK(sql.rows("SELECT file, source FROM prof_diagnostic") == Rows{{shown, shown + ":2"}});
    for (const char* function : kFunctions)
        CHECK_THAT(sql.error("SELECT * FROM " + std::string(function) + "(" + hex_nul + ")"),
                   Catch::Matches("profana: [a-z_]+: its argument path has a NUL in it: '//\uFFFD/'"));
}

TEST_CASE("a message shows no more than an excerpt of a long text", "[errors]") {
    // Two bytes a character: neither end of an excerpt stands on a whole one by itself.
    std::string text = "begin ";
    while (text.size() < 100000) text += "\xC3\xA9";
    text += " end.csv";
    const std::string shown = "begin (\xC3\xA9){67}\\.\\.\\.(\xC3\xA9){24} end.csv";
    Sql sql;
    const auto says = [&](std::string statement) {
        for (size_t at; (at = statement.find('?')) != std::string::npos;)
            statement.replace(at, 1, "'" + text + "'");
        return sql.error(statement);
    };
    for (const char* function : kFunctions)
        CHECK_THAT(says("SELECT * FROM " + std::string(function) + "(?)"),
                   Catch::Matches("profana: " + shown + ": .{1,200}"));
    for (const char* statement :
         {"SELECT profana_open('a', ?)", "SELECT profana_open('a', '.', ?)", "SELECT profana_close(?)",
          "SELECT profana_set(?, 1)", "SELECT profana_set('strict', ?)",
          "SELECT profana_set('memory_limit', ?)", "SELECT profana_export(?, 'overall')",
          "SELECT profana_export('a.db', ?)", "SELECT profana_export('a.db', 'overall', ?)",
          "SELECT interval_length(?)", "SELECT flops_matmul(?, '[1,1]')", "SELECT round_even(1, ?)",
          "CREATE VIRTUAL TABLE temp.t USING profiler_csv(?)",
          "CREATE VIRTUAL TABLE temp.t USING profana_memo(?)"}) {
        INFO(statement);
        const std::string message = says(statement);
        CHECK_THAT(message, Catch::Contains("begin \xC3\xA9\xC3\xA9"));
        CHECK(message.size() < 1000);
    }
    // What SQLite itself says of a text is not counted: it may be an error of the number of arguments.
    for (const auto& row : sql.rows("SELECT DISTINCT name FROM profana_help WHERE kind = 'function'")) {
        std::string arguments = "?";
        for (int count = 1; count < 7; ++count, arguments += ",?") {
            std::string statement = "SELECT " + row[0] + "(" + arguments + ")";
            for (size_t at; (at = statement.find('?')) != std::string::npos;)
                statement.replace(at, 1, "'" + text + "'");
            INFO(row[0] << " of " << count);
            sqlite3_exec(sql.db(), statement.c_str(), nullptr, nullptr, nullptr);
            CHECK(std::string(sqlite3_errmsg(sql.db())).size() < 1500);
        }
    }
}

TEST_CASE("every function: no permission", "[errors]") {
    TempFolder folder;
    Sql sql;
    ::chmod(folder.path().c_str(), 0755);
    const std::string file = folder.write("closed.csv", "Name,Duration(us)\nx,1\n");
    const std::string closed = folder.folder("closed"), above = folder.folder("above");
    folder.write("closed/kernel_details.csv", "Name,Duration(us)\nx,1\n");
    const std::string results = folder.folder("above/ASCEND_PROFILER_OUTPUT");
    ::chmod(above.c_str(), 0755);
    for (const std::string& path : {file, closed, results}) ::chmod(path.c_str(), 0);
    as_nobody([&] {
        for (const char* function : kFunctions) {
            INFO(function);
            CHECK_THAT(sql.error(call(function, file)), Catch::Contains("closed.csv: no permission"));
            CHECK_THAT(sql.error(call(function, closed + "/kernel_details.csv")),
                       Catch::Contains("no permission"));
            CHECK_THAT(sql.error(call(function, closed)), Catch::Contains("closed: a folder that cannot be "
                                                                          "listed (Permission denied)"));
            CHECK_THAT(sql.error(call(function, above)),
                       Catch::Contains("ASCEND_PROFILER_OUTPUT: a folder that cannot be listed"));
        }
    });
    for (const std::string& path : {closed, results}) ::chmod(path.c_str(), 0700);
}

TEST_CASE("a load stops for a progress handler and for sqlite3_interrupt", "[errors]") {
    TempFolder folder;
    const std::string csv = large_csv(), trace = large_trace();
    const struct {
        std::string from;
        int64_t rows, sum;
    } cases[] = {
        {"kernel_details('" + folder.write("a.csv", csv) + "')", 400000, 500000000},
        {"kernel_details('" + folder.write("a.csv.gz", gzip(csv)) + "')", 400000, 500000000},
        {"trace_event('" + folder.write("a.json", trace) + "')", 200000, 250000000},
        {"trace_event('" + folder.write("a.json.gz", gzip(trace)) + "')", 200000, 250000000},
    };
    for (const auto& [from, rows, sum] : cases) {
        INFO(from);
        const std::string query = "SELECT count(name), sum(dur_ns) FROM " + from;
        Sql sql;
        // The load asks again and again whether it is still wanted: the handler's word counts at once.
        int calls = 0;
        sqlite3_progress_handler(
            sql.db(), 1, [](void* n) { return ++*static_cast<int*>(n) > 200 ? 1 : 0; }, &calls);
        CHECK(sql.error(query) == "interrupted");
        sqlite3_progress_handler(sql.db(), 0, nullptr, nullptr);

        // From another thread, again and again until the query has ended: an interrupt before its start is
        // lost.
        std::atomic<bool> ended = false;
        std::chrono::steady_clock::time_point asked = std::chrono::steady_clock::now();
        std::thread other([&] {
            while (!ended) {
                sqlite3_interrupt(sql.db());
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        });
        const std::string said = sql.error(query);
        const double waited = seconds_since(asked);
        ended = true;
        other.join();
        CHECK(said == "interrupted");
        CHECK(waited < 2);

        // Nothing is left of what was begun.
        CHECK(sql.rows(query) == Rows{{std::to_string(rows), std::to_string(sum)}});
    }
}

TEST_CASE("strict: the first fault of any file is an error, and none of the file is kept", "[errors]") {
    TempFolder folder;
    const struct {
        std::string from, says;
    } cases[] = {
        {"kernel_details('" + folder.write("a.csv", "Name,Duration(us)\na,1\nb,x\n") + "')",
         "a.csv: line 3: "},
        {"kernel_details('" + folder.write("b.csv", "Name,Duration(us)\na\n") + "')", "b.csv: line 2: "},
        {"op_statistic('" + folder.write("c.csv", "OP Type,Total Time(us)\n\"a,1\nb,2\n") + "')",
         "c.csv: line 2: "},
        {"trace_event('" + folder.write("d.json", "[{\"name\":\"a\",\"dur\":nan}]") + "')", "d.json: byte "},
        {"trace_event('" + folder.write("e.json", "[{\"name\":\"a\",\"dur\":1},{\"name\":") + "')",
         "e.json: byte "},
        {"trace_event('" + folder.write("f.json.gz", gzip("[{\"name\":\"a\"}]").substr(0, 25)) + "')",
         "f.json.gz: byte "},
    };
    for (const auto& [from, says] : cases) {
        INFO(from);
        Sql sql;
        sql.run("SELECT profana_set('strict', 1)");
        const std::string all = "SELECT * FROM " + from;
        CHECK_THAT(sql.error(all), Catch::StartsWith("profana: ") && Catch::Contains(says));
        CHECK_THAT(sql.error(all), Catch::Contains(says));
        sql.run("SELECT profana_set('strict', 0)");
        CHECK_FALSE(sql.rows(all).empty());
        CHECK(sql.integer("SELECT sum(count) FROM prof_diagnostic WHERE severity <> 'info'") >= 1);
    }
}

TEST_CASE("strict: what was read with a warning before is an error, too", "[errors]") {
    TempFolder folder;
    Sql sql;
    const std::string bad = folder.write("bad.csv", "Name,Duration(us)\na,x\n"),
                      good = folder.write("good.csv", "Name,Duration(us)\na,1\n"),
                      trace = folder.write("bad.json", "[{\"name\":\"a\",\"dur\":nan}]");
    folder.folder("run");
    folder.write("run/kernel_details.csv", "Name,Duration(us),Start Time(us)\na,x,1\n");
    sql.run("CREATE VIRTUAL TABLE temp.cells USING profiler_csv('" + bad + "')");
    sql.run("SELECT profana_open('run', '" + folder.file("run") + "')");
    const std::string queries[] = {"SELECT dur_ns FROM kernel_details('" + bad + "')",
                                   "SELECT dur_ns FROM trace_event('" + trace + "')",
                                   "SELECT dur_ns FROM prof_kernel WHERE profile = 'run'"},
                      without_fault[] = {"SELECT dur_ns FROM kernel_details('" + good + "')",
                                         "SELECT \"Duration(us)\" FROM temp.cells"};
    for (int round = 0; round < 2; ++round) {
        for (const std::string& query : queries) CHECK(sql.rows(query) == Rows{{"NULL"}});
        for (const std::string& query : without_fault) CHECK_FALSE(sql.rows(query).empty());
        CHECK(sql.integer("SELECT count(*) FROM prof_diagnostic WHERE code IN ('not_a_number', "
                          "'json_bare_value')") == 3);
        sql.run("SELECT profana_set('strict', 1)");
        for (const std::string& query : queries) {
            CHECK_THAT(sql.error(query), Catch::Contains("profana_set('strict', 0) goes on past it"));
            CHECK_THAT(sql.error(query), Catch::Contains("profana_set('strict', 0) goes on past it"));
        }
        for (const std::string& query : without_fault) CHECK_FALSE(sql.rows(query).empty());
        sql.run("SELECT profana_set('strict', 0)");
    }
}

TEST_CASE("memory_limit: said before anything is loaded", "[errors]") {
    TempFolder folder;
    const std::string csv = folder.write("a.csv", large_csv()), json = folder.write("a.json", large_trace());
    for (const std::string& from : {"kernel_details('" + csv + "')", "trace_event('" + json + "')"}) {
        INFO(from);
        Sql sql;
        sql.run("SELECT profana_set('memory_limit', '5MB')");
        const auto begin = std::chrono::steady_clock::now();
        CHECK_THAT(sql.error("SELECT * FROM " + from),
                   Catch::StartsWith("profana: the columns asked for would take about ") &&
                       Catch::Contains("memory_limit"));
        CHECK(seconds_since(begin) < 1);
        sql.run("SELECT profana_set('memory_limit', NULL)");
        CHECK(sql.integer("SELECT count(name) FROM " + from) > 0);
    }
}
