// Names of threads that native code has created, numbered for each library.
#include <cstddef>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include "os/thread.hpp"
#include "record/created_threads.hpp"

namespace timeloom::record {
namespace {

struct NamedThreads {
  std::mutex mutex;
  std::map<std::string, unsigned> of_library;  // number of named threads
};

// Never destroyed: threads may outlive the static objects of the program.
NamedThreads& named_threads() noexcept {
  alignas(NamedThreads) static std::byte room[sizeof(NamedThreads)];
  static auto* const kNamed = new (room) NamedThreads;
  return *kNamed;
}

void lock_names() { named_threads().mutex.lock(); }
void unlock_names() { named_threads().mutex.unlock(); }
void forget_names() {
  named_threads().of_library.clear();
  named_threads().mutex.unlock();
}

[[gnu::constructor]] void keep_names_at_fork() {
  os::at_fork(lock_names, unlock_names, forget_names);
}

}  // namespace

std::string next_thread_name(const std::string& library) {
  const std::lock_guard lock(named_threads().mutex);
  return library + " thread " + std::to_string(++named_threads().of_library[library]);
}

}  // namespace timeloom::record
