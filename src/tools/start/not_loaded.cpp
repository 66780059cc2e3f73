#include "tools/start/not_loaded.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <string_view>

namespace timeloom::tools {
namespace {

template <typename T>
bool read_at(std::string_view file, std::size_t offset, T& value) {
  if (offset > file.size() || file.size() - offset < sizeof value) return false;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return true;
}

// Whether it is a program that asks for no dynamic linker.
bool is_static(const std::string& program) {
  constexpr std::size_t kMost = 1 << 16;  // its headers come first
  std::string file(kMost, '\0');
  std::ifstream in(program, std::ios::binary);
  in.read(file.data(), static_cast<std::streamsize>(file.size()));
  file.resize(static_cast<std::size_t>(in.gcount()));
  Elf64_Ehdr head;
  if (!read_at(file, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr)) return false;
  for (std::size_t i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(file, head.e_phoff + i * sizeof segment, segment)) return false;
    if (segment.p_type == PT_INTERP) return false;
  }
  return head.e_phnum > 0;
}

// The linker heeds no variable of the user then.
bool runs_as_another(const std::string& program) {
  struct stat status {};
  if (::stat(program.c_str(), &status) != 0) return false;
  return ((status.st_mode & S_ISUID) != 0 && status.st_uid != ::getuid()) ||
         ((status.st_mode & S_ISGID) != 0 && status.st_gid != ::getgid());
}

}  // namespace

std::string why_nothing_is_loaded(const std::string& program) {
  if (runs_as_another(program)) return "runs as another user (setuid)";
  return is_static(program) ? "is linked statically" : "";
}

}  // namespace timeloom::tools
