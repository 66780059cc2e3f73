// Names of code that a program made while it ran and that lies in no file, such as the code of a
// JIT. The program writes them into /tmp/perf-PID.map, a line for each function: its start and its
// size in hexadecimal digits, then its name (jit-interface.txt in the documentation of Linux's
// perf). Of functions that had the same place one after the other, the last one is known.
//
// A plain value, for any thread. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "os/file.hpp"

namespace timeloom::symbols {

class GeneratedCode {
 public:
  // When the process was measured, in nanoseconds since 1970; an end of 0: not known.
  struct Life {
    std::uint64_t begin_ns, end_ns;
  };
  // Reads the names that a process of this host and the current user has written. A file that was
  // last changed at another time belongs to another process with the same number.
  static GeneratedCode of_process(std::uint64_t process_id, const Life& life);
  // The same with the path of the file.
  static GeneratedCode in_file(const std::string& path, const Life& life);

  // The name of the function that contains the address; empty: not known. Valid as long as the
  // object.
  std::string_view name_at(std::uint64_t address) const noexcept;
  // Why a file is there and is not read, after its path; empty: it was read, or there is none.
  const std::string& refusal() const noexcept { return refusal_; }

 private:
  struct Function {
    std::uint64_t start, size;
    std::string_view name;
  };
  void add_line(std::string_view line);
  void read(const os::File& file);

  std::string refusal_;
  std::vector<char> text_;
  std::vector<Function> functions_;  // by their starts; names lie in text_
};

}  // namespace timeloom::symbols
