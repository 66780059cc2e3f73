// Whether memory can be read is asked without reading it.
#include "os/readable_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace timeloom::os {
namespace {

TEST(ReadableMemory, EndsWithItsPages) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const both = ::mmap(nullptr, 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(both, MAP_FAILED);
  auto* const begin = static_cast<std::byte*>(both);
  EXPECT_TRUE(is_readable(begin, 2 * page));
  ASSERT_EQ(::munmap(begin + page, page), 0);
  EXPECT_TRUE(is_readable(begin, page));
  EXPECT_TRUE(is_readable(begin + page - 1, 1));
  EXPECT_FALSE(is_readable(begin + page - 8, 16));
  EXPECT_FALSE(is_readable(begin + page, 1));
  ASSERT_EQ(::mprotect(begin, page, PROT_NONE), 0);
  EXPECT_FALSE(is_readable(begin, 1));
  ASSERT_EQ(::munmap(begin, page), 0);
}

TEST(ReadableMemory, IsNeverAtAddressesThatAreNone) {
  EXPECT_FALSE(is_readable(nullptr, 1));
  for (const std::uintptr_t address : {std::uintptr_t{1}, std::uintptr_t{0x0123456789abcdef},
                                       ~std::uintptr_t{0}, ~std::uintptr_t{0} - 4096}) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): it is never read
    EXPECT_FALSE(is_readable(reinterpret_cast<const void*>(address), 100)) << address;
  }
}

}  // namespace
}  // namespace timeloom::os
