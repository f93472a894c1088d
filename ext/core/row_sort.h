// Stable sorting of rows by unsigned keys, interruptibly and in linear time: what indexes and orders are made
// of.
#pragma once

#include <cstdint>
#include <vector>

#include "ext/core/store.h"

namespace profana {

// A row and what it is sorted by.
struct KeyedRow {
    uint64_t key;
    Row row;
};

// Sorts by key; equal keys stay in their order.
void sort_rows(PageVector<KeyedRow>& rows, LoadContext& context);

// The rows of an integer column by value, NULL first, equal values in their order; empty: as they stand. A
// few sorted stretches, as of tables read one behind the other, are merged.
PageVector<Row> rows_by_value(const Column& column, LoadContext& context);

// Polls the context once in a while: for loops over many rows.
class LoopPoll {
  public:
    explicit LoopPoll(LoadContext& context) : context_(context) {}
    void tick() {
        if ((++ticks_ & 0xFFFFF) == 0) context_.poll();
    }

  private:
    LoadContext& context_;
    uint64_t ticks_ = 0;
};

}  // namespace profana
