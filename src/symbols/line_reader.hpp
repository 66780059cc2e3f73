// Files and lines of addresses, read by libdw where the system has it. It is loaded when it is
// first needed and not linked, since its license differs from Timeloom's; without it nothing has a
// line.
//
// Used by one thread at a time. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/file.hpp"

namespace timeloom::symbols {

struct SourceLine {
  std::string file;  // absolute if the compiler knew the directory
  std::uint32_t line = 0;
};

class LineReader {
 public:
  static bool available();
  // nullptr: there is no libdw, or no information about lines in the file.
  static std::unique_ptr<LineReader> open(const os::File& file);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // The line of the function that starts at the address.
  std::optional<SourceLine> line_of_start(std::uint64_t address) { return find(address, true); }
  // The line of the instruction that contains the address.
  std::optional<SourceLine> line_of(std::uint64_t address) { return find(address, false); }

 private:
  class Unit;
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
    std::size_t unit;
  };

  LineReader() = default;
  void read_units();
  std::optional<SourceLine> find(std::uint64_t address, bool first);

  os::File file_;
  void* dwarf_ = nullptr;  // of libdw
  std::vector<Unit> units_;
  std::vector<Range> ranges_;  // of the units, in order of addresses
};

}  // namespace timeloom::symbols
