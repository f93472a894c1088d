// How well the matrix units were used: achieved rate, its share of the peak, and the peak itself.
#include <memory>
#include <optional>
#include <string>

#include "ext/registry.h"
#include "functions/shape_arguments.h"

namespace profana {
namespace {

// flops / (dur_ns * 1e-9), in this order of operations, so that the last digits are those of the reference.
// NULL for a time that is not positive: a rate needs time.
void actual_tflops(sqlite3_context* context, int count, sqlite3_value** values) {
    answer(context, count, values, "actual_tflops", {{"flops"}, {"dur_ns"}}, [&](const Arguments& in) {
        const double flops = in.real(0), dur_ns = in.real(1);
        if (dur_ns > 0) sqlite3_result_double(context, flops / (dur_ns * 1e-9) / 1e12);
    });
}

void mfu(sqlite3_context* context, int count, sqlite3_value** values) {
    answer(context, count, values, "mfu", {{"flops"}, {"dur_ns"}, {"peak_flops"}}, [&](const Arguments& in) {
        const double flops = in.real(0), dur_ns = in.real(1), peak = in.real(2);
        if (dur_ns > 0 && peak > 0) sqlite3_result_double(context, flops / (dur_ns * 1e-9) / peak);
    });
}

// One value of one row; NULL where there is none.
std::optional<double> one_number(sqlite3* db, const char* sql,
                                 std::initializer_list<std::string_view> texts) {
    sqlite3_stmt* statement = nullptr;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, nullptr);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> owner(statement, sqlite3_finalize);
    int parameter = 0;
    for (const std::string_view text : texts)
        if (code == SQLITE_OK)
            code = sqlite3_bind_text(statement, ++parameter, text.data(), static_cast<int>(text.size()),
                                     SQLITE_TRANSIENT);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    if (code == SQLITE_INTERRUPT) throw Error("interrupted", ErrorKind::kInterrupted);
    if (code == SQLITE_NOMEM) throw std::bad_alloc();
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        throw Error(std::string("chip_peak: ") + sqlite3_errmsg(db) +
                    " (SELECT profana_install_views() brings the tables of chips back)");
    if (code == SQLITE_DONE || sqlite3_column_type(statement, 0) == SQLITE_NULL) return std::nullopt;
    return sqlite3_column_double(statement, 0);
}

constexpr const char* kPeakOfProfiles =
    "SELECT min(peak_flops) FROM temp.rank_peak"
    " WHERE dtype = (SELECT dtype FROM temp.dtype_names WHERE name = lower(trim(?1)))"
    " HAVING min(peak_flops) = max(peak_flops)";

constexpr const char* kPeakOfChip =
    "SELECT p.dense_flops_per_s FROM temp.chip_peaks AS p"
    " WHERE p.dtype = (SELECT dtype FROM temp.dtype_names WHERE name = lower(trim(?1)))"
    "   AND p.chip = coalesce((SELECT c.chip FROM temp.chip_peaks AS c WHERE c.chip = ?2 COLLATE NOCASE),"
    "                         (SELECT n.chip FROM temp.chip_names AS n WHERE lower(?2) GLOB n.pattern"
    "                           ORDER BY length(n.pattern) DESC LIMIT 1))";

// The answer for arguments that stay the same through a statement.
struct KnownPeak {
    std::string dtype, chip;
    std::optional<double> peak;
};

void chip_peak(sqlite3_context* context, int count, sqlite3_value** values) {
    answer(context, count, values, "chip_peak", {{"dtype"}, {"chip", Parameter::kOptional}},
           [&](const Arguments& in) {
               const std::string_view dtype = in.text(0), chip = count == 2 ? in.text(1) : std::string_view();
               auto* known = static_cast<KnownPeak*>(sqlite3_get_auxdata(context, 0));
               if (known == nullptr || known->dtype != dtype || known->chip != chip) {
                   sqlite3* db = sqlite3_context_db_handle(context);
                   auto fresh = std::make_unique<KnownPeak>(
                       KnownPeak{std::string(dtype), std::string(chip), std::nullopt});
                   fresh->peak = count == 2 ? one_number(db, kPeakOfChip, {dtype, chip})
                                            : one_number(db, kPeakOfProfiles, {dtype});
                   if (fresh->peak) sqlite3_result_double(context, *fresh->peak);
                   sqlite3_set_auxdata(context, 0, fresh.release(),
                                       [](void* kept) { delete static_cast<KnownPeak*>(kept); });
                   return;
               }
               if (known->peak) sqlite3_result_double(context, *known->peak);
           });
}

constexpr FunctionSpec kFunctions[] = {
    {"actual_tflops", -1, kPure, "actual_tflops(flops, dur_ns) -> REAL",
     "Achieved rate in 10^12 operations a second: flops / (dur_ns * 1e-9) / 1e12. NULL for NULL, or a time "
     "that is "
     "not positive.",
     actual_tflops},
    {"mfu", -1, kPure, "mfu(flops, dur_ns, peak_flops) -> REAL",
     "Share of the peak that was achieved, 1 = all of it: flops / (dur_ns * 1e-9) / peak_flops, the peak in "
     "operations "
     "a second. NULL for NULL, or a time or peak that is not positive.",
     mfu},
    {"chip_peak", -1, 0, "chip_peak(dtype TEXT [, chip TEXT]) -> REAL",
     "Dense peak of the matrix units for a data type under any of its names (DT_BF16, c10::BFloat16, float), "
     "in "
     "operations a second. With a chip (Ascend910B3, NVIDIA A100-SXM4-80GB, H100): from the table "
     "chip_peaks. Without: of "
     "the chip of the open profiles, from info.json or chip_peaks as rank_peak says; NULL where they differ. "
     "NULL where "
     "type or chip are not known. It looks into tables at each call whose type differs: over many rows join "
     "rank_peak.",
     chip_peak},
};

}  // namespace

std::span<const FunctionSpec> mfu_functions() {
    return kFunctions;
}

}  // namespace profana
