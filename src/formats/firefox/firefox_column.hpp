// A column of a table of Firefox's format: a JSON list. All columns of a thread grow at the same
// time and are written one after the other, so a temporary file holds what the memory limit leaves
// out.
//
// Used by one thread. Throws Error when there is no room for the file.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "exchange/destination.hpp"

namespace timeloom::firefox {

class Column {
 public:
  void add(std::string_view json);
  void add_number(std::uint64_t number);
  void add_null() { add("null"); }
  // Adds nanoseconds as milliseconds.
  void add_time(std::uint64_t nanoseconds);
  std::uint64_t size() const noexcept { return size_; }

  // Writes `"name":[...]`.
  void write(std::string_view name, exchange::Destination& out);

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  void spill();

  std::string text_;
  std::uint64_t size_ = 0;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace timeloom::firefox
