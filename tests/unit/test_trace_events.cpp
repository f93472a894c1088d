// Reading of whole traces: containers, times, damaged files, and cuts between chunks at every place.
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "ext/core/trace_events.h"
#include "tests/unit/files.h"

using namespace profana;

namespace {

struct Event {
    std::string ph, name, args, key;
    uint64_t offset = 0, line = 0;
    LongRef args_place;
    int64_t dur_ns = -1;
};

class Collector : public TraceConsumer {
  public:
    struct Batch : TraceBatch {
        std::vector<Event> events;
        void event(const TraceEvent& e) override {
            std::string scratch;
            Event event;
            event.ph = e.ph.text(scratch);
            event.name = e.name.text(scratch);
            event.args = e.args.raw();
            if (!e.arg_values.empty()) event.key = e.arg_values[0].raw();
            event.offset = e.offset;
            event.line = e.line;
            event.args_place = trace_args_place(e, 0);
            e.dur.microseconds_as_ns(&event.dur_ns);
            events.push_back(event);
        }
    };
    std::unique_ptr<TraceBatch> start_batch(unsigned) override { return std::make_unique<Batch>(); }
    void merge(TraceBatch& batch, const TraceBatchPlace& place) override {
        for (Event event : static_cast<Batch&>(batch).events) {
            event.line += place.first_line;
            events.push_back(event);
        }
    }
    std::vector<Event> events;
};

struct Reading {
    std::vector<Event> events;
    TraceFacts facts;
    std::vector<Diagnostic> diagnostics;
    uint64_t count(const std::string& code) const {
        for (const Diagnostic& diagnostic : diagnostics) {
            if (diagnostic.code == code) return diagnostic.count;
        }
        return 0;
    }
    std::string names() const {
        std::string all;
        for (const Event& event : events) all += (all.empty() ? "" : " ") + event.name;
        return all;
    }
};

Reading read_file(const std::string& path, size_t chunk_bytes = size_t{1} << 20,
                  std::vector<std::string> keys = {}, size_t longest = size_t{1} << 24) {
    Progress progress;
    Diagnostics diagnostics;
    LoadContext context{progress, diagnostics, 3, 0, 0};
    TraceRequest request;
    request.fields = kTracePh | kTraceName | kTraceArgs | kTraceDur | kTraceLine;
    request.arg_keys = std::move(keys);
    Collector collector;
    ChunkLimits limits;
    limits.chunk_bytes = chunk_bytes;
    limits.row_bytes = longest;
    Reading reading;
    reading.facts = read_trace(path, request, collector, context, limits);
    reading.events = std::move(collector.events);
    reading.diagnostics = diagnostics.rows();
    CHECK(reading.facts.events == reading.events.size());
    return reading;
}

Reading read_text(std::string_view text, size_t chunk_bytes = size_t{1} << 20,
                  std::vector<std::string> keys = {}) {
    TempFolder folder;
    return read_file(folder.write("trace.json", text), chunk_bytes, std::move(keys));
}

std::string event(const std::string& name) {
    return R"({"ph":"X","name":")" + name + R"(","dur":1.5})";
}

}  // namespace

TEST_CASE("A list or an object with traceEvents") {
    const Reading list = read_text("[" + event("a") + ",\n" + event("b") + "]\n");
    CHECK(list.names() == "a b");
    CHECK(list.events[1].dur_ns == 1500);
    CHECK(list.events[0].line == 1);
    CHECK(list.events[1].line == 2);
    CHECK(list.facts.state == FileState::kComplete);
    CHECK_FALSE(list.facts.is_object);
    CHECK(list.diagnostics.empty());

    const std::string text =
        "\n{\"note\":\"\\\"traceEvents\\\": [\",\"deviceProperties\":[{\"id\":0},{\"id\":1}],\n"
        "\"traceEvents\" : [\n" +
        event("a") + "\n,\n" + event("b") +
        "\n], \"traceName\":\"t\", \"n\":{\"traceEvents\":[{\"ph\":\"X\"}]}, \"last\":3}\n";
    const Reading object = read_text(text);
    CHECK(object.names() == "a b");
    CHECK(object.facts.is_object);
    CHECK(object.events[0].line == 4);
    CHECK(object.events[1].line == 6);
    CHECK(text.substr(object.events[1].offset, 20) == event("b").substr(0, 20));
    REQUIRE(object.facts.keys.size() == 5);
    CHECK(object.facts.key("deviceProperties").raw() == R"([{"id":0},{"id":1}])");
    CHECK(object.facts.key("traceName").raw() == R"("t")");
    CHECK(object.facts.key("last").raw() == "3");
    CHECK(object.facts.key("none").absent());
    CHECK(object.diagnostics.empty());

    CHECK(read_text("[]").events.empty());
    CHECK(read_text("\xEF\xBB\xBF [ ]").diagnostics.empty());
    CHECK(read_text(R"({"traceEvents":[]})").facts.state == FileState::kComplete);
}

TEST_CASE("The base of times before or behind the events") {
    const std::string events = "\"traceEvents\":[" + event("a") + "]";
    CHECK(read_text("{\"baseTimeNanoseconds\": 1704067200000000000, " + events + "}").facts.base_ns ==
          1704067200000000000);
    CHECK(read_text("{" + events + ", \"baseTimeNanoseconds\":1704067200000500000}").facts.base_ns ==
          1704067200000500000);
    CHECK_FALSE(read_text("{" + events + "}").facts.base_ns.has_value());
}

TEST_CASE("What is no trace is refused with its reason") {
    using Catch::Matchers::Contains;
    CHECK_THROWS_WITH(read_text(""), Contains("empty"));
    CHECK_THROWS_WITH(read_text("root:x:0:0:"), Contains("no trace"));
    CHECK_THROWS_WITH(read_text(R"({"schemaVersion":1,"events":[]})"),
                      Contains("no list under the key traceEvents"));
    CHECK_THROWS_WITH(read_text(R"({"traceEvents":3})"), Contains("no list under the key traceEvents"));
    CHECK_THROWS_WITH(read_text(R"({"a":1 5})"), Contains("not JSON at byte 7"));
    CHECK_THROWS_WITH(read_text(std::string("[\0{\0}\0]\0", 8)), Contains("is UTF-16 text"));
    CHECK_THROWS_WITH(read_text(std::string("\0[\0{\0}\0]", 8)), Contains("is UTF-16 text"));
}

TEST_CASE("Keys of args come out of one pass") {
    const Reading reading = read_text(
        R"([{"ph":"X","args":{"Task Type":"AI_CORE","l":[{"Task Type":1}]}},{"ph":"X","args":{}},{"ph":"X"},)"
        R"({"ph":"X","args":{"a":NaN,"Task Type":[1, 2] }},{"ph":"X","args":"Task Type"}])",
        100, {"Task Type"});
    REQUIRE(reading.events.size() == 5);
    CHECK(reading.events[0].key == R"("AI_CORE")");
    CHECK(reading.events[1].key.empty());
    CHECK(reading.events[2].key.empty());
    CHECK(reading.events[3].key == "[1, 2]");
    CHECK(reading.events[3].args == R"({"a":null,"Task Type":[1, 2] })");
    CHECK(reading.events[4].key.empty());
    CHECK(reading.count("json_bare_value") == 1);
}

TEST_CASE("Args are read again from their place, repaired in the same way") {
    TempFolder folder;
    const std::string path =
        folder.write("t.json",
                     "[{\"ph\":\"X\",\"args\": {\"a\" : \"x\"} "
                     "},{\"args\":{\"p\":\"C:\\dir\",\"v\":NaN,\"c\":\"\x01\"}},{\"ph\":\"M\"}]");
    const Reading reading = read_file(path);
    const auto source = trace_args_source({path}, {stamp_file(path)});
    REQUIRE(reading.events.size() == 3);
    for (size_t i = 0; i < 2; ++i) {
        CHECK(source->read(reading.events[i].args_place) == reading.events[i].args);
    }
    CHECK(reading.events[1].args == R"({"p":"C:\\dir","v":null,"c":"\u0001"})");
    CHECK(reading.events[2].args.empty());
}

TEST_CASE("Lists that are not as they should be") {
    const std::string a = event("a"), b = event("b"), c = event("c");
    const auto check = [](const std::string& text, const std::string& names, FileState state,
                          const std::string& code) {
        for (const size_t chunk : {size_t{1}, size_t{50}, size_t{1} << 20}) {
            INFO(text << " in chunks of " << chunk);
            const Reading reading = read_text(text, chunk);
            CHECK(reading.names() == names);
            CHECK(std::string(file_state_name(reading.facts.state)) == file_state_name(state));
            REQUIRE(reading.diagnostics.size() == 1);
            CHECK(reading.diagnostics[0].code == code);
        }
    };
    check("[" + a + "," + b + ",]", "a b", FileState::kComplete, "json_extra_comma");
    check("[" + a + ",," + b + "]", "a b", FileState::kComplete, "json_extra_comma");
    check("[" + a + b + "]", "a b", FileState::kComplete, "json_missing_comma");
    check("[" + a + "," + b, "a b", FileState::kTruncated, "json_not_closed");
    check("[" + a + "," + b + ",", "a b", FileState::kTruncated, "json_not_closed");
    check("[" + a + "," + b + "," + c.substr(0, 20), "a b", FileState::kTruncated, "json_truncated");
    check("[" + a + "]\n[" + b + "]", "a b", FileState::kComplete, "json_spliced_array");
    check("[" + a + "],[" + b + "]", "a b", FileState::kComplete, "json_spliced_array");
    check("[" + a + "[" + b + "]", "a b", FileState::kComplete, "json_spliced_array");
    check("[" + a + "," + b + "] and more", "a b", FileState::kComplete, "json_trailing_bytes");
    check("[" + a + ",null," + b + "]", "a b", FileState::kCorrupt, "json_not_an_event");
    check("[" + a + ",\"x\"," + b + "]", "a b", FileState::kCorrupt, "json_not_an_event");
    check("[" + a + ",}:}" + b + "]", "a b", FileState::kCorrupt, "json_garbage");
    check("[" + a + std::string(30, '\0') + "," + b + "]", "a b", FileState::kCorrupt, "json_garbage");
    check("{\"traceEvents\":[" + a + "," + b + "}", "a b", FileState::kTruncated, "json_not_closed");
    check("{\"traceEvents\":[" + a + "," + b + ",\"x\":1}", "a b", FileState::kTruncated, "json_not_closed");
    check("{\"traceEvents\":[" + a + "," + b + "], \"x\":1", "a b", FileState::kTruncated, "json_not_closed");
    check("{\"traceEvents\":[" + a + "],\"x\":1,\"traceEvents\":[" + b + "]}", "a b", FileState::kComplete,
          "json_second_list");
    // Cut off in an event, and written on by somebody else.
    check("[" + a + R"(,{"ph":"X","ts":12,)" + b + "," + c + "]", "a b c", FileState::kCorrupt,
          "json_event_skipped");
    check("[" + a + R"(,{"ph":"X","name":"cu[)" + b + "," + c + "]", "a b c", FileState::kCorrupt,
          "json_event_skipped");
}

TEST_CASE("Keys behind a damaged list are found") {
    const Reading unclosed = read_text("{\"traceEvents\":[" + event("a") + ", \"x\":7}");
    CHECK(unclosed.facts.key("x").raw() == "7");
    const Reading lost = read_text("{\"traceEvents\":[" + event("a") + R"(,{"ph":"X","ts":1 ? }], "x":7})");
    CHECK(lost.names() == "a");
    CHECK(lost.facts.key("x").raw() == "7");
    CHECK(lost.count("json_event_skipped") == 1);
}

TEST_CASE("An event too long is skipped to its end, and told once") {
    const std::string a = event("a"), b = event("b"), text(2600, 'x');
    const auto with = [](const std::string& args) {
        return R"({"ph":"X","name":"long","args":)" + args + "}";
    };
    TempFolder folder;
    for (const std::string& args :
         {"\"" + text + "\"", R"({"k":")" + text + R"(","l":[{"m":1},{"m":2}]})",
          R"({"k":")" + text + R"({\"ph\":1}"})",
          "[" + std::string(text.size(), '[') + "1" + std::string(text.size(), ']') + "]"}) {
        for (const bool object : {false, true}) {
            const std::string open = object ? "{\"traceEvents\":[" : "[", close = object ? "],\"x\":7}" : "]";
            const std::string head = open + a + ",";
            INFO(args.substr(0, 10) << (object ? " in an object" : ""));
            const auto check = [&](const std::string& all, const std::string& names) {
                const Reading reading = read_file(folder.write("t.json", all), 100, {}, 1000);
                CHECK(reading.names() == names);
                REQUIRE(reading.diagnostics.size() == 1);
                CHECK(reading.diagnostics[0].code == "json_event_too_long");
                CHECK(static_cast<size_t>(reading.diagnostics[0].offset) == head.size());
                CHECK(reading.facts.state == FileState::kCorrupt);
                if (object) CHECK(reading.facts.key("x").raw() == "7");
            };
            check(head + with(args) + "," + b + close, "a b");
            check(head + with(args) + "," + b + "," + b + close, "a b b");
            check(head + with(args) + close, "a");
        }
    }
}

TEST_CASE("A cut file gives its complete events, wherever it is cut") {
    const std::string text = "[" + event("a") +
                             ", {\"ph\":\"X\",\"name\":\"b\",\"args\":{\"l\":[{\"x\":1},{\"y\":\"z\"}]}},\n" +
                             event("c") + "]";
    const size_t ends[] = {text.find("}, {") + 1, text.find("},\n") + 1, text.size() - 1};
    for (size_t length = 1; length < text.size(); ++length) {
        INFO(text.substr(0, length));
        const Reading reading = read_text(text.substr(0, length), 16);
        size_t complete = 0;
        for (const size_t end : ends) complete += length >= end;
        CHECK(reading.events.size() == complete);
        CHECK(reading.facts.state == FileState::kTruncated);
    }
}

TEST_CASE("Events nested too deep are skipped, others are not") {
    const auto nested = [](size_t depth) {
        return R"({"ph":"X","name":"n","args":{"x":)" + std::string(depth, '[') + std::string(depth, ']') +
               "}}";
    };
    const Reading reading =
        read_text("[" + event("a") + "," + nested(100000) + "," + event("b") + "," + nested(60) + "]");
    CHECK(reading.names() == "a b n");
    CHECK(reading.count("json_too_deep") == 1);
    CHECK(reading.facts.state == FileState::kCorrupt);
    // 998 arrays in args in the event are 1000 levels.
    CHECK(read_text("[" + nested(998) + "]").events.size() == 1);
    CHECK(read_text("[" + nested(999) + "]").events.empty());
}

TEST_CASE("Cuts are proved: args that look like lists of events, at every chunk size") {
    std::mt19937 random(7);
    const auto pick = [&](size_t n) { return static_cast<size_t>(random() % n); };
    const std::vector<std::string> strings = {R"(},{\")", R"(},{\"ph\":\"X\")",
                                              R"(\\)",    R"(\",\"ph\":)",
                                              R"(}]},{)", R"([{\"name\":)",
                                              "plain",    R"(\\\")",
                                              "}",        R"(], [)"};
    for (int round = 0; round < 30; ++round) {
        std::string text = "[", names;
        const size_t count = 1 + pick(12);
        for (size_t i = 0; i < count; ++i) {
            const std::string name = "e" + std::to_string(i);
            std::string list;
            for (size_t k = pick(5); k > 0; --k)
                list +=
                    R"({"ph":"X","name":")" + strings[pick(strings.size())] + R"("},)" + (pick(2) ? " " : "");
            text += (i > 0 ? "," : "") + std::string(pick(3), ' ') + R"({"ph":"X","args":{"l":[)" + list +
                    R"({"ph":"X"}]},"cat":")" + strings[pick(strings.size())] + R"(","name":")" + name +
                    R"("})";
            names += (i > 0 ? " " : "") + name;
        }
        text += "]";
        for (size_t chunk = 1; chunk < text.size() + 2; chunk += 1 + pick(1 + chunk / 8)) {
            INFO(text << "\nin chunks of " << chunk);
            const Reading reading = read_text(text, chunk);
            REQUIRE(reading.names() == names);
            REQUIRE(reading.diagnostics.empty());
        }
    }
}

TEST_CASE("What a file says is the same at every chunk size, damaged or not") {
    const std::string text =
        "[" + event("a") + R"(, {"ph":"X","name":"f<"x">","args":{"p":"C:\d\","v":NaN}},)" + event("b") +
        ",{\"ph\":\"X\",\"name\":\"c\x9f\"}," + event("d") + event("e") +
        ",{\"ph\":\"X\",\"name\":\"f\",\"args\":{\"q\":1},{\"ph\":\"X\",\"name\":\"g\"}]";
    for (size_t chunk = 1; chunk < text.size() + 2; ++chunk) {
        INFO("in chunks of " << chunk);
        const Reading reading = read_text(text, chunk);
        CHECK(reading.names() == "a f<\"x\"> b c\uFFFD d e f g");
        CHECK(reading.count("json_unescaped_quote") == 1);
        CHECK(reading.count("json_bad_escape") == 2);
        CHECK(reading.count("json_bare_value") == 1);
        CHECK(reading.count("json_invalid_utf8") == 1);
        CHECK(reading.count("json_missing_comma") == 1);
        CHECK(reading.count("json_missing_bracket") == 1);
        CHECK(reading.facts.state == FileState::kComplete);
    }
}

TEST_CASE("The last of two equal keys counts") {
    const Reading reading = read_text(
        R"([{"ph":"M","name":"x","args":{"k":1},"ph":"X","name":"y","args":{"k":2,"k":3}}])", 64, {"k"});
    CHECK(reading.events[0].ph == "X");
    CHECK(reading.names() == "y");
    CHECK(reading.events[0].key == "3");
    CHECK(reading.events[0].args == R"({"k":2,"k":3})");
}

TEST_CASE("A gzip trace") {
    TempFolder folder;
    const std::string text = "{\"traceEvents\":[" + event("a") + "," + event("b") + "],\"x\":1}";
    CHECK(read_file(folder.write("t.json.gz", gzip(text))).names() == "a b");
    // In members cut at any byte; without the trailer.
    CHECK(read_file(folder.write("m.gz", gzip(text.substr(0, 30)) + gzip(text.substr(30)))).names() == "a b");
    const std::string member = gzip(text);
    const Reading cut = read_file(folder.write("c.gz", member.substr(0, member.size() - 8)));
    CHECK(cut.names() == "a b");
    CHECK(cut.facts.state == FileState::kTruncated);
    CHECK(cut.count("gzip_truncated") == 1);
}
