// Objects of compiled code (a program or a shared library) and addresses in them. A measured
// process records both; the names of functions are found while weaving. Plain values and pure
// functions, for any thread; they throw std::bad_alloc.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace timeloom {

struct CodeObject {
  std::string path;      // absolute, when it was mapped
  std::string build_id;  // hexadecimal digits; empty: the object has none
  // For an object without a build id: the size and the time of the last change of its file, by
  // which weaving recognises the file. Zeros: unknown.
  std::uint64_t size = 0;
  std::int64_t changed_ns = 0;  // since 1970
};

// A part of an object that a process had in its memory.
struct ObjectMapping {
  std::uint32_t object = 0;  // id in its process
  std::uint64_t begin = 0;   // address of the first byte
  std::uint64_t size = 0;
  std::uint64_t bias = 0;   // an address minus the bias is the address in the object's symbol table
  std::uint64_t ticks = 0;  // when it was seen; another object may be mapped there later
};

// The address of a region.
struct CodeAddress {
  std::uint32_t object = 0;   // id in its process
  std::uint64_t address = 0;  // in the object's symbol table
  std::string construct{};    // empty: the region is the function at the address; else a construct
                              // of the function, e.g. "!$omp parallel"
};

inline std::string_view file_name(const CodeObject& object) noexcept {
  const std::string_view path = object.path;
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

inline std::string hexadecimal(std::uint64_t number) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, number, 16).ptr;
  return "0x" + std::string(digits, end);
}

// The name of a region whose function is unknown: "0x1139 in libsolver.so".
inline std::string stand_in_name(const CodeObject& object, std::uint64_t address) {
  return hexadecimal(address) + " in " + std::string(file_name(object));
}

}  // namespace timeloom
