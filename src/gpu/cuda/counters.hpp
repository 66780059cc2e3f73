// The counters of the devices that the process uses, read every 100 ms by a thread of Timeloom's
// own, which also loads NVML. A process that uses no device has no such thread.
//
// Functions are called by any thread. A failure prints one line.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/cuda/records.hpp"
#include "os/thread.hpp"

namespace timeloom::cuda {

class Counters {
 public:
  // `mutex` guards `records`, and this object.
  Counters(std::mutex& mutex, Records& records) : mutex_(mutex), records_(records) {}

  // From now on the device is read. REQUIRES: the mutex is held. Throws std::bad_alloc.
  void watch(const Records::Device& device);
  // The current measurement ends: it begins to use no more devices. The mutex is not held.
  void close() noexcept;
  // Ends the thread. A call of NVML that does not return within a second stays alone. The mutex is
  // not held.
  void stop() noexcept;

  // A fork waits for the call of NVML that goes on, at most 100 ms, since the child could not use
  // NVML otherwise. REQUIRES: the mutex is held.
  void before_fork() noexcept;
  void after_fork() noexcept;
  void forget_in_child() noexcept;

 private:
  void run() noexcept;
  void read_until_stopped();
  void fail(const std::string& reason) noexcept;

  std::mutex& mutex_;
  Records& records_;
  std::condition_variable changed_;
  std::vector<Records::Device> watched_;
  os::HelperThread thread_;
  bool stops_ = false;
  bool ended_ = false;            // the thread has
  bool useless_ = false;          // the thread is not started again
  bool failed_ = false;           // a line was printed
  std::uint32_t closed_for_ = 0;  // the measurement that takes no more devices
  std::timed_mutex reading_;      // held during calls of NVML
  bool fork_holds_ = false;       // `reading_`
};

}  // namespace timeloom::cuda
