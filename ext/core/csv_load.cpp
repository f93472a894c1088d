#include "ext/core/csv_load.h"

#include <algorithm>

#include "ext/core/csv_cells.h"
#include "ext/core/csv_convert.h"
#include "ext/core/decimal.h"
#include "ext/core/utf8.h"

namespace profana {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_blank_text(std::string_view text) {
    return trim(text).empty();
}

// A CR that ends no line together with an LF.
bool has_lone_cr(std::string_view line) {
    while (line.ends_with('\r')) line.remove_suffix(1);
    size_t at = line.find('\r');
    while (at != std::string_view::npos && line[at + 1] == '\n') at = line.find('\r', at + 1);
    return at != std::string_view::npos;
}

// Heads without surrounding blanks and quotes; empty ones at the end come from trailing commas.
std::vector<std::string> heads_of(const CsvIndex& index, const CsvRow& row) {
    std::vector<std::string> heads;
    std::string scratch;
    for (uint32_t cell = 0; cell < row.cells; ++cell) {
        std::string_view text = cell_text(index.cell(row, cell), scratch);
        if (cell == 0 && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
        std::string inner;
        const std::string_view head = cell_text(text, inner);
        heads.push_back(is_utf8_text(head) ? std::string(head) : repair_utf8(head));
    }
    while (heads.size() > 1 && heads.back().empty()) heads.pop_back();
    return heads;
}

CsvIndex::End end_of(const Chunk& chunk) {
    if (chunk.at_end) return CsvIndex::End::kEndOfFile;
    return chunk.too_long ? CsvIndex::End::kLongRow : CsvIndex::End::kMayFollow;
}

// The first row that is not blank; index.rows().size(): none.
size_t first_row(CsvIndex& index) {
    size_t row = 0;
    while (row < index.rows().size()) {
        std::string_view text = index.text_of(index.rows()[row]);
        if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
        if (!is_blank_text(text)) break;
        ++row;
    }
    return row;
}

}  // namespace

CsvStart read_csv_start(Input& input, std::string rest, uint64_t offset, int64_t lines) {
    constexpr size_t kStep = size_t{1} << 16,
                     kLongest = size_t{1} << 24;  // of a header, and of blanks before
    const auto refuse = [&](const std::string& what) { throw file_error(input.path(), 1, what); };
    const std::string within = " in its first " + std::to_string(kLongest) + " bytes; it is no CSV file";
    size_t blanks = 0;
    bool at_end = false;
    for (;;) {
        CsvIndex index;
        const size_t size = rest.size(), looked_at = std::min(size, kLongest);
        const bool all = at_end && looked_at == size;
        rest.append(kCsvPadding, ' ');
        index.read({rest.data(), looked_at}, all                     ? CsvIndex::End::kEndOfFile
                                             : looked_at == kLongest ? CsvIndex::End::kLongRow
                                                                     : CsvIndex::End::kMayFollow);
        const size_t row = first_row(index);
        if (row < index.rows().size()) {
            if (index.last_row_open() && has_lone_cr(index.text_of(index.rows()[row])))
                refuse("has lines that end in CR alone; give them line feeds (tr '\\r' '\\n')");
            const bool last = row + 1 == index.rows().size();
            if (last && index.last_row_open() && !all) refuse("has no line end" + within);
            CsvStart start;
            start.found = true;
            start.heads = heads_of(index, index.rows()[row]);
            const size_t end = last ? index.consumed() : index.rows()[row + 1].begin;
            start.lines = lines + (last ? index.lines() : index.rows()[row + 1].line);
            start.offset = offset + end;
            start.rest = rest.substr(end, size - end);
            return start;
        }
        if (all) return {};
        blanks += index.consumed();
        if (blanks >= kLongest) refuse("has nothing but blanks" + within);
        lines += index.lines();
        offset += index.consumed();
        rest.resize(size);
        rest.erase(0, index.consumed());
        if (index.consumed() > 0 || at_end) continue;
        const size_t more = std::max(kStep, size);
        rest.resize(size + more);
        const size_t got = input.read(rest.data() + size, more);
        rest.resize(size + got);
        at_end = got == 0;
        if (size == 0 && offset == 0 && begins_as_utf16(rest)) refuse("is UTF-16 text; save it as UTF-8");
    }
}

struct CsvLoad::Result : ChunkResult {
    explicit Result(ChunkColumns chunk_columns, unsigned number)
        : columns(std::move(chunk_columns)), worker(number) {}
    ChunkColumns columns;
    unsigned worker;
    std::vector<int64_t> row_lines;  // line feeds before each row of the chunk, where lines are wanted
    int64_t lines = 0;               // line feeds in what was consumed
    CsvNotes values, structure;
};

CsvLoad::CsvLoad(const CsvFormat& format, Table& table, const ColumnSet& wanted, std::vector<char>& present,
                 LoadContext& context, const ChunkLimits& limits)
    : format_(format),
      table_(table),
      context_(context),
      limits_(limits),
      present_(present),
      wanted_(wanted),
      stored_(stored_columns(wanted)),
      merger_(table, stored_, std::max(1u, context.threads)) {
    wanted.each([&](int c) {
        if (format_.columns[static_cast<size_t>(c)].value == CsvValue::kLine) line_column_ = c;
    });
    if (line_column_ >= 0) table_.building(line_column_);
    for (unsigned i = 0; i < std::max(1u, context.threads); ++i)
        workers_.push_back({CsvIndex(), WorkerColumns(table_, stored_), std::string()});
}

ColumnSet CsvLoad::stored_columns(const ColumnSet& wanted) const {
    ColumnSet stored;
    wanted.each([&](int c) {
        const auto column = static_cast<size_t>(c);
        if (present_[column] && format_.columns[column].value != CsvValue::kLine) stored.add(c);
    });
    return stored;
}

bool CsvLoad::use_heads(std::vector<std::string> heads) {
    plan_ = std::make_unique<CsvPlan>(format_, std::move(heads));
    bool known = true;
    for (size_t column = 0; column < present_.size(); ++column) {
        if (present_[column] || !plan_->has(column)) continue;
        present_[column] = true;
        if (wanted_.has(static_cast<int>(column))) known = false;
    }
    return known;
}

bool CsvLoad::read(Input& input, CsvStart start) {
    reports_.push_back({input.path(), {}, {}});
    first_row_ = merger_.rows();
    file_bytes_ = input.compressed() ? 0 : input.size_on_disk();
    while (start.found) {
        if (!use_heads(std::move(start.heads))) return false;
        offset_ = start.offset;
        lines_ = start.lines;
        at_header_ = false;
        std::string rest = run_chunks(input, std::move(start.rest), offset_, *this, context_, limits_);
        if (!at_header_) break;
        const int64_t lines_before = lines_;
        reports_.back().structure.add(CsvNote::kNewHeader, lines_before, [] { return std::string(); });
        start = read_csv_start(input, std::move(rest), offset_, lines_);
    }
    return true;
}

void CsvLoad::report(Diagnostics& diagnostics, bool structure) const {
    for (const Report& report : reports_) {
        if (structure) report.structure.report(report.file, diagnostics);
        report.values.report(report.file, diagnostics);
    }
}

// Of a row that is too long as much is looked at as there is: a line feed in a quoted cell does not end it.
size_t CsvLoad::cut(std::string_view bytes, bool too_long) const {
    return too_long ? bytes.size() : csv_cut(bytes);
}

std::unique_ptr<ChunkResult> CsvLoad::parse(const Chunk& chunk) {
    Worker& worker = workers_[chunk.worker];
    CsvIndex& index = worker.index;
    auto result = std::make_unique<Result>(worker.columns.begin_chunk(), chunk.worker);
    if (chunk.within_row) {
        skip_rest(index, chunk, *result);
    } else {
        index.read(chunk.bytes, end_of(chunk));
        result->consumed = index.consumed();
        result->lines = index.lines();
        check_rows(index, chunk, *result, worker.scratch);
    }

    result->columns.reserve(index.rows().size());
    CsvConverter converter(index, *plan_, format_, result->values);
    stored_.each([&](int c) {
        if (plan_->has(static_cast<size_t>(c))) converter.convert(static_cast<size_t>(c), result->columns[c]);
    });
    result->columns.end_rows(index.rows().size());
    if (line_column_ >= 0)
        for (const CsvRow& row : index.rows()) result->row_lines.push_back(row.line);
    return result;
}

// The row goes on behind the chunk, and so does the row's last cell: a comma at the end is left to what
// follows.
void CsvLoad::leave_out_rest(const Chunk& chunk, Result& result) {
    result.continues = true;
    result.consumed = chunk.bytes.size();
    if (chunk.bytes.ends_with(',') && result.consumed > 1) --result.consumed;
}

// Reads what is left of a row that is too long, and nothing behind it. It begins within a cell, so that a
// quote opens none there: a letter before it says so.
void CsvLoad::skip_rest(CsvIndex& index, const Chunk& chunk, Result& result) {
    char* const before = const_cast<char*>(chunk.bytes.data()) - 1;  // in the chunk's lead
    *before = 'x';
    index.read({before, chunk.bytes.size() + 1}, end_of(chunk));
    const std::vector<CsvRow>& rows = index.rows();
    if (rows.empty()) {
        result.continues = true;  // it comes again in a longer chunk
        return;
    }
    result.consumed = (rows.size() > 1 ? rows[1].begin : index.consumed()) - 1;
    result.lines = rows.size() > 1 ? rows[1].line : index.lines();
    if (index.last_row_open() && rows.size() == 1 && !chunk.at_end) leave_out_rest(chunk, result);
    index.rows().clear();
}

// Leaves the rows that hold data, each with no more cells than there are heads. Stops at another header.
void CsvLoad::check_rows(CsvIndex& index, const Chunk& chunk, Result& result, std::string& scratch) const {
    std::vector<CsvRow>& rows = index.rows();
    const size_t heads = plan_->heads().size();
    size_t kept = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
        CsvRow& row = rows[i];
        const bool open = index.last_row_open() && i + 1 == rows.size();
        if (open && !chunk.at_end) {  // it is the only row
            result.structure.add(CsvNote::kRowTooLong, row.line, [] { return std::string(); });
            leave_out_rest(chunk, result);
            rows.clear();
            return;
        }
        if (row.cells == 1 && is_blank_text(index.text_of(row))) continue;
        const CsvPlan::Header header = plan_->header(index, row, scratch);
        if (header == CsvPlan::Header::kSame) {
            result.structure.add(CsvNote::kRepeatedHeader, row.line, [] { return std::string(); });
            continue;
        }
        if (header == CsvPlan::Header::kOther) {
            result.finished = true;
            result.consumed = row.begin;
            result.lines = row.line;
            break;
        }
        if (row.cells != heads) fit_row(index, row, open, result.structure, scratch);
        rows[kept++] = row;
    }
    rows.resize(kept);
    for (const uint32_t line : index.torn_quotes())
        if (!result.finished || line < result.lines)
            result.structure.add(CsvNote::kTornQuote, line, [] { return std::string(); });
}

// Commas without quotes make cells of their own. They come from names; what stands right of the name is found
// from the row's right end. If the numbers do not fit then, the row has cells too many at its end.
void CsvLoad::fit_row(CsvIndex& index, CsvRow& row, bool open, CsvNotes& notes, std::string& scratch) const {
    const auto heads = static_cast<uint32_t>(plan_->heads().size());
    const uint32_t cells = row.cells;
    if (cells < heads) {
        if (open)
            notes.add(CsvNote::kRowCut, row.line, [] { return std::string(); }), --row.cells;
        else
            notes.add(CsvNote::kCellsMissing, row.line, [&] {
                return std::to_string(cells) + " cells under " + std::to_string(heads) + " heads";
            });
        return;
    }
    const uint32_t surplus = cells - heads;
    const auto misfits = [&](uint32_t moved_from) {
        int count = 0;
        for (const int cell : plan_->number_cells()) {
            const auto place = static_cast<uint32_t>(cell);
            count += !fits_number(index.cell(row, place > moved_from ? place + surplus : place), scratch);
        }
        return count;
    };
    bool blank = true;
    for (uint32_t cell = heads; cell < cells; ++cell) blank &= is_blank_text(index.cell(row, cell));
    bool joins = plan_->free_cell() >= 0;
    if (joins) {
        const int joined = misfits(static_cast<uint32_t>(plan_->free_cell())), cut = misfits(heads);
        joins = joined < cut || (joined == cut && !blank);
    }
    if (joins)
        index.join_cells(row, static_cast<uint32_t>(plan_->free_cell()), surplus);
    else
        row.cells = heads;
    if (blank && !joins) return;
    notes.add(CsvNote::kCellsSurplus, row.line, [&] {
        const std::string counts =
            std::to_string(cells) + " cells under " + std::to_string(heads) + " heads; ";
        return counts + (joins ? "the surplus commas belong to " +
                                     excerpt(plan_->heads()[static_cast<size_t>(plan_->free_cell())])
                               : "those behind the last head are left out");
    });
}

void CsvLoad::merge(ChunkResult& base, uint64_t offset) {
    Result& result = static_cast<Result&>(base);
    merger_.append(result.columns, result.worker, context_);
    if (line_column_ >= 0) {
        for (int64_t& line : result.row_lines) line += lines_ + 1;
        table_.building(line_column_).add_ints(result.row_lines.data(), result.row_lines.size());
    }
    reports_.back().values.append(result.values, lines_);
    reports_.back().structure.append(result.structure, lines_);
    lines_ += result.lines;
    offset_ = offset + result.consumed;
    at_header_ = result.finished;
    if (file_bytes_ > offset_)
        merger_.check_ahead(merger_.rows() - first_row_, offset_, file_bytes_ - offset_, context_);
}

}  // namespace profana
