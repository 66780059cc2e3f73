// Symbols of the shared libraries that the process has loaded, whoever may see them.
//
// Reads the tables of the libraries themselves: it may run while the dynamic linker binds symbols,
// where dlopen() and dlsym() may not be called. Any thread; allocates nothing.
#pragma once

namespace timeloom::mpi {

class LoadedLibrary {
 public:
  // The first library that defines the function or object, but for that at `other_than`; not found:
  // see operator bool.
  static LoadedLibrary that_defines(const char* symbol, const void* other_than = nullptr) noexcept;
  // How many do.
  static int count_that_define(const char* symbol) noexcept;
  // The library with that code or data.
  static LoadedLibrary around(const void* address) noexcept;

  // How many libraries this process has loaded so far, with those that it has unloaded since.
  static unsigned long long number_of_loads() noexcept;

  explicit operator bool() const noexcept { return symbols_ != nullptr; }
  bool operator==(const LoadedLibrary& other) const noexcept { return symbols_ == other.symbols_; }
  // The address of what the library defines under that name; nullptr: nothing.
  void* find(const char* symbol) const noexcept;

 private:
  friend struct LibrarySearch;
  unsigned find_by_gnu_hash(const char* symbol) const noexcept;
  unsigned find_by_hash(const char* symbol) const noexcept;
  bool is_symbol(unsigned index, const char* symbol) const noexcept;

  unsigned long base_ = 0;
  const void* symbols_ = nullptr;
  const char* names_ = nullptr;
  const unsigned* gnu_hashes_ = nullptr;  // DT_GNU_HASH
  const unsigned* hashes_ = nullptr;      // DT_HASH, where there is no other
};

}  // namespace timeloom::mpi
