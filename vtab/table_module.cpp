#include "vtab/table_module.h"

#include <cstring>

#include "ext/connection.h"

namespace profana {
namespace {

struct Registration {
    Connection* connection;
    TableSpec spec;
    std::unique_ptr<TableProvider> provider;
};

struct Vtab : sqlite3_vtab {
    Registration* registration = nullptr;
};

struct Cursor : sqlite3_vtab_cursor {
    std::vector<Part> parts;
    size_t part = 0;
    Row row = 0;
    std::vector<std::string> arguments;
    std::vector<bool> given;
};

const char* sql_type(ColumnType type) {
    switch (type) {
        case ColumnType::kInt:
            return " INTEGER";
        case ColumnType::kReal:
            return " REAL";
        case ColumnType::kText:
        case ColumnType::kLong:
            return " TEXT";
        case ColumnType::kAny:
            break;
    }
    return "";
}

Registration& registration_of(sqlite3_vtab* table) {
    return *static_cast<Vtab*>(table)->registration;
}

int connect(sqlite3* db, void* aux, int, const char* const*, sqlite3_vtab** out, char**) {
    auto& registration = *static_cast<Registration*>(aux);
    std::string sql = "CREATE TABLE x(";
    const char* between = "";
    for (const ColumnSpec& column : registration.spec.columns) {
        sql += std::string(between) + "\"" + column.name + "\"" + sql_type(column.type) +
               (column.hidden ? " HIDDEN" : "");
        between = ", ";
    }
    for (const ColumnSpec& column : registration.spec.arguments)
        sql += std::string(", \"") + column.name + "\"" + sql_type(column.type) + " HIDDEN";
    const int code = sqlite3_declare_vtab(db, (sql + ")").c_str());
    if (code != SQLITE_OK) return code;
    sqlite3_vtab_config(db, registration.spec.reads_files ? SQLITE_VTAB_DIRECTONLY : SQLITE_VTAB_INNOCUOUS);
    auto* table = new Vtab;
    std::memset(static_cast<sqlite3_vtab*>(table), 0, sizeof(sqlite3_vtab));
    table->registration = &registration;
    *out = table;
    return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
    delete static_cast<Vtab*>(table);
    return SQLITE_OK;
}

// idxStr: the argument columns in order ('0' + n), 'p' for the profile; then the used columns.
int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
    const Registration& registration = registration_of(table);
    const int columns = static_cast<int>(registration.spec.columns.size());
    std::string plan;
    int given = 0;
    for (int i = 0; i < info->nConstraint; ++i) {
        const auto& constraint = info->aConstraint[i];
        if (constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        const bool argument = constraint.iColumn >= columns;
        if (argument && constraint.usable == 0) return SQLITE_CONSTRAINT;
        if (constraint.usable == 0) continue;
        if (!argument && !(registration.spec.over_profiles && constraint.iColumn == 0)) continue;
        info->aConstraintUsage[i].argvIndex = ++given;
        info->aConstraintUsage[i].omit = argument;
        plan += argument ? static_cast<char>('0' + constraint.iColumn - columns) : 'p';
    }
    info->estimatedRows =
        static_cast<sqlite3_int64>(registration.provider->expected_rows(*registration.connection));
    info->estimatedCost = static_cast<double>(info->estimatedRows);
    info->idxStr = sqlite3_mprintf("%s:%llx", plan.c_str(), static_cast<unsigned long long>(info->colUsed));
    info->needToFreeIdxStr = 1;
    return SQLITE_OK;
}

int open(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
    *out = new Cursor;
    return SQLITE_OK;
}

int close(sqlite3_vtab_cursor* cursor) {
    delete static_cast<Cursor*>(cursor);
    return SQLITE_OK;
}

void skip_empty(Cursor& cursor) {
    while (cursor.part < cursor.parts.size() && cursor.row >= cursor.parts[cursor.part].table->rows()) {
        ++cursor.part;
        cursor.row = 0;
    }
}

int filter(sqlite3_vtab_cursor* base, int, const char* plan, int count, sqlite3_value** values) {
    return guard_table(base->pVtab, [&] {
        auto& cursor = *static_cast<Cursor*>(base);
        Registration& registration = registration_of(base->pVtab);
        ScanRequest request;
        request.arguments.resize(registration.spec.arguments.size());
        request.given.resize(registration.spec.arguments.size());
        std::string profile;
        for (int i = 0; i < count; ++i) {
            const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values[i]));
            if (plan[i] == 'p') {
                profile = text == nullptr ? "" : text;
                request.profile = &profile;
            } else {
                request.arguments[plan[i] - '0'] = text == nullptr ? "" : text;
                request.given[plan[i] - '0'] = text != nullptr;
            }
        }
        const uint64_t used = std::strtoull(std::strchr(plan, ':') + 1, nullptr, 16);
        LoadContext context = registration.connection->load_context();
        cursor.parts = registration.provider->parts(*registration.connection, request);
        for (Part& part : cursor.parts) {
            ColumnSet wanted;
            for (size_t c = 0; c < part.columns.size(); ++c)
                if (part.columns[c] >= 0 && ((used >> std::min<size_t>(c, 63)) & 1) != 0)
                    wanted.add(part.columns[c]);
            part.table->ensure_rows(context);
            part.table->ensure(wanted, context);
        }
        cursor.arguments = request.arguments;
        cursor.given = request.given;
        cursor.part = 0;
        cursor.row = 0;
        skip_empty(cursor);
        return SQLITE_OK;
    });
}

int next(sqlite3_vtab_cursor* base) {
    auto& cursor = *static_cast<Cursor*>(base);
    ++cursor.row;
    skip_empty(cursor);
    return SQLITE_OK;
}

int eof(sqlite3_vtab_cursor* base) {
    const auto& cursor = *static_cast<Cursor*>(base);
    return cursor.part >= cursor.parts.size() ? 1 : 0;
}

void result(sqlite3_context* context, const Column& column, Row row) {
    if (column.is_null(row)) return;
    switch (column.type()) {
        case ColumnType::kInt:
            return sqlite3_result_int64(context, column.integer(row));
        case ColumnType::kReal:
            return sqlite3_result_double(context, column.real(row));
        case ColumnType::kText:
            return sqlite3_result_text(context, column.dictionary().c_str(column.code(row)), -1,
                                       SQLITE_STATIC);
        case ColumnType::kAny: {
            const AnyValue& value = column.any(row);
            if (value.kind == AnyValue::kInteger) return sqlite3_result_int64(context, value.integer);
            if (value.kind == AnyValue::kDouble) return sqlite3_result_double(context, value.real);
            return sqlite3_result_text(context, column.dictionary().c_str(value.code), -1, SQLITE_STATIC);
        }
        case ColumnType::kLong: {
            const std::string text = column.long_text(row);
            return sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
        }
    }
}

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int c) {
    return guard_table(base->pVtab, [&] {
        const auto& cursor = *static_cast<Cursor*>(base);
        const Part& part = cursor.parts[cursor.part];
        const int columns = static_cast<int>(part.columns.size());
        if (c >= columns) {
            if (cursor.given[c - columns])
                sqlite3_result_text(context, cursor.arguments[c - columns].c_str(), -1, SQLITE_TRANSIENT);
            return SQLITE_OK;
        }
        if (part.columns[c] == Part::kRowId) {
            sqlite3_result_int64(context, part.id_base + cursor.row);
        } else if (part.columns[c] == Part::kConstant) {
            const Part::Constant& constant = part.constants[c];
            if (constant.null) return SQLITE_OK;
            if (constant.is_text) {
                sqlite3_result_text(context, constant.text.c_str(), -1, SQLITE_TRANSIENT);
            } else {
                sqlite3_result_int64(context, constant.integer);
            }
        } else if (!part.table->absent(part.columns[c])) {
            result(context, part.table->column(part.columns[c]), cursor.row);
        }
        return SQLITE_OK;
    });
}

int rowid(sqlite3_vtab_cursor* base, sqlite3_int64* out) {
    const auto& cursor = *static_cast<Cursor*>(base);
    *out = (static_cast<sqlite3_int64>(cursor.part) << 32) + cursor.row;
    return SQLITE_OK;
}

const sqlite3_module kModule = [] {
    sqlite3_module module{};
    module.iVersion = 1;
    module.xConnect = connect;
    module.xBestIndex = best_index;
    module.xDisconnect = disconnect;
    module.xOpen = open;
    module.xClose = close;
    module.xFilter = filter;
    module.xNext = next;
    module.xEof = eof;
    module.xColumn = column;
    module.xRowid = rowid;
    return module;
}();

}  // namespace

int register_table(Connection& connection, const TableSpec& spec, std::unique_ptr<TableProvider> provider) {
    auto* registration = new Registration{&connection, spec, std::move(provider)};
    const int code = sqlite3_create_module_v2(connection.db(), spec.name, &kModule, registration,
                                              [](void* owned) { delete static_cast<Registration*>(owned); });
    if (code != SQLITE_OK || spec.alias == nullptr) return code;
    return sqlite3_create_module_v2(connection.db(), spec.alias, &kModule, registration, nullptr);
}

}  // namespace profana
