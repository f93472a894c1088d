// What belongs to one database connection: open profiles, settings, diagnostics, loaded files.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ext/core/diagnostics.h"
#include "ext/core/input.h"
#include "ext/core/progress.h"
#include "ext/core/store.h"
#include "ext/registry.h"
#include "ext/sqlite.h"

namespace profana {

class Profile;  // vtab/profile.h

// "8GB", "512MB", "1048576" or a share of the free memory such as "60%"; throws Error otherwise.
uint64_t parse_memory_size(const std::string& value);
uint64_t available_memory();  // bytes that our tables hold or may still get, the cgroup's limit considered

// Settings of profana_set, with their defaults and docs, are listed in connection.cpp.
class Settings {
  public:
    Settings();
    struct Setting {
        std::string name, value, fallback, doc;
    };
    // Throws Error for an unknown name or a value that it cannot take; the message lists what is accepted.
    void set(const std::string& name, const std::string& value);
    void reset(const std::string& name);
    const std::string& get(const std::string& name) const;
    int64_t integer(const std::string& name) const;
    const std::vector<Setting>& all() const { return settings_; }
    uint64_t revision() const { return revision_; }  // another one after every change

  private:
    std::vector<Setting> settings_;
    uint64_t revision_ = 0;
};

class Connection {
  public:
    explicit Connection(sqlite3* db);
    ~Connection();
    sqlite3* db() const { return db_; }

    // Every registered table, for profana_help.
    void add_table(HelpEntry entry) { table_help_.push_back(std::move(entry)); }
    const std::vector<HelpEntry>& tables() const { return table_help_; }

    Settings& settings() { return settings_; }
    Diagnostics& diagnostics() { return diagnostics_; }

    // Interruptible work on this connection: a Progress that asks SQLite, and a context for loaders.
    // Valid while the statement runs that asked for it.
    Progress& progress();
    LoadContext load_context();

    // Tables of raw files, by path and kind; read again when the file has changed. make() builds a new Table.
    std::shared_ptr<Table> cached_table(const std::string& key, const std::vector<std::string>& files,
                                        const std::function<std::shared_ptr<Table>()>& make);

    // Profiles by alias, in order of opening.
    std::vector<std::shared_ptr<Profile>>& profiles() { return profiles_; }
    std::shared_ptr<Profile> profile(const std::string& alias) const;  // nullptr: none

    // Cursors open on our tables. Files are looked at anew between statements: before the first of the
    // cursors that are open gives rows.
    int scans = 0;
    int cursors = 0;          // open, those that choose their parts included
    uint64_t scan_runs = 0;   // how often the first such cursor has been opened
    uint64_t looked_run = 0;  // the run in which profiles were looked at last
    std::map<std::string, std::shared_ptr<Table>> kept_rows;  // of profana_memo, by its arguments
    // Tables and texts of cursors that are closed, until there is none open.
    std::set<std::shared_ptr<const void>> pinned;
    FileStamp main_seen;  // the main database as it was when it was last looked at
    std::chrono::steady_clock::time_point main_locked_at;  // when that was in vain, for it was locked

  private:
    void read_faulty_again();
    void look_at(const std::string& file);

    sqlite3* db_;
    Settings settings_;
    Diagnostics diagnostics_;
    std::unique_ptr<Progress> progress_;
    struct Cached {
        std::vector<std::string> files;
        std::shared_ptr<Table> table;
    };
    std::map<std::string, Cached> tables_;
    std::map<std::string, FileStamp> seen_;  // their files as they were when last looked at
    std::vector<std::shared_ptr<Profile>> profiles_;
    std::vector<HelpEntry> table_help_;
};

// Gives the connection's state to SQLite, which frees it when the connection closes.
int hand_over(std::unique_ptr<Connection> connection);

// Of the function that is called.
inline Connection& connection_of(sqlite3_context* context) {
    return *static_cast<Connection*>(sqlite3_user_data(context));
}

}  // namespace profana
