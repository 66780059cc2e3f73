// Filters by regular expressions, which are searched for in the bare names of functions and in
// the paths of their files: the settings function-restrict to module-exclude. They decide
// in the order of Omnitrace's Python profiling.
//
// The expressions are those that Python's module re takes, and also take the classes of POSIX
// ([[:digit:]]). A plain value; needs the GIL. It is asked once for each code object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "python/interpreter/compat.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {

enum class Verdict : std::uint8_t {
  kRecorded,
  kFunction,  // is not recorded
  kFile,      // nor are the C functions that it calls
  kCalls,     // nor is anything that it calls
};

class SearchFilter {
 public:
  SearchFilter() = default;
  // Throws Error, with the position, for an expression that is none; PythonError.
  explicit SearchFilter(const Settings& settings);

  bool empty() const noexcept { return *this == SearchFilter(); }
  Verdict of(const std::string& name, const std::string& file) const;
  // The same for a function of C, which has no file.
  bool excludes_c_function(const std::string& name) const;
  friend bool operator==(const SearchFilter&, const SearchFilter&) = default;

 private:
  using Expressions = std::vector<std::string>;
  struct Sets {
    Expressions restricted, included, excluded;
    friend bool operator==(const Sets&, const Sets&) = default;
  };
  enum class Choice : std::uint8_t { kForced, kOpen, kLeftOut, kLeftOutWithCalls };
  Choice by_function(const std::string& name) const;
  bool records_file(const std::string& file) const;

  Sets functions_, modules_;
};

}  // namespace timeloom::python
