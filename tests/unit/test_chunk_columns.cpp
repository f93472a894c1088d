// Columns filled by parallel parsers: the table must not depend on who parsed which chunk.
#include <catch2/catch.hpp>
#include <deque>
#include <random>
#include <string>
#include <thread>

#include "ext/core/chunk_columns.h"

using namespace profana;

namespace {

const std::vector<ColumnType> kTypes = {ColumnType::kInt,  ColumnType::kText, ColumnType::kAny,
                                        ColumnType::kLong, ColumnType::kReal, ColumnType::kText};

struct Loading {
    Progress progress;
    Diagnostics diagnostics;
    LoadContext context{progress, diagnostics};
};

// Row i of the made-up file. Texts of column 5 hardly repeat, so that workers drop their dictionaries.
void fill_row(ChunkColumns& chunk, uint64_t i) {
    chunk[0].add_int(static_cast<int64_t>(i));
    if (i % 11 != 0) chunk[1].add_text("name " + std::to_string(i * 7919 % 97));
    if (i % 3 == 0)
        chunk[2].add_any_text("id" + std::to_string(i % 5));
    else
        chunk[2].add_any(AnyValue::of(static_cast<int64_t>(i % 50)));
    if (i % 4 != 0) chunk[3].add_long("{\"long\":" + std::to_string(i) + "}");
    chunk[4].add_real(static_cast<double>(i) / 8);
    chunk[5].add_text("unique " + std::to_string(i / 2));
    chunk.end_row();
}

ChunkColumns parse(WorkerColumns& worker, uint64_t first, uint64_t last) {
    ChunkColumns chunk = worker.begin_chunk();
    for (uint64_t i = first; i < last; ++i) {
        if (i % 13 == 0) {  // a bad row before this one
            chunk[1].add_text("dropped " + std::to_string(i));
            chunk[1].add_text("name " + std::to_string((i + 1) * 7919 % 97));
            chunk.drop_row();
        }
        fill_row(chunk, i);
    }
    return chunk;
}

ColumnSet all() {
    ColumnSet set;
    for (int c = 0; c < static_cast<int>(kTypes.size()); ++c) set.add(c);
    return set;
}

// The table as one worker fills it, row by row.
void check_rows(const Table& table, uint64_t rows) {
    REQUIRE(table.rows() == rows);
    Dictionary names, ids;
    bool same = true;
    for (uint64_t i = 0; i < rows; ++i) {
        const Row row = static_cast<Row>(i);
        same = same && table.column(0).integer(row) == static_cast<int64_t>(i);
        const std::string name = "name " + std::to_string(i * 7919 % 97);
        same = same && table.column(1).code(row) == (i % 11 == 0 ? kNullCode : names.intern(name));
        same = same && table.column(1).text(row) == (i % 11 == 0 ? "" : name);
        const AnyValue& any = table.column(2).any(row);
        if (i % 3 == 0)
            same =
                same && any.kind == AnyValue::kString && any.code == ids.intern("id" + std::to_string(i % 5));
        else
            same = same && any.kind == AnyValue::kInteger && any.integer == static_cast<int64_t>(i % 50);
        same = same && table.column(3).is_null(row) == (i % 4 == 0);
        same = same &&
               table.column(3).long_text(row) == (i % 4 == 0 ? "" : "{\"long\":" + std::to_string(i) + "}");
        same = same && table.column(4).real(row) == static_cast<double>(i) / 8;
        same = same && table.column(5).code(row) == i / 2 + 1;
    }
    CHECK(same);
    CHECK(table.column(1).dictionary().size() == names.size());
}

}  // namespace

TEST_CASE("the merged table is the same for any number of workers and with chunks thrown away") {
    Loading loading;
    const unsigned workers = GENERATE(1U, 2U, 5U);
    const uint64_t rows = 150'000, step = 1009;
    Table table(kTypes, [&](Table& to, const ColumnSet& wanted, LoadContext& context) {
        std::deque<WorkerColumns> columns;
        for (unsigned w = 0; w < workers; ++w) columns.emplace_back(to, wanted);
        ColumnMerger merger(to, wanted, workers);
        std::mt19937 random(workers);
        for (uint64_t first = 0; first < rows; first += step) {
            const unsigned worker = random() % workers;
            if (random() % 4 == 0) parse(columns[worker], first + 17, first + 40);  // a wrong cut
            ChunkColumns chunk = parse(columns[worker], first, std::min(rows, first + step));
            merger.append(chunk, worker, context);
        }
        CHECK(merger.rows() == rows);
    });
    table.ensure(all(), loading.context);
    check_rows(table, rows);
}

TEST_CASE("a worker may parse on while its last chunk is merged") {
    Loading loading;
    const uint64_t rows = 200'000, step = 997;
    Table table(kTypes, [&](Table& to, const ColumnSet& wanted, LoadContext& context) {
        WorkerColumns worker(to, wanted);
        ColumnMerger merger(to, wanted, 1);
        ChunkColumns chunk = parse(worker, 0, step);
        for (uint64_t first = step;; first += step) {
            ChunkColumns next;
            std::thread ahead([&] { next = parse(worker, first, std::min(rows, first + step)); });
            merger.append(chunk, 0, context);
            ahead.join();
            chunk = std::move(next);
            if (first + step >= rows) break;
        }
        merger.append(chunk, 0, context);
    });
    table.ensure(all(), loading.context);
    check_rows(table, rows);
}

TEST_CASE("only wanted columns are filled; a file without rows has them all the same") {
    Loading loading;
    Table table(kTypes, [&](Table& to, const ColumnSet& wanted, LoadContext& context) {
        WorkerColumns worker(to, wanted);
        ColumnMerger merger(to, wanted, 1);
        ChunkColumns chunk = worker.begin_chunk();
        CHECK(chunk.has(1));
        CHECK_FALSE(chunk.has(0));
        merger.append(chunk, 0, context);
    });
    ColumnSet wanted;
    wanted.add(1);
    table.ensure(wanted, loading.context);
    CHECK(table.loaded(1));
    CHECK_FALSE(table.loaded(0));
    CHECK(table.rows() == 0);
}

TEST_CASE("merging stops at the memory limit") {
    Loading loading;
    loading.context.memory_limit_bytes = counted_bytes() + (8 << 20);
    Table table(kTypes, [&](Table& to, const ColumnSet& wanted, LoadContext& context) {
        WorkerColumns worker(to, wanted);
        ColumnMerger merger(to, wanted, 1);
        for (uint64_t first = 0; first < 1'000'000; first += 5000) {
            ChunkColumns chunk = parse(worker, first, first + 5000);
            merger.append(chunk, 0, context);
        }
    });
    CHECK_THROWS_WITH(table.ensure(all(), loading.context), Catch::Contains("memory_limit"));
    CHECK(table.bytes() == 0);
}
