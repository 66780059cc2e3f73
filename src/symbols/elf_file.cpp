#include "symbols/elf_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>

#include "core/build_id.hpp"

namespace timeloom::symbols {
namespace {

// Larger tables come from damage: the largest libraries have a tenth of it.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

bool is_supported(const Elf64_Ehdr& header) noexcept {
  const bool processor = header.e_machine == EM_X86_64 || header.e_machine == EM_AARCH64;
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
         header.e_ident[EI_VERSION] == EV_CURRENT && processor &&
         (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

constexpr std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320u : 0u);
    table[i] = value;
  }
  return table;
}

FunctionSymbols::Binding binding_of(const Elf64_Sym& symbol) noexcept {
  switch (ELF64_ST_BIND(symbol.st_info)) {
    case STB_LOCAL: return FunctionSymbols::Binding::kLocal;
    case STB_WEAK: return FunctionSymbols::Binding::kWeak;
    default: return FunctionSymbols::Binding::kGlobal;
  }
}

bool is_function(const Elf64_Sym& symbol) noexcept {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF;
}

}  // namespace

std::optional<ElfFile> ElfFile::open(const std::string& path) {
  std::error_code ignored;  // opening a device may do something
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  int error = 0;
  ElfFile result(os::File::open_read(path, &error), path);
  if (error != 0 || !result.file_.is_plain() || !result.read_header()) return std::nullopt;
  result.read_build_id();
  result.read_debug_link();
  return result;
}

bool ElfFile::read(std::uint64_t offset, void* to, std::size_t size) const {
  if (offset > size_ || size > size_ - offset) return false;
  int error = 0;
  const std::span bytes(static_cast<std::byte*>(to), size);
  return file_.read_at(offset, bytes, &error) == size && error == 0;
}

bool ElfFile::read_header() {
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  struct stat status {};
  if (::fstat(file_.fd(), &status) != 0) return false;
  size_ = static_cast<std::uint64_t>(status.st_size);
  changed_ns_ = status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec;
  Elf64_Ehdr header;
  return read(0, &header, sizeof header) && is_supported(header) && read_sections(header);
}

// An object with very many sections has their number, and the number of the section with their
// names, in the first of them.
bool ElfFile::read_sections(const Elf64_Ehdr& header) {
  Elf64_Shdr first{};
  if (header.e_shoff == 0 || header.e_shentsize != sizeof first) return false;
  if (!read(header.e_shoff, &first, sizeof first)) return false;
  const std::uint64_t count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
  const std::uint64_t names = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first.sh_link;
  if (count == 0 || count > (size_ - header.e_shoff) / sizeof first) return false;
  if (count > kMostBytes / sizeof first) return false;
  sections_.resize(count);
  if (!read(header.e_shoff, sections_.data(), count * sizeof first)) return false;
  if (names < count) section_names_ = contents<char>(sections_[names]);
  return true;
}

template <typename Item>
std::vector<Item> ElfFile::contents(const Elf64_Shdr& section) const {
  const std::uint64_t size = section.sh_size;
  const bool whole = section.sh_type != SHT_NOBITS && (section.sh_flags & SHF_COMPRESSED) == 0 &&
                     section.sh_offset <= size_ && size <= size_ - section.sh_offset &&
                     size <= kMostBytes;
  std::vector<Item> items(whole ? size / sizeof(Item) : 0);
  if (!read(section.sh_offset, items.data(), items.size() * sizeof(Item))) return {};
  return items;
}

std::string_view ElfFile::name_of(const Elf64_Shdr& section) const noexcept {
  if (section.sh_name >= section_names_.size()) return {};
  const char* const name = section_names_.data() + section.sh_name;
  return {name, ::strnlen(name, section_names_.size() - section.sh_name)};
}

const Elf64_Shdr* ElfFile::find(std::uint32_t type) const noexcept {
  const auto found = std::ranges::find(sections_, type, &Elf64_Shdr::sh_type);
  return found == sections_.end() ? nullptr : &*found;
}

const Elf64_Shdr* ElfFile::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find_if(
      sections_, [&](const Elf64_Shdr& section) { return name_of(section) == name; });
  return found == sections_.end() ? nullptr : &*found;
}

bool ElfFile::has_lines() const noexcept {
  const Elf64_Shdr* const lines = find(".debug_line");
  return lines != nullptr && lines->sh_type != SHT_NOBITS && lines->sh_size != 0;
}

void ElfFile::read_build_id() {
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type != SHT_NOTE) continue;
    build_id_ =
        hexadecimal(build_id_in(contents<std::byte>(section), std::size_t{section.sh_addralign}));
    if (!build_id_.empty()) return;
  }
}

// The name, a zero, up to three more for a multiple of four, the checksum.
void ElfFile::read_debug_link() {
  const Elf64_Shdr* const section = find(".gnu_debuglink");
  if (section == nullptr) return;
  const std::vector<char> text = contents<char>(*section);
  if (text.empty()) return;
  const std::size_t length = ::strnlen(text.data(), text.size());
  const std::size_t check = (length + 4) & ~std::size_t{3};
  if (check + sizeof debug_link_check_ > text.size()) return;
  std::memcpy(&debug_link_check_, text.data() + check, sizeof debug_link_check_);
  debug_link_.assign(text.data(), length);
}

FunctionSymbols ElfFile::functions() const {
  const Elf64_Shdr* table = find(SHT_SYMTAB);
  if (table == nullptr) table = find(SHT_DYNSYM);
  if (table == nullptr || table->sh_entsize != sizeof(Elf64_Sym)) return {};
  if (table->sh_link >= sections_.size()) return {};
  std::vector<FunctionSymbols::Entry> entries;
  for (const Elf64_Sym& symbol : contents<Elf64_Sym>(*table)) {
    if (!is_function(symbol)) continue;
    FunctionSymbols::Entry entry{symbol.st_value, symbol.st_size, 0, symbol.st_name,
                                 binding_of(symbol)};
    if (symbol.st_shndx < sections_.size()) {
      const Elf64_Shdr& section = sections_[symbol.st_shndx];
      if (section.sh_size <= UINT64_MAX - section.sh_addr) {
        entry.limit = section.sh_addr + section.sh_size;
      }
    }
    entries.push_back(entry);
  }
  return {std::move(entries), contents<char>(sections_[table->sh_link])};
}

// The section .eh_frame_hdr: a version, the forms of three fields, the distance of .eh_frame, the
// number of entries, and entries of two numbers, which count from the start of the section.
std::vector<std::uint64_t> ElfFile::function_starts() const {
  constexpr std::size_t kHeadWords = 3;
  constexpr std::array<unsigned char, 4> kForms = {1, 0x1b, 0x03, 0x3b};
  const Elf64_Shdr* const section = find(".eh_frame_hdr");
  if (section == nullptr) return {};
  const std::vector<std::int32_t> words = contents<std::int32_t>(*section);
  if (words.size() < kHeadWords || std::memcmp(words.data(), kForms.data(), kForms.size()) != 0) {
    return {};
  }
  const std::size_t entries =
      std::min<std::size_t>(static_cast<std::uint32_t>(words[2]), (words.size() - kHeadWords) / 2);
  std::vector<std::uint64_t> starts(entries);
  for (std::size_t i = 0; i < entries; ++i) {
    const auto distance = static_cast<std::int64_t>(words[kHeadWords + 2 * i]);
    starts[i] = section->sh_addr + static_cast<std::uint64_t>(distance);
  }
  std::ranges::sort(starts);
  return starts;
}

std::optional<std::uint32_t> ElfFile::check() const {
  static constexpr std::array<std::uint32_t, 256> kTable = crc_table();
  std::vector<std::byte> piece(1 << 16);
  std::uint32_t value = ~std::uint32_t{0};
  for (std::uint64_t offset = 0; offset < size_;) {
    int error = 0;
    const std::size_t got = file_.read_at(offset, piece, &error);
    if (error != 0 || got == 0) return std::nullopt;
    for (std::size_t i = 0; i < got; ++i) {
      value = kTable[(value ^ std::to_integer<std::uint32_t>(piece[i])) & 0xff] ^ (value >> 8);
    }
    offset += got;
  }
  return ~value;
}

}  // namespace timeloom::symbols
