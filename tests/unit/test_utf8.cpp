#include <catch2/catch.hpp>
#include <string>

#include "ext/core/utf8.h"

using namespace profana;

// Texts are looked at eight bytes at a time as long as they are ASCII: what is none may stand anywhere.
TEST_CASE("a byte that is no text is found at every place", "[utf8]") {
    for (size_t size = 1; size < 26; ++size) {
        for (size_t at = 0; at < size; ++at) {
            INFO(size << " bytes, at " << at);
            const std::string plain(size, 'a');
            CHECK(is_utf8_text(plain));
            for (const char bad : {'\0', '\x80', '\xff', '\xc3'}) {
                std::string text = plain;
                text[at] = bad;
                CHECK_FALSE(is_utf8_text(text));
                CHECK(repair_utf8(text) == plain.substr(0, at) + "\xEF\xBF\xBD" + plain.substr(at + 1));
            }
            const std::string accented = plain.substr(0, at) + "\xC3\xA9" + plain.substr(at);
            CHECK(is_utf8_text(accented));
            CHECK(repair_utf8(accented) == accented);
            CHECK_FALSE(is_utf8_text(accented + "\x01\x7f" + '\0'));
            CHECK(is_utf8_text(accented + "\x01\x7f"));
        }
    }
}
