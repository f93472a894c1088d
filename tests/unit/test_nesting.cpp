// The nest functions and the cursor against the walks they stand for, written out step by step over the whole
// list as msprof-analyze compare does them.
#include <random>

#include "tests/unit/sql.h"

using profana::test::Sql;

namespace {

using Rows = std::vector<std::vector<std::string>>;

struct Event {
    int64_t id, start, end;
};

std::string text(int64_t number) {
    return std::to_string(number);
}
std::string text_or_null(int64_t id) {
    return id < 0 ? "NULL" : text(id);
}

class Random {
  public:
    int64_t from(int64_t low, int64_t high) {
        return std::uniform_int_distribution<int64_t>(low, high)(engine_);
    }
    // By rising start; many start together, touch, are empty or outlast what they began in.
    std::vector<Event> events(int64_t most) {
        std::vector<Event> list(static_cast<size_t>(from(0, most)));
        for (Event& event : list) {
            event.start = from(0, 40);
            event.end = event.start + (from(0, 3) == 0 ? from(0, 40) : from(0, 6));
        }
        std::stable_sort(list.begin(), list.end(),
                         [](const Event& a, const Event& b) { return a.start < b.start; });
        for (size_t i = 0; i < list.size(); ++i) list[i].id = static_cast<int64_t>(i);
        return list;
    }
    std::vector<int64_t> times(int64_t most) {
        std::vector<int64_t> list(static_cast<size_t>(from(0, most)));
        for (int64_t& time : list) time = from(-2, 60);
        std::sort(list.begin(), list.end());
        return list;
    }

  private:
    std::mt19937 engine_{99};
};

// A tree as a list of nodes; node 0 is the root that stands for "outside".
struct Node {
    int64_t start, end;
    size_t parent;
    std::vector<size_t> children;
};

std::vector<Node> tree_of(const std::vector<Event>& events) {
    std::vector<Node> tree{{0, 0, 0, {}}};
    size_t cursor = 0;
    for (const Event& event : events) {
        while (cursor != 0 && event.start > tree[cursor].end) cursor = tree[cursor].parent;
        tree[cursor].children.push_back(tree.size());
        tree.push_back({event.start, event.end, cursor, {}});
        cursor = tree.size() - 1;
    }
    return tree;
}

// Descends from the root by the start of the children as long as one strictly contains the time.
int64_t deepest_around(const std::vector<Node>& tree, int64_t time) {
    size_t node = 0;
    while (true) {
        const auto& children = tree[node].children;
        const auto after = std::partition_point(children.begin(), children.end(),
                                                [&](size_t child) { return tree[child].start <= time; });
        if (after == children.begin()) break;
        const size_t child = *std::prev(after);
        if (!(tree[child].start < time && time < tree[child].end)) break;
        node = child;
    }
    return static_cast<int64_t>(node) - 1;
}

void fill(Sql& sql, const std::vector<Event>& events, const std::vector<int64_t>& times) {
    sql.run(
        "DROP TABLE IF EXISTS event; CREATE TABLE event(id, start, end);"
        "DROP TABLE IF EXISTS point; CREATE TABLE point(id INTEGER PRIMARY KEY, time)");
    for (const Event& event : events) {
        sql.run("INSERT INTO event VALUES (" + text(event.id) + "," + text(event.start) + "," +
                text(event.end) + ")");
    }
    for (const int64_t time : times) sql.run("INSERT INTO point(time) VALUES (" + text(time) + ")");
}

// The columns over events and points in one stream, by time.
std::string over_stream(const std::string& columns) {
    std::string query = "SELECT ";
    query.append(columns).append(
        " FROM (SELECT id, start, end, 0 AS is_point FROM event UNION ALL SELECT id, time, NULL, 1 FROM "
        "point) "
        "WINDOW w AS (ORDER BY start, is_point, id ROWS UNBOUNDED PRECEDING)");
    return query;
}

std::string points_only(const std::string& answer) {
    std::string query = "SELECT id, answer FROM (";
    return query.append(over_stream("id, is_point, " + answer + " AS answer"))
        .append(") WHERE is_point ORDER BY id");
}

}  // namespace

TEST_CASE("nest functions: the worked example of an operator tree") {
    Sql sql;
    sql.run(
        "CREATE TABLE op(id, name, start, end); INSERT INTO op VALUES (1,'ProfilerStep#1',1000,2000), "
        "(2,'aten::add',1100,1150), (3,'aten::mul',1150,1200), (4,'aten::matmul',1300,1400), "
        "(5,'aten::mm',1300,1380), (6,'c10d::allreduce_',1500,1540), (7,'aten::div',1600,1640)");
    // aten::mul starts exactly where aten::add ends and becomes its child; of equal starts the first is the
    // parent.
    CHECK(sql.rows("SELECT id, nest_parent(id, start, end) OVER w, nest_depth(id, start, end) OVER w, "
                   "nest_root(id, start, end) OVER w FROM op WINDOW w AS (ORDER BY start, id ROWS UNBOUNDED "
                   "PRECEDING)") == Rows{{"1", "NULL", "0", "1"},
                                         {"2", "1", "1", "1"},
                                         {"3", "2", "2", "1"},
                                         {"4", "1", "1", "1"},
                                         {"5", "4", "2", "1"},
                                         {"6", "1", "1", "1"},
                                         {"7", "1", "1", "1"}});
    // Two steps that touch nest; with one nanosecond between them they do not.
    CHECK(sql.rows(
              "SELECT nest_depth(column1, column2, column3) OVER (ORDER BY column2 ROWS UNBOUNDED PRECEDING) "
              "FROM (VALUES (1, 0, 10), (2, 10, 20), (3, 21, 30))") == Rows{{"0"}, {"1"}, {"0"}});
}

TEST_CASE("nest functions: child outlasts parent, module touches, operator starts with its module") {
    Sql sql;
    sql.run(
        "CREATE TABLE event(id, start, end); INSERT INTO event VALUES (1, 0, 10), (2, 5, 20), (3, 30, 40), "
        "(4, 30, 35); CREATE TABLE point(id, time); INSERT INTO point VALUES (1, 0), (2, 5), (3, 6), (4, "
        "10), "
        "(5, 11), (6, 20), (7, 21), (8, 30), (9, 31), (10, 35), (11, 40)");
    CHECK(
        sql.rows(over_stream("start, nest_parent(id, start, end) OVER w, nest_inside(id, start, end) OVER w, "
                             "nest_root(id, start, end) OVER w, is_point")) ==
        Rows{
            {"0", "NULL", "NULL", "1", "0"},
            {"0", "1", "NULL", "1", "1"},  // starts with 1: attached, not inside
            {"5", "1", "1", "1", "0"},
            {"5", "2", "1", "1", "1"},
            {"6", "2", "2", "1", "1"},
            {"10", "2", "NULL", "1", "1"},  // 1 has ended, so 2 is not reached
            {"11", "2", "NULL", "1", "1"},
            {"20", "2", "NULL", "1", "1"},
            {"21", "NULL", "NULL", "NULL", "1"},
            {"30", "NULL", "NULL", "3", "0"},
            {"30", "3", "NULL", "3", "0"},
            {"30", "4", "NULL", "3", "1"},
            {"31", "4", "4", "3", "1"},
            {"35", "4", "3", "3", "1"},
            {"40", "3", "NULL", "3", "1"},
        });
}

TEST_CASE("nest functions agree with the tree built node by node") {
    Sql sql;
    Random random;
    for (int round = 0; round < 150; ++round) {
        const auto events = random.events(14);
        const auto times = random.times(14);
        fill(sql, events, times);
        const auto tree = tree_of(events);

        Rows expected;
        for (size_t node = 1; node < tree.size(); ++node) {
            int64_t depth = 0;
            size_t root = node;
            for (; tree[root].parent != 0; root = tree[root].parent) ++depth;
            expected.push_back({text(static_cast<int64_t>(node) - 1),
                                text_or_null(static_cast<int64_t>(tree[node].parent) - 1), text(depth),
                                text(static_cast<int64_t>(root) - 1)});
        }
        CHECK(
            sql.rows(
                "SELECT id, nest_parent(id, start, end) OVER w, nest_depth(id, start, end) OVER w, "
                "nest_root(id, start, end) OVER w FROM event WINDOW w AS (ORDER BY start, id ROWS UNBOUNDED "
                "PRECEDING)") == expected);

        Rows inside;
        for (size_t i = 0; i < times.size(); ++i) {
            inside.push_back(
                {text(static_cast<int64_t>(i) + 1), text_or_null(deepest_around(tree, times[i]))});
        }
        CHECK(sql.rows(points_only("nest_inside(id, start, end) OVER w")) == inside);

        // the same tree asked row by row, in no order
        const std::string made =
            "(SELECT nest_tree(id, start, end) FROM (SELECT * FROM event ORDER BY id % 3))";
        CHECK(sql.rows("SELECT id, nest_tree_parent(" + made + ", id) FROM event ORDER BY id") ==
              sql.rows("SELECT id, nest_parent(id, start, end) OVER (ORDER BY start, id ROWS UNBOUNDED "
                       "PRECEDING) FROM event ORDER BY id"));
        CHECK(sql.rows("SELECT id, nest_tree_inside(" + made + ", time) FROM point ORDER BY id") == inside);
        CHECK(sql.rows("SELECT id, nest_tree_at(" + made + ", time) FROM point ORDER BY id") ==
              sql.rows(points_only("nest_parent(id, start, end) OVER w")));
        sql.run("UPDATE event SET end = NULL WHERE id % 4 = 1");  // points among the events
        CHECK(sql.rows("SELECT id, nest_tree_parent(" + made + ", id) FROM event ORDER BY id") ==
              sql.rows("SELECT id, nest_parent(id, start, end) OVER (ORDER BY start, id ROWS UNBOUNDED "
                       "PRECEDING) FROM event ORDER BY id"));
        CHECK(sql.rows("SELECT id, nest_tree_inside(" + made + ", time) FROM point ORDER BY id") ==
              sql.rows(points_only("nest_inside(id, start, end) OVER w")));
    }
}

TEST_CASE("nest_within agrees with a look at all events") {
    Sql sql;
    Random random;
    for (int round = 0; round < 150; ++round) {
        // Intervals that contain each other or are disjoint: cut in two at random, over and over.
        std::vector<Event> events{{0, 0, 40}};
        for (size_t i = 0; i < events.size() && events.size() < 20; ++i) {
            const Event event = events[i];
            const int64_t cut = random.from(event.start, event.end);
            if (random.from(0, 3) > 0) events.push_back({0, random.from(event.start, cut), cut});
            if (random.from(0, 3) > 0) events.push_back({0, cut, random.from(cut, event.end)});
        }
        std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
            return a.start != b.start ? a.start < b.start : a.end > b.end;
        });
        Rows expected;
        for (size_t i = 0; i < events.size(); ++i) {
            events[i].id = static_cast<int64_t>(i);
            int64_t innermost = -1;
            for (size_t j = 0; j < i; ++j) {
                if (events[j].end >= events[i].end) innermost = static_cast<int64_t>(j);
            }
            expected.push_back({text(events[i].id), text_or_null(innermost)});
        }
        fill(sql, events, {});
        CHECK(sql.rows(
                  "SELECT id, nest_within(id, start, end) OVER (ORDER BY start, end DESC, id ROWS UNBOUNDED "
                  "PRECEDING) FROM event ORDER BY id") == expected);
    }
}

TEST_CASE("nest_total sums over subtrees") {
    Sql sql;
    Random random;
    for (int round = 0; round < 100; ++round) {
        const auto events = random.events(14);
        fill(sql, events, {});
        const auto tree = tree_of(events);
        std::vector<int64_t> total(tree.size());
        for (size_t node = tree.size() - 1; node > 0; --node) {
            total[node] += tree[node].end - tree[node].start;
            total[tree[node].parent] += total[node];
        }
        Rows expected;
        for (size_t node = 1; node < tree.size(); ++node) {
            expected.push_back({text(static_cast<int64_t>(node) - 1), text(total[node])});
        }
        CHECK(sql.rows("WITH t AS (SELECT id, end - start AS dur, nest_depth(id, start, end) OVER (ORDER BY "
                       "start, id "
                       "ROWS UNBOUNDED PRECEDING) AS depth FROM event) SELECT id, nest_total(dur, depth) "
                       "OVER (ORDER "
                       "BY id DESC ROWS UNBOUNDED PRECEDING) FROM t ORDER BY id") == expected);
    }
    // NULL adds nothing and stays NULL alone; REAL makes the sum REAL; INTEGER overflow is an error as in
    // sum().
    sql.run(
        "CREATE TABLE t(id, value, depth); INSERT INTO t VALUES (1, NULL, 0), (2, NULL, 1), (3, 4, 1), (4, "
        "0.5, 2), "
        "(5, NULL, 0)");
    const std::string totals =
        "SELECT id, nest_total(value, depth) OVER (ORDER BY id DESC ROWS UNBOUNDED PRECEDING) FROM t ORDER "
        "BY id";
    CHECK(sql.rows(totals) == Rows{{"1", "4.5"}, {"2", "NULL"}, {"3", "4.5"}, {"4", "0.5"}, {"5", "NULL"}});
    sql.run("UPDATE t SET value = 9223372036854775807 WHERE id IN (1, 2)");
    CHECK(sql.error(totals) == "nest_total: integer overflow");
}

namespace {

// Launches to cube operators: the cursor over the operators moves on while the operator ends before the
// launch; the launch belongs to it if it has begun. Points in any order.
std::vector<int64_t> covered_by_cursor(const std::vector<Event>& ranges, const std::vector<int64_t>& points) {
    std::vector<int64_t> owners;
    size_t at = 0;
    for (const int64_t point : points) {
        while (at < ranges.size() && ranges[at].end < point) ++at;
        owners.push_back(at < ranges.size() && ranges[at].start <= point ? ranges[at].id : -1);
    }
    return owners;
}

// Tasks to collectives: each operator skips the tasks that start before it and takes those up to its end.
std::vector<int64_t> taken_by_ranges(const std::vector<Event>& ranges, const std::vector<int64_t>& points) {
    std::vector<int64_t> owners(points.size(), -1);
    size_t at = 0;
    for (const Event& range : ranges) {
        while (at < points.size() && points[at] < range.start) ++at;
        for (; at < points.size() && points[at] <= range.end; ++at) owners[at] = range.id;
    }
    return owners;
}

Rows numbered(const std::vector<int64_t>& owners) {
    Rows rows;
    for (size_t i = 0; i < owners.size(); ++i) {
        rows.push_back({text(static_cast<int64_t>(i) + 1), text_or_null(owners[i])});
    }
    return rows;
}

}  // namespace

TEST_CASE("cursor_cover agrees with the walks over launches and over tasks") {
    Sql sql;
    Random random;
    for (int round = 0; round < 150; ++round) {
        const auto ranges = random.events(12);
        const auto points = random.times(14);
        fill(sql, ranges, points);
        const Rows found = sql.rows(points_only("cursor_cover(id, end, iif(is_point, start, NULL)) OVER w"));
        CHECK(found == numbered(covered_by_cursor(ranges, points)));
        CHECK(found == numbered(taken_by_ranges(ranges, points)));
    }
}

TEST_CASE("cursor_cover serves points in another order than time by their running maximum") {
    Sql sql;
    Random random;
    for (int round = 0; round < 150; ++round) {
        const auto ranges = random.events(12);
        auto points = random.times(14);
        std::shuffle(points.begin(), points.end(), std::mt19937(static_cast<unsigned>(round)));
        fill(sql, ranges, points);
        CHECK(
            sql.rows(
                "WITH asked AS (SELECT id, time, max(time) OVER (ORDER BY id) AS latest FROM point), "
                "stream AS (SELECT id, start AS time, end, NULL AS point, 0 AS is_point FROM event UNION ALL "
                "SELECT id, latest, NULL, latest, 1 FROM asked), "
                "stood AS (SELECT id, is_point, cursor_cover(id, end, point) OVER (ORDER BY time, is_point, "
                "id "
                "ROWS UNBOUNDED PRECEDING) AS range_id FROM stream) "
                "SELECT asked.id, event.id FROM asked JOIN stood ON stood.is_point AND stood.id = asked.id "
                "LEFT JOIN event ON event.id = stood.range_id AND event.start <= asked.time ORDER BY "
                "asked.id") == numbered(covered_by_cursor(ranges, points)));
    }
}

TEST_CASE("tasks of fused kernels: a cursor over points, for ranges in any order, is plain SQL") {
    // Range k takes the points within it that lie behind the latest end of the ranges before it.
    const std::string taken =
        "WITH r AS (SELECT id, start, end, max(end) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 "
        "PRECEDING) AS passed FROM event) SELECT point.id, r.id FROM point LEFT JOIN r ON time BETWEEN start "
        "AND end "
        "AND time > ifnull(passed, -1e9) ORDER BY point.id";
    Sql sql;
    Random random;
    for (int round = 0; round < 150; ++round) {
        auto ranges = random.events(12);
        std::shuffle(ranges.begin(), ranges.end(), std::mt19937(static_cast<unsigned>(round)));
        for (size_t i = 0; i < ranges.size(); ++i) ranges[i].id = static_cast<int64_t>(i);
        const auto points = random.times(14);
        fill(sql, ranges, points);
        CHECK(sql.rows(taken) == numbered(taken_by_ranges(ranges, points)));
    }
    // A fused kernel from 1300 to 1400 with tasks ending at 1315, 1345 and 1365: the first two are a pair
    // of 30.
    fill(sql, {{0, 1300, 1400}}, {1315, 1345, 1365});
    CHECK(sql.rows("WITH taken AS (" + taken +
                   "), paired AS (SELECT time, row_number() OVER (ORDER BY time) AS n, lead(time) OVER "
                   "(ORDER BY time) "
                   "AS next FROM taken JOIN point USING (id)) SELECT sum(next - time) FROM paired WHERE n % "
                   "2 = 1") == Rows{{"30"}});
}

TEST_CASE("nest functions: partitions, unknown times, wrong calls") {
    Sql sql;
    const std::string parent = "SELECT column1, nest_parent(column1, column2, column3) OVER ";
    // Each partition has its own stack: an operator is nested among those of its module.
    CHECK(sql.rows(parent +
                   "(PARTITION BY column4 ORDER BY column2 ROWS UNBOUNDED PRECEDING) FROM (VALUES (1, 0, 9, "
                   "'a'), (2, 1, 8, 'b'), (3, 2, 3, 'a'), (4, 2, 3, 'b')) ORDER BY column1") ==
          Rows{{"1", "NULL"}, {"2", "NULL"}, {"3", "1"}, {"4", "2"}});
    // Without a start there is no place; an end before the start counts as the start.
    CHECK(sql.rows(parent +
                   "(ORDER BY column2 ROWS UNBOUNDED PRECEDING) FROM (VALUES (1, NULL, 9), (2, 5, 4), (3, 5, "
                   "7), (4, 6, 6)) ORDER BY column1") ==
          Rows{{"1", "NULL"}, {"2", "NULL"}, {"3", "2"}, {"4", "3"}});
    CHECK(sql.error(parent +
                    "(ORDER BY column2 DESC ROWS UNBOUNDED PRECEDING) FROM (VALUES (1, 1, 9), (2, 5, 6))") ==
          "nest_parent: rows must come by rising time, but 1 follows 5; order the window by it");
    CHECK(sql.error(parent + "(ORDER BY column2 ROWS UNBOUNDED PRECEDING) FROM (VALUES (NULL, 1, 9))") ==
          "nest_parent: argument id is NULL; accepted: an INTEGER");
    CHECK(sql.error(parent + "(ORDER BY column2 ROWS UNBOUNDED PRECEDING) FROM (VALUES (1, 'x', 9))") ==
          "nest_parent: argument start is TEXT 'x'; accepted: an INTEGER");
    CHECK(sql.error(parent +
                    "(ORDER BY column2 ROWS 1 PRECEDING) FROM (VALUES (1, 1, 9), (2, 2, 9), (3, 3, 4))") ==
          "nest functions take the window frame ROWS UNBOUNDED PRECEDING only");
    CHECK(sql.error("SELECT cursor_cover(1, NULL, column1) OVER (ORDER BY column1 DESC ROWS UNBOUNDED "
                    "PRECEDING) FROM "
                    "(VALUES (1), (2))") ==
          "cursor_cover: rows must come by rising time, but 1 follows 2; order the window by it");
    CHECK(sql.error("SELECT nest_total(1, NULL) OVER ()") ==
          "nest_total: argument depth is NULL; accepted: an INTEGER");
}

TEST_CASE("nest_find agrees with a look at all ranges, in any order of asking") {
    Sql sql;
    sql.run(
        "CREATE TEMP TABLE range(k TEXT, id INTEGER, s INTEGER, e INTEGER); CREATE TEMP TABLE ask(k, s, e)");
    std::mt19937 random(7);  // fixed seed
    // properly nested: every range is cut out of one before it, or stands alone
    struct Range {
        int64_t start, end;
    };
    for (const char* key : {"a", "b"}) {
        std::vector<Range> ranges{{0, 100000}};
        for (int i = 0; i < 300; ++i) {
            const Range outer = ranges[random() % ranges.size()];
            const int64_t width = outer.end - outer.start;
            if (width < 4) continue;
            const int64_t start = outer.start + static_cast<int64_t>(random() % (width / 2 + 1));
            const int64_t end = start + static_cast<int64_t>(random() % (outer.end - start + 1));
            const bool crosses = std::any_of(ranges.begin(), ranges.end(), [&](const Range& r) {
                return (r.start < start && start <= r.end && r.end < end) ||
                       (start < r.start && r.start <= end && end < r.end) ||
                       (r.start == start && r.end == end);
            });
            if (!crosses) ranges.push_back({start, end});
        }
        for (size_t i = 0; i < ranges.size(); ++i)
            sql.run("INSERT INTO range VALUES ('" + std::string(key) + "', " + std::to_string(i) + ", " +
                    std::to_string(ranges[i].start) + ", " + std::to_string(ranges[i].end) + ")");
        for (int i = 0; i < 300; ++i) {
            const int64_t start = static_cast<int64_t>(random() % 100010),
                          length = static_cast<int64_t>(random() % 50);
            sql.run("INSERT INTO ask VALUES ('" + std::string(key) + "', " + std::to_string(start) + ", " +
                    std::to_string(start + length) + ")");
        }
    }
    // the shortest range that contains the question is the innermost one
    CHECK(sql.integer("SELECT count(*) FROM (SELECT nest_find((SELECT nest_index(id, s, e, k) FROM range), "
                      "s, e, k) AS found, "
                      "(SELECT r.id FROM range AS r WHERE r.k = ask.k AND r.s <= ask.s AND r.e >= ask.e "
                      "  ORDER BY r.e - r.s LIMIT 1) AS shortest FROM ask) WHERE found IS NOT shortest") ==
          0);
    CHECK(
        sql.integer(
            "SELECT count(nest_find((SELECT nest_index(id, s, e, k) FROM range), s, e, k)) > 100 FROM ask") ==
        1);
    CHECK(sql.integer("SELECT count(*) FROM range") > 100);
}

TEST_CASE("nest_find climbs deep nests by jumps, and takes points as a map") {
    Sql sql;
    // 20000 ranges around one another; what ends with range i lies in it and not in i + 1
    sql.run(
        "CREATE TEMP TABLE range AS WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i "
        "< 19999) "
        "SELECT i AS id, i AS s, 100000 - i AS e FROM n");
    CHECK(sql.integer("SELECT count(*) FROM range AS r WHERE nest_find((SELECT nest_index(id, s, e) FROM "
                      "range), 50000, r.e) IS NOT r.id") == 0);
    CHECK(sql.integer("SELECT nest_find((SELECT nest_index(100 + s, s, s, 'k') FROM range), 17, 17, 'k')") ==
          117);
    CHECK(
        sql.is_null("SELECT nest_find((SELECT nest_index(100 + s, s, s, 'k') FROM range), 17, 17, 'other')"));
    CHECK(
        sql.is_null("SELECT nest_find((SELECT nest_index(id, s, e, 'k') FROM range WHERE 0), 17, 17, 'k')"));
    CHECK(sql.is_null("SELECT nest_find((SELECT nest_index(id, s, e, 'k') FROM range), NULL, 17, 'k')"));
    CHECK(sql.integer("SELECT nest_find((SELECT nest_index(5, 1, column1, 'k') FROM (VALUES (NULL), (9))), "
                      "2, 3, 'k')") == 5);
    CHECK_THAT(
        sql.error("SELECT nest_find(x'00', 1, 2, 'k')"),
        Catch::Contains("nest_find: argument index is BLOB of 1 bytes; accepted: what nest_index() gives"));
    CHECK_THAT(sql.error("SELECT nest_find(NULL, 1, 2, 'k')"), Catch::Contains("argument index is NULL"));
    CHECK_THAT(sql.error("WITH i AS MATERIALIZED (SELECT nest_index(id, s, e, 'k') AS i FROM range) SELECT "
                         "nest_find(i, 1, 2, 'k') FROM i"),
               Catch::Contains("cannot be stored"));
    CHECK_THAT(sql.error("SELECT nest_index('x', 1, 2, 'k')"),
               Catch::Contains("nest_index: argument id is TEXT 'x'"));
    CHECK_THAT(sql.error("SELECT nest_index(1, 2)"),
               Catch::Contains("nest_index: takes an id, a start and an end"));
    CHECK_THAT(sql.error("SELECT nest_index(1, 2, 3, 4.5)"),
               Catch::Contains("nest_index: argument key is REAL 4.5; accepted: a TEXT, an INTEGER or NULL"));
}

TEST_CASE("nest_find tells keys apart by all of them, NULL being a key like any other") {
    Sql sql;
    sql.run(
        "CREATE TEMP TABLE range AS SELECT column1 AS id, column2 AS a, column3 AS b FROM (VALUES (1, 'x', "
        "1), (2, 'x', 2), "
        "(3, 'x', NULL), (4, NULL, 1), (5, '1', 1), (6, 1, 1), (7, 'x1', NULL))");
    CHECK(sql.integer("SELECT count(*) FROM range AS r WHERE nest_find((SELECT nest_index(id, 0, 9, a, b) "
                      "FROM range), 1, "
                      "2, r.a, r.b) IS NOT r.id") == 0);
    CHECK(sql.is_null("SELECT nest_find((SELECT nest_index(id, 0, 9, a, b) FROM range), 1, 2, 'x')"));
}

TEST_CASE("nest_tree: the worked example, keys, unknown times and wrong calls") {
    Sql sql;
    sql.run(
        "CREATE TABLE event(k, id, s, e); INSERT INTO event VALUES ('a', 1, 0, 10), ('a', 2, 5, 20), "
        "('a', 4, 30, 35), ('a', 3, 30, 40), ('b', 5, 0, 100), (NULL, 6, 50, 60), ('a', 7, NULL, 9), ('a', "
        "8, 6, NULL), ('a', 0, 31, NULL)");
    const std::string tree = "(SELECT nest_tree(id, s, e, k) FROM event)";
    // of 3 and 4, which start together, the smaller id is above; 2 began in 1 and outlasts it; 0 and 8 are
    // points
    CHECK(sql.rows("SELECT id, nest_tree_parent(" + tree + ", id, k) FROM event ORDER BY id") ==
          Rows{{"0", "4"},
               {"1", "NULL"},
               {"2", "1"},
               {"3", "NULL"},
               {"4", "3"},
               {"5", "NULL"},
               {"6", "NULL"},
               {"7", "NULL"},
               {"8", "2"}});
    CHECK(sql.rows("SELECT column1, nest_tree_at(" + tree + ", column1, 'a'), nest_tree_inside(" + tree +
                   ", column1, 'a') FROM (VALUES (-1), (0), (5), (6), (10), (11), (20), (21), (30), (31), "
                   "(35), (40), (41))") == Rows{{"-1", "NULL", "NULL"},
                                                {"0", "1", "NULL"},
                                                {"5", "2", "1"},
                                                {"6", "2", "2"},
                                                {"10", "2", "NULL"},
                                                {"11", "2", "NULL"},
                                                {"20", "2", "NULL"},
                                                {"21", "NULL", "NULL"},
                                                {"30", "4", "NULL"},
                                                {"31", "4", "4"},
                                                {"35", "4", "3"},
                                                {"40", "3", "NULL"},
                                                {"41", "NULL", "NULL"}});
    CHECK(sql.integer("SELECT nest_tree_at(" + tree + ", 55, NULL)") == 6);
    CHECK(sql.is_null("SELECT nest_tree_at(" + tree + ", 55, 'c')"));
    CHECK(sql.is_null("SELECT nest_tree_at(" + tree + ", NULL, 'a')"));
    CHECK(sql.is_null("SELECT nest_tree_parent(" + tree + ", 4, 'b')"));
    CHECK(sql.is_null("SELECT nest_tree_at((SELECT nest_tree(1, 2, 3) FROM event WHERE 0), 2)"));
    // to the ends of time
    CHECK(sql.integer("SELECT nest_tree_inside((SELECT nest_tree(1, -9223372036854775807, "
                      "9223372036854775807)), 0)") == 1);
    CHECK(sql.integer("SELECT nest_tree_at((SELECT nest_tree(1, 5, 9223372036854775807)), "
                      "9223372036854775807)") == 1);
    CHECK(sql.error("SELECT nest_tree(1, 2)") == "nest_tree: takes an id, a start and an end at least");
    CHECK(sql.error("SELECT nest_tree_at((SELECT nest_tree(1, 2, 3)))") ==
          "nest_tree_at: takes a tree and a time at least");
    CHECK(sql.error("SELECT nest_tree_parent((SELECT nest_tree(1, 2, 3)), 'x')") ==
          "nest_tree_parent: argument id is TEXT 'x'; accepted: an INTEGER");
    CHECK_THAT(sql.error("SELECT nest_tree_inside((SELECT nest_index(1, 2, 3)), 2)"),
               Catch::Contains("nest_tree_inside: argument tree is NULL; accepted: what nest_tree() gives"));
}

TEST_CASE("ordered_concat joins in the order asked for") {
    Sql sql;
    CHECK(sql.text("SELECT ordered_concat(column1, '>', column2, column3) FROM (VALUES ('d', 2, 1), ('b', 1, "
                   "2), ('a', 1, 1), "
                   "('none', NULL, 0), (NULL, 0, 0), (3, 2, 0))") == "none>a>b>3>d");
    CHECK(sql.text("SELECT ordered_concat(column1, '', 0, 0) FROM (VALUES ('x'), ('y'), ('z'))") ==
          "xyz");  // as they come
    CHECK(sql.text("SELECT ordered_concat(column1, '', column2, column3, column4, 0) FROM (VALUES ('d', 1, "
                   "1, 2), ('c', 1, 1, "
                   "1), ('a', 0, 9, 9), ('b', 1, NULL, 7))") == "abcd");
    CHECK(sql.text("SELECT ordered_concat(column1, '', column2) FROM (VALUES ('y', 2), ('x', 1))") == "xy");
    CHECK_THAT(sql.error("SELECT ordered_concat('x', '')"), Catch::Contains("one key at least"));
    CHECK_THAT(sql.error("SELECT ordered_concat('x', '', 1, 2, 3, 4, 5, 6, 7)"),
               Catch::Contains("6 keys at most"));
    CHECK(sql.is_null("SELECT ordered_concat(NULL, ',', 1, 1)"));
    CHECK(sql.is_null("SELECT ordered_concat('x', ',', 1, 1) WHERE 0"));
    CHECK_THAT(sql.error("SELECT ordered_concat('x', ',', 'first', 1)"),
               Catch::Contains("ordered_concat: argument first is TEXT 'first'; accepted: an INTEGER"));
    CHECK_THAT(sql.error("SELECT ordered_concat('x', NULL, 1, 1)"),
               Catch::Contains("argument separator is NULL"));
}
