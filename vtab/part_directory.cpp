#include "vtab/part_directory.h"

#include <numeric>

#include "ext/core/numeric_texts.h"
#include "vtab/operand.h"

namespace profana {
namespace {

constexpr size_t kProfile = 0, kRank = 1;  // columns of tables over profiles

// The ids of a source are the 2^32 from its id_base on.
uint64_t source_of(int64_t id) {
    return (static_cast<uint64_t>(id) - 1) >> 32;
}

template <class Map, class Key>
std::span<const uint32_t> found_in(const Map& numbers, Key key) {
    const auto found = numbers.find(key);
    if (found == numbers.end()) return {};
    return found->second;
}

}  // namespace

PartDirectory::Terms PartDirectory::terms(const TableSpec& spec, const Plan& plan) {
    Terms out;
    for (size_t i = 0; i < plan.terms.size(); ++i) {
        const PlanTerm& term = plan.terms[i];
        const auto column = static_cast<size_t>(term.column);
        if ((term.op != Op::kEqual && term.op != Op::kIs) || term.column < 0 || column >= spec.columns.size())
            continue;
        if (column == kProfile) out.profile = static_cast<int>(i);
        if (column == kRank) out.rank = static_cast<int>(i);
        if (spec.columns[column].is_id) out.id = static_cast<int>(i);
    }
    return out;
}

PartDirectory::PartDirectory(const TableSpec& spec, const std::vector<Part>& parts)
    : all_(parts.size()), tells_profiles_(spec.over_profiles) {
    std::iota(all_.begin(), all_.end(), 0U);
    if (!tells_profiles_) return;
    for (const uint32_t number : all_) {
        const Part& part = parts[number];
        const Part::Constant &alias = part.constants[kProfile], &rank = part.constants[kRank];
        double unused = 0;  // such an alias may equal another text or a number
        if (looks_numeric(alias.text, &unused)) tells_profiles_ = false;
        OfProfile& profile = profiles_.get(alias.text);
        profile.all.push_back(number);
        if (!rank.null) profile.by_rank[rank.integer].push_back(number);
        profile.by_source[source_of(part.id_base)].push_back(number);
    }
}

std::span<const uint32_t> PartDirectory::find(const Terms& terms, sqlite3_value** operands) {
    const auto is = [&](int term, int type) {
        return term >= 0 && sqlite3_value_type(operands[term]) == type;
    };
    if (!tells_profiles_ || !is(terms.profile, SQLITE_TEXT)) return all_;
    const OfProfile* profile = profiles_.find(text_of(operands[terms.profile]));
    if (profile == nullptr) return {};
    if (is(terms.id, SQLITE_INTEGER))
        return found_in(profile->by_source, source_of(sqlite3_value_int64(operands[terms.id])));
    if (is(terms.rank, SQLITE_INTEGER))
        return found_in(profile->by_rank, sqlite3_value_int64(operands[terms.rank]));
    return profile->all;
}

std::optional<uint32_t> PartDirectory::part_of(std::string_view profile, int64_t id) {
    const OfProfile* found = profiles_.find(profile);
    if (found == nullptr) return std::nullopt;
    const auto numbers = found_in(found->by_source, source_of(id));
    if (numbers.size() != 1) return std::nullopt;
    return numbers.front();
}

}  // namespace profana
