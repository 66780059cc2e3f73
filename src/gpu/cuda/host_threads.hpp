// The threads that call CUDA. CUDA's records identify a thread by the lower half of its pthread_t,
// which another thread may have later, so each thread is noted with the time of its first call.
//
// Any thread may call these functions. Nothing throws; without memory a thread stays unknown.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace timeloom::cuda {

class HostThreads {
 public:
  // Called before the calling thread makes a CUDA call; cheap after the first time.
  void note(std::uint64_t time) noexcept {
    if (!t_noted) [[unlikely]]
      note_first(time);
  }
  // The operating system's id of the thread; 0: not known.
  std::uint64_t find(std::uint32_t name, std::uint64_t time) noexcept;

 private:
  struct Noted {
    std::uint32_t name;
    std::uint64_t id;
    std::uint64_t since;
  };
  static inline thread_local bool t_noted = false;
  void note_first(std::uint64_t time) noexcept;

  std::mutex mutex_;
  std::vector<Noted> threads_;  // in order of time
};

}  // namespace timeloom::cuda
