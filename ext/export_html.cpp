// The comparison as one HTML page without any outside file: what got worse in words, the overall times as
// bars, what grew most, one step as a picture. All figures come from sql/reports; here is only how they look.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>

#include "ext/core/rounding.h"
#include "ext/core/utf8.h"
#include "ext/export.h"
#include "vtab/profile.h"

namespace profana {
namespace {

constexpr const char* kStyle = R"(
:root { --computing: #2f6fc4; --communication: #b8641a; --free: #c4c9d1; --host: #4c8a3a; --base: #9aa9bd; --worse: #b3261e; --ink: #1d2530;
        --line: #e1e5ea; }
body { font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; color: var(--ink); max-width: 1180px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; } h2 { font-size: 1.25em; margin-top: 2em; border-bottom: 1px solid var(--line); } h3 { font-size: 1em; margin: 1.4em 0 .5em; }
table { border-collapse: collapse; font-size: 13px; } td, th { padding: .2em .6em; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; } th.side { text-align: center; } .start { border-left: 2px solid var(--line); }
.worse { color: var(--worse); font-weight: 600; } .level1 { padding-left: 2em; } .level2 { padding-left: 4em; }
ul.findings { list-style: none; padding: 0; margin: .5em 0; } ul.findings > li { margin: .5em 0 0; font-weight: 600; }
ul.findings li.detail { margin: 0 0 0 1.5em; font-weight: 400; } .note { color: #5b6675; }
.row { display: grid; grid-template-columns: minmax(9em, 24em) minmax(6em, 1fr) 22em; gap: 0 1em; align-items: center; font-size: 13px; margin: 4px 0; }
.row > * { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; } .row > .name { white-space: normal; overflow-wrap: anywhere; line-height: 1.3; } .row .figure { font-variant-numeric: tabular-nums; }
.bar { display: flex; height: 26px; } .bar i { display: block; overflow: hidden; font-style: normal; line-height: 26px; padding-left: 0; text-indent: 6px; }
.pair i { display: block; height: 9px; margin: 1px 0; min-width: 1px; }
.computing { background: var(--computing); fill: var(--computing); color: #fff; } .communication { background: var(--communication); fill: var(--communication); color: #fff; }
.free { background: var(--free); fill: var(--free); } .host { background: var(--host); fill: var(--host); color: #fff; }
.base { background: var(--base); } .comparison { background: var(--computing); }
.legend { font-size: 13px; margin: .6em 0 1em; } .legend i { display: inline-block; width: 13px; height: 13px; margin: 0 .4em 0 1.4em; vertical-align: -2px; }
.legend i:first-child { margin-left: 0; } .scroll { overflow-x: auto; }
svg { display: block; } svg text { font: 12px "DejaVu Sans", system-ui, sans-serif; fill: var(--ink); } svg text.inside { font-size: 11px; fill: #fff; }
svg line { stroke: var(--line); } svg text.tick { font-size: 11px; fill: #5b6675; text-anchor: middle; }
)";

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : repair_utf8(text)) {
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

// A name short enough for a label, cut at a whole character.
std::string shortened(const std::string& name, size_t most) {
    if (name.size() <= most) return name;
    if (most < 2) return "";
    size_t end = most - 1;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
    return name.substr(0, end) + "\xE2\x80\xA6";
}

// A name without the namespaces in front; C++ signatures keep them.
std::string last_name(const std::string& name) {
    const size_t at = name.find_first_of("<(") == std::string::npos ? name.rfind("::") : std::string::npos;
    return at == std::string::npos ? name : name.substr(at + 2);
}

// Runs an embedded report of one statement.
template <class OnRow>
void each_row(Connection& connection, const std::string& report, OnRow&& on_row) {
    Query query(connection.db(), embedded_text(report).c_str());
    while (query.step()) on_row(query);
}

// ---- what changed -----------------------------------------------------------------------------------------

// A finding that begins with blanks says more of the one above it.
std::string findings(Connection& connection) {
    std::string out = "<ul class=\"findings\">\n";
    each_row(connection, "reports/diagnose.sql", [&](Query& query) {
        const std::string line = query.text(0);
        const bool detail = line.rfind("  ", 0) == 0;
        out += (detail ? "<li class=\"detail\">" : "<li>") + escaped(line) + "</li>\n";
    });
    return out + "</ul>\n";
}

// ---- overall times ----------------------------------------------------------------------------------------

// The columns of reports/html/overall.sql.
struct OverallRow {
    enum Column {
        kLevel,
        kMetric,
        kBaseMs,
        kBaseRatio,
        kBaseCalls,
        kComparisonMs,
        kComparisonRatio,
        kComparisonCalls,
        kDiffMs,
        kDiffRatio,
        kVerdict
    };
};

std::string overall_table_row(const Query& row) {
    const auto cell = [&](int column, double scale, int digits, const char* unit, const char* kind) {
        std::string text;
        if (row.is_null(column))
            text = "";
        else if (std::isinf(row.real(column)))
            text = "new";
        else
            text = fixed(row.real(column) * scale, digits) + unit;
        return std::string("<td class=\"number ") + kind + "\">" + text + "</td>";
    };
    using R = OverallRow;
    const char* worse = row.text(R::kVerdict) == "worse" ? "worse" : "";
    return "<tr><td class=\"level" + row.text(R::kLevel) + "\">" + escaped(row.text(R::kMetric)) + "</td>" +
           cell(R::kBaseMs, 1, 3, "", "start") + cell(R::kBaseRatio, 100, 1, " %", "") +
           cell(R::kBaseCalls, 1, 0, "", "") + cell(R::kComparisonMs, 1, 3, "", "start") +
           cell(R::kComparisonRatio, 100, 1, " %", "") + cell(R::kComparisonCalls, 1, 0, "", "") +
           cell(R::kDiffMs, 1, 3, "", "start") + cell(R::kDiffRatio, 100, 1, " %", worse) + "</tr>\n";
}

constexpr const char* kOverallHead =
    "<div class=\"scroll\"><table><tr><th></th><th class=\"side start\" colspan=\"3\">base</th>"
    "<th class=\"side start\" colspan=\"3\">comparison</th><th class=\"side start\" colspan=\"2\">"
    "difference</th></tr>\n<tr><th></th><th class=\"number start\">ms</th><th class=\"number\">share</th>"
    "<th class=\"number\">kernels</th><th class=\"number start\">ms</th><th class=\"number\">share</th>"
    "<th class=\"number\">kernels</th><th class=\"number start\">ms</th><th class=\"number\">of base</th>"
    "</tr>\n";

struct TimePart {
    const char* metric;
    const char* kind;
    double ms[2] = {0, 0};
};

// Each side's time as one bar: computing, uncovered communication, free.
std::string overall_bars(const std::vector<TimePart>& parts, const double (&whole)[2]) {
    const double longest = std::max(whole[0], whole[1]);
    if (!(longest > 0)) return "<p class=\"note\">No overall times: the profiles hold no device work.</p>\n";
    std::string out;
    for (const int side : {0, 1}) {
        out += std::string("<div class=\"row\"><span>") + (side == 0 ? "base" : "comparison") +
               "</span><span class=\"bar\">";
        for (const TimePart& part : parts) {
            const double percent = std::max(0.0, part.ms[side]) / longest * 100;
            out += std::string("<i class=\"") + part.kind + "\" style=\"width:" + fixed(percent, 3) +
                   "%\" title=\"" + part.metric + " " + fixed(part.ms[side], 3) + " ms\">" +
                   (percent > 15 ? fixed(part.ms[side], 3) + " ms" : "") + "</i>";
        }
        out += "</span><span class=\"figure\">" + fixed(whole[side], 3) + " ms</span></div>\n";
    }
    out += "<div class=\"legend\">";
    for (const TimePart& part : parts)
        out += std::string("<i class=\"") + part.kind + "\"></i>" + part.metric;
    return out + "</div>\n";
}

std::string overall(Connection& connection) {
    std::vector<TimePart> parts = {{"Computing Time", "computing"},
                                   {"Uncovered Communication Time", "communication"},
                                   {"Free Time", "free"}};
    double whole[2] = {0, 0};
    std::string table = kOverallHead;
    each_row(connection, "reports/html/overall.sql", [&](Query& row) {
        table += overall_table_row(row);
        const double ms[2] = {row.real(OverallRow::kBaseMs), row.real(OverallRow::kComparisonMs)};
        const std::string metric = row.text(OverallRow::kMetric);
        if (metric == "E2E Time") std::copy(ms, ms + 2, whole);
        for (TimePart& part : parts)
            if (metric == part.metric) std::copy(ms, ms + 2, part.ms);
    });
    return overall_bars(parts, whole) + table + "</table></div>\n";
}

// ---- what grew --------------------------------------------------------------------------------------------

struct Grown {
    std::string name, label, unit;
    double base = 0, comparison = 0;
    bool noise = false;
};

std::string grown_bars(const std::vector<Grown>& rows) {
    double longest = 0;
    for (const Grown& row : rows) longest = std::max({longest, row.base, row.comparison});
    std::string out;
    for (const Grown& row : rows) {
        const int digits = row.unit == "MiB" ? 1 : 3;
        const auto bar = [&](const char* side, double value) {
            return std::string("<i class=\"") + side + "\" style=\"width:" + fixed(value / longest * 100, 3) +
                   "%\"></i>";
        };
        out += "<div class=\"row\"><span class=\"name\" title=\"" + escaped(row.name) + "\">" +
               escaped(row.label) + "</span><span class=\"pair\">" + bar("base", row.base) +
               bar("comparison", row.comparison) + "</span><span class=\"figure\">" +
               fixed(row.base, digits) + " to " + fixed(row.comparison, digits) + " " + row.unit +
               (row.noise ? " <span class=\"note\">within spread</span>" : "") + "</span></div>\n";
    }
    return out;
}

std::string grown(Connection& connection) {
    std::string out =
        "<div class=\"legend\"><i class=\"base\"></i>base<i class=\"comparison\"></i>comparison</div>\n";
    std::string section;
    std::vector<Grown> rows;
    bool compared = false;
    const auto finish = [&] {
        if (section.empty()) return;
        out += "<h3>" + escaped(section) + "</h3>\n";
        if (!rows.empty())
            out += grown_bars(rows);
        else
            out += compared ? "<p class=\"note\">Nothing grew.</p>\n"
                            : "<p class=\"note\">Nothing to compare: neither profile recorded any.</p>\n";
        rows.clear();
    };
    each_row(connection, "reports/html/regressions.sql", [&](Query& row) {
        if (row.text(0) != section) finish();
        section = row.text(0);
        compared = row.integer(6) == 1;
        if (!row.is_null(1))
            rows.push_back(
                {row.text(1), row.text(7), row.text(4), row.real(2), row.real(3), row.integer(5) == 1});
    });
    finish();
    return out;
}

// ---- one step in time -------------------------------------------------------------------------------------

constexpr double kLaneLabel = 220, kLaneWidth = 910, kLaneHeight = 24, kAxisHeight = 22;
constexpr double kCharacter = 7.2;  // px, a wide one of the labels' font

std::string svg_text(double x, double y, const char* kind, const std::string& text) {
    return "<text class=\"" + std::string(kind) + "\" x=\"" + fixed(x, 1) + "\" y=\"" + fixed(y, 1) + "\">" +
           escaped(text) + "</text>";
}

// A length of 1, 2 or 5 times a power of ten, so that about eight of them fill the span.
double tick_length(double span) {
    const double rough = span / 8, power = std::pow(10, std::floor(std::log10(rough)));
    for (const double step : {1.0, 2.0, 5.0})
        if (rough <= step * power) return step * power;
    return 10 * power;
}

// The lanes of one profile. Both profiles have the same scale, so that lengths can be compared.
class Picture {
  public:
    Picture(std::string title, double scale_ns) : title_(std::move(title)), scale_ns_(scale_ns) {}

    void lane(const std::string& name) {
        ++lanes_;
        drawn_to_ = -1;
        body_ +=
            svg_text(0, top() + 15, "lane", shortened(name, static_cast<size_t>(kLaneLabel / kCharacter)));
    }

    // Pieces that fall together on the picture are drawn as one.
    void piece(const std::string& kind, const std::string& name, double at_ns, double dur_ns) {
        const double x = at_ns / scale_ns_ * kLaneWidth,
                     width = std::max(1.0, dur_ns / scale_ns_ * kLaneWidth);
        if (x + width <= drawn_to_ + 0.5) return;
        drawn_to_ = std::max(drawn_to_, x + width);
        body_ += "<rect class=\"" + kind + "\" shape-rendering=\"crispEdges\" x=\"" +
                 fixed(kLaneLabel + x, 2) + "\" y=\"" + fixed(top(), 0) + "\" width=\"" + fixed(width, 2) +
                 "\" height=\"" + fixed(kLaneHeight - 4, 0) + "\"><title>" + escaped(name) + " " +
                 fixed(dur_ns / 1000, 3) + " us at " + fixed(at_ns / 1000, 3) + " us</title></rect>";
        const double room = (width - 8) / kCharacter;
        if (room >= 4)
            body_ += svg_text(kLaneLabel + x + 4, top() + 14, "inside",
                              shortened(last_name(name), static_cast<size_t>(room)));
    }

    std::string html() const {
        const double height = kAxisHeight + lanes_ * kLaneHeight + 4;
        return "<h3>" + escaped(title_) + "</h3><div class=\"scroll\"><svg width=\"" +
               fixed(kLaneLabel + kLaneWidth + 30, 0) + "\" height=\"" + fixed(height, 0) +
               "\" role=\"img\">" + axis(height) + body_ + "</svg></div>\n";
    }

  private:
    double top() const { return kAxisHeight + (lanes_ - 1) * kLaneHeight; }

    std::string axis(double height) const {
        std::string out;
        const double tick = tick_length(scale_ns_);
        const bool in_ms = scale_ns_ >= 1e6;
        const double unit = in_ms ? 1e6 : 1e3;
        const int digits = std::max(0, static_cast<int>(std::ceil(-std::log10(tick / unit) - 1e-9)));
        for (int i = 0; i * tick <= scale_ns_; ++i) {
            const double x = kLaneLabel + i * tick / scale_ns_ * kLaneWidth;
            out += "<line x1=\"" + fixed(x, 1) + "\" x2=\"" + fixed(x, 1) + "\" y1=\"16\" y2=\"" +
                   fixed(height, 0) + "\"/>" +
                   svg_text(x, 12, "tick", fixed(i * tick / unit, digits) + (in_ms ? " ms" : " us"));
        }
        return out;
    }

    std::string title_;
    double scale_ns_;
    std::string body_;
    int lanes_ = 0;
    double drawn_to_ = -1;
};

std::string timeline(Connection& connection) {
    enum { kProfile, kSpan, kSpanNs, kScaleNs, kLane, kKind, kName, kAt, kDuration };
    std::string out, profile, lane;
    std::unique_ptr<Picture> picture;
    each_row(connection, "reports/html/timeline.sql", [&](Query& row) {
        if (row.text(kProfile) != profile) {
            if (picture != nullptr) out += picture->html();
            profile = row.text(kProfile);
            lane.clear();
            const std::string title =
                profile + ", " + row.text(kSpan) + ", " + fixed(row.real(kSpanNs) / 1e6, 3) + " ms";
            picture = std::make_unique<Picture>(title, std::max(1.0, row.real(kScaleNs)));
        }
        if (row.text(kLane) != lane) picture->lane(lane = row.text(kLane));
        picture->piece(row.text(kKind), row.text(kName), row.real(kAt), row.real(kDuration));
    });
    if (picture == nullptr) return "<p class=\"note\">No work to draw.</p>\n";
    return "<div class=\"legend\"><i class=\"host\"></i>host operators<i class=\"computing\"></i>kernels"
           "<i class=\"communication\"></i>collectives</div>\n" +
           out + picture->html();
}

}  // namespace

int write_html(Connection& connection, const std::string& path) {
    const auto base = connection.profile("base"), comparison = connection.profile("comparison");
    if (base == nullptr || comparison == nullptr)
        throw Error(
            "profana_export: the HTML report compares the profiles 'base' and 'comparison'; open both first");
    std::ofstream out(path, std::ios::binary);
    if (!out) throw cannot_write(path);
    out << "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
           "content=\"width=device-width\"><title>Profile comparison</title><style>"
        << kStyle << "</style></head><body>\n<h1>Profile comparison</h1>\n<table><tr><th>base</th><td>"
        << escaped(base->path) << "</td></tr><tr><th>comparison</th><td>" << escaped(comparison->path)
        << "</td></tr></table>\n";
    const std::pair<const char*, std::string (*)(Connection&)> sections[] = {
        {"What changed", findings},
        {"Overall times", overall},
        {"What grew most", grown},
        {"One step", timeline},
    };
    for (const auto& [title, section] : sections) out << "<h2>" << title << "</h2>\n" << section(connection);
    out << "</body></html>\n";
    out.close();
    if (!out) throw cannot_write(path);
    return static_cast<int>(std::size(sections));
}

}  // namespace profana
