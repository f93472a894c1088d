// prof_memory_alloc and prof_memory_usage: OP_MEMORY and MEMORY_RECORD, or NPU_OP_MEM alone where the
// framework has left nothing.
#include <algorithm>
#include <map>
#include <tuple>

#include "ext/core/nest_events.h"
#include "ext/core/plausible.h"
#include "vtab/db_loaders.h"

namespace profana {
namespace {

// Strings of CANN are numbered below this, those of the framework from here on.
constexpr int64_t kFirstFrameworkString = int64_t{1} << 28;

// The task queue: CANN runs on a thread of its own what the framework's thread has put into the queue. A
// block that CANN allocates during a Dequeue belongs to the moment of the Enqueue.
class TaskQueue {
  public:
    explicit TaskQueue(Load& load) {
        const DbTable* table = load.file.table("PYTORCH_API");
        if (table == nullptr) return;
        const Connections& connections = load.connections();
        NameTest enqueue(load, [](std::string_view name) { return name.starts_with("Enqueue"); });
        DbScan scan(load.file, *table);
        HostKinds kinds(load, scan);
        const int name = scan.cell({"name"}), start = scan.cell({"startNs"}), end = scan.cell({"endNs"}),
                  connection = scan.cell({"connectionId"});
        std::vector<int64_t> links, starts;  // of the Enqueue events
        std::vector<Dequeue> dequeues;
        scan.run(load.context, [&](const DbRow& row) {
            if (kinds.of(row) != HostKind::kQueue) return;
            const int64_t id = row.integer(connection);
            const uint32_t link = connections.rows.find(id);
            const int64_t shared = link == IdMap::kNone ? kNullInt : connections.link[link];
            if (enqueue.of(row, name)) {
                links.push_back(shared);
                starts.push_back(row.integer(start));
            } else {
                dequeues.push_back({row.integer(start), row.integer(end), shared});
            }
        });
        const IdMap by_link(links);
        for (const Dequeue& dequeue : dequeues) {
            const uint32_t partner = by_link.find(dequeue.enqueued);
            dequeues_.push_back(
                {dequeue.start, dequeue.end, partner == IdMap::kNone ? kNullInt : starts[partner]});
        }
        std::stable_sort(dequeues_.begin(), dequeues_.end(),
                         [](const Dequeue& a, const Dequeue& b) { return a.start < b.start; });
    }

    // When the work that runs at `time` was put into the queue; kNullInt: not known.
    int64_t enqueued_at(int64_t time) const {
        const auto later =
            std::upper_bound(dequeues_.begin(), dequeues_.end(), time,
                             [](int64_t t, const Dequeue& dequeue) { return t < dequeue.start; });
        if (later == dequeues_.begin() || std::prev(later)->end < time) return kNullInt;
        return std::prev(later)->enqueued;
    }

  private:
    struct Dequeue {
        int64_t start, end, enqueued;  // while reading, `enqueued` is the link to the Enqueue event
    };
    std::vector<Dequeue> dequeues_;
};

// attach_ns and host_op_id of blocks, from their allocation times.
void attach(Load& load, const std::vector<int64_t>& allocated, const std::vector<bool>& by_cann,
            Column* attach_ns, Column* host_op) {
    if (attach_ns == nullptr && host_op == nullptr) return;
    std::vector<int64_t> times = allocated;
    if (std::find(by_cann.begin(), by_cann.end(), true) != by_cann.end()) {
        const TaskQueue queue(load);
        for (size_t row = 0; row < times.size(); ++row)
            if (by_cann[row] && times[row] != kNullInt) times[row] = queue.enqueued_at(times[row]);
    }
    if (attach_ns != nullptr) attach_ns->add_ints(times.data(), times.size());
    if (host_op == nullptr) return;
    const Operators& ops = load.operators();
    const Nesting nesting = nest_by_cursor(ops.start, ops.end);
    for (const uint32_t op : attach_by_cursor(nesting, ops.start, ops.end, times))
        host_op->add_int(op == kNoParent ? kNullInt : load.profile.id_base + ops.host_op[op]);
}

// Names of blocks; those of CANN carry its prefix, as in operator_memory.csv.
uint32_t block_name(Dictionary& names, std::string_view text, bool by_cann) {
    constexpr std::string_view kPrefix = "cann::";
    if (!by_cann || text.find(kPrefix) != std::string_view::npos) return names.intern(text);
    return names.intern(std::string(kPrefix) + std::string(text));
}

void copy_op_memory(Load& load, const DbTable& table) {
    const DbStrings& strings = load.strings();
    RowCopy rows(load, table);
    rows.device({"deviceId"});
    rows.integer("size_bytes", {"size"}, NullRule::kBytes);
    rows.integer("alloc_ns", {"allocationTime"}, NullRule::kTime);
    rows.integer("release_ns", {"releaseTime"}, NullRule::kTime);
    rows.integer("stream_ptr", {"streamPtr"}, NullRule::kId);
    rows.source_row();
    Column *name_out = load.out("name"), *duration_out = load.out("dur_ns");
    const int name = rows.scan().cell({"name"}), stream = rows.scan().cell({"streamPtr"}),
              alloc = rows.scan().cell({"allocationTime"}), release = rows.scan().cell({"releaseTime"});
    std::vector<int64_t> allocated;
    std::vector<bool> by_cann;
    const uint64_t copied = rows.run([&](const DbRow& row, bool mine) {
        if (!mine) return false;
        const std::string_view text = string_of(strings, row, name);
        // CANN's blocks come from NPU_OP_MEM: a string of CANN's, and no stream.
        const int64_t id = row.is_null(name) || row.is_text(name) ? kFirstFrameworkString : row.integer(name);
        by_cann.push_back(text.find("cann::") != std::string_view::npos ||
                          (id < kFirstFrameworkString && row.is_null(stream)));
        allocated.push_back(apply(NullRule::kTime, row.integer(alloc)));
        if (duration_out != nullptr)
            duration_out->add_int(
                duration_ns(allocated.back(), apply(NullRule::kTime, row.integer(release))));
        if (name_out != nullptr)
            name_out->add_code(text.data() == nullptr
                                   ? kNullCode
                                   : block_name(name_out->dictionary(), text, by_cann.back()));
        return true;
    });
    load.set_rows(copied);
    attach(load, allocated, by_cann, load.out("attach_ns"), load.out("host_op_id"));
}

// Pairs of allocate and release of one operator, address and device. Some releases lack their partner.
void pair_npu_op_mem(Load& load, const DbTable& table) {
    struct Block {
        int64_t device, size, alloc, release, rowid;
        uint32_t name;
    };
    const DbStrings& strings = load.strings();
    std::vector<Block> blocks;
    std::map<std::tuple<int64_t, int64_t, int64_t>, size_t> open;
    Dictionary names;
    DbScan scan(load.file, table);
    const int name = scan.cell({"operatorName"}), address = scan.cell({"addr"}), type = scan.cell({"type"}),
              size = scan.cell({"size"}), time = scan.cell({"timestampNs"}), device = scan.cell({"deviceId"}),
              rowid = scan.rowid();
    uint64_t implausible = 0;
    scan.run(load.context, [&](const DbRow& row) {
        if (!of_device(load.profile.options, row, device)) return;
        const std::tuple key{row.integer(name), row.integer(address), row.integer(device)};
        const int64_t bytes = apply(NullRule::kBytes, row.integer(size), implausible),
                      at = apply(NullRule::kTime, row.integer(time), implausible);
        const bool release = string_of(strings, row, type) == "release" || (bytes != kNullInt && bytes < 0);
        const auto partner = open.find(key);
        if (release && partner != open.end()) {
            blocks[partner->second].release = at;
            open.erase(partner);
            return;
        }
        const std::string_view text = string_of(strings, row, name);
        const uint32_t code = text.data() == nullptr ? kNullCode : block_name(names, text, true);
        const int64_t signed_size = release && bytes != kNullInt && bytes > 0 ? -bytes : bytes;
        if (!release) open[key] = blocks.size();
        blocks.push_back({apply(NullRule::kId, row.integer(device)), signed_size, release ? kNullInt : at,
                          release ? at : kNullInt, row.integer(rowid), code});
    });
    load.tell_implausible(table.name, implausible);
    Column *device_out = load.out("device_id"), *name_out = load.out("name"),
           *size_out = load.out("size_bytes"), *alloc = load.out("alloc_ns"),
           *release = load.out("release_ns"), *duration = load.out("dur_ns"),
           *source = load.out("source_row");
    std::vector<int64_t> allocated;
    for (const Block& block : blocks) {
        allocated.push_back(block.alloc);
        if (device_out != nullptr) device_out->add_int(block.device);
        if (name_out != nullptr)
            name_out->add_code(
                block.name == kNullCode ? kNullCode : name_out->dictionary().intern(names.text(block.name)));
        if (size_out != nullptr) size_out->add_int(block.size);
        if (alloc != nullptr) alloc->add_int(block.alloc);
        if (release != nullptr) release->add_int(block.release);
        if (duration != nullptr) duration->add_int(duration_ns(block.alloc, block.release));
        if (source != nullptr) source->add_int(block.rowid);
    }
    load.set_rows(blocks.size());
    attach(load, allocated, std::vector<bool>(blocks.size(), true), load.out("attach_ns"),
           load.out("host_op_id"));
}

uint64_t copy_memory_record(Load& load, const DbTable& table) {
    RowCopy rows(load, table);
    rows.device({"deviceId"});
    rows.integer("ts_ns", {"timestamp", "timestampNs"});
    rows.text("component", {"component"}, TextRule::kKnown);
    rows.integer("allocated_bytes", {"totalAllocated"});
    rows.integer("reserved_bytes", {"totalReserved"});
    rows.integer("active_bytes", {"totalActive"});
    rows.source_row();
    return rows.run();
}

uint64_t copy_npu_op_mem(Load& load, const DbTable& table) {
    RowCopy rows(load, table);
    rows.device({"deviceId"});
    rows.integer("ts_ns", {"timestampNs"});
    rows.text("component", {"component"}, TextRule::kKnown);
    rows.integer("allocated_bytes", {"totalAllocate"});
    rows.integer("reserved_bytes", {"totalReserve"});
    rows.source_row();
    return rows.run();
}

// What the process holds on the device as a whole: the APP rows of memory_record.csv.
uint64_t copy_app_memory(Load& load, const DbTable& table) {
    const DbStrings& strings = load.strings();
    RowCopy rows(load, table);
    rows.device({"deviceId"});
    rows.integer("ts_ns", {"timestampNs"});
    rows.source_row();
    Column *component = load.out("component"), *reserved = load.out("reserved_bytes");
    const int type = rows.scan().cell({"type"}), ddr = rows.scan().cell({"ddr"}),
              hbm = rows.scan().cell({"hbm"});
    return rows.run([&](const DbRow& row, bool mine) {
        if (!mine || string_of(strings, row, type) != "app") return false;
        if (component != nullptr) component->add_text("APP");
        const int64_t near = row.integer(hbm), far = row.integer(ddr);
        int64_t sum = kNullInt;
        if (near == kNullInt || far == kNullInt) {
            sum = near == kNullInt ? far : near;
        } else if (__builtin_add_overflow(near, far, &sum)) {
            sum = kNullInt;
        }
        if (reserved != nullptr) reserved->add_int(sum);
        return true;
    });
}

}  // namespace

void load_memory_alloc(Load& load) {
    const DbTable* framework = load.file.table("OP_MEMORY");
    const DbTable* cann = load.file.table("NPU_OP_MEM");
    if (framework != nullptr) {
        copy_op_memory(load, *framework);
    } else if (cann != nullptr) {
        pair_npu_op_mem(load, *cann);
    } else {
        load.set_rows(0);
    }
}

void load_memory_usage(Load& load) {
    const DbTable* framework = load.file.table("MEMORY_RECORD");
    const DbTable* cann = load.file.table("NPU_OP_MEM");
    const DbTable* app = load.file.table("NPU_MEM");
    // All columns are filled by hand: the tables have not the same ones.
    for (const char* column : {"device_id", "ts_ns", "component", "allocated_bytes", "reserved_bytes",
                               "active_bytes", "source_row"})
        load.out(column);
    uint64_t rows = 0;
    if (framework != nullptr) {
        rows = copy_memory_record(load, *framework);
    } else if (cann != nullptr) {
        rows = copy_npu_op_mem(load, *cann);
    }
    load.pad(rows);
    if (app != nullptr) rows += copy_app_memory(load, *app);
    load.pad(rows);
    load.set_rows(rows);
}

}  // namespace profana
