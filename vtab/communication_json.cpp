#include "vtab/communication_json.h"

#include <utility>
#include <vector>

#include "ext/core/input.h"
#include "ext/core/json_fault.h"
#include "ext/core/json_members.h"
#include "ext/core/json_repair.h"

namespace profana {
namespace {

constexpr size_t kBlock = size_t{1} << 18;
constexpr size_t kLongest = size_t{1} << 30;  // such files are some MB
constexpr size_t kDeepest = 6;                // keys above a leaf, in any form

std::string read_bytes(const std::string& path, LoadContext& context) {
    const auto input = Input::open(path, context);
    std::string bytes;
    for (size_t got = kBlock; got > 0;) {
        context.progress.poll();
        const size_t before = bytes.size();
        bytes.resize(before + kBlock);
        got = input->read(bytes.data() + before, kBlock);
        bytes.resize(before + got);
        if (bytes.size() > kLongest)
            throw file_error(path, 0, "longer than 1 GiB; not a file of this kind", ErrorKind::kTooBig);
    }
    return bytes;
}

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

class Walk {
  public:
    Walk(const CommunicationLeaf& leaf, std::vector<std::string_view> leaf_keys)
        : leaf_(leaf), leaf_keys_(std::move(leaf_keys)) {}

    void object(const CommunicationPlace& place, const JsonToken& value, size_t depth) {
        if (is_leaf(value)) {
            leaf_(place, value);
            return;
        }
        if (depth == kDeepest || value.raw().front() != '{') {
            strange = true;
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
};

void read(const std::string& path, LoadContext& context, const CommunicationLeaf& leaf, const char* kind,
          std::vector<std::string_view> leaf_keys) {
    const std::string text = read_whole_json(path, context);
    bool any = false;
    const CommunicationLeaf counted = [&](const CommunicationPlace& place, const JsonToken& value) {
        any = true;
        leaf(place, value);
    };
    Walk walk(counted, std::move(leaf_keys));
    walk.object({}, JsonToken(text), 0);
    if (walk.strange && !any) throw file_error(path, 0, std::string("not a ") + kind);
    if (walk.strange) {
        Diagnostic diagnostic;
        diagnostic.file = path;
        diagnostic.code = "communication_unknown_form";
        diagnostic.message = "values of another form than operations have; skipped";
        context.diagnostics.add(std::move(diagnostic));
    }
}

}  // namespace

std::string read_whole_json(const std::string& path, LoadContext& context) {
    const std::string bytes = read_bytes(path, context);
    size_t begin = bytes.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    begin = json_skip_blanks(bytes, begin);
    if (begin == bytes.size()) throw file_error(path, 0, "the file is empty");
    JsonRepair repair;
    const auto end = repair.run(std::string_view(bytes).substr(begin), JsonRepair::Behind::kFileEnd);
    FaultNotes notes;
    for (const JsonRepair::Note& note : repair.notes()) notes.add(note.fault, begin + note.offset);
    if (end != JsonRepair::End::kComplete) {
        const char* why = end == JsonRepair::End::kIncomplete ? "the file ends in the middle of its JSON"
                          : end == JsonRepair::End::kTooDeep  ? "nested deeper than 1000 levels"
                                                              : "not JSON";
        throw file_error(path, 0,
                         std::string(why) + ", at byte " + std::to_string(begin + repair.consumed()));
    }
    const size_t rest = json_skip_blanks(bytes, begin + repair.consumed());
    if (rest < bytes.size()) notes.add(JsonFault::kTrailingBytes, rest);
    notes.report(path, context.diagnostics);
    return repair.text();
}

void read_communication(const std::string& path, LoadContext& context, const CommunicationLeaf& leaf) {
    read(path, context, leaf, "communication.json: no operation has a Communication Time Info",
         {"Communication Time Info", "Communication Bandwidth Info"});
}

void read_communication_matrix(const std::string& path, LoadContext& context, const CommunicationLeaf& leaf) {
    read(path, context, leaf, "communication_matrix.json: no link has a Transport Type",
         {"Transport Type", "Transit Size(MB)", "Transit Time(ms)"});
}

}  // namespace profana
