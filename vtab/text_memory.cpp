// Device memory of a text export: memory_record.csv and operator_memory.csv.
#include "ext/core/decimal.h"
#include "ext/core/plausible.h"
#include "vtab/ascend_trace.h"
#include "vtab/csv_model.h"

namespace profana {
namespace {

// The rows of one memory file that belong to the chosen device, and their device.
class MemoryFile {
  public:
    MemoryFile(CsvKind kind, std::vector<std::string> files, std::optional<int64_t> device)
        : kind_(kind),
          device_(device),
          raw_(make_csv_table(csv_format(kind), std::move(files), CsvFault::kDiagnostic)) {}

    // Loads columns by their name in the file's table; those that it lacks are nullptr in get().
    void load(std::initializer_list<const char*> names, LoadContext& context) {
        ColumnSet wanted;
        for (const char* name : names) wanted.add(csv_column(kind_, name));
        for (const char* name : {"device_type", "device_id"}) wanted.add(csv_column(kind_, name));
        raw_->ensure(wanted, context);
        if (rows_known_) return;
        for (Row row = 0; row < raw_->rows(); ++row) {
            const int64_t device = device_of(row);
            if (device_ && device != kNullInt && device != *device_) continue;
            rows_.push_back(row);
            devices_.push_back(device);
        }
        rows_known_ = true;
    }

    const PageVector<Row>& rows() const { return rows_; }
    const PageVector<int64_t>& devices() const { return devices_; }
    const Column* get(const char* name) const { return raw_->find(csv_column(kind_, name)); }
    int64_t integer(const char* name, Row row) const {
        const Column* column = get(name);
        return column == nullptr ? kNullInt : column->integer(row);
    }

    // A column of the file for the chosen rows, as a column of the model: the file's own where all rows
    // count.
    std::shared_ptr<const Column> chosen(const char* name) const {
        const Column* from = get(name);
        const ColumnType type = csv_format(kind_)->columns[csv_column(kind_, name)].value == CsvValue::kText
                                    ? ColumnType::kText
                                    : ColumnType::kInt;
        if (from != nullptr && from->type() == type && rows_.size() == from->size())
            return raw_->share(csv_column(kind_, name));
        auto out = std::make_shared<Column>(type);
        for (const Row row : rows_) {
            if (from == nullptr || from->is_null(row))
                out->add_null();
            else if (type == ColumnType::kText)
                out->add_text(from->text(row));
            else
                out->add_int(from->integer(row));
        }
        return out;
    }

  private:
    // "NPU:0" -> 0; files of msprof have a column Device_id.
    int64_t device_of(Row row) const {
        const Column* type = get("device_type");
        if (type != nullptr && !type->is_null(row)) {
            const std::string_view text = type->text(row);
            int64_t device = kNullInt;
            if (parse_integer(text.substr(text.find(':') + 1), &device) == Parsed::kExact) return device;
        }
        return integer("device_id", row);
    }

    CsvKind kind_;
    std::optional<int64_t> device_;
    std::shared_ptr<Table> raw_;
    bool rows_known_ = false;
    PageVector<Row> rows_;
    PageVector<int64_t> devices_;
};

std::unique_ptr<Column> int_column(const PageVector<int64_t>& values) {
    auto out = std::make_unique<Column>(ColumnType::kInt);
    out->add_ints(values.data(), values.size());
    return out;
}

// Blocks of operator_memory.csv. GE's names ("cann::...") are those of the launch queue's work: the operator
// that asked for the memory is the one that enqueued it.
class MemoryBlocks {
  public:
    MemoryBlocks(std::vector<std::string> files, std::optional<int64_t> device,
                 std::shared_ptr<AscendTrace> trace)
        : file_(CsvKind::kOperatorMemory, std::move(files), device), trace_(std::move(trace)) {}

    void load(Table& table, const ColumnSet& wanted, LoadContext& context) {
        if (!has_rows_) read(context);
        has_rows_ = true;
        if (!blocks_.has("attach_ns") && wants_any(wanted, Model::kMemoryAlloc, {"attach_ns", "host_op_id"}))
            attach(context);
        blocks_.give(table, wanted);
    }

  private:
    void read(LoadContext& context) {
        file_.load({"name", "size_bytes", "alloc_ns", "release_ns", "dur_ns", "stream_ptr", "line"}, context);
        PageVector<int64_t> releases, durations;
        allocs_.clear();
        for (const Row row : file_.rows()) {
            const int64_t alloc = time("alloc_ns", row), dur = file_.integer("dur_ns", row);
            int64_t release = time("release_ns", row);
            // msprof writes no release; where it was released there is a duration.
            if (release == kNullInt && file_.get("release_ns") == nullptr && alloc != kNullInt && dur > 0)
                release = sum_ns(alloc, dur);
            allocs_.push_back(alloc);
            releases.push_back(release);
            durations.push_back(duration_ns(alloc, release));
        }
        blocks_.set("device_id", int_column(file_.devices()));
        for (const char* same : {"name", "size_bytes", "stream_ptr"}) blocks_.set(same, file_.chosen(same));
        blocks_.set("alloc_ns", int_column(allocs_));
        blocks_.set("release_ns", int_column(releases));
        blocks_.set("dur_ns", int_column(durations));
        blocks_.set("source_row", file_.chosen("line"));
    }

    // 0 stands for no time.
    int64_t time(const char* name, Row row) const {
        const int64_t value = file_.integer(name, row);
        return value == 0 ? kNullInt : value;
    }

    void attach(LoadContext& context) {
        PageVector<int64_t> times = allocs_, queued;
        const Column& names = blocks_.get("name");
        for (size_t i = 0; i < times.size(); ++i)
            queued.push_back(names.text(static_cast<Row>(i)).find("cann::") == std::string_view::npos
                                 ? kNullInt
                                 : times[i]);
        if (trace_ != nullptr) {
            const PageVector<int64_t> enqueued = trace_->enqueued_at(queued, context);
            for (size_t i = 0; i < times.size(); ++i)
                if (queued[i] != kNullInt) times[i] = enqueued[i];
            blocks_.set("host_op_id", trace_->attach(times, context));
        }
        blocks_.set("attach_ns", int_column(times));
    }

    MemoryFile file_;
    std::shared_ptr<AscendTrace> trace_;
    bool has_rows_ = false;
    PageVector<int64_t> allocs_;
    ModelRows blocks_{Model::kMemoryAlloc};
};

}  // namespace

std::shared_ptr<Table> make_memory_usage_table(std::vector<std::string> files,
                                               std::optional<int64_t> device) {
    auto file = std::make_shared<MemoryFile>(CsvKind::kMemoryRecord, std::move(files), device);
    return make_model_table(Model::kMemoryUsage, [file](Table& table, const ColumnSet&,
                                                        LoadContext& context) {
        file->load({"component", "ts_ns", "allocated_bytes", "reserved_bytes", "active_bytes", "line"},
                   context);
        const auto set = [&](const char* name, std::shared_ptr<const Column> values) {
            table.set_column(model_column(Model::kMemoryUsage, name), std::move(values));
        };
        set("device_id", int_column(file->devices()));
        for (const char* same : {"ts_ns", "component", "allocated_bytes", "reserved_bytes", "active_bytes"})
            set(same, file->chosen(same));
        set("source_row", file->chosen("line"));
    });
}

std::shared_ptr<Table> make_memory_alloc_table(std::vector<std::string> files, std::optional<int64_t> device,
                                               std::shared_ptr<AscendTrace> trace) {
    auto blocks = std::make_shared<MemoryBlocks>(std::move(files), device, std::move(trace));
    return make_model_table(Model::kMemoryAlloc,
                            [blocks](Table& table, const ColumnSet& wanted, LoadContext& context) {
                                blocks->load(table, wanted, context);
                            });
}

}  // namespace profana
