#include "vtab/communication_json.h"

#include <utility>
#include <vector>

#include "ext/core/input.h"
#include "ext/core/json_fault.h"
#include "ext/core/json_members.h"
#include "ext/core/json_repair.h"

namespace profana {
namespace {

constexpr size_t kDeepest = 6;  // keys above a leaf, in any form

std::optional<int64_t> as_integer(std::string_view text) {
    int64_t value = 0;
    if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    return parse_integer(text, &value) == Parsed::kExact ? std::optional(value) : std::nullopt;
}

// "step50" and "step"; false: not a step.
bool read_step(std::string_view key, CommunicationPlace* place) {
    if (!key.starts_with("step")) return false;
    const std::string_view number = key.substr(4);
    if (!number.empty() && !as_integer(number)) return false;
    place->step = as_integer(number);
    return true;
}

bool read_link(std::string_view key, CommunicationPlace* place) {
    const size_t dash = key.find('-');
    if (dash == std::string_view::npos) return false;
    place->source_rank = as_integer(key.substr(0, dash));
    place->target_rank = as_integer(key.substr(dash + 1));
    return place->source_rank && place->target_rank;
}

void read_operation(std::string_view key, CommunicationPlace* place) {
    const size_t at = key.rfind('@');
    place->name = key.substr(0, at);
    if (at != std::string_view::npos) place->group_name = key.substr(at + 1);
}

// Adds what one more key says to the place.
CommunicationPlace deeper(const CommunicationPlace& above, std::string_view key) {
    CommunicationPlace place = above;
    if (read_step(key, &place)) {
        if (!place.name.empty())
            place.group_name = std::exchange(place.name, {});  // cluster files: a group's hash
    } else if (!place.name.empty()) {
        if (!read_link(key, &place)) place.rank = as_integer(key);
    } else if (key == "p2p" || key == "collective") {
        place.type = key;  // in cluster files in place of a group
    } else if (key.starts_with('(')) {
        place.ranks = key;
    } else {
        read_operation(key, &place);
    }
    return place;
}

// A file's text as valid JSON, closed where it broke off.
struct WholeJson {
    std::string text;
    size_t read = 0;  // what reaches beyond it is unfinished
    // Why the file is refused, if it holds no leaf; empty: it may do without.
    std::string wrong;
};

void report(const std::string& path, Severity severity, const char* code, std::string message, int64_t offset,
            LoadContext& context) {
    context.diagnostics.add(
        {.severity = severity, .file = path, .offset = offset, .code = code, .message = std::move(message)});
}

WholeJson read_whole_json(const std::string& path, LoadContext& context) {
    const std::string bytes = read_small_file(path, context);
    size_t begin = bytes.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    begin = json_skip_blanks(bytes, begin);
    if (begin == bytes.size()) return {"{}", 2, "the file is empty"};
    JsonRepair repair;
    const auto end = repair.run(std::string_view(bytes).substr(begin), JsonRepair::Behind::kFileEnd);
    const size_t place = begin + repair.consumed();
    FaultNotes notes;
    for (const JsonRepair::Note& note : repair.notes()) notes.add(note.fault, begin + note.offset);
    if (end == JsonRepair::End::kComplete) {
        const size_t rest = json_skip_blanks(bytes, place);
        if (rest < bytes.size()) notes.add(JsonFault::kTrailingBytes, rest);
        notes.report(path, context.diagnostics);
        return {repair.text(), repair.text().size(), {}};
    }
    const bool cut = end == JsonRepair::End::kIncomplete, deep = end == JsonRepair::End::kTooDeep;
    const std::string why = cut    ? "the file ends in the middle of its JSON"
                            : deep ? "nested deeper than 1000 levels"
                                   : "not JSON";
    const std::string broke_off =
        why + ", at byte " + std::to_string(place) + "; check the path, or export it again";
    const size_t read = repair.close_text();
    if (read == 0) return {"{}", 2, broke_off};
    notes.report(path, context.diagnostics);
    report(path, Severity::kError,
           cut    ? "json_truncated"
           : deep ? "json_too_deep"
                  : "json_garbage",
           why + "; what is whole before this place is read, the rest is lost: sums are lower bounds",
           static_cast<int64_t>(place), context);
    return {repair.text(), read, cut ? std::string() : broke_off};
}

class Walk {
  public:
    // of_links: a leaf stands under the two ranks of its link.
    Walk(const WholeJson& json, const CommunicationLeaf& leaf, std::vector<std::string_view> leaf_keys,
         bool of_links)
        : leaf_(leaf),
          leaf_keys_(std::move(leaf_keys)),
          of_links_(of_links),
          end_(json.text.data() + json.read) {}

    void object(const CommunicationPlace& place, const JsonToken& value, size_t depth) {
        const bool finished = value.raw().data() + value.raw().size() <= end_;
        if (is_leaf(value) && (!of_links_ || place.source_rank)) {
            if (finished) leaf_(place, value);
            return;
        }
        if (depth == kDeepest || value.raw().front() != '{') {
            strange |= finished;
            return;
        }
        std::string scratch;
        each_json_member(value, [&](const JsonToken& key, const JsonToken& member) {
            const CommunicationPlace below = deeper(place, key.text(scratch));
            object(below, member, depth + 1);
        });
    }

    bool strange = false;  // something that stands in no file of this kind

  private:
    bool is_leaf(const JsonToken& value) const {
        for (const std::string_view key : leaf_keys_) {
            if (!json_member(value, key).absent()) return true;
        }
        return false;
    }

    const CommunicationLeaf& leaf_;
    const std::vector<std::string_view> leaf_keys_;
    const bool of_links_;
    const char* const end_;  // of what was read
};

void read(const std::string& path, CommunicationFault fault, LoadContext& context,
          const CommunicationLeaf& leaf, const char* kind, std::vector<std::string_view> leaf_keys,
          bool of_links) {
    const WholeJson json = read_whole_json(path, context);
    bool any = false;
    const CommunicationLeaf counted = [&](const CommunicationPlace& place, const JsonToken& value) {
        any = true;
        leaf(place, value);
    };
    Walk walk(json, counted, std::move(leaf_keys), of_links);
    walk.object({}, JsonToken(json.text), 0);
    const bool refused = !any && (walk.strange || !json.wrong.empty());
    const std::string why = json.wrong.empty() ? std::string("not a ") + kind : json.wrong;
    if (refused && fault == CommunicationFault::kError) throw file_error(path, 0, why);
    if (refused)
        report(path, Severity::kError, "communication_unreadable", why + "; no row of it was read", -1,
               context);
    else if (walk.strange)
        report(path, Severity::kWarning, "communication_unknown_form",
               "values of another form than operations have; skipped", -1, context);
}

}  // namespace

void report_bad_number(const std::string& path, const CommunicationPlace& place, std::string_view key,
                       const JsonToken& value, Parsed parsed, LoadContext& context) {
    if (parsed != Parsed::kNotANumber && parsed != Parsed::kOutOfRange) return;
    std::string scratch;
    const std::string_view text = value.text(scratch);
    if (text == "N/A") return;
    const bool far = parsed == Parsed::kOutOfRange;
    report(path, Severity::kWarning, far ? "number_out_of_range" : "not_a_number",
           excerpt(place.name) + ": " + std::string(key) + ": '" + excerpt(text) +
               (far ? "' is beyond 64 bits; read as NULL" : "' is no number; read as NULL"),
           -1, context);
}

void read_communication(const std::string& path, CommunicationFault fault, LoadContext& context,
                        const CommunicationLeaf& leaf) {
    read(path, fault, context, leaf, "communication.json: no operation has a Communication Time Info",
         {"Communication Time Info", "Communication Bandwidth Info"}, false);
}

void read_communication_matrix(const std::string& path, CommunicationFault fault, LoadContext& context,
                               const CommunicationLeaf& leaf) {
    read(path, fault, context, leaf, "communication_matrix.json: no link has a Transport Type",
         {"Transport Type", "Transit Size(MB)", "Transit Time(ms)"}, true);
}

}  // namespace profana
