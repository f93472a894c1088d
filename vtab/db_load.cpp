#include "vtab/db_load.h"

#include <algorithm>

#include "ext/core/decimal.h"
#include "ext/core/plausible.h"

namespace profana {
namespace {

constexpr int64_t kNoId = 4294967295;
constexpr int64_t kMaxInt = std::numeric_limits<int64_t>::max();
constexpr uint32_t kNotYet = std::numeric_limits<uint32_t>::max();  // TextCells: string not seen before

bool is_no_id(int64_t value) {
    return value == -1 || value == kNoId || value == kMaxInt;
}

// Or stands for none: not damage.
bool is_plausible(NullRule rule, int64_t value) {
    if (rule == NullRule::kTime) return is_time(value) || is_no_id(value);
    if (rule == NullRule::kSize) return is_size(value) || is_no_id(value) || value < 0;
    return rule != NullRule::kBytes || is_size(value);
}

}  // namespace

int64_t apply(NullRule rule, int64_t value) {
    switch (rule) {
        case NullRule::kNone:
            return value;
        case NullRule::kId:
            return is_no_id(value) ? kNullInt : value;
        case NullRule::kConnection:
            return is_no_id(value) || value == 0 ? kNullInt : value;
        case NullRule::kTime:
            return is_time(value) && !is_no_id(value) && value != 0 ? value : kNullInt;
        case NullRule::kBytes:
            return is_size(value) ? value : kNullInt;
        case NullRule::kSize:
            return is_no_id(value) || value < 0 || !is_size(value) ? kNullInt : value;
    }
    return value;
}

int64_t apply(NullRule rule, int64_t value, uint64_t& implausible) {
    implausible += value != kNullInt && !is_plausible(rule, value);
    return apply(rule, value);
}

DbStrings::DbStrings(DbFile& file, LoadContext& context) {
    const DbTable* table = file.table("STRING_IDS");
    if (table == nullptr) return;
    DbScan scan(file, *table);
    const int id = scan.cell({"id"}), value = scan.cell({"value"});
    if (id == kNoCell || value == kNoCell) return;
    std::vector<int64_t> ids;
    scan.run(context, [&](const DbRow& row) {
        ids.push_back(row.integer(id));
        std::string_view text = row.text(value);
        if (text.data() != nullptr) text = {arena_.add(text), text.size()};
        texts_.push_back(text);
    });
    ids_ = IdMap(ids);
}

StepWindows::StepWindows(DbFile& file, LoadContext& context) {
    const DbTable* table = file.table("STEP_TIME");
    if (table == nullptr) return;
    DbScan scan(file, *table);
    const int id = scan.cell({"id"}), start = scan.cell({"startNs"}), end = scan.cell({"endNs"}),
              rowid = scan.rowid();
    scan.run(context, [&](const DbRow& row) {
        const Span span = plausible({row.integer(start), row.integer(end)});
        const Window window{row.integer(id), span.start, span.end, row.integer(rowid)};
        if (window.step != kNullInt) windows_.push_back(window);
    });
    for (const Window& window : windows_)
        if (window.start != kNullInt && window.end != kNullInt) by_start_.push_back(window);
    std::stable_sort(by_start_.begin(), by_start_.end(),
                     [](const Window& a, const Window& b) { return a.start < b.start; });
    for (const Window& window : by_start_)
        latest_end_.push_back(latest_end_.empty() ? window.end : std::max(latest_end_.back(), window.end));
}

int64_t StepWindows::step_at(int64_t time) const {
    if (time == kNullInt) return kNullInt;
    const auto later = std::upper_bound(by_start_.begin(), by_start_.end(), time,
                                        [](int64_t t, const Window& window) { return t < window.start; });
    for (auto i = static_cast<size_t>(later - by_start_.begin()); i-- > 0 && latest_end_[i] >= time;)
        if (by_start_[i].end >= time) return by_start_[i].step;
    return kNullInt;
}

// ---- one run of a loader ---------------------------------------------------------------------------------

Load::Load(DbProfile& shared, const std::string& path, Model model, Table& to, const ColumnSet& wanted,
           LoadContext& load_context)
    : profile(shared), file(path), context(load_context), table_(to), wanted_(wanted), model_(model) {
    // Columns that are loaded one after the other must be of one state of the file.
    const FileStamp now = stamp_file(path);
    {
        const std::lock_guard<std::mutex> lock(profile.mutex);
        const auto [known, first] = profile.stamps.emplace(path, now);
        if (!first && known->second != now)
            throw file_error(path, 0, "the database has changed while it was read; run the query again");
    }
    for (const auto& [what, message] : file.notes()) tell(Severity::kWarning, what, path, message);
}

Column* Load::out(const char* column) {
    const int number = model_column(model_, column);
    if (!wanted_.has(number) || table_.loaded(number)) return nullptr;
    filled_.insert(number);
    return &table_.building(number);
}

bool Load::wants(std::initializer_list<const char*> columns) {
    return std::any_of(columns.begin(), columns.end(), [&](const char* column) {
        const int number = model_column(model_, column);
        return wanted_.has(number) && !table_.loaded(number);
    });
}

void Load::pad(uint64_t rows) {
    for (const int number : filled_) {
        Column& column = table_.building(number);
        while (column.size() < rows) column.add_null();
    }
}

void Load::finish() {
    const uint64_t rows = table_.rows_known() ? table_.rows() : rows_;
    for (const int number : filled_)
        if (table_.building(number).size() > rows)
            throw file_error(
                file.path(), 0,
                "the database is damaged or has changed: its tables do not have the same rows twice");
    pad(rows);
    table_.set_rows(rows);
    wanted_.each([&](int column) {
        if (!table_.loaded(column) && filled_.count(column) == 0) table_.set_absent(column);
    });
}

void Load::tell(Severity severity, const std::string& what, const std::string& where,
                const std::string& message, uint64_t count) {
    {
        const std::lock_guard<std::mutex> lock(profile.mutex);
        if (!profile.told.emplace(what, where).second) return;
    }
    context.diagnostics.add(
        {.severity = severity, .file = file.path(), .code = what, .message = message, .count = count});
}

void Load::tell_implausible(const std::string& table, uint64_t count) {
    if (count > 0)
        tell(Severity::kWarning, "implausible_value", table,
             "times or sizes of " + table +
                 " that no capture can have, or more than a year between start and end; they are NULL",
             count);
}

const DbStrings& Load::strings() {
    return profile.strings.get(context, [&] {
        if (file.table("STRING_IDS") == nullptr)
            tell(Severity::kWarning, "no_strings", "STRING_IDS",
                 "there is no table STRING_IDS, which an export writes last: names and types are NULL");
        return std::make_unique<DbStrings>(file, context);
    });
}

const StepWindows& Load::steps() {
    return profile.steps.get(context, [&] { return std::make_unique<StepWindows>(file, context); });
}

std::string_view string_of(const DbStrings& strings, const DbRow& row, int cell) {
    if (row.is_null(cell)) return {};
    if (row.is_text(cell)) return row.text(cell);
    const uint32_t place = strings.find(row.integer(cell));
    return place == IdMap::kNone ? std::string_view() : strings.text(place);
}

// ---- texts -----------------------------------------------------------------------------------------------

TextCells::TextCells(Load& load, Dictionary& dictionary, std::string where, TextRule rule)
    : strings_(load.strings()),
      dictionary_(dictionary),
      where_(std::move(where)),
      rule_(rule),
      codes_(strings_.size(), kNotYet) {}

uint32_t TextCells::code(const DbRow& row, int cell) {
    if (row.is_null(cell)) return kNullCode;
    if (!row.is_text(cell)) {
        const int64_t id = row.integer(cell);
        return id == kNullInt ? kNullCode : code(id);
    }
    // The first exports put names themselves into these columns.
    const std::string_view text = row.text(cell);
    int64_t id = 0;
    if (parse_integer(text, &id) == Parsed::kExact && strings_.find(id) != IdMap::kNone) return code(id);
    return code_of_text(text);
}

uint32_t TextCells::code(int64_t id) {
    const uint32_t place = strings_.find(id);
    if (place == IdMap::kNone) {
        if (!is_no_id(id)) ++dangling_;
        return kNullCode;
    }
    uint32_t& code = codes_[place];
    if (code == kNotYet) {
        const std::string_view text = strings_.text(place);
        code = text.data() == nullptr ? kNullCode : code_of_text(text);
    }
    return code;
}

uint32_t TextCells::code_of_text(std::string_view text) {
    if (rule_ == TextRule::kAsIs) return dictionary_.intern(text);
    if (text.empty() || text == "N/A") return kNullCode;
    if (rule_ == TextRule::kKnown || text.find('"') == std::string_view::npos)
        return dictionary_.intern(text);
    scratch_ = text;
    std::erase(scratch_, '"');
    return scratch_ == "N/A" ? kNullCode : dictionary_.intern(scratch_);
}

void TextCells::report(Load& load) const {
    if (dangling_ == 0 || strings_.size() == 0) return;
    load.tell(Severity::kWarning, "dangling_string_id", where_,
              "ids of " + where_ + " that STRING_IDS does not have count as NULL", dangling_);
}

EnumNames read_enum(Load& load, std::initializer_list<const char*> tables, EnumNames fallback) {
    for (const char* name : tables) {
        const DbTable* table = load.file.table(name);
        if (table == nullptr) continue;
        DbScan scan(load.file, *table);
        const int id = scan.cell({"id"}), text = scan.cell({"name"});
        EnumNames names;
        scan.run(load.context, [&](const DbRow& row) {
            if (row.integer(id) != kNullInt && !row.is_null(text))
                names.emplace(row.integer(id), row.text(text));
        });
        if (!names.empty()) return names;
    }
    return fallback;
}

void add_enum(Column& column, const EnumNames& names, int64_t value) {
    const auto name = names.find(value);
    if (name == names.end() || name->second == "N/A" || name->second == "INVALID_TYPE") {
        column.add_null();
    } else {
        column.add_text(name->second);
    }
}

// ---- copying rows ----------------------------------------------------------------------------------------

void RowCopy::add(Kind kind, const char* column, int cell, NullRule rule) {
    if (cell == kNoCell) return;
    if (Column* out = load_.out(column)) copies_.push_back({kind, cell, out, rule, nullptr, nullptr});
}

void RowCopy::integer(const char* column, Names names, NullRule rule) {
    if (load_.wants({column})) add(Kind::kInteger, column, scan_.cell(names), rule);
}

void RowCopy::real(const char* column, Names names) {
    if (load_.wants({column})) add(Kind::kReal, column, scan_.cell(names));
}

void RowCopy::text(const char* column, Names names, TextRule rule) {
    if (!load_.wants({column})) return;
    const int cell = scan_.cell(names);
    if (cell == kNoCell) return;
    add(Kind::kText, column, cell);
    texts_.push_back(std::make_unique<TextCells>(load_, copies_.back().column->dictionary(),
                                                 table_.name + "." + *table_.column(names), rule));
    copies_.back().text = texts_.back().get();
}

void RowCopy::plain_text(const char* column, Names names) {
    if (load_.wants({column})) add(Kind::kPlainText, column, scan_.cell(names));
}

void RowCopy::enumeration(const char* column, Names names, EnumNames enum_names) {
    if (!load_.wants({column})) return;
    const int cell = scan_.cell(names);
    if (cell == kNoCell) return;
    add(Kind::kEnum, column, cell);
    enums_.push_back(std::make_unique<EnumNames>(std::move(enum_names)));
    copies_.back().names = enums_.back().get();
}

void RowCopy::thread(const char* process_column, const char* thread_column, Names names) {
    const bool process = process_column != nullptr && load_.wants({process_column});
    const bool thread = load_.wants({thread_column});
    if (!process && !thread) return;
    const int cell = scan_.cell(names);
    if (process) add(Kind::kProcess, process_column, cell, NullRule::kId);
    if (thread) add(Kind::kThread, thread_column, cell, NullRule::kId);
}

void RowCopy::source_row() {
    if (load_.wants({"source_row"})) add(Kind::kInteger, "source_row", scan_.rowid());
}

void RowCopy::device(Names names) {
    only_device(names);
    integer("device_id", names, NullRule::kId);
}

void RowCopy::only_device(Names names) {
    if (load_.profile.options.device) device_cell_ = scan_.cell(names);
}

void RowCopy::span(Names start, Names end) {
    const auto& columns = model_specs()[static_cast<size_t>(load_.model())].columns;
    const auto out = [&](const char* name) {
        const bool there = std::any_of(columns.begin(), columns.end(), [&](const ColumnSpec& column) {
            return std::string_view(column.name) == name;
        });
        return there ? load_.out(name) : nullptr;
    };
    start_ = out("start_ns");
    end_ = out("end_ns");
    duration_ = out("dur_ns");
    step_ = load_.file.table("STEP_TIME") != nullptr ? out("step") : nullptr;
    if (step_ != nullptr) load_.steps();  // now: there is one scan at a time
    if (has_span()) start_cell_ = scan_.cell(start);
    if (end_ != nullptr || duration_ != nullptr) end_cell_ = scan_.cell(end);
    if ((end_ != nullptr || duration_ != nullptr) && end_cell_ == kNoCell)
        load_.tell(
            Severity::kWarning, "column_missing", table_.name + "." + std::string(*end.begin()),
            table_.name + " has no column " + std::string(*end.begin()) + ", so ends and durations are NULL");
}

void RowCopy::copy(const DbRow& row) {
    for (const Copy& copy : copies_) {
        switch (copy.kind) {
            case Kind::kInteger:
                copy.column->add_int(apply(copy.rule, row.integer(copy.cell), implausible_));
                break;
            case Kind::kReal:
                copy.column->add_real(row.real(copy.cell));
                break;
            case Kind::kText:
                copy.column->add_code(copy.text->code(row, copy.cell));
                break;
            case Kind::kPlainText:
                if (row.is_null(copy.cell)) {
                    copy.column->add_null();
                } else {
                    copy.column->add_text(row.text(copy.cell));
                }
                break;
            case Kind::kEnum:
                add_enum(*copy.column, *copy.names, row.integer(copy.cell));
                break;
            case Kind::kProcess:
            case Kind::kThread: {
                const int64_t both = apply(copy.rule, row.integer(copy.cell));
                const int64_t half = copy.kind == Kind::kProcess ? both >> 32 : both & kNoId;
                copy.column->add_int(both == kNullInt ? kNullInt : half);
                break;
            }
        }
    }
    copy_span(row);
}

void RowCopy::copy_span(const DbRow& row) {
    const Span written{row.integer(start_cell_), row.integer(end_cell_)};
    const auto [start, end] = plausible(written);
    implausible_ += Span{start, end} != written;
    if (start_ != nullptr) start_->add_int(start);
    if (end_ != nullptr) end_->add_int(end);
    if (duration_ != nullptr) duration_->add_int(duration_ns(start, end));
    if (step_ != nullptr) step_->add_int(load_.steps().step_at(start));
}

void RowCopy::report() const {
    for (const auto& text : texts_) text->report(load_);
    load_.tell_implausible(table_.name, implausible_);
}

}  // namespace profana
