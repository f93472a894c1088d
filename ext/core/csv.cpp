#include "ext/core/csv.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "ext/core/csv_cells.h"
#include "ext/core/csv_load.h"

namespace profana {
namespace {

Diagnostic finding(Severity severity, const std::string& file, int64_t line, const char* code,
                   std::string message) {
    Diagnostic diagnostic;
    diagnostic.severity = severity;
    diagnostic.file = file;
    diagnostic.line = line;
    diagnostic.code = code;
    diagnostic.message = std::move(message);
    return diagnostic;
}

// What is wrong with a file that holds no header.
Diagnostic no_header_fault(const std::string& file, const CsvStart& start) {
    if (start.fault.empty())
        return finding(Severity::kWarning, file, 0, "empty_file",
                       "is empty; the program that wrote it may have been stopped, export it again");
    return finding(Severity::kError, file, 1, "wrong_heads", start.fault);
}

// The same for one with the heads of another kind of file.
Diagnostic wrong_heads_fault(const CsvFormat& format, const std::string& file, const CsvPlan& plan) {
    std::string heads;
    for (const std::string& head : plan.heads()) heads += (heads.empty() ? "" : ",") + head;
    return finding(Severity::kError, file, 1, "wrong_heads",
                   "is no " + std::string(format.name) + " file: it has " + plan.lacks() +
                       "; its first line is '" + excerpt(heads) +
                       "'; check the path, or read it as it is by the module profiler_csv");
}

Error error_of(const Diagnostic& fault) {
    return file_error(fault.file, fault.line, fault.message);
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
        for (const std::string& file : files_) stamps.push_back(stamp_file(file));
        if (!stamps_.empty() && stamps != stamps_)
            throw file_error(files_.front(), 0, "has changed since it was first read; run the query again");
        stamps_ = std::move(stamps);
    }

    // False: a header further down brought another column; all must be read again.
    bool try_load(Table& table, const ColumnSet& wanted, LoadContext& context) {
        // Kept apart until all is well: what is read again must not be reported again.
        Diagnostics noticed;
        LoadContext apart = {context.progress, noticed, context.threads, context.max_inflated_bytes,
                             context.memory_limit_bytes};
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
        table.set_rows(load.rows());
        if (!reported_)
            for (Diagnostic& diagnostic : noticed.rows()) context.diagnostics.add(std::move(diagnostic));
        load.report(context.diagnostics, !reported_);
        return true;
    }

    // The files that have rows of the format, read up to their headers. Where none has, the fault of the
    // first is an error.
    std::vector<Opened> open_all(LoadContext& context) {
        std::vector<Opened> opened;
        std::optional<Diagnostic> first;
        for (const std::string& file : files_) {
            auto input = Input::open(file, context);
            CsvStart start = read_csv_start(*input, "", 0, 0);
            const CsvPlan plan(*format_, start.heads);
            if (!start.found || !plan.lacks().empty()) {
                Diagnostic fault =
                    start.found ? wrong_heads_fault(*format_, file, plan) : no_header_fault(file, start);
                if (!first) first = fault;
                fault.message += "; no row of it was read";
                context.diagnostics.add(std::move(fault));
                continue;
            }
            check_heads_are_the_same(file, start.heads);
            report_heads(context.diagnostics, file, start.lines, plan);
            for (size_t column = 0; column < present_.size(); ++column)
                present_[column] = present_[column] || plan.has(column);
            opened.push_back({std::move(input), std::move(start)});
        }
        if (opened.empty() && fault_ == CsvFault::kError) throw error_of(*first);
        return opened;
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
            finding(Severity::kInfo, file, line, "repeated_head",
                    excerpt(heads) + ": a column that is there already; its values are in extra"));
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
    if (!start.found) throw error_of(no_header_fault(file, start));
    return std::move(start.heads);
}

void check_csv_file(const CsvFormat& format, const std::string& file, LoadContext& context) {
    const CsvPlan plan(format, read_csv_heads(file, context));
    if (!plan.lacks().empty()) throw error_of(wrong_heads_fault(format, file, plan));
}

ColumnSet csv_columns_with_heads(const CsvFormat& format, const std::vector<std::string>& heads) {
    const CsvPlan plan(format, heads);
    ColumnSet columns;
    for (size_t column = 0; column < format.columns.size(); ++column)
        if (plan.source(column).cell >= 0) columns.add(static_cast<int>(column));
    return columns;
}

}  // namespace profana
