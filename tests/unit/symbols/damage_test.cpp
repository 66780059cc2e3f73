// Damaged and foreign files: refused or read, and never a crash.
#include <elf.h>

#include <cstring>

#include "../support/thorough.hpp"
#include "compiled.hpp"

namespace timeloom::symbols {
namespace {

class SymbolsDamageTest : public CompiledTest {
 protected:
  void SetUp() override {
    compile(library_);
    bytes_ = test::read_bytes(library_);
  }
  std::optional<ElfFile> open(const std::string& bytes) {
    test::write_bytes(damaged_, bytes);
    return ElfFile::open(damaged_);
  }
  // Reads everything in a file with these bytes.
  void read(const std::string& bytes) {
    const std::optional<ElfFile> file = open(bytes);
    if (!file) return;
    const FunctionSymbols functions = file->functions();
    for (std::uint64_t address = 0; address < 0x3000; address += 0x40) functions.find(address);
    functions.find(UINT64_MAX);
  }
  std::string with(std::size_t at, char value) const {
    std::string bytes = bytes_;
    bytes.at(at) = value;
    return bytes;
  }

  const std::string library_ = directory_ / "libgrid.so";
  const std::string damaged_ = directory_ / "damaged";
  std::string bytes_;
};

TEST_F(SymbolsDamageTest, EveryByteOfTheHeader) {
  for (std::size_t i = 0; i < sizeof(Elf64_Ehdr); ++i) {
    for (const int value : {0, 1, 0x7f, 0x80, 0xff, bytes_[i] ^ 1, bytes_[i] ^ 0x40}) {
      read(with(i, static_cast<char>(value)));
    }
  }
  EXPECT_TRUE(open(bytes_));
}

TEST_F(SymbolsDamageTest, EveryByteOfTheSectionHeaders) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes_.data(), sizeof header);
  for (std::size_t i = header.e_shoff; i < bytes_.size(); ++i) {
    if (test::thorough() || i % 3 == 0) read(with(i, '\xff'));
    if ((i & 7) == 0) read(with(i, static_cast<char>(bytes_[i] ^ 0x10)));
  }
}

TEST_F(SymbolsDamageTest, FilesThatAreCutOff) {
  for (std::size_t size = 0; size < bytes_.size(); size += 97) read(bytes_.substr(0, size));
  EXPECT_FALSE(open(bytes_.substr(0, sizeof(Elf64_Ehdr) - 1)));
  EXPECT_FALSE(open(""));
}

TEST_F(SymbolsDamageTest, OtherMachinesAndKindsAreRefused) {
  EXPECT_FALSE(open(with(EI_CLASS, ELFCLASS32)));
  EXPECT_FALSE(open(with(EI_DATA, ELFDATA2MSB)));
  EXPECT_FALSE(open(with(EI_MAG1, 'e')));
  EXPECT_FALSE(open(with(offsetof(Elf64_Ehdr, e_machine), EM_386)));
  EXPECT_FALSE(open(with(offsetof(Elf64_Ehdr, e_type), ET_REL)));
  EXPECT_FALSE(open(with(offsetof(Elf64_Ehdr, e_type), ET_CORE)));
  EXPECT_FALSE(ElfFile::open(directory_.path()));
  EXPECT_FALSE(ElfFile::open(directory_ / "not there"));
}

TEST_F(SymbolsDamageTest, NoFifoIsWaitedFor) {
  run_tool("mkfifo " + damaged_);
  EXPECT_FALSE(ElfFile::open(damaged_));
}

}  // namespace
}  // namespace timeloom::symbols
