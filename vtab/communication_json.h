// Reads communication.json and communication_matrix.json of every writer into one form: what stands at the
// leaves, and what the keys on the way to it say.
//
//   torch_npu, MindSpore   {step: {"p2p" | "collective": {"op@group": leaf}}}
//   msprof                 {"op@group": leaf}
//   cluster files          {group: {step: {op: {rank: leaf}}}}
//
// A leaf of the matrix stands one level deeper, under a link "src-dst".
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ext/core/json_token.h"
#include "ext/core/progress.h"

namespace profana {

// What the keys above a leaf say; empty and nullopt: they do not.
struct CommunicationPlace {
    std::optional<int64_t> step;
    std::string type;        // p2p, collective
    std::string name;        // operation without its group; 'Total Op Info' for a file's own sum
    std::string group_name;  // hash of the communicator
    std::string ranks;       // cluster files: the group as its ranks
    std::optional<int64_t> rank;
    std::optional<int64_t> source_rank, target_rank;  // of a link
};

// Of a file that is empty, no JSON, or has a form that is none of these: an error, or no leaf and a
// diagnostic.
enum class CommunicationFault { kError, kDiagnostic };

// Says that a value which is there is no number and counts as NULL.
void report_bad_number(const std::string& path, const CommunicationPlace& place, std::string_view key,
                       const JsonToken& value, Parsed parsed, LoadContext& context);

// Calls leaf(place, value) for each leaf in file order. What is damaged is repaired and reported; where that
// cannot be done, the leaves before it are read and what follows is reported as lost.
using CommunicationLeaf = std::function<void(const CommunicationPlace& place, const JsonToken& value)>;
void read_communication(const std::string& path, CommunicationFault fault, LoadContext& context,
                        const CommunicationLeaf& leaf);
void read_communication_matrix(const std::string& path, CommunicationFault fault, LoadContext& context,
                               const CommunicationLeaf& leaf);

}  // namespace profana
