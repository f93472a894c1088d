// How long scans, groups and joins of a million rows take. Hidden: run with `unit_tests "[speed]"`.
#include <catch2/catch.hpp>
#include <ctime>
#include <iostream>
#include <random>

#include "tests/unit/table_fixture.h"

using namespace profana;
using namespace profana_test;

namespace {

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

TEST_CASE("speed of scans, groups and joins", "[.][speed]") {
    constexpr size_t kRows = 1'000'000;
    Database base;
    static const TableSpec spec{"k",
                                "kernels",
                                {{"id", ColumnType::kInt, ""},
                                 {"name", ColumnType::kText, ""},
                                 {"op_type", ColumnType::kText, ""},
                                 {"start_ns", ColumnType::kInt, ""},
                                 {"dur_ns", ColumnType::kInt, ""},
                                 {"key", ColumnType::kInt, ""},
                                 {"unique_name", ColumnType::kText, ""},
                                 {"any", ColumnType::kAny, ""},
                                 {"ratio", ColumnType::kReal, ""},
                                 {"args", ColumnType::kLong, ""}},
                                {}};
    const auto make = [&](unsigned seed) {
        std::vector<ColumnType> types;
        for (const ColumnSpec& column : spec.columns) types.push_back(column.type);
        types.erase(types.begin());
        auto table = std::make_shared<Table>(types, [seed](Table& to, const ColumnSet&, LoadContext&) {
            std::mt19937 random(seed);
            int64_t start = 1'700'000'000'000'000'000;
            std::vector<int64_t> keys(kRows);
            for (size_t i = 0; i < kRows; ++i) keys[i] = static_cast<int64_t>(i) * 3;
            std::shuffle(keys.begin(), keys.end(), random);
            for (size_t i = 0; i < kRows; ++i) {
                const unsigned kind = random() % 500;
                start += random() % 5000;
                to.building(0).add_text("aclnnMatmul_MatMulV3Common_MatMulV3_" + std::to_string(kind));
                to.building(1).add_text("Type" + std::to_string(kind % 40));
                to.building(2).add_int(start);
                to.building(3).add_int(random() % 100000);
                to.building(4).add_int(keys[i]);
                to.building(5).add_text("unique name " + std::to_string(keys[i]));
                if (i % 4 == 0)
                    to.building(6).add_any_text("0x" + std::to_string(keys[i]));
                else
                    to.building(6).add_any(AnyValue::of(keys[i]));
                to.building(7).add_real(static_cast<double>(keys[i]) / 7);
                to.building(8).add_long("{\"args\":" + std::to_string(keys[i]) + "}");
            }
        });
        Part part = whole_table(table);
        part.columns.insert(part.columns.begin(), Part::kRowId);
        part.columns.pop_back();
        for (size_t c = 1; c < spec.columns.size(); ++c) part.columns[c] = static_cast<int>(c) - 1;
        part.columns.resize(spec.columns.size());
        for (size_t c = 1; c < spec.columns.size(); ++c) part.columns[c] = static_cast<int>(c) - 1;
        part.constants.resize(spec.columns.size());
        return part;
    };
    TableSpec other = spec;
    other.name = "l";
    REQUIRE(register_table(*base.connection, spec,
                           std::make_unique<FixedProvider>(std::vector<Part>{make(1)})) == SQLITE_OK);
    REQUIRE(register_table(*base.connection, other,
                           std::make_unique<FixedProvider>(std::vector<Part>{make(2)})) == SQLITE_OK);
    const auto run = [&](const std::string& sql) {
        const double before = cpu_seconds();
        const auto rows = base.rows(sql);
        const double first = cpu_seconds();
        base.rows(sql);
        const double second = cpu_seconds();
        printf("%8.1f %8.1f ns/row  %7zu rows  %s\n", (first - before) * 1e9 / kRows,
               (second - first) * 1e9 / kRows, rows.size(), sql.c_str());
        if (rows.size() == 1) printf("%27s%s\n", "", rows[0][0].c_str());
    };
    run("SELECT sum(id + dur_ns + key + ratio), max(name), max(op_type), max(args), max(any), "
        "max(unique_name), max(start_ns) FROM k");
    run("SELECT sum(id + dur_ns + key + ratio), max(name), max(op_type), max(args), max(any), "
        "max(unique_name), max(start_ns) FROM l");
    run("SELECT count(*) FROM k");
    run("SELECT sum(dur_ns) FROM k");
    run("SELECT sum(dur_ns) FROM k WHERE dur_ns > 95000");
    run("SELECT sum(length(name)) FROM k");
    run("SELECT count(*) FROM k WHERE name LIKE '%250%'");
    run("SELECT sum(dur_ns) FROM k WHERE name = 'aclnnMatmul_MatMulV3Common_MatMulV3_250'");
    run("SELECT op_type, count(*), sum(dur_ns) FROM k GROUP BY 1");
    run("SELECT name, count(*), sum(dur_ns) FROM k GROUP BY 1");
    run("SELECT op_type, sum(dur_ns) FROM k WHERE dur_ns > 50000 GROUP BY 1");
    run("SELECT DISTINCT name FROM k");
    run("SELECT id FROM k ORDER BY dur_ns DESC LIMIT 10");
    run("SELECT sum(dur_ns) FROM (SELECT dur_ns FROM k ORDER BY start_ns LIMIT -1 OFFSET 1)");
    run("SELECT id, lag(start_ns) OVER (ORDER BY start_ns) FROM k LIMIT 1 OFFSET 999999");
    run("SELECT count(*), sum(l.dur_ns) FROM k JOIN l ON l.id = k.id");
    run("SELECT count(*), sum(l.dur_ns) FROM k JOIN l ON l.key = k.key");
    run("SELECT count(*), sum(l.dur_ns) FROM k JOIN l ON l.unique_name = k.unique_name");
    run("SELECT count(*), sum(l.dur_ns) FROM k JOIN l ON l.any = k.any");
    run("SELECT count(*), sum(l.dur_ns) FROM k JOIN l ON l.ratio = k.ratio");
    run("SELECT count(*), sum(l.dur_ns) FROM k JOIN l ON l.args = k.args");
    run("SELECT count(*), sum(l.dur_ns) FROM k JOIN l ON l.start_ns BETWEEN k.start_ns AND k.start_ns + "
        "1000");
}
