#include "vtab/small_tables.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ext/core/decimal.h"
#include "ext/core/json_members.h"
#include "vtab/communication_json.h"

namespace profana {
namespace {

using simdjson::dom::element;

// platform_version of info.json: the chip that NPU_INFO would name.
std::string chip_of_platform(const std::string& code) {
    static const std::map<std::string, const char*> kChips = {
        {"0", "Ascend310"},  {"1", "Ascend910A"}, {"4", "Ascend310P"},
        {"5", "Ascend910B"}, {"7", "Ascend310B"}, {"15", "Ascend950"},
    };
    const auto found = kChips.find(code);
    return found == kChips.end() ? std::string() : found->second;
}

void add_optional(Column& column, const std::optional<int64_t>& value) {
    column.add_int(value.value_or(kNullInt));
}

void add_optional(Column& column, const std::optional<double>& value) {
    column.add_real(value.value_or(kNullReal));
}

void add_text(Column& column, const std::string& value) {
    if (value.empty())
        column.add_null();
    else
        column.add_text(value);
}

struct Figure {
    const char *column, *key;
};
constexpr Figure kBandwidths[] = {{"transit_size_mb", "Transit Size(MB)"},
                                  {"transit_time_ms", "Transit Time(ms)"},
                                  {"bandwidth_gb_per_s", "Bandwidth(GB/s)"},
                                  {"large_packet_ratio", "Large Packet Ratio"}};
constexpr Figure kTimes[] = {{"elapse_time_ms", "Elapse Time(ms)"},
                             {"wait_time_ms", "Wait Time(ms)"},
                             {"synchronization_time_ms", "Synchronization Time(ms)"},
                             {"idle_time_ms", "Idle Time(ms)"}};

}  // namespace

DeviceRows::DeviceRows(ModelRows& rows, std::string chip, std::optional<int64_t> device)
    : rows_(rows), chip_(std::move(chip)), device_(device) {
    for (const char* name : {"device_id", "chip", "ai_core_num", "vector_core_num", "aic_frequency_mhz",
                             "memory_bytes", "source_row"})
        rows_.column(name);
}

void DeviceRows::add(const DeviceRow& row) {
    if (device_ && row.id && *row.id != *device_) return;
    add_optional(rows_.column("device_id"), row.id);
    add_text(rows_.column("chip"), chip_.empty() ? row.chip : chip_);
    add_optional(rows_.column("ai_core_num"), row.cores);
    add_optional(rows_.column("vector_core_num"), row.vector_cores);
    add_optional(rows_.column("aic_frequency_mhz"), row.mhz);
    add_optional(rows_.column("memory_bytes"), row.memory_bytes);
    add_optional(rows_.column("source_row"), row.entry);
}

ProcessGroupRows::ProcessGroupRows(ModelRows& rows) : rows_(rows) {
    for (const char* name : {"group_id", "group_name", "group_rank", "ranks", "source_row"})
        rows_.column(name);
}

void ProcessGroupRows::add(const std::string& id, const std::string& name, std::optional<int64_t> own_rank,
                           const std::vector<int64_t>& ranks) {
    rows_.column("source_row").add_int(static_cast<int64_t>(rows_.rows()) + 1);
    rows_.column("group_id").add_text(id);
    rows_.column("group_name").add_text(name);
    add_optional(rows_.column("group_rank"), own_rank);
    std::string list = "[";
    for (const int64_t rank : ranks) {
        if (list.size() > 1) list += ",";
        list += std::to_string(rank);
    }
    list += "]";
    add_text(rows_.column("ranks"), ranks.empty() ? std::string() : list);
}

void add_ascend_devices(const std::vector<std::string>& files, DeviceRows& rows, LoadContext& context) {
    std::set<int64_t> seen;
    for (const std::string& path : files) {
        const JsonFile info = JsonFile::read(path, context);
        const auto list = info.at({"DeviceInfo"});
        simdjson::dom::array devices;
        if (!list || list->get(devices) != simdjson::SUCCESS) continue;
        int64_t entry = 0;
        for (const element device : devices) {
            DeviceRow row;
            row.entry = ++entry;
            row.id = member_integer(device, "id");
            if (row.id && !seen.insert(*row.id).second) continue;
            row.chip = chip_of_platform(info.text({"platform_version"}));
            row.cores = member_integer(device, "ai_core_num");
            row.vector_cores = member_integer(device, "aiv_num");
            row.mhz = member_real(device, "aic_frequency");
            rows.add(row);
        }
    }
}

void add_parallel_groups(const JsonFile& metadata, ProcessGroupRows& rows) {
    const auto groups = metadata.at({"parallel_group_info"});
    simdjson::dom::object object;
    if (!groups || groups->get(object) != simdjson::SUCCESS) return;
    for (const auto& [id, about] : object)
        rows.add(std::string(id), member_text(about, "group_name"), member_integer(about, "group_rank"),
                 member_integers(about, "global_ranks"));
}

std::map<std::string, std::string> parallel_group_names(const JsonFile& metadata) {
    std::map<std::string, std::string> names;
    const auto groups = metadata.at({"parallel_group_info"});
    simdjson::dom::object object;
    if (!groups || groups->get(object) != simdjson::SUCCESS) return names;
    for (const auto& [id, about] : object) {
        std::string& name = names[std::string(id)];
        name = member_text(about, "group_name");
        if (name == "unknown") name.clear();  // what the profiler writes of a group without a name
    }
    return names;
}

void add_comm_bandwidths(const std::string& path, ModelRows& rows, LoadContext& context) {
    Column &step = rows.column("step"), &type = rows.column("type"), &op = rows.column("op_name");
    Column &group = rows.column("group_name"), &transport = rows.column("transport");
    Column& source = rows.column("source_row");
    int64_t operation = 0;
    for (const Figure& figure : kBandwidths) rows.column(figure.column);
    for (const Figure& figure : kTimes) rows.column(figure.column);
    read_communication(path, CommunicationFault::kDiagnostic, context,
                       [&](const CommunicationPlace& place, const JsonToken& leaf) {
                           ++operation;
                           const JsonToken times = json_member(leaf, "Communication Time Info");
                           const auto add = [&](const JsonToken& object, const Figure& figure) {
                               const JsonToken token = json_member(object, figure.key);
                               double value = kNullReal;
                               const Parsed parsed = token.real(&value);
                               rows.column(figure.column).add_real(value);
                               report_bad_number(path, place, figure.key, token, parsed, context);
                           };
                           each_json_member(json_member(leaf, "Communication Bandwidth Info"),
                                            [&](const JsonToken& name, const JsonToken& figures) {
                                                step.add_int(place.step.value_or(kNullInt));
                                                add_text(type, place.type);
                                                op.add_text(place.name);
                                                add_text(group, place.group_name);
                                                transport.add_text(name.bare());
                                                source.add_int(operation);
                                                for (const Figure& figure : kBandwidths) add(figures, figure);
                                                for (const Figure& figure : kTimes) add(times, figure);
                                            });
                       });
}

int64_t monotonic_offset_ns(const std::vector<std::string>& start_infos, LoadContext& context) {
    for (const std::string& path : start_infos) {
        const JsonFile info = JsonFile::read(path, context);
        const auto begin_us = info.integer({"collectionTimeBegin"}),
                   monotonic_ns = info.integer({"clockMonotonicRaw"});
        int64_t begin_ns = 0, offset = 0;
        if (begin_us && monotonic_ns && !__builtin_mul_overflow(*begin_us, 1000, &begin_ns) &&
            !__builtin_sub_overflow(begin_ns, *monotonic_ns, &offset))
            return offset;
    }
    return 0;
}

std::optional<int64_t> member_integer(element value, std::string_view key) {
    const auto member = json_member(value, key);
    return member ? json_integer(*member) : std::nullopt;
}

std::optional<double> member_real(element value, std::string_view key) {
    const auto member = json_member(value, key);
    return member ? json_real(*member) : std::nullopt;
}

std::string member_text(element value, std::string_view key) {
    const auto member = json_member(value, key);
    return member ? json_text(*member) : std::string();
}

std::vector<int64_t> member_integers(element value, std::string_view key) {
    std::vector<int64_t> out;
    const auto member = json_member(value, key);
    simdjson::dom::array list;
    if (!member || member->get(list) != simdjson::SUCCESS) return out;
    for (const element item : list)
        if (const auto number = json_integer(item)) out.push_back(*number);
    return out;
}

}  // namespace profana
