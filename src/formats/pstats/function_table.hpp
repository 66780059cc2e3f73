// The functions of a call tree with their callers, counted as cProfile counts them.
//
// Plain values and functions; they throw only std::bad_alloc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "profile/call_tree.hpp"

namespace timeloom::pstats {

// As the keys of pstats: file, line, name.
using Function = std::tuple<std::string, std::uint32_t, std::string>;

struct Count {
  std::uint64_t calls = 0;
  std::uint64_t primitive = 0;  // calls that are not inside another call of the same function
  std::uint64_t exclusive = 0;  // ticks
  std::uint64_t all = 0;        // ticks of the primitive calls
};

struct Entry : Count {
  std::map<Function, Count> callers;
};

// The name of Python's code object: without module and class.
Function function_of(const Definitions& definitions, RegionId region);

std::map<Function, Entry> function_table(const profile::CallTree& tree);

}  // namespace timeloom::pstats
