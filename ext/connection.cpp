#include "ext/connection.h"

#include <simdjson.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "ext/core/ascii.h"
#include "ext/core/decimal.h"
#include "vtab/profile.h"

namespace profana {
namespace {

// Asks SQLite whether the user wants to stop. sqlite3_is_interrupted() is newer than the oldest SQLite we
// support; a nested statement on the same connection is interrupted too, and runs the host's progress
// handler. It must not outlive the poll: an open statement would keep the connection from closing.
class SqliteProgress : public Progress {
  public:
    explicit SqliteProgress(sqlite3* db) : db_(db) {}

    bool interrupted() override {
        const auto now = std::chrono::steady_clock::now();
        if (now < next_) return false;
        next_ = now + std::chrono::milliseconds(10);
        sqlite3_stmt* statement = nullptr;
        // Long enough to reach the host's progress handler, which counts steps of the virtual machine.
        const char* sql =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100) SELECT count(*) FROM "
            "n";
        int code = sqlite3_prepare_v2(db_, sql, -1, &statement, nullptr);
        if (code == SQLITE_OK) code = sqlite3_step(statement);
        sqlite3_finalize(statement);
        return code == SQLITE_INTERRUPT;
    }

  private:
    sqlite3* db_;
    std::chrono::steady_clock::time_point next_{};
};

bool is_memory_size(const std::string& value) {
    try {
        (void)parse_memory_size(value);
        return true;
    } catch (const Error&) {
        return false;
    }
}

bool is_switch(const std::string& value) {
    return value == "0" || value == "1";
}

// The compare tool takes no number from 1 to 3.
bool is_kernel_count(const std::string& value) {
    int64_t number = 0;
    return parse_integer(value, &number) == Parsed::kExact && (number == 0 || number > 3);
}

constexpr int64_t kMostThreads = 64;

bool is_thread_count(const std::string& value) {
    int64_t number = 0;
    return parse_integer(value, &number) == Parsed::kExact && number >= 0 && number <= kMostThreads;
}

bool is_map(const std::string& value) {
    simdjson::dom::parser parser;
    simdjson::dom::object object;
    if (parser.parse(value).get(object) != simdjson::SUCCESS) return false;
    return std::all_of(object.begin(), object.end(),
                       [](const auto& member) { return member.value.is_string(); });
}

bool is_match(const std::string& value) {
    return value == "block" || value == "lcs";
}

struct Rule {
    const char* name;
    const char* fallback;
    bool (*accepts)(const std::string&);
    const char* accepted;
    const char* doc;
};

constexpr Rule kRules[] = {
    {"strict", "0", is_switch, "0 or 1",
     "1: the first warning of a reader is an error instead of a row of prof_diagnostic; files that were read "
     "with a warning are read again"},
    {"threads", "0", is_thread_count, "a number of threads up to 64, 0 for all cores",
     "worker threads of one load"},
    {"memory_limit", "60%", is_memory_size,
     "bytes, 8GB, 512MB, a share of the free memory such as 60%, or 0 for no limit",
     "memory that loaded tables may take in this process"},
    {"max_inflated_size", "64GB", is_memory_size,
     "bytes, 64GB, a share of the free memory such as 60%, or 0 for no limit",
     "what one compressed file may inflate to"},
    {"use_input_shape", "0", is_switch, "0 or 1", "1: input shapes take part in matching operators"},
    {"max_kernel_num", "0", is_kernel_count, "0 for never, or a number above 3",
     "matched operators with more kernels than this are compared by their children"},
    {"op_name_map", "{}", is_map, "a JSON object {\"base name\": \"comparison name\"}",
     "names that count as others when operators are matched"},
    {"match", "block", is_match, "block or lcs",
     "how two operator sequences are matched: longest common blocks, or longest common subsequence"},
};

const Rule& rule_of(const std::string& name) {
    for (const Rule& rule : kRules)
        if (name == rule.name) return rule;
    std::string known;
    for (const Rule& rule : kRules) known += std::string(known.empty() ? "" : ", ") + rule.name;
    throw Error("profana_set: there is no setting '" + excerpt(name) + "'; settings are " + known);
}

// Is one of these files the profile's, or left out of it?
bool told_of(const Profile& profile, const std::set<std::string>& files) {
    const auto below = files.lower_bound(profile.path + "/");
    if (files.count(profile.path) > 0 || (below != files.end() && below->starts_with(profile.path + "/")))
        return true;
    for (const auto& source : profile.sources)
        for (const std::string& file : source->files())
            if (files.count(file) > 0) return true;
    return false;
}

// Never 0, which stands for no limit.
uint64_t share_of_memory(double share) {
    return std::max<uint64_t>(1, static_cast<uint64_t>(static_cast<double>(available_memory()) * share));
}

}  // namespace

uint64_t parse_memory_size(const std::string& value) {
    size_t digits = 0;
    while (digits < value.size() && (is_ascii_digit(value[digits]) || value[digits] == '.')) ++digits;
    double number = 0;
    if (parse_real(value.substr(0, digits), &number) != Parsed::kExact)
        throw Error("'" + excerpt(value) + "' is not a size");
    const std::string unit = upper_case(std::string_view(value).substr(digits));
    if (unit == "%" && number > 0 && number <= 100) return share_of_memory(number / 100);
    double factor = 0;
    if (unit.empty() || unit == "B") factor = 1;
    if (unit == "K" || unit == "KB") factor = 1024.0;
    if (unit == "M" || unit == "MB") factor = 1024.0 * 1024;
    if (unit == "G" || unit == "GB") factor = 1024.0 * 1024 * 1024;
    if (factor == 0 || number * factor >= 9e18) throw Error("'" + excerpt(value) + "' is not a size");
    return static_cast<uint64_t>(number * factor);
}

Settings::Settings() {
    for (const Rule& rule : kRules)
        settings_.push_back(
            {rule.name, rule.fallback, rule.fallback, std::string(rule.doc) + "; takes " + rule.accepted});
}

void Settings::set(const std::string& name, const std::string& value) {
    const Rule& rule = rule_of(name);
    if (!rule.accepts(value))
        throw Error("profana_set: " + name + " takes " + rule.accepted + ", not '" + excerpt(value) + "'");
    for (Setting& setting : settings_)
        if (setting.name == name) setting.value = value;
    ++revision_;
}

void Settings::reset(const std::string& name) {
    set(name, rule_of(name).fallback);
}

const std::string& Settings::get(const std::string& name) const {
    for (const Setting& setting : settings_)
        if (setting.name == name) return setting.value;
    throw Error("profana: there is no setting '" + name + "'");
}

int64_t Settings::integer(const std::string& name) const {
    int64_t number = 0;
    parse_integer(get(name), &number);
    return number;
}

Connection::Connection(sqlite3* db) : db_(db) {}

Connection::~Connection() = default;

Progress& Connection::progress() {
    if (progress_ == nullptr) progress_ = std::make_unique<SqliteProgress>(db_);
    progress_->reset();
    return *progress_;
}

// What was read with a warning while that was no error is read anew, and then is one.
void Connection::read_faulty_again() {
    std::set<std::string> faulty;
    for (const Diagnostic& found : diagnostics_.rows())
        if (found.severity != Severity::kInfo) faulty.insert(found.file);
    for (auto& [file, stamp] : seen_)
        if (faulty.count(file) > 0) stamp = kReadAgain;
    for (const auto& profile : profiles_)
        if (told_of(*profile, faulty)) profile->stamps.emplace_back(profile->path, kReadAgain);
}

LoadContext Connection::load_context() {
    const bool strict = settings_.integer("strict") == 1;
    if (strict && !diagnostics_.strict()) read_faulty_again();
    diagnostics_.set_strict(strict);
    LoadContext context{progress(), diagnostics_};
    const int64_t threads = settings_.integer("threads");
    static const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    context.threads = threads > 0 ? static_cast<unsigned>(threads) : std::min(cores, 16U);
    context.max_inflated_bytes = parse_memory_size(settings_.get("max_inflated_size"));
    context.memory_limit_bytes = parse_memory_size(settings_.get("memory_limit"));
    return context;
}

// Of a file that has changed nothing counts any more: neither its tables nor what was said of it.
void Connection::look_at(const std::string& file) {
    const FileStamp stamp = stamp_if_there(file);  // reading it will say why there is none
    const auto [seen, is_new] = seen_.emplace(file, stamp);
    if (is_new || seen->second == stamp) return;
    seen->second = stamp;
    diagnostics_.forget(file);
    std::erase_if(tables_, [&](const auto& cached) {
        const std::vector<std::string>& files = cached.second.files;
        return std::find(files.begin(), files.end(), file) != files.end();
    });
}

std::shared_ptr<Table> Connection::cached_table(const std::string& key, const std::vector<std::string>& files,
                                                const std::function<std::shared_ptr<Table>()>& make) {
    for (const std::string& file : files) look_at(file);
    const auto cached = tables_.find(key);
    if (cached != tables_.end()) return cached->second.table;
    std::shared_ptr<Table> table = make();
    tables_[key] = {files, table};
    return table;
}

std::shared_ptr<Profile> Connection::profile(const std::string& alias) const {
    for (const auto& profile : profiles_)
        if (profile->alias == alias) return profile;
    return nullptr;
}

namespace {

int no_table(sqlite3*, void*, int, const char* const*, sqlite3_vtab**, char** message) {
    *message = sqlite3_mprintf("profana_connection: makes no tables; it is the library's own");
    return SQLITE_ERROR;
}

int no_table_either(sqlite3* db, void* owned, int argc, const char* const* argv, sqlite3_vtab** out,
                    char** message) {  // a function of its own: the same one would make the module eponymous
    return no_table(db, owned, argc, argv, out, message);
}

const sqlite3_module kOwner = [] {
    sqlite3_module module{};
    module.iVersion = 1;
    module.xCreate = no_table;
    module.xConnect = no_table_either;
    return module;
}();

}  // namespace

int hand_over(std::unique_ptr<Connection> connection) {
    // A module that has no tables: SQLite calls its destructor when the connection closes.
    sqlite3* db = connection->db();
    return sqlite3_create_module_v2(db, "profana_connection", &kOwner, connection.release(),
                                    [](void* owned) { delete static_cast<Connection*>(owned); });
}

}  // namespace profana
