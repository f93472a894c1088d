// Random queries on our tables and on ordinary tables with the same rows must give the same answers.
//
// A few seconds by default. PROFANA_DIFFERENTIAL_SECONDS makes it longer, PROFANA_DIFFERENTIAL_SEED names the
// first seed: a failure prints the one that repeats it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <random>

#include "tests/unit/table_fixture.h"

using namespace profana;
using namespace profana_test;

namespace {

// ---- tables ----------------------------------------------------------------------------------------------

const std::vector<std::string> kTexts = {
    "",    "a",   "A",   "abc",      "ABC",           "abd",   "b",    "5",  "5.0",  " 5", "4x",   "-1",
    "1e1", "007", "x%y", "\xC3\xA9", "k\xE2\x84\xAA", "zebra", "NULL", "+5", "0x10", "10", "a\nb", "\x7F"};
const std::vector<int64_t> kIntegers = {0,
                                        1,
                                        -1,
                                        2,
                                        3,
                                        4,
                                        5,
                                        7,
                                        10,
                                        100,
                                        -5,
                                        INT64_MAX,
                                        INT64_MIN + 1,
                                        (int64_t{1} << 53) + 1,
                                        int64_t{1} << 53,
                                        4294967295};
const std::vector<double> kReals = {0.0,   -0.0, 1.0,   4.5,
                                    -0.5,  5.0,  1e300, 9007199254740992.0,
                                    0.125, 10.0, 1e-5,  std::numeric_limits<double>::infinity()};

class Random {
  public:
    Random(uint64_t seed, bool utf16) : engine_(seed), utf16_(utf16) {}
    size_t below(size_t n) { return engine_() % n; }
    bool chance(unsigned percent) { return below(100) < percent; }
    template <class T>
    const T& pick(const std::vector<T>& values) {
        return values[below(values.size())];
    }

    // In a UTF-16 database SQLite itself cannot tell broken UTF-8 apart.
    std::string text() { return !utf16_ && chance(4) ? "\xFF" : pick(kTexts); }
    bool utf16() const { return utf16_; }

  private:
    std::mt19937_64 engine_;
    bool utf16_;
};

// One column of the tables under test and how SQL sees it.
struct TestColumn {
    const char* name;
    ColumnType type;
    const char* declared;
};
const std::vector<TestColumn> kColumns = {
    {"i", ColumnType::kInt, "INTEGER"},      {"small", ColumnType::kInt, "INTEGER"},
    {"sorted", ColumnType::kInt, "INTEGER"}, {"r", ColumnType::kReal, "REAL"},
    {"s", ColumnType::kText, "TEXT"},        {"u", ColumnType::kText, "TEXT"},
    {"any", ColumnType::kAny, ""},           {"l", ColumnType::kLong, "TEXT"}};

void add_random(Column& column, const TestColumn& kind, size_t row, size_t rows, Random& random) {
    const std::string name = kind.name;
    if (name != "sorted" && random.chance(12)) return column.add_null();
    switch (kind.type) {
        case ColumnType::kInt:
            if (name == "small") return column.add_int(static_cast<int64_t>(random.below(6)) - 1);
            if (name == "sorted") return column.add_int(static_cast<int64_t>(row / 3));
            return column.add_int(random.chance(50) ? random.pick(kIntegers)
                                                    : static_cast<int64_t>(random.below(rows)));
        case ColumnType::kReal:
            return column.add_real(random.pick(kReals));
        case ColumnType::kText:
        case ColumnType::kLong: {
            const std::string text = name == "u" && random.chance(70)
                                         ? "text " + std::to_string(random.below(rows))
                                         : random.text();
            return kind.type == ColumnType::kText ? column.add_text(text) : column.add_long(text);
        }
        case ColumnType::kAny:
            if (random.chance(40)) return column.add_any(AnyValue::of(random.pick(kIntegers)));
            if (random.chance(40)) return column.add_any(AnyValue::of(random.pick(kReals)));
            return column.add_any_text(random.text());
    }
}

std::shared_ptr<Table> random_rows(size_t rows, Random& random, bool with_absent) {
    std::vector<ColumnType> types;
    for (const TestColumn& column : kColumns) types.push_back(column.type);
    const uint64_t seed = random.below(1u << 30);
    const bool utf16 = random.utf16();
    return std::make_shared<Table>(types, [=](Table& to, const ColumnSet& wanted, LoadContext&) {
        to.set_rows(rows);
        wanted.each([&](int c) {
            if (with_absent && (c == 1 || c == 4)) return to.set_absent(c);
            Random own(seed + static_cast<uint64_t>(c), utf16);
            to.building(c);
            for (size_t row = 0; row < rows; ++row)
                add_random(to.building(c), kColumns[static_cast<size_t>(c)], row, rows, own);
        });
    });
}

// A table over several parts, with constant columns, or over one without.
std::vector<Part> random_parts(bool several, size_t rows, Random& random) {
    std::vector<Part> parts;
    const size_t n = several ? 3 : 1;
    for (size_t p = 0; p < n; ++p) {
        Part part;
        part.table = random_rows(rows / (p + 1), random, several && p == 1);
        part.columns = {Part::kConstant, Part::kConstant, Part::kRowId};
        part.constants.resize(3 + kColumns.size());
        part.constants[0].null = false;
        part.constants[0].is_text = true;
        part.constants[0].text = p == 2 ? "5" : "base";
        part.constants[1].null = p == 1;
        part.constants[1].integer = static_cast<int64_t>(p) * 4;
        part.id_base = p == 1 ? (int64_t{1} << 32) + 1 : 1;
        for (size_t c = 0; c < kColumns.size(); ++c) part.columns.push_back(static_cast<int>(c));
        parts.push_back(std::move(part));
    }
    return parts;
}

TableSpec spec_of(const char* name) {
    TableSpec spec{name, "rows of a test", {}, {}};
    spec.columns = {
        {"profile", ColumnType::kText, ""}, {"rank", ColumnType::kInt, ""}, {"id", ColumnType::kInt, ""}};
    for (const TestColumn& column : kColumns) spec.columns.push_back({column.name, column.type, ""});
    spec.over_profiles = true;
    return spec;
}

void must(bool good, sqlite3* db) {
    if (!good) throw std::runtime_error(sqlite3_errmsg(db));
}

// The same rows, written value by value from the store, as an ordinary table.
void copy_rows(Database& base, const std::string& name, const std::vector<Part>& parts) {
    std::string columns = "profile TEXT, rank INTEGER, id INTEGER", marks = "?,?,?,?";
    for (const TestColumn& column : kColumns) {
        columns += std::string(", ") + column.name + " " + column.declared;
        marks += ",?";
    }
    must(sqlite3_exec(base.db, ("CREATE TABLE " + name + "(" + columns + ")").c_str(), nullptr, nullptr,
                      nullptr) == SQLITE_OK,
         base.db);
    sqlite3_stmt* insert = nullptr;
    std::string names = "rowid, profile, rank, id";
    for (const TestColumn& column : kColumns) names += std::string(", ") + column.name;
    must(sqlite3_prepare_v2(base.db,
                            ("INSERT INTO " + name + "(" + names + ") VALUES (" + marks + ")").c_str(), -1,
                            &insert, nullptr) == SQLITE_OK,
         base.db);
    LoadContext context = base.connection->load_context();
    for (size_t p = 0; p < parts.size(); ++p) {
        const Part& part = parts[p];
        ColumnSet all;
        for (int c = 0; c < part.table->columns(); ++c) all.add(c);
        part.table->ensure(all, context);
        for (Row row = 0; row < part.table->rows(); ++row) {
            sqlite3_reset(insert);
            sqlite3_clear_bindings(insert);
            sqlite3_bind_int64(insert, 1, (static_cast<int64_t>(p) << 32) + 1 + row);
            sqlite3_bind_text(insert, 2, part.constants[0].text.c_str(), -1, SQLITE_TRANSIENT);
            if (!part.constants[1].null) sqlite3_bind_int64(insert, 3, part.constants[1].integer);
            sqlite3_bind_int64(insert, 4, part.id_base + row);
            for (int c = 0; c < part.table->columns(); ++c) {
                if (part.table->absent(c)) continue;
                const Column& column = part.table->column(c);
                if (column.is_null(row)) continue;
                const std::string long_text =
                    column.type() == ColumnType::kLong ? column.long_text(row) : std::string();
                const Cell cell = column.type() == ColumnType::kLong ? Cell::of(std::string_view(long_text))
                                                                     : cell_of(column, row);
                if (cell.kind == Cell::kInteger) sqlite3_bind_int64(insert, 5 + c, cell.integer);
                if (cell.kind == Cell::kReal) sqlite3_bind_double(insert, 5 + c, cell.real);
                if (cell.kind == Cell::kText)
                    sqlite3_bind_text(insert, 5 + c, cell.text.data(), static_cast<int>(cell.text.size()),
                                      SQLITE_TRANSIENT);
            }
            must(sqlite3_step(insert) == SQLITE_DONE, base.db);
        }
    }
    sqlite3_finalize(insert);
}

// ---- queries ---------------------------------------------------------------------------------------------

std::string quoted(const std::string& text) {
    std::string out = "'";
    for (char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
    return out + "'";
}

// A query over tables named v0, v1, v2 (@ in front), and how its rows may be compared.
struct Query {
    std::string sql;
    size_t ordered_columns = 0;  // the first so many columns are the ORDER BY: their sequence counts
    bool exact = false;          // the sequence of rows counts
};

class Generator {
  public:
    explicit Generator(Random& random) : random_(random) {}

    Query query() {
        Query query;
        aliases_ = {"a"};
        std::string from = "@" + table() + " a";
        if (random_.chance(45)) from += join("b");
        if (random_.chance(10) && aliases_.size() == 2) from += join("c");
        std::string where;
        for (size_t n = random_.below(4); n > 0; --n)
            where += (where.empty() ? " WHERE " : random_.chance(80) ? " AND " : " OR ") + condition();
        if (aliases_.size() == 3 && where.empty()) where = " WHERE a.id < 20";
        const size_t form = random_.below(10);
        if (form < 3) {  // groups
            std::string keys;
            for (size_t n = 1 + random_.below(3); n > 0; --n) keys += (keys.empty() ? "" : ", ") + column();
            query.sql = "SELECT " + keys + ", count(*), min(" + column() + "), max(" + column() +
                        "), sum(a.small), count(DISTINCT " + column() + ") FROM " + from + where +
                        " GROUP BY " + keys;
            if (random_.chance(20)) query.sql += " HAVING count(*) > 1";
            if (random_.chance(40)) order_by(query, keys);
        } else if (form < 5) {
            std::string keys;
            for (size_t n = 1 + random_.below(3); n > 0; --n) keys += (keys.empty() ? "" : ", ") + column();
            query.sql = "SELECT DISTINCT " + keys + " FROM " + from + where;
            if (random_.chance(30)) order_by(query, keys);
        } else if (form < 6) {
            query.sql = "SELECT count(*), min(" + column() + "), max(" + column() +
                        "), total(a.small) FROM " + from + where;
        } else {
            plain(query, from, where);
        }
        return query;
    }

  private:
    std::string table() { return random_.pick<std::string>({"v0", "v1", "v2"}); }

    std::string column(const std::string& alias) {
        static const std::vector<std::string> names = {"profile", "rank", "id", "i",   "small", "sorted",
                                                       "r",       "s",    "u",  "any", "l"};
        return alias + "." + (random_.chance(4) ? "rowid" : random_.pick(names));
    }
    std::string column() { return column(random_.pick(aliases_)); }

    std::string join(const std::string& alias) {
        const std::string kind =
            random_.pick<std::string>({" JOIN ", " LEFT JOIN ", " CROSS JOIN ", " JOIN "});
        const std::string other = random_.pick(aliases_);
        std::string on =
            column(other) + random_.pick<std::string>({" = ", " = ", " = ", " IS "}) + column(alias);
        if (random_.chance(15))
            on = column(alias) + " BETWEEN " + other + ".sorted AND " + other + ".sorted + 2";
        if (random_.chance(30))
            on += " AND " + column(alias) + op() + (random_.chance(50) ? literal() : column(other));
        aliases_.push_back(alias);
        if (random_.chance(20)) on += " AND " + condition();
        return kind + "@" + table() + " " + alias + " ON " + on;
    }

    std::string op() {
        return random_.pick<std::string>(
            {" = ", " = ", " < ", " <= ", " > ", " >= ", " IS ", " IS NOT ", " <> ", " == "});
    }

    std::string literal() {
        switch (random_.below(9)) {
            case 0:
                return "NULL";
            case 1:
                return random_.pick<std::string>({"x''", "x'61'", "x'35'", "x'ff00'"});
            case 2:
            case 3:
                return quoted(random_.text());
            case 4: {
                char buffer[40];
                snprintf(buffer, sizeof buffer, "%.17g", random_.pick(kReals));
                return std::string(buffer) == "inf" ? "9e999" : buffer;
            }
            case 5:
                return random_.pick<std::string>({"'base'", "'5'", "4.5", "'4x'", "'text 3'",
                                                  "-9223372036854775808", "1e19", "4294967297", "0.0",
                                                  "'text 7'"});
            case 6:
                return "CAST(" + literal() + " AS " +
                       random_.pick<std::string>({"INTEGER", "TEXT", "REAL", "BLOB", "NUMERIC"}) + ")";
            default:
                return std::to_string(random_.chance(60) ? static_cast<int64_t>(random_.below(40))
                                                         : random_.pick(kIntegers));
        }
    }

    std::string list() {
        std::string out = "(";
        for (size_t n = random_.below(5) + (random_.chance(90) ? 1 : 0), i = 0; i < n; ++i)
            out += (i > 0 ? ", " : "") + (random_.chance(6) ? column() : literal());
        return out + ")";
    }

    std::string condition() {
        std::string out;
        switch (random_.below(13)) {
            case 0:
            case 1:
            case 2:
                out = column() + op() + literal();
                break;
            case 3:
                out = literal() + op() + column();
                break;
            case 4:
                out = column() + op() + column();
                break;
            case 5:
                out = column() + (random_.chance(80) ? " IN " : " NOT IN ") + list();
                break;
            case 6: {
                const std::string inner = column("q");
                out = column() + " IN (SELECT " + inner + " FROM @" + table() + " q WHERE " + column("q") +
                      op() + (random_.chance(70) ? literal() : column()) + ")";
                break;
            }
            case 7:
                out = column() + " BETWEEN " + literal() + " AND " + literal();
                break;
            case 8:
                out = column() + random_.pick<std::string>({" LIKE ", " NOT LIKE "}) +
                      quoted(random_.pick<std::string>(
                          {"a%", "%b%", "_", "%", "A_C", "5%", "text 1%", "%\xC3\xA9%", "k%", ""}));
                break;
            case 9:
                out = column() + " GLOB " +
                      quoted(random_.pick<std::string>({"a*", "*b*", "?", "*", "[a-c]*", "text 1*", "5*"}));
                break;
            case 10:
                out =
                    column() + random_.pick<std::string>({" IS NULL", " IS NOT NULL", " NOTNULL", " ISNULL"});
                break;
            case 11:
                out = "EXISTS (SELECT 1 FROM @" + table() + " q WHERE " + column("q") + " = " + column() +
                      (random_.chance(50) ? " AND " + column("q") + op() + literal() : "") + ")";
                break;
            default:
                out = column() + op() + literal() + " COLLATE " +
                      random_.pick<std::string>({"NOCASE", "RTRIM", "BINARY"});
        }
        if (random_.chance(15)) out = "NOT (" + out + ")";
        if (random_.chance(15)) out = "(" + out + " OR " + column() + op() + literal() + ")";
        return out;
    }

    std::string direction() {
        return random_.pick<std::string>({"", "", " DESC", " ASC", " NULLS LAST", " DESC NULLS FIRST",
                                          " COLLATE NOCASE", " COLLATE NOCASE DESC"});
    }

    // ORDER BY over the keys, in their order: equal keys are equal rows where they are all there is.
    void order_by(Query& query, const std::string& keys) {
        std::string order;
        size_t columns = 0;
        for (size_t at = 0; at < keys.size();) {
            const size_t comma = std::min(keys.find(", ", at), keys.size());
            order += (order.empty() ? "" : ", ") + keys.substr(at, comma - at) +
                     random_.pick<std::string>({"", " DESC", " NULLS LAST"});
            ++columns;
            at = comma + 2;
        }
        query.sql += " ORDER BY " + order;
        query.ordered_columns = columns;
        query.exact = false;
    }

    void plain(Query& query, const std::string& from, const std::string& where) {
        std::string order, selected;
        const size_t keys = random_.below(4);
        for (size_t k = 0; k < keys; ++k) {
            const std::string key = column();
            std::string how = direction();
            selected += (k > 0 ? ", " : "") + key +
                        (how.find("NOCASE") != std::string::npos ? " COLLATE NOCASE" : "");
            order += (k > 0 ? ", " : "") + key + how;
        }
        for (size_t n = 1 + random_.below(3); n > 0; --n)
            selected += (selected.empty() ? "" : ", ") + column();
        if (random_.chance(5)) selected = "*", query.ordered_columns = 0;
        query.sql = "SELECT " + selected + " FROM " + from + where;
        const bool limit = random_.chance(35);
        if (limit) {  // which rows are left must not depend on ties
            for (const std::string& alias : aliases_) order += (order.empty() ? "" : ", ") + alias + ".rowid";
            query.exact = true;
        } else if (selected != "*" && keys > 0) {
            query.ordered_columns = 0;  // keys compared with NOCASE may differ in bytes
            if (order.find("NOCASE") == std::string::npos) query.ordered_columns = keys;
        }
        if (!order.empty()) query.sql += " ORDER BY " + order;
        if (limit)
            query.sql += " LIMIT " + std::to_string(random_.below(20)) +
                         (random_.chance(50) ? " OFFSET " + std::to_string(random_.below(10)) : "");
    }

    Random& random_;
    std::vector<std::string> aliases_;
};

std::string on_tables(const std::string& sql, const std::string& prefix) {
    std::string out;
    for (char c : sql) out += c == '@' ? prefix : std::string(1, c);
    return out;
}

using Rows = std::vector<std::vector<std::string>>;

// -0.0 and 0.0 are one value to SQL; which of equal values a group shows is left open.
std::string normal(const std::string& value) {
    if (value == "r-0") return "r0";
    return value;
}

// Numbers that are equal but of different type (4 and 4.0 in one group) count as the same.
std::string folded(const std::string& value) {
    if (value.empty() || (value[0] != 'i' && value[0] != 'r')) return value;
    char buffer[64];
    snprintf(buffer, sizeof buffer, "#%.17g",
             value[0] == 'r' ? strtod(value.c_str() + 1, nullptr)
                             : static_cast<double>(strtoll(value.c_str() + 1, nullptr, 10)));
    return std::string(buffer) == "#-0" ? "#0" : buffer;
}

Rows prepared(Rows rows, bool fold) {
    for (auto& row : rows)
        for (auto& value : row) value = fold ? folded(value) : normal(value);
    return rows;
}

bool has_repeated(Rows rows) {
    std::sort(rows.begin(), rows.end());
    return std::adjacent_find(rows.begin(), rows.end()) != rows.end();
}

bool agree(const Query& query, const Rows& ours, const Rows& theirs) {
    const bool error = (!ours.empty() && !ours[0].empty() && ours[0][0].rfind("error: ", 0) == 0) ||
                       (!theirs.empty() && !theirs[0].empty() && theirs[0][0].rfind("error: ", 0) == 0);
    if (error) return ours == theirs;
    const bool folds = query.sql.find("GROUP BY") != std::string::npos ||
                       query.sql.find("DISTINCT") != std::string::npos ||
                       query.sql.find("min(") != std::string::npos;
    Rows a = prepared(ours, folds), b = prepared(theirs, folds);
    if (query.exact) return a == b;
    if (query.sql.find("SELECT DISTINCT") == 0 && has_repeated(b)) {
        // SQLite 3.40 takes a column without a type for constant beside `IS 5` and lets its duplicates
        // through.
        for (Rows* rows : {&a, &b}) {
            std::sort(rows->begin(), rows->end());
            rows->erase(std::unique(rows->begin(), rows->end()), rows->end());
        }
        return a == b;
    }
    if (a.size() != b.size()) return false;
    for (size_t row = 0; row < a.size(); ++row)
        for (size_t c = 0; c < query.ordered_columns; ++c)
            if (folded(a[row][c]) != folded(b[row][c])) return false;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b;
}

bool was_stopped(const Rows& rows) {
    return rows == Rows{{"error: interrupted"}};
}

// Tables with their twins, in a database of their own.
struct World {
    World(uint64_t seed, bool utf16) {
        Random random(seed, utf16);
        if (utf16) base.rows("PRAGMA encoding = 'UTF-16le'");
        const std::vector<size_t> sizes = {random.pick<size_t>({0, 1, 30, 60}), 40 + random.below(60), 90};
        static const std::vector<TableSpec> specs = {spec_of("our_v0"), spec_of("our_v1"), spec_of("our_v2")};
        for (size_t t = 0; t < 3; ++t) {
            std::vector<Part> parts = random_parts(t == 2, sizes[t], random);
            copy_rows(base, "real_v" + std::to_string(t), parts);
            register_table(*base.connection, specs[t], std::make_unique<FixedProvider>(parts));
        }
    }

    // Joins without a condition worth the name take too long: those are stopped and not compared.
    Rows run(const std::string& sql) {
        int calls = 0;
        sqlite3_progress_handler(
            base.db, 1000,
            [](void* counter) { return static_cast<int>(++*static_cast<int*>(counter) > 5000); }, &calls);
        Rows rows = base.rows(sql);
        sqlite3_progress_handler(base.db, 0, nullptr, nullptr);
        return rows;
    }

    Database base;
};

}  // namespace

TEST_CASE("random queries agree with ordinary tables", "[differential]") {
    const char* seconds_text = std::getenv("PROFANA_DIFFERENTIAL_SECONDS");
    const char* seed_text = std::getenv("PROFANA_DIFFERENTIAL_SEED");
    const double seconds = seconds_text != nullptr ? strtod(seconds_text, nullptr) : 3;
    uint64_t seed = seed_text != nullptr ? strtoull(seed_text, nullptr, 10) : 1;
    const auto start = std::chrono::steady_clock::now();
    const auto spent = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    size_t queries = 0, errors = 0, stopped = 0;
    // At least one world, so that a slow machine tests something.
    for (bool first = true; first || spent() < seconds; first = false, ++seed) {
        const bool utf16 = seed % 5 == 0;
        World world(seed, utf16);
        Random random(seed * 7919, utf16);
        for (int n = 0; n < 250; ++n) {
            const Query query = Generator(random).query();
            const Rows theirs = world.run(on_tables(query.sql, "real_"));
            const Rows ours = was_stopped(theirs) ? theirs : world.run(on_tables(query.sql, "our_"));
            ++queries;
            stopped += was_stopped(ours);
            if (was_stopped(ours)) continue;
            errors += !ours.empty() && !ours[0].empty() && ours[0][0].rfind("error: ", 0) == 0;
            if (agree(query, ours, theirs)) continue;
            const auto show = [](const Rows& rows) {
                std::string out = std::to_string(rows.size()) + " rows\n";
                for (size_t i = 0; i < std::min<size_t>(rows.size(), 12); ++i) {
                    for (const auto& value : rows[i]) out += value + " | ";
                    out += "\n";
                }
                return out;
            };
            FAIL("seed " << seed << " query " << n << "\n"
                         << on_tables(query.sql, "our_") << "\n"
                         << world.base.plan(on_tables(query.sql, "our_")) << "ours: " << show(ours)
                         << "theirs: " << show(theirs));
        }
    }
    printf("differential: %zu queries, %zu errors on both sides, %zu stopped\n", queries, errors, stopped);
    CHECK((errors + stopped) * 10 < queries);
}
