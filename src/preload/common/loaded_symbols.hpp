// Symbols of the shared libraries that the process has loaded, whether globally visible or not.
//
// Reads the tables of the libraries directly, so it may run while the dynamic linker binds symbols,
// when dlopen() and dlsym() must not be called. Any thread; allocates nothing. Throws nothing.
#pragma once

#include <cstddef>

namespace timeloom::preload {

class LoadedLibrary {
 public:
  // The first library that defines the function or object, other than the library with the address
  // `other_than`. Not found: see operator bool.
  static LoadedLibrary that_defines(const char* symbol, const void* other_than = nullptr) noexcept;
  // The number of libraries that define it.
  static int count_that_define(const char* symbol) noexcept;
  // The library with that code or data.
  static LoadedLibrary around(const void* address) noexcept;

  // The number of libraries that this process has loaded so far, including unloaded ones.
  static unsigned long long number_of_loads() noexcept;

  explicit operator bool() const noexcept { return symbols_ != nullptr; }
  // Its path; empty: the program itself.
  const char* file() const noexcept { return file_; }
  bool operator==(const LoadedLibrary& other) const noexcept { return symbols_ == other.symbols_; }
  // The address that the library defines for that name; nullptr: none.
  void* find(const char* symbol) const noexcept;
  // Calls `visit(name, address)` for each function that the library calls through the dynamic
  // linker, until it returns false. The address lies in the library itself until the function is
  // bound, unless the linker binds at once.
  template <typename Visit>
  void each_import(Visit visit) const noexcept {
    Import import;
    for (std::size_t i = 0; import_at(i, import); ++i) {
      if (import.name != nullptr && !visit(import.name, import.address)) return;
    }
  }

 private:
  struct Import {
    const char* name;     // nullptr: the relocation is of another kind
    const void* address;  // to which it is bound
  };
  friend struct LibrarySearch;
  unsigned find_by_gnu_hash(const char* symbol) const noexcept;
  unsigned find_by_hash(const char* symbol) const noexcept;
  // False: there are no more.
  bool import_at(std::size_t index, Import& import) const noexcept;
  bool is_symbol(unsigned index, const char* symbol) const noexcept;

  unsigned long base_ = 0;
  const void* symbols_ = nullptr;
  const char* names_ = nullptr;
  const unsigned* gnu_hashes_ = nullptr;  // DT_GNU_HASH
  const unsigned* hashes_ = nullptr;      // DT_HASH, if there is no other table
  const char* file_ = "";
  struct {
    const void* begin = nullptr;
    std::size_t bytes = 0;
  } relocations_[2];  // DT_JMPREL, DT_RELA
};

}  // namespace timeloom::preload
