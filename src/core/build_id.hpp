// The build id of an object of compiled code: bytes that the linker computes from its contents, and
// that stay the same when the object is stripped. Pure functions, for any thread.
#pragma once

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

namespace timeloom {

inline constexpr std::size_t kLongestBuildId = 64;

// The build id in the notes of an object, at most kLongestBuildId bytes; empty: there is none. The
// notes need not be sound. `alignment`: of the segment or section, in bytes.
inline std::span<const std::byte> build_id_in(std::span<const std::byte> notes,
                                              std::size_t alignment) noexcept {
  const std::size_t unit = alignment == 8 ? 8 : 4;
  const auto padded = [unit](std::size_t size) { return (size + unit - 1) & ~(unit - 1); };
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof note);
    const std::size_t text = padded(sizeof note + std::size_t{note.n_namesz});
    if (text > notes.size() || note.n_descsz > notes.size() - text) return {};
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
        std::memcmp(&notes[sizeof note], ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
      return notes.subspan(text, std::min<std::size_t>(note.n_descsz, kLongestBuildId));
    }
    notes = notes.subspan(std::min(padded(text + note.n_descsz), notes.size()));
  }
  return {};
}

inline std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

}  // namespace timeloom
