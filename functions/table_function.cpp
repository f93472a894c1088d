// The virtual table module behind all table-valued functions.
#include "functions/table_function.h"

#include <array>

#include "ext/connection.h"
#include "ext/sqlite.h"

namespace profana {

namespace {

// What a registered module knows; SQLite owns it.
struct Module {
    Connection& connection;
    const TableFunctionSpec& spec;
};

struct FunctionTable : sqlite3_vtab {
    explicit FunctionTable(const Module& of) : sqlite3_vtab{}, module(of) {}
    const Module& module;
};

struct ValueDeleter {
    void operator()(sqlite3_value* value) const { sqlite3_value_free(value); }
};
using OwnedValue = std::unique_ptr<sqlite3_value, ValueDeleter>;

struct FunctionCursor : sqlite3_vtab_cursor {
    std::vector<OwnedValue> arguments;  // by argument; nullptr: not given
    std::unique_ptr<FunctionRows> rows;
    bool at_end = true;
    sqlite3_int64 row_id = 0;
};

const TableFunctionSpec& spec_of(const sqlite3_vtab* table) {
    return static_cast<const FunctionTable*>(table)->module.spec;
}

std::string declaration(const TableFunctionSpec& spec) {
    std::string sql = "CREATE TABLE t(";
    for (const FunctionColumn& column : spec.columns) {
        sql += '"' + std::string(column.name) + "\" " + column.type + ", ";
    }
    for (const FunctionColumn& argument : spec.arguments) {
        sql += '"' + std::string(argument.name) + "\" HIDDEN, ";
    }
    sql.replace(sql.size() - 2, 2, ")");
    return sql;
}

int connect(sqlite3* db, void* module, int, const char* const*, sqlite3_vtab** table, char** error) {
    try {
        auto made = std::make_unique<FunctionTable>(*static_cast<const Module*>(module));
        const int code = sqlite3_declare_vtab(db, declaration(spec_of(made.get())).c_str());
        if (code != SQLITE_OK) return code;
        sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
        *table = made.release();
        return SQLITE_OK;
    } catch (const std::exception& problem) {
        *error = sqlite3_mprintf("%s", problem.what());
        return SQLITE_NOMEM;
    }
}

int disconnect(sqlite3_vtab* table) {
    delete static_cast<FunctionTable*>(table);
    return SQLITE_OK;
}

// Arguments are the equalities on hidden columns. All of them are used, and idxNum tells by its bits which
// were given; they reach xFilter in the order of the arguments.
int choose_arguments(sqlite3_vtab* table, sqlite3_index_info* info) {
    const TableFunctionSpec& spec = spec_of(table);
    const int columns = static_cast<int>(spec.columns.size());
    std::vector<int> given(spec.arguments.size(), -1);
    bool unusable = false;
    for (int i = 0; i < info->nConstraint; ++i) {
        const auto& constraint = info->aConstraint[i];
        if (constraint.iColumn < columns || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (constraint.usable == 0) {
            unusable = true;
        } else {
            given[static_cast<size_t>(constraint.iColumn - columns)] = i;
        }
    }
    // An argument that this plan cannot supply yet: another order of the tables can.
    if (unusable) return SQLITE_CONSTRAINT;

    info->idxNum = 0;
    int place = 0;
    for (size_t i = 0; i < given.size(); ++i) {
        if (given[i] < 0) {
            if (static_cast<int>(i) >= spec.required) continue;
            sqlite3_free(table->zErrMsg);
            table->zErrMsg = sqlite3_mprintf("%s: argument %s is missing", spec.name, spec.arguments[i].name);
            return SQLITE_ERROR;
        }
        info->aConstraintUsage[given[i]].argvIndex = ++place;
        info->aConstraintUsage[given[i]].omit = 1;
        info->idxNum |= 1 << i;
    }
    info->estimatedCost = spec.expected_rows;
    info->estimatedRows = static_cast<sqlite3_int64>(spec.expected_rows);
    if (info->nOrderBy == 1 && info->aOrderBy[0].desc == 0 &&
        info->aOrderBy[0].iColumn == spec.rising_column && spec.rising_column >= 0) {
        info->orderByConsumed = 1;
    }
    return SQLITE_OK;
}

int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
    return guard_table(table, [&] { return choose_arguments(table, info); });
}

int open_cursor(sqlite3_vtab*, sqlite3_vtab_cursor** cursor) {
    *cursor = new (std::nothrow) FunctionCursor();
    return *cursor == nullptr ? SQLITE_NOMEM : SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
    delete static_cast<FunctionCursor*>(cursor);
    return SQLITE_OK;
}

int next_row(sqlite3_vtab_cursor* base) {
    return guard_table(base->pVtab, [&] {
        auto* cursor = static_cast<FunctionCursor*>(base);
        cursor->at_end = !cursor->rows->next();
        ++cursor->row_id;
        return SQLITE_OK;
    });
}

int filter(sqlite3_vtab_cursor* base, int given, const char*, int, sqlite3_value** values) {
    const int code = guard_table(base->pVtab, [&] {
        auto* cursor = static_cast<FunctionCursor*>(base);
        const Module& module = static_cast<FunctionTable*>(base->pVtab)->module;
        cursor->rows.reset();
        cursor->arguments.clear();
        cursor->arguments.resize(module.spec.arguments.size());
        cursor->at_end = true;
        cursor->row_id = 0;
        std::vector<sqlite3_value*> arguments(cursor->arguments.size(), nullptr);
        for (size_t i = 0; i < arguments.size(); ++i) {
            if ((given & (1 << i)) == 0) continue;
            sqlite3_value* given_value = *values++;
            cursor->arguments[i].reset(sqlite3_value_dup(given_value));
            if (cursor->arguments[i] == nullptr) return SQLITE_NOMEM;
            arguments[i] = cursor->arguments[i].get();
            // A pointer looks like NULL and cannot be copied: it is there for the call alone.
            if (sqlite3_value_type(given_value) == SQLITE_NULL) arguments[i] = given_value;
        }
        cursor->rows = module.spec.call(module.connection, arguments);
        return SQLITE_OK;
    });
    return code == SQLITE_OK ? next_row(base) : code;
}

int at_end(sqlite3_vtab_cursor* base) {
    return static_cast<FunctionCursor*>(base)->at_end ? 1 : 0;
}

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int index) {
    const auto* cursor = static_cast<FunctionCursor*>(base);
    const auto columns = static_cast<int>(spec_of(base->pVtab).columns.size());
    if (index < columns) {
        guard_function(context, [&] { cursor->rows->column(context, index); });
    } else if (const auto& argument = cursor->arguments[static_cast<size_t>(index - columns)]) {
        sqlite3_result_value(context, argument.get());
    }
    return SQLITE_OK;
}

int row_id(sqlite3_vtab_cursor* base, sqlite3_int64* id) {
    *id = static_cast<FunctionCursor*>(base)->row_id;
    return SQLITE_OK;
}

// No xCreate: the table exists by its name alone.
const sqlite3_module kModule = [] {
    sqlite3_module module{};
    module.xConnect = connect;
    module.xBestIndex = best_index;
    module.xDisconnect = disconnect;
    module.xOpen = open_cursor;
    module.xClose = close_cursor;
    module.xFilter = filter;
    module.xNext = next_row;
    module.xEof = at_end;
    module.xColumn = column;
    module.xRowid = row_id;
    return module;
}();

std::array<std::span<const TableFunctionSpec>, 2> all_families() {
    return {interval_tables(), matching_tables()};
}

}  // namespace

int register_function_tables(Connection& connection) {
    for (const auto family : all_families()) {
        for (const TableFunctionSpec& spec : family) {
            const int code =
                sqlite3_create_module_v2(connection.db(), spec.name, &kModule, new Module{connection, spec},
                                         [](void* module) { delete static_cast<Module*>(module); });
            if (code != SQLITE_OK) return code;
        }
    }
    return SQLITE_OK;
}

std::vector<HelpEntry> function_table_help() {
    std::vector<HelpEntry> entries;
    for (const auto family : all_families()) {
        for (const TableFunctionSpec& spec : family) {
            std::string signature = spec.name + std::string("(");
            for (size_t i = 0; i < spec.arguments.size(); ++i) {
                const FunctionColumn& argument = spec.arguments[i];
                if (i > 0) signature += static_cast<int>(i) < spec.required ? ", " : " [, ";
                signature += std::string(argument.name) + ' ' + argument.type;
                if (i > 0 && static_cast<int>(i) >= spec.required) signature += ']';
            }
            signature += ") -> TABLE(";
            std::string doc = spec.doc;
            for (const FunctionColumn& column : spec.columns) {
                if (&column != spec.columns.data()) signature += ", ";
                signature += std::string(column.name) + ' ' + column.type;
                doc += '\n' + std::string(column.name) + ": " + column.doc;
            }
            for (const FunctionColumn& argument : spec.arguments) {
                doc += "\nargument " + std::string(argument.name) + ": " + argument.doc;
            }
            entries.push_back({spec.name, "table", signature + ')', doc});
        }
    }
    return entries;
}

}  // namespace profana
