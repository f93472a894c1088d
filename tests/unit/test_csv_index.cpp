// Rows and cells of CSV text, against a plain reader that follows the rules one character at a time.
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "ext/core/csv_index.h"

using namespace profana;

namespace {

using Rows = std::vector<std::vector<std::string>>;

struct Plain {
    const std::string& text;
    Rows rows{};
    std::vector<uint32_t> lines{}, torn{};  // before each row; of each torn quote

    // The end of a cell that begins with a quote; npos: the quote is torn.
    size_t quoted_end(size_t at) const {
        bool feed = false;
        for (size_t i = at + 1; i < text.size(); ++i) {
            if (text[i] == '\n') feed = true;
            if (text[i] != '"') continue;
            if (i + 1 < text.size() && text[i + 1] == '"') {
                ++i;
                continue;
            }
            const std::string next = text.substr(i + 1, 2);
            const bool ends =
                next.empty() || next[0] == ',' || next[0] == '\n' || next == "\r\n" || next == "\r";
            size_t before = i;
            while (before > at && text[before] == '"') --before;
            if (!ends && (feed || text[before] == ',')) return std::string::npos;
            return i + 1;
        }
        return std::string::npos;
    }

    void read() {
        size_t at = 0;
        uint32_t line = 0;
        while (at < text.size()) {
            rows.emplace_back();
            lines.push_back(line);
            for (;;) {
                const size_t begin = at;
                if (at < text.size() && text[at] == '"') {
                    const size_t end = quoted_end(at);
                    if (end == std::string::npos)
                        torn.push_back(line);
                    else
                        at = end;
                    if (end == std::string::npos) ++at;
                }
                while (at < text.size() && text[at] != ',' && text[at] != '\n') ++at;
                rows.back().push_back(text.substr(begin, at - begin));
                for (char c : rows.back().back()) line += c == '\n';
                if (at == text.size() || text[at] == '\n') break;
                ++at;
            }
            if (at < text.size()) ++at, ++line;
        }
    }
};

Rows rows_of(CsvIndex& index) {
    Rows rows;
    for (const CsvRow& row : index.rows()) {
        rows.emplace_back();
        for (uint32_t cell = 0; cell < row.cells; ++cell) rows.back().emplace_back(index.cell(row, cell));
    }
    return rows;
}

// Text with what read() may look at behind it: bytes that must not matter.
struct Padded {
    explicit Padded(const std::string& text)
        : bytes(text + std::string(kCsvPadding, '"')), size(text.size()) {}
    std::string_view view() const { return {bytes.data(), size}; }
    std::string bytes;
    size_t size;
};

Rows read_all(const std::string& text) {
    const Padded padded(text);
    CsvIndex index;
    index.read(padded.view(), CsvIndex::End::kEndOfFile);
    CHECK(index.consumed() == text.size());
    return rows_of(index);
}

}  // namespace

TEST_CASE("regular rows", "[csv]") {
    CHECK(read_all("") == Rows{});
    CHECK(read_all("a,b\n1,2\n") == Rows{{"a", "b"}, {"1", "2"}});
    CHECK(read_all("a,b\r\n1,2\r\n") == Rows{{"a", "b\r"}, {"1", "2\r"}});
    CHECK(read_all("a,b\n1,2") == Rows{{"a", "b"}, {"1", "2"}});
    CHECK(read_all(",\n") == Rows{{"", ""}});
    CHECK(read_all("\n\na\n") == Rows{{""}, {""}, {"a"}});
    CHECK(read_all("\"a,b\",\"c\nd\"\n") == Rows{{"\"a,b\"", "\"c\nd\""}});
    CHECK(read_all("\"\"\"32,3;16\"\"\",x\n") == Rows{{"\"\"\"32,3;16\"\"\"", "x"}});
    CHECK(read_all("\"\"\"\"\"\",x\n") == Rows{{"\"\"\"\"\"\"", "x"}});
    CHECK(read_all("\"\",\"a\"\r\nb\n") == Rows{{"\"\"", "\"a\"\r"}, {"b"}});
}

TEST_CASE("quotes where they do not belong", "[csv]") {
    // Inside a cell: a character.
    CHECK(read_all("a\"b,c\n1,2\n") == Rows{{"a\"b", "c"}, {"1", "2"}});
    CHECK(read_all("5\",6\"\n1,2\n") == Rows{{"5\"", "6\""}, {"1", "2"}});
    // Behind a closing quote: the rest of the cell.
    CHECK(read_all("\"a\"b,c\n") == Rows{{"\"a\"b", "c"}});
    CHECK(read_all("\"a \"b\" c\",d\n") == Rows{{"\"a \"b\" c\"", "d"}});
    CHECK(read_all("\"1\"\t,d\n") == Rows{{"\"1\"\t", "d"}});
    // Torn: the next quoted cell shows it.
    CHECK(read_all("1,\"torn,2,\"\"\"8\"\"\"\n") == Rows{{"1", "\"torn", "2", "\"\"\"8\"\"\""}});
    CHECK(read_all("1,\"torn,2\n3,\"x,y\",4\n") == Rows{{"1", "\"torn", "2"}, {"3", "\"x,y\"", "4"}});
    // Torn: nothing closes it.
    CHECK(read_all("1,\"torn,2\n3,x,4\n") == Rows{{"1", "\"torn", "2"}, {"3", "x", "4"}});
    CHECK(read_all("\"") == Rows{{"\""}});
    CHECK(read_all("\"\n") == Rows{{"\""}});
}

TEST_CASE("lines are counted behind quoted line ends", "[csv]") {
    const Padded padded("h,h\n\"a\nb\",1\n2,\"c\n\n\nd\"\n3,4\n");
    CsvIndex index;
    index.read(padded.view(), CsvIndex::End::kEndOfFile);
    std::vector<uint32_t> lines;
    for (const CsvRow& row : index.rows()) lines.push_back(row.line);
    CHECK(lines == std::vector<uint32_t>{0, 1, 3, 7});
    CHECK(index.lines() == 8);
}

TEST_CASE("what is not closed is left over", "[csv]") {
    const auto consumed = [](const std::string& text, CsvIndex::End end) {
        const Padded padded(text);
        CsvIndex index;
        index.read(padded.view(), end);
        return std::pair(index.consumed(), index.rows().size());
    };
    using End = CsvIndex::End;
    CHECK(consumed("a,b\nc,d", End::kMayFollow) == std::pair<size_t, size_t>(4, 1));
    CHECK(consumed("a,b\n\"c,d\n", End::kMayFollow) == std::pair<size_t, size_t>(4, 1));
    CHECK(consumed("a,b\n\"c\"", End::kMayFollow) == std::pair<size_t, size_t>(4, 1));
    CHECK(consumed("a,b\n\"c\"\r", End::kMayFollow) == std::pair<size_t, size_t>(4, 1));
    CHECK(consumed("\"a,b\nc,d\n", End::kMayFollow) == std::pair<size_t, size_t>(0, 0));
    CHECK(consumed("\"a,b\nc,\"d\n", End::kMayFollow) == std::pair<size_t, size_t>(5, 1));
    CHECK(consumed("\"a,b\nc,d\n\"e", End::kLongRow) == std::pair<size_t, size_t>(9, 2));
    CHECK(consumed("a,b\nc,d", End::kLongRow) == std::pair<size_t, size_t>(4, 1));
    CHECK(consumed("abc", End::kLongRow) == std::pair<size_t, size_t>(3, 1));
    CHECK(consumed("a,b\nc,d", End::kEndOfFile) == std::pair<size_t, size_t>(7, 2));
}

TEST_CASE("bytes beyond ASCII and NUL are noticed", "[csv]") {
    const auto plain = [](const std::string& text) {
        const Padded padded(text);
        CsvIndex index;
        index.read(padded.view(), CsvIndex::End::kEndOfFile);
        return index.plain();
    };
    const std::string line(200, 'x');
    CHECK(plain(line + "\n"));
    for (const size_t at : {size_t{0}, size_t{63}, size_t{64}, size_t{150}}) {
        for (const char c : {'\0', '\x80', '\xff'}) {
            std::string text = line + "\n";
            text[at] = c;
            CHECK_FALSE(plain(text));
        }
    }
}

TEST_CASE("random text is read as by the plain reader", "[csv]") {
    std::mt19937 random(3);
    const std::string alphabets[] = {"ab,\n", "a,,\"\"\n", "a\"\n,\r", "\"\",\n",
                                     "aaaaaaaaaaaaaaaaaaaa,,\"\n"};
    for (int round = 0; round < 30000; ++round) {
        const std::string& alphabet = alphabets[random() % std::size(alphabets)];
        std::string text;
        for (size_t n = random() % 200; n > 0; --n) text += alphabet[random() % alphabet.size()];
        // Now and then, whole regular cells between.
        if (random() % 3 == 0) text.insert(random() % (text.size() + 1), ",\"\"\"16,16;3\"\"\",\"a\r\nb\",");
        Plain plain{text};
        plain.read();
        const Padded padded(text);
        CsvIndex index;
        index.read(padded.view(), CsvIndex::End::kEndOfFile);
        std::vector<uint32_t> lines;
        for (const CsvRow& row : index.rows()) lines.push_back(row.line);
        INFO(text);
        REQUIRE(rows_of(index) == plain.rows);
        REQUIRE(lines == plain.lines);
        REQUIRE(index.torn_quotes() == plain.torn);
        REQUIRE(index.consumed() == text.size());
    }
}

TEST_CASE("cuts stand behind unquoted line ends", "[csv]") {
    CHECK(csv_cut("") == 0);
    CHECK(csv_cut("abc") == 0);
    CHECK(csv_cut("a\nb\nc") == 4);
    CHECK(csv_cut("a\nb,\"c\nd") == 2);
    CHECK(csv_cut("a\n\"b\nc\"\n\"d\ne") == 8);
    CHECK(csv_cut("\"b\nc\"\"\nd") == 8 - 1);  // no line end outside of quotes: the last is a guess
    std::mt19937 random(5);
    for (int round = 0; round < 2000; ++round) {
        std::string text;
        while (text.size() < random() % 3000) {
            text += random() % 4 ? "ab" : "\"x\ny\"\"z\"";
            text += random() % 3 ? ',' : '\n';
        }
        Plain plain{text};
        plain.read();
        const bool closed = !text.empty() && text.back() == '\n';
        size_t whole = 0;
        for (size_t row = 0; row + (closed ? 0 : 1) < plain.rows.size(); ++row)
            for (const std::string& cell : plain.rows[row]) whole += cell.size() + 1;
        // A piece of the text, cut at any place.
        const std::string piece = text.substr(0, random() % (text.size() + 1));
        const size_t cut = csv_cut(piece);
        Plain of_piece{piece};
        of_piece.read();
        size_t at = 0, last = 0;
        for (size_t row = 0; row < plain.rows.size(); ++row) {
            for (const std::string& cell : plain.rows[row]) at += cell.size() + 1;
            if (at <= piece.size() && at <= whole) last = at;
        }
        INFO(piece);
        CHECK((cut == last || last == 0));
    }
}
