// Puts pieces of a file that locations write at the same time into the order of the locations, so
// that a conversion gives the same bytes each time.
//
// The first unfinished location writes through. The pieces of later locations are kept, in memory
// up to a limit and then in an unnamed file. Any thread may call write() and finish(), but one at a
// time for each location. Throws Error, and the errors of Destination.
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

  // `skipped`: the number of bytes that are left out at the start of the whole output.
  InOrder(Destination& out, std::size_t locations, std::size_t skipped = 0,
          std::size_t most_held = kMostHeld);
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;
  ~InOrder();

  // REQUIRES: location < locations, and the location has not finished.
  void write(std::size_t location, std::string_view bytes);
  void finish(std::size_t location);
  // Finishes all other locations, such as those that are absent, and writes the kept pieces.
  void end();

 private:
  struct Part {
    bool finished = false;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> spilled;  // offset and size in the file
    std::string held;                                              // follows these pieces
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
  std::size_t first_ = 0;  // the first unfinished location
  std::size_t held_ = 0;   // bytes in memory
  int file_ = -1;
  std::uint64_t file_size_ = 0;
};

}  // namespace timeloom::exchange
