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

// Calls leaf(place, value) for each leaf in file order; what is damaged is repaired and reported. Throws
// Error if the file has a form that is none of these.
using CommunicationLeaf = std::function<void(const CommunicationPlace& place, const JsonToken& value)>;
void read_communication(const std::string& path, LoadContext& context, const CommunicationLeaf& leaf);
void read_communication_matrix(const std::string& path, LoadContext& context, const CommunicationLeaf& leaf);

// The file's bytes, inflated, as valid JSON; damage is reported.
std::string read_whole_json(const std::string& path, LoadContext& context);

}  // namespace profana
