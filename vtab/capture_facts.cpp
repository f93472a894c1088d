// What the small files beside a capture, and its names, say about it: framework, rank, level, versions.
#include <algorithm>

#include "ext/core/ascii.h"
#include "ext/core/input.h"
#include "ext/core/trace_events.h"
#include "ext/core/utf8.h"
#include "vtab/capture.h"
#include "vtab/json_file.h"

namespace profana {
namespace {

// Pairs to a JSON object; pairs without a value are left out.
std::string json_object(const std::vector<std::pair<std::string, std::string>>& pairs) {
    std::string out;
    for (const auto& [key, value] : pairs) {
        if (value.empty()) continue;
        out += out.empty() ? "{" : ",";
        out += json_quoted(key);
        out += ":";
        out += json_quoted(value);
    }
    if (!out.empty()) out += "}";
    return out;
}

// Level1, level1, l1, LevelNone, Level_none -> Level1, Level_none; empty: no level.
std::string level_name(std::string_view text) {
    std::string lower;
    for (const char c : text)
        if (is_ascii_letter(c) || is_ascii_digit(c)) lower += ascii_lower(c);
    if (lower.starts_with("level")) lower.erase(0, 5);
    if (lower.starts_with("l") && lower.size() == 2) lower.erase(0, 1);
    if (lower == "none") return "Level_none";
    if (lower.size() != 1 || lower[0] < '0' || lower[0] > '2') return "";
    return std::string("Level").append(lower);
}

void take_rank(std::optional<int64_t>& rank, std::optional<int64_t> found) {
    if (!rank && found && *found >= 0) rank = found;
}

void read_profiler_info(Capture& capture, LoadContext& context) {
    const std::string path = capture.first(FileRole::kProfilerInfo);
    if (path.empty()) return;
    SourceFacts& facts = capture.facts;
    take_rank(facts.rank, number_in_name(base_name(path), "profiler_info_", ".json"));
    const JsonFile info = JsonFile::read(path, context);
    take_rank(facts.rank, info.integer({"rank_id"}));
    facts.level = level_name(info.text({"config", "experimental_config", "_profiler_level"}));
    if (facts.level.empty()) facts.level = level_name(info.text({"profiler_parameters", "profiler_level"}));
    const bool mindspore =
        info.at({"profiler_parameters"}) || info.at({"ms_version"}) || info.at({"context_mode"});
    if (facts.framework.empty() && (mindspore || info.at({"config"})))
        facts.framework = mindspore ? "MindSpore" : "PyTorch";
    facts.versions = json_object({{"torch_npu", info.text({"torch_npu_version"})},
                                  {"mindspore", info.text({"ms_version"})},
                                  {"cann", info.text({"cann_version"})}});
}

// What the names of the database and of the rank's folder say; empty: nothing.
std::string framework_of_names(const Capture& capture) {
    const std::string database = capture.first(FileRole::kDatabase);
    const std::string_view file = base_name(database), folder = base_name(capture.root);
    if (file.starts_with("ascend_pytorch_profiler")) return "PyTorch";
    if (file.starts_with("ascend_mindspore_profiler")) return "MindSpore";
    if (folder.ends_with("_ascend_pt")) return "PyTorch";
    return folder.ends_with("_ascend_ms") ? "MindSpore" : "";
}

// rank_id of info.json.N is that of the process; it is -1 unless the environment named one.
void read_device_info(Capture& capture, LoadContext& context) {
    for (const std::string& path : capture.all(FileRole::kDeviceInfo)) {
        if (capture.facts.rank) return;
        take_rank(capture.facts.rank, JsonFile::read(path, context).integer({"rank_id"}));
    }
}

// The level of an msprof capture stands in the sample.json beside each info.json.
void read_sample(Capture& capture, LoadContext& context) {
    for (const std::string& path : capture.all(FileRole::kDeviceInfo)) {
        if (!capture.facts.level.empty()) return;
        const std::string sample = join_path(parent_folder(path), "sample.json");
        if (is_file(sample))
            capture.facts.level = level_name(JsonFile::read(sample, context).text({"prof_level"}));
    }
}

// rank3, rank_3, rank-3 anywhere in the name.
std::optional<int64_t> rank_in_name(std::string_view name) {
    for (size_t at = name.find("rank"); at != std::string_view::npos; at = name.find("rank", at + 1)) {
        size_t first = at + 4;
        if (first < name.size() && (name[first] == '_' || name[first] == '-')) ++first;
        size_t last = first;
        while (last < name.size() && is_ascii_digit(name[last])) ++last;
        int64_t rank = 0;
        if (last > first && parse_integer(name.substr(first, last - first), &rank) == Parsed::kExact)
            return rank;
    }
    return std::nullopt;
}

// The first bytes of a file, inflated.
std::string peek(const std::string& path, LoadContext& context) {
    std::string head(size_t{1} << 20, '\0');
    const auto input = Input::open(path, context);
    size_t size = 0;
    while (size < head.size()) {
        const size_t n = input->read(head.data() + size, head.size() - size);
        if (n == 0) break;
        size += n;
    }
    head.resize(size);
    return head;
}

bool has_any(std::string_view text, std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](const char* word) { return text.find(word) != std::string_view::npos; });
}

std::string framework_of_trace(const std::string& path, LoadContext& context) {
    const std::string head = peek(path, context);
    if (has_any(head, {"\"MindSpore\"", "mindspore_to_"})) return "MindSpore";
    if (has_any(head, {"\"cpu_op\"", "\"Dequeue@", "\"python_function\"", "torch_to_npu"})) return "PyTorch";
    return "";
}

// Categories that only torch.profiler writes for GPUs, whatever their case.
bool has_gpu_category(std::string_view text) {
    static constexpr const char* kCategories[] = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime",
                                                  "memcpy", "memset",     "runtime",    "cuda_driver",
                                                  "ac2g",   "async_gpu",  "operator",   "user_annotation"};
    for (size_t at = text.find("\"cat\""); at != std::string_view::npos; at = text.find("\"cat\"", at + 5)) {
        size_t first = at + 5;
        while (first < text.size() && (text[first] == ' ' || text[first] == ':')) ++first;
        std::string word;
        for (size_t i = first + 1; i < text.size() && text[i] != '"' && word.size() < 20; ++i)
            word += ascii_lower(text[i]);
        for (const char* category : kCategories)
            if (word == category) return true;
    }
    return false;
}

}  // namespace

void read_capture_facts(Capture& capture, LoadContext& context) {
    SourceFacts& facts = capture.facts;
    if (facts.framework.empty()) facts.framework = framework_of_names(capture);
    read_profiler_info(capture, context);
    for (const std::string& path : capture.all(FileRole::kDatabase)) {
        const std::string_view name = base_name(path);
        take_rank(facts.rank, number_in_name(name, "ascend_pytorch_profiler_", ".db"));
        take_rank(facts.rank, number_in_name(name, "ascend_mindspore_profiler_", ".db"));
        // msmonitor_<pid>_<time>_<rank>.db
        const size_t last = name.rfind('_');
        if (name.starts_with("msmonitor_") && last != std::string_view::npos)
            take_rank(facts.rank, number_in_name(name.substr(last), "_", ".db"));
    }
    read_device_info(capture, context);
    read_sample(capture, context);
    if (facts.framework.empty() && capture.has(FileRole::kTrace))
        facts.framework = framework_of_trace(capture.first(FileRole::kTrace), context);
}

std::optional<TraceKind> trace_kind(const std::string& path, LoadContext& context) {
    bool is_object = false;
    try {
        is_object = read_trace_head(path, context).is_object;
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::kGeneral) throw;
        return std::nullopt;
    }
    const std::string text = peek(path, context);
    if (has_any(text, {"\"Ascend Hardware\"", "\"async_npu\"", "\"Dequeue@", "\"AscendCL@", "\"Node@"}))
        return TraceKind::kAscend;
    return is_object || has_gpu_category(text) ? TraceKind::kGpu : TraceKind::kAscend;
}

void read_gpu_facts(Capture& capture, LoadContext& context) {
    SourceFacts& facts = capture.facts;
    const std::string path = capture.first(FileRole::kTrace);
    facts.framework = "PyTorch";
    const TraceFacts head = read_trace_head(path, context);
    const JsonToken distributed = head.key("distributedInfo");
    if (!distributed.absent())
        take_rank(facts.rank,
                  JsonFile::parse(distributed.raw(), path, context.diagnostics).integer({"rank"}));
    take_rank(facts.rank, rank_in_name(base_name(path)));
}

}  // namespace profana
