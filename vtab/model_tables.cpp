#include "vtab/model_tables.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "vtab/model_specs.h"

namespace profana {

ModelSpec model_spec(Model model, const char* name, const char* doc, const char* sources,
                     std::vector<ColumnSpec> columns) {
    TableSpec out{name, doc, {}, {}};
    out.columns = {{"profile", ColumnType::kText, "alias given to profana_open"},
                   {"rank", ColumnType::kInt, "rank of the source; NULL: unknown"},
                   id_of("id", "counts rows in input order; unique in the profile", "")};
    out.columns.insert(out.columns.end(), columns.begin(), columns.end());
    out.sources = sources;
    out.over_profiles = true;
    return {model, std::move(out)};
}

ColumnSpec id_of(const char* name, const char* doc, const char* sources) {
    return {.name = name, .type = ColumnType::kInt, .doc = doc, .sources = sources, .is_id = true};
}

ColumnSpec source_row(const char* sources) {
    return {"source_row", ColumnType::kInt, "where the row comes from, to look it up", sources};
}

const std::vector<TableSpec>& model_specs() {
    static const auto* specs = [] {
        std::vector<ModelSpec> all = device_model_specs();
        for (ModelSpec& spec : host_model_specs()) all.push_back(std::move(spec));
        std::sort(all.begin(), all.end(),
                  [](const ModelSpec& a, const ModelSpec& b) { return a.first < b.first; });
        auto* out = new std::vector<TableSpec>;
        for (ModelSpec& spec : all) {
            if (static_cast<size_t>(spec.first) != out->size()) std::abort();  // one is missing
            out->push_back(std::move(spec.second));
        }
        return out;
    }();
    return *specs;
}

int model_column(Model model, const char* name) {
    const auto& columns = model_specs()[static_cast<size_t>(model)].columns;
    for (size_t c = kFirstModelColumn; c < columns.size(); ++c)
        if (std::strcmp(columns[c].name, name) == 0) return static_cast<int>(c) - kFirstModelColumn;
    std::abort();
}

std::shared_ptr<Table> make_model_table(Model model, Table::Loader loader) {
    const auto& columns = model_specs()[static_cast<size_t>(model)].columns;
    std::vector<ColumnType> types;
    for (size_t c = kFirstModelColumn; c < columns.size(); ++c) types.push_back(columns[c].type);
    return std::make_shared<Table>(std::move(types), std::move(loader));
}

}  // namespace profana
