// Files as streams of bytes: opened with care, read by pread, inflated when they are gzip.
//
// A path comes from a user and may be anything. It is looked at before it is opened, so that a FIFO never
// blocks and a device is never touched; what the descriptor turns out to be is checked again after opening.
#include "ext/core/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace profana {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
    throw file_error(path.empty() ? "(no file name)" : path, 0, what, ErrorKind::kCannotOpen);
}

bool is_link(const std::string& path) {
    struct stat info;
    return ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

[[noreturn]] void refuse_errno(const std::string& path, int error) {
    switch (error) {
        case ENOENT:
            if (is_link(path)) refuse(path, "is a symbolic link to a file that is not there; mend the link");
            refuse(path,
                   "no such file; check the path, relative ones start at the folder the program runs in");
        case ENOTDIR:
            refuse(path, "a part of the path is a file and not a folder; check the path");
        case EACCES:
        case EPERM:
            refuse(path, "no permission to read it; change its mode or run as a user who may");
        case ELOOP:
            refuse(path, "too many symbolic links; name the file itself");
        case ENAMETOOLONG:
            refuse(path, "the name is too long; check the path");
        case EMFILE:
        case ENFILE:
            refuse(path, "too many files are open; close some or raise the limit (ulimit -n)");
        default:
            refuse(path, std::string("cannot be opened (") + std::strerror(error) + "); check the path");
    }
}

// Throws unless it is a plain file.
void check_kind(const std::string& path, const struct stat& info) {
    if (S_ISREG(info.st_mode)) return;
    if (S_ISDIR(info.st_mode)) refuse(path, "is a folder; name the file in it");
    if (S_ISFIFO(info.st_mode))
        refuse(path, "is a pipe, which can be read only once; save it to a file first");
    if (S_ISSOCK(info.st_mode)) refuse(path, "is a socket; name a file");
    refuse(path, "is a device; name a file");
}

FileStamp make_stamp(const struct stat& info) {
    FileStamp stamp;
    stamp.device = info.st_dev;
    stamp.inode = info.st_ino;
    stamp.size = static_cast<uint64_t>(info.st_size);
    const auto ns = [](const timespec& time) { return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec; };
    stamp.mtime_ns = ns(info.st_mtim);
    stamp.ctime_ns = ns(info.st_ctim);
    return stamp;
}

// Throws unless there is a plain file.
void check_path(const std::string& path) {
    struct stat info;
    if (path.find('\0') != std::string::npos)
        refuse(path.c_str(), "the name has a NUL in it; check the path");
    if (::stat(path.c_str(), &info) != 0) refuse_errno(path, errno);
    check_kind(path, info);
}

// An open plain file.
class Descriptor {
  public:
    explicit Descriptor(const std::string& path) : path_(path) {
        check_path(path);
        struct stat info;
        // O_NONBLOCK: should a FIFO have taken the file's place meanwhile, opening it does not wait.
        do {
            fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        } while (fd_ < 0 && errno == EINTR);
        if (fd_ < 0) refuse_errno(path, errno);
        if (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) {
            const int error = errno;
            ::close(fd_);
            check_kind(path, info);
            refuse_errno(path, error);
        }
        size_ = static_cast<uint64_t>(info.st_size);
    }
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int fd() const { return fd_; }
    int release() { return std::exchange(fd_, -1); }
    uint64_t size() const { return size_; }

    // Up to n bytes at offset; fewer only at the file's end.
    size_t read(char* buffer, size_t n, uint64_t offset) const {
        return read_at(fd_, path_, buffer, n, offset);
    }

    static size_t read_at(int fd, const std::string& path, char* buffer, size_t n, uint64_t offset) {
        size_t got = 0;
        while (got < n) {
            const ssize_t part = ::pread(fd, buffer + got, n - got, static_cast<off_t>(offset + got));
            if (part == 0) break;
            if (part < 0 && errno == EINTR) continue;
            if (part < 0)
                throw file_error(path, 0,
                                 std::string("reading failed (") + std::strerror(errno) +
                                     "); check the disk or copy the file");
            got += static_cast<size_t>(part);
        }
        return got;
    }

  private:
    std::string path_;
    int fd_ = -1;
    uint64_t size_ = 0;
};

class PlainInput : public Input {
  public:
    PlainInput(const std::string& path, std::unique_ptr<Descriptor> file) : file_(std::move(file)) {
        path_ = path;
        size_on_disk_ = file_->size();
        ::posix_fadvise(file_->fd(), 0, 0, POSIX_FADV_SEQUENTIAL);
    }

    size_t read(char* buffer, size_t n) override {
        const size_t got = file_->read(buffer, n, offset_);
        offset_ += got;
        return got;
    }
    bool compressed() const override { return false; }

  private:
    std::unique_ptr<Descriptor> file_;
    uint64_t offset_ = 0;
};

constexpr unsigned char kGzipMagic[] = {0x1f, 0x8b};

// One or more gzip members, one after the other, with zero bytes allowed between and behind them (tapes and
// block devices pad so). zlib reads the headers, extra fields included, and checks length and sum.
class GzipInput : public Input {
  public:
    GzipInput(const std::string& path, std::unique_ptr<Descriptor> file, LoadContext& context)
        : file_(std::move(file)),
          progress_(context.progress),
          diagnostics_(context.diagnostics),
          limit_(context.max_inflated_bytes) {
        path_ = path;
        size_on_disk_ = file_->size();
        constexpr int kGzipOnly = 16;
        if (inflateInit2(&zlib_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
        compressed_.resize(kCompressedBytes);
    }
    ~GzipInput() override { inflateEnd(&zlib_); }

    size_t read(char* buffer, size_t n) override {
        size_t got = 0;
        while (got < n && !ended_) got += read_some(buffer + got, n - got);
        return got;
    }
    bool compressed() const override { return true; }

  private:
    static constexpr size_t kCompressedBytes = size_t{1} << 18;

    size_t read_some(char* buffer, size_t n) {
        if (!in_member_ && !next_member()) return 0;
        constexpr size_t kMost = size_t{1} << 30;  // zlib counts in 32 bits
        const auto room = static_cast<uInt>(std::min(n, kMost));
        zlib_.next_out = reinterpret_cast<Bytef*>(buffer);
        zlib_.avail_out = room;
        int code = Z_OK;
        while (code == Z_OK && zlib_.avail_out > 0) {
            if (zlib_.avail_in == 0 && !refill()) break;
            code = inflate(&zlib_, Z_NO_FLUSH);
        }
        const size_t got = room - zlib_.avail_out;
        inflated_ += got;
        if (limit_ > 0 && inflated_ > limit_) throw too_big();
        if (code == Z_STREAM_END) {
            in_member_ = false;
        } else if (code == Z_MEM_ERROR) {
            throw std::bad_alloc();
        } else if (code != Z_OK && code != Z_BUF_ERROR) {
            end_early("gzip_corrupt", std::string("the compressed data are damaged (") +
                                          (zlib_.msg != nullptr ? zlib_.msg : "unknown") + ")");
        } else if (zlib_.avail_out > 0) {
            end_early("gzip_truncated", "the compressed data end in the middle");
        }
        return got;
    }

    // Goes to the start of the next member; false: there is none.
    bool next_member() {
        for (;;) {
            if (zlib_.avail_in == 0 && !refill()) return end();
            if (*zlib_.next_in != 0) break;
            ++zlib_.next_in, --zlib_.avail_in;
        }
        if (*zlib_.next_in != kGzipMagic[0]) {
            report("gzip_trailing_bytes",
                   "bytes that are no gzip member follow the compressed data; left out");
            return end();
        }
        inflateReset(&zlib_);
        in_member_ = true;
        return true;
    }

    bool refill() {
        // A member may inflate to nothing at all: a read can take long without a byte to show for it.
        if (std::this_thread::get_id() == opener_) progress_.poll();
        if (progress_.cancelled()) throw Error("interrupted", ErrorKind::kInterrupted);
        const size_t got = file_->read(compressed_.data(), compressed_.size(), offset_);
        offset_ += got;
        zlib_.next_in = reinterpret_cast<Bytef*>(compressed_.data());
        zlib_.avail_in = static_cast<uInt>(got);
        return got > 0;
    }

    bool end() {
        ended_ = true;
        return false;
    }

    void end_early(const char* code, const std::string& what) {
        ended_ = true;
        const std::string place = what + " at byte " + std::to_string(offset_ - zlib_.avail_in) + " of " +
                                  std::to_string(size_on_disk_);
        if (inflated_ == 0)
            throw file_error(path_, 0,
                             "is a gzip file of which nothing can be read: " + place + "; copy it again");
        report(code, place + "; read up to there");
    }

    void report(const char* code, const std::string& message) {
        diagnostics_.add(
            {.file = path_, .offset = static_cast<int64_t>(inflated_), .code = code, .message = message});
    }

    Error too_big() const {
        return file_error(path_, 0,
                          "inflates to more than " + std::to_string(limit_) +
                              " bytes; if that is right, allow it by profana_set('max_inflated_size', ...)",
                          ErrorKind::kTooBig);
    }

    std::unique_ptr<Descriptor> file_;
    Progress& progress_;
    const std::thread::id opener_ = std::this_thread::get_id();  // that of the progress
    Diagnostics& diagnostics_;
    uint64_t limit_;
    z_stream zlib_{};
    std::vector<char> compressed_;
    uint64_t offset_ = 0;    // in the compressed file, of what is read next
    uint64_t inflated_ = 0;  // bytes handed out
    bool in_member_ = false, ended_ = false;
};

}  // namespace

FileStamp stamp_file(const std::string& path) {
    struct stat info;
    if (::stat(path.c_str(), &info) != 0) refuse_errno(path, errno);
    return make_stamp(info);
}

FileStamp stamp_if_there(const std::string& path) {
    struct stat info;
    return ::stat(path.c_str(), &info) == 0 ? make_stamp(info) : FileStamp();
}

Error file_changed(const std::string& path) {
    return file_error(path, 0, "has changed since it was first read; run the query again");
}

void refuse_unreadable(const std::string& path) {
    check_path(path);
    // Other errors than this one old container run-times give for the call itself: opening the file will
    // tell.
    if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0 && errno == EACCES)
        refuse_errno(path, errno);
}

std::unique_ptr<Input> Input::open(const std::string& path, LoadContext& context) {
    auto file = std::make_unique<Descriptor>(path);
    unsigned char head[3] = {};
    const size_t got = file->read(reinterpret_cast<char*>(head), sizeof head, 0);
    constexpr unsigned char kDeflate = 8;
    const bool gzip = got >= sizeof kGzipMagic && std::memcmp(head, kGzipMagic, sizeof kGzipMagic) == 0 &&
                      (got == sizeof kGzipMagic || head[2] == kDeflate);
    if (gzip) return std::make_unique<GzipInput>(path, std::move(file), context);
    return std::make_unique<PlainInput>(path, std::move(file));
}

std::string read_small_file(const std::string& path, LoadContext& context) {
    constexpr size_t kBlock = size_t{1} << 18, kLongest = size_t{1} << 30;
    const auto input = Input::open(path, context);
    std::string bytes;
    const auto check = [&](uint64_t size) {
        if (size > kLongest)
            throw file_error(path, 0, "longer than 1 GiB, as no file of its kind is; check the path");
    };
    check(input->size_on_disk());
    for (size_t got = kBlock; got > 0;) {
        context.poll();
        const size_t before = bytes.size();
        bytes.resize(before + kBlock);
        got = input->read(bytes.data() + before, kBlock);
        bytes.resize(before + got);
        check(bytes.size());
    }
    return bytes;
}

RandomFile::RandomFile(const std::string& path) : fd_(-1), path_(path) {
    fd_ = Descriptor(path).release();
}

RandomFile::~RandomFile() {
    ::close(fd_);
}

FileStamp RandomFile::stamp() const {
    struct stat info;
    return ::fstat(fd_, &info) == 0 ? make_stamp(info) : FileStamp();
}

std::string RandomFile::read(uint64_t offset, size_t n) const {
    std::string out(n, '\0');
    out.resize(Descriptor::read_at(fd_, path_, out.data(), n, offset));
    return out;
}

}  // namespace profana
