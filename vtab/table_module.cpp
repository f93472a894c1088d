// The callbacks that SQLite calls, each a thin cover over Plan and Scan.
#include "vtab/table_module.h"

#include <cstring>
#include <memory>

#include "ext/connection.h"
#include "vtab/plan.h"
#include "vtab/scan.h"

namespace profana {
namespace {

// What SQLite holds for one registered module.
struct Registration {
    Connection& connection;
    TableSpec spec;                           // of an eponymous table
    std::shared_ptr<TableProvider> provider;  // of an eponymous table; a second name has the same
    TableMaker maker;
};

struct VirtualTable : sqlite3_vtab {
    VirtualTable(Connection& to, const TableSpec& with, TableProvider& from)
        : sqlite3_vtab{}, connection(to), spec(with), provider(from) {}
    Connection& connection;
    const TableSpec& spec;
    TableProvider& provider;
    std::weak_ptr<ScanCommon> common;  // gone when the statements that may hold such a text have ended
    std::unique_ptr<MadeTable> made;   // owns spec and provider of a table that was made
};

struct Cursor : sqlite3_vtab_cursor {
    Cursor(VirtualTable& table, std::shared_ptr<ScanCommon> common)
        : sqlite3_vtab_cursor{}, scan(table.connection, table.provider, table.spec, std::move(common)) {}
    Scan scan;
};

VirtualTable& table_of(sqlite3_vtab* table) {
    return *static_cast<VirtualTable*>(table);
}

Scan& scan_of(sqlite3_vtab_cursor* cursor) {
    return static_cast<Cursor*>(cursor)->scan;
}

const char* declared_type(ColumnType type) {
    switch (type) {
        case ColumnType::kInt:
            return " INTEGER";
        case ColumnType::kReal:
            return " REAL";
        case ColumnType::kText:
        case ColumnType::kLong:
            return " TEXT";
        case ColumnType::kAny:
            break;  // no type: values keep theirs
    }
    return "";
}

std::string declaration(const TableSpec& spec) {
    std::string sql = "CREATE TABLE x(";
    const auto add = [&sql](const ColumnSpec& column, bool hidden) {
        if (sql.back() != '(') sql += ", ";
        sql += double_quoted(column.name) + declared_type(column.type) + (hidden ? " HIDDEN" : "");
    };
    for (const ColumnSpec& argument : spec.arguments) add(argument, true);
    for (const ColumnSpec& column : spec.columns) add(column, column.hidden);
    return sql + ")";
}

// Tables that take a path are for top-level SQL and TEMP views only: a database that somebody else wrote must
// not make its viewer read files. The others read what the user opened on this connection and change nothing;
// they may stand in any view, also where the host distrusts the schema.
int declare(sqlite3* db, std::unique_ptr<VirtualTable> table, sqlite3_vtab** out) {
    int code = sqlite3_declare_vtab(db, declaration(table->spec).c_str());
    if (code == SQLITE_OK)
        code =
            sqlite3_vtab_config(db, table->spec.reads_files ? SQLITE_VTAB_DIRECTONLY : SQLITE_VTAB_INNOCUOUS);
    if (code == SQLITE_OK) *out = table.release();
    return code;
}

// Methods that have no table yet to put an error's text into.
template <class Body>
int guard_connect(char** message, Body body) noexcept {
    try {
        return body();
    } catch (const std::bad_alloc&) {
        return SQLITE_NOMEM;
    } catch (const Error& error) {
        *message = sqlite3_mprintf("%s", error.what());
        return result_code(error.kind());
    } catch (const std::exception& error) {
        *message = sqlite3_mprintf("%s", error.what());
        return SQLITE_ERROR;
    }
}

int connect_eponymous(sqlite3* db, void* registered, int, const char* const*, sqlite3_vtab** out,
                      char** message) {
    return guard_connect(message, [&] {
        auto& registration = *static_cast<Registration*>(registered);
        return declare(db,
                       std::make_unique<VirtualTable>(registration.connection, registration.spec,
                                                      *registration.provider),
                       out);
    });
}

int connect_made(sqlite3* db, void* registered, int argc, const char* const* argv, sqlite3_vtab** out,
                 char** message) {
    return guard_connect(message, [&] {
        auto& registration = *static_cast<Registration*>(registered);
        constexpr int kSchema = 1, kFirstArgument = 3;  // 0: the module's name, 2: the table's
        if (std::strcmp(argv[kSchema], "temp") != 0)
            throw Error(std::string(argv[0]) +
                        ": its tables are made in the schema temp: CREATE VIRTUAL TABLE " + "temp." +
                        excerpt(argv[2]) + " USING " + argv[0] + "(...)");
        std::vector<std::string> arguments;
        for (int i = kFirstArgument; i < argc; ++i) arguments.emplace_back(argv[i]);
        std::unique_ptr<MadeTable> made = registration.maker(registration.connection, arguments);
        auto table = std::make_unique<VirtualTable>(registration.connection, made->spec, *made->provider);
        table->made = std::move(made);
        return declare(db, std::move(table), out);
    });
}

int create_made(sqlite3* db, void* registered, int argc, const char* const* argv, sqlite3_vtab** out,
                char** message) {  // a function of its own: the same one would make the module eponymous
    return connect_made(db, registered, argc, argv, out, message);
}

int disconnect(sqlite3_vtab* table) {
    delete &table_of(table);
    return SQLITE_OK;
}

int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
    return guard_table(table, [&] {
        VirtualTable& here = table_of(table);
        return make_plan(here.connection, here.provider, here.spec, info);
    });
}

int open_cursor(sqlite3_vtab* table, sqlite3_vtab_cursor** out) {
    return guard_table(table, [&] {
        VirtualTable& here = table_of(table);
        std::shared_ptr<ScanCommon> common = here.common.lock();
        if (common == nullptr) here.common = common = std::make_shared<ScanCommon>();
        *out = new Cursor(here, std::move(common));
        return SQLITE_OK;
    });
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
    delete static_cast<Cursor*>(cursor);
    return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* cursor, int, const char* plan, int, sqlite3_value** arguments) {
    return guard_table(cursor->pVtab, [&] {
        scan_of(cursor).filter(plan, arguments);
        return SQLITE_OK;
    });
}

int next(sqlite3_vtab_cursor* cursor) {
    return guard_table(cursor->pVtab, [&] {
        scan_of(cursor).next();
        return SQLITE_OK;
    });
}

int at_end(sqlite3_vtab_cursor* cursor) {
    return scan_of(cursor).at_end();
}

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int number) {
    return guard_table(cursor->pVtab, [&] {
        scan_of(cursor).column(context, spec_column(table_of(cursor->pVtab).spec, number));
        return SQLITE_OK;
    });
}

int row_id(sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
    *out = scan_of(cursor).row_id();
    return SQLITE_OK;
}

sqlite3_module make_module() {
    sqlite3_module module{};
    module.iVersion = 1;
    module.xConnect = connect_eponymous;
    module.xDisconnect = disconnect;
    module.xDestroy = disconnect;
    module.xBestIndex = best_index;
    module.xOpen = open_cursor;
    module.xClose = close_cursor;
    module.xFilter = filter;
    module.xNext = next;
    module.xEof = at_end;
    module.xColumn = column;
    module.xRowid = row_id;
    return module;
}

sqlite3_module make_maker_module() {
    sqlite3_module module = make_module();
    module.xCreate = create_made;
    module.xConnect = connect_made;
    return module;
}

const sqlite3_module kEponymous = make_module();
const sqlite3_module kMaker = make_maker_module();

void forget(void* registered) {
    delete static_cast<Registration*>(registered);
}

int create_module(Connection& connection, const char* name, const sqlite3_module& module,
                  std::unique_ptr<Registration> registration) {
    return sqlite3_create_module_v2(connection.db(), name, &module, registration.release(), forget);
}

// "Text: dur | Db: endNs - startNs" as lines, each behind `lead`.
std::string source_lines(std::string_view sources, const char* lead) {
    constexpr std::string_view kBetween = " | ";
    std::string out;
    while (!sources.empty()) {
        const size_t end = std::min(sources.find(kBetween), sources.size());
        out += std::string(lead) + std::string(sources.substr(0, end)) + "\n";
        sources.remove_prefix(std::min(sources.size(), end + kBetween.size()));
    }
    return out;
}

// A column a line, as the comments of the shipped views have them; what it is made of on lines below.
std::string column_help(const TableSpec& spec) {
    std::string out;
    for (const auto& columns : {spec.columns, spec.arguments})
        for (const ColumnSpec& column : columns) {
            const std::string type = declared_type(column.type);
            out +=
                std::string(column.name) + ", --" + (type.empty() ? " ANY" : type) + "  " + column.doc + "\n";
            out += source_lines(column.sources, "  -- ");
        }
    return out;
}

std::string table_help(const TableSpec& spec) {
    const std::string sources = source_lines(spec.sources, "");
    return sources.empty() ? spec.doc : std::string(spec.doc) + "\n" + sources;
}

}  // namespace

Part whole_table(std::shared_ptr<Table> table) {
    Part part;
    for (int c = 0; c < table->columns(); ++c) part.columns.push_back(c);
    part.constants.resize(part.columns.size());
    part.table = std::move(table);
    return part;
}

int register_table(Connection& connection, const TableSpec& spec, std::unique_ptr<TableProvider> provider) {
    connection.add_table({spec.name, "table", column_help(spec), table_help(spec)});
    if (spec.alias != nullptr)
        connection.add_table({spec.alias, "table", "", std::string("Another name of ") + spec.name + "."});
    const std::shared_ptr<TableProvider> shared = std::move(provider);
    int code = SQLITE_OK;
    for (const char* name : {spec.name, spec.alias}) {
        if (name == nullptr || code != SQLITE_OK) continue;
        std::unique_ptr<Registration> registration(new Registration{connection, spec, shared, nullptr});
        code = create_module(connection, name, kEponymous, std::move(registration));
    }
    return code;
}

int register_table_maker(Connection& connection, const char* module, TableMaker maker) {
    std::unique_ptr<Registration> registration(
        new Registration{connection, TableSpec{}, nullptr, std::move(maker)});
    return create_module(connection, module, kMaker, std::move(registration));
}

}  // namespace profana
