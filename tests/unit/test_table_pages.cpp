// Rows from the pages of a database against the rows that SQLite gives: of made-up databases of every page
// size and kind of value, and of the same ones damaged.
#include <catch2/catch.hpp>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "ext/core/ascii.h"
#include "tests/unit/files.h"
#include "tests/unit/sql.h"
#include "vtab/db_file.h"

using namespace profana;

namespace {

using Rows = std::vector<std::string>;

class Loaded {
  protected:
    test::Sql sql;
    TempFolder folder;
};

std::string bits(double real) {
    uint64_t number = 0;
    std::memcpy(&number, &real, sizeof number);
    return std::to_string(number);
}

void execute(sqlite3* db, const std::string& statements) {
    INFO(statements);
    char* message = nullptr;
    const int code = sqlite3_exec(db, statements.c_str(), nullptr, nullptr, &message);
    INFO((message == nullptr ? "" : message));
    CHECK(code == SQLITE_OK);
    sqlite3_free(message);
}

void make_database(const std::string& path, const std::string& statements) {
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
    execute(db, statements);
    sqlite3_close(db);
}

// What SQLite gives of all columns and the rowid; code: SQLITE_DONE, or what stopped it.
Rows sqlite_rows(const std::string& path, const std::string& table, int* code) {
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
    sqlite3_exec(db, "PRAGMA cell_size_check = ON", nullptr, nullptr, nullptr);
    Rows out;
    sqlite3_stmt* statement = nullptr;
    const std::string sql = "SELECT *, rowid FROM " + table + " NOT INDEXED";
    *code = sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr);
    while (*code == SQLITE_OK || *code == SQLITE_ROW) {
        *code = sqlite3_step(statement);
        if (*code != SQLITE_ROW) break;
        std::string& row = out.emplace_back();
        for (int c = 0; c < sqlite3_column_count(statement); ++c) {
            const int type = sqlite3_column_type(statement, c);
            if (type == SQLITE_INTEGER) row += "i" + std::to_string(sqlite3_column_int64(statement, c));
            if (type == SQLITE_FLOAT) row += "r" + bits(sqlite3_column_double(statement, c));
            if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
                const void* bytes = sqlite3_column_blob(statement, c);
                const int n = sqlite3_column_bytes(statement, c);
                row += type == SQLITE_TEXT ? "t" : "b";
                if (n > 0) row.append(static_cast<const char*>(bytes), static_cast<size_t>(n));
            }
            row += "|";
        }
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return out;
}

// The pages of a file, read by the test itself.
class FileBytes : public PageFile {
  public:
    explicit FileBytes(const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        bytes_.assign(std::istreambuf_iterator<char>(in), {});
    }
    bool read(uint64_t offset, unsigned char* to, size_t n) override {
        if (offset > bytes_.size() || n > bytes_.size() - offset) return false;
        std::memcpy(to, bytes_.data() + offset, n);
        return true;
    }

  private:
    std::string bytes_;
};

std::string text_of(const StoredCell& cell) {
    switch (cell.kind) {
        case StoredCell::Kind::kNull:
            return "";
        case StoredCell::Kind::kInteger:
            return "i" + std::to_string(cell.integer);
        case StoredCell::Kind::kReal:
            return "r" + bits(cell.real);
        case StoredCell::Kind::kText:
            return "t" + std::string(cell.bytes);
        case StoredCell::Kind::kBlob:
            return "b" + std::string(cell.bytes);
    }
    return "?";
}

struct Answer {
    Rows rows;
    bool irregular = false;
};

Answer page_rows(const std::string& path, const PageFormat& format, const DbTable& table) {
    FileBytes file(path);
    std::vector<StoredColumn> columns = table.stored;
    columns.emplace_back();  // the rowid
    TablePages pages(file, format, table.root_page, columns);
    Answer out;
    while (pages.next()) {
        std::string& row = out.rows.emplace_back();
        for (size_t c = 0; c < columns.size(); ++c) row += text_of(pages.cells()[c]) + "|";
    }
    out.irregular = pages.irregular();
    return out;
}

class Choices {
  public:
    explicit Choices(unsigned seed) : random_(seed) {}
    size_t below(size_t n) { return random_() % n; }
    bool one_in(size_t n) { return below(n) == 0; }

    std::string literal() {
        switch (below(7)) {
            case 0:
                return "NULL";
            case 1:
                return std::to_string(
                    static_cast<int64_t>((uint64_t{random_()} << 32 | random_()) >> below(64)));
            case 2:
                return "-" + std::to_string(random_() >> below(32));
            case 3:
                return std::to_string(below(2000)) + (one_in(2) ? ".0" : ".625");
            case 4:
                return "zeroblob(" + std::to_string(length()) + ")";
            default:
                return "substr(replace(hex(zeroblob(" + std::to_string(length() / 2 + 1) + ")), '0', '" +
                       std::string(1, static_cast<char>('a' + below(26))) + "'), 1, " +
                       std::to_string(length()) + ")";
        }
    }

  private:
    size_t length() { return one_in(40) ? below(9000) : one_in(3) ? below(400) : below(20); }
    std::mt19937 random_;
};

constexpr int kPageSizes[] = {512, 1024, 4096, 8192, 65536};

// Two tables that grow side by side, so that their pages alternate.
std::string random_database(Choices& choose) {
    constexpr const char* kTypes[] = {"INTEGER",          "TEXT",          "REAL", "NUMERIC", "", "BLOB",
                                      "DOUBLE PRECISION", "FLOATING POINT"};
    std::string sql =
        "PRAGMA page_size = " + std::to_string(kPageSizes[choose.below(std::size(kPageSizes))]) +
        "; PRAGMA auto_vacuum = " + std::to_string(choose.below(3)) + "; BEGIN; CREATE TABLE other(a, b);";
    const size_t columns = 1 + choose.below(choose.one_in(10) ? 200 : 12);
    sql += "CREATE TABLE t(";
    for (size_t c = 0; c < columns; ++c)
        sql += std::string(c > 0 ? ", " : "") + "c" + std::to_string(c) + " " +
               kTypes[choose.below(std::size(kTypes))];
    const bool has_key = choose.one_in(3);
    sql += has_key ? ", k INTEGER PRIMARY KEY);" : ");";
    size_t now = columns;
    for (size_t row = choose.below(choose.one_in(4) ? 3000 : 150); row > 0; --row) {
        if (choose.one_in(200) && now < columns + 5)
            sql += "ALTER TABLE t ADD COLUMN c" + std::to_string(now++) +
                   (choose.one_in(3) ? " DEFAULT 5;" : ";");
        if (choose.one_in(20))
            sql += "INSERT INTO other VALUES (1, zeroblob(" + std::to_string(choose.below(700)) + "));";
        if (choose.one_in(30)) sql += "DELETE FROM t WHERE rowid % 9 = 1;";
        sql += "INSERT INTO t(rowid";
        for (size_t c = 0; c < columns; ++c) sql += ", c" + std::to_string(c);
        sql += ") SELECT ";
        sql += choose.one_in(20) ? "coalesce(min(rowid), 0) - " + std::to_string(1 + choose.below(300))
                                 : "coalesce(max(rowid), 0) + " + std::to_string(1 + choose.below(300));
        for (size_t c = 0; c < columns; ++c) sql += ", " + choose.literal();
        sql += " FROM t;";
    }
    return sql + "COMMIT;" + (choose.one_in(4) ? "VACUUM;" : "");
}

PageFormat format_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    const auto format =
        page_format(read_database_header(reinterpret_cast<const unsigned char*>(bytes.data())), bytes.size());
    REQUIRE(format);
    return *format;
}

bool begins_with(const Rows& rows, const Rows& first) {
    return rows.size() >= first.size() && std::equal(first.begin(), first.end(), rows.begin());
}

constexpr size_t kMostArguments = 100;  // of an SQL function, where SQLite is asked

size_t rows_of_scan(DbFile& file, const DbTable& table, uint64_t* from_pages) {
    Diagnostics diagnostics;
    Progress progress;
    LoadContext context{progress, diagnostics};
    DbScan scan(file, table);
    for (size_t c = 0; c < std::min(table.columns.size(), kMostArguments); ++c) scan.cell({table.columns[c]});
    size_t rows = 0;
    scan.run(context, [&](const DbRow&) { ++rows; });
    *from_pages = scan.rows_from_pages();
    return rows;
}

// Compares a damaged file's rows with those that SQLite gives before it stops; true: its pages were
// irregular.
bool hold_against(const std::string& path, const PageFormat& format, const Rows& expected, int code) {
    DbFile file(path);
    const DbTable* table = file.table("t");
    if (table == nullptr) return false;
    const Answer answer = page_rows(path, format, *table);
    // Of a page that SQLite refuses as a whole no row comes.
    CHECK(begins_with(expected, answer.rows));
    if (code == SQLITE_DONE && !answer.irregular) CHECK(answer.rows.size() == expected.size());
    uint64_t from_pages = 0;
    const size_t rows = rows_of_scan(file, *table, &from_pages);
    if (table->columns.size() <= kMostArguments) CHECK(rows == expected.size());
    return answer.irregular;
}

}  // namespace

TEST_CASE_METHOD(Loaded, "pages give the rows that SQLite gives") {
    size_t whole = 0;
    for (unsigned seed = 1; seed <= 40; ++seed) {
        INFO("seed " << seed);
        Choices choose(seed);
        const std::string path = folder.file(std::to_string(seed) + ".db");
        make_database(path, random_database(choose));
        int code = 0;
        const Rows expected = sqlite_rows(path, "t", &code);
        CHECK(code == SQLITE_DONE);
        DbFile file(path);
        const DbTable* table = file.table("t");
        REQUIRE(table != nullptr);
        REQUIRE(table->is_plain);
        const Answer answer = page_rows(path, format_of(path), *table);
        if (answer.irregular)  // rows older than a column with a default are left to SQLite
            CHECK(begins_with(expected, answer.rows));
        else
            CHECK((answer.rows == expected));
        uint64_t from_pages = 0;
        CHECK(rows_of_scan(file, *table, &from_pages) == expected.size());
        CHECK(from_pages >= answer.rows.size());  // fewer columns, fewer that are missing
        whole += answer.irregular ? 0 : 1;
    }
    CHECK(whole > 20);
}

TEST_CASE_METHOD(Loaded, "of damaged pages come no other rows than SQLite gives") {
    size_t stopped = 0;
    for (unsigned seed = 1; seed <= 20; ++seed) {
        Choices choose(seed);
        const std::string whole = folder.file("whole.db"), path = folder.file("damaged.db");
        std::filesystem::remove(whole);
        make_database(whole, random_database(choose));
        std::ifstream in(whole, std::ios::binary);
        const std::string bytes(std::istreambuf_iterator<char>(in), {});
        const PageFormat format = format_of(whole);
        for (int variant = 0; variant < 12; ++variant) {
            INFO("seed " << seed << " variant " << variant);
            std::string damaged = bytes;
            const size_t pages = bytes.size() / format.page_bytes;
            if (pages < 3) break;
            for (size_t n = 1 + choose.below(4); n > 0; --n) {
                // Mostly in the heads of pages, where it tells.
                const size_t page = 1 + choose.below(pages - 1);
                const size_t at = choose.one_in(2) ? choose.below(40) : choose.below(format.page_bytes);
                damaged[page * format.page_bytes + at] = static_cast<char>(choose.below(256));
            }
            folder.write("damaged.db", damaged);
            int code = 0;
            const Rows expected = sqlite_rows(path, "t", &code);
            try {
                stopped += hold_against(path, format, expected, code) ? 1 : 0;
            } catch (const Error&) {  // the schema is damaged, or a length beyond what SQLite can hold
                CHECK(code != SQLITE_DONE);
            }
        }
    }
    CHECK(stopped > 20);
}

TEST_CASE_METHOD(Loaded, "what is not plain is left to SQLite") {
    const auto from_pages = [&](const std::string& name, const std::string& statements) {
        INFO(name);
        make_database(folder.file(name), statements);
        DbFile file(folder.file(name));
        const DbTable* table = file.table("t");
        REQUIRE(table != nullptr);
        uint64_t rows = 0;
        CHECK(rows_of_scan(file, *table, &rows) == 2);
        return rows;
    };
    const std::string two = "; INSERT INTO t(a) VALUES (1), (2)";
    CHECK(from_pages("plain.db", "CREATE TABLE t(a, b)" + two) == 2);
    CHECK(from_pages("key.db", "CREATE TABLE t(a INTEGER PRIMARY KEY, b)" + two) == 2);
    CHECK(from_pages("descending.db", "CREATE TABLE t(a INTEGER PRIMARY KEY DESC, b)" + two) == 2);
    CHECK(from_pages("twice.db", "CREATE TABLE t(a INTEGER, b, PRIMARY KEY(a, a))" + two) == 2);
    CHECK(from_pages("without.db", "CREATE TABLE t(a PRIMARY KEY) WITHOUT ROWID" + two) == 0);
    CHECK(from_pages("generated.db", "CREATE TABLE t(a, b AS (a + 1))" + two) == 0);
    CHECK(from_pages("utf16.db", "PRAGMA encoding = 'UTF-16'; CREATE TABLE t(a, b)" + two) == 0);
    CHECK(from_pages("rowid.db", "CREATE TABLE t(a, rowid)" + two) == 0);
    CHECK(from_pages("older.db", "CREATE TABLE t(a)" + two + "; ALTER TABLE t ADD COLUMN b DEFAULT 7") == 0);
    CHECK(from_pages("null.db", "CREATE TABLE t(a)" + two + "; ALTER TABLE t ADD COLUMN b") == 2);
    // A log that is empty is none: the file alone is read.
    CHECK(from_pages("wal.db", "PRAGMA journal_mode = WAL; CREATE TABLE t(a)" + two) == 2);
}

TEST_CASE_METHOD(Loaded, "a write-ahead log in use is left to SQLite") {
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(folder.file("a.db").c_str(), &db) == SQLITE_OK);
    execute(db, "PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (3)");
    {
        DbFile file(folder.file("a.db"));
        uint64_t from_pages = 0;
        CHECK(rows_of_scan(file, *file.table("t"), &from_pages) == 3);
        CHECK(from_pages == 0);
    }
    sqlite3_close(db);
}

TEST_CASE_METHOD(Loaded, "a log counts where the header says there is none, and behind a symbolic link") {
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(folder.file("a.db").c_str(), &db) == SQLITE_OK);
    execute(db, "PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)");
    execute(db,
            "PRAGMA wal_checkpoint(TRUNCATE); DELETE FROM t");  // the file has two rows, file and log none
    const auto rows = [&](const std::string& path) {
        DbFile file(path);
        uint64_t from_pages = 0;
        const size_t found = rows_of_scan(file, *file.table("t"), &from_pages);
        CHECK(from_pages == 0);
        return found;
    };
    CHECK(rows(folder.file("a.db")) == 0);
    std::filesystem::create_symlink(folder.file("a.db"), folder.file("link.db"));
    CHECK(rows(folder.file("link.db")) == 0);
    std::filesystem::copy_file(folder.file("a.db"), folder.file("b.db"));
    std::filesystem::copy_file(folder.file("a.db-wal"), folder.file("b.db-wal"));
    sqlite3_close(db);
    std::fstream header(folder.file("b.db"), std::ios::binary | std::ios::in | std::ios::out);
    header.seekp(18);
    header.write("\1\1", 2);
    header.close();
    CHECK(rows(folder.file("b.db")) == 0);
}

TEST_CASE_METHOD(Loaded, "a cache that the host's connections share is not ours") {
    sqlite3_enable_shared_cache(1);
    sqlite3* host = nullptr;
    REQUIRE(sqlite3_open(folder.file("a.db").c_str(), &host) == SQLITE_OK);
    execute(
        host,
        "CREATE TABLE t(a); INSERT INTO t VALUES (1); CREATE TABLE u(a); BEGIN; INSERT INTO u VALUES (1)");
    DbFile file(folder.file("a.db"));
    sqlite3_enable_shared_cache(0);
    uint64_t from_pages = 0;
    CHECK(rows_of_scan(file, *file.table("t"), &from_pages) == 1);
    CHECK(rows_of_scan(file, *file.table("u"), &from_pages) == 0);  // as committed
    execute(host, "ROLLBACK");
    sqlite3_close(host);
}

TEST_CASE_METHOD(Loaded, "rows before a read that fails are given, and no others") {
    // 40 rows of 700 bytes in pages of 512: each has an overflow page. Every read in turn fails.
    std::string statements = "PRAGMA page_size = 512; CREATE TABLE t(a, b); BEGIN;";
    for (int i = 0; i < 40; ++i)
        statements += "INSERT INTO t VALUES (" + std::to_string(i) + ", zeroblob(700));";
    make_database(folder.file("a.db"), statements + "COMMIT");
    DbFile file(folder.file("a.db"));
    const DbTable* table = file.table("t");
    REQUIRE(table != nullptr);

    class Failing : public PageFile {
      public:
        Failing(const std::string& path, int good) : bytes_(path), good_(good) {}
        bool read(uint64_t offset, unsigned char* to, size_t n) override {
            return good_-- > 0 && bytes_.read(offset, to, n);
        }

      private:
        FileBytes bytes_;
        int good_;
    };
    for (int good = 0;; ++good) {
        INFO(good << " reads succeed");
        Failing failing(folder.file("a.db"), good);
        TablePages pages(failing, format_of(folder.file("a.db")), table->root_page, table->stored);
        int64_t rows = 0;
        for (; pages.next(); ++rows) {
            CHECK(pages.cells()[0].integer == rows);
            CHECK(pages.cells()[1].bytes == std::string(700, '\0'));
        }
        CHECK(pages.irregular() == (rows < 40));
        if (rows == 40) break;
        REQUIRE(good < 200);
    }
}

TEST_CASE_METHOD(Loaded, "long rows are polled by their bytes") {
    make_database(
        folder.file("a.db"),
        "CREATE TABLE t(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100)"
        "INSERT INTO t SELECT zeroblob(1000000) FROM n");
    class Stop : public Progress {
      public:
        bool interrupted() override { return ++polls > 5; }
        int polls = 0;
    } stop;
    Diagnostics diagnostics;
    LoadContext context{stop, diagnostics};
    DbFile file(folder.file("a.db"));
    DbScan scan(file, *file.table("t"));
    scan.cell({"a"});
    int rows = 0;
    CHECK_THROWS_WITH(scan.run(context, [&](const DbRow&) { ++rows; }), "interrupted");
    CHECK(rows < 50);
}

TEST_CASE_METHOD(Loaded, "a key that has an index of its own is no rowid") {
    make_database(folder.file("a.db"),
                  "CREATE TABLE t(a INTEGER, PRIMARY KEY(a, a)); INSERT INTO t VALUES (7);"
                  "CREATE TABLE u(a INTEGER PRIMARY KEY DESC); INSERT INTO u VALUES (8);"
                  "CREATE TABLE v(a INTEGER PRIMARY KEY); INSERT INTO v VALUES (9)");
    DbFile file(folder.file("a.db"));
    Diagnostics diagnostics;
    Progress progress;
    LoadContext context{progress, diagnostics};
    std::vector<int64_t> found;
    for (const char* name : {"t", "u", "v"}) {
        DbScan scan(file, *file.table(name));
        const int a = scan.cell({"a"}), rowid = scan.rowid();
        scan.run(context, [&](const DbRow& row) {
            found.push_back(row.integer(a));
            found.push_back(row.integer(rowid));
        });
        CHECK(scan.rows_from_pages() == 1);
    }
    CHECK(found == std::vector<int64_t>{7, 1, 8, 1, 9, 9});
}

TEST_CASE_METHOD(Loaded, "the kind of a column is told whatever the locale") {
    // Affinity INTEGER by the letters INT in it, in small letters: a number that no double holds.
    make_database(folder.file("a.db"),
                  "CREATE TABLE t(a floating point); INSERT INTO t VALUES (1719300623040522121)");
    const std::string before = std::setlocale(LC_ALL, nullptr);
    std::setlocale(LC_ALL, "tr_TR.UTF-8");  // where it is installed
    DbFile file(folder.file("a.db"));
    const DbTable* table = file.table("T");
    std::setlocale(LC_ALL, before.c_str());
    REQUIRE(table != nullptr);
    REQUIRE(table->stored.size() == 1);
    CHECK_FALSE(table->stored[0].is_real);
    CHECK(upper_case("i\xC4\xB1") == "I\xC4\xB1");
}

TEST_CASE_METHOD(Loaded, "opening a database by its path leaves this process's locks on it") {
    const std::string path = folder.file("ascend_pytorch_profiler_0.db");
    make_database(path, "CREATE TABLE TASK(startNs); CREATE TABLE PYTORCH_API(startNs)");
    sqlite3* host = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &host) == SQLITE_OK);
    execute(host, "BEGIN IMMEDIATE; INSERT INTO TASK VALUES (1)");
    sql.run("SELECT profana_open('run', '" + path + "')");
    CHECK(sql.integer("SELECT count(*) FROM prof_device_task") == 0);
    // Another program finds the database locked.
    const std::string other = "sqlite3 '" + path + "' 'BEGIN IMMEDIATE' 2>/dev/null";
    CHECK(std::system(other.c_str()) != 0);
    execute(host, "COMMIT");
    CHECK(std::system(other.c_str()) == 0);
    sqlite3_close(host);
}
