// Texts that SQL may compare as numbers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "ext/core/numeric_texts.h"

using namespace profana;

TEST_CASE("times in microseconds that stand side by side are told apart", "[store]") {
    Dictionary dictionary;
    for (int i = 0; i < 5000; ++i) dictionary.intern(std::to_string(1736413971000000 + i) + ".125");
    const NumericTexts texts(dictionary);
    for (int i = 0; i < 5000; i += 499) {
        std::vector<uint32_t> codes;
        texts.equal(static_cast<double>(1736413971000000 + i) + 0.125, codes);
        // The neighbours are four doubles away: SQLite may take one for the other, but no more of them.
        CHECK(codes.size() <= 5);
        CHECK(std::find(codes.begin(), codes.end(), static_cast<uint32_t>(i + 1)) != codes.end());
    }
}

TEST_CASE("texts of one value are found whatever they look like", "[store]") {
    Dictionary dictionary;
    for (const char* text :
         {"12", " 12", "12.0", "1.2e1", "+12 ", "12x", "", "twelve", "0x0c", "12.0000001", "-12"})
        dictionary.intern(text);
    std::vector<uint32_t> codes;
    NumericTexts(dictionary).equal(12, codes);
    std::sort(codes.begin(), codes.end());
    CHECK(codes == std::vector<uint32_t>{1, 2, 3, 4, 5});
}
