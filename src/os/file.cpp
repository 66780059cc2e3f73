#include "os/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "os/thread.hpp"

namespace timeloom::os {
namespace {

// Programs that daemonise close descriptors 0 to 255 or so, and others rely on
// the lowest free number being given out; stay out of their way.
constexpr int kLowestDescriptor = 512;

// Do not wait for a FIFO, take a terminal as controlling terminal, or follow a link.
constexpr int kOpenToWrite = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

// A copy of `fd`, with a larger number if one is free. -1: it cannot be copied.
int copy_above(int fd) noexcept { return ::fcntl(fd, F_DUPFD_CLOEXEC, kLowestDescriptor); }

File open_file(int directory, const std::string& path, int flags, int* error) noexcept {
  const NotCancelled whole;
  int fd = -1;
  do {
    fd = ::openat(directory, path.c_str(), flags | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) {
    *error = errno;
    return File{};
  }
  *error = 0;
  const int moved = copy_above(fd);
  if (moved >= 0) {
    ::close(fd);
    fd = moved;
  }
  return File{fd};
}

File open_file(const std::string& path, int flags, int* error) noexcept {
  return open_file(AT_FDCWD, path, flags, error);
}

// The kernel answers a write beyond the limit of `ulimit -f` with SIGXFSZ, which
// ends a program that does not expect it; so we look before we write.
bool beyond_file_limit(std::uint64_t end) noexcept {
  struct rlimit limit {};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         end > limit.rlim_cur;
}

// In large writes, for which the kernel uses large folios if the file system has them:
// touching the pages then takes a quarter to a third of the time that it takes with a
// fault for each page.
int write_zeros(File& file, std::uint64_t offset, std::uint64_t length) noexcept {
  static std::array<std::byte, 64 << 10> zeros{};
  int error = 0;
  while (error == 0 && length > 0) {
    const std::uint64_t size = std::min<std::uint64_t>(length, zeros.size());
    error = file.write_at(offset, std::span(zeros).first(size));
    offset += size;
    length -= size;
  }
  return error;
}

void touch_pages(std::byte* data, std::size_t size) noexcept {
  constexpr std::size_t kPage = 4096;
  for (std::size_t i = 0; i < size; i += kPage) {
    volatile std::byte* byte = data + i;
    *byte = *byte;
  }
}

}  // namespace

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
    path_ = std::move(other.path_);
    device_ = other.device_;
    inode_ = other.inode_;
    marked_ = std::exchange(other.marked_, false);
  }
  return *this;
}

File::~File() { close(); }

void File::close() noexcept {
  const NotCancelled whole;
  if (fd_ >= 0 && is_ours()) ::close(fd_);
  fd_ = -1;
  marked_ = false;
}

bool File::is_ours() const noexcept {
  struct stat status {};
  return inode_ == 0 ||
         (::fstat(fd_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_);
}

// Allocates nothing: a helper thread that allocates nothing else would get a heap of its own.
int File::open_again() noexcept {
  if (is_ours()) return 0;
  if (path_.empty()) return EBADF;
  int error = 0;
  File again = open_file(path_, kOpenToWrite, &error);
  if (error != 0) return error;
  again.device_ = device_;
  again.inode_ = inode_;
  if (!again.is_ours()) return ENOENT;  // another file has its name by now
  fd_ = std::exchange(again.fd_, -1);   // the old number is another file's by now
  return marked_ ? mark_in_use() : 0;
}

File File::create_exclusive(const std::string& path, int* error) noexcept {
  File file = create_exclusive_at(AT_FDCWD, path, error);
  if (file.inode_ != 0) file.path_ = path;
  return file;
}

File File::create_exclusive_at(int directory, const std::string& name, int* error) noexcept {
  File file = open_file(directory, name, O_RDWR | O_CREAT | O_EXCL, error);
  if (*error == 0) file.remember();
  return file;
}

File File::copy_of(int fd, int* error) noexcept {
  int copy = copy_above(fd);
  if (copy < 0) copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  *error = copy >= 0 ? 0 : errno;
  File file{copy};
  if (*error == 0) file.remember();
  return file;
}

File File::in_memory(std::span<const std::byte> bytes, int* error) noexcept {
  File file{::memfd_create("timeloom", MFD_CLOEXEC)};
  *error = file.is_open() ? 0 : errno;
  if (*error != 0) return file;
  file.remember();
  *error = file.write_at(0, bytes);
  return file;
}

void File::remember() noexcept {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) return;
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

// O_NONBLOCK means nothing to a file, but a FIFO in its place would wait for a writer.
File File::open_read(const std::string& path, int* error) noexcept {
  return open_file(path, O_RDONLY | O_NONBLOCK, error);
}

File File::open_read_at(int directory, const std::string& name, int* error) noexcept {
  return open_file(directory, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, error);
}

File File::open_write_at(int directory, const std::string& name, int* error) noexcept {
  return open_file(directory, name, kOpenToWrite, error);
}

std::uint64_t File::size(int* error) const noexcept {
  struct stat status {};
  *error = ::fstat(fd_, &status) == 0 ? 0 : errno;
  return *error == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::optional<std::int64_t> File::changed_ns() const noexcept {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) return std::nullopt;
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

int File::write_at(std::uint64_t offset, std::span<const std::byte> bytes) noexcept {
  const NotCancelled whole;
  if (beyond_file_limit(offset + bytes.size())) return EFBIG;
  if (const int error = open_again(); error != 0) return error;
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return EIO;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return 0;
}

std::size_t File::read_at(std::uint64_t offset, std::span<std::byte> bytes,
                          int* error) const noexcept {
  const NotCancelled whole;
  std::size_t done = 0;
  *error = 0;
  while (done < bytes.size()) {
    const ssize_t n =
        ::pread(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) *error = errno;
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

std::uint64_t File::next_data(std::uint64_t offset, std::uint64_t end) const noexcept {
  const off_t found = ::lseek(fd_, static_cast<off_t>(offset), SEEK_DATA);
  if (found < 0) return errno == ENXIO ? end : offset;
  return std::min(std::max(static_cast<std::uint64_t>(found), offset), end);
}

std::uint64_t File::next_hole(std::uint64_t offset, std::uint64_t end) const noexcept {
  const off_t found = ::lseek(fd_, static_cast<off_t>(offset), SEEK_HOLE);
  return found < 0 ? end : std::min(std::max(static_cast<std::uint64_t>(found), offset), end);
}

int File::allocate(std::uint64_t offset, std::uint64_t length) noexcept {
  const NotCancelled whole;
  if (beyond_file_limit(offset + length)) return EFBIG;
  if (const int error = open_again(); error != 0) return error;
  int result = 0;
  do {
    result = ::posix_fallocate(fd_, static_cast<off_t>(offset), static_cast<off_t>(length));
  } while (result == EINTR);
  return result != 0 ? result : write_zeros(*this, offset, length);
}

int File::extend(std::uint64_t size) noexcept {
  return beyond_file_limit(size) ? EFBIG : truncate(size);
}

int File::truncate(std::uint64_t size) noexcept {
  const NotCancelled whole;
  if (const int error = open_again(); error != 0) return error;
  int result = 0;
  do {
    result = ::ftruncate(fd_, static_cast<off_t>(size)) == 0 ? 0 : errno;
  } while (result == EINTR);
  return result;
}

int File::sync() noexcept { return ::fsync(fd_) == 0 ? 0 : errno; }

int File::touch() noexcept {
  if (const int error = open_again(); error != 0) return error;
  return ::futimens(fd_, nullptr) == 0 ? 0 : errno;
}

int File::take_times_of(const File& other) noexcept {
  struct stat status {};
  if (::fstat(other.fd_, &status) != 0) return errno;
  if (const int error = open_again(); error != 0) return error;
  const struct timespec times[] = {status.st_atim, status.st_mtim};
  return ::futimens(fd_, times) == 0 ? 0 : errno;
}

int File::give_to(unsigned user) noexcept {
  if (const int error = open_again(); error != 0) return error;
  return ::fchown(fd_, user, static_cast<gid_t>(-1)) == 0 ? 0 : errno;
}

int File::take_rights_of(const File& other) noexcept {
  struct stat status {};
  if (::fstat(other.fd_, &status) != 0) return errno;
  const bool may_give = ::geteuid() == 0;
  if (may_give && ::fchown(fd_, status.st_uid, status.st_gid) != 0) return errno;
  return ::fchmod(fd_, status.st_mode & 0666) == 0 ? 0 : errno;
}

bool File::is_plain() const noexcept {
  struct stat status {};
  return ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
}

// Links the file of the descriptor, even if its name has become another file's.
int File::link_to(const std::string& path) const {
  if (!is_plain()) return EINVAL;
  const std::string self = "/proc/self/fd/" + std::to_string(fd_);
  if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) return 0;
  if (errno == EEXIST) return errno;
  int error = 0;
  File copy = create_exclusive(path, &error);
  std::vector<std::byte> part(1 << 20);
  for (std::uint64_t at = 0; error == 0;) {
    const std::size_t size = read_at(at, part, &error);
    if (size == 0) break;
    if (error == 0) error = copy.write_at(at, std::span(part).first(size));
    at += size;
  }
  return error;
}

int File::copy_from(const File& from, std::uint64_t from_offset, std::uint64_t offset,
                    std::uint64_t size) {
  const NotCancelled whole;
  if (beyond_file_limit(offset + size)) return EFBIG;
  for (auto in = static_cast<off_t>(from_offset), out = static_cast<off_t>(offset); size > 0;) {
    const ssize_t copied = ::copy_file_range(from.fd_, &in, fd_, &out, size, 0);
    if (copied < 0 && errno == EINTR) continue;
    if (copied == 0) return ENODATA;
    // Between file systems, and on systems that cannot do it, it is read and written below.
    if (copied < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)) return errno;
    if (copied < 0) break;
    size -= static_cast<std::uint64_t>(copied);
    from_offset += static_cast<std::uint64_t>(copied);
    offset += static_cast<std::uint64_t>(copied);
  }
  std::vector<std::byte> part(std::min<std::uint64_t>(size, 1 << 20));
  for (int error = 0; size > 0;) {
    const std::size_t wanted = std::min<std::uint64_t>(size, part.size());
    const std::size_t read = from.read_at(from_offset, std::span(part).first(wanted), &error);
    if (error == 0 && read == 0) error = ENODATA;
    if (error == 0) error = write_at(offset, std::span(part).first(read));
    if (error != 0) return error;
    size -= read;
    from_offset += read;
    offset += read;
  }
  return 0;
}

int File::try_lock() noexcept {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(fd_, F_OFD_SETLK, &lock) == 0) return 0;
  return errno == EACCES ? EAGAIN : errno;
}

// A lock of the open file, not of the process: a lock of the process would be lost as soon as
// it closes any descriptor of the file, as it does when it copies a run.
int File::mark_in_use() noexcept {
  marked_ = true;
  struct flock lock {};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(fd_, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

bool File::in_use() const noexcept {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(fd_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool File::removed() const noexcept {
  struct stat status {};
  return is_ours() && ::fstat(fd_, &status) == 0 && status.st_nlink == 0;
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  if (this != &other) {
    if (data_ != nullptr) ::munmap(data_, size_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

Mapping Mapping::map(const File& file, std::uint64_t offset, std::size_t size,
                     int* error) noexcept {
  Mapping mapping = map_later(file, offset, size, error);
  if (*error == 0) *error = touch(mapping.data_, size);
  return *error == 0 ? std::move(mapping) : Mapping{};
}

Mapping Mapping::map_later(const File& file, std::uint64_t offset, std::size_t size,
                           int* error) noexcept {
  Mapping mapping;
  void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(),
                         static_cast<off_t>(offset));
  *error = address == MAP_FAILED ? errno : 0;
  if (*error != 0) return mapping;
  mapping.data_ = static_cast<std::byte*>(address);
  mapping.size_ = size;
  return mapping;
}

int Mapping::touch(std::byte* data, std::size_t size) noexcept {
  // Not MAP_POPULATE: it maps the pages of a shared file for reading only, and the
  // first write to each would still fault.
  if (::madvise(data, size, MADV_POPULATE_WRITE) == 0) return 0;
  // There is no page in spite of the allocation (a file system that copies on write, a
  // quota): this call gives an error, and touching the page would be a SIGBUS.
  if (errno != EINVAL) return errno;
  touch_pages(data, size);  // before Linux 5.14
  return 0;
}

}  // namespace timeloom::os
