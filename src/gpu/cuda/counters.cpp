#include "gpu/cuda/counters.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>

#include "gpu/cuda/nvml_reader.hpp"
#include "record/measurement.hpp"

namespace timeloom::cuda {
namespace {

constexpr std::chrono::milliseconds kInterval{100};
constexpr std::size_t kNvmlStack = std::size_t{1} << 20;

}  // namespace

void Counters::watch(const Records::Device& device) {
  if (useless_ || closed_for_ == record::measurement_number()) return;
  watched_.push_back(device);
  if (thread_.running()) return;
  stops_ = ended_ = false;
  const int error = thread_.start(
      "timeloom-nvml", [this] { run(); }, kNvmlStack);
  if (error != 0) fail(std::strerror(error));
}

void Counters::fail(const std::string& reason) noexcept {
  if (reason.empty() || failed_) return;
  failed_ = true;
  std::fprintf(stderr, "timeloom: counters of the GPU are not recorded: %s [TL152]\n",
               reason.c_str());
}

void Counters::run() noexcept {
  try {
    read_until_stopped();
  } catch (const std::exception& error) {
    fail(error.what());
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void Counters::read_until_stopped() {
  std::unique_lock reading(reading_);
  NvmlReader reader;  // ends while `reading` is held
  std::string reason;
  const bool works = reader.open(reason);
  reading.unlock();
  fail(reason);
  std::unique_lock lock(mutex_);
  useless_ = !works;
  std::size_t added = 0;
  auto due = std::chrono::steady_clock::now();
  std::vector<NvmlReader::Value> values;
  while (works && !stops_) {
    const std::vector<Records::Device> devices(watched_.begin() + added, watched_.end());
    added += devices.size();
    lock.unlock();
    reading.lock();
    for (const Records::Device& device : devices) reader.add(device.id, device.uuid, reason);
    reader.read(values, reason);
    reading.unlock();
    fail(reason);
    lock.lock();
    for (const NvmlReader::Value& one : values) {
      if (!stops_) records_.add_counter(one.device, one.counter, one.ticks, one.value);
    }
    values.clear();
    due = std::max(due + kInterval, std::chrono::steady_clock::now());
    changed_.wait_until(lock, due, [this] { return stops_; });
  }
  lock.unlock();
  reading.lock();
}

void Counters::close() noexcept {
  const std::lock_guard lock(mutex_);
  closed_for_ = record::measurement_number();
}

void Counters::stop() noexcept {
  constexpr std::chrono::seconds kLongest{1};
  std::unique_lock lock(mutex_);
  stops_ = true;
  watched_.clear();
  changed_.notify_all();
  if (!thread_.running()) return;
  const bool ended = changed_.wait_for(lock, kLongest, [this] { return ended_; });
  useless_ = useless_ || !ended;
  lock.unlock();
  if (ended) {
    thread_.join();
  } else {
    thread_.abandon();
  }
}

void Counters::before_fork() noexcept {
  fork_holds_ = reading_.try_lock_for(std::chrono::milliseconds(100));
}

void Counters::after_fork() noexcept {
  if (fork_holds_) reading_.unlock();
}

void Counters::forget_in_child() noexcept {
  useless_ = useless_ || thread_.running();
  thread_.abandon();
}

}  // namespace timeloom::cuda
