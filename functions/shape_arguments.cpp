#include "functions/shape_arguments.h"

namespace profana {

Arguments::Arguments(const char* function, std::initializer_list<Parameter> parameters, int count,
                     sqlite3_value** values)
    : function_(function), parameters_(parameters), count_(count), values_(values) {
    int least = 0;
    std::string list;
    for (const Parameter& parameter : parameters) {
        const bool needed = parameter.kind == Parameter::kNeeded;
        least += needed ? 1 : 0;
        list += std::string(list.empty() ? "" : ", ") + (needed ? "" : "[") + parameter.name +
                (needed ? "" : "]");
    }
    if (count < least || count > static_cast<int>(parameters.size()))
        throw Error(std::string(function) + ": takes (" + list + "), " + std::to_string(count) +
                    " arguments given");
}

bool Arguments::null_result() const {
    for (int i = 0; i < count_; ++i)
        if (parameters_.begin()[i].kind != Parameter::kNullable && is_null(values_[i])) return true;
    return false;
}

int64_t Arguments::integer(int i, int64_t least) const {
    const int64_t value = integer(i);
    if (value < least) refuse(i, "an INTEGER of at least " + std::to_string(least));
    return value;
}

bool Arguments::flag(int i) const {
    const int64_t value = integer(i);
    if (value != 0 && value != 1) refuse(i, "0 or 1");
    return value == 1;
}

// A single number is a list of one, so INTEGER will do.
std::string_view Arguments::list_text(int i, const char* accepted) const {
    const int type = sqlite3_value_type(values_[i]);
    if (type != SQLITE_TEXT && type != SQLITE_INTEGER) refuse(i, accepted);
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values_[i]));
    if (text == nullptr) throw std::bad_alloc();
    return {text, static_cast<size_t>(sqlite3_value_bytes(values_[i]))};
}

Shape Arguments::shape(int i) const {
    constexpr const char* kAccepted = "a shape, as '[32,1024]' or '32,1024'";
    std::string why;
    auto shape = parse_shape(list_text(i, kAccepted), &why);
    if (!shape) refuse(i, std::string(kAccepted) + " (" + why + ")");
    return std::move(*shape);
}

std::vector<Shape> Arguments::shapes(int i) const {
    constexpr const char* kAccepted = "shapes, as '[[2,3],[3,4]]' or '2,3;3,4'";
    std::string why;
    auto shapes = parse_shapes(list_text(i, kAccepted), &why);
    if (!shapes) refuse(i, std::string(kAccepted) + " (" + why + ")");
    return std::move(*shapes);
}

std::vector<int64_t> Arguments::integers(int i) const {
    constexpr const char* kAccepted = "integers, as '[4,4,10]' or '4,4,10'";
    std::string why;
    auto values = parse_integers(list_text(i, kAccepted), &why);
    if (!values) refuse(i, std::string(kAccepted) + " (" + why + ")");
    return std::move(*values);
}

std::optional<std::vector<int64_t>> Arguments::optional_integers(int i) const {
    if (!given(i)) return std::nullopt;
    return integers(i);
}

}  // namespace profana
