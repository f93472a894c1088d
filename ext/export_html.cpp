// The comparison as one HTML page without any outside file: what got worse in words, the overall times as
// bars, the worst differences, one step as a picture. All figures come from the reports; here is only how
// they look.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>

#include "ext/export.h"
#include "vtab/profile.h"

namespace profana {
namespace {

constexpr const char* kStyle = R"(
:root { --computing: #3b7dd8; --communication: #e08a2e; --free: #b9bec7; --host: #6aa84f; --worse: #c43a31; --ink: #1d2530; }
body { font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; color: var(--ink); max-width: 1180px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; } h2 { font-size: 1.2em; margin-top: 2em; border-bottom: 1px solid #d5d9e0; }
table { border-collapse: collapse; } td, th { padding: .25em .7em; border-bottom: 1px solid #e6e9ee; text-align: left; white-space: pre; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; } td.worse { color: var(--worse); font-weight: 600; }
svg text { font: 12px "DejaVu Sans", system-ui, sans-serif; fill: var(--ink); }
.computing { fill: var(--computing); } .communication { fill: var(--communication); } .free { fill: var(--free); } .host { fill: var(--host); }
.base { fill: #8fa3bd; } .comparison { fill: var(--computing); } .scroll { overflow-x: auto; }
)";

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '&')
            out += "&amp;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

std::string fixed(double value, int digits) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
    return buffer;
}

// A name short enough for a label, cut at a whole character.
std::string shortened(const std::string& name, size_t most) {
    if (name.size() <= most) return name;
    size_t end = most - 1;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
    return name.substr(0, end) + "\xE2\x80\xA6";
}

// The rows of one report, all as the report prints them.
struct Sheet {
    struct Cell {
        std::string text;
        double number = 0;
        bool is_number = false;
    };
    std::vector<std::string> heads;
    std::vector<std::vector<Cell>> rows;
};

Sheet read_report(Connection& connection, const std::string& path, size_t most_rows) {
    Sheet out;
    run_script(connection, embedded_text(path), [&](Query& query) {
        out = {};
        for (int c = 0; c < query.columns(); ++c) out.heads.push_back(query.name(c));
        while (out.rows.size() < most_rows && query.step()) {
            out.rows.emplace_back();
            for (int c = 0; c < query.columns(); ++c) {
                const int type = sqlite3_column_type(query.statement(), c);
                const bool number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
                out.rows.back().push_back({query.text(c), number ? query.real(c) : 0, number});
            }
        }
    });
    return out;
}

std::string table_of(const Sheet& sheet) {
    std::string out = "<div class=\"scroll\"><table><tr>";
    for (size_t c = 0; c < sheet.heads.size(); ++c)
        out += (c > 0 ? "<th class=\"number\">" : "<th>") + escaped(sheet.heads[c]) + "</th>";
    out += "</tr>\n";
    for (const auto& row : sheet.rows) {
        out += "<tr>";
        for (size_t c = 0; c < row.size(); ++c) {
            const bool ratio =
                sheet.heads[c].rfind("Diff", 0) == 0 && sheet.heads[c].find("Ratio") != std::string::npos;
            const bool worse = ratio && row[c].is_number && row[c].number > 1;
            const std::string kind = std::string(row[c].is_number ? "number" : "") + (worse ? " worse" : "");
            std::string text = row[c].text;
            if (row[c].is_number && std::isinf(row[c].number))
                text = "INF";
            else if (ratio && row[c].is_number)
                text = fixed(row[c].number * 100, 2) + "%";
            else if (row[c].is_number && sheet.heads[c].find("Ratio") != std::string::npos)
                text = fixed(row[c].number * 100, 2) + "%";
            else if (row[c].is_number && sheet.heads[c].find('(') != std::string::npos)
                text = fixed(row[c].number, 2);
            out += "<td class=\"" + kind + "\">" + escaped(text) + "</td>";
        }
        out += "</tr>\n";
    }
    return out + "</table></div>\n";
}

std::string rectangle(double x, double y, double width, double height, const std::string& kind,
                      const std::string& title) {
    return "<rect class=\"" + kind + "\" x=\"" + fixed(x, 2) + "\" y=\"" + fixed(y, 2) + "\" width=\"" +
           fixed(std::max(width, 0.4), 2) + "\" height=\"" + fixed(height, 2) + "\"><title>" +
           escaped(title) + "</title></rect>";
}

std::string label(double x, double y, const std::string& text) {
    return "<text x=\"" + fixed(x, 1) + "\" y=\"" + fixed(y, 1) + "\">" + escaped(text) + "</text>";
}

std::string svg(double width, double height, const std::string& body) {
    return "<svg width=\"" + fixed(width, 0) + "\" height=\"" + fixed(height, 0) + "\" role=\"img\">" + body +
           "</svg>\n";
}

constexpr double kLabelWidth = 250, kBarWidth = 800, kLineHeight = 26;

// Both sides' time as one bar each: computing, uncovered communication, free.
std::string overall_bars(const Sheet& sheet) {
    std::map<std::string, std::pair<double, double>> parts;  // ms of base and comparison
    for (const auto& row : sheet.rows)
        if (row.size() > 4) parts[row[0].text] = {row[1].number, row[4].number};
    const double longest = std::max(parts["E2E Time"].first, parts["E2E Time"].second);
    if (longest <= 0) return "<p>No overall times: the profiles hold no device work.</p>";
    const std::pair<const char*, const char*> kinds[] = {{"Computing Time", "computing"},
                                                         {"Uncovered Communication Time", "communication"},
                                                         {"Free Time", "free"}};
    std::string body;
    for (int side = 0; side < 2; ++side) {
        const auto of = [&](const char* name) { return side == 0 ? parts[name].first : parts[name].second; };
        const double y = side * kLineHeight * 1.6;
        body +=
            label(0, y + 19,
                  std::string(side == 0 ? "base" : "comparison") + "  " + fixed(of("E2E Time"), 3) + " ms");
        double x = kLabelWidth;
        for (const auto& [name, kind] : kinds) {
            const double width = std::max(0.0, of(name)) / longest * kBarWidth;
            body += rectangle(x, y, width, kLineHeight, kind,
                              std::string(name) + " " + fixed(of(name), 3) + " ms");
            if (width > 90) body += label(x + 6, y + 18, fixed(of(name), 2) + " ms");
            x += width;
        }
    }
    double x = kLabelWidth;
    for (const auto& [name, kind] : kinds) {
        body +=
            rectangle(x, kLineHeight * 3.4, 14, 14, kind, name) + label(x + 20, kLineHeight * 3.4 + 12, name);
        x += 250;
    }
    return svg(kLabelWidth + kBarWidth + 20, kLineHeight * 4.2, body);
}

// The worst rows of a statistic sheet: base and comparison as two bars.
struct Regression {
    std::string name;
    double base = 0, comparison = 0;
};

std::string regression_bars(std::vector<Regression> rows, const std::string& unit) {
    std::erase_if(rows, [](const Regression& r) { return r.comparison <= r.base; });
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
        return a.comparison - a.base > b.comparison - b.base;
    });
    if (rows.size() > 10) rows.resize(10);
    if (rows.empty()) return "<p>Nothing got worse.</p>";
    double longest = 0;
    for (const Regression& row : rows) longest = std::max({longest, row.base, row.comparison});
    std::string body;
    for (size_t i = 0; i < rows.size(); ++i) {
        const Regression& row = rows[i];
        const double y = static_cast<double>(i) * kLineHeight * 1.2;
        const std::string change = "+" + fixed(row.comparison - row.base, 3) + " " + unit;
        body += label(0, y + 16, shortened(row.name, 38));
        body += rectangle(kLabelWidth + 20, y + 1, row.base / longest * 620, 10, "base",
                          "base " + fixed(row.base, 3) + " " + unit);
        body += rectangle(kLabelWidth + 20, y + 12, row.comparison / longest * 620, 10, "comparison",
                          "comparison " + fixed(row.comparison, 3) + " " + unit);
        body += label(kLabelWidth + 30 + row.comparison / longest * 620, y + 17, change);
    }
    return svg(kLabelWidth + kBarWidth + 20, static_cast<double>(rows.size()) * kLineHeight * 1.2 + 6, body);
}

// Rows of a sheet as regressions: the columns of the name and of each side's figure.
std::vector<Regression> regressions(const Sheet& sheet, size_t name, size_t base, size_t comparison) {
    std::vector<Regression> out;
    for (const auto& row : sheet.rows)
        if (row.size() > comparison && row[name].text != "|") {
            const bool only_comparison = row[name].text.empty();
            out.push_back({only_comparison && row.size() > 8 ? row[8].text : row[name].text, row[base].number,
                           row[comparison].number});
        }
    return out;
}

// One step of each profile, a lane a thread, stream or group. Pieces that fall together on the picture are
// drawn as one.
std::string timeline(Connection& connection) {
    std::string out, profile, lane, body;
    double y = 0, drawn_to = -1, span = 1;
    std::string title;
    const auto finish = [&] {
        if (!body.empty())
            out += "<h3>" + escaped(title) + "</h3><div class=\"scroll\">" +
                   svg(kLabelWidth + kBarWidth + 20, y + kLineHeight, body) + "</div>";
        body.clear();
    };
    Query rows(connection.db(), embedded_text("reports/html/timeline.sql").c_str());
    while (rows.step()) {
        if (rows.text(0) != profile) {
            finish();
            profile = rows.text(0);
            span = std::max(1.0, rows.real(2));
            title = profile + ", " + rows.text(1) + ", " + fixed(span / 1e6, 3) + " ms";
            lane.clear();
            y = -kLineHeight;
        }
        if (rows.text(3) != lane) {
            lane = rows.text(3);
            y += kLineHeight;
            drawn_to = -1;
            body += label(0, y + 16, shortened(lane, 34));
        }
        const double x = rows.real(6) / span * kBarWidth, width = rows.real(7) / span * kBarWidth;
        if (x + width <= drawn_to + 0.3 && width < 0.5) continue;
        drawn_to = std::max(drawn_to, x + width);
        body += rectangle(kLabelWidth + x, y + 2, width, kLineHeight - 8, rows.text(4),
                          rows.text(5) + " " + fixed(rows.real(7) / 1000, 3) + " us at " +
                              fixed(rows.real(6) / 1000, 3) + " us");
    }
    finish();
    return out.empty() ? "<p>No device work to draw.</p>" : out;
}

std::string diagnosis(Connection& connection) {
    std::string out;
    run_script(connection, embedded_text("reports/diagnose.sql"), [&](Query& query) {
        while (query.step()) {
            std::string line;
            for (int c = 0; c < query.columns(); ++c) line += (c > 0 ? " " : "") + query.text(c);
            out += "<p>" + escaped(line) + "</p>\n";
        }
    });
    return out;
}

}  // namespace

int write_html(Connection& connection, const std::string& path) {
    const auto base = connection.profile("base"), comparison = connection.profile("comparison");
    if (base == nullptr || comparison == nullptr)
        throw Error(
            "profana_export: the HTML report compares the profiles 'base' and 'comparison'; open both first");
    constexpr size_t kAll = 100000;
    const auto sheet = [&](const char* name, size_t most) {
        return read_report(connection, std::string("reports/compare/") + name + ".sql", most);
    };
    const Sheet overall = sheet("OverallMetrics", kAll);
    std::ofstream out(path, std::ios::binary);
    out << "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Profile "
           "comparison</title><style>"
        << kStyle << "</style></head><body><h1>Profile comparison</h1><table><tr><th>base</th><td>"
        << escaped(base->path) << "</td></tr><tr><th>comparison</th><td>" << escaped(comparison->path)
        << "</td></tr></table>\n"
        << "<h2>What changed</h2>\n"
        << diagnosis(connection) << "<h2>Overall times</h2>\n"
        << overall_bars(overall) << table_of(overall) << "<h2>Operators that got slower</h2>\n"
        << regression_bars(regressions(sheet("OperatorCompareStatistic", kAll), 1, 2, 4), "ms")
        << "<h2>Kernel types that got slower</h2>\n"
        << regression_bars(regressions(sheet("KernelTypeCompare", kAll), 1, 3, 8), "us")
        << "<h2>Collectives that got slower</h2>\n"
        << regression_bars(regressions(sheet("CommunicationCompare", kAll), 1, 4, 11), "us")
        << "<h2>Operators that take more memory</h2>\n"
        << regression_bars(regressions(sheet("MemoryCompareStatistic", kAll), 1, 3, 6), "MB")
        << "<h2>One step</h2>\n"
        << timeline(connection) << "</body></html>\n";
    out.close();
    if (!out) throw Error("profana_export: " + path + ": cannot be written", ErrorKind::kCannotOpen);
    return 7;
}

}  // namespace profana
