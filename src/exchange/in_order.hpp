// The pieces of a file that the locations of a run write at the same time, in the order of the
// locations: so a conversion makes the same bytes each time.
//
// The first location that has not finished writes through; the pieces of those behind it are kept,
// in memory up to a limit and then in a file without a name. write() and finish() may be called
// from any thread, but by one at a time for a location. Throws Error, and what Destination does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exchange/destination.hpp"

namespace timeloom::exchange {

class InOrder {
 public:
  static constexpr std::size_t kMostHeld = 16 << 20;

  // `skipped`: as many bytes at the begin of all are left out.
  InOrder(Destination& out, std::size_t locations, std::size_t skipped = 0,
          std::size_t most_held = kMostHeld);
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;
  ~InOrder();

  // REQUIRES: location < locations, and that it has not finished.
  void write(std::size_t location, std::string_view bytes);
  void finish(std::size_t location);
  // All have finished, or are not there.
  void end();

 private:
  struct Part {
    bool finished = false;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> spilled;  // offset and size in the file
    std::string held;                                              // behind these
  };

  void put(std::string_view bytes);
  void pass(Part& part);
  void spill(Part& part);
  void advance();

  Destination& out_;
  std::size_t skipped_;
  std::size_t most_held_;
  std::mutex mutex_;
  std::vector<Part> parts_;
  std::size_t first_ = 0;  // that has not finished
  std::size_t held_ = 0;   // bytes in memory
  int file_ = -1;
  std::uint64_t file_size_ = 0;
};

}  // namespace timeloom::exchange
