// The object of compiled code that is mapped at an address of this process. Any thread; throws
// std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>

#include "core/code_object.hpp"

namespace timeloom::record {

struct MappedObject {
  CodeObject object;
  std::uint64_t address = 0;  // the looked-up address, as the symbol table of the object counts
};

// Asks the dynamic linker each time, since objects are unloaded and others are mapped in their
// place. None: the address lies in no object, e.g. in code that the program has generated.
std::optional<MappedObject> mapped_object(const void* address);

}  // namespace timeloom::record
