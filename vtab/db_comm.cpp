// prof_comm_op and prof_comm_task: COMMUNICATION_OP, COMMUNICATION_TASK_INFO.
#include <algorithm>
#include <set>

#include "vtab/db_groups.h"
#include "vtab/db_loaders.h"

namespace profana {
namespace {

const EnumNames kTransports = {{0, "SDMA"}, {1, "RDMA"}, {2, "LOCAL"},
                               {3, "UB"},   {4, "ROCE"}, {255, "RESERVED"}};
const EnumNames kLinks = {{0, "ON_CHIP"}, {1, "HCCS"},    {2, "PCIE"},          {3, "ROCE"},
                          {4, "SIO"},     {5, "HCCS_SW"}, {6, "STANDARD_ROCE"}, {255, "RESERVED"}};

// The groups of the operations, numbered from 1 by their first operation. Operations without a group make
// one.
class GroupOrder {
  public:
    explicit GroupOrder(Load& load) {
        const DbTable* table = load.file.table("COMMUNICATION_OP");
        if (table == nullptr) return;
        TextCells cells(load, names_, "COMMUNICATION_OP.groupName", TextRule::kKnown);
        DbScan scan(load.file, *table);
        const int group = scan.cell({"groupName"});
        const int device = load.profile.options.device ? scan.cell({"deviceId"}) : kNoCell;
        scan.run(load.context, [&](const DbRow& row) {
            if (!of_device(load.profile.options, row, device)) return;
            const uint32_t code = cells.code(row, group);
            if (index_.size() <= code) index_.resize(code + 1, 0);
            if (index_[code] == 0) index_[code] = ++groups_;
        });
    }
    // By the group's name; empty: no group. kNullInt: no operation has it.
    int64_t of(std::string_view name) const {
        const uint32_t code = name.empty() ? kNullCode : names_.find(name);
        const bool known = (name.empty() || code != kNullCode) && code < index_.size() && index_[code] != 0;
        return known ? index_[code] : kNullInt;
    }

  private:
    Dictionary names_;
    std::vector<int64_t> index_;  // by code
    int64_t groups_ = 0;
};

// How many planes the tasks of each group run on.
std::map<std::string, int64_t, std::less<>> plane_counts(Load& load) {
    std::map<std::string, int64_t, std::less<>> counts;
    const DbTable* table = load.file.table("COMMUNICATION_TASK_INFO");
    if (table == nullptr) return counts;
    DbScan scan(load.file, *table);
    const int group = scan.cell({"groupName"}), plane = scan.cell({"planeId"});
    std::set<std::pair<uint32_t, int64_t>> seen;
    Dictionary names;
    TextCells cells(load, names, "COMMUNICATION_TASK_INFO.groupName", TextRule::kKnown);
    scan.run(load.context, [&](const DbRow& row) {
        const int64_t number = apply(NullRule::kId, row.integer(plane));
        if (number == kNullInt) return;
        const uint32_t code = cells.code(row, group);
        if (seen.emplace(code, number).second)
            ++counts[std::string(code == kNullCode ? "" : names.text(code))];
    });
    return counts;
}

// hcom_allReduce__586_0_1 is an hcom_allReduce_ of the group whose hash ends in 586. Empty: of no such form.
std::string_view type_in_name(std::string_view name) {
    const size_t end = name.rfind("__");
    return end == std::string_view::npos ? std::string_view() : name.substr(0, end + 1);
}

// The device of an operation in exports that do not say it: that of its tasks.
class DeviceOfConnection {
  public:
    explicit DeviceOfConnection(Load& load) {
        const DbTable* table = load.file.table("TASK");
        if (table == nullptr) return;
        DbScan scan(load.file, *table);
        const int connection = scan.cell({"connectionId"}), device = scan.cell({"deviceId"});
        std::vector<int64_t> connections;
        scan.run(load.context, [&](const DbRow& row) {
            connections.push_back(row.integer(connection));
            devices_.push_back(apply(NullRule::kId, row.integer(device)));
        });
        rows_ = IdMap(connections);
    }
    int64_t of(int64_t connection) const {
        const uint32_t row = rows_.find(connection);
        return row == IdMap::kNone ? kNullInt : devices_[row];
    }

  private:
    IdMap rows_;
    std::vector<int64_t> devices_;
};

}  // namespace

void load_comm_op(Load& load) {
    const DbTable* table = load.file.table("COMMUNICATION_OP");
    if (table == nullptr) return load.set_rows(0);
    const DbStrings& strings = load.strings();
    const bool has_device = table->column({"deviceId"}) != nullptr;
    std::optional<DeviceOfConnection> task_devices;
    if (!has_device && (load.profile.options.device || load.wants({"device_id"}))) task_devices.emplace(load);
    std::optional<GroupOrder> order;
    if (load.wants({"group_index"})) order.emplace(load);
    std::optional<ProcessGroups> groups;
    if (load.wants({"process_group"})) groups.emplace(load);
    std::map<std::string, int64_t, std::less<>> planes;
    if (load.wants({"plane_count"})) planes = plane_counts(load);
    Column *index = load.out("group_index"), *process_group = load.out("process_group"),
           *plane_count = load.out("plane_count"), *type = load.out("op_type");
    std::optional<TextCells> types;
    if (type != nullptr) types.emplace(load, type->dictionary(), "COMMUNICATION_OP.opType", TextRule::kKnown);

    RowCopy rows(load, *table);
    rows.device({"deviceId"});
    rows.text("name", {"opName"}, TextRule::kKnown);
    rows.text("group_name", {"groupName"}, TextRule::kKnown);
    rows.span({"startNs"}, {"endNs"});
    rows.integer("connection_id", {"connectionId"}, NullRule::kConnection);
    rows.source_row();
    Column* device = task_devices ? load.out("device_id") : nullptr;
    const int group_cell = rows.scan().cell({"groupName"}), type_cell = rows.scan().cell({"opType"}),
              name_cell = rows.scan().cell({"opName"}), connection_cell = rows.scan().cell({"connectionId"});
    const std::optional<int64_t>& only = load.profile.options.device;
    const uint64_t copied = rows.run([&](const DbRow& row, bool mine) {
        if (!mine) return false;
        if (task_devices) {
            const int64_t of = task_devices->of(row.integer(connection_cell));
            if (only && of != kNullInt && of != *only) return false;
            if (device != nullptr) device->add_int(of);
        }
        std::string_view group = string_of(strings, row, group_cell);
        if (group == "N/A") group = {};
        if (index != nullptr) index->add_int(order->of(group));
        if (process_group != nullptr) {
            const std::string* name = groups->name_of(group);
            if (name == nullptr) {
                process_group->add_null();
            } else {
                process_group->add_text(*name);
            }
        }
        if (plane_count != nullptr) {
            const auto count = planes.find(group);
            plane_count->add_int(count == planes.end() ? kNullInt : count->second);
        }
        if (type == nullptr) return true;
        const uint32_t code = types->code(row, type_cell);
        const std::string_view in_name =
            code == kNullCode ? type_in_name(string_of(strings, row, name_cell)) : "";
        type->add_code(in_name.empty() ? code : type->dictionary().intern(in_name));
        return true;
    });
    load.set_rows(copied);
}

namespace {

// What prof_comm_task takes from COMMUNICATION_TASK_INFO, in its order.
struct TaskInfo {
    std::vector<int64_t> task, op, plane, size, source, destination, transport, link;
    std::vector<uint32_t> name, group;  // codes of the columns; of group also if only group_index is wanted
};

// Which operation, by opId, has which row in prof_comm_op.
IdMap operations(Load& load) {
    std::vector<int64_t> ids;
    if (const DbTable* table = load.file.table("COMMUNICATION_OP")) {
        DbScan scan(load.file, *table);
        const int id = scan.cell({"opId"});
        const int device = load.profile.options.device ? scan.cell({"deviceId"}) : kNoCell;
        scan.run(load.context, [&](const DbRow& row) {
            if (of_device(load.profile.options, row, device)) ids.push_back(row.integer(id));
        });
    }
    return IdMap(ids);
}

class CommTasks {
  public:
    CommTasks(Load& load, const DbTable& info) : load_(load), info_(info) {}
    void run(const DbTable& task);

  private:
    void read_info();
    void add(uint32_t row);
    Column* group_column();

    Load& load_;
    const DbTable& info_;
    TaskInfo infos_;
    Dictionary group_names_;  // if group_name is not wanted
    Column *op_ = nullptr, *name_ = nullptr, *group_ = nullptr, *index_ = nullptr, *plane_ = nullptr,
           *size_ = nullptr, *transport_ = nullptr, *link_ = nullptr, *source_ = nullptr,
           *destination_ = nullptr;
    IdMap operations_;
    std::optional<GroupOrder> order_;
    EnumNames transports_, links_;
};

void CommTasks::read_info() {
    std::optional<TextCells> names, groups;
    Dictionary& group_names = group_ != nullptr ? group_->dictionary() : group_names_;
    if (name_ != nullptr)
        names.emplace(load_, name_->dictionary(), "COMMUNICATION_TASK_INFO.taskType", TextRule::kKnown);
    if (group_ != nullptr || index_ != nullptr)
        groups.emplace(load_, group_names, "COMMUNICATION_TASK_INFO.groupName", TextRule::kKnown);
    DbScan scan(load_.file, info_);
    const auto cell = [&](bool wanted, const char* column) { return wanted ? scan.cell({column}) : kNoCell; };
    const int task = cell(true, "globalTaskId"), name = cell(names.has_value(), "taskType"),
              group = cell(groups.has_value(), "groupName"), op = cell(op_ != nullptr, "opId"),
              plane = cell(plane_ != nullptr, "planeId"), size = cell(size_ != nullptr, "size"),
              source = cell(source_ != nullptr, "srcRank"),
              destination = cell(destination_ != nullptr, "dstRank"),
              transport = cell(transport_ != nullptr, "transportType"),
              link = cell(link_ != nullptr, "linkType");
    uint64_t implausible = 0;
    scan.run(load_.context, [&](const DbRow& row) {
        infos_.task.push_back(row.integer(task));
        if (names) infos_.name.push_back(names->code(row, name));
        if (groups) infos_.group.push_back(groups->code(row, group));
        if (op_ != nullptr) infos_.op.push_back(row.integer(op));
        if (plane_ != nullptr) infos_.plane.push_back(apply(NullRule::kId, row.integer(plane)));
        if (size_ != nullptr) infos_.size.push_back(apply(NullRule::kSize, row.integer(size), implausible));
        if (source_ != nullptr) infos_.source.push_back(apply(NullRule::kId, row.integer(source)));
        if (destination_ != nullptr)
            infos_.destination.push_back(apply(NullRule::kId, row.integer(destination)));
        if (transport_ != nullptr) infos_.transport.push_back(row.integer(transport));
        if (link_ != nullptr) infos_.link.push_back(row.integer(link));
    });
    load_.tell_implausible("COMMUNICATION_TASK_INFO", implausible);
    if (names) names->report(load_);
    if (groups) groups->report(load_);
}

void CommTasks::add(uint32_t row) {
    if (op_ != nullptr) {
        const uint32_t op = operations_.find(infos_.op[row]);
        op_->add_int(op == IdMap::kNone ? kNullInt : load_.profile.id_base + op);
    }
    if (name_ != nullptr) name_->add_code(infos_.name[row]);
    if (group_ != nullptr) group_->add_code(infos_.group[row]);
    if (index_ != nullptr) {
        const Dictionary& names = group_ != nullptr ? group_->dictionary() : group_names_;
        const uint32_t code = infos_.group[row];
        index_->add_int(order_->of(code == kNullCode ? std::string_view() : names.text(code)));
    }
    if (plane_ != nullptr) plane_->add_int(infos_.plane[row]);
    if (size_ != nullptr) size_->add_int(infos_.size[row]);
    if (source_ != nullptr) source_->add_int(infos_.source[row]);
    if (destination_ != nullptr) destination_->add_int(infos_.destination[row]);
    if (transport_ != nullptr) add_enum(*transport_, transports_, infos_.transport[row]);
    if (link_ != nullptr) add_enum(*link_, links_, infos_.link[row]);
}

void CommTasks::run(const DbTable& task) {
    op_ = load_.out("comm_op_id");
    name_ = load_.out("name");
    group_ = load_.out("group_name");
    index_ = load_.out("group_index");
    plane_ = load_.out("plane_id");
    size_ = load_.out("size_bytes");
    transport_ = load_.out("transport");
    link_ = load_.out("link_type");
    source_ = load_.out("src_rank");
    destination_ = load_.out("dst_rank");
    if (op_ != nullptr) operations_ = operations(load_);
    if (index_ != nullptr) order_.emplace(load_);
    if (transport_ != nullptr) transports_ = read_enum(load_, {"ENUM_HCCL_TRANSPORT_TYPE"}, kTransports);
    if (link_ != nullptr) links_ = read_enum(load_, {"ENUM_HCCL_LINK_TYPE"}, kLinks);
    read_info();
    const IdMap by_task(infos_.task);

    RowCopy rows(load_, task);
    rows.only_device({"deviceId"});
    rows.span({"startNs"}, {"endNs"});
    rows.source_row();
    const int id = rows.scan().cell({"globalTaskId"});
    uint64_t matched = 0;
    const uint64_t copied = rows.run([&](const DbRow& row, bool mine) {
        const uint32_t first = by_task.find(row.integer(id));
        if (first == IdMap::kNone) return false;
        ++matched;
        if (!mine) return false;
        add(first);
        return true;
    });
    load_.set_rows(copied);
    if (by_task.repeated() > 0)
        load_.tell(Severity::kWarning, "repeated_task_id", "COMMUNICATION_TASK_INFO",
                   "rows of COMMUNICATION_TASK_INFO repeat a globalTaskId; the first of each counts",
                   by_task.repeated());
    if (matched + by_task.repeated() < infos_.task.size())
        load_.tell(Severity::kWarning, "comm_task_without_task", "COMMUNICATION_TASK_INFO",
                   "rows of COMMUNICATION_TASK_INFO have no row in TASK, so no time: they are left out",
                   infos_.task.size() - matched - by_task.repeated());
}

}  // namespace

void load_comm_task(Load& load) {
    const DbTable* task = load.file.table("TASK");
    const DbTable* info = load.file.table("COMMUNICATION_TASK_INFO");
    if (task == nullptr || info == nullptr) return load.set_rows(0);
    CommTasks(load, *info).run(*task);
}

}  // namespace profana
