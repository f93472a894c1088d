// Matching two sequences: against a literal port of the rule for small inputs, and at sizes where the literal
// rule would not end.
#include <chrono>
#include <fstream>
#include <numeric>
#include <optional>
#include <random>

#include "ext/core/range_successor.h"
#include "ext/core/sequence_match.h"
#include "ext/core/suffix_array.h"
#include "tests/unit/sql.h"

using namespace profana;
using profana::test::Sql;

namespace {

class NeverStops : public Progress {};

// The rule as it is written down: look at every pair of positions for the longest common block, of equals the
// first in base, then the first in comparison; then left and right of it.
void literal_blocks(const Items& a, const Items& b, int32_t a0, int32_t a1, int32_t b0, int32_t b1,
                    std::vector<MatchedBlock>& blocks) {
    MatchedBlock best;
    for (int32_t i = a0; i < a1; ++i) {
        for (int32_t j = b0; j < b1; ++j) {
            int32_t k = 0;
            while (i + k < a1 && j + k < b1 && a[static_cast<size_t>(i + k)] == b[static_cast<size_t>(j + k)])
                ++k;
            if (k > best.length) best = {i, j, k};
        }
    }
    if (best.length == 0) return;
    literal_blocks(a, b, a0, best.base, b0, best.comparison, blocks);
    blocks.push_back(best);
    literal_blocks(a, b, best.base + best.length, a1, best.comparison + best.length, b1, blocks);
}

std::vector<MatchedBlock> literal_blocks(const Items& a, const Items& b) {
    std::vector<MatchedBlock> blocks;
    literal_blocks(a, b, 0, static_cast<int32_t>(a.size()), 0, static_cast<int32_t>(b.size()), blocks);
    return blocks;
}

int64_t longest_common_subsequence(const Items& a, const Items& b) {
    std::vector<int64_t> before(b.size() + 1, 0), row(b.size() + 1, 0);
    for (const int32_t item : a) {
        for (size_t j = 0; j < b.size(); ++j)
            row[j + 1] = item == b[j] ? before[j] + 1 : std::max(row[j], before[j + 1]);
        before = row;
    }
    return before.back();
}

int64_t matched(const std::vector<MatchedBlock>& blocks) {
    return std::accumulate(blocks.begin(), blocks.end(), int64_t{0},
                           [](int64_t sum, const MatchedBlock& block) { return sum + block.length; });
}

// Blocks in order, disjoint on both sides, of equal items.
bool sound(const std::vector<MatchedBlock>& blocks, const Items& a, const Items& b) {
    int32_t base = 0, comparison = 0;
    for (const MatchedBlock& block : blocks) {
        if (block.length <= 0 || block.base < base || block.comparison < comparison) return false;
        base = block.base + block.length;
        comparison = block.comparison + block.length;
        if (static_cast<size_t>(base) > a.size() || static_cast<size_t>(comparison) > b.size()) return false;
        if (!std::equal(a.begin() + block.base, a.begin() + base, b.begin() + block.comparison)) return false;
    }
    return true;
}

class Random {
  public:
    int32_t below(int32_t end) { return std::uniform_int_distribution<int32_t>(0, end - 1)(engine_); }
    Items items(int32_t size, int32_t names) {
        Items list(static_cast<size_t>(size));
        for (int32_t& item : list) item = below(names);
        return list;
    }
    // The same list with some items taken out, put in or replaced.
    Items changed(Items list, int32_t changes, int32_t names) {
        for (int32_t i = 0; i < changes && !list.empty(); ++i) {
            const auto at = list.begin() + below(static_cast<int32_t>(list.size()));
            const int32_t kind = below(3);
            if (kind == 0) {
                list.erase(at);
            } else if (kind == 1) {
                list.insert(at, below(names));
            } else {
                *at = below(names);
            }
        }
        return list;
    }
    Items periodic(int32_t size, int32_t period, int32_t names) {
        const Items unit = items(period, names);
        Items list(static_cast<size_t>(size));
        for (size_t i = 0; i < list.size(); ++i) list[i] = unit[i % unit.size()];
        return list;
    }

  private:
    std::mt19937 engine_{7};
};

void check_small(const Items& a, const Items& b) {
    NeverStops progress;
    const auto blocks = match_blocks(a, b, progress);
    const auto subsequence = match_subsequence(a, b, progress);
    INFO(Catch::Detail::stringify(a) << " and " << Catch::Detail::stringify(b));
    CHECK(blocks == literal_blocks(a, b));
    CHECK(sound(subsequence, a, b));
    CHECK(matched(subsequence) == longest_common_subsequence(a, b));
}

}  // namespace

TEST_CASE("both methods agree with their definitions on small lists") {
    Random random;
    for (const int32_t names : {1, 2, 3, 5, 20}) {
        for (int round = 0; round < 400; ++round) {
            const Items a = random.items(random.below(24), names);
            check_small(a, random.items(random.below(24), names));
            check_small(a, random.changed(a, random.below(6), names + 1));
            const Items p = random.periodic(random.below(40), 1 + random.below(4), names);
            check_small(p, random.changed(p, random.below(4), names + 1));
        }
    }
}

TEST_CASE("all pairs of lists of two names up to length 5") {
    std::vector<Items> lists;
    for (int32_t size = 0; size <= 5; ++size) {
        for (int32_t bits = 0; bits < 1 << size; ++bits) {
            Items& list = lists.emplace_back();
            for (int32_t i = 0; i < size; ++i) list.push_back(bits >> i & 1);
        }
    }
    for (const Items& a : lists) {
        for (const Items& b : lists) check_small(a, b);
    }
}

TEST_CASE("longer lists, in which gaps hold classes of many positions") {
    Random random;
    NeverStops progress;
    for (int round = 0; round < 12; ++round) {
        const int32_t names = 1 + round % 4;
        const Items a = random.items(300, names), b = random.items(300, names);
        CHECK(match_blocks(a, b, progress) == literal_blocks(a, b));
        const Items p = random.periodic(400, 90, 3), q = random.changed(p, 20, 3);
        CHECK(match_blocks(p, q, progress) == literal_blocks(p, q));
        const Items c = random.changed(Items(400, 0), 25, 2), d = random.changed(Items(380, 0), 25, 3);
        CHECK(match_blocks(c, d, progress) == literal_blocks(c, d));
        CHECK(matched(match_subsequence(a, b, progress)) == longest_common_subsequence(a, b));
    }
}

// Inputs on which the literal rule is quadratic or worse. Each is done within seconds even on a slow machine,
// although it would take the literal rule hours.
TEST_CASE("long lists take little time whatever they repeat") {
    constexpr int32_t kSize = 100000;
    Random random;
    Items numbers(kSize), letters(kSize), comb, reversed;
    std::iota(numbers.begin(), numbers.end(), 0);
    for (int32_t i = 0; i < kSize; ++i) letters[static_cast<size_t>(i)] = i % 2;
    for (int32_t i = 0; i < kSize / 2; ++i) {
        comb.push_back(i);
        comb.push_back(kSize);
    }
    reversed.assign(numbers.rbegin(), numbers.rend());
    Items shifted(letters.begin() + 1, letters.end());
    shifted.push_back(2);
    const Items step = random.items(5000, 60);
    Items steps;
    for (int i = 0; i < 20; ++i) steps.insert(steps.end(), step.begin(), step.end());

    struct Case {
        const char* name;
        Items base, comparison;
        int64_t blocks;  // items matched by blocks; -1: not known without the algorithm
    };
    const Case cases[] = {
        {"equal", steps, steps, kSize},
        {"one name", Items(kSize, 0), Items(kSize / 2, 0), kSize / 2},
        {"two names, shifted", letters, shifted, kSize - 1},
        // Blocks of one item each, every one at the front of what is left.
        {"every other item", numbers, comb, kSize / 2},
        // The first item of base is the last one of comparison: nothing is left to match.
        {"reversed", numbers, reversed, 1},
        {"changed steps", steps, random.changed(steps, 500, 60), -1},
        {"random letters", random.items(kSize, 2), random.items(kSize, 2), -1},
        {"random names", random.items(kSize, 100), random.items(kSize, 100), -1},
        {"long runs", random.changed(Items(kSize, 0), 300, 2), random.changed(Items(kSize, 0), 300, 2), -1},
    };
    NeverStops progress;
    for (const Case& c : cases) {
        INFO(c.name);
        const auto start = std::chrono::steady_clock::now();
        const auto blocks = match_blocks(c.base, c.comparison, progress);
        CHECK(sound(blocks, c.base, c.comparison));
        if (c.blocks >= 0) CHECK(matched(blocks) == c.blocks);
        const auto subsequence = match_subsequence(c.base, c.comparison, progress);
        CHECK(sound(subsequence, c.base, c.comparison));
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        CHECK(seconds.count() < 60);
    }
    // Differences below the bound: exact, as many items as are left after 500 single changes, or more.
    CHECK(matched(match_subsequence(cases[5].base, cases[5].comparison, progress)) >= kSize - 500);
}

TEST_CASE("matching can be interrupted") {
    class Stops : public Progress {
      public:
        bool interrupted() override { return ++asked > 3; }
        int asked = 0;
    };
    Random random;
    const Items a = random.items(50000, 2), b = random.items(50000, 2);
    Stops first, second;
    CHECK_THROWS_WITH(match_blocks(a, b, first), "interrupted");
    CHECK_THROWS_WITH(match_subsequence(a, b, second), "interrupted");
}

TEST_CASE("suffixes are sorted, and common prefixes counted") {
    Random random;
    NeverStops progress;
    for (int round = 0; round < 500; ++round) {
        const int32_t names = 1 + random.below(6);
        std::vector<int32_t> text = round % 2 == 0
                                        ? random.items(random.below(60), names)
                                        : random.periodic(random.below(60), 1 + random.below(5), names);
        for (int32_t& item : text) ++item;
        text.push_back(0);
        std::vector<int32_t> expected(text.size()), rank(text.size());
        std::iota(expected.begin(), expected.end(), 0);
        std::sort(expected.begin(), expected.end(), [&](int32_t a, int32_t b) {
            return std::lexicographical_compare(text.begin() + a, text.end(), text.begin() + b, text.end());
        });
        const auto suffixes = suffix_array(text, names + 1, progress);
        CHECK(suffixes == expected);
        for (size_t r = 0; r < expected.size(); ++r)
            rank[static_cast<size_t>(expected[r])] = static_cast<int32_t>(r);
        const auto common = common_prefixes(text, suffixes, rank, progress);
        for (size_t r = 1; r < expected.size(); ++r) {
            int32_t agree = 0;
            while (text[static_cast<size_t>(expected[r] + agree)] ==
                   text[static_cast<size_t>(expected[r - 1] + agree)]) {
                ++agree;
            }
            CHECK(common[r] == agree);
        }
    }
}

TEST_CASE("the smallest number of a stretch that is not below a bound") {
    Random random;
    for (int round = 0; round < 300; ++round) {
        const int32_t size = 1 + random.below(200), numbers = 1 + random.below(300);
        const std::vector<int32_t> list = random.items(size, numbers);
        const RangeSuccessor successors(list);
        for (int ask = 0; ask < 40; ++ask) {
            const int32_t first = random.below(size + 1), last = random.below(size + 1),
                          bound = random.below(320) - 5;
            std::optional<int32_t> expected;
            for (int32_t i = first; i < last; ++i) {
                const int32_t number = list[static_cast<size_t>(i)];
                if (number >= bound && (!expected || number < *expected)) expected = number;
            }
            CHECK(successors.find(first, last, bound) == expected);
        }
    }
}

using Rows = std::vector<std::vector<std::string>>;

TEST_CASE("sequence_match: rows in the order of the lists") {
    Sql sql;
    const std::string call =
        "SELECT ordinal, base_index, comparison_index FROM sequence_match('[\"a\",\"b\",\"c\",\"d\"]', "
        "'[\"b\",\"x\",\"c\",\"d\"]'";
    const Rows expected{
        {"1", "0", "NULL"}, {"2", "1", "0"}, {"3", "NULL", "1"}, {"4", "2", "2"}, {"5", "3", "3"}};
    CHECK(sql.rows(call + ")") == expected);
    CHECK(sql.rows(call + ", 'block')") == expected);
    CHECK(sql.rows(call + ", NULL)") == expected);
    CHECK(sql.rows(call + ", 'lcs')") == expected);
    // With a renamed to x.
    CHECK(sql.rows("SELECT base_index, comparison_index FROM sequence_match('[\"x\",\"b\",\"c\",\"d\"]', "
                   "'[\"b\",\"x\",\"c\",\"d\"]') ORDER BY ordinal") ==
          Rows{{"NULL", "0"}, {"0", "1"}, {"1", "NULL"}, {"2", "2"}, {"3", "3"}});
    // No longest common subsequence: a b a and b c a match one item by blocks, two as a subsequence.
    const std::string lists = "'[\"a\",\"b\",\"a\"]', '[\"b\",\"c\",\"a\"]'";
    CHECK(sql.rows("SELECT base_index, comparison_index FROM sequence_match(" + lists + ")") ==
          Rows{{"NULL", "0"}, {"NULL", "1"}, {"0", "2"}, {"1", "NULL"}, {"2", "NULL"}});
    CHECK(sql.integer("SELECT count(*) FROM sequence_match(" + lists +
                      ", 'lcs') WHERE base_index IS NOT NULL AND "
                      "comparison_index IS NOT NULL") == 2);
    CHECK(sql.rows("SELECT ordinal, base_index, comparison_index FROM sequence_match('[]', '[1,2]')") ==
          Rows{{"1", "NULL", "0"}, {"2", "NULL", "1"}});
    CHECK(sql.rows("SELECT ordinal, base_index, comparison_index FROM sequence_match('[1]', '[]')") ==
          Rows{{"1", "0", "NULL"}});
    CHECK(sql.rows("SELECT * FROM sequence_match('[]', '[]')").empty());
    CHECK(sql.rows("SELECT * FROM sequence_match(NULL, '[1]')").empty());
    for (const auto& row : sql.rows("EXPLAIN QUERY PLAN " + call + ") ORDER BY ordinal")) {
        CHECK(row.back().find("TEMP B-TREE") == std::string::npos);
    }
}

TEST_CASE("sequence_match: which items are equal") {
    Sql sql;
    const auto equal = [&](const std::string& a, const std::string& b) {
        return sql.integer("SELECT count(*) FROM sequence_match('[" + a + "]', '[" + b + "]')") == 1;
    };
    CHECK(equal("1", "1.0"));
    CHECK(equal("0", "-0.0"));
    CHECK(equal("18446744073709551615", "18446744073709551615"));
    CHECK(equal("\"a\\u0062\"", "\"ab\""));
    CHECK(equal("null", "null"));
    CHECK(equal("2.5", "25e-1"));
    CHECK_FALSE(equal("9007199254740993", "9007199254740992.0"));
    CHECK_FALSE(equal("1", "\"1\""));
    CHECK_FALSE(equal("1", "true"));
    CHECK_FALSE(equal("null", "false"));
    CHECK_FALSE(equal("\"null\"", "null"));
    CHECK_FALSE(equal("\"a\"", "\"A\""));
    CHECK_FALSE(equal("\"\"", "null"));
}

TEST_CASE("sequence_match: wrong calls are told what is accepted") {
    Sql sql;
    CHECK(sql.error("SELECT * FROM sequence_match('[1]')") ==
          "sequence_match: argument comparison_json is missing");
    CHECK(sql.error("SELECT * FROM sequence_match('[1]', '[1]', 'myers')") ==
          "sequence_match: argument method is TEXT 'myers'; accepted: 'block' or 'lcs'");
    CHECK(sql.error("SELECT * FROM sequence_match('[1]', 5)") ==
          "sequence_match: argument comparison_json is INTEGER 5; accepted: a TEXT");
    CHECK_THAT(sql.error("SELECT * FROM sequence_match('[1', '[1]')"),
               Catch::StartsWith("sequence_match: argument base_json is not a JSON array: "));
    CHECK_THAT(sql.error("SELECT * FROM sequence_match('[1]', '{\"a\":1}')"),
               Catch::StartsWith("sequence_match: argument comparison_json is not a JSON array: "));
    CHECK(sql.error("SELECT * FROM sequence_match('[1]', '[1,[2]]')") ==
          "sequence_match: argument comparison_json: item 1 is [2]; accepted: texts, numbers, true, false, "
          "null");
}

TEST_CASE("an operator list matched badly by other tools") {
    Sql sql;
    const auto names = [](const char* file) {
        std::ifstream in(std::string(TEST_DATA) + "/bugs/39-operator-sequence-matching/" + file);
        REQUIRE(in);
        std::string line, json;
        std::getline(in, line);
        while (std::getline(in, line)) {
            json += (json.empty() ? "[\"" : ",\"") + line.substr(line.find(',') + 1) + '"';
        }
        return "'" + json + "]'";
    };
    const std::string lists = names("base.csv") + ", " + names("new.csv");
    const std::string counts =
        "SELECT count(*) FILTER (WHERE comparison_index IS NULL), count(*) FILTER (WHERE base_index IS "
        "NULL), "
        "count(base_index + comparison_index) FROM sequence_match(" +
        lists;
    CHECK(sql.rows(counts + ", 'lcs')") == Rows{{"2", "2", "4"}});
    CHECK(sql.rows(counts + ")") == Rows{{"4", "4", "2"}});
}

TEST_CASE("Lists of sequence_agg match as JSON arrays do, and tell the ids") {
    Sql sql;
    sql.run(
        "CREATE TABLE a AS SELECT column1 AS name, column2 AS id, column3 AS start_ns FROM "
        "(VALUES ('c', 13, 30), ('a', 11, 10), ('b', 12, 20), ('d', 14, 30))");
    sql.run(
        "CREATE TABLE b AS SELECT column1 AS name, column2 AS id, column3 AS start_ns FROM "
        "(VALUES ('d', 24, 4), ('b', 21, 1), ('x', 22, 2), ('c', 23, 3))");
    const std::string lists =
        "(SELECT sequence_agg(name, id, start_ns, id) FROM a), (SELECT sequence_agg(name, id, start_ns, id) "
        "FROM b)";
    // a b c d against b x c d: c d is the longest block, b is left to match before it.
    CHECK(sql.text(
              "SELECT group_concat(coalesce(base_id, '-') || '=' || coalesce(comparison_id, '-'), ' ') FROM "
              "sequence_match(" +
              lists + ")") == "11=- 12=21 -=22 13=23 14=24");
    for (const std::string method : {"block", "lcs"})
        CHECK(sql.integer(
                  "SELECT count(*) FROM (SELECT ordinal, base_index, comparison_index FROM sequence_match(" +
                  lists + ", '" + method +
                  "') EXCEPT SELECT ordinal, base_index, comparison_index FROM "
                  "sequence_match('[\"a\",\"b\",\"c\",\"d\"]', '[\"b\",\"x\",\"c\",\"d\"]', '" +
                  method + "'))") == 0);
    CHECK(sql.integer("SELECT count(*) FROM sequence_match(" + lists +
                      ") WHERE base_index IS NULL AND base_id IS NOT NULL") == 0);
    // Without rows a list is empty; each row of the tables to the left has lists of its own.
    CHECK(sql.text("SELECT group_concat(v.x || ':' || coalesce(m.base_id, '-') || coalesce(m.comparison_id, "
                   "'-'), ' ') FROM "
                   "(SELECT 11 AS x UNION ALL SELECT 24) AS v CROSS JOIN sequence_match((SELECT "
                   "sequence_agg(name, id) FROM a "
                   "WHERE id = v.x), (SELECT sequence_agg(name, id) FROM b WHERE id = v.x)) AS m") ==
          "11:11- 24:-24");
    CHECK(sql.error("SELECT * FROM sequence_match((SELECT sequence_agg(name, id) FROM a), '[1]')") ==
          "sequence_match: one list is of sequence_agg() and the other is not");
    CHECK(sql.integer("SELECT count(*) FROM sequence_match((SELECT sequence_agg(NULL, 1)), (SELECT "
                      "sequence_agg(NULL, 2)))") == 1);
    CHECK(sql.integer("SELECT count(*) FROM sequence_match((SELECT sequence_agg(NULL, 1)), (SELECT "
                      "sequence_agg('', 2)))") == 2);
    CHECK(sql.error("SELECT sequence_agg(5, 1)") ==
          "sequence_agg: argument item is INTEGER 5; accepted: a TEXT");
    CHECK_THAT(sql.error("SELECT sequence_agg('a', 'b')"),
               Catch::StartsWith("sequence_agg: argument id is TEXT 'b'"));
    CHECK_THAT(sql.error("SELECT sequence_agg('a', 1, 'b')"),
               Catch::StartsWith("sequence_agg: argument first is TEXT 'b'"));
    CHECK_THAT(sql.error("SELECT sequence_agg('a')"),
               Catch::StartsWith("sequence_agg: takes an item and an id"));
}

TEST_CASE("run_number counts runs of equal values") {
    Sql sql;
    CHECK(sql.text("SELECT group_concat(run, '') FROM (SELECT run_number(x) OVER (ORDER BY i ROWS UNBOUNDED "
                   "PRECEDING) AS run "
                   "FROM (SELECT column1 AS i, column2 AS x FROM (VALUES (1, 0), (2, 0), (3, 1), (4, NULL), "
                   "(5, NULL), (6, "
                   "0))))") == "112334");
    CHECK_THAT(sql.error("SELECT run_number(x) OVER (ORDER BY x ROWS 1 PRECEDING) FROM (SELECT 1 AS x UNION "
                         "SELECT 2 UNION "
                         "SELECT 3)"),
               Catch::Contains("ROWS UNBOUNDED PRECEDING only"));
}
