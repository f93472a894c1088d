// communication and communication_matrix: collectives and their traffic, as communication.json and
// communication_matrix.json tell. The files are small; each is read whole, once.
#include <functional>

#include "ext/connection.h"
#include "ext/core/json_members.h"
#include "vtab/communication_json.h"
#include "vtab/raw_files.h"
#include "vtab/raw_json.h"

namespace profana {
namespace {

constexpr ColumnType I = ColumnType::kInt, R = ColumnType::kReal, T = ColumnType::kText;

TableSpec make_communication_spec() {
    TableSpec spec{"communication",
                   "Operations of communication.json, one row per operation and transport; the file's own "
                   "totals are rows too.",
                   {{"step", I, "number behind 'step'; NULL: none"},
                    {"type", T, "collective, p2p; NULL: the file does not tell (msprof)"},
                    {"name", T, "operation, without @group; 'Total Op Info': the file's own sum"},
                    {"group_name", T, "hash of the communicator; NULL: none"},
                    {"ranks", T, "cluster files: ranks of the group, as written"},
                    {"rank", I, "cluster files: rank"},
                    {"start_ns", I, "ns since the epoch, to 0.1 us as the file has it; NULL: totals"},
                    {"elapse_ns", I, "ns, of the operation"},
                    {"transit_ns", I, "ns, of the operation"},
                    {"wait_ns", I, "ns, of the operation"},
                    {"synchronization_ns", I, "ns, of the operation"},
                    {"idle_ns", I, "ns, of the operation"},
                    {"wait_ratio", R, "0..1"},
                    {"synchronization_ratio", R, "0..1"},
                    {"transport", T, "RDMA, HCCS, PCIE, SDMA, SIO; SDMA is the sum of HCCS, PCIE and SIO"},
                    {"transit_size_mb", R, "MB of 10^6 bytes, over this transport"},
                    {"transport_transit_ns", I, "ns, over this transport"},
                    {"bandwidth_gb_per_s", R, "10^9 byte/s, over this transport"},
                    {"large_packet_ratio", R, "0..1"},
                    {"size_distribution", T, "JSON: {size in MB: [packets, ms]}"}},
                   {{"path", T, "file, or folder with communication.json"}},
                   1};
    spec.reads_files = true;
    return spec;
}

TableSpec make_matrix_spec() {
    TableSpec spec{
        "communication_matrix",
        "Links of communication_matrix.json, one row per operation and link.",
        {{"step", I, "number behind 'step'; NULL: none"},
         {"type", T, "collective, p2p; NULL: the file does not tell (msprof)"},
         {"name", T, "kind and place in the order, e.g. allreduce-top1, or operation; without @group"},
         {"group_name", T, "hash of the communicator; NULL: none"},
         {"ranks", T, "cluster files: ranks of the group, as written"},
         {"source_rank", I, "rank that sends"},
         {"target_rank", I, "rank that receives"},
         {"transport", T, "LOCAL, HCCS, PCIE, RDMA, SIO, SDMA ..."},
         {"transit_size_mb", R, "MB of 10^6 bytes"},
         {"transit_ns", I, "ns"},
         {"bandwidth_gb_per_s", R, "10^9 byte/s"},
         {"op_name", T, "operation that the row describes; NULL: not told"}},
        {{"path", T, "file, or folder with communication_matrix.json"}},
        1};
    spec.reads_files = true;
    return spec;
}

// Writes rows into all columns of a table, which come in the order of the table's spec.
class RowWriter {
  public:
    RowWriter(Table& table, const std::string& path, LoadContext& context)
        : table_(table), path_(path), context_(context) {
        for (int column = 0; column < table.columns(); ++column) table.building(column);
    }

    void integer(std::optional<int64_t> value) { value ? next().add_int(*value) : next().add_null(); }
    void text(std::string_view value) { value.empty() ? next().add_null() : next().add_text(value); }
    // A member of an object: a number times 10^scale, half-even; a real number.
    void scaled(const CommunicationPlace& place, const JsonToken& object, const char* key, int scale) {
        const JsonToken token = json_member(object, key);
        int64_t value = 0;
        const Parsed parsed = token.scaled(scale, &value);
        const bool read = parsed == Parsed::kExact || parsed == Parsed::kRounded;
        integer(read ? std::optional(value) : std::nullopt);
        report_bad_number(path_, place, key, token, parsed, context_);
    }
    void real(const CommunicationPlace& place, const JsonToken& object, const char* key) {
        const JsonToken token = json_member(object, key);
        double value = 0;
        const Parsed parsed = token.real(&value);
        parsed == Parsed::kExact ? next().add_real(value) : next().add_null();
        report_bad_number(path_, place, key, token, parsed, context_);
    }
    void string(const JsonToken& token) {
        if (token.is_null()) return next().add_null();
        next().add_text(token.text(scratch_));
    }
    void json(const JsonToken& token) { text(token.raw()); }

  private:
    Column& next() {
        Column& column = table_.building(column_);
        column_ = (column_ + 1) % table_.columns();
        return column;
    }

    Table& table_;
    const std::string& path_;
    LoadContext& context_;
    int column_ = 0;
    std::string scratch_;
};

constexpr int kMicroseconds = 3, kMilliseconds = 6;  // powers of ten to ns

void add_place(RowWriter& row, const CommunicationPlace& place) {
    row.integer(place.step);
    row.text(place.type);
    row.text(place.name);
    row.text(place.group_name);
    row.text(place.ranks);
}

void add_operation(RowWriter& row, const CommunicationPlace& place, const JsonToken& time,
                   std::string_view transport, const JsonToken& traffic) {
    add_place(row, place);
    row.integer(place.rank);
    row.scaled(place, time, "Start Timestamp(us)", kMicroseconds);
    row.scaled(place, time, "Elapse Time(ms)", kMilliseconds);
    row.scaled(place, time, "Transit Time(ms)", kMilliseconds);
    row.scaled(place, time, "Wait Time(ms)", kMilliseconds);
    row.scaled(place, time, "Synchronization Time(ms)", kMilliseconds);
    row.scaled(place, time, "Idle Time(ms)", kMilliseconds);
    row.real(place, time, "Wait Time Ratio");
    row.real(place, time, "Synchronization Time Ratio");
    row.text(transport);
    row.real(place, traffic, "Transit Size(MB)");
    row.scaled(place, traffic, "Transit Time(ms)", kMilliseconds);
    row.real(place, traffic, "Bandwidth(GB/s)");
    row.real(place, traffic, "Large Packet Ratio");
    row.json(json_member(traffic, "Size Distribution"));
}

void load_communication(const std::string& path, Table& table, LoadContext& context) {
    RowWriter row(table, path, context);
    read_communication(path, CommunicationFault::kError, context,
                       [&](const CommunicationPlace& place, const JsonToken& info) {
                           const JsonToken time = json_member(info, "Communication Time Info");
                           const JsonToken traffic = json_member(info, "Communication Bandwidth Info");
                           bool any = false;
                           std::string scratch;
                           each_json_member(traffic, [&](const JsonToken& transport, const JsonToken& value) {
                               any = true;
                               add_operation(row, place, time, transport.text(scratch), value);
                           });
                           if (!any) add_operation(row, place, time, {}, {});
                       });
}

void load_matrix(const std::string& path, Table& table, LoadContext& context) {
    RowWriter row(table, path, context);
    read_communication_matrix(path, CommunicationFault::kError, context,
                              [&](const CommunicationPlace& place, const JsonToken& link) {
                                  add_place(row, place);
                                  row.integer(place.source_rank);
                                  row.integer(place.target_rank);
                                  row.string(json_member(link, "Transport Type"));
                                  row.real(place, link, "Transit Size(MB)");
                                  row.scaled(place, link, "Transit Time(ms)", kMilliseconds);
                                  row.real(place, link, "Bandwidth(GB/s)");
                                  row.string(json_member(link, "Op Name"));
                              });
}

using LoadFile = void (*)(const std::string& path, Table& table, LoadContext& context);

// Tables of one small file, read whole whatever is asked of it.
class SmallFileProvider : public TableProvider {
  public:
    SmallFileProvider(const TableSpec& spec, FileRole role, const char* file_name, LoadFile load)
        : spec_(spec), role_(role), file_name_(file_name), load_(load) {}

    std::vector<Part> parts(Connection& connection, const ScanRequest& request) override {
        const std::vector<std::string> files = raw_files(request.arguments[0], role_, spec_.name, file_name_);
        const std::string& path = files.front();
        Part part;
        part.table = connection.cached_table(std::string(spec_.name) + "\n" + path, {path}, [&] {
            std::vector<ColumnType> types;
            for (const ColumnSpec& column : spec_.columns) types.push_back(column.type);
            return std::make_shared<Table>(
                types, [path, load = load_](Table& table, const ColumnSet&, LoadContext& context) {
                    load(path, table, context);
                });
        });
        for (int column = 0; column < static_cast<int>(spec_.columns.size()); ++column)
            part.columns.push_back(column);
        return {part};
    }

    double expected_rows(Connection&) override { return 2000; }

  private:
    const TableSpec& spec_;
    const FileRole role_;
    const char* const file_name_;
    const LoadFile load_;
};

}  // namespace

const TableSpec& communication_spec() {
    static const TableSpec spec = make_communication_spec();
    return spec;
}

std::unique_ptr<TableProvider> communication_provider() {
    return std::make_unique<SmallFileProvider>(communication_spec(), FileRole::kCommunication,
                                               "communication.json", load_communication);
}

const TableSpec& communication_matrix_spec() {
    static const TableSpec spec = make_matrix_spec();
    return spec;
}

std::unique_ptr<TableProvider> communication_matrix_provider() {
    return std::make_unique<SmallFileProvider>(communication_matrix_spec(), FileRole::kCommunicationMatrix,
                                               "communication_matrix.json", load_matrix);
}

}  // namespace profana
