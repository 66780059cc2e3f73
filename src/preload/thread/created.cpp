#include "preload/thread/created.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <string_view>

#include "os/thread.hpp"

namespace timeloom::preload {
namespace {

struct Known {
  std::mutex mutex;
  std::map<pthread_t, std::uint64_t> numbers;
  std::map<std::string, unsigned> of_library;  // number of named threads
};

// Never destroyed: threads may outlive the static objects of the program.
Known& known() noexcept {
  alignas(Known) static std::byte room[sizeof(Known)];
  static auto* const kKnown = new (room) Known;
  return *kKnown;
}

void lock_for_fork() { known().mutex.lock(); }
void unlock_after_fork() { known().mutex.unlock(); }
// After a fork only the forking thread exists; its id may be that of another thread in the parent.
void forget_after_fork() {
  known().numbers.clear();
  known().of_library.clear();
  known().mutex.unlock();
}

[[gnu::constructor]] void handle_forks() {
  os::at_fork(lock_for_fork, unlock_after_fork, forget_after_fork);
}

const void* address_of(StartRoutine* routine) noexcept {
  return reinterpret_cast<const void*>(routine);
}

// The library that contains the address: its start and its file.
Dl_info library_of(const void* address) noexcept {
  Dl_info info{};
  if (address == nullptr || ::dladdr(address, &info) == 0) info = {};
  return info;
}

// "libgomp" for /usr/lib/libgomp.so.1, and for libgomp-a34b3233.so.1 in a wheel.
std::string short_name(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  name = name.substr(0, name.find(".so"));
  constexpr std::size_t kChecksum = 9;  // including its hyphen
  if (name.size() > kChecksum && name[name.size() - kChecksum] == '-') {
    const std::string_view end = name.substr(name.size() - kChecksum + 1);
    if (end.find_first_not_of("0123456789abcdef") == std::string_view::npos) {
      name.remove_suffix(kChecksum);
    }
  }
  return std::string(name);
}

bool is_of_cxx(const Dl_info& library) noexcept {
  return library.dli_fname != nullptr &&
         std::string_view(library.dli_fname).find("/libstdc++.so") != std::string_view::npos;
}

}  // namespace

void remember_thread(pthread_t thread, std::uint64_t number) noexcept try {
  const std::lock_guard lock(known().mutex);
  known().numbers[thread] = number;
} catch (const std::bad_alloc&) {
  return;  // its waits cannot be linked
}

std::uint64_t take_thread(pthread_t thread) noexcept {
  const std::lock_guard lock(known().mutex);
  const auto found = known().numbers.find(thread);
  if (found == known().numbers.end()) return 0;
  const std::uint64_t number = found->second;
  known().numbers.erase(found);
  return number;
}

bool is_of_python(StartRoutine* routine) noexcept {
  const void* const creator = ::dlsym(RTLD_DEFAULT, "PyThread_start_new_thread");
  return creator != nullptr &&
         library_of(creator).dli_fbase == library_of(address_of(routine)).dli_fbase;
}

// All threads of std::thread start in the C++ library. Their argument is an object whose virtual
// function table lies in the library that created the thread.
std::string name_of_new_thread(StartRoutine* routine, const void* argument) {
  Dl_info library = library_of(address_of(routine));
  if (is_of_cxx(library) && argument != nullptr) {
    const Dl_info own = library_of(*static_cast<const void* const*>(argument));
    if (own.dli_fname != nullptr) library = own;
  }
  const std::string name = library.dli_fname == nullptr ? "native" : short_name(library.dli_fname);
  const std::lock_guard lock(known().mutex);
  return name + " thread " + std::to_string(++known().of_library[name]);
}

}  // namespace timeloom::preload
