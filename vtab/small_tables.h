// Rows of the small model tables that come out of JSON side files: devices, process groups, bandwidths of
// collectives.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vtab/json_file.h"
#include "vtab/model_rows.h"

namespace profana {

struct DeviceRow {
    std::optional<int64_t> id, cores, vector_cores, memory_bytes;
    std::optional<int64_t> entry;  // which of the file's list it is, from 1
    std::string chip;
    std::optional<double> mhz;
};

class DeviceRows {
  public:
    // `chip` names the chip whatever the file says; only `device` is taken, if it is given.
    DeviceRows(ModelRows& rows, std::string chip, std::optional<int64_t> device);
    void add(const DeviceRow& row);

  private:
    ModelRows& rows_;
    std::string chip_;
    std::optional<int64_t> device_;
};

class ProcessGroupRows {
  public:
    explicit ProcessGroupRows(ModelRows& rows);
    // Each group of the file's list, in its order.
    void add(const std::string& id, const std::string& name, std::optional<int64_t> own_rank,
             const std::vector<int64_t>& ranks);

  private:
    ModelRows& rows_;
};

// info.json.N of an Ascend device; a file that is there twice (several PROF folders) counts once.
void add_ascend_devices(const std::vector<std::string>& files, DeviceRows& rows, LoadContext& context);

// parallel_group_info of profiler_metadata.json: rows, and the groups' names by id.
void add_parallel_groups(const JsonFile& metadata, ProcessGroupRows& rows);
std::map<std::string, std::string> parallel_group_names(const JsonFile& metadata);

// communication.json: a row for each operation and transport.
void add_comm_bandwidths(const std::string& path, ModelRows& rows, LoadContext& context);

// What started the clock of a capture of 2023, whose times count from the start of the machine: to be added
// to them. 0: not known.
int64_t monotonic_offset_ns(const std::vector<std::string>& start_infos, LoadContext& context);

std::optional<int64_t> member_integer(simdjson::dom::element value, std::string_view key);
std::optional<double> member_real(simdjson::dom::element value, std::string_view key);
std::string member_text(simdjson::dom::element value, std::string_view key);
std::vector<int64_t> member_integers(simdjson::dom::element value, std::string_view key);

}  // namespace profana
