// The one virtual table module. A table is a TableSpec (its columns) and a TableProvider (where rows come
// from); declaration, planning (vtab/plan.*), filtering and ordering (vtab/scan.*) and the cursor are the
// same for all.
//
// Planning never trusts what it is told to do beyond its proof: SQLite checks each row again but for equal
// whole numbers, an operand of another type widens the scan, ORDER BY is consumed only by a true sort.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ext/core/store.h"
#include "ext/registry.h"
#include "vtab/load_parts.h"

namespace profana {

struct ColumnSpec {
    const char* name;
    ColumnType type;
    const char* doc;           // unit, meaning, when NULL
    const char* sources = "";  // of columns of model tables: see vtab/model_specs.h
    bool hidden = false;
    bool is_id = false;  // of rows of a table of the same source: see Part::id_base
};

// Rows of one source in one scan. Constant columns are the same for every row of the part.
struct Part {
    std::shared_ptr<Table> table;
    // Column of the TableSpec -> column of `table`; kConstant: see `constants`; kRowId: id_base + row.
    static constexpr int kConstant = -1, kRowId = -2;
    std::vector<int> columns;
    struct Constant {
        bool null = true, is_text = false;
        int64_t integer = 0;
        std::string text;
    };
    std::vector<Constant> constants;  // by column of the TableSpec; used where columns[c] == kConstant
    int64_t id_base = 1;              // of the source: 1 + 2^32 times its number in the profile
};

// A part whose columns are those of the table, one for one.
Part whole_table(std::shared_ptr<Table> table);

// What a scan asks for: the table's arguments, paths and such; empty where not given or NULL.
struct ScanRequest {
    std::vector<std::string> arguments;
    std::vector<bool> given;
    bool operator==(const ScanRequest&) const = default;
};

struct Plan;  // vtab/plan.h

class TableProvider {
  public:
    virtual ~TableProvider() = default;
    // The parts of a scan; cheap: tables load their columns later, and only those of parts that the query's
    // equalities on constant columns leave over. Throws Error.
    virtual std::vector<Part> parts(Connection& connection, const ScanRequest& request) = 0;
    // The same for the planner, as far as it is known without looking at any file; none: not known.
    virtual std::vector<Part> known_parts(Connection&, const ScanRequest&) { return {}; }
    // Told of every plan for the table. Of the tables that the statement will want soon, those to be loaded
    // beside the ones that a scan wants now.
    virtual void planned(const Plan&) {}
    virtual std::vector<LoadTask> read_ahead(Connection&, const std::vector<LoadTask>&) { return {}; }
    // A guess for the planner where no part is known or loaded.
    virtual double expected_rows(Connection& connection) = 0;
};

struct TableSpec {
    const char* name;
    const char* doc;
    std::vector<ColumnSpec> columns;
    std::vector<ColumnSpec> arguments;  // hidden columns that a call fills: kernel_details('x.csv')
    int required_arguments = 0;
    bool over_profiles = false;   // parts of different sources, which may load side by side
    bool reads_files = false;     // takes a path: registered SQLITE_VTAB_DIRECTONLY
    const char* alias = nullptr;  // a second name (trace_view for trace_event)
    const char* sources = "";     // of model tables: what the rows are in each kind of capture
};

// Registers spec as an eponymous table. The provider lives as long as the connection's registration.
int register_table(Connection& connection, const TableSpec& spec, std::unique_ptr<TableProvider> provider);

// A table whose columns are known only when it is made: CREATE VIRTUAL TABLE temp.t USING module(arguments).
// In the temp schema only: one in a file would stay there, and read files for whoever opens it.
struct MadeTable {
    TableSpec spec;
    std::unique_ptr<TableProvider> provider;  // keeps what the spec's names and docs point to
};
using TableMaker = std::function<std::unique_ptr<MadeTable>(Connection& connection,
                                                            const std::vector<std::string>& arguments)>;
int register_table_maker(Connection& connection, const char* module, TableMaker maker);

}  // namespace profana
