// Converts CUPTI's records to records in the spool of the current measurement. Records that arrive
// while nothing is measured are dropped.
//
// Used by one thread at a time. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/cuda/cuda_clock.hpp"
#include "gpu/cuda/cupti_interface.hpp"
#include "gpu/cuda/host_threads.hpp"
#include "gpu/cuda/ranges.hpp"
#include "spool/gpu_writer.hpp"

namespace timeloom::cuda {

class Records {
 public:
  Records(const Functions& functions, const Clock& clock, HostThreads& threads)
      : functions_(functions), clock_(clock), threads_(threads) {}

  // Takes the records of a buffer; they are in the file on return.
  void take(std::uint8_t* buffer, std::size_t valid, std::uint64_t dropped);
  // A range or mark that the program has named. It is in the file after the next buffer, or a
  // quarter of a second.
  void add_range(const Range& range);
  // A value of a device's counter, in the file as a range is.
  void add_counter(std::uint32_t device, spool::GpuCounter counter, std::uint64_t ticks,
                   std::uint64_t value);
  // The devices that this measurement has begun to use since the last call, with the names by which
  // NVML knows them.
  struct Device {
    std::uint32_t id;
    std::string uuid;
  };
  std::vector<Device> new_devices();
  // Called when another tool takes over CUPTI.
  void leave();
  // Called before the measurement ends: later records do not belong to it.
  void end() noexcept;

 private:
  struct Call {
    bool known = false;
    bool wanted = false;
    std::uint32_t text = 0;
  };
  struct KnownDevice {
    std::string uuid{};     // empty: its record has not come
    bool used = false;      // by this measurement
    bool returned = false;  // by new_devices()
  };
  struct Queue {
    std::uint32_t device, context, stream;
    bool operator==(const Queue&) const = default;
  };

  bool open();
  void flush();
  void flush_if_due(std::uint64_t ticks);
  void add(const Activity& record);
  void add(const ActivityApi& call);
  void add(const ActivityKernel& kernel);
  template <typename Copy>
  void add_copy(const Copy& copy);
  void add(const ActivityMemset& set);
  void add(const ActivitySynchronization& wait);
  void add(const ActivityEvent& event);
  void add(const ActivityMemory& memory);
  template <typename Work>
  void add_work(const Work& work, std::uint64_t what);
  void add(const ActivityDevice& device);
  const Call& call_of(const ActivityApi& call);
  std::uint32_t place_of(const ActivityApi& call);
  std::uint32_t place_of(const Queue& queue);

  const Functions& functions_;
  const Clock& clock_;
  HostThreads& threads_;
  std::unique_ptr<spool::GpuWriter> writer_;
  std::uint32_t measurement_ = 0;  // the writer's measurement
  std::uint64_t flushed_ = 0;      // ticks of the last flush_if_due() that flushed
  bool ended_ = false;             // this measurement has ended
  std::vector<Call> calls_[2];     // by domain and number
  std::map<std::uint32_t, KnownDevice> devices_;
  // The queue of the record before: most records are from the same.
  Queue last_queue_{};
  std::uint32_t last_queue_place_ = UINT32_MAX;
  std::uint32_t last_thread_ = 0;
  std::uint64_t last_thread_since_ = 0;
  std::uint32_t last_thread_place_ = UINT32_MAX;
};

}  // namespace timeloom::cuda
