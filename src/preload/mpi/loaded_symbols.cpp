#include "loaded_symbols.hpp"

#include <link.h>

#include <cstdint>
#include <cstring>

namespace timeloom::mpi {
namespace {

std::uint32_t hash_of(const char* name) noexcept {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

}  // namespace

struct LibrarySearch {
  const char* symbol;
  LoadedLibrary found;

  static int visit(dl_phdr_info* info, std::size_t, void* data) noexcept {
    auto& search = *static_cast<LibrarySearch*>(data);
    const ElfW(Dyn)* dynamic = nullptr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& header = info->dlpi_phdr[i];
      if (header.p_type != PT_DYNAMIC) continue;
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + header.p_vaddr);
    }
    if (dynamic == nullptr) return 0;
    LoadedLibrary library;
    library.base_ = info->dlpi_addr;
    for (; dynamic->d_tag != DT_NULL; ++dynamic) {
      // The dynamic linker has added the base, except in the library of the kernel.
      ElfW(Addr) address = dynamic->d_un.d_ptr;
      if (address < info->dlpi_addr) address += info->dlpi_addr;
      if (dynamic->d_tag == DT_SYMTAB) library.symbols_ = reinterpret_cast<const void*>(address);
      if (dynamic->d_tag == DT_STRTAB) library.names_ = reinterpret_cast<const char*>(address);
      if (dynamic->d_tag == DT_GNU_HASH) {
        library.hashes_ = reinterpret_cast<const unsigned*>(address);
      }
    }
    if (library.find(search.symbol) == nullptr) return 0;
    search.found = library;
    return 1;
  }
};

// The table is described in the documents of the GNU linker: a filter of Bloom, buckets, and for
// each symbol its hash, whose lowest bit marks the last of a bucket.
void* LoadedLibrary::find(const char* symbol) const noexcept {
  if (symbols_ == nullptr || names_ == nullptr || hashes_ == nullptr) return nullptr;
  const unsigned buckets = hashes_[0], first = hashes_[1], words = hashes_[2];
  if (buckets == 0) return nullptr;
  const unsigned* const bucket = hashes_ + 4 + words * (sizeof(ElfW(Addr)) / sizeof(unsigned));
  const unsigned* const chain = bucket + buckets;
  const std::uint32_t wanted = hash_of(symbol);
  unsigned index = bucket[wanted % buckets];
  if (index < first) return nullptr;
  const auto* const symbols = static_cast<const ElfW(Sym)*>(symbols_);
  for (;; ++index) {
    const std::uint32_t hash = chain[index - first];
    const ElfW(Sym)& one = symbols[index];
    if ((hash | 1) == (wanted | 1) && one.st_shndx != SHN_UNDEF &&
        std::strcmp(names_ + one.st_name, symbol) == 0) {
      return reinterpret_cast<void*>(base_ + one.st_value);
    }
    if ((hash & 1) != 0) return nullptr;
  }
}

LoadedLibrary LoadedLibrary::that_defines(const char* symbol) noexcept {
  LibrarySearch search{symbol, {}};
  dl_iterate_phdr(LibrarySearch::visit, &search);
  return search.found;
}

}  // namespace timeloom::mpi
