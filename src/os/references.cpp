#include "os/references.hpp"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

namespace timeloom::os {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kJumpSlot = R_X86_64_JUMP_SLOT, kData = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr std::uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT, kData = R_AARCH64_GLOB_DAT;
#else
constexpr std::uint32_t kJumpSlot = UINT32_MAX, kData = UINT32_MAX;  // none
#endif

struct Wanted {
  std::string_view library;
  std::string_view function;
  const void* to;
};

// The tables of an object that the dynamic linker has loaded.
class Object {
 public:
  explicit Object(const dl_phdr_info& info) : info_(info) {
    for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = info.dlpi_phdr[i];
      if (part.p_type == PT_DYNAMIC) {
        dynamic_ = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + part.p_vaddr);
      }
    }
  }

  bool needs(std::string_view library) const {
    const auto* const names = pointer<char>(DT_STRTAB);
    if (names == nullptr) return false;  // not a dynamic object
    for (const ElfW(Dyn)* entry = dynamic_; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag != DT_NEEDED) continue;
      if (std::string_view(names + entry->d_un.d_val).starts_with(library)) return true;
    }
    return false;
  }

  void redirect(const Wanted& wanted) const {
    redirect(wanted, pointer<ElfW(Rela)>(DT_JMPREL), value(DT_PLTRELSZ));
    redirect(wanted, pointer<ElfW(Rela)>(DT_RELA), value(DT_RELASZ));
  }

 private:
  ElfW(Addr) value(ElfW(Sxword) tag) const {
    if (dynamic_ == nullptr) return 0;
    for (const ElfW(Dyn)* entry = dynamic_; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == tag) return entry->d_un.d_val;
    }
    return 0;
  }
  // The dynamic linker has turned most of them into addresses.
  template <typename Entry>
  const Entry* pointer(ElfW(Sxword) tag) const {
    const ElfW(Addr) at = value(tag);
    if (at == 0) return nullptr;
    return reinterpret_cast<const Entry*>(at < info_.dlpi_addr ? info_.dlpi_addr + at : at);
  }

  void redirect(const Wanted& wanted, const ElfW(Rela) * entries, std::size_t bytes) const {
    const auto* const symbols = pointer<ElfW(Sym)>(DT_SYMTAB);
    const auto* const names = pointer<char>(DT_STRTAB);
    if (entries == nullptr || symbols == nullptr || names == nullptr) return;
    for (std::size_t i = 0; i < bytes / sizeof *entries; ++i) {
      const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(entries[i].r_info));
      if (type != kJumpSlot && type != kData) continue;
      const ElfW(Sym)& symbol = symbols[ELF64_R_SYM(entries[i].r_info)];
      if (wanted.function != names + symbol.st_name) continue;
      write(reinterpret_cast<const void**>(info_.dlpi_addr + entries[i].r_offset), wanted.to);
    }
  }

  // The linker may have made the slot's page read-only; afterwards it is read-only again.
  void write(const void** slot, const void* to) const {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    auto* const begin =
        reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(slot) & ~(page - 1));
    if (*slot == to || ::mprotect(begin, page, PROT_READ | PROT_WRITE) != 0) return;
    __atomic_store_n(slot, to, __ATOMIC_RELEASE);
    if (is_read_only(slot, page)) (void)::mprotect(begin, page, PROT_READ);
  }

  // The linker rounds both ends down: the page that the range ends in stays writable.
  bool is_read_only(const void** slot, std::uintptr_t page) const {
    const auto at = reinterpret_cast<std::uintptr_t>(slot);
    for (unsigned i = 0; i < info_.dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = info_.dlpi_phdr[i];
      if (part.p_type != PT_GNU_RELRO) continue;
      const std::uintptr_t begin = info_.dlpi_addr + part.p_vaddr;
      const std::uintptr_t end = begin + part.p_memsz;
      if (at >= (begin & ~(page - 1)) && at < (end & ~(page - 1))) return true;
    }
    return false;
  }

  const dl_phdr_info& info_;
  const ElfW(Dyn) * dynamic_ = nullptr;
};

}  // namespace

void redirect_references(const char* library, const char* function, const void* to) noexcept {
  Wanted wanted{library, function, to};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        const Object object(*info);
        const auto& one = *static_cast<const Wanted*>(data);
        if (object.needs(one.library)) object.redirect(one);
        return 0;
      },
      &wanted);
}

std::uint64_t loaded_objects() noexcept {
  std::uint64_t objects = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        *static_cast<std::uint64_t*>(data) = info->dlpi_adds;
        return 1;
      },
      &objects);
  return objects;
}

}  // namespace timeloom::os
