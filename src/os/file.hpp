// Files for the spool: owned descriptors, whole appends, and mappings whose
// space is allocated first, so that a full disk is an error value and not a
// SIGBUS, and a file at its limit (ulimit -f) no SIGXFSZ. Nothing here throws;
// errors are errno values (0: success). Any thread may use a const object;
// whoever changes one sees to it that nobody else uses it meanwhile. No function that reads or
// writes is a point at which pthread_cancel() ends the thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace timeloom::os {

// An owned file descriptor. Movable; not synchronised. Descriptors are moved
// above the range that daemonising programs close one by one when possible. One that was created
// or copied here, was closed all the same, and may be a file of the program by now, is never
// written to or closed: a file that was created here by its path is opened again by it, if it is
// still there.
class File {
 public:
  File() noexcept = default;
  explicit File(int fd) noexcept : fd_(fd) {}
  File(File&& other) noexcept { *this = std::move(other); }
  File& operator=(File&& other) noexcept;
  ~File();

  // Opens with O_CLOEXEC; `error` gets the errno value, 0 on success.
  static File create_exclusive(const std::string& path, int* error) noexcept;
  static File open_read(const std::string& path, int* error) noexcept;
  // Another descriptor of what `fd` is one of, be it a file, a pipe or a socket.
  static File copy_of(int fd, int* error) noexcept;
  // The same for a name in an open directory; os::Directory calls them. A link is not followed.
  static File create_exclusive_at(int directory, const std::string& name, int* error) noexcept;
  static File open_read_at(int directory, const std::string& name, int* error) noexcept;
  static File open_write_at(int directory, const std::string& name, int* error) noexcept;
  // Of a file that was created here: the path by which it is opened again.
  void found_again_at(std::string path) noexcept { path_ = std::move(path); }

  bool is_open() const noexcept { return fd_ >= 0; }
  int fd() const noexcept { return fd_; }
  // Whether the descriptor is still of what was created or copied here; of a file that was only
  // opened here nobody knows, and it counts as ours.
  bool is_ours() const noexcept;
  std::uint64_t size(int* error) const noexcept;

  // Writes all bytes at `offset`. On failure nothing is undone: what was
  // written stays, and the caller writes over it or leaves it to the reader's checks.
  int write_at(std::uint64_t offset, std::span<const std::byte> bytes) noexcept;
  // Reads up to bytes.size() bytes at `offset`; fewer only at the end of the file.
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> bytes, int* error) const noexcept;
  // The first byte from `offset` on that is not in a hole of a sparse file; `end` where there is
  // none before it. On a file system that knows of no holes, `offset`.
  std::uint64_t next_data(std::uint64_t offset, std::uint64_t end) const noexcept;
  // The first byte from `offset` on that is in a hole, so that it and more are zero; else `end`.
  std::uint64_t next_hole(std::uint64_t offset, std::uint64_t end) const noexcept;
  // Makes sure that [offset, offset + length), which nobody uses yet, has space on
  // the disk, and fills it with zeros.
  int allocate(std::uint64_t offset, std::uint64_t length) noexcept;
  // Makes the file `size` bytes long, which is longer than it is: with a hole, which takes no
  // space on the disk, where the file system knows of them.
  int extend(std::uint64_t size) noexcept;
  // Cuts the file to `size` bytes.
  int truncate(std::uint64_t size) noexcept;
  // Sets the times of its last change and its last use to now.
  int touch() noexcept;
  int give_to(unsigned user) noexcept;
  // Gives the file another name as well, which nothing has yet; where that is not possible, makes a
  // copy of that name, of which a part is left when that fails. EINVAL: it is no plain file.
  int link_to(const std::string& path) const;
  bool is_plain() const noexcept;
  void close() noexcept;
  // Hands the descriptor over to who closes it.
  int release() noexcept { return std::exchange(fd_, -1); }
  // Opens what was created here by its path and closed by whomever; those that write do so
  // themselves. ENOENT: another file has its name.
  int open_again() noexcept;

  // Marks the file, which is open for reading, as in use until it is closed, or the process ends in
  // whatever way; several may do so. A forked child inherits the mark with the descriptor and has
  // to close it: the mark stays as long as one of them has the file open.
  int mark_in_use() noexcept;
  // Whether somebody has marked the file, through a descriptor that is not a copy of this.
  bool in_use() const noexcept;
  // Whether the file has no name any more; one that was moved has.
  bool removed() const noexcept;

 private:
  void remember() noexcept;
  int fd_ = -1;
  // Of what was created or copied here; else empty and 0. No path: it is not opened again.
  std::string path_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  bool marked_ = false;
};

// A shared, writable mapping of a part of a file; unmapped at destruction.
class Mapping {
 public:
  Mapping() noexcept = default;
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  // Maps [offset, offset + size) and touches every page. The space must have
  // been allocated.
  static Mapping map(const File& file, std::uint64_t offset, std::size_t size, int* error) noexcept;
  // Maps [offset, offset + size) of a file that is so long and touches nothing. A part may be
  // used when its space has been allocated and touch() has brought it in.
  static Mapping map_later(const File& file, std::uint64_t offset, std::size_t size,
                           int* error) noexcept;
  // Touches every page of a part of a mapping, whose space must have been allocated.
  static int touch(std::byte* data, std::size_t size) noexcept;

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace timeloom::os
