// Arguments of functions that take shapes: which may be left out, which may be NULL, and the two notations.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ext/core/shape.h"
#include "functions/arguments.h"

namespace profana {

struct Parameter {
    // kNeeded: must be given. kOptional: may be left out. For both NULL makes the result NULL.
    // kNullable: may be left out or NULL, which mean the same.
    enum Kind { kNeeded, kOptional, kNullable };
    const char* name;
    Kind kind = kNeeded;
};

class Arguments {
  public:
    // Throws an Error on a wrong number of arguments.
    Arguments(const char* function, std::initializer_list<Parameter> parameters, int count,
              sqlite3_value** values);

    // Whether NULL is the answer whatever the other arguments are.
    bool null_result() const;
    // Neither left out nor NULL.
    bool given(int i) const { return i < count_ && !is_null(values_[i]); }

    // Each throws an Error naming function, argument, value and what is accepted.
    std::string_view text(int i) const { return text_argument(at(i)); }
    int64_t integer(int i) const { return integer_argument(at(i)); }
    int64_t integer(int i, int64_t least) const;
    double real(int i) const { return real_argument(at(i)); }
    bool flag(int i) const;  // 0 or 1
    Shape shape(int i) const;
    std::vector<Shape> shapes(int i) const;
    std::vector<int64_t> integers(int i) const;
    std::optional<std::vector<int64_t>> optional_integers(int i) const;
    [[noreturn]] void refuse(int i, const std::string& accepted) const { profana::refuse(at(i), accepted); }

  private:
    Argument at(int i) const { return {function_, parameters_.begin()[i].name, values_[i]}; }
    std::string_view list_text(int i, const char* accepted) const;

    const char* function_;
    std::initializer_list<Parameter> parameters_;
    int count_;
    sqlite3_value** values_;
};

// Runs body(arguments), unless an argument makes the result NULL. Operands that do not fit each other get the
// function's name in front of what is wrong with them.
template <class Body>
void answer(sqlite3_context* context, int count, sqlite3_value** values, const char* function,
            std::initializer_list<Parameter> parameters, Body body) noexcept {
    guard_function(context, [&] {
        const Arguments arguments(function, parameters, count, values);
        if (arguments.null_result()) return;
        try {
            body(arguments);
        } catch (const ShapeError& error) {
            throw Error(std::string(function) + ": " + error.what());
        }
    });
}

}  // namespace profana
