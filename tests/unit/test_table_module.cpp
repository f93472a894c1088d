// The generic virtual table module: what it plans, what it loads, what it refuses.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <thread>

#include "tests/unit/table_fixture.h"

using namespace profana;
using namespace profana_test;
using Catch::Contains;

namespace {

constexpr ColumnType I = ColumnType::kInt, T = ColumnType::kText;

const TableSpec& spec() {
    static const TableSpec spec{"k",
                                "rows of a test",
                                {{"profile", T, ""},
                                 {"rank", I, ""},
                                 {"id", I, ""},
                                 {"name", T, ""},
                                 {"start", I, ""},
                                 {"dur", I, ""},
                                 {"ratio", ColumnType::kReal, ""},
                                 {"key", ColumnType::kAny, ""},
                                 {"args", ColumnType::kLong, ""}},
                                {},
                                0,
                                true};
    return spec;
}

// Which columns a table's loader was asked for, call by call.
struct Loads {
    std::vector<std::string> calls;
};

std::shared_ptr<Table> make_rows(size_t rows, const std::shared_ptr<Loads>& loads) {
    return std::make_shared<Table>(
        std::vector<ColumnType>{T, I, I, ColumnType::kReal, ColumnType::kAny, ColumnType::kLong},
        [=](Table& to, const ColumnSet& wanted, LoadContext&) {
            std::string asked;
            to.set_rows(rows);
            wanted.each([&](int c) {
                asked += spec().columns[static_cast<size_t>(c) + 3].name + std::string(" ");
                for (size_t i = 0; i < rows; ++i) {
                    const auto n = static_cast<int64_t>(i);
                    Column& column = to.building(c);
                    if (c == 0) column.add_text("name " + std::to_string(n % 10));
                    if (c == 1) column.add_int(1000 + n);
                    if (c == 2) column.add_int(n * 7919 % 101);
                    if (c == 3) column.add_real(static_cast<double>(n % 8) / 2);
                    if (c == 4)
                        n % 2 == 0 ? column.add_any(AnyValue::of(n))
                                   : column.add_any_text("k" + std::to_string(n));
                    if (c == 5) column.add_long("{\"n\":" + std::to_string(n) + "}");
                }
            });
            loads->calls.push_back(asked);
        });
}

Part part_of(const std::shared_ptr<Table>& table, const std::string& profile, int64_t rank,
             int64_t id_base = 1) {
    Part part;
    part.table = table;
    part.columns = {Part::kConstant, Part::kConstant, Part::kRowId, 0, 1, 2, 3, 4, 5};
    part.constants.resize(part.columns.size());
    part.constants[0] = {false, true, 0, profile};
    part.constants[1] = {false, false, rank, ""};
    part.id_base = id_base;
    return part;
}

struct Fixture : Database {
    explicit Fixture(size_t rows = 200) {
        std::vector<Part> parts;
        for (int p = 0; p < 2; ++p) {
            loads.push_back(std::make_shared<Loads>());
            tables.push_back(make_rows(rows, loads.back()));
            parts.push_back(part_of(tables.back(), p == 0 ? "base" : "comparison", p));
        }
        REQUIRE(register_table(*connection, spec(), std::make_unique<FixedProvider>(parts)) == SQLITE_OK);
    }
    std::vector<std::shared_ptr<Loads>> loads;
    std::vector<std::shared_ptr<Table>> tables;
};

}  // namespace

TEST_CASE("the plan says in words what xFilter is given") {
    Fixture base;
    CHECK_THAT(base.plan("SELECT dur FROM k WHERE name = 'x' AND start BETWEEN 1 AND 2"),
               Contains("name = ? AND start >= ? AND start <= ?"));
    CHECK_THAT(base.plan("SELECT dur FROM k WHERE dur IN (1, 2, 3)"), Contains("dur IN (?)"));
    CHECK_THAT(base.plan("SELECT dur FROM k WHERE dur IS NULL"), Contains("dur IS NULL"));
    CHECK_THAT(base.plan("SELECT dur FROM k WHERE dur IS NOT NULL"), Contains("dur NOT NULL"));
    CHECK_THAT(base.plan("SELECT dur FROM k WHERE name LIKE '%x'"), Contains("name LIKE ?"));
    CHECK_THAT(base.plan("SELECT dur FROM k WHERE name GLOB 'x*'"), Contains("name GLOB ?"));
    CHECK_THAT(base.plan("SELECT dur FROM k WHERE rowid = 3"), Contains("rowid = ?"));
    CHECK_THAT(base.plan("SELECT dur FROM k WHERE profile = 'base' AND id = 3"),
               Contains("profile = ? AND id = ?"));
    CHECK_THAT(base.plan("SELECT dur FROM k WHERE name = 'a' OR id = 3"), Contains("MULTI-INDEX OR"));
}

TEST_CASE("what a plan cannot answer exactly it leaves alone") {
    Fixture base;
    CHECK_THAT(base.plan("SELECT dur FROM k WHERE name = 'x' COLLATE NOCASE"), !Contains("name = ?"));
    CHECK_THAT(base.plan("SELECT dur FROM k WHERE dur / 1000 > 5"), !Contains("dur > ?"));
    CHECK_THAT(base.plan("SELECT dur FROM k WHERE dur <> 5"), !Contains("dur <"));
    CHECK_THAT(base.plan("SELECT args FROM k WHERE args > '5'"), !Contains("args > ?"));
    CHECK_THAT(base.plan("SELECT dur FROM k ORDER BY args"), Contains("USE TEMP B-TREE"));
    CHECK_THAT(base.plan("SELECT dur FROM k ORDER BY name COLLATE NOCASE"), Contains("USE TEMP B-TREE"));
    CHECK_THAT(base.plan("SELECT dur FROM k ORDER BY dur NULLS LAST"), Contains("USE TEMP B-TREE"));
}

TEST_CASE("orders, groups and distinct rows need no sorter") {
    Fixture base;
    for (const char* sql :
         {"SELECT id FROM k ORDER BY start", "SELECT id FROM k ORDER BY dur DESC, name",
          "SELECT id FROM k ORDER BY profile, name DESC, key", "SELECT id FROM k ORDER BY rowid DESC",
          "SELECT name, sum(dur) FROM k GROUP BY name", "SELECT name, dur FROM k GROUP BY 1, 2"}) {
        INFO(sql);
        CHECK_THAT(base.plan(sql), !Contains("TEMP B-TREE"));
    }
    for (const char* sql :
         {"SELECT DISTINCT name FROM k", "SELECT DISTINCT profile, name FROM k WHERE name > 'name 3'"})
        CHECK_THAT(base.plan(sql), Contains("DISTINCT BY"));
    CHECK_THAT(base.plan("SELECT DISTINCT name FROM k WHERE dur > 3"), !Contains("DISTINCT BY"));
    CHECK(base.text("SELECT name, count(*), max(start) FROM k GROUP BY name ORDER BY name LIMIT 2") ==
          "tname 0|i40|i1190\ntname 1|i40|i1191\n");
    CHECK(base.text("SELECT DISTINCT name FROM k ORDER BY name DESC LIMIT 2") == "tname 9\ntname 8\n");
    CHECK(base.text("SELECT profile, id FROM k ORDER BY start, profile DESC LIMIT 3") ==
          "tcomparison|i1\ntbase|i1\ntcomparison|i2\n");
}

TEST_CASE("rows that are equal in the distinct columns may differ in rowid") {
    Fixture base;
    CHECK(base.text(
              "SELECT count(*) FROM (SELECT DISTINCT name FROM k WHERE rowid < 1000 AND rowid % 20 = 13)") ==
          "i1\n");
    CHECK(
        base.text("SELECT DISTINCT name FROM k WHERE name > 'name 7' AND rowid < 1000 AND rowid % 20 = 9") ==
        "tname 8\n");
    CHECK(base.text("SELECT count(*) FROM (SELECT DISTINCT name FROM k WHERE dur = 50)") ==
          base.text("SELECT count(DISTINCT name) FROM k WHERE +dur = 50"));
}

TEST_CASE("joins on any column are answered by an equality of the inner table") {
    Fixture base;
    for (const char* column : {"name", "start", "dur", "ratio", "key", "args", "id", "rowid"}) {
        const std::string on = std::string("a.") + column + " = b." + column;
        INFO(on);
        CHECK_THAT(base.plan("SELECT count(*) FROM k a JOIN k b ON " + on),
                   Contains(std::string(column) + " = ?"));
        CHECK(
            base.text("SELECT count(*) FROM k a JOIN k b ON " + on) ==
            base.text("SELECT count(*) FROM k a JOIN k b ON +a." + std::string(column) + " = +b." + column));
    }
}

TEST_CASE("only the columns that a query uses are loaded, of the parts that can have rows") {
    Fixture base;
    base.rows("SELECT count(*) FROM k WHERE profile = 'base'");
    CHECK(base.loads[0]->calls == std::vector<std::string>{""});
    CHECK(base.loads[1]->calls.empty());
    base.rows("SELECT sum(dur) FROM k WHERE profile IN ('base', 'other') AND start > 5");
    CHECK(base.loads[0]->calls == std::vector<std::string>{"", "start dur "});
    CHECK(base.loads[1]->calls.empty());
    base.rows("SELECT name FROM k WHERE rank = 7 OR profile IS NULL");
    CHECK(base.loads[1]->calls.empty());
    base.rows("SELECT name FROM k WHERE rank > 0");
    CHECK(base.loads[0]->calls.size() == 2);
    CHECK(base.loads[1]->calls == std::vector<std::string>{"name "});
}

TEST_CASE("columns from the 64th on are loaded and read") {
    Database base;
    static std::deque<std::string> names;
    static TableSpec wide{"wide", "", {}, {}};
    std::vector<ColumnType> types(70, I);
    for (int c = 0; c < 70; ++c) {
        names.push_back("c" + std::to_string(c));
        wide.columns.push_back({names.back().c_str(), I, ""});
    }
    auto table = std::make_shared<Table>(types, [](Table& to, const ColumnSet& wanted, LoadContext&) {
        wanted.each([&](int c) { to.building(c).add_int(c); });
    });
    register_table(*base.connection, wide,
                   std::make_unique<FixedProvider>(std::vector<Part>{whole_table(table)}));
    CHECK(base.text("SELECT c3, c63, c69 FROM wide WHERE c68 = 68 ORDER BY c67") == "i3|i63|i69\n");
    CHECK_FALSE(table->loaded(4));
}

// SQLite tells of the columns from its 64th on only that some of them are used, and uses an argument always.
TEST_CASE("the argument of a wide table does not load its last columns") {
    Database base;
    static std::deque<std::string> names;
    static TableSpec wide{"wide_function", "", {}, {{"path", T, ""}}, 1};
    for (int c = 0; c < 70; ++c) {
        names.push_back("c" + std::to_string(c));
        wide.columns.push_back({names.back().c_str(), I, ""});
    }
    auto table = std::make_shared<Table>(std::vector<ColumnType>(70, I),
                                         [](Table& to, const ColumnSet& wanted, LoadContext&) {
                                             wanted.each([&](int c) { to.building(c).add_int(c); });
                                         });
    register_table(*base.connection, wide,
                   std::make_unique<FixedProvider>(std::vector<Part>{whole_table(table)}));
    CHECK(base.text("SELECT path, c3 FROM wide_function('here') WHERE c1 = 1 ORDER BY c2") == "there|i3\n");
    for (const int c : {1, 2, 3}) CHECK(table->loaded(c));
    for (const int c : {0, 4, 61, 62, 63, 69}) CHECK_FALSE(table->loaded(c));
    CHECK(base.text("SELECT c61 FROM wide_function('here')") == "i61\n");
    CHECK_FALSE(table->loaded(69));
    CHECK(base.text("SELECT c62, c69, * FROM wide_function('here')").starts_with("i62|i69|i0|i1|"));
}

TEST_CASE("rowids are unique over parts and lead back to their row") {
    Fixture base;
    CHECK(base.text("SELECT count(DISTINCT rowid), count(*) FROM k") == "i400|i400\n");
    CHECK(base.text("SELECT count(*) FROM k a JOIN k b ON a.rowid = b.rowid WHERE a.profile <> b.profile OR "
                    "a.id <> b.id") == "i0\n");
    CHECK(base.text(
              "SELECT profile, id FROM k WHERE rowid IN (SELECT rowid FROM k WHERE id = 7) ORDER BY rowid") ==
          "tbase|i7\ntcomparison|i7\n");
    CHECK(base.text("SELECT count(*) FROM k WHERE id = 7 OR name = 'name 6' OR rowid = 7") == "i40\n");
}

TEST_CASE("an unknown rank is NULL, and a column that a source lacks too") {
    Database base;
    auto table = std::make_shared<Table>(
        std::vector<ColumnType>{T, I, I, ColumnType::kReal, ColumnType::kAny, ColumnType::kLong},
        [](Table& to, const ColumnSet& wanted, LoadContext&) {
            to.set_rows(3);
            wanted.each([&](int c) { to.set_absent(c); });
        });
    Part part = part_of(table, "x", 0);
    part.constants[1].null = true;
    register_table(*base.connection, spec(), std::make_unique<FixedProvider>(std::vector<Part>{part}));
    CHECK(base.text(
              "SELECT rank, name, dur FROM k WHERE rank IS NULL AND name IS NULL AND dur IS NULL LIMIT 1") ==
          "n|n|n\n");
    CHECK(base.text("SELECT count(*) FROM k WHERE name = 'a' OR dur = 5 OR dur IN (1, 2) OR rank = 0") ==
          "i0\n");
    CHECK(base.text("SELECT count(*) FROM k WHERE name IS NOT NULL") == "i0\n");
    CHECK(base.text("SELECT name, count(*) FROM k GROUP BY name ORDER BY name, dur") == "n|i3\n");
}

// ---- arguments -------------------------------------------------------------------------------------------

namespace {

// numbers(n [, step]): n rows.
struct Numbers : TableProvider {
    std::vector<Part> parts(Connection&, const ScanRequest& request) override {
        const int64_t n = std::stoll(request.arguments[0]);
        const int64_t step = request.given[1] ? std::stoll(request.arguments[1]) : 1;
        auto table = std::make_shared<Table>(std::vector<ColumnType>{I}, nullptr);
        for (int64_t i = 0; i < n; ++i) table->building(0).add_int(i * step);
        table->building(0);
        table->publish();
        ++calls;
        return {whole_table(std::move(table))};
    }
    double expected_rows(Connection&) override { return 10; }
    static int calls;
};
int Numbers::calls = 0;

const TableSpec& numbers_spec() {
    static const TableSpec spec{
        "numbers", "",   {{"value", I, ""}}, {{"n", T, "how many"}, {"step", T, "apart"}}, 1,
        false,     true, "integers"};
    return spec;
}

}  // namespace

TEST_CASE(
    "arguments come by call, by WHERE and from a joined table; a missing one is an error that says which") {
    Database base;
    REQUIRE(register_table(*base.connection, numbers_spec(), std::make_unique<Numbers>()) == SQLITE_OK);
    CHECK(base.text("SELECT * FROM numbers(3)") == "i0\ni1\ni2\n");
    CHECK(base.text("SELECT sum(value) FROM integers(4, 10)") == "i60\n");
    CHECK(base.text("SELECT value, n, step FROM numbers WHERE n = '2' AND step = 5") ==
          "i0|t2|t5\ni5|t2|t5\n");
    CHECK(base.text("WITH c(n) AS (VALUES (1), (2), (2)) SELECT c.n, value FROM c, numbers(c.n)") ==
          "i1|i0\ni2|i0\ni2|i1\ni2|i0\ni2|i1\n");
    CHECK(base.text("WITH c(n) AS (VALUES (1), (2)) SELECT c.n, value FROM numbers(c.n), c") ==
          "i1|i0\ni2|i0\ni2|i1\n");
    CHECK(base.text("SELECT value FROM numbers WHERE n IN (1, 3)") == "i0\ni0\ni1\ni2\n");
    CHECK_THAT(base.text("SELECT * FROM numbers"), Contains("numbers needs its argument n (how many)"));
    CHECK_THAT(base.text("SELECT * FROM numbers(NULL)"), Contains("numbers needs its argument n (how many)"));
    CHECK_THAT(base.text("SELECT * FROM numbers WHERE step = 2"), Contains("numbers needs its argument n"));
}

TEST_CASE("tables that read files work in TEMP views but not in a schema that somebody else wrote") {
    Database base;
    register_table(*base.connection, numbers_spec(), std::make_unique<Numbers>());
    CHECK(base.text("CREATE TEMP VIEW mine AS SELECT * FROM numbers(2)").empty());
    CHECK(base.text("SELECT * FROM mine") == "i0\ni1\n");
    CHECK(base.text("CREATE VIEW theirs AS SELECT * FROM numbers(2)").empty());
    CHECK_THAT(base.text("SELECT * FROM theirs"), Contains("unsafe use of virtual table"));
    Fixture open;
    open.rows("PRAGMA trusted_schema = 0");
    CHECK(open.text("CREATE VIEW shown AS SELECT count(*) FROM k").empty());
    CHECK(open.text("SELECT * FROM shown") == "i400\n");
}

TEST_CASE("made tables take their columns from their arguments") {
    std::deque<std::string> texts;
    Database base;
    const auto maker = [&texts](Connection&, const std::vector<std::string>& arguments) {
        auto made = std::make_unique<MadeTable>();
        if (arguments.empty()) throw Error("profana: made needs names");
        for (const std::string& argument : arguments) {
            texts.push_back(argument);
            made->spec.columns.push_back({texts.back().c_str(), T, ""});
        }
        made->spec.name = "made";
        made->spec.doc = "";
        made->spec.reads_files = true;
        auto table = std::make_shared<Table>(std::vector<ColumnType>(arguments.size(), T), nullptr);
        for (size_t c = 0; c < arguments.size(); ++c)
            table->building(static_cast<int>(c)).add_text(arguments[c]);
        table->publish();
        made->provider = std::make_unique<FixedProvider>(std::vector<Part>{whole_table(std::move(table))});
        return made;
    };
    REQUIRE(register_table_maker(*base.connection, "made", maker) == SQLITE_OK);
    CHECK(base.text("CREATE VIRTUAL TABLE temp.t USING made(Duration(us), \"say \"\"x\"\"\")").empty());
    CHECK(base.text("SELECT \"Duration(us)\" FROM t") == "tDuration(us)\n");
    CHECK_THAT(base.text("CREATE VIRTUAL TABLE temp.u USING made"), Contains("made needs names"));
    CHECK_THAT(base.text("SELECT * FROM made"), Contains("no such table"));
    CHECK(base.text("DROP TABLE t").empty());
}

// ---- values ----------------------------------------------------------------------------------------------

TEST_CASE("texts with NUL bytes and texts that stand in a file come out whole") {
    struct InFile : LongSource {
        std::string read(const LongRef& ref) const override { return "at " + std::to_string(ref.offset); }
    };
    Database base;
    static const TableSpec texts{
        "texts", "", {{"s", T, ""}, {"l", ColumnType::kLong, ""}, {"a", ColumnType::kAny, ""}}, {}};
    auto table =
        std::make_shared<Table>(std::vector<ColumnType>{T, ColumnType::kLong, ColumnType::kAny}, nullptr);
    table->building(0).add_text(std::string_view("a\0b", 3));
    table->building(0).add_text("a");
    table->building(1).add_long(std::string_view("x\0y", 3));
    table->building(1).add_long(LongRef::in_file(77, 5));
    table->building(1).set_long_source(std::make_shared<InFile>());
    table->building(2).add_any_text(std::string_view("\0", 1));
    table->building(2).add_any(AnyValue::of(2.5));
    table->publish();
    register_table(*base.connection, texts,
                   std::make_unique<FixedProvider>(std::vector<Part>{whole_table(table)}));
    CHECK(base.text("SELECT hex(s), hex(l), hex(a) FROM texts") ==
          "t610062|t780079|t00\nt61|t6174203737|t322E35\n");
    CHECK(base.text("SELECT rowid FROM texts WHERE s = 'a' || char(0) || 'b'") == "i1\n");
    for (int n = 0; n < 3; ++n) CHECK(base.text("SELECT rowid FROM texts WHERE l = 'at 77'") == "i2\n");
}

TEST_CASE("texts that SQLite holds outlive the cursor and the table they came from") {
    // A provider whose table is another one at each call, as when a file changes while a statement runs.
    struct Changing : TableProvider {
        std::vector<Part> parts(Connection&, const ScanRequest&) override {
            auto table = std::make_shared<Table>(std::vector<ColumnType>{T, I}, nullptr);
            for (int i = 0; i < 40; ++i) {
                table->building(0).add_text("a text long enough to be worth keeping " +
                                            std::to_string(99 - i));
                table->building(1).add_int(i);
            }
            table->publish();
            Part part = whole_table(std::move(table));
            part.columns = {0, 1, Part::kConstant};
            part.constants.resize(3);
            part.constants[2] = {false, true, 0,
                                 "a constant text that is no short string " + std::to_string(++calls)};
            return {part};
        }
        double expected_rows(Connection&) override { return 40; }
        int calls = 0;
    };
    Database base;
    static const TableSpec changing{"changing", "", {{"s", T, ""}, {"i", I, ""}, {"c", T, ""}}, {}};
    register_table(*base.connection, changing, std::make_unique<Changing>());
    CHECK(base.text("SELECT min(s), min(c) FROM changing WHERE i = 3 OR s = 'a text long enough to be worth "
                    "keeping 70'") ==
          "ta text long enough to be worth keeping 70|ta constant text that is no short string 1\n");
    CHECK(base.text("WITH n(x) AS (VALUES (1), (2), (3)) SELECT min(t) FROM "
                    "(SELECT (SELECT max(s) FROM changing WHERE i > n.x) AS t FROM n)") ==
          "ta text long enough to be worth keeping 95\n");
    CHECK(base.connection->pinned.empty());
    CHECK(base.connection->scans == 0);
}

// ---- loading ---------------------------------------------------------------------------------------------

namespace {

struct Failing : TableProvider {
    explicit Failing(Table::Loader loader)
        : table(std::make_shared<Table>(std::vector<ColumnType>{I}, std::move(loader))) {}
    std::vector<Part> parts(Connection&, const ScanRequest&) override { return {whole_table(table)}; }
    double expected_rows(Connection&) override { return 10; }
    std::shared_ptr<Table> table;
};

const TableSpec& failing_spec() {
    static const TableSpec spec{"failing", "", {{"i", I, ""}}, {}};
    return spec;
}

}  // namespace

TEST_CASE("a loader's error is the statement's, and the next statement tries again") {
    Database base;
    int calls = 0;
    register_table(*base.connection, failing_spec(),
                   std::make_unique<Failing>([&](Table& to, const ColumnSet&, LoadContext&) {
                       if (++calls == 1) throw Error("profana: x.csv: line 3: torn; mend it");
                       to.building(0).add_int(5);
                   }));
    CHECK(base.text("SELECT i FROM failing") == "error: profana: x.csv: line 3: torn; mend it\n");
    CHECK(base.connection->scans == 0);
    CHECK(base.text("SELECT i FROM failing") == "i5\n");
}

TEST_CASE("loading and index building stop when the progress handler says so; the next statement works") {
    Database base;
    register_table(*base.connection, failing_spec(),
                   std::make_unique<Failing>([](Table& to, const ColumnSet&, LoadContext& context) {
                       for (int i = 0; i < 3000; ++i) {
                           std::this_thread::sleep_for(std::chrono::milliseconds(1));
                           context.poll();
                           to.building(0).add_int(i);
                           if (to.building(0).size() == 50 && i == 49) return;
                       }
                   }));
    std::atomic<bool> stop{true};
    sqlite3_progress_handler(
        base.db, 10, [](void* flag) { return static_cast<int>(*static_cast<std::atomic<bool>*>(flag)); },
        &stop);
    CHECK(base.text("SELECT sum(i) FROM failing") == "error: interrupted\n");
    stop = false;
    CHECK(base.text("SELECT sum(i) FROM failing") == "i1225\n");
}

TEST_CASE("the parts of different profiles load side by side") {
    if (std::thread::hardware_concurrency() < 2) return;
    Database base;
    std::atomic<int> arrived{0};
    const auto meet = [&arrived](Table& to, const ColumnSet& wanted, LoadContext& context) {
        ++arrived;
        for (int waited = 0; arrived < 2 && waited < 10000; ++waited) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            context.poll();
        }
        wanted.each([&](int c) { to.building(c).add_int(arrived); });
        to.set_rows(1);
    };
    const std::vector<ColumnType> types{T, I, I, ColumnType::kReal, ColumnType::kAny, ColumnType::kLong};
    register_table(*base.connection, spec(),
                   std::make_unique<FixedProvider>(
                       std::vector<Part>{part_of(std::make_shared<Table>(types, meet), "base", 0),
                                         part_of(std::make_shared<Table>(types, meet), "comparison", 0)}));
    CHECK(base.text("SELECT dur FROM k") == "i2\ni2\n");
}

TEST_CASE("when one of two loads fails, its error is reported and no thread is left") {
    Database base;
    const auto good = [](Table& to, const ColumnSet& wanted, LoadContext& context) {
        for (int i = 0; i < 200 && !context.progress.cancelled(); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        context.poll();
        to.set_rows(0);
        wanted.each([&](int c) { to.building(c); });
    };
    const auto bad = [](Table&, const ColumnSet&, LoadContext&) { throw Error("no disk"); };
    const std::vector<ColumnType> types{T, I, I, ColumnType::kReal, ColumnType::kAny, ColumnType::kLong};
    register_table(*base.connection, spec(),
                   std::make_unique<FixedProvider>(
                       std::vector<Part>{part_of(std::make_shared<Table>(types, good), "base", 0),
                                         part_of(std::make_shared<Table>(types, bad), "comparison", 0)}));
    CHECK(base.text("SELECT dur FROM k") == "error: no disk\n");
}

TEST_CASE("in a UTF-16 database texts are sorted by SQLite, whose order is another one there") {
    Fixture base;
    Database utf16;
    utf16.rows("PRAGMA encoding = 'UTF-16le'");
    utf16.rows("CREATE TABLE t(x)");
    register_table(*utf16.connection, spec(),
                   std::make_unique<FixedProvider>(std::vector<Part>{part_of(base.tables[0], "x", 0)}));
    CHECK_THAT(utf16.plan("SELECT id FROM k ORDER BY name"), Contains("TEMP B-TREE"));
    CHECK_THAT(utf16.plan("SELECT id FROM k ORDER BY dur"), !Contains("TEMP B-TREE"));
    CHECK_THAT(utf16.plan("SELECT id FROM k WHERE name = 'a'"), Contains("name = ?"));
    CHECK(utf16.text("SELECT count(*) FROM k WHERE name = 'name 3'") == "i20\n");
}

TEST_CASE("the smaller table drives a join") {
    Fixture base(5000);
    TableSpec few = spec();
    few.name = "few";
    const auto table = make_rows(3, std::make_shared<Loads>());
    register_table(*base.connection, few,
                   std::make_unique<FixedProvider>(std::vector<Part>{part_of(table, "base", 0)}));
    base.rows("SELECT count(name), count(dur) FROM k");
    base.rows("SELECT count(name), count(dur) FROM few");
    for (const char* from : {"k JOIN few", "few JOIN k"})
        CHECK_THAT(
            base.plan(std::string("SELECT count(*) FROM ") + from + " ON few.name = k.name"),
            Contains("SCAN few VIRTUAL TABLE INDEX 0:[u8]\nSCAN k VIRTUAL TABLE INDEX 0:[t3=u8] name = ?"));
}
