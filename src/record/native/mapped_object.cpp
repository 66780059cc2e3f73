#include "record/native/mapped_object.hpp"

#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/build_id.hpp"
#include "os/process.hpp"
#include "os/read_file.hpp"

namespace timeloom::record {
namespace {

constexpr std::size_t kLongestPath = 4096;

// Filled by a callback of dl_iterate_phdr(), which holds a lock of the dynamic linker and therefore
// allocates nothing.
struct FoundObject {
  std::uintptr_t address;
  std::uintptr_t bias = 0;
  std::size_t seen = 0;  // objects; the first is the program
  std::array<char, kLongestPath> path{};
  std::array<std::byte, kLongestBuildId> build_id{};
  std::size_t build_id_size = 0;
};

bool holds(const dl_phdr_info& info, std::uintptr_t begin, std::size_t size) noexcept {
  return std::any_of(info.dlpi_phdr, info.dlpi_phdr + info.dlpi_phnum, [&](const auto& header) {
    const std::uintptr_t from = info.dlpi_addr + header.p_vaddr;
    return header.p_type == PT_LOAD && (header.p_flags & PF_R) != 0 && begin >= from &&
           size <= header.p_memsz && begin - from <= header.p_memsz - size;
  });
}

void describe(const dl_phdr_info& info, FoundObject& found) noexcept {
  found.bias = info.dlpi_addr;
  std::strncpy(found.path.data(), info.dlpi_name, found.path.size() - 1);
  for (int i = 0; i < info.dlpi_phnum && found.build_id_size == 0; ++i) {
    const auto& header = info.dlpi_phdr[i];
    const std::uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    if (header.p_type != PT_NOTE || !holds(info, begin, header.p_memsz)) continue;
    const std::span notes(reinterpret_cast<const std::byte*>(begin), header.p_memsz);
    const auto build_id = build_id_in(notes, header.p_align);
    std::ranges::copy(build_id, found.build_id.begin());
    found.build_id_size = build_id.size();
  }
}

// A callback of dl_iterate_phdr(); 1 ends the search.
int find_object(dl_phdr_info* info, std::size_t, void* data) noexcept {
  auto& found = *static_cast<FoundObject*>(data);
  ++found.seen;
  if (!holds(*info, found.address, 1)) return 0;
  describe(*info, found);
  return 1;
}

// The path of the file that is mapped at the address, in whatever directory the program was when it
// loaded the file; empty: none.
std::string path_in_maps(std::uintptr_t address) {
  const std::string maps = os::read_file("/proc/self/maps");
  for (const std::string_view line : os::pieces_of(maps, '\n')) {
    std::uintptr_t begin = 0, end = 0;
    const char* const last = line.data() + line.size();
    const auto dash = std::from_chars(line.data(), last, begin, 16);
    if (dash.ptr == last || *dash.ptr != '-') continue;
    std::from_chars(dash.ptr + 1, last, end, 16);
    if (address < begin || address >= end) continue;
    const std::size_t path = line.find('/');
    return path == std::string_view::npos ? std::string() : std::string(line.substr(path));
  }
  return {};
}

std::string path_of(const FoundObject& found) {
  constexpr std::string_view kDeleted = " (deleted)";
  std::string path = found.path.data();
  if (path.empty() && found.seen == 1) path = os::executable();
  if (path.starts_with('/') && found.seen != 1) return path;
  if (!path.starts_with('/')) {
    const std::string mapped = path_in_maps(found.address);
    if (!mapped.empty()) path = mapped;
  }
  if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
  return path;
}

void take_file_times(CodeObject& object) noexcept {
  struct stat status {};
  if (::stat(object.path.c_str(), &status) != 0) return;
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  object.size = static_cast<std::uint64_t>(status.st_size);
  object.changed_ns = status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec;
}

// The part of an object at an index, counted over all objects; see FoundObject.
struct FoundPart {
  std::size_t wanted;
  std::size_t parts = 0;  // that were passed
  std::uint64_t size = 0;
  FoundObject object{0};
};

// A callback of dl_iterate_phdr(); 1 ends the search.
int find_part(dl_phdr_info* info, std::size_t, void* data) noexcept {
  auto& found = *static_cast<FoundPart*>(data);
  ++found.object.seen;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    if (found.parts++ != found.wanted) continue;
    found.object.address = info->dlpi_addr + header.p_vaddr;
    found.size = header.p_memsz;
    describe(*info, found.object);
    return 1;
  }
  return 0;
}

CodeObject code_object(const FoundObject& found) {
  CodeObject object;
  object.path = path_of(found);
  object.build_id = hexadecimal(std::span(found.build_id).first(found.build_id_size));
  if (object.build_id.empty()) take_file_times(object);
  return object;
}

}  // namespace

// One at a time, since memory cannot be allocated while the dynamic linker's lock is held.
std::vector<MappedPart> mapped_parts() {
  std::vector<MappedPart> parts;
  while (true) {
    FoundPart found{parts.size()};
    if (::dl_iterate_phdr(find_part, &found) == 0) return parts;
    parts.push_back(
        {code_object(found.object), found.object.address, found.size, found.object.bias});
  }
}

std::optional<MappedObject> mapped_object(const void* address) {
  FoundObject found{reinterpret_cast<std::uintptr_t>(address)};
  if (::dl_iterate_phdr(find_object, &found) == 0) return std::nullopt;
  MappedObject result;
  result.object = code_object(found);
  result.address = found.address - found.bias;
  return result;
}

}  // namespace timeloom::record
