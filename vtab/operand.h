// The right-hand sides of constraints: which values of a column can satisfy them, by SQLite's rules of
// affinity. An operand lives no longer than its sqlite3_value.
#pragma once

#include <string>

#include "ext/core/cell.h"
#include "ext/core/row_filter.h"
#include "ext/sqlite.h"

namespace profana {

// The text of a value, until it changes. std::bad_alloc: there is no memory for it.
std::string_view text_of(sqlite3_value* value);

class Operand {
  public:
    explicit Operand(sqlite3_value* value);
    bool null() const { return null_; }
    bool blob() const { return blob_; }
    // As it is: a number or a text; NULL where null() or blob().
    const Cell& given() const { return given_; }
    // As a number: itself, or what SQLite makes of a text that looks like one; NULL: no number. The text that
    // given() told before the first call is gone after it.
    const Cell& number() const {
        if (unread_ != nullptr) read_number();
        return number_;
    }

  private:
    void read_number() const;
    bool null_ = false, blob_ = false;
    mutable sqlite3_value* unread_ = nullptr;  // a text, until number() is asked for
    mutable Cell given_, number_;
    mutable std::string text_;  // of a text that was turned into a number
};

// Adds the values that may equal the operand: to a set for integers that are no column, or for a loaded,
// present column of a table. NULL and a blob equal nothing. guess: see Dictionary::find.
void admit_integer(const Operand& operand, ValueSet& set);
void admit(const Operand& operand, const Table& table, int column, uint32_t guess, LoadContext& context,
           ValueSet& set);

// Values that may satisfy `column OP operand` for >, >=, <, <=, as a closed interval. false: the operand says
// nothing.
enum class Bound { kAbove, kNotBelow, kBelow, kNotAbove };
bool narrow(Bound bound, const Operand& operand, int64_t* low, int64_t* high);
bool narrow(Bound bound, const Operand& operand, double* low, double* high);

}  // namespace profana
