// Texts that SQL may compare as numbers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "ext/core/numeric_texts.h"

using namespace profana;

namespace {

struct Surroundings {
    Progress progress;
    Diagnostics diagnostics;
    LoadContext context{progress, diagnostics};
};

std::vector<uint32_t> equal_codes(const NumericTexts& texts, double number) {
    std::vector<uint32_t> codes;
    texts.equal(number, codes);
    std::sort(codes.begin(), codes.end());
    return codes;
}

}  // namespace

TEST_CASE("times in microseconds that stand side by side are told apart", "[store]") {
    Surroundings here;
    Column column(ColumnType::kText);
    for (int i = 0; i < 5000; ++i) column.add_text(std::to_string(1736413971000000 + i) + ".125");
    const NumericTexts texts(column, here.context);
    for (int i = 0; i < 5000; i += 499) {
        const auto codes = equal_codes(texts, static_cast<double>(1736413971000000 + i) + 0.125);
        // The neighbours are four doubles away: SQLite may take one for the other, but no more of them.
        CHECK(codes.size() <= 5);
        CHECK(std::find(codes.begin(), codes.end(), static_cast<uint32_t>(i + 1)) != codes.end());
        CHECK_FALSE(texts.only_itself(static_cast<uint32_t>(i + 1)));
    }
}

TEST_CASE("texts of one value are found whatever they look like", "[store]") {
    Surroundings here;
    Column column(ColumnType::kText);
    for (const char* text :
         {"12", " 12", "12.0", "1.2e1", "+12 ", "12x", "", "twelve", "0x0c", "12.0000001", "-12"})
        column.add_text(text);
    const NumericTexts texts(column, here.context);
    CHECK(equal_codes(texts, 12) == std::vector<uint32_t>{1, 2, 3, 4, 5});
    for (uint32_t code = 1; code < column.dictionary().size(); ++code)
        CHECK(texts.only_itself(code) == (code > 5));
}

TEST_CASE("beside numbers a text may equal more than itself", "[store]") {
    Surroundings here;
    Column column(ColumnType::kAny);
    column.add_any_text("12.0");
    CHECK(NumericTexts(column, here.context).only_itself(1));
    column.add_null();
    CHECK(NumericTexts(column, here.context).only_itself(1));
    column.add_any(AnyValue::of(int64_t{12}));
    CHECK_FALSE(NumericTexts(column, here.context).only_itself(1));
}

TEST_CASE("texts beyond the largest double are one value", "[store]") {
    Surroundings here;
    Column column(ColumnType::kText);
    for (const char* text : {"1e400", "2e400", "-1e400", "1"}) column.add_text(text);
    const NumericTexts texts(column, here.context);
    CHECK_FALSE(texts.only_itself(1));
    CHECK_FALSE(texts.only_itself(2));
    CHECK(texts.only_itself(3));
    CHECK(texts.only_itself(4));
}
