#include "preload/thread/created.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <string_view>

#include "os/thread.hpp"
#include "preload/common/library_name.hpp"
#include "record/created_threads.hpp"

namespace timeloom::preload {
namespace {

struct Known {
  std::mutex mutex;
  std::map<pthread_t, std::uint64_t> numbers;
};

// Never destroyed: threads may outlive the static objects of the program.
Known& known() noexcept {
  alignas(Known) static std::byte room[sizeof(Known)];
  static auto* const kKnown = new (room) Known;
  return *kKnown;
}

void lock_for_fork() { known().mutex.lock(); }
void unlock_after_fork() { known().mutex.unlock(); }
// After a fork only the forking thread exists; it may have the id that another thread has in the
// parent.
void forget_after_fork() {
  known().numbers.clear();
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
  return record::next_thread_name(library.dli_fname == nullptr ? "native"
                                                               : short_name(library.dli_fname));
}

}  // namespace timeloom::preload
