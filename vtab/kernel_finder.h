// Finds the kernel that a device row is: rows of two files of one capture are the same work where they start
// at the same nanosecond and agree in name, or in stream and task.
#pragma once

#include <memory>
#include <vector>

#include "vtab/model_rows.h"

namespace profana {

class KernelFinder {
  public:
    // Columns of the kernel table that must be loaded.
    static ColumnSet columns();

    // `kernels` is a model table; collectives in it are left out. `device_names` are the names that find() is
    // asked for.
    KernelFinder(const Table& kernels, const Column& device_names);

    // The kernel that starts then and has that name (a code of device_names), or that stream and task; of
    // several the best match, then the last row. kNoParent: none.
    uint32_t find(int64_t start, uint32_t name, int64_t stream, int64_t task);
    // The last kernel that starts then.
    uint32_t starting(int64_t start) const;

  private:
    template <class F>
    void each_starting(int64_t start, F f) const;
    uint32_t kernel_code(uint32_t device_code);

    static constexpr uint32_t kUnknownCode = ~0u;
    const Column *start_, *stream_, *task_, *name_;
    const Column& device_names_;
    PageVector<Row> by_start_;
    PageVector<uint32_t> names_;
};

// id_base + row, NULL for kNoParent.
std::unique_ptr<Column> id_column(const PageVector<uint32_t>& rows, int64_t id_base);

}  // namespace profana
