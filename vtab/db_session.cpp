// The small tables: prof_step, prof_mstx_range, prof_overlap_bar, prof_device, prof_api_stat,
// prof_process_group.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "ext/core/group_hash.h"
#include "ext/core/plausible.h"
#include "vtab/db_groups.h"
#include "vtab/db_loaders.h"
#include "vtab/json_file.h"

namespace profana {

using simdjson::dom::element;

// ---- steps -----------------------------------------------------------------------------------------------

void load_step(Load& load) {
    // Of a step that is listed twice the last row counts.
    const auto& listed = load.steps().windows();
    std::unordered_map<int64_t, size_t> last;
    for (size_t i = 0; i < listed.size(); ++i) last[listed[i].step] = i;
    std::vector<StepWindows::Window> windows;
    for (size_t i = 0; i < listed.size(); ++i)
        if (last[listed[i].step] == i) windows.push_back(listed[i]);
    const uint64_t repeated = listed.size() - windows.size();
    if (repeated > 0)
        load.tell(Severity::kWarning, "repeated_step", "STEP_TIME",
                  "rows of STEP_TIME repeat a step; the last counts", repeated);
    Column *step = load.out("step"), *start = load.out("start_ns"), *end = load.out("end_ns"),
           *source = load.out("source_row");
    for (const auto& window : windows) {
        if (step != nullptr) step->add_int(window.step);
        if (start != nullptr) start->add_int(window.start);
        if (end != nullptr) end->add_int(window.end);
        if (source != nullptr) source->add_int(window.rowid);
    }
    load.set_rows(windows.size());
}

// ---- marks -----------------------------------------------------------------------------------------------

namespace {

const EnumNames kMstxTypes = {{0, "marker"}, {1, "push/pop"}, {2, "start/end"}, {3, "marker_ex"}};

bool is_json(const std::string& text, simdjson::dom::parser& parser) {
    element value;
    return parser.parse(text).get(value) == simdjson::SUCCESS && (value.is_object() || value.is_array());
}

// Some exports put a backslash before every quote of a JSON message. Such a text becomes JSON again; any
// other stays as it is.
std::string unescaped_json(std::string_view text) {
    std::string as_is(text);
    const size_t first = as_is.find_first_not_of(" \t\r\n");
    if (first == std::string::npos || (as_is[first] != '{' && as_is[first] != '[')) return as_is;
    if (as_is.find("\\\"") == std::string::npos) return as_is;
    simdjson::dom::parser parser;
    if (is_json(as_is, parser)) return as_is;
    std::string plain;
    for (size_t i = 0; i < as_is.size(); ++i) {
        const bool escape =
            as_is[i] == '\\' && i + 1 < as_is.size() && (as_is[i + 1] == '"' || as_is[i + 1] == '\\');
        plain += as_is[escape ? ++i : i];
    }
    return is_json(plain, parser) ? plain : as_is;
}

// MSTX_EVENTS.connectionId: 4000000000 and the sentinel mean that nothing on the device belongs to the mark.
int64_t mark_connection(int64_t value) {
    constexpr int64_t kHostOnly = 4000000000;
    const int64_t known = apply(NullRule::kConnection, value);
    return known == kHostOnly ? kNullInt : known;
}

}  // namespace

void load_mstx_range(Load& load) {
    const DbTable* table = load.file.table("MSTX_EVENTS");
    if (table == nullptr) return load.set_rows(0);
    RowCopy rows(load, *table);
    rows.thread(nullptr, "thread_id", {"globalTid"});
    rows.enumeration("event_type", {"eventType"}, read_enum(load, {"ENUM_MSTX_EVENT_TYPE"}, kMstxTypes));
    rows.text("domain", {"domainId"}, TextRule::kAsIs);
    rows.span({"startNs"}, {"endNs"});
    rows.source_row();
    Column *message = load.out("message"), *connection = load.out("connection_id");
    const DbStrings& strings = load.strings();
    const int text_cell = message != nullptr ? rows.scan().cell({"message"}) : kNoCell;
    const int connection_cell = connection != nullptr ? rows.scan().cell({"connectionId"}) : kNoCell;
    constexpr uint32_t kNotYet = std::numeric_limits<uint32_t>::max();
    std::vector<uint32_t> codes(message != nullptr ? strings.size() : 0, kNotYet);
    const uint64_t copied = rows.run([&](const DbRow& row, bool) {
        if (connection != nullptr) connection->add_int(mark_connection(row.integer(connection_cell)));
        if (message == nullptr) return true;
        const std::string_view text = string_of(strings, row, text_cell);
        const bool by_id = !row.is_null(text_cell) && !row.is_text(text_cell);
        const uint32_t place = by_id ? strings.find(row.integer(text_cell)) : IdMap::kNone;
        if (place == IdMap::kNone) {
            message->add_code(text.data() == nullptr ? kNullCode
                                                     : message->dictionary().intern(unescaped_json(text)));
            return true;
        }
        if (codes[place] == kNotYet)
            codes[place] =
                text.data() == nullptr ? kNullCode : message->dictionary().intern(unescaped_json(text));
        message->add_code(codes[place]);
        return true;
    });
    load.set_rows(copied);
}

// ---- lanes -----------------------------------------------------------------------------------------------

void load_overlap_bar(Load& load) {
    static const EnumNames kLanes = {
        {0, "Computing"}, {1, "Communication"}, {2, "Communication(Not Overlapped)"}, {3, "Free"}};
    const DbTable* table = load.file.table("OVERLAP_ANALYSIS");
    if (table == nullptr) return load.set_rows(0);
    RowCopy rows(load, *table);
    rows.device({"deviceId"});
    rows.enumeration("name", {"type"}, kLanes);
    rows.span({"startNs"}, {"endNs"});
    rows.source_row();
    const int type = rows.scan().cell({"type"});
    load.set_rows(rows.run([&](const DbRow& row, bool) { return kLanes.count(row.integer(type)) > 0; }));
}

// ---- devices ---------------------------------------------------------------------------------------------

namespace {

struct Device {
    int64_t id = kNullInt, rowid = kNullInt;  // rowid: of NPU_INFO
    std::string chip;
    std::optional<int64_t> cores, vector_cores;
    std::optional<double> frequency;
};

Device& device_of(std::vector<Device>& devices, int64_t id) {
    for (Device& device : devices)
        if (device.id == id) return device;
    devices.emplace_back().id = id;
    return devices.back();
}

std::vector<int64_t> mapped_devices(Load& load) {
    std::vector<int64_t> out;
    const DbTable* table = load.file.table("RANK_DEVICE_MAP");
    if (table == nullptr) return out;
    DbScan scan(load.file, *table);
    const int device = scan.cell({"deviceId"});
    scan.run(load.context, [&](const DbRow& row) {
        const int64_t id = apply(NullRule::kId, row.integer(device));
        if (id != kNullInt) out.push_back(id);
    });
    return out;
}

void read_chips(Load& load, std::vector<Device>& devices) {
    const DbTable* table = load.file.table("NPU_INFO");
    if (table == nullptr) return;
    DbScan scan(load.file, *table);
    const int id = scan.cell({"id"}), name = scan.cell({"name"}), rowid = scan.rowid();
    scan.run(load.context, [&](const DbRow& row) {
        Device& device = device_of(devices, apply(NullRule::kId, row.integer(id)));
        device.rowid = row.integer(rowid);
        const std::string_view chip = row.text(name);
        if (chip != "UNKNOWN" && chip != "N/A") device.chip = chip;
    });
}

void read_device_info(Load& load, const std::string& path, std::vector<Device>& devices) {
    const JsonFile info = JsonFile::read(path, load.context);
    if (!info) return;
    std::optional<int64_t> id;
    const auto list = info.at({"DeviceInfo"});
    simdjson::dom::array entries;
    if (!list || list->get(entries) != simdjson::SUCCESS) return;
    for (const element entry : entries) {
        if (const auto value = json_member(entry, "id")) id = json_integer(*value);
        if (!id) return;
        Device& device = device_of(devices, *id);
        if (const auto value = json_member(entry, "ai_core_num")) device.cores = json_integer(*value);
        if (const auto value = json_member(entry, "aiv_num")) device.vector_cores = json_integer(*value);
        if (const auto value = json_member(entry, "aic_frequency")) device.frequency = json_real(*value);
    }
}

}  // namespace

void load_device(Load& load) {
    std::vector<Device> devices;
    const std::vector<int64_t> mapped = mapped_devices(load);
    read_chips(load, devices);
    for (const int64_t id : mapped) device_of(devices, id);
    for (const std::string& path : load.profile.files.device_infos) read_device_info(load, path, devices);
    // NPU_INFO may list every device of the host; those of the rank are in RANK_DEVICE_MAP.
    const std::optional<int64_t>& only = load.profile.options.device;
    std::erase_if(devices, [&](const Device& device) {
        if (only && device.id != kNullInt) return device.id != *only;
        return !mapped.empty() && std::find(mapped.begin(), mapped.end(), device.id) == mapped.end();
    });
    Column *id = load.out("device_id"), *chip = load.out("chip"), *cores = load.out("ai_core_num"),
           *vectors = load.out("vector_core_num"), *frequency = load.out("aic_frequency_mhz"),
           *source = load.out("source_row");
    for (const Device& device : devices) {
        if (id != nullptr) id->add_int(device.id);
        const std::string& name = load.profile.options.chip.empty() ? device.chip : load.profile.options.chip;
        if (chip != nullptr && name.empty()) chip->add_null();
        if (chip != nullptr && !name.empty()) chip->add_text(name);
        if (cores != nullptr) cores->add_int(device.cores.value_or(kNullInt));
        if (vectors != nullptr) vectors->add_int(device.vector_cores.value_or(kNullInt));
        if (frequency != nullptr) frequency->add_real(device.frequency.value_or(kNullReal));
        if (source != nullptr) source->add_int(device.rowid);
    }
    load.set_rows(devices.size());
}

// ---- CANN calls ------------------------------------------------------------------------------------------

namespace {

// Count, total, extremes and spread of the durations of one call.
struct ApiTotals {
    int64_t calls = 0, timed = 0;  // timed: calls whose duration is known
    int64_t total = 0, least = kNullInt, most = kNullInt;
    double mean_us = 0, squares_us = 0;  // Welford's sums

    void add(int64_t duration) {
        ++calls;
        if (duration == kNullInt) return;
        least = timed == 0 ? duration : std::min(least, duration);
        most = timed == 0 ? duration : std::max(most, duration);
        ++timed;
        if (total == kNullInt || __builtin_add_overflow(total, duration, &total)) total = kNullInt;
        const double us = static_cast<double>(duration) / 1000.0, delta = us - mean_us;
        mean_us += delta / static_cast<double>(timed);
        squares_us += delta * (us - mean_us);
    }
    int64_t sum() const { return timed == 0 ? kNullInt : total; }
    int64_t mean() const {
        if (sum() == kNullInt) return kNullInt;
        const int64_t floor = total / timed, rest = total % timed;
        const int64_t twice = 2 * (rest < 0 ? -rest : rest), sign = total < 0 ? -1 : 1;
        const bool up = twice > timed || (twice == timed && floor % 2 != 0);
        return floor + (up ? sign : 0);
    }
    double variance() const { return timed == 0 ? kNullReal : squares_us / static_cast<double>(timed); }
};

}  // namespace

void load_api_stat(Load& load) {
    const DbTable* table = load.file.table("CANN_API");
    if (table == nullptr) return load.set_rows(0);
    EnumNames levels = read_enum(load, {"ENUM_API_TYPE"}, {});
    levels.insert(
        {{20000, "acl"}, {15000, "model"}, {10000, "node"}, {5500, "communication"}, {5000, "runtime"}});
    Dictionary texts;
    TextCells names(load, texts, "CANN_API.name", TextRule::kAsIs);
    DbScan scan(load.file, *table);
    const int start = scan.cell({"startNs"}), end = scan.cell({"endNs"}), type = scan.cell({"type"}),
              name = scan.cell({"name"});
    std::vector<std::pair<std::pair<int64_t, uint32_t>, ApiTotals>> calls;  // by first call
    std::map<std::pair<int64_t, uint32_t>, size_t> place;
    scan.run(load.context, [&](const DbRow& row) {
        const std::pair<int64_t, uint32_t> key{row.integer(type), names.code(row, name)};
        const auto [at, first] = place.emplace(key, calls.size());
        if (first) calls.emplace_back(key, ApiTotals());
        calls[at->second].second.add(duration_ns(row.integer(start), row.integer(end)));
    });
    names.report(load);
    Column *level = load.out("level"), *text = load.out("name"), *count = load.out("count"),
           *total = load.out("total_ns"), *average = load.out("avg_ns"), *least = load.out("min_ns"),
           *most = load.out("max_ns"), *variance = load.out("variance");
    for (const auto& [key, totals] : calls) {
        if (level != nullptr) {
            const auto known = levels.find(key.first);
            if (known == levels.end()) {
                level->add_null();
            } else {
                level->add_text(known->second == "hccl" ? "communication" : known->second);
            }
        }
        if (text != nullptr)
            text->add_code(key.second == kNullCode ? kNullCode
                                                   : text->dictionary().intern(texts.text(key.second)));
        if (count != nullptr) count->add_int(totals.calls);
        if (total != nullptr) total->add_int(totals.sum());
        if (average != nullptr) average->add_int(totals.mean());
        if (least != nullptr) least->add_int(totals.least);
        if (most != nullptr) most->add_int(totals.most);
        if (variance != nullptr) variance->add_real(totals.variance());
    }
    load.set_rows(calls.size());
}

// ---- groups ----------------------------------------------------------------------------------------------

ProcessGroups::ProcessGroups(Load& load) {
    const DbTable* table = load.file.table("META_DATA");
    if (table == nullptr) return;
    std::string json;
    DbScan scan(load.file, *table);
    const int name = scan.cell({"name"}), value = scan.cell({"value"});
    scan.run(load.context, [&](const DbRow& row) {
        if (row.text(name) == "parallel_group_info") json = row.text(value);
    });
    if (json.empty()) return;
    const JsonFile file = JsonFile::parse(json, load.file.path(), load.context.diagnostics);
    simdjson::dom::object groups;
    if (!file || file.root().get(groups) != simdjson::SUCCESS) return;
    for (const auto& [communicator, info] : groups) {
        Group group;
        group.communicator = communicator;
        if (const auto text = json_member(info, "group_name")) group.name = json_text(*text);
        if (const auto rank = json_member(info, "group_rank"))
            group.rank = json_integer(*rank).value_or(kNullInt);
        if (const auto ranks = json_member(info, "global_ranks")) group.ranks = simdjson::minify(*ranks);
        by_label_[group.communicator] = groups_.size();
        by_label_.emplace(group_hash(group.communicator), groups_.size());
        groups_.push_back(std::move(group));
    }
}

const std::string* ProcessGroups::name_of(std::string_view group) const {
    const auto found = by_label_.find(group);
    return found == by_label_.end() ? nullptr : &groups_[found->second].name;
}

void load_process_group(Load& load) {
    const ProcessGroups groups(load);
    // A group goes by the label that the operations use.
    std::set<std::string, std::less<>> labels;
    if (const DbTable* table = load.file.table("COMMUNICATION_OP")) {
        const DbStrings& strings = load.strings();
        DbScan scan(load.file, *table);
        const int group = scan.cell({"groupName"});
        scan.run(load.context, [&](const DbRow& row) {
            const std::string_view text = string_of(strings, row, group);
            if (labels.find(text) == labels.end()) labels.emplace(text);
        });
    }
    Column *id = load.out("group_id"), *name = load.out("group_name"), *rank = load.out("group_rank"),
           *ranks = load.out("ranks"), *source = load.out("source_row");
    int64_t entry = 0;
    for (const ProcessGroups::Group& group : groups.all()) {
        const std::string hash = group_hash(group.communicator);
        const bool by_hash = labels.count(group.communicator) == 0 && labels.count(hash) > 0;
        if (id != nullptr) id->add_text(by_hash ? hash : group.communicator);
        if (name != nullptr) name->add_text(group.name);
        if (rank != nullptr) rank->add_int(group.rank);
        if (ranks != nullptr && group.ranks.empty()) ranks->add_null();
        if (ranks != nullptr && !group.ranks.empty()) ranks->add_text(group.ranks);
        if (source != nullptr) source->add_int(++entry);
    }
    load.set_rows(groups.all().size());
}

}  // namespace profana
