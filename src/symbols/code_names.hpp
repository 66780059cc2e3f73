// Names, files and lines of addresses in objects of compiled code. Each object is read once, when
// its first address is looked up.
//
// Used by one thread at a time. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/code_object.hpp"

namespace timeloom::symbols {

struct CodeName {
  std::string name;        // of the function, for people; empty: unknown
  std::string whole_name;  // with parameters and result, if the linker's name has them
  std::string file;        // empty: unknown
  std::uint32_t line = 0;  // 0: unknown
};

class CodeNames {
 public:
  // `directories`: searched for objects and debug files besides the usual places.
  explicit CodeNames(std::vector<std::string> directories = {});
  ~CodeNames();
  CodeNames(const CodeNames&) = delete;
  CodeNames& operator=(const CodeNames&) = delete;

  enum class Line : std::uint8_t { kOfFunction, kOfAddress, kNone };
  // The function that contains the address, and the line of its start, of the address, or no line.
  // None: no symbols and no lines of the object were found, or none for the address.
  std::optional<CodeName> find(const CodeObject& object, std::uint64_t address, Line line);
  // The start of the function that contains the address, also where it has no name. None: no table
  // of the object has it.
  std::optional<std::uint64_t> start_of_function(const CodeObject& object, std::uint64_t address);

  // Whether a file with this code is there: it was not removed, replaced or emptied.
  bool has_file(const CodeObject& object);

 private:
  class Symbols;
  Symbols& symbols_of(const CodeObject& object);

  const std::vector<std::string> directories_;
  std::map<std::string, std::unique_ptr<Symbols>> objects_;
};

}  // namespace timeloom::symbols
