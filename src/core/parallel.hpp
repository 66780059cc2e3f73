// One loop over many items, shared by several threads.
//
// The calling thread takes part; it returns when every item is done. If the system refuses more
// threads, the existing ones do the work. An exception from `work` stops the loop, and the
// first one is thrown again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace timeloom {

// Calls work(0) to work(count - 1), each once, in about that order, from up to
// `threads` threads at the same time. REQUIRES: `work` may be called concurrently.
template <typename Work>
void for_each_in_parallel(std::size_t count, unsigned threads, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> helpers;
    const std::size_t wanted = std::min<std::size_t>(std::max(threads, 1u), count);
    try {
      while (helpers.size() + 1 < wanted) helpers.emplace_back(run);
    } catch (const std::system_error&) {
      // No more threads to be had.
    }
    run();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace timeloom
