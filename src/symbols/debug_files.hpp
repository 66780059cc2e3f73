// Finds the files with the symbols of an object of compiled code: the object itself, its separate
// debug file, and copies in directories that the user names. A file is used only if it has the
// build id of the object or, for an object without one, if it is unchanged.
//
// Pure functions of the file system, for any thread. They throw std::bad_alloc.
#pragma once

#include <string>
#include <vector>

#include "core/code_object.hpp"
#include "symbols/elf_file.hpp"

namespace timeloom::symbols {

// The files of the object, the object's own first. `directories`: of --symbols; each is searched by
// build id (.build-id/xx/yyyy.debug), by the object's path and by its name.
std::vector<ElfFile> files_of(const CodeObject& object,
                              const std::vector<std::string>& directories);

}  // namespace timeloom::symbols
