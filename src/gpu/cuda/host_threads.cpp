#include "gpu/cuda/host_threads.hpp"

#include <pthread.h>

#include <new>

#include "os/thread.hpp"

namespace timeloom::cuda {

void HostThreads::note_first(std::uint64_t time) noexcept {
  t_noted = true;
  const auto name = static_cast<std::uint32_t>(pthread_self());
  try {
    const std::lock_guard lock(mutex_);
    threads_.push_back({name, os::thread_id(), time});
  } catch (const std::bad_alloc&) {
  }
}

std::uint64_t HostThreads::find(std::uint32_t name, std::uint64_t time) noexcept {
  const std::lock_guard lock(mutex_);
  std::uint64_t id = 0;
  for (auto one = threads_.rbegin(); one != threads_.rend(); ++one) {
    if (one->name != name) continue;
    id = one->id;
    if (one->since <= time) break;
  }
  return id;
}

}  // namespace timeloom::cuda
