// Files for the spool: owned descriptors, writes of whole buffers, and mappings whose disk
// space is allocated first. So a full disk is an error value and not a SIGBUS, and a file at
// its limit (ulimit -f) is an error value and not a SIGXFSZ. Nothing here throws but link_to()
// and copy_from() (std::bad_alloc); errors are errno values (0: success). Any thread may use a
// const object; a thread that changes an object must be the only one that uses it. No function that
// reads or writes is a cancellation point of pthread_cancel().
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace timeloom::os {

// An owned file descriptor. Movable; not synchronised. If possible, the number of a descriptor is
// above the range that daemonising programs close one by one. A program may close a descriptor of
// ours all the same and get the number for a file of its own: such a descriptor is never written to
// or closed here. A file that was created here by its path is then opened again by that path, if it
// is still there.
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
  // Another descriptor of the same file, pipe or socket as `fd`.
  static File copy_of(int fd, int* error) noexcept;
  // A file with these bytes that lies in memory and has no path.
  static File in_memory(std::span<const std::byte> bytes, int* error) noexcept;
  // The same for a name in an open directory; os::Directory calls them. A link is not followed.
  static File create_exclusive_at(int directory, const std::string& name, int* error) noexcept;
  static File open_read_at(int directory, const std::string& name, int* error) noexcept;
  static File open_write_at(int directory, const std::string& name, int* error) noexcept;
  // Sets the path by which a file that was created here is opened again.
  void found_again_at(std::string path) noexcept { path_ = std::move(path); }

  bool is_open() const noexcept { return fd_ >= 0; }
  int fd() const noexcept { return fd_; }
  // Whether the descriptor still refers to the file that was created or copied here. True for a
  // file that was only opened here, since that cannot be checked.
  bool is_ours() const noexcept;
  std::uint64_t size(int* error) const noexcept;

  // The time of its last change, in nanoseconds since 1970. None: it cannot be looked at.
  std::optional<std::int64_t> changed_ns() const noexcept;

  // Writes all bytes at `offset`. On failure nothing is undone: the bytes written so far
  // stay, and the caller overwrites them or leaves them to the reader's checks.
  int write_at(std::uint64_t offset, std::span<const std::byte> bytes) noexcept;
  // Reads up to bytes.size() bytes at `offset`; fewer only at the end of the file.
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> bytes, int* error) const noexcept;
  // The first byte from `offset` on that is not in a hole of a sparse file; `end` if there is no
  // such byte before it. On a file system without holes, `offset`.
  std::uint64_t next_data(std::uint64_t offset, std::uint64_t end) const noexcept;
  // The first byte from `offset` on that is in a hole, and so is zero; `end` if there is none.
  std::uint64_t next_hole(std::uint64_t offset, std::uint64_t end) const noexcept;
  // Copies `size` bytes at `from_offset` of the other file to `offset`: without reading them where
  // the file system shares blocks of files, or else inside the kernel. ENODATA: the other file ends
  // before. On failure the bytes copied so far stay.
  int copy_from(const File& from, std::uint64_t from_offset, std::uint64_t offset,
                std::uint64_t size);
  // Makes sure that [offset, offset + length), which nobody uses yet, has space on
  // the disk, and fills it with zeros.
  int allocate(std::uint64_t offset, std::uint64_t length) noexcept;
  // Extends the file to `size` bytes, more than it has: by a hole, which takes no space on the
  // disk, where the file system has holes.
  int extend(std::uint64_t size) noexcept;
  // Cuts the file to `size` bytes.
  int truncate(std::uint64_t size) noexcept;
  // Returns when its contents are on the disk.
  int sync() noexcept;
  // Sets the times of its last change and its last use to now.
  int touch() noexcept;
  // Sets the times of its last change and its last use to the times of the other file.
  int take_times_of(const File& other) noexcept;
  int give_to(unsigned user) noexcept;
  // Gives the file the access mode of the other one and, if this process is the superuser's, its
  // owner and group.
  int take_rights_of(const File& other) noexcept;
  // Gives the file a second name, which must be new. Where links are not possible it makes a copy
  // with that name, and leaves a part of it if copying fails. EINVAL: it is not a plain file.
  int link_to(const std::string& path) const;
  bool is_plain() const noexcept;
  void close() noexcept;
  // Hands the descriptor over to the caller, which closes it.
  int release() noexcept { return std::exchange(fd_, -1); }
  // Opens a file again that was created here by its path and closed by the program; functions that
  // write do so by themselves. ENOENT: another file has its name now.
  int open_again() noexcept;

  // Marks the file, which is open for reading, as in use until it is closed or the process ends in
  // any way; several processes may mark one file. A forked child inherits the mark with the
  // descriptor and must close it: the mark lasts until both have closed the file.
  int mark_in_use() noexcept;
  // Locks the file, which is open for writing, until it is closed or the process ends in any way;
  // it may not be marked. EAGAIN: another process has locked or marked it.
  int try_lock() noexcept;
  // Whether the file was marked through a descriptor that is not a copy of this one.
  bool in_use() const noexcept;
  // Whether the file has no name any more; a file that was moved has one.
  bool removed() const noexcept;

 private:
  void remember() noexcept;
  int fd_ = -1;
  // For a file that was created or copied here; else empty and 0. No path: it is not opened again.
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
  // Maps [offset, offset + size) of a file that is at least that long, and touches nothing. A part
  // may be used once its space has been allocated and touch() has been called for it.
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
