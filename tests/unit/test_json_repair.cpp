// Damaged JSON and what must become of it. Expected texts follow from the rules in json_repair.h.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "ext/core/json_repair.h"
#include "ext/core/json_token.h"

using namespace profana;
using Faults = std::vector<JsonFault>;

namespace {

struct Outcome {
    JsonRepair::End end;
    std::string text;
    Faults faults;
    size_t consumed;
};

Outcome repair(std::string_view text, JsonRepair::Behind behind = JsonRepair::Behind::kFileEnd) {
    JsonRepair repair;
    Outcome out{repair.run(text, behind), repair.text(), {}, repair.consumed()};
    for (const JsonRepair::Note& note : repair.notes()) out.faults.push_back(note.fault);
    return out;
}

void check_repaired(std::string_view damaged, const std::string& whole, const Faults& faults) {
    INFO(damaged);
    const Outcome out = repair(damaged);
    CHECK(out.end == JsonRepair::End::kComplete);
    CHECK(out.text == whole);
    CHECK(out.faults == faults);
    // What has been repaired needs no repair.
    const Outcome again = repair(out.text);
    CHECK(again.text == out.text);
    CHECK(again.faults.empty());
}

}  // namespace

TEST_CASE("Valid JSON comes out as it went in") {
    for (const char* text :
         {"{}", "[]", "[[],{}]", R"({"a":1,"b":[1,2.5,-3e+7,true,false,null],"c":{"d":"e"}})",
          " {\n\t\"a\" : [ 1 , 2 ] ,\r\n \"b\" : { } } ", R"("\" \\ \/ \b \f \n \r \t \u00e9 \ud83d\ude00")",
          R"({"a":"}, {\"ph\"","b":"],[","c":"x\":\"y","":""})", R"(["a","b" , "c"])",
          R"({"a":"{","b":["}","]"]})", "0", "-0.0e-0", R"("no \u00fc, no problem")", "{\"ü\":\"日本\"}"}) {
        INFO(text);
        const Outcome out = repair(text);
        CHECK(out.end == JsonRepair::End::kComplete);
        CHECK(out.faults.empty());
        CHECK(out.consumed == std::string_view(text).find_last_not_of(" ") + 1);
        CHECK(out.text + std::string(text).substr(out.consumed) == text);
    }
}

TEST_CASE("Broken strings") {
    check_repaired(R"("C:\Users\work")", R"("C:\\Users\\work")",
                   {JsonFault::kBadEscape, JsonFault::kBadEscape});
    check_repaired(R"("\u12g4 \u")", R"("\\u12g4 \\u")", {JsonFault::kBadEscape, JsonFault::kBadEscape});
    check_repaired(R"("\ud800 \udc00\ud800")", R"("\ufffd \ufffd\ufffd")",
                   {JsonFault::kLoneSurrogate, JsonFault::kLoneSurrogate, JsonFault::kLoneSurrogate});
    check_repaired(R"("a\u0000b")", R"("a\ufffdb")", {JsonFault::kNulCharacter});
    check_repaired(std::string_view("\"a\0b\"", 5), R"("a\ufffdb")", {JsonFault::kNulCharacter});
    check_repaired("\"a\x01\n\t\"", R"("a\u0001\n\t")", {JsonFault::kControlCharacter});
    // One U+FFFD a byte: 9F FF; a lone C3; two bytes of three; a surrogate; overlong; beyond U+10FFFF.
    check_repaired("\"f\x9f\xffk\"", "\"f\uFFFD\uFFFDk\"", {JsonFault::kInvalidUtf8});
    check_repaired("\"\xc3\"", "\"\uFFFD\"", {JsonFault::kInvalidUtf8});
    check_repaired("\"\xe4\xb8x\"", "\"\uFFFD\uFFFDx\"", {JsonFault::kInvalidUtf8});
    check_repaired("\"\xed\xa0\x80\"", "\"\uFFFD\uFFFD\uFFFD\"", {JsonFault::kInvalidUtf8});
    check_repaired("\"\xc0\x80\"", "\"\uFFFD\uFFFD\"", {JsonFault::kInvalidUtf8});
    check_repaired("\"\xf4\x90\x80\x80\"", "\"\uFFFD\uFFFD\uFFFD\uFFFD\"", {JsonFault::kInvalidUtf8});
}

TEST_CASE("Quotes that nobody escaped") {
    check_repaired(R"({"name":"f<"x">int","ts":1})", R"({"name":"f<\"x\">int","ts":1})",
                   {JsonFault::kUnescapedQuote});
    check_repaired(R"({"name":"a", "b" c","ts":1})", R"({"name":"a\", \"b\" c","ts":1})",
                   {JsonFault::kUnescapedQuote});
    check_repaired(R"({"name":"l{"a"}","ts":1})", R"({"name":"l{\"a\"}","ts":1})",
                   {JsonFault::kUnescapedQuote});
    check_repaired(R"({"a":["x "y" z","w"]})", R"({"a":["x \"y\" z","w"]})", {JsonFault::kUnescapedQuote});
    // A path that ends in a backslash: the quote behind it is the end of the string.
    check_repaired(R"({"dir":"C:\tmp\","n":"x"})", R"({"dir":"C:\tmp\\","n":"x"})", {JsonFault::kBadEscape});
}

TEST_CASE("A quote is missing at the end of an event") {
    const std::string text = R"({"ph":"X","args":{"name":"no end}},{"ph":"X","ts":1}])";
    const Outcome out = repair(text);
    CHECK(out.end == JsonRepair::End::kComplete);
    CHECK(out.text == R"({"ph":"X","args":{"name":"no end"}})");
    CHECK(out.faults == Faults{JsonFault::kUnclosedString});
    CHECK(text.substr(out.consumed, 3) == ",{\"");
}

TEST_CASE("Values that are none") {
    check_repaired("[NaN,nan,-NaN,inf,-inf,Infinity,-Infinity,N/A,None,1.#INF]",
                   "[null,null,null,null,null,null,null,null,null,null]", Faults(10, JsonFault::kBareValue));
    check_repaired("[True,False]", "[true,false]", Faults(2, JsonFault::kBareValue));
    check_repaired("[nanosleep]", R"(["nanosleep"])", {JsonFault::kBareValue});
    check_repaired("[01,+1,.5,1.,1e,0x1F,1.2.3]", R"(["01","+1",".5","1.","1e","0x1F","1.2.3"])",
                   Faults(7, JsonFault::kBadNumber));
    check_repaired(R"({"a":,"b":})", R"({"a":null,"b":null})", Faults(2, JsonFault::kMissingValue));
    check_repaired("[1,,2]", "[1,null,2]", {JsonFault::kMissingValue});
    // As they are: integers of any size.
    check_repaired("[18446744073709551615,-99999999999999999999]",
                   "[18446744073709551615,-99999999999999999999]", {});
}

TEST_CASE("Punctuation that is missing or too much") {
    check_repaired(R"({"a":1"b":2 "c":"x" "d":{} "e":[]"f":1})",
                   R"({"a":1,"b":2 ,"c":"x" ,"d":{} ,"e":[],"f":1})", Faults(5, JsonFault::kMissingComma));
    check_repaired(R"({,"a":1,,"b":2,})", R"({"a":1,"b":2})", Faults(3, JsonFault::kExtraComma));
    check_repaired(R"([[1][2]{}3,])", R"([[1],[2],{},3])",
                   {JsonFault::kMissingComma, JsonFault::kMissingComma, JsonFault::kMissingComma,
                    JsonFault::kExtraComma});
    check_repaired(R"({"b"::2,"c"})", R"({"b":2,"c":null})",
                   {JsonFault::kExtraColon, JsonFault::kMissingValue});
    check_repaired("{a:1, b :2}", R"({"a":1, "b" :2})", Faults(2, JsonFault::kBareKey));
    check_repaired(R"({"a":[1,2},"b":3)"
                   "}",
                   R"({"a":[1,2]})", {JsonFault::kMissingBracket});
    check_repaired(R"([{"a":1])", R"([{"a":1}])", {JsonFault::kMissingBracket});
}

TEST_CASE("An event without its last bracket ends where the next begins") {
    const std::string text = R"({"ph":"X","args":{"a":1},{"ph":"X"}])";
    const Outcome out = repair(text);
    CHECK(out.end == JsonRepair::End::kComplete);
    CHECK(out.text == R"({"ph":"X","args":{"a":1}})");
    CHECK(text.substr(out.consumed) == R"(,{"ph":"X"}])");
}

TEST_CASE("An event that was cut off and written over is lost up to the next") {
    for (const std::string cut : {R"({"ph":"X","ts":12,)", R"({"ph":"X","name":"abc[)", R"({"ph":"X","na)"}) {
        INFO(cut);
        const std::string text = cut + R"({"ph":"M"},{"ph":"X"}])";
        const Outcome out = repair(text);
        CHECK(out.end == JsonRepair::End::kLost);
        CHECK(out.consumed <= cut.size());
    }
}

TEST_CASE("Every beginning of an event is incomplete") {
    const std::string event =
        R"({"ph":"X","name":"a \" }, { b","args":{"x":[1,{"y":2.5}],"z":null},"dur":1.5})";
    for (size_t length = 0; length < event.size(); ++length) {
        INFO(event.substr(0, length));
        CHECK(repair(event.substr(0, length)).end == JsonRepair::End::kIncomplete);
        CHECK(repair(event.substr(0, length), JsonRepair::Behind::kMore).end == JsonRepair::End::kIncomplete);
    }
    CHECK(repair(event, JsonRepair::Behind::kMore).end == JsonRepair::End::kComplete);
}

TEST_CASE("Depth is bounded") {
    const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']') + ","; };
    CHECK(repair(nested(kMaxJsonDepth)).end == JsonRepair::End::kComplete);
    const Outcome deep = repair(nested(kMaxJsonDepth + 1));
    CHECK(deep.end == JsonRepair::End::kTooDeep);
    CHECK(deep.consumed == 2 * (kMaxJsonDepth + 1));
    const Outcome deeper =
        repair(R"({"a":)" + std::string(100000, '[') + R"("]]\"]")" + std::string(100000, ']') + "}");
    CHECK(deeper.end == JsonRepair::End::kTooDeep);
    CHECK(deeper.consumed == 200000 + 13);
    CHECK(repair(std::string(100000, '['), JsonRepair::Behind::kMore).end == JsonRepair::End::kIncomplete);
}

TEST_CASE("The place of a tracked key in the damaged text") {
    JsonRepair repair;
    const std::string text = R"({"args":1, "n":{"args":2}, "args" : {"a":NaN,"args":"x\y"} , "z":1})";
    REQUIRE(repair.run(text, JsonRepair::Behind::kFileEnd, "args") == JsonRepair::End::kComplete);
    CHECK(text.substr(repair.tracked().offset, repair.tracked().length) == R"({"a":NaN,"args":"x\y"})");
    REQUIRE(repair.run(R"({"n":{"args":2}})", JsonRepair::Behind::kFileEnd, "args") ==
            JsonRepair::End::kComplete);
    CHECK(repair.tracked().length == 0);
}

TEST_CASE("Tokens are decoded on demand") {
    std::string scratch;
    CHECK(JsonToken(R"("a\"\u00e9\ud83d\ude00\q")").text(scratch) == "a\"\u00e9\U0001F600\\q");
    CHECK(JsonToken(R"("plain")").text(scratch) == "plain");
    CHECK(JsonToken("12").text(scratch) == "12");
    CHECK(JsonToken("null").text(scratch).empty());
    CHECK(JsonToken("null").is_null());
    CHECK_FALSE(JsonToken(R"("null")").is_null());
    CHECK(JsonToken("-12").is_integer());
    CHECK_FALSE(JsonToken("1.0").is_integer());
    CHECK_FALSE(JsonToken(R"("1")").is_integer());
    int64_t value = 0;
    CHECK(JsonToken(R"("1736413971558972.912")").microseconds_as_ns(&value) == Parsed::kExact);
    CHECK(value == 1736413971558972912);
    CHECK(JsonToken("828.33653125").microseconds_as_ns(&value) == Parsed::kRounded);
    CHECK(value == 828337);
    CHECK(JsonToken(R"("")").microseconds_as_ns(&value) == Parsed::kEmpty);
    CHECK(JsonToken().integer(&value) == Parsed::kEmpty);
    CHECK(JsonToken("18446744073709551615").integer(&value) == Parsed::kOutOfRange);
}
