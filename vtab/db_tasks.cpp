// prof_device_task and prof_launch: the rows of TASK, and which operator started what.
#include <algorithm>

#include "vtab/db_beside.h"
#include "vtab/db_loaders.h"

namespace profana {
namespace {

// Ids of a table that names tasks, with one number or text for each.
PageVector<int64_t> task_ids(Load& load, const char* table_name) {
    PageVector<int64_t> ids;
    if (const DbTable* table = load.file.table(table_name)) {
        DbScan scan(load.file, *table);
        const int id = scan.cell({"globalTaskId"});
        ids.reserve(scan.expected_rows());
        scan.run(load.context, [&](const DbRow& row) { ids.push_back(row.integer(id)); });
    }
    return ids;
}

// Bytes of the copies, by task.
class CopySizes {
  public:
    explicit CopySizes(Load& load) {
        const DbTable* table = load.file.table("MEMCPY_INFO");
        if (table == nullptr) return;
        DbScan scan(load.file, *table);
        const int id = scan.cell({"globalTaskId"}), size = scan.cell({"size"});
        std::vector<int64_t> ids;
        uint64_t implausible = 0;
        scan.run(load.context, [&](const DbRow& row) {
            ids.push_back(row.integer(id));
            sizes_.push_back(apply(NullRule::kSize, row.integer(size), implausible));
        });
        load.tell_implausible("MEMCPY_INFO", implausible);
        by_task_ = IdMap(ids);
    }
    int64_t of(int64_t task_id) const {
        const uint32_t row = by_task_.find(task_id);
        return row == IdMap::kNone ? kNullInt : sizes_[row];
    }

  private:
    IdMap by_task_;
    std::vector<int64_t> sizes_;
};

// Codes of the names in a table that names tasks, by its rows, of which there are so many.
std::vector<uint32_t> name_codes(Load& load, Dictionary& dictionary, const char* table_name, size_t rows) {
    std::vector<uint32_t> codes;
    const DbTable* table = load.file.table(table_name);
    if (table == nullptr) return codes;
    TextCells cells(load, dictionary, std::string(table_name) + ".name", TextRule::kKnown);
    DbScan scan(load.file, *table);
    const int name = scan.cell({"name"});
    scan.run(load.context, [&](const DbRow& row) { codes.push_back(cells.code(row, name)); });
    cells.report(load);
    codes.resize(rows, kNullCode);
    return codes;
}

}  // namespace

void load_device_task(Load& load) {
    const DbTable* task = load.file.table("TASK");
    if (task == nullptr) return load.set_rows(0);
    const bool named = load.wants({"name"});
    const KernelJoin* join = named || load.wants({"kernel_id"}) ? &load.kernels() : nullptr;
    PageVector<int64_t> schedule_ids;
    if (named || load.wants({"is_schedule"}))
        schedule_ids = task_ids(load, "COMMUNICATION_SCHEDULE_TASK_INFO");
    const IdMap schedule(schedule_ids);
    std::optional<CopySizes> sizes;
    if (load.wants({"size_bytes"})) sizes.emplace(load);
    Column *name = load.out("name"), *kernel_id = load.out("kernel_id"), *size = load.out("size_bytes"),
           *is_schedule = load.out("is_schedule");
    std::vector<uint32_t> kernel_names, schedule_names;
    std::optional<TextCells> type_names;
    if (name != nullptr) {
        kernel_names = name_codes(load, name->dictionary(), "COMPUTE_TASK_INFO", join->info_rows);
        schedule_names =
            name_codes(load, name->dictionary(), "COMMUNICATION_SCHEDULE_TASK_INFO", schedule_ids.size());
        type_names.emplace(load, name->dictionary(), "TASK.taskType", TextRule::kKnown);
    }

    RowCopy rows(load, *task);
    rows.device({"deviceId"});
    rows.integer("stream_id", {"streamId"}, NullRule::kId);
    rows.integer("task_id", {"taskId"}, NullRule::kId);
    rows.integer("connection_id", {"connectionId"}, NullRule::kConnection);
    rows.text("task_type", {"taskType"}, TextRule::kKnown);
    rows.span({"startNs"}, {"endNs"});
    rows.source_row();
    const int id_cell =
        name != nullptr || sizes || is_schedule != nullptr ? rows.scan().cell({"globalTaskId"}) : kNoCell;
    const int type_cell = name != nullptr ? rows.scan().cell({"taskType"}) : kNoCell;
    const KernelJoin none;
    KernelRows kernels(join != nullptr ? *join : none);
    const uint64_t copied = rows.run([&](const DbRow& row, bool mine) {
        const uint32_t kernel = kernels.next();
        if (!mine) return false;
        const int64_t id = row.integer(id_cell);
        if (kernel_id != nullptr)
            kernel_id->add_int(kernel == IdMap::kNone ? kNullInt : load.profile.id_base + kernel);
        if (size != nullptr) size->add_int(sizes->of(id));
        const uint32_t scheduled = schedule.find(id);
        if (is_schedule != nullptr) is_schedule->add_int(scheduled == IdMap::kNone ? 0 : 1);
        if (name == nullptr) return true;
        uint32_t code = kNullCode;
        if (kernel != IdMap::kNone) code = kernel_names[join->info[kernel]];
        if (code == kNullCode && scheduled != IdMap::kNone) code = schedule_names[scheduled];
        name->add_code(code == kNullCode ? type_names->code(row, type_cell) : code);
        return true;
    });
    load.set_rows(copied);
}

// ---- launches --------------------------------------------------------------------------------------------

namespace {

// Device work that has a connection: what TASK and COMMUNICATION_OP have.
struct Work {
    int64_t connection;
    uint32_t row;  // of prof_device_task or prof_comm_op
    uint32_t kernel = IdMap::kNone;
    bool collective = false;
    int64_t start = kNullInt, rowid = kNullInt;
    uint32_t op = 0, place = 0;  // the operator that owns it, and where its link stands among all
};

PageVector<Work> launched_tasks(Load& load) {
    PageVector<Work> work;
    const DbTable* task = load.file.table("TASK");
    if (task == nullptr) return work;
    // A collective stands for its small tasks. What starts it is no kernel, whatever it is called.
    const IdMap collective(task_ids(load, "COMMUNICATION_TASK_INFO"));
    const IdMap schedule(task_ids(load, "COMMUNICATION_SCHEDULE_TASK_INFO"));
    // The kernels are found on the way, unless they are known.
    std::optional<KernelRows> kernels;
    std::optional<KernelJoinMaker> join;
    auto claim = load.profile.kernels.claim();
    if (claim.owns_lock())
        join.emplace(load);
    else
        kernels.emplace(load.kernels());
    DbScan scan(load.file, *task);
    const int id = scan.cell({"globalTaskId"}), connection = scan.cell({"connectionId"}),
              start = scan.cell({"startNs"});
    const int rowid = load.wants({"source_row"}) ? scan.rowid() : kNoCell;
    const int device = load.profile.options.device ? scan.cell({"deviceId"}) : kNoCell;
    work.reserve(scan.expected_rows());
    uint32_t next_row = 0;
    scan.run(load.context, [&](const DbRow& row) {
        const int64_t task_id = row.integer(id);
        const bool mine = of_device(load.profile.options, row, device);
        const uint32_t kernel = join ? join->add(task_id, mine) : kernels->next();
        if (!mine) return;
        const uint32_t number = next_row++;
        const int64_t link = row.integer(connection);
        if (link == kNullInt) return;
        if (collective.find(task_id) != IdMap::kNone) return;
        const bool starts = schedule.find(task_id) != IdMap::kNone;
        work.push_back(
            {link, number, starts ? IdMap::kNone : kernel, false, row.integer(start), row.integer(rowid)});
    });
    if (join) load.profile.kernels.keep(join->finish(), std::move(claim));
    return work;
}

void add_collectives(Load& load, PageVector<Work>& work) {
    const DbTable* table = load.file.table("COMMUNICATION_OP");
    if (table == nullptr) return;
    DbScan scan(load.file, *table);
    const int connection = scan.cell({"connectionId"}), start = scan.cell({"startNs"});
    const int rowid = load.wants({"source_row"}) ? scan.rowid() : kNoCell;
    const int device = load.profile.options.device ? scan.cell({"deviceId"}) : kNoCell;
    uint32_t next_row = 0;
    scan.run(load.context, [&](const DbRow& row) {
        if (!of_device(load.profile.options, row, device)) return;
        work.push_back({row.integer(connection), next_row++, IdMap::kNone, true, row.integer(start),
                        row.integer(rowid)});
    });
}

// Leaves the work whose connection an operator has; the last one that has it owns the work. Returns the
// number of places: the links of all operators, in order of the operators and of CONNECTION_IDS.
uint32_t bind_work(Load& load, PageVector<Work>& work) {
    struct Owner {
        uint32_t op = IdMap::kNone, place = 0;
    };
    PageVector<int64_t> ids(work.size());
    std::transform(work.begin(), work.end(), ids.begin(), [](const Work& item) { return item.connection; });
    const IdMap by_connection(ids);
    PageVector<Owner> owners(work.size());  // by the first work of each connection
    const Operators& ops = load.operators();
    const Connections& links = load.connections();
    uint32_t places = 0;
    for (uint32_t op = 0; op < ops.start.size(); ++op)
        for (uint32_t row = links.rows.find(ops.connection[op]); row != IdMap::kNone;
             row = links.rows.next(row), ++places) {
            const int64_t connection = apply(NullRule::kConnection, links.link[row]);
            const uint32_t first = by_connection.find(connection);
            if (connection != kNullInt && first != IdMap::kNone) owners[first] = {op, places};
        }
    std::erase_if(work, [&](Work& item) {
        const uint32_t first = by_connection.find(item.connection);
        if (first == IdMap::kNone || owners[first].op == IdMap::kNone) return true;
        item.op = owners[first].op;
        item.place = owners[first].place;
        return false;
    });
    return places;
}

}  // namespace

void load_launch(Load& load) {
    PageVector<Work> work;
    LoadBeside tasks(load, [&](Load& side) { work = launched_tasks(side); });
    // First what else is needed: the operators may be in the making, or somebody may be about to make them.
    if (!tasks.has_thread()) tasks.finish();
    load.connections();
    load.operators();
    tasks.finish();
    add_collectives(load, work);
    // By the link that owns the work, in the order in which it was found: a counting sort.
    PageVector<uint32_t> place(bind_work(load, work) + size_t{1}, 0);
    for (const Work& item : work) ++place[item.place + 1];
    for (size_t link = 1; link < place.size(); ++link) place[link] += place[link - 1];
    PageVector<uint32_t> order(work.size());
    for (uint32_t item = 0; item < work.size(); ++item) order[place[work[item].place]++] = item;

    const Operators& ops = load.operators();
    const int64_t base = load.profile.id_base;
    Column *host_op = load.out("host_op_id"), *task = load.out("device_task_id"),
           *kernel = load.out("kernel_id"), *comm_op = load.out("comm_op_id"),
           *category = load.out("category"), *launch = load.out("launch_ns"), *device = load.out("device_ns"),
           *connection = load.out("connection_id"), *source = load.out("source_row");
    const uint32_t connected = category != nullptr ? category->dictionary().intern("connection") : kNullCode;
    for (const uint32_t item : order) {
        const Work& what = work[item];
        if (host_op != nullptr) host_op->add_int(base + ops.host_op[what.op]);
        if (task != nullptr) task->add_int(what.collective ? kNullInt : base + what.row);
        if (kernel != nullptr) kernel->add_int(what.kernel == IdMap::kNone ? kNullInt : base + what.kernel);
        if (comm_op != nullptr) comm_op->add_int(what.collective ? base + what.row : kNullInt);
        if (category != nullptr) category->add_code(connected);
        if (launch != nullptr) launch->add_int(ops.start[what.op]);
        if (device != nullptr) device->add_int(what.start);
        if (connection != nullptr) connection->add_int(what.connection);
        if (source != nullptr) source->add_int(what.rowid);
    }
    load.set_rows(work.size());
}

}  // namespace profana
