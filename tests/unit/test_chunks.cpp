// The chunk pipeline, driven by a small format: a row ends at a line feed outside of quotes. A cut at the
// last line feed is wrong whenever it stands in quotes, so texts with many quoted line feeds try the
// recovery.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ext/core/chunks.h"
#include "tests/unit/files.h"

using namespace profana;

namespace {

struct RowsResult : ChunkResult {
    std::vector<std::string> rows;
};

class QuotedLines : public ChunkParser {
  public:
    size_t cut(std::string_view bytes, bool) const override { return bytes.rfind('\n') + 1; }

    std::unique_ptr<ChunkResult> parse(const Chunk& chunk) override {
        if (chunk.worker >= 16) orderly = false;
        // What may be written to is written to.
        auto* bytes = const_cast<char*>(chunk.bytes.data());
        std::fill(bytes - kChunkLead, bytes, '"');
        std::fill(bytes + chunk.bytes.size(), bytes + chunk.bytes.size() + kChunkPadding, '"');
        auto result = std::make_unique<RowsResult>();
        bool quoted = false;
        size_t start = 0;
        for (size_t i = 0; i < chunk.bytes.size(); ++i) {
            if (chunk.bytes[i] == '"') quoted = !quoted;
            if (chunk.bytes[i] != '\n' || quoted) continue;
            result->rows.emplace_back(chunk.bytes.substr(start, i + 1 - start));
            start = i + 1;
            if (result->rows.back() == last_row) {
                result->finished = true;
                break;
            }
        }
        if (skips_long_rows && chunk.too_long && start == 0) {
            result->rows.push_back("(long)\n");
            start = chunk.bytes.size();
        }
        result->consumed = start;
        if (on_parse) on_parse();
        return result;
    }

    void merge(ChunkResult& result, uint64_t offset) override {
        if (offset != merged_bytes) orderly = false;
        merged_bytes += result.consumed;
        for (const std::string& row : static_cast<RowsResult&>(result).rows) rows.push_back(row);
        if (on_merge) on_merge();
    }

    std::string last_row;
    bool skips_long_rows = false;
    std::function<void()> on_parse, on_merge;
    std::vector<std::string> rows;
    uint64_t merged_bytes = 0;
    std::atomic<bool> orderly{true};  // looked at when the run is over: Catch's checks are for one thread
};

// The same rows, one byte after the other.
std::vector<std::string> rows_of(const std::string& text, std::string* rest) {
    std::vector<std::string> rows;
    bool quoted = false;
    size_t start = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') quoted = !quoted;
        if (text[i] == '\n' && !quoted) rows.push_back(text.substr(start, i + 1 - start)), start = i + 1;
    }
    *rest = text.substr(start);
    return rows;
}

std::string random_text(std::mt19937& random, size_t size, unsigned quote_every) {
    std::string text;
    while (text.size() < size) {
        const unsigned r = random() % 100;
        if (r < 10)
            text += '\n';
        else if (random() % quote_every == 0)
            text += "\"in\nquotes\n\"";
        else
            text += static_cast<char>('a' + r % 26);
    }
    return text;
}

struct Run {
    Progress progress;
    Diagnostics diagnostics;
    LoadContext context{progress, diagnostics};
    std::string go(const std::string& path, QuotedLines& parser, const ChunkLimits& limits,
                   std::string carry = "") {
        auto input = Input::open(path, context);
        if (!carry.empty()) {
            std::string read(carry.size(), '\0');
            input->read(read.data(), read.size());
        }
        std::string rest = run_chunks(*input, carry, 0, parser, context, limits);
        CHECK(parser.orderly);
        return rest;
    }
};

}  // namespace

TEST_CASE("rows do not depend on chunks, threads or compression", "[chunks]") {
    TempFolder folder;
    std::mt19937 random(1);
    for (int round = 0; round < 25; ++round) {
        const std::string text = random_text(random, random() % 2500, 2 + random() % 60);
        const std::string path = folder.write("a", random() % 2 ? text : gzip(text));
        std::string rest;
        const auto expected = rows_of(text, &rest);
        for (const size_t chunk_bytes : {size_t{1}, size_t{13}, size_t{100}, size_t{1000}, size_t{100000}}) {
            for (const unsigned threads : {0u, 1u, 2u, 5u}) {
                Run run;
                run.context.threads = threads;
                QuotedLines parser;
                const std::string left =
                    run.go(path, parser, {chunk_bytes, 100000}, text.substr(0, random() % 200));
                INFO("round " << round << " chunk " << chunk_bytes << " threads " << threads);
                CHECK(parser.rows == expected);
                CHECK(left == rest);
                CHECK(run.diagnostics.rows().empty());
            }
        }
    }
}

TEST_CASE("a result that says finished ends the run there", "[chunks]") {
    TempFolder folder;
    std::string text;
    for (int i = 0; i < 1000; ++i) text += "row " + std::to_string(i) + "\n";
    const std::string head = text;
    text += "end\n";
    const std::string tail = "behind\nthe rows\n";
    const std::string path = folder.write("a", text + tail);
    for (const size_t chunk_bytes : {size_t{50}, size_t{500}, size_t{100000}}) {
        Run run;
        run.context.threads = 3;
        QuotedLines parser;
        parser.last_row = "end\n";
        const std::string left = run.go(path, parser, {chunk_bytes, 1000});
        CHECK(parser.rows.size() == 1001);
        CHECK(tail.compare(0, left.size(), left) == 0);
    }
}

TEST_CASE("a row without an end is bounded", "[chunks]") {
    TempFolder folder;
    const std::string path = folder.write("a", "one\n\"never closed" + std::string(100000, 'x') + "\ntwo\n");
    for (const bool skips : {false, true}) {
        Run run;
        run.context.threads = 2;
        QuotedLines parser;
        parser.skips_long_rows = skips;
        if (skips) {
            CHECK(run.go(path, parser, {100, 1000}).empty());
            CHECK(parser.rows.at(0) == "one\n");
            CHECK(parser.rows.at(1) == "(long)\n");
            CHECK(parser.merged_bytes == 4 + 13 + 100000 + 5);
        } else {
            CHECK(run.go(path, parser, {100, 1000}).empty());
            CHECK(parser.rows == std::vector<std::string>{"one\n"});
            REQUIRE(run.diagnostics.rows().size() == 1);
            CHECK(run.diagnostics.rows()[0].code == "row_too_long");
            CHECK(run.diagnostics.rows()[0].offset == 4);
        }
    }
}

TEST_CASE("exceptions of workers reach the caller", "[chunks]") {
    TempFolder folder;
    std::string text;
    for (int i = 0; i < 10000; ++i) text += "row " + std::to_string(i) + "\n";
    const std::string path = folder.write("a", text);
    for (const unsigned threads : {1u, 4u}) {
        for (const bool in_merge : {false, true}) {
            for (const int after : {1, 2, 20}) {
                Run run;
                run.context.threads = threads;
                QuotedLines parser;
                std::atomic<int> calls{0};
                auto& hook = in_merge ? parser.on_merge : parser.on_parse;
                hook = [&] {
                    if (++calls >= after) throw Error("broken on purpose");
                };
                CHECK_THROWS_WITH(run.go(path, parser, {500, 1000}), "broken on purpose");
            }
        }
    }
}

TEST_CASE("an interrupt ends a run soon", "[chunks]") {
    TempFolder folder;
    std::string text;
    for (int i = 0; i < 20000; ++i) text += "row " + std::to_string(i) + "\n";
    const std::string path = folder.write("a", text);
    struct Stopper : Progress {
        int polls = 0;
        bool interrupted() override { return ++polls > 2; }
    } progress;
    Diagnostics diagnostics;
    LoadContext context{progress, diagnostics};
    context.threads = 2;
    QuotedLines parser;
    parser.on_parse = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
    auto input = Input::open(path, context);
    const auto start = std::chrono::steady_clock::now();
    try {
        run_chunks(*input, "", 0, parser, context, {50, 1000});
        FAIL("not interrupted");
    } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::kInterrupted);
    }
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
    CHECK(progress.cancelled());
}

TEST_CASE("slow merging does not pile up chunks", "[chunks]") {
    TempFolder folder;
    std::string text;
    for (int i = 0; i < 2000; ++i) text += "row " + std::to_string(i) + "\n";
    Run run;
    run.context.threads = 4;
    QuotedLines parser;
    std::atomic<int> parsed{0}, merged{0};
    parser.on_parse = [&] { ++parsed; };
    int most = 0;
    parser.on_merge = [&] {
        most = std::max(most, parsed - merged);
        ++merged;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    run.go(folder.write("a", text), parser, {200, 1000});
    CHECK(parser.rows.size() == 2000);
    CHECK(most <= 2 * 4 + 1);
}
