// The columnar store: blocks, dictionaries, columns, loading on demand, indexes and orders.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <random>
#include <thread>

#include "ext/core/index.h"
#include "ext/core/store.h"

using namespace profana;

namespace {

struct Loading {
    Progress progress;
    Diagnostics diagnostics;
    LoadContext context{progress, diagnostics};
};

ColumnSet columns(std::initializer_list<int> list) {
    ColumnSet set;
    for (int c : list) set.add(c);
    return set;
}

// A table of one column with the given values, filled by hand.
template <class Add>
std::shared_ptr<Table> table_of(ColumnType type, size_t rows, Add add) {
    auto table = std::make_shared<Table>(std::vector<ColumnType>{type}, nullptr);
    for (size_t i = 0; i < rows; ++i) add(table->building(0), i);
    table->building(0);
    table->publish();
    return table;
}

PageVector<Row> rows_in(const Index& index, Index::Range range) {
    PageVector<Row> rows;
    for (size_t i = range.first; i < range.last; ++i) rows.push_back(index.row(i));
    return rows;
}

}  // namespace

TEST_CASE("rows of another column, of every type, in the order asked for", "[store]") {
    const PageVector<Row> rows = {2, 0, 1, 2};
    Column ints(ColumnType::kInt), reals(ColumnType::kReal), texts(ColumnType::kText), anys(ColumnType::kAny),
        longs(ColumnType::kLong);
    for (const int64_t value : {int64_t{7}, kNullInt, int64_t{-1}}) ints.add_int(value);
    for (const double value : {0.5, kNullReal, -2.0}) reals.add_real(value);
    texts.add_text("b"), texts.add_null(), texts.add_text("a");
    anys.add_any(AnyValue::of(int64_t{3})), anys.add_any_text("x"), anys.add_null();
    longs.add_long("long one"), longs.add_null(), longs.add_long("long two");
    Column some_ints(ColumnType::kInt), some_reals(ColumnType::kReal), some_texts(ColumnType::kText),
        some_anys(ColumnType::kAny), some_longs(ColumnType::kLong);
    some_texts.add_text("a");  // what the column has already keeps its code
    some_ints.add_rows(ints, rows), some_reals.add_rows(reals, rows), some_texts.add_rows(texts, rows);
    some_anys.add_rows(anys, rows), some_longs.add_rows(longs, rows);
    for (size_t i = 0; i < rows.size(); ++i) {
        const auto at = static_cast<Row>(i);
        CHECK(some_ints.integer(at) == ints.integer(rows[i]));
        CHECK(some_reals.is_null(at) == reals.is_null(rows[i]));
        if (!reals.is_null(rows[i])) CHECK(some_reals.real(at) == reals.real(rows[i]));
        CHECK(some_texts.text(at + 1) == texts.text(rows[i]));
        CHECK(some_texts.is_null(at + 1) == texts.is_null(rows[i]));
        CHECK(some_anys.any(at).kind == anys.any(rows[i]).kind);
        CHECK(some_longs.is_null(at) == longs.is_null(rows[i]));
        if (!longs.is_null(rows[i])) CHECK(some_longs.long_text(at) == longs.long_text(rows[i]));
    }
    CHECK(some_texts.code(0) == some_texts.code(1));
    CHECK(some_anys.any(1).integer == 3);
    CHECK(some_anys.dictionary().text(some_anys.any(2).code) == "x");
}

TEST_CASE("blocks keep values over the borders of blocks and count their bytes") {
    const uint64_t before = counted_bytes();
    {
        Blocks<int64_t> blocks;
        std::vector<int64_t> values(3 * Blocks<int64_t>::kSize + 5);
        std::iota(values.begin(), values.end(), -7);
        blocks.push_back(values[0]);
        blocks.append(values.data() + 1, values.size() - 1);
        REQUIRE(blocks.size() == values.size());
        bool same = true;
        for (size_t i = 0; i < values.size(); ++i) same = same && blocks[i] == values[i];
        CHECK(same);
        CHECK(blocks.piece(10).size() == Blocks<int64_t>::kSize - 10);
        CHECK(blocks.piece(values.size() - 2).size() == 2);
        CHECK(blocks.piece(values.size()).empty());
        CHECK(blocks.bytes() == 4 * Blocks<int64_t>::kSize * sizeof(int64_t));
        CHECK(counted_bytes() - before == blocks.bytes());
        Blocks<int64_t> few;
        few.push_back(1);
        CHECK(few.bytes() <= 64);
    }
    CHECK(counted_bytes() == before);
}

TEST_CASE("a dictionary gives codes in order of first appearance and never moves texts") {
    Dictionary dictionary;
    const uint32_t a = dictionary.intern("alpha");
    const char* text = dictionary.c_str(a);
    CHECK(a == 1);
    CHECK(dictionary.intern("") == 2);
    CHECK(dictionary.intern(std::string_view()) == 2);
    CHECK(dictionary.intern(std::string_view("a\0b", 3)) == 3);
    CHECK(dictionary.intern(std::string_view("a\0", 2)) == 4);
    CHECK(dictionary.intern("a") == 5);
    for (int i = 0; i < 100000; ++i)
        REQUIRE(dictionary.intern("text " + std::to_string(i)) == 6u + static_cast<uint32_t>(i));
    CHECK(dictionary.size() == 100006);
    CHECK(dictionary.c_str(a) == text);
    CHECK(dictionary.intern("alpha") == a);
    CHECK(dictionary.find("text 99999") == 100005);
    CHECK(dictionary.find("text 100000") == kNullCode);
    CHECK(dictionary.text(3) == std::string_view("a\0b", 3));
    CHECK(dictionary.has_nul(3));
    CHECK_FALSE(dictionary.has_nul(a));
    CHECK(std::string(dictionary.c_str(6)) == "text 0");
    CHECK(dictionary.c_str(kNullCode) == nullptr);
    const std::string longer(3 << 20, 'x');
    CHECK(dictionary.text(dictionary.intern(longer)) == longer);
    CHECK(dictionary.text(dictionary.intern("after")) == "after");
}

TEST_CASE("ranks of a dictionary follow the bytes of the texts") {
    Loading loading;
    Dictionary dictionary;
    std::vector<std::string> texts;
    std::mt19937 random(1);
    for (int i = 0; i < 3000; ++i) {
        std::string text(random() % 3 == 0 ? "common prefix " : "");
        for (size_t n = random() % 12; n > 0; --n) text.push_back("ab\0\x7f\xff"[random() % 5]);
        texts.push_back(text);
        dictionary.intern(text);
    }
    std::sort(texts.begin(), texts.end());
    texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
    const PageVector<uint32_t> ranks = dictionary_ranks(dictionary, loading.context);
    REQUIRE(ranks.size() == texts.size() + 1);
    CHECK(ranks[kNullCode] == 0);
    for (size_t i = 0; i < texts.size(); ++i) REQUIRE(ranks[dictionary.find(texts[i])] == i + 1);
}

TEST_CASE("an integer is compared with a double exactly") {
    const int64_t big = (int64_t{1} << 53) + 1;  // has no double
    CHECK(compare(big, 9007199254740992.0) == 1);
    CHECK(compare(big, 9007199254740994.0) == -1);
    CHECK(compare(int64_t{4}, 4.5) == -1);
    CHECK(compare(int64_t{-4}, -4.5) == 1);
    CHECK(compare(int64_t{5}, 5.0) == 0);
    CHECK(compare(std::numeric_limits<int64_t>::max(), 9223372036854775808.0) == -1);
    CHECK(compare(std::numeric_limits<int64_t>::min(), -9223372036854775808.0) == 0);
    CHECK(compare(int64_t{0}, -std::numeric_limits<double>::infinity()) == 1);
}

TEST_CASE("a table loads what is asked for, once, and stays as it was when a loader fails") {
    Loading loading;
    int calls = 0;
    bool fail = false;
    Table table({ColumnType::kInt, ColumnType::kText, ColumnType::kReal},
                [&](Table& to, const ColumnSet& wanted, LoadContext&) {
                    ++calls;
                    if (wanted.has(0))
                        for (int i = 0; i < 3; ++i) to.building(0).add_int(i);
                    if (fail) throw Error("disk on fire");
                    if (wanted.has(1))
                        for (int i = 0; i < 3; ++i) to.building(1).add_text("t");
                    if (wanted.has(2)) to.set_absent(2);
                    if (wanted.empty()) to.set_rows(3);
                });
    CHECK_FALSE(table.rows_known());
    table.ensure_rows(loading.context);
    CHECK(table.rows() == 3);
    fail = true;
    CHECK_THROWS_AS(table.ensure(columns({0, 1}), loading.context), Error);
    CHECK_FALSE(table.loaded(0));
    CHECK(table.bytes() == 0);
    fail = false;
    table.ensure(columns({0, 2}), loading.context);
    CHECK(table.loaded(0));
    CHECK_FALSE(table.loaded(1));
    CHECK(table.absent(2));
    table.ensure(columns({0, 2}), loading.context);
    CHECK(calls == 3);
    table.ensure(columns({0, 1}), loading.context);
    CHECK(calls == 4);
    CHECK(table.column(1).text(2) == "t");
    CHECK(table.column(0).integer(2) == 2);
}

TEST_CASE("columns of different length and forgotten columns are a loader's mistake, not a broken table") {
    Loading loading;
    Table uneven({ColumnType::kInt, ColumnType::kInt}, [](Table& to, const ColumnSet&, LoadContext&) {
        to.building(0).add_int(1);
        to.building(1);
    });
    CHECK_THROWS_AS(uneven.ensure(columns({0, 1}), loading.context), std::logic_error);
    CHECK_FALSE(uneven.loaded(0));
    Table lazy({ColumnType::kInt}, [](Table& to, const ColumnSet&, LoadContext&) { to.set_rows(1); });
    CHECK_THROWS_AS(lazy.ensure(columns({0}), loading.context), std::logic_error);
    Table huge({ColumnType::kInt},
               [](Table& to, const ColumnSet&, LoadContext&) { to.set_rows(kMaxRows + 1); });
    CHECK_THROWS_WITH(huge.ensure_rows(loading.context), Catch::Contains("4294967296 rows"));
}

TEST_CASE("loading stops at the memory limit with an error that names it, and the table stays empty") {
    Loading loading;
    const uint64_t before = counted_bytes();
    loading.context.memory_limit_bytes = before + (4 << 20);
    Table table({ColumnType::kInt}, [&](Table& to, const ColumnSet&, LoadContext& context) {
        for (int i = 0; i < 100'000'000; ++i) {
            to.building(0).add_int(i);
            if ((i & 0xFFFF) == 0) context.poll();
        }
    });
    CHECK_THROWS_WITH(table.ensure(columns({0}), loading.context), Catch::Contains("memory_limit"));
    CHECK(table.bytes() == 0);
    CHECK(counted_bytes() == before);
}

TEST_CASE("a waiting thread stops when it is interrupted, while the loading one goes on") {
    Loading first, second;
    std::atomic<bool> inside{false}, release{false};
    Table table({ColumnType::kInt}, [&](Table& to, const ColumnSet&, LoadContext&) {
        inside = true;
        while (!release) std::this_thread::yield();
        to.building(0).add_int(7);
    });
    std::thread loader([&] { table.ensure(columns({0}), first.context); });
    while (!inside) std::this_thread::yield();
    second.progress.cancel();
    CHECK_THROWS_AS(table.ensure(columns({0}), second.context), Error);
    release = true;
    loader.join();
    CHECK(table.column(0).integer(0) == 7);
}

TEST_CASE("an index over integers answers equality and ranges as a sorted list does") {
    Loading loading;
    const auto shape = GENERATE(0, 1, 2, 3, 4);  // dense, sparse, sorted, with far outliers, all equal
    std::mt19937_64 random(static_cast<unsigned>(shape) + 5);
    std::vector<int64_t> values;
    for (int i = 0; i < 5000; ++i) {
        int64_t value = static_cast<int64_t>(random() % 700) - 300;
        if (shape == 1) value = static_cast<int64_t>(random());
        if (shape == 2) value = i / 3;
        if (shape == 3 && i % 50 == 0) value = i % 100 == 0 ? INT64_MAX : INT64_MIN + 1;
        if (shape == 4) value = 42;
        if (shape != 2 && i % 17 == 0) value = kNullInt;
        values.push_back(value);
    }
    const auto table =
        table_of(ColumnType::kInt, values.size(), [&](Column& c, size_t i) { c.add_int(values[i]); });
    const Index& index = table->index(0, loading.context);
    PageVector<Row> sorted(values.size());
    std::iota(sorted.begin(), sorted.end(), 0);
    std::stable_sort(sorted.begin(), sorted.end(), [&](Row a, Row b) { return values[a] < values[b]; });
    REQUIRE(rows_in(index, {0, index.size()}) == sorted);
    CHECK(index.order().empty() == (shape == 2));
    CHECK(index.nulls().size() == static_cast<size_t>(std::count(values.begin(), values.end(), kNullInt)));
    std::vector<int64_t> distinct = values;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    CHECK(index.distinct() == distinct.size() - (distinct[0] == kNullInt));

    std::vector<int64_t> probes = {0, 1, -301, 400, INT64_MAX, INT64_MIN + 1, 41, 43, 1666, 1667};
    for (int i = 0; i < 200; ++i) probes.push_back(values[random() % values.size()]);
    const auto below = [&](auto less) {
        return static_cast<size_t>(std::count_if(values.begin(), values.end(), less));
    };
    for (int64_t probe : probes) {
        if (probe == kNullInt) continue;
        const size_t lower = below([&](int64_t v) { return v < probe; });
        const size_t upper = below([&](int64_t v) { return v <= probe; });
        REQUIRE(index.first_not_below(probe) == lower);
        REQUIRE(index.first_above(probe) == upper);
        REQUIRE(index.equal(probe).first == lower);
        REQUIRE(index.equal(probe).last == upper);
        const double half = static_cast<double>(probe % 100000) + 0.5;
        const size_t cut = below([&](int64_t v) { return compare(v, half) < 0; });
        REQUIRE(index.first_not_below(half) == cut);
        REQUIRE(index.first_above(half) == cut);
        REQUIRE(index.equal(half).size() == 0);
    }
}

TEST_CASE("indexes over reals, mixed values and texts find equal values and keep SQLite's order") {
    Loading loading;
    std::mt19937 random(3);

    SECTION("reals") {
        const std::vector<double> some = {
            0.0, -0.0, 1.5, -2.25, 1e300, -1e300, kNullReal, INFINITY, -INFINITY, 4.0, 9007199254740992.0};
        std::vector<double> values;
        for (int i = 0; i < 3000; ++i) values.push_back(some[random() % some.size()]);
        const auto table =
            table_of(ColumnType::kReal, values.size(), [&](Column& c, size_t i) { c.add_real(values[i]); });
        const Index& index = table->index(0, loading.context);
        const auto count = [&](double x) {
            return static_cast<size_t>(std::count(values.begin(), values.end(), x));
        };
        for (double x : some)
            if (!std::isnan(x)) CHECK(index.equal(x).size() == count(x));
        CHECK(index.equal(int64_t{4}).size() == count(4.0));
        CHECK(index.equal((int64_t{1} << 53) + 1).size() == 0);
        CHECK(index.equal(int64_t{0}).size() == count(0.0));
        CHECK(index.distinct() == 9);
        for (size_t i = index.nulls().last + 1; i < index.size(); ++i)
            REQUIRE(values[index.row(i - 1)] <= values[index.row(i)]);
        CHECK(index.first_above(INFINITY) == index.size());
    }

    SECTION("mixed") {
        const auto table = table_of(ColumnType::kAny, 3000, [&](Column& c, size_t) {
            switch (random() % 5) {
                case 0:
                    return c.add_null();
                case 1:
                    return c.add_any(AnyValue::of(int64_t{1} << 53));
                case 2:
                    return c.add_any(AnyValue::of(static_cast<int64_t>(random() % 9) - 4));
                case 3:
                    return c.add_any(AnyValue::of((static_cast<double>(random() % 9) - 4) / 2));
                default:
                    return c.add_any_text(random() % 2 == 0 ? "b" : random() % 2 == 0 ? "" : "a");
            }
        });
        const Column& column = table->column(0);
        const Index& index = table->index(0, loading.context);
        for (size_t i = 1; i < index.size(); ++i) {
            const int order = compare(cell_of(column, index.row(i - 1)), cell_of(column, index.row(i)));
            REQUIRE((order < 0 || (order == 0 && index.row(i - 1) < index.row(i))));
        }
        for (double probe : {-4.0, -2.0, 0.5, 1.0, 9007199254740992.0, 77.0}) {
            const auto equal = [&](Row r) {
                const AnyValue& v = column.any(r);
                return (v.kind == AnyValue::kInteger && compare(v.integer, probe) == 0) ||
                       (v.kind == AnyValue::kDouble && v.real == probe);
            };
            size_t expected = 0;
            for (Row r = 0; r < table->rows(); ++r) expected += equal(r);
            CHECK(index.equal(probe).size() == expected);
        }
        for (const char* text : {"a", "b", "", "c"}) {
            size_t expected = 0;
            for (Row r = 0; r < table->rows(); ++r)
                expected += column.any(r).kind == AnyValue::kString &&
                            column.dictionary().text(column.any(r).code) == text;
            const Index::Range range = index.equal(std::string_view(text));
            CHECK(range.size() == expected);
            if (expected > 0)
                CHECK(range.first >= index.first_above(std::numeric_limits<double>::infinity()));
        }
    }

    SECTION("texts and long texts") {
        std::vector<std::string> values;
        for (int i = 0; i < 4000; ++i) values.push_back("text " + std::to_string(random() % 300));
        for (ColumnType type : {ColumnType::kText, ColumnType::kLong}) {
            const auto table = table_of(type, values.size(), [&](Column& c, size_t i) {
                if (i % 10 == 0) return c.add_null();
                if (type == ColumnType::kText)
                    c.add_text(values[i]);
                else
                    c.add_long(values[i]);
            });
            const Index& index = table->index(0, loading.context);
            CHECK(index.nulls().size() == 400);
            for (int n = 0; n < 301; ++n) {
                const std::string text = "text " + std::to_string(n);
                PageVector<Row> expected;
                for (Row r = 0; r < values.size(); ++r)
                    if (r % 10 != 0 && values[r] == text) expected.push_back(r);
                REQUIRE(rows_in(index, index.equal(std::string_view(text))) == expected);
            }
        }
    }
}

TEST_CASE("orders by several columns equal a stable sort") {
    Loading loading;
    std::mt19937 random(9);
    Table table({ColumnType::kText, ColumnType::kInt, ColumnType::kReal, ColumnType::kAny}, nullptr);
    for (int i = 0; i < 5000; ++i) {
        if (random() % 9 == 0)
            table.building(0).add_null();
        else
            table.building(0).add_text(std::string(random() % 3, static_cast<char>('a' + random() % 3)));
        table.building(1).add_int(random() % 7 == 0 ? kNullInt : static_cast<int64_t>(random() % 5) - 2);
        table.building(2).add_real(random() % 7 == 0 ? kNullReal : static_cast<double>(random() % 5) - 1.5);
        if (random() % 2 == 0)
            table.building(3).add_any(AnyValue::of(static_cast<int64_t>(random() % 4)));
        else
            table.building(3).add_any_text(random() % 2 == 0 ? "x" : "y");
    }
    table.publish();
    const std::vector<std::vector<OrderTerm>> cases = {{{0, false}},
                                                       {{0, true}},
                                                       {{1, true}, {0, false}},
                                                       {{3, false}, {2, true}, {0, true}},
                                                       {{2, false}},
                                                       {{3, true}},
                                                       {{0, false}, {1, false}, {2, false}}};
    for (const auto& terms : cases) {
        PageVector<Row> expected(table.rows());
        std::iota(expected.begin(), expected.end(), 0);
        std::stable_sort(expected.begin(), expected.end(), [&](Row a, Row b) {
            for (const OrderTerm& term : terms) {
                const int order =
                    compare(cell_of(table.column(term.column), a), cell_of(table.column(term.column), b));
                if (order != 0) return term.descending ? order > 0 : order < 0;
            }
            return false;
        });
        CHECK(table.order(terms, loading.context)->rows() == expected);
        for (size_t some : {size_t{40}, size_t{4000}}) {
            PageVector<Row> rows(some);
            std::iota(rows.begin(), rows.end(), 0);
            sort_by(table, terms, rows, loading.context);
            PageVector<Row> part;
            std::copy_if(expected.begin(), expected.end(), std::back_inserter(part),
                         [&](Row r) { return r < some; });
            CHECK(rows == part);
        }
    }
    CHECK(table.order(cases[0], loading.context) == table.order(cases[0], loading.context));
    CHECK(table.bytes() > 5000 * (4 + 8 + 8 + 16));
}

TEST_CASE("building an index can be interrupted and tried again") {
    struct Stopping : Progress {
        int polls = 0;
        bool interrupted() override { return ++polls > 1; }
    };
    std::mt19937_64 random(2);
    const auto table = table_of(ColumnType::kInt, 3'000'000,
                                [&](Column& c, size_t) { c.add_int(static_cast<int64_t>(random() >> 1)); });
    Stopping progress;
    Diagnostics diagnostics;
    LoadContext context{progress, diagnostics};
    CHECK_THROWS_AS(table->index(0, context), Error);
    Loading loading;
    CHECK(table->index(0, loading.context).size() == 3'000'000);
}
