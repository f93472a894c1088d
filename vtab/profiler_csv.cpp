#include "vtab/profiler_csv.h"

#include <deque>
#include <set>

#include "ext/core/ascii.h"
#include "ext/core/csv.h"
#include "ext/core/error.h"
#include "ext/core/utf8.h"
#include "vtab/table_module.h"

namespace profana {
namespace {

constexpr const char* kUse = "CREATE VIRTUAL TABLE temp.t USING profiler_csv('file.csv')";

// The format that one file gives itself, with the texts that it points to.
struct OwnFormat : CsvFormat {
    std::deque<std::string> texts;
    const char* keep(std::string text) { return texts.emplace_back(std::move(text)).c_str(); }
};

// The heads as they are, where they are UTF-8; one that is empty gets its number for a name, one that is
// there already a number behind it: SQLite compares the names of columns without case, in ASCII only.
std::shared_ptr<const OwnFormat> format_of(const std::vector<std::string>& heads) {
    auto format = std::make_shared<OwnFormat>();
    format->name = "profiler_csv";
    format->by_position = true;
    std::set<std::string> taken;
    for (const std::string& head : heads) {
        const std::string wanted =
            head.empty() ? "column_" + std::to_string(format->columns.size() + 1) : repair_utf8(head);
        std::string name = wanted;
        for (int n = 2; !taken.insert(lower_case(name)).second; ++n) name = wanted + "_" + std::to_string(n);
        format->columns.push_back(
            {format->keep(name), CsvValue::kAny, format->keep(head), "a cell: integer, real or text"});
    }
    return format;
}

// The path as the statement writes it: 'file', with quotes doubled within, or a bare word.
std::string unquoted(const std::string& argument) {
    const char quote = argument.empty() ? '\0' : argument.front();
    if (argument.size() < 2 || (quote != '\'' && quote != '"') || argument.back() != quote) return argument;
    std::string path;
    for (size_t i = 1; i + 1 < argument.size(); ++i) {
        path += argument[i];
        if (argument[i] == quote) ++i;
    }
    return path;
}

class ProfilerCsvProvider : public TableProvider {
  public:
    ProfilerCsvProvider(std::string file, std::shared_ptr<const CsvFormat> format)
        : file_(std::move(file)), format_(std::move(format)), key_("profiler_csv\n" + file_) {
        // Tables that were made before and after a file got other heads have nothing in common.
        for (const CsvColumn& column : format_->columns) key_.append("\n").append(column.heads);
    }

    std::vector<Part> parts(Connection& connection, const ScanRequest&) override {
        return {whole_table(connection.cached_table(
            key_, {file_}, [&] { return make_csv_table(format_, std::vector{file_}); }))};
    }

    double expected_rows(Connection&) override { return 1e5; }

  private:
    const std::string file_;
    const std::shared_ptr<const CsvFormat> format_;
    std::string key_;
};

std::unique_ptr<MadeTable> make_table(Connection& connection, const std::vector<std::string>& arguments) {
    if (arguments.size() != 1 || arguments[0].empty())
        throw Error("profiler_csv takes one argument, the file, plain or gzip: " + std::string(kUse));
    const std::string file = unquoted(arguments[0]);
    LoadContext context = connection.load_context();
    const std::vector<std::string> heads = read_csv_heads(file, context);
    const int most = sqlite3_limit(connection.db(), SQLITE_LIMIT_COLUMN, -1);
    if (heads.size() > static_cast<size_t>(most))
        throw file_error(file, 1,
                         "has " + std::to_string(heads.size()) +
                             " columns, and SQLite's tables have at most " + std::to_string(most) +
                             "; check that it is a CSV file with a line of heads");
    auto made = std::make_unique<MadeTable>();
    const auto format = format_of(heads);
    made->spec.name = format->name;
    made->spec.reads_files = true;
    for (const CsvColumn& column : format->columns)
        made->spec.columns.push_back({column.name, column_type(column.value), column.doc});
    made->provider = std::make_unique<ProfilerCsvProvider>(file, format);
    return made;
}

}  // namespace

int register_profiler_csv(Connection& connection) {
    connection.add_table({"profiler_csv", "module", kUse,
                          "Any CSV file, plain or gzip, as a table with its own heads; each cell is an "
                          "integer, a real or a text, whatever it looks like; empty is NULL."});
    return register_table_maker(connection, "profiler_csv", make_table);
}

}  // namespace profana
