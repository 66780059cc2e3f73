// Any bytes as an object of compiled code: its functions are read, or it is refused.
#include <cstdlib>
#include <fstream>

#include "spool_input.hpp"
#include "symbols/elf_file.hpp"
#include "symbols/function_name.hpp"

namespace timeloom {
namespace {

void read(const symbols::ElfFile& file) {
  const symbols::FunctionSymbols functions = file.functions();
  for (std::uint64_t address = 0; address < 0x4000; address += 8) {
    const auto found = functions.find(address);
    if (!found) continue;
    if (found->address > address || found->name.empty()) std::abort();
    symbols::without_suffixes(found->name);
  }
  if (file.check() == std::nullopt) std::abort();
}

}  // namespace
}  // namespace timeloom

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace timeloom;
  const std::string path = fuzz::work_directory() + "/object";
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  if (const auto file = symbols::ElfFile::open(path)) read(*file);
  return 0;
}
