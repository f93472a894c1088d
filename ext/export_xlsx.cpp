// The comparison as a workbook with the sheets, heads, number formats and colours that users of the compare
// tool know. Rows come from the reports in sql/reports/compare; here is only how they look.
#include "ext/core/utf8.h"
#include "ext/export.h"
#include "vtab/profile.h"

#ifdef PROFANA_XLSX
#include <xlsxwriter.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#endif

namespace profana {

#ifndef PROFANA_XLSX

int write_workbook(Connection&, const char*, const std::string&) {
    throw Error(
        "profana_export: this build has no workbooks (it was configured with PROFANA_XLSX=OFF); export to "
        ".db or "
        "a folder of CSV files");
}

#else

namespace {

// How a sheet looks: a letter a column (I whole number, F two decimals, P percent, B bold text, - plain), and
// the columns that the two titles in row 1 stand over.
struct SheetLook {
    const char* name;
    const char* formats;
    int base_first, base_last, comparison_first, comparison_last;
};

constexpr SheetLook kSheets[] = {
    {"OverallMetrics", "IFPIFPIFP", 1, 3, 4, 6},
    {"CommunicationCompare", "-B--FFFFB--FFFFFP", 1, 7, 8, 14},
    {"ModuleCompareStatistic", "------F-F-F-FFFP--", 5, 8, 9, 12},
    {"ModuleCompare", "------FF--FFFFP--", 4, 7, 8, 11},
    {"OperatorCompareStatistic", "IBFIFIFP", 2, 3, 4, 5},
    {"OperatorCompare", "IB---FB---FFP", 1, 5, 6, 10},
    {"MemoryCompareStatistic", "-BFF-FF-FP", 2, 4, 5, 7},
    {"MemoryCompare", "-B---FB---FFP", 1, 5, 6, 10},
    {"ApiCompare", "-BFFFIFFFIFFFF", 2, 5, 6, 9},
    {"KernelCompare", "-B-FFFFIFFFFIFF", 3, 7, 8, 12},
    {"KernelTypeCompare", "-B-FFFFIFFFFIFF", 3, 7, 8, 12},
};

constexpr lxw_color_t kYellow = 0xFFFF00, kGreen = 0x00FF00, kRed = 0xFF0000, kSky = 0x00BFFF,
                      kPaleSky = 0x87CEFA;
constexpr int kHeadRow = 2, kFirstRow = 3;
constexpr lxw_row_t kLastRow = LXW_ROW_MAX - 1;
constexpr size_t kLongestText = 32767;  // of a cell, in characters; bytes are a safe bound

// At most as many bytes as a cell takes, not cutting a character in two.
std::string fitting(const std::string& any) {
    std::string text = repair_utf8(any);
    if (text.size() <= kLongestText) return text;
    size_t end = kLongestText;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text.resize(end);
    return text;
}

bool is_ratio_head(const std::string& head) {
    for (const char* name :
         {"Diff Ratio", "Diff Total Ratio", "Diff Self Ratio", "Diff Avg Ratio", "Diff Calls Ratio"})
        if (head == name) return true;
    return false;
}

// While it lives the thread writes numbers with a point, whatever the host's locale: libxlsxwriter uses
// printf.
class NumbersWithPoint {
  public:
    NumbersWithPoint() : plain_(newlocale(LC_NUMERIC_MASK, "C", nullptr)), before_(uselocale(plain_)) {}
    ~NumbersWithPoint() {
        uselocale(before_);
        if (plain_ != nullptr) freelocale(plain_);
    }
    NumbersWithPoint(const NumbersWithPoint&) = delete;
    NumbersWithPoint& operator=(const NumbersWithPoint&) = delete;

  private:
    locale_t plain_, before_;
};

class Workbook {
  public:
    explicit Workbook(const std::string& path) {
        lxw_workbook_options options{};
        options.constant_memory = LXW_TRUE;  // rows go to disk as they come
        book_ = workbook_new_opt(path.c_str(), &options);
        if (book_ == nullptr)
            throw Error("profana_export: " + excerpt(path) + ": cannot be written", ErrorKind::kCannotOpen);
    }
    ~Workbook() {
        if (book_ != nullptr) workbook_close(book_);
    }
    Workbook(const Workbook&) = delete;
    Workbook& operator=(const Workbook&) = delete;

    lxw_worksheet* sheet(const std::string& name) {
        lxw_worksheet* out = workbook_add_worksheet(book_, name.c_str());
        if (out == nullptr) throw Error("profana_export: cannot add the sheet " + name);
        return out;
    }

    // One format for each look; the workbook owns them.
    lxw_format* format(char kind, lxw_color_t fill, int indent) {
        lxw_format*& out = formats_[{kind, fill, indent}];
        if (out != nullptr) return out;
        out = workbook_add_format(book_);
        format_set_border(out, LXW_BORDER_THIN);
        if (kind == 'I') format_set_num_format(out, "#,##0");
        if (kind == 'F') format_set_num_format(out, "#,##0.00");
        if (kind == 'P') format_set_num_format(out, "0.00%");
        if (kind == 'B' || kind == 'H') format_set_bold(out);
        if (kind == 'T') format_set_align(out, LXW_ALIGN_CENTER);
        if (fill != 0) format_set_bg_color(out, fill);
        if (indent > 0) format_set_indent(out, static_cast<uint8_t>(std::min(indent, 15)));
        return out;
    }

    void close() {
        const lxw_error code = workbook_close(book_);
        book_ = nullptr;
        if (code != LXW_NO_ERROR) throw Error(std::string("profana_export: workbook: ") + lxw_strerror(code));
    }

  private:
    lxw_workbook* book_ = nullptr;
    std::map<std::tuple<char, lxw_color_t, int>, lxw_format*> formats_;
};

int leading_tabs(const std::string& text) {
    return static_cast<int>(text.find_first_not_of('\t'));
}

// The colour of a row of OverallMetrics: by its level and what it stands under.
class OverallFill {
  public:
    lxw_color_t next(const std::string& index) {
        const int level = leading_tabs(index);
        if (level == 0) {
            top_ = index;
            return kSky;
        }
        return level == 1 && top_ != "Free Time" ? kPaleSky : 0;
    }

  private:
    std::string top_;
};

void write_cell(Workbook& book, lxw_worksheet* sheet, lxw_row_t row, int column, const Query& rows, char kind,
                bool ratio, lxw_color_t fill) {
    const auto at = static_cast<lxw_col_t>(column);
    if (rows.is_null(column)) {
        worksheet_write_blank(sheet, row, at, book.format(kind, fill, 0));
        return;
    }
    const int type = sqlite3_column_type(rows.statement(), column);
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
        const double value = rows.real(column);
        const bool red = ratio && value > 1;
        lxw_format* format = red ? book.format('P', kRed, 0) : book.format(kind, fill, 0);
        if (std::isinf(value)) {
            worksheet_write_string(sheet, row, at, "INF", format);
        } else {
            worksheet_write_number(sheet, row, at, value, format);
        }
        return;
    }
    const std::string text = fitting(rows.text(column));
    const int indent = column == 0 ? std::max(0, leading_tabs(text)) : 0;
    if (text.empty()) {
        worksheet_write_blank(sheet, row, at, book.format(kind, fill, indent));
    } else {
        worksheet_write_string(sheet, row, at, text.c_str(), book.format(kind, fill, indent));
    }
}

void write_heads(Workbook& book, lxw_worksheet* sheet, const SheetLook& look, const Query& rows,
                 const std::string& base, const std::string& comparison) {
    const auto title = [&](int first, int last, const std::string& text) {
        worksheet_merge_range(sheet, 0, static_cast<lxw_col_t>(first), 0, static_cast<lxw_col_t>(last),
                              fitting(text).c_str(), book.format('T', 0, 0));
    };
    title(look.base_first, look.base_last, "Base Profiling: " + base);
    title(look.comparison_first, look.comparison_last, "Comparison Profiling: " + comparison);
    for (int c = 0; c < rows.columns(); ++c) {
        const bool second = c >= look.comparison_first && c <= look.comparison_last;
        worksheet_write_string(sheet, kHeadRow, static_cast<lxw_col_t>(c), rows.name(c).c_str(),
                               book.format('H', second ? kYellow : kGreen, 0));
    }
}

void set_widths(lxw_worksheet* sheet, const SheetLook& look) {
    for (int c = 0; look.formats[c] != '\0'; ++c) {
        const bool text =
            look.formats[c] == '-' || look.formats[c] == 'B' || (c == 0 && look.formats[c + 1] == 'F');
        worksheet_set_column(sheet, static_cast<lxw_col_t>(c), static_cast<lxw_col_t>(c),
                             text && c > 0 ? 30
                             : c == 0      ? 36
                                           : 16,
                             nullptr);
    }
    if (look.formats[1] != 'F') worksheet_set_column(sheet, 0, 0, 9, nullptr);
}

// Writes one report; a sheet without rows is left out, one with more rows than a sheet takes goes on in "NAME
// (2)".
int write_sheet(Workbook& book, Connection& connection, const SheetLook& look, const std::string& base,
                const std::string& comparison) {
    int sheets = 0;
    run_script(connection, embedded_text(std::string("reports/compare/") + look.name + ".sql"),
               [&](Query& rows) {
                   lxw_worksheet* sheet = nullptr;
                   lxw_row_t row = kLastRow + 1;
                   OverallFill fill;
                   const size_t known = std::char_traits<char>::length(look.formats);
                   const bool overall = std::string(look.name) == "OverallMetrics";
                   std::vector<bool> ratio;
                   for (int c = 0; c < rows.columns(); ++c) ratio.push_back(is_ratio_head(rows.name(c)));
                   while (rows.step()) {
                       if (row > kLastRow) {
                           sheet = book.sheet(sheets == 0 ? look.name
                                                          : std::string(look.name) + " (" +
                                                                std::to_string(sheets + 1) + ")");
                           set_widths(sheet, look);
                           write_heads(book, sheet, look, rows, base, comparison);
                           row = kFirstRow;
                           ++sheets;
                       }
                       const lxw_color_t colour = overall ? fill.next(rows.text(0)) : 0;
                       for (int c = 0; c < rows.columns(); ++c) {
                           const char kind = static_cast<size_t>(c) < known ? look.formats[c] : '-';
                           write_cell(book, sheet, row, c, rows, kind, ratio[c], colour);
                       }
                       ++row;
                   }
               });
    return sheets;
}

// Of the sheets that show the same work in two ways the compare tool writes one: modules where any were
// recorded, else operators; kernels by shape, not by type.
bool is_alternative(const std::string& name, bool has_modules) {
    return name == "KernelTypeCompare" || (has_modules && name.rfind("Operator", 0) == 0);
}

std::vector<SheetLook> named_sheets(const char* names) {
    std::vector<SheetLook> out;
    for (const std::string& name : names_of_list(names)) {
        const auto found = std::find_if(std::begin(kSheets), std::end(kSheets),
                                        [&](const SheetLook& s) { return name == s.name; });
        if (found == std::end(kSheets)) {
            std::string known;
            for (const SheetLook& sheet : kSheets)
                known += std::string(known.empty() ? "" : ", ") + sheet.name;
            throw Error("profana_export: a workbook has no sheet '" + excerpt(name) + "'; it has " + known);
        }
        out.push_back(*found);
    }
    return out;
}

}  // namespace

int write_workbook(Connection& connection, const char* names, const std::string& path) {
    const auto base = connection.profile("base"), comparison = connection.profile("comparison");
    if (base == nullptr || comparison == nullptr)
        throw Error(
            "profana_export: a workbook compares the profiles 'base' and 'comparison'; open both first");
    const std::vector<SheetLook> chosen =
        names == nullptr ? std::vector(std::begin(kSheets), std::end(kSheets)) : named_sheets(names);
    const NumbersWithPoint numbers;
    Workbook book(path);
    int sheets = 0;
    bool has_modules = false;
    for (const SheetLook& look : chosen) {
        if (names == nullptr && is_alternative(look.name, has_modules)) continue;
        const int written = write_sheet(book, connection, look, base->path, comparison->path);
        has_modules = has_modules || (written > 0 && std::string(look.name) == "ModuleCompareStatistic");
        sheets += written;
    }
    if (sheets == 0) book.sheet("Sheet1");
    book.close();
    return sheets;
}

#endif

}  // namespace profana
