// Logs of memory are large: a source holds none of them between its steps.
#include <malloc.h>

#include <cstddef>
#include <cstring>
#include <fstream>

#include "core/checksum.hpp"
#include "weave_fixture.hpp"

namespace timeloom::weave {
namespace {

constexpr std::uint64_t kBirths = 300'000;

// With a path of a thread, and each birth.
void write_memory_log(const fs::path& file, std::uint64_t start) {
  std::array<std::uint64_t, sizeof(spool::MemoryHeader) / sizeof(std::uint64_t)> header{};
  auto* const bytes = reinterpret_cast<std::byte*>(header.data());
  const auto word = [&](std::size_t offset) -> std::uint64_t& { return header[offset / 8]; };
  header[0] = spool::kMemoryMagic;
  std::memcpy(bytes + 8, &spool::kMemoryVersion, sizeof spool::kMemoryVersion);
  const std::uint32_t check = checksum(bytes, offsetof(spool::MemoryHeader, check));
  std::memcpy(bytes + offsetof(spool::MemoryHeader, check), &check, sizeof check);
  word(offsetof(spool::MemoryHeader, interval)) = 4096;
  word(offsetof(spool::MemoryHeader, start)) = start;
  word(offsetof(spool::MemoryHeader, paths)) = 3;
  word(offsetof(spool::MemoryHeader, blocks)) = kBirths;
  word(offsetof(spool::MemoryHeader, peak)) = kBirths;
  word(offsetof(spool::MemoryHeader, peak_ticks)) = start + kBirths;
  word(offsetof(spool::MemoryHeader, peak_blocks)) = kBirths;
  word(offsetof(spool::MemoryHeader, all)) = spool::kMemoryEachBlock;
  std::ofstream to(file, std::ios::binary);
  to.write(reinterpret_cast<const char*>(bytes), sizeof header);
  const std::uint64_t thread = std::uint64_t{spool::kMemoryThread} << 32;
  to.seekp(static_cast<std::streamoff>(spool::kMemoryPathsAt + 2 * sizeof(spool::MemoryPath)));
  to.write(reinterpret_cast<const char*>(&thread), sizeof thread);
  to.seekp(spool::kMemoryBlocksAt);
  for (std::uint64_t i = 1; i <= kBirths; ++i) {
    const spool::MemoryBlock birth{start + i, 2, 1, i};
    to.write(reinterpret_cast<const char*>(&birth), sizeof birth);
  }
}

std::size_t allocated_bytes() {
  const struct mallinfo2 all = ::mallinfo2();
  return all.uordblks + all.hblkhd;
}

class MemoryLogTest : public WeaveTest {};

TEST_F(MemoryLogTest, IsInMemoryOnlyWhileItIsRead) {
  spool::Writer& writer = spool("p");
  const std::uint64_t start = os::now();
  write_calls(writer, 0, 1);
  end(writer);
  write_memory_log(run() / "spool" / "p" / spool::kMemoryName, start);
  const std::size_t before = allocated_bytes();
  SpoolSource source = this->source();
  EXPECT_LT(allocated_bytes() - before, kBirths * sizeof(Event) / 4);
  const auto events = collect(source)->events;
  ASSERT_TRUE(events.contains("Per process metrics"));
  const std::vector<Event>& curve = events.at("Per process metrics");
  EXPECT_GE(curve.size(), kBirths);
  EXPECT_EQ(curve.back().value, kBirths);
}

}  // namespace
}  // namespace timeloom::weave
