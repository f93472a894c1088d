// profana_open, profana_close.
#include "ext/connection.h"
#include "ext/registry.h"
#include "ext/views.h"
#include "vtab/profile.h"

namespace profana {
namespace {

std::string text_argument(const char* function, sqlite3_value* value, const char* what) {
    if (sqlite3_value_type(value) != SQLITE_TEXT)
        throw Error(std::string(function) + ": " + what + " is a text, not " +
                    (sqlite3_value_type(value) == SQLITE_NULL ? "NULL" : "a number or a blob"));
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
    std::string out(text, static_cast<size_t>(sqlite3_value_bytes(value)));
    if (out.empty()) throw Error(std::string(function) + ": " + what + " must not be empty");
    return out;
}

// "text, PyTorch, rank 0" or "2 ranks: db, PyTorch".
std::string describe(const Profile& profile) {
    const SourceFacts& first = profile.sources.front()->facts();
    std::string out = profile.sources.size() > 1 ? std::to_string(profile.sources.size()) + " ranks: " : "";
    out += first.kind;
    if (!first.framework.empty()) out += ", " + first.framework;
    if (profile.sources.size() == 1 && first.rank) out += ", rank " + std::to_string(*first.rank);
    return out;
}

void open(sqlite3_context* context, int count, sqlite3_value** values) {
    guard_function(context, [&] {
        Connection& connection = connection_of(context);
        if (count < 2 || count > 3)
            throw Error("profana_open takes (alias, path [, options]), not " + std::to_string(count) +
                        " arguments");
        const std::string alias = text_argument("profana_open", values[0], "the first argument, an alias,");
        const std::string path = text_argument("profana_open", values[1], "the second argument, a path,");
        std::string json;
        if (count == 3 && sqlite3_value_type(values[2]) != SQLITE_NULL)
            json = text_argument("profana_open", values[2], "the third argument, options as JSON,");
        auto profile = open_profile(connection, alias, path, parse_profile_options(json));
        const std::string what = describe(*profile);
        if (!views_are_there(connection)) install_views(connection);
        add_profile(connection, std::move(profile));
        result_text(context, what);
    });
}

void close(sqlite3_context* context, int, sqlite3_value** values) {
    guard_function(context, [&] {
        Connection& connection = connection_of(context);
        const std::string alias = text_argument("profana_close", values[0], "the argument, an alias,");
        if (!close_profile(connection, alias)) {
            std::string open;
            for (const auto& profile : connection.profiles())
                open += (open.empty() ? "" : ", ") + excerpt(profile->alias);
            throw Error("profana_close: there is no profile '" + excerpt(alias) +
                        "'; open: " + (open.empty() ? "none" : open));
        }
        result_text(context, alias);
    });
}

constexpr FunctionSpec kFunctions[] = {
    {"profana_open", -1, kDirectOnly, "profana_open(alias TEXT, path TEXT [, options TEXT]) -> TEXT",
     "Opens a profile under an alias and returns what it is, e.g. 'text, PyTorch, rank 0'. The path is any "
     "capture: a trace .json or .json.gz, a profiler .db, ASCEND_PROFILER_OUTPUT, *_ascend_pt, *_ascend_ms, "
     "PROF_*, "
     "mindstudio_profiler_output, or a folder of many ranks. Options are a JSON object: rank, step, device "
     "(integers: only these rows), chip (name of the chip, for peaks), source ('text' or 'db' where both are "
     "there; else db), gpu_flow_cat (the flow category that links launches and kernels of a GPU trace). "
     "Files are "
     "read when a query needs them and again when they change. An alias in use is opened anew. Error: the "
     "path "
     "is no profile (the message lists what was looked for), an unknown option or a wrong type.",
     open},
    {"profana_close", 1, kDirectOnly, "profana_close(alias TEXT) -> TEXT",
     "Closes a profile, frees what was read of it and returns the alias. Error: no profile of that name.",
     close},
};

}  // namespace

std::span<const FunctionSpec> profile_functions() {
    return kFunctions;
}

}  // namespace profana
