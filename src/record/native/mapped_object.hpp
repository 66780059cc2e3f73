// The object of compiled code that is mapped at an address of this process. Any thread; throws
// std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/code_object.hpp"

namespace timeloom::record {

struct MappedObject {
  CodeObject object;
  std::uint64_t address = 0;  // the looked-up address in the object's symbol table
};

// Asks the dynamic linker each time, since objects are unloaded and others are mapped in their
// place. None: the address lies in no object, e.g. in code that the program has generated.
std::optional<MappedObject> mapped_object(const void* address);

// The part of an object that can be executed.
struct MappedPart {
  CodeObject object;
  std::uint64_t begin = 0;  // address in this process
  std::uint64_t size = 0;
  std::uint64_t bias = 0;  // an address minus the bias is the address in the object's symbol table
};

// The parts of all mapped objects; an object may have several.
std::vector<MappedPart> mapped_parts();

}  // namespace timeloom::record
