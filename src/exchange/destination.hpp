// The file, pipe or standard output that a conversion writes to.
//
// A file is written under another name beside its final one and gets its name in finish(): no
// reader sees an unfinished file, and without finish() nothing is left. Pipes and devices are
// written directly. A name that ends with .gz is compressed with gzip. Links are followed, also on
// the way, unless they belong to another user (os/resolved_path.hpp).
//
// Any thread may call write(), one thread all other functions. Throws Error with one line when the
// file exists or cannot be written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "os/directory.hpp"

namespace timeloom::exchange {

class Gzip;

// Thrown by write() when the reader of a pipe has closed it. This is not an error: the rest need
// not be written.
struct ReaderGone {};

class Destination {
 public:
  // "-" is standard output. `force`: an existing file is replaced. `shown`: the name in messages,
  // if it differs.
  Destination(const std::string& name, bool force, const std::string& shown = {});
  Destination(const Destination&) = delete;
  Destination& operator=(const Destination&) = delete;
  ~Destination();

  // All bytes of the format are compressed with gzip. REQUIRED before the first write.
  void compress();
  // Pieces of different threads do not mix.
  void write(std::string_view bytes);
  // Completes the file and gives it its name.
  void finish();

  // Bytes written so far, as in the file.
  std::uint64_t size() const noexcept { return size_; }
  bool is_file() const noexcept { return is_file_; }
  bool is_terminal() const noexcept;
  // REQUIRES: is_file().
  std::filesystem::path directory() const;

 private:
  void find_place();
  void open_file(bool force);
  void open_part();
  void open_device();
  void put(std::string_view bytes);
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;
  std::string shown_;        // the name in messages
  os::Directory directory_;  // directory of the file; its entries are created and renamed in it,
                             // never by a path
  std::string name_;         // name of the file there
  std::string partial_;      // the temporary name, while it exists
  bool is_file_ = false;
  int descriptor_ = 1;
  bool replaces_ = false;
  std::uint64_t size_ = 0;
  std::mutex mutex_;
  std::unique_ptr<Gzip> gzip_;
};

}  // namespace timeloom::exchange
