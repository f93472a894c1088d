// Damaged traces: whatever the bytes, names are UTF-8 without NUL, args are valid JSON, and the repair of
// JSON leaves nothing to be repaired.
#include <simdjson.h>

#include <cstdlib>

#include "ext/core/json_repair.h"
#include "ext/core/json_token.h"
#include "ext/core/utf8.h"
#include "tests/fuzz/trace_input.h"

using namespace profana;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

// Integers beyond 64 bits and levels beyond 1000 are beyond simdjson, but not wrong.
bool is_json(std::string_view text) {
    simdjson::dom::parser parser;
    const auto error = parser.parse(simdjson::padded_string(text)).error();
    return error == simdjson::SUCCESS || error == simdjson::NUMBER_ERROR || error == simdjson::DEPTH_ERROR;
}

void check_repair(std::string_view text) {
    JsonRepair repair;
    if (repair.run(text, JsonRepair::Behind::kFileEnd) != JsonRepair::End::kComplete) return;
    require(repair.consumed() <= text.size());
    const std::string once = repair.text();
    require(is_json(once));
    require(repair.run(once, JsonRepair::Behind::kNothing) == JsonRepair::End::kComplete);
    require(repair.notes().empty());
    require(repair.text() == once);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_repair(text);
    std::vector<fuzz::Event> events;
    size_t faults = 0;
    if (!fuzz::read_events(text, 64, &events, &faults)) return 0;
    for (const fuzz::Event& event : events) {
        require(is_utf8_text(event.name) && is_utf8_text(event.ph));
        require(event.args.empty() || is_json(event.args));
        require(event.key.empty() || is_json(event.key));
    }
    // Another pass for other fields sees the same events.
    std::vector<fuzz::Event> again;
    size_t faults_again = 0;
    require(fuzz::read_events(text, 64, &again, &faults_again, kTraceTs));
    require(again.size() == events.size() && faults_again == faults);
    for (size_t i = 0; i < events.size(); ++i) require(again[i].offset == events[i].offset);
    return 0;
}
