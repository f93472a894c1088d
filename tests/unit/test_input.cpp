// Files as streams: what is refused, and gzip in every shape it comes in.
#include <catch2/catch.hpp>
#include <string>

#include "ext/core/input.h"
#include "tests/unit/files.h"

using namespace profana;

namespace {

struct Surroundings {
    Progress progress;
    Diagnostics diagnostics;
    LoadContext context{progress, diagnostics};

    std::string read_all(const std::string& path, size_t step = 1000) {
        auto input = Input::open(path, context);
        std::string out, buffer(step, '\0');
        while (const size_t got = input->read(buffer.data(), step)) out.append(buffer, 0, got);
        CHECK(input->read(buffer.data(), step) == 0);
        return out;
    }
    std::string error(const std::string& path) {
        try {
            Input::open(path, context);
        } catch (const Error& e) {
            CHECK(e.kind() == ErrorKind::kCannotOpen);
            return e.what();
        }
        return "";
    }
    std::string codes() const {
        std::string out;
        for (const Diagnostic& d : diagnostics.rows()) out += d.code + ";";
        return out;
    }
};

std::string long_text() {
    std::string text;
    for (int i = 0; i < 200000; ++i) text += std::to_string(i * 7919 % 100003) + ",";
    return text;
}

}  // namespace

TEST_CASE("plain files are read to their end", "[input]") {
    TempFolder folder;
    Surroundings s;
    const std::string text = long_text();
    CHECK(s.read_all(folder.write("a.csv", text)) == text);
    CHECK(s.read_all(folder.write("empty.csv", "")).empty());
    CHECK(s.read_all(folder.write("plain.csv.gz", "no gzip at all")) == "no gzip at all");
    CHECK(s.read_all(folder.write("short.gz", "\x1f")) == "\x1f");
    CHECK(s.codes().empty());
}

TEST_CASE("small files are read whole, and huge ones are refused before they are read", "[input]") {
    TempFolder folder;
    Surroundings s;
    const std::string text = long_text();
    CHECK(read_small_file(folder.write("a.json", text), s.context) == text);
    const std::string huge = folder.write("huge.json", "");
    REQUIRE(::truncate(huge.c_str(), (off_t{1} << 30) + 1) == 0);
    CHECK_THROWS_WITH(read_small_file(huge, s.context), Catch::Contains("huge.json: longer than 1 GiB"));
}

TEST_CASE("what is not a file is refused by what it is", "[input]") {
    TempFolder folder;
    Surroundings s;
    CHECK(s.error(folder.file("none.csv")).find("none.csv: no such file") != std::string::npos);
    CHECK(s.error(folder.path()).find("is a folder") != std::string::npos);
    CHECK(s.error("/dev/null").find("is a device") != std::string::npos);
    CHECK(s.error("").find("no such file") != std::string::npos);
    CHECK(s.error(std::string("a\0b", 3)).find("NUL") != std::string::npos);
    CHECK(s.error(folder.write("file", "x") + "/more").find("not a folder") != std::string::npos);
    const std::string fifo = folder.file("fifo");
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    CHECK(s.error(fifo).find("is a pipe") != std::string::npos);
    const std::string loop = folder.file("loop");
    REQUIRE(::symlink(loop.c_str(), loop.c_str()) == 0);
    CHECK(s.error(loop).find("symbolic links") != std::string::npos);
    if (::geteuid() != 0) {
        const std::string closed = folder.write("closed.csv", "x");
        ::chmod(closed.c_str(), 0);
        CHECK(s.error(closed).find("no permission") != std::string::npos);
    }
    CHECK_THROWS_AS(stamp_file(folder.file("none.csv")), Error);
    CHECK_THROWS_AS(RandomFile(folder.path()), Error);
}

TEST_CASE("gzip members are joined", "[input]") {
    TempFolder folder;
    Surroundings s;
    const std::string text = long_text();
    const std::string half = text.substr(0, text.size() / 2), rest = text.substr(half.size());
    CHECK(s.read_all(folder.write("one", gzip(text))) == text);
    CHECK(s.read_all(folder.write("two", gzip(half) + gzip(rest))) == text);
    CHECK(s.read_all(folder.write("empties", gzip("") + gzip(half) + gzip("") + gzip(rest) + gzip(""))) ==
          text);
    CHECK(s.read_all(folder.write(
              "padded", gzip(half) + std::string(1000, '\0') + gzip(rest) + std::string(7, '\0'))) == text);
    Bytef extra[] = "RA-index-of-blocks";
    Bytef name[] = "trace.json";
    gz_header header{};
    header.extra = extra;
    header.extra_len = sizeof extra;
    header.name = name;
    header.hcrc = 1;
    CHECK(s.read_all(folder.write("fields", gzip(half, &header) + gzip(rest, &header))) == text);
    CHECK(s.codes().empty());
    std::string tiny;
    for (char c : half.substr(0, 3000)) tiny += gzip(std::string(1, c));
    CHECK(s.read_all(folder.write("tiny", tiny), 7) == half.substr(0, 3000));
    CHECK(Input::open(folder.file("one"), s.context)->compressed());
}

TEST_CASE("damaged gzip ends early and says so", "[input]") {
    TempFolder folder;
    const std::string text = long_text(), packed = gzip(text);
    {
        Surroundings s;
        const std::string got = s.read_all(folder.write("cut", packed.substr(0, packed.size() / 2)));
        CHECK(got.size() > text.size() / 4);
        CHECK(text.compare(0, got.size(), got) == 0);
        CHECK(s.codes() == "gzip_truncated;");
        CHECK(s.diagnostics.rows()[0].offset == static_cast<int64_t>(got.size()));
    }
    {
        Surroundings s;  // all data there, the trailer is not
        CHECK(s.read_all(folder.write("no_trailer", packed.substr(0, packed.size() - 5))) == text);
        CHECK(s.codes() == "gzip_truncated;");
    }
    {
        Surroundings s;
        std::string bad = packed;
        bad[bad.size() - 6] ^= 1;  // the checksum
        CHECK(s.read_all(folder.write("sum", bad)) == text);
        CHECK(s.codes() == "gzip_corrupt;");
    }
    {
        Surroundings s;
        std::string bad = packed;
        for (size_t i = bad.size() / 2; i < bad.size() / 2 + 64; ++i) bad[i] = '\xff';
        const std::string got = s.read_all(folder.write("middle", bad));
        CHECK(got.size() < text.size() + text.size() / 2);
        CHECK(s.codes() == "gzip_corrupt;");
    }
    // Cut before the first byte that it holds, its header included: that is no empty file.
    for (const size_t left : {2, 3, 5, 9, 10, 11}) {
        Surroundings s;
        INFO(left);
        try {
            s.read_all(folder.write("start", packed.substr(0, left)));
            CHECK(false);
        } catch (const Error& error) {
            CHECK(error.what() ==
                  "profana: " + folder.file("start") +
                      ": is a gzip file of which nothing can be read: the compressed data end "
                      "in the middle at byte " +
                      std::to_string(left) + " of " + std::to_string(left) + "; copy it again");
        }
    }
    {
        Surroundings s;
        CHECK(s.read_all(folder.write("tail", packed + "and then this")) == text);
        CHECK(s.codes() == "gzip_trailing_bytes;");
    }
}

TEST_CASE("a gzip bomb meets the limit", "[input]") {
    TempFolder folder;
    Surroundings s;
    s.context.max_inflated_bytes = 1000000;
    const std::string path = folder.write("bomb", gzip(std::string(5000000, ' ')));
    CHECK_THROWS_WITH(s.read_all(path), Catch::Contains("max_inflated_size") && Catch::Contains("1000000"));
    CHECK(s.read_all(folder.write("fits", gzip(std::string(1000000, ' ')))).size() == 1000000);
}

TEST_CASE("random access reads what is there", "[input]") {
    TempFolder folder;
    const RandomFile file(folder.write("a", "0123456789"));
    CHECK(file.read(3, 4) == "3456");
    CHECK(file.read(8, 4) == "89");
    CHECK(file.read(20, 4).empty());
}

TEST_CASE("a stamp changes with the file", "[input]") {
    TempFolder folder;
    const FileStamp one = stamp_file(folder.write("a", "x"));
    CHECK(one == stamp_file(folder.file("a")));
    CHECK(one.size == 1);
    CHECK_FALSE(one == stamp_file(folder.write("a", "xy")));
}
