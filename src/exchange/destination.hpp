// The file, pipe or standard output that a conversion goes to.
//
// A file is written beside its place under another name and gets its name in finish(): nobody
// sees half of it, and without finish() nothing is left. What is a pipe or a device is written
// as it comes. A name that ends with .gz is written with gzip. A link, be it on the way, is
// followed unless it is of another user (os/place.hpp).
//
// write() may be called from any thread, the rest from one. Throws Error with one line when
// the place is taken or cannot be written.
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

// Thrown by write() when the reader of a pipe has seen enough: no error, the rest need not be made.
struct ReaderGone {};

class Destination {
 public:
  // "-" is standard output. `force`: a file that exists is replaced. `shown`: the name in messages,
  // where it is another.
  Destination(const std::string& name, bool force, const std::string& shown = {});
  Destination(const Destination&) = delete;
  Destination& operator=(const Destination&) = delete;
  ~Destination();

  // All bytes of the format are wrapped in gzip. REQUIRED before the first write.
  void compress();
  // Pieces of different threads are not mixed.
  void write(std::string_view bytes);
  // The file is complete and gets its name.
  void finish();

  // Bytes written so far, as they are in the file.
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
  os::Directory directory_;  // of the file; its entries are made and renamed in it, never by a path
  std::string name_;         // of the file there
  std::string partial_;      // the other name, while there is one
  bool is_file_ = false;
  int descriptor_ = 1;
  bool replaces_ = false;
  std::uint64_t size_ = 0;
  std::mutex mutex_;
  std::unique_ptr<Gzip> gzip_;
};

}  // namespace timeloom::exchange
