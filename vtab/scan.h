// One scan of a table, from xFilter to the last xNext: chooses the parts, loads what they need and gives
// their rows, one part after the other or merged in the promised order.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vtab/part_directory.h"
#include "vtab/part_scan.h"
#include "vtab/plan.h"

namespace profana {

class Connection;
class Profile;

// The parts that a scan has to do with, and under which circumstances these are they.
struct ChosenParts {
    ChosenParts(const TableSpec& spec, std::vector<Part> chosen)
        : parts(std::move(chosen)), directory(spec, parts) {}

    const std::vector<Part> parts;  // pins their tables
    PartDirectory directory;
    ScanRequest request;
    uint64_t settings_revision = 0, scan_run = 0;
    std::vector<std::shared_ptr<Profile>> profiles;
    std::chrono::steady_clock::time_point chosen_at;
};

// What the open scans of one virtual table share.
struct ScanCommon {
    Dictionary texts;                     // of constant columns
    std::shared_ptr<ChosenParts> chosen;  // last
};

class Scan {
  public:
    Scan(Connection& connection, TableProvider& provider, const TableSpec& spec,
         std::shared_ptr<ScanCommon> common);
    ~Scan();
    Scan(const Scan&) = delete;
    Scan& operator=(const Scan&) = delete;

    // arguments: an operand for each term of the plan.
    void filter(const char* plan_text, sqlite3_value** arguments);
    bool at_end() const { return current_ == nullptr; }
    void next() {
        const bool more = current_->next(*context_);
        if (!more || merging_ || skipping_) advance(more);
    }
    void column(sqlite3_context* context, int column);
    int64_t row_id();

  private:
    void choose_plan(const char* text);
    bool look_up_id(sqlite3_value** arguments);
    void read_request(sqlite3_value** arguments);
    void check_request() const;
    void choose_parts(sqlite3_value** arguments);
    std::shared_ptr<ChosenParts> parts_asked_for();
    bool still_holds(const ChosenParts& chosen) const;
    PartScan& scan_of(uint32_t part);
    void load_parts();
    void begin();
    void advance(bool more);
    void first_of_live();
    bool comes_later(const PartScan* a, const PartScan* b) const;
    bool is_repeated();

    Connection& connection_;
    TableProvider& provider_;
    const TableSpec& spec_;
    std::shared_ptr<ScanCommon> common_;
    std::optional<LoadContext> context_;

    struct KnownPlan {
        const char* text;  // SQLite keeps it for as long as the cursor lives
        std::unique_ptr<Plan> plan;
        int id_lookup;
        PartDirectory::Terms part_terms;
    };
    std::vector<KnownPlan> plans_;
    const Plan* plan_ = nullptr;
    PartDirectory::Terms part_terms_;  // of the plan
    // The plan is profile = ? AND id = ?, as in many a join: the place of the profile, 0 or 1; -1: it is
    // another.
    int id_lookup_ = -1;

    ScanRequest asked_;  // by the filter at hand
    std::shared_ptr<ChosenParts> chosen_;
    std::vector<std::unique_ptr<PartScan>> scans_;  // by part; made for those that are looked at
    std::vector<const Plan*> loaded_for_;           // by part

    std::vector<PartScan*>
        live_;            // parts that may have rows; while merging a heap of those that still have some
    size_t live_at_ = 0;  // while not merging: the one at hand
    PartScan* current_ = nullptr;
    bool merging_ = false, skipping_ = false;
    std::vector<Cell> last_;  // while skipping: the order's columns of the row before
};

}  // namespace profana
