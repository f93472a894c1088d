// The bytes of one file, read forward once: plain or gzip (by content, not by name; several members joined).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ext/core/progress.h"

namespace profana {

// What a path is, before anything is read. Identity and age tell whether a loaded table is still true.
struct FileStamp {
    uint64_t device = 0, inode = 0, size = 0;
    int64_t mtime_ns = 0, ctime_ns = 0;  // ctime tells a change that kept size and mtime
    bool operator==(const FileStamp&) const = default;
};
FileStamp stamp_file(const std::string& path);      // Error when there is no such file
FileStamp stamp_if_there(const std::string& path);  // all zero when there is none
Error file_changed(const std::string& path);        // what a reader throws whose file is not what it was

// The error of Input::open for what cannot be opened, without opening it: where the host has it open as its
// database, closing another descriptor of the file would drop the host's locks.
void refuse_unreadable(const std::string& path);

class Input {
  public:
    // Refuses, with an error that says what it is: a missing file, a folder, a FIFO or device, no permission.
    // An empty file is opened: only its reader knows whether that is wrong.
    static std::unique_ptr<Input> open(const std::string& path, LoadContext& context);
    virtual ~Input() = default;

    // Up to n bytes; 0 at the end. A truncated or corrupt gzip stream ends early, with a diagnostic
    // (codes gzip_truncated, gzip_corrupt). Any thread, one at a time.
    virtual size_t read(char* buffer, size_t n) = 0;
    virtual bool compressed() const = 0;
    uint64_t size_on_disk() const { return size_on_disk_; }
    const std::string& path() const { return path_; }

  protected:
    std::string path_;
    uint64_t size_on_disk_ = 0;
};

// All of a file whose kind is small; Error where it is longer than 1 GiB. Interruptible.
std::string read_small_file(const std::string& path, LoadContext& context);

// Reads n bytes at offset of a plain file, from any thread. For kLong columns. Fewer bytes come back when the
// file has become shorter.
class RandomFile {
  public:
    explicit RandomFile(const std::string& path);
    ~RandomFile();
    RandomFile(const RandomFile&) = delete;
    RandomFile& operator=(const RandomFile&) = delete;
    std::string read(uint64_t offset, size_t n) const;
    FileStamp stamp() const;

  private:
    int fd_;
    std::string path_;
};

}  // namespace profana
