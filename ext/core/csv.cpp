#include "ext/core/csv.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "ext/core/csv_cells.h"
#include "ext/core/csv_load.h"

namespace profana {
namespace {

Error empty_file(const std::string& file) {
    return file_error(file, 0, "is empty; the program that wrote it may have been stopped, export it again");
}

void check_heads(const CsvFormat& format, const std::string& file, const CsvPlan& plan) {
    if (plan.lacks().empty()) return;
    std::string heads;
    for (const std::string& head : plan.heads()) heads += (heads.empty() ? "" : ",") + head;
    throw file_error(file, 1,
                     "is no " + std::string(format.name) + " file: it has " + plan.lacks() +
                         "; its first line is '" + excerpt(heads) +
                         "'; check the path, or read it as it is by the module profiler_csv");
}

// The files of one export, and what is known of them.
class CsvFiles {
  public:
    CsvFiles(std::shared_ptr<const CsvFormat> format, std::vector<std::string> files, CsvFault fault,
             const ChunkLimits& limits)
        : format_(std::move(format)),
          files_(std::move(files)),
          fault_(fault),
          limits_(limits),
          present_(format_->columns.size(), false) {}

    void load(Table& table, const ColumnSet& wanted, LoadContext& context) {
        check_stamps();
        while (!try_load(table, wanted, context)) continue;
        reported_ = true;
    }

  private:
    struct Opened {
        std::unique_ptr<Input> input;
        CsvStart start;
    };

    void check_stamps() {
        std::vector<FileStamp> stamps;
        for (const std::string& file : files_) stamps.push_back(stamp_if_there(file));
        if (!stamps_.empty() && stamps != stamps_) throw file_changed(files_.front());
        stamps_ = std::move(stamps);
    }

    // False: a header further down brought another column; all must be read again.
    bool try_load(Table& table, const ColumnSet& wanted, LoadContext& context) {
        // Kept apart until all is well: what is read again must not be reported again.
        Diagnostics noticed;
        LoadContext apart = context.telling(noticed);
        std::vector<Opened> opened = open_all(apart);
        table.drop_unpublished();
        wanted.each([&](int c) {
            if (!present_[static_cast<size_t>(c)]) table.set_absent(c);
        });
        CsvLoad load(*format_, table, wanted, present_, apart, limits_);
        for (Opened& file : opened) {
            if (!load.read(*file.input, std::move(file.start))) return false;
            file.input.reset();
        }
        if (table.rows_known() && table.rows() != load.rows())
            throw file_changed(files_.front());  // while it was read
        table.set_rows(load.rows());
        if (!reported_)
            for (Diagnostic& diagnostic : noticed.rows()) context.diagnostics.add(std::move(diagnostic));
        load.report(context.diagnostics, !reported_);
        return true;
    }

    // The files that have rows of the format, read up to their headers. Where none has, the error of the
    // first is that of all.
    std::vector<Opened> open_all(LoadContext& context) {
        std::vector<Opened> opened;
        std::optional<Error> first;
        for (const std::string& file : files_) {
            try {
                opened.push_back(open_one(file, context));
            } catch (const Error& error) {
                if (!is_of_file(error)) throw;
                if (!first) first = error;
                context.diagnostics.add({.severity = Severity::kError,
                                         .file = file,
                                         .code = "file_unusable",
                                         .message = reason_of(error) + "; no row of it was read"});
            }
        }
        if (opened.empty() && fault_ == CsvFault::kError) throw Error(*first);
        return opened;
    }

    Opened open_one(const std::string& file, LoadContext& context) {
        auto input = Input::open(file, context);
        CsvStart start = read_csv_start(*input, "", 0, 0);
        if (!start.found) throw empty_file(file);
        const CsvPlan plan(*format_, start.heads);
        check_heads(*format_, file, plan);
        check_heads_are_the_same(file, start.heads);
        report_heads(context.diagnostics, file, start.lines, plan);
        for (size_t column = 0; column < present_.size(); ++column)
            present_[column] = present_[column] || plan.has(column);
        return {std::move(input), std::move(start)};
    }

    // Of a table that took its columns from the file's own heads.
    void check_heads_are_the_same(const std::string& file, const std::vector<std::string>& heads) const {
        if (!format_->by_position) return;
        const bool same =
            std::equal(heads.begin(), heads.end(), format_->columns.begin(), format_->columns.end(),
                       [](const std::string& head, const CsvColumn& column) { return head == column.heads; });
        if (!same)
            throw file_error(file, 1, "has other heads than when the table was made; make the table again");
    }

    static void report_heads(Diagnostics& diagnostics, const std::string& file, int64_t line,
                             const CsvPlan& plan) {
        if (plan.repeated().empty()) return;
        std::string heads;
        for (const std::string& head : plan.repeated()) heads += (heads.empty() ? "" : ", ") + head;
        diagnostics.add(
            {.severity = Severity::kInfo,
             .file = file,
             .line = line,
             .code = "repeated_head",
             .message = excerpt(heads) + ": a column that is there already; its values are in extra"});
    }

    const std::shared_ptr<const CsvFormat> format_;
    const std::vector<std::string> files_;
    const CsvFault fault_;
    const ChunkLimits limits_;
    std::vector<FileStamp> stamps_;
    std::vector<char> present_;  // by column: some file has it
    bool reported_ = false;      // what is to be said about rows, whatever columns are read
};

}  // namespace

ColumnType column_type(CsvValue value) {
    switch (value) {
        case CsvValue::kText:
            return ColumnType::kText;
        case CsvValue::kReal:
        case CsvValue::kPercent:
        case CsvValue::kRate:
            return ColumnType::kReal;
        case CsvValue::kAny:
            return ColumnType::kAny;
        case CsvValue::kExtra:
            return ColumnType::kLong;
        default:
            return ColumnType::kInt;
    }
}

int CsvFormat::column(const char* wanted) const {
    for (size_t c = 0; c < columns.size(); ++c)
        if (std::strcmp(columns[c].name, wanted) == 0) return static_cast<int>(c);
    return -1;
}

std::shared_ptr<Table> make_csv_table(std::shared_ptr<const CsvFormat> format, std::vector<std::string> files,
                                      CsvFault fault, const ChunkLimits& limits) {
    std::vector<ColumnType> types;
    for (const CsvColumn& column : format->columns) types.push_back(column_type(column.value));
    auto state = std::make_shared<CsvFiles>(std::move(format), std::move(files), fault, limits);
    return std::make_shared<Table>(std::move(types),
                                   [state](Table& table, const ColumnSet& wanted, LoadContext& context) {
                                       state->load(table, wanted, context);
                                   });
}

std::vector<std::string> read_csv_heads(const std::string& file, LoadContext& context) {
    auto input = Input::open(file, context);
    CsvStart start = read_csv_start(*input, "", 0, 0);
    if (!start.found) throw empty_file(file);
    return std::move(start.heads);
}

void check_csv_file(const CsvFormat& format, const std::string& file, LoadContext& context) {
    check_heads(format, file, CsvPlan(format, read_csv_heads(file, context)));
}

ColumnSet csv_columns_with_heads(const CsvFormat& format, const std::vector<std::string>& heads) {
    const CsvPlan plan(format, heads);
    ColumnSet columns;
    for (size_t column = 0; column < format.columns.size(); ++column)
        if (plan.source(column).cell >= 0) columns.add(static_cast<int>(column));
    return columns;
}

}  // namespace profana
