// How well the matrix units were used: achieved rate, its share of the peak, and the peak itself.
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
};

}  // namespace

std::span<const FunctionSpec> mfu_functions() {
    return kFunctions;
}

}  // namespace profana
