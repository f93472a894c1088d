// Splitting into chunks: of a valid trace, the same events come out at every chunk size as simdjson's own
// parser finds, without a diagnostic.
#include <simdjson.h>

#include <cstdlib>

#include "tests/fuzz/trace_input.h"

using namespace profana;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

// Does the text have escapes that come out otherwise: half surrogates, NUL?
bool has_special_escapes(std::string_view text) {
    return text.find("\\u") != std::string_view::npos;
}

// The events of a valid trace; false: it is none, or has something that we repair and simdjson does not mind.
bool expected_events(std::string_view text, std::vector<fuzz::Event>* events) {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (has_special_escapes(text) || parser.parse(simdjson::padded_string(text)).get(root)) return false;
    simdjson::dom::array list;
    if (root.get(list)) return false;
    for (const simdjson::dom::element element : list) {
        simdjson::dom::object object;
        if (element.get(object)) return false;
        fuzz::Event event;
        for (const auto field : object) {  // the last of equal keys counts
            std::string_view value;
            if (field.key == "ph") event.ph = field.value.get(value) ? "?" : std::string(value);
            if (field.key == "name") event.name = field.value.get(value) ? "?" : std::string(value);
        }
        events->push_back(event);
    }
    return true;
}

class TraceMaker {
  public:
    explicit TraceMaker(std::string_view choices) : choices_(choices) {}

    std::string list() {
        text_ = "[";
        for (bool first = true; at_ < choices_.size(); first = false) {
            if (!first) text_ += ',';
            blank();
            object(0);
        }
        return text_ + "]";
    }

  private:
    size_t choose(size_t n) {
        return at_ < choices_.size() ? static_cast<unsigned char>(choices_[at_++]) % n : 0;
    }

    void blank() {
        constexpr const char* kBlanks[] = {"", "", "", " ", "\n", "\t \r"};
        text_ += kBlanks[choose(6)];
    }

    void string() {
        constexpr const char* kParts[] = {
            "},{\\\"", "\\\\", "},{", "\\\",", "[{\\\"ph\\\":", "]", "}", "a", "\\n", "ph"};
        text_ += '"';
        for (size_t parts = choose(4); parts > 0; --parts) text_ += kParts[choose(std::size(kParts))];
        text_ += '"';
    }

    void value(int depth) {
        switch (depth < 4 ? choose(6) : choose(4)) {
            case 0:
                text_ += "-1.5e3";
                break;
            case 1:
                text_ += "null";
                break;
            case 4:
                return array(depth + 1);
            case 5:
                return object(depth + 1);
            default:
                string();
        }
    }

    void array(int depth) {
        text_ += '[';
        for (size_t n = choose(4); n > 0; --n) {
            blank();
            value(depth);
            if (n > 1) text_ += ',';
        }
        text_ += ']';
    }

    void object(int depth) {
        constexpr const char* kKeys[] = {"\"ph\"", "\"name\"", "\"args\"", "\"k\"", "\"\"", "\"},{\\\"ph\""};
        text_ += '{';
        for (size_t n = choose(5); n > 0; --n) {
            text_ += kKeys[choose(std::size(kKeys))];
            blank();
            text_ += ':';
            blank();
            value(depth);
            blank();
            if (n > 1) text_ += ',';
        }
        text_ += '}';
    }

    std::string_view choices_;
    size_t at_ = 0;
    std::string text_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size > 4096) return 0;
    std::string text(reinterpret_cast<const char*>(data), size);
    std::vector<fuzz::Event> expected;
    if (!expected_events(text, &expected)) {
        text = TraceMaker(text).list();
        expected.clear();
        if (!expected_events(text, &expected)) return 0;
    }
    std::vector<fuzz::Event> whole;
    for (const size_t chunk : {size_t{1} << 20, text.size() / 3, size_t{1}}) {
        std::vector<fuzz::Event> events;
        size_t faults = 0;
        require(fuzz::read_events(text, chunk, &events, &faults));
        require(faults == 0);
        require(events.size() == expected.size());
        for (size_t i = 0; i < events.size(); ++i) {
            if (expected[i].ph != "?") require(events[i].ph == expected[i].ph);
            if (expected[i].name != "?") require(events[i].name == expected[i].name);
        }
        if (chunk == size_t{1} << 20) whole = events;
        require(events == whole);
    }
    return 0;
}
