#include "symbols/line_reader.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>

namespace timeloom::symbols {
namespace {

// The part of libdw's interface that is used here, with its names and layouts.
using Address = std::uint64_t;
struct Die {
  void* address;
  void* unit;
  void* abbreviation;
  long padding;
};
struct Attribute {
  unsigned code;
  unsigned form;
  void* value;
  void* unit;
};
constexpr unsigned kCompilationDirectory = 0x1b;  // DW_AT_comp_dir

struct Libdw {
  void* (*begin)(int fd, int command) = nullptr;
  int (*end)(void* dwarf) = nullptr;
  int (*get_units)(void* dwarf, void* unit, void** next, std::uint16_t* version, std::uint8_t* kind,
                   Die* unit_die, Die* part_die) = nullptr;
  std::ptrdiff_t (*ranges)(Die*, std::ptrdiff_t offset, Address* base, Address* begin,
                           Address* end) = nullptr;
  int (*getsrclines)(Die*, void** lines, std::size_t* count) = nullptr;
  void* (*onesrcline)(void* lines, std::size_t index) = nullptr;
  int (*lineaddr)(void* line, Address*) = nullptr;
  int (*lineno)(void* line, int* number) = nullptr;
  int (*lineendsequence)(void* line, bool*) = nullptr;
  const char* (*linesrc)(void* line, Address*, std::size_t*) = nullptr;
  Attribute* (*attr)(Die*, unsigned name, Attribute* result) = nullptr;
  const char* (*formstring)(Attribute*) = nullptr;
  bool complete = false;
};

template <typename Function>
bool take_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

Libdw load() {
  Libdw dw;
  void* const library = ::dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return dw;
  dw.complete = take_function(library, "dwarf_begin", dw.begin) &&
                take_function(library, "dwarf_end", dw.end) &&
                take_function(library, "dwarf_get_units", dw.get_units) &&
                take_function(library, "dwarf_ranges", dw.ranges) &&
                take_function(library, "dwarf_getsrclines", dw.getsrclines) &&
                take_function(library, "dwarf_onesrcline", dw.onesrcline) &&
                take_function(library, "dwarf_lineaddr", dw.lineaddr) &&
                take_function(library, "dwarf_lineno", dw.lineno) &&
                take_function(library, "dwarf_lineendsequence", dw.lineendsequence) &&
                take_function(library, "dwarf_linesrc", dw.linesrc) &&
                take_function(library, "dwarf_attr", dw.attr) &&
                take_function(library, "dwarf_formstring", dw.formstring);
  return dw;
}

const Libdw& libdw() {
  static const Libdw kLoaded = load();
  return kLoaded;
}

}  // namespace

// A compilation unit and its table of lines, which is read when it is first asked for.
class LineReader::Unit {
 public:
  explicit Unit(const Die& die) : die_(die) {}

  std::optional<SourceLine> find(std::uint64_t address, bool first) {
    const Libdw& dw = libdw();
    if (lines_ == nullptr && dw.getsrclines(&die_, &lines_, &count_) != 0) {
      lines_ = nullptr;
      return std::nullopt;
    }
    std::size_t at = first_behind(address);
    if (at == 0 || ends_sequence(--at)) return std::nullopt;
    // The first instruction of a function may have several lines, of which its own is the first.
    while (first && at > 0 && address_of(at - 1) == address && !ends_sequence(at - 1)) --at;
    void* const line = dw.onesrcline(lines_, at);
    const char* const file = dw.linesrc(line, nullptr, nullptr);
    int number = 0;
    if (file == nullptr || dw.lineno(line, &number) != 0 || number <= 0) return std::nullopt;
    return SourceLine{absolute(file), static_cast<std::uint32_t>(number)};
  }

 private:
  // The rows are in order of addresses.
  std::size_t first_behind(std::uint64_t address) const {
    std::size_t begin = 0, end = count_;
    while (begin < end) {
      const std::size_t middle = begin + (end - begin) / 2;
      if (address_of(middle) <= address) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }
  std::uint64_t address_of(std::size_t at) const {
    Address address = 0;
    libdw().lineaddr(libdw().onesrcline(lines_, at), &address);
    return address;
  }
  bool ends_sequence(std::size_t at) const {
    bool ends = false;
    libdw().lineendsequence(libdw().onesrcline(lines_, at), &ends);
    return ends;
  }
  std::string absolute(const std::filesystem::path& path) {
    Attribute attribute{};
    if (path.is_absolute() || !libdw().attr(&die_, kCompilationDirectory, &attribute)) {
      return path.lexically_normal().string();
    }
    const char* const directory = libdw().formstring(&attribute);
    return (std::filesystem::path(directory == nullptr ? "" : directory) / path)
        .lexically_normal()
        .string();
  }

  Die die_;
  void* lines_ = nullptr;
  std::size_t count_ = 0;
};

bool LineReader::available() { return libdw().complete; }

std::unique_ptr<LineReader> LineReader::open(const os::File& file) {
  constexpr int kRead = 0;  // DWARF_C_READ
  if (!available()) return nullptr;
  std::unique_ptr<LineReader> reader(new LineReader);
  int error = 0;
  reader->file_ = os::File::copy_of(file.fd(), &error);
  if (error == 0) reader->dwarf_ = libdw().begin(reader->file_.fd(), kRead);
  if (reader->dwarf_ == nullptr) return nullptr;
  reader->read_units();
  return reader;
}

LineReader::~LineReader() {
  if (dwarf_ != nullptr) libdw().end(dwarf_);
}

// The index in the file (.debug_aranges) is not used, since Clang writes none.
void LineReader::read_units() {
  const Libdw& dw = libdw();
  Die die{};
  for (void* unit = nullptr;
       dw.get_units(dwarf_, unit, &unit, nullptr, nullptr, &die, nullptr) == 0;) {
    Address base = 0, begin = 0, end = 0;
    for (std::ptrdiff_t at = 0; (at = dw.ranges(&die, at, &base, &begin, &end)) > 0;) {
      if (begin < end) ranges_.push_back({begin, end, units_.size()});
    }
    units_.emplace_back(die);
  }
  std::ranges::stable_sort(ranges_, {}, &Range::begin);
}

std::optional<SourceLine> LineReader::find(std::uint64_t address, bool first) {
  const auto behind = std::ranges::upper_bound(ranges_, address, {}, &Range::begin);
  if (behind == ranges_.begin()) return std::nullopt;
  const Range& range = *(behind - 1);
  if (address >= range.end) return std::nullopt;
  return units_[range.unit].find(address, first);
}

}  // namespace timeloom::symbols
