// Reads the symbols of a program, a shared library or a separate debug file (ELF, 64 bits).
//
// The file may be damaged or forged: every offset and size is checked, and it may change while it
// is read, so it is read in pieces and not mapped. Not synchronised. Throws std::bad_alloc.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/file.hpp"
#include "symbols/function_symbols.hpp"

namespace timeloom::symbols {

class ElfFile {
 public:
  // None: the file cannot be read, or is not an object of 64 bits for a processor that Timeloom
  // runs on.
  static std::optional<ElfFile> open(const std::string& path);

  const std::string& path() const noexcept { return path_; }
  const os::File& file() const noexcept { return file_; }
  std::uint64_t size() const noexcept { return size_; }
  std::int64_t changed_ns() const noexcept { return changed_ns_; }    // since 1970
  const std::string& build_id() const noexcept { return build_id_; }  // empty: it has none
  // The name of the separate debug file, and its CRC-32; empty: there is none.
  const std::string& debug_link() const noexcept { return debug_link_; }
  std::uint32_t debug_link_check() const noexcept { return debug_link_check_; }
  // Whether it has the symbols of all functions, rather than only those for the dynamic linker.
  bool has_all_symbols() const noexcept { return find(SHT_SYMTAB) != nullptr; }
  bool has_lines() const noexcept;

  // The functions of .symtab, or of .dynsym if there is no .symtab.
  FunctionSymbols functions() const;
  // The addresses at which functions start, in order, from the table that unwinding searches; a
  // stripped object has it, too. Empty: none, or of a form that linkers do not write.
  std::vector<std::uint64_t> function_starts() const;
  // The checksum by which .gnu_debuglink knows the file. None: it cannot be read.
  std::optional<std::uint32_t> check() const;

 private:
  ElfFile(os::File file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  bool read_header();
  bool read_sections(const Elf64_Ehdr& header);
  void read_build_id();
  void read_debug_link();
  // Fills `to` from `offset` on. False: the file does not have so much.
  bool read(std::uint64_t offset, void* to, std::size_t size) const;
  // The contents; empty: it has none, or they are not in the file.
  template <typename Item>
  std::vector<Item> contents(const Elf64_Shdr& section) const;
  const Elf64_Shdr* find(std::uint32_t type) const noexcept;
  const Elf64_Shdr* find(std::string_view name) const noexcept;
  std::string_view name_of(const Elf64_Shdr& section) const noexcept;

  os::File file_;
  std::string path_;
  std::uint64_t size_ = 0;
  std::int64_t changed_ns_ = 0;
  std::vector<Elf64_Shdr> sections_;
  std::vector<char> section_names_;
  std::string build_id_;
  std::string debug_link_;
  std::uint32_t debug_link_check_ = 0;
};

}  // namespace timeloom::symbols
