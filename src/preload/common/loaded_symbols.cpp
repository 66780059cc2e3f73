#include "preload/common/loaded_symbols.hpp"

#include <link.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace timeloom::preload {
namespace {

std::uint32_t gnu_hash_of(const char* name) noexcept {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

// The hash function of the System V ABI (chapter on dynamic linking).
std::uint32_t hash_of(const char* name) noexcept {
  std::uint32_t hash = 0;
  for (; *name != '\0'; ++name) {
    hash = (hash << 4) + static_cast<unsigned char>(*name);
    const std::uint32_t top = hash & 0xf0000000;
    hash = (hash ^ (top >> 24)) & ~top;
  }
  return hash;
}

// True if a segment of the library contains the address.
bool has(const dl_phdr_info& info, const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    const std::uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && at >= begin && at - begin < header.p_memsz) return true;
  }
  return false;
}

}  // namespace

struct LibrarySearch {
  const char* symbol = nullptr;      // that it must define
  const void* inside = nullptr;      // or: an address inside it
  const void* other_than = nullptr;  // an address outside it
  bool all = false;                  // continue after the first
  LoadedLibrary found{};             // the last one
  int count = 0;

  static LoadedLibrary library_of(const dl_phdr_info& info) noexcept {
    LoadedLibrary library;
    const ElfW(Dyn)* dynamic = nullptr;
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& header = info.dlpi_phdr[i];
      if (header.p_type != PT_DYNAMIC) continue;
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + header.p_vaddr);
    }
    if (dynamic == nullptr) return library;
    library.base_ = info.dlpi_addr;
    library.file_ = info.dlpi_name;
    for (; dynamic->d_tag != DT_NULL; ++dynamic) {
      if (dynamic->d_tag == DT_PLTRELSZ) library.relocations_[0].bytes = dynamic->d_un.d_val;
      if (dynamic->d_tag == DT_RELASZ) library.relocations_[1].bytes = dynamic->d_un.d_val;
      // The dynamic linker has added the base address, except in the kernel's library.
      ElfW(Addr) address = dynamic->d_un.d_ptr;
      if (address < info.dlpi_addr) address += info.dlpi_addr;
      const auto* const words = reinterpret_cast<const unsigned*>(address);
      if (dynamic->d_tag == DT_SYMTAB) library.symbols_ = words;
      if (dynamic->d_tag == DT_STRTAB) library.names_ = reinterpret_cast<const char*>(address);
      if (dynamic->d_tag == DT_GNU_HASH) library.gnu_hashes_ = words;
      if (dynamic->d_tag == DT_HASH) library.hashes_ = words;
      if (dynamic->d_tag == DT_JMPREL) library.relocations_[0].begin = words;
      if (dynamic->d_tag == DT_RELA) library.relocations_[1].begin = words;
    }
    return library;
  }

  bool takes(const dl_phdr_info& info, const LoadedLibrary& library) const noexcept {
    if (inside != nullptr) return has(info, inside);
    if (library.find(symbol) == nullptr) return false;
    return other_than == nullptr || !has(info, other_than);
  }

  static int visit(dl_phdr_info* info, std::size_t, void* data) noexcept {
    auto& search = *static_cast<LibrarySearch*>(data);
    const LoadedLibrary library = library_of(*info);
    if (!search.takes(*info, library)) return 0;
    search.found = library;
    ++search.count;
    return search.all ? 0 : 1;
  }

  LibrarySearch& run() noexcept {
    dl_iterate_phdr(visit, this);
    return *this;
  }
};

bool LoadedLibrary::is_symbol(unsigned index, const char* symbol) const noexcept {
  const ElfW(Sym)& one = static_cast<const ElfW(Sym)*>(symbols_)[index];
  return one.st_shndx != SHN_UNDEF && std::strcmp(names_ + one.st_name, symbol) == 0;
}

// The GNU linker documents this table: a Bloom filter, buckets, and a hash for each symbol, whose
// lowest bit marks the last one of a bucket. 0: the symbol is missing.
unsigned LoadedLibrary::find_by_gnu_hash(const char* symbol) const noexcept {
  const unsigned buckets = gnu_hashes_[0], first = gnu_hashes_[1], words = gnu_hashes_[2];
  if (buckets == 0) return 0;
  const unsigned* const bucket = gnu_hashes_ + 4 + words * (sizeof(ElfW(Addr)) / sizeof(unsigned));
  const unsigned* const chain = bucket + buckets;
  const std::uint32_t wanted = gnu_hash_of(symbol);
  unsigned index = bucket[wanted % buckets];
  if (index < first) return 0;
  for (;; ++index) {
    const std::uint32_t hash = chain[index - first];
    if ((hash | 1) == (wanted | 1) && is_symbol(index, symbol)) return index;
    if ((hash & 1) != 0) return 0;
  }
}

// The table of the System V ABI: buckets and, for each symbol, the next one of its bucket.
unsigned LoadedLibrary::find_by_hash(const char* symbol) const noexcept {
  const unsigned buckets = hashes_[0];
  if (buckets == 0) return 0;
  const unsigned* const next = hashes_ + 2 + buckets;
  unsigned index = hashes_[2 + hash_of(symbol) % buckets];
  while (index != 0 && !is_symbol(index, symbol)) index = next[index];
  return index;
}

void* LoadedLibrary::find(const char* symbol) const noexcept {
  if (symbols_ == nullptr || names_ == nullptr) return nullptr;
  unsigned index = 0;
  if (gnu_hashes_ != nullptr) {
    index = find_by_gnu_hash(symbol);
  } else if (hashes_ != nullptr) {
    index = find_by_hash(symbol);
  }
  if (index == 0) return nullptr;
  return reinterpret_cast<void*>(base_ + static_cast<const ElfW(Sym)*>(symbols_)[index].st_value);
}

bool LoadedLibrary::import_at(std::size_t index, Import& import) const noexcept {
  // The numbers of one processor mean nothing on the other.
  constexpr std::array<std::size_t, 4> kOfFunctions = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT,
                                                       R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT};
  for (const auto& table : relocations_) {
    const std::size_t count = table.begin == nullptr ? 0 : table.bytes / sizeof(ElfW(Rela));
    if (index >= count) {
      index -= count;
      continue;
    }
    const ElfW(Rela)& one = static_cast<const ElfW(Rela)*>(table.begin)[index];
    import = {};
    if (std::ranges::find(kOfFunctions, ELF64_R_TYPE(one.r_info)) == kOfFunctions.end())
      return true;
    const auto& symbol = static_cast<const ElfW(Sym)*>(symbols_)[ELF64_R_SYM(one.r_info)];
    const auto* const place = reinterpret_cast<const void* const*>(base_ + one.r_offset);
    import = {names_ + symbol.st_name, __atomic_load_n(place, __ATOMIC_RELAXED)};
    return true;
  }
  return false;
}

LoadedLibrary LoadedLibrary::that_defines(const char* symbol, const void* other_than) noexcept {
  return LibrarySearch{.symbol = symbol, .other_than = other_than}.run().found;
}

int LoadedLibrary::count_that_define(const char* symbol) noexcept {
  return LibrarySearch{.symbol = symbol, .all = true}.run().count;
}

unsigned long long LoadedLibrary::number_of_loads() noexcept {
  unsigned long long loads = 0;
  const auto first = [](dl_phdr_info* info, std::size_t, void* data) noexcept {
    *static_cast<unsigned long long*>(data) = info->dlpi_adds;
    return 1;
  };
  dl_iterate_phdr(first, &loads);
  return loads;
}

LoadedLibrary LoadedLibrary::around(const void* address) noexcept {
  return LibrarySearch{.inside = address}.run().found;
}

}  // namespace timeloom::preload
