#include "preload/kokkos/kokkos_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include "os/thread.hpp"

namespace timeloom::kokkos {
namespace {

struct Spaces {
  std::mutex mutex;
  std::map<std::string, std::uint64_t, std::less<>> bytes;
};

// Never destroyed: threads may outlive the static objects of the program.
Spaces& spaces() noexcept {
  alignas(Spaces) static std::byte room[sizeof(Spaces)];
  static auto* const kSpaces = new (room) Spaces;
  return *kSpaces;
}

// A child of a fork has no other thread that could give the mutex back.
[[gnu::constructor]] void handle_forks_of_spaces() {
  constexpr auto kUnlock = [] { spaces().mutex.unlock(); };
  os::at_fork([] { spaces().mutex.lock(); }, kUnlock, kUnlock);
}

}  // namespace

std::uint64_t change_bytes_in(std::string_view space, std::uint64_t bytes, bool grow) noexcept try {
  Spaces& all = spaces();
  const std::lock_guard lock(all.mutex);
  std::uint64_t& present = all.bytes.try_emplace(std::string(space)).first->second;
  present = grow ? present + bytes : present - std::min(present, bytes);
  return present;
} catch (const std::exception&) {
  return 0;
}

}  // namespace timeloom::kokkos
