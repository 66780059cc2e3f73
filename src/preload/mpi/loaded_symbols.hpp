// Symbols of the shared libraries that the process has loaded, whoever may see them.
//
// Reads the tables of the libraries themselves: it may run while the dynamic linker binds symbols,
// where dlopen() and dlsym() may not be called. Any thread; allocates nothing.
#pragma once

namespace timeloom::mpi {

class LoadedLibrary {
 public:
  // The first library that defines the function or object; not found: see operator bool.
  static LoadedLibrary that_defines(const char* symbol) noexcept;

  explicit operator bool() const noexcept { return symbols_ != nullptr; }
  // The address of what the library defines under that name; nullptr: nothing.
  void* find(const char* symbol) const noexcept;

 private:
  friend struct LibrarySearch;
  unsigned long base_ = 0;
  const void* symbols_ = nullptr;
  const char* names_ = nullptr;
  const unsigned* hashes_ = nullptr;  // DT_GNU_HASH
};

}  // namespace timeloom::mpi
