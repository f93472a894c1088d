// The state of an aggregate between its rows: a C++ object that SQLite's aggregate context points to.
#pragma once

#include <memory>
#include <utility>

#include "ext/sqlite.h"

namespace profana {

// In a step: the state, made by the first row.
template <class State>
State& aggregate_state(sqlite3_context* context) {
    auto** slot = static_cast<State**>(sqlite3_aggregate_context(context, sizeof(State*)));
    if (slot == nullptr) throw std::bad_alloc();
    if (*slot == nullptr) *slot = new State();
    return **slot;
}

// In a value: the state, or nullptr where no row made one.
template <class State>
State* aggregate_peek(sqlite3_context* context) {
    auto** slot = static_cast<State**>(sqlite3_aggregate_context(context, 0));
    return slot == nullptr ? nullptr : *slot;
}

// In the final: the same, and the state ends with the caller.
template <class State>
std::unique_ptr<State> aggregate_take(sqlite3_context* context) {
    auto** slot = static_cast<State**>(sqlite3_aggregate_context(context, 0));
    return std::unique_ptr<State>(slot == nullptr ? nullptr : std::exchange(*slot, nullptr));
}

}  // namespace profana
