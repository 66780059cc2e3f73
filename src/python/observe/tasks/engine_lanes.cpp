#include "python/observe/tasks/engine_lanes.hpp"

#include <map>
#include <new>
#include <utility>
#include <vector>

#include "core/waiting_metric.hpp"
#include "python/api/user_region.hpp"
#include "python/observe/tasks/tasks.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

using Tracks = std::vector<std::unique_ptr<record::Track>>;

struct EngineLanes {
  std::map<std::pair<std::uint32_t, std::string>, Tracks> free;  // by thread and name
  std::map<std::string, std::uint64_t> made;                     // by name
  Tracks left;                                                   // by coroutines of other threads
  std::uint64_t epoch = 0;
};

EngineLanes& engine_lanes() {
  static auto* const kInstance = new EngineLanes;
  return *kInstance;
}

std::unique_ptr<record::Track> take_track(const std::string& name) {
  if (!record::t_recorder->attached() && record::attach_this_thread() == nullptr) return nullptr;
  EngineLanes& lanes = engine_lanes();
  Tracks& free = lanes.free[{record::t_recorder->location(), name}];
  if (free.empty()) {
    const std::string number = std::to_string(lanes.made[name] + 1);
    auto made = record::make_track(name + "-" + number, 0);
    if (made != nullptr) ++lanes.made[name];
    return made;
  }
  auto track = std::move(free.back());
  free.pop_back();
  return track;
}

EventWord run_word() {
  static const EventWord kWord = word_of_task_part(kTaskRun);
  return kWord;
}
EventWord suspended_word() {
  static const EventWord kWord = word_of_task_part(kSuspended);
  return kWord;
}

}  // namespace

EngineLane::EngineLane(std::string name)
    : name_(std::move(name)), track_(take_track(name_)), epoch_(engine_lanes().epoch) {
  (void)run_word(), (void)suspended_word();  // which may have no memory
  if (track_ == nullptr) return;
  thread_ = record::t_recorder->location();
}

EngineLane::~EngineLane() {
  if (track_ == nullptr || epoch_ != engine_lanes().epoch) return;
  if (*this && suspended_) {
    begin_step();
    end();
    return;
  }
  try {
    engine_lanes().left.push_back(std::move(track_));
  } catch (const std::bad_alloc&) {
    (void)track_.release();  // the thread may be on it
  }
}

EngineLane::operator bool() const noexcept {
  return track_ != nullptr && epoch_ == engine_lanes().epoch && record::active() &&
         record::t_recorder->attached() && record::t_recorder->location() == thread_;
}

void EngineLane::begin_step() noexcept {
  before_ = record::t_recorder->track();
  enter_user_region(run_word());
  record::t_recorder->switch_to(track_.get());
  if (suspended_) leave_user_region(suspended_word());
  suspended_ = false;
}

void EngineLane::suspend() noexcept {
  enter_user_region(suspended_word());
  suspended_ = true;
  go_back();
}

void EngineLane::end() noexcept {
  record::t_recorder->close_from(0);
  go_back();
  try {
    engine_lanes().free[{thread_, name_}].push_back(std::move(track_));
  } catch (const std::bad_alloc&) {
    (void)track_.release();  // another coroutine gets another lane
  }
}

void EngineLane::go_back() noexcept {
  record::t_recorder->switch_to(before_);
  leave_user_region(run_word());
}

std::uint64_t engine_lanes_made() noexcept {
  std::uint64_t count = 0;
  for (const auto& [name, made] : engine_lanes().made) count += made;
  return count;
}

void forget_engine_lanes() noexcept {
  EngineLanes& lanes = engine_lanes();
  lanes.free.clear();
  lanes.left.clear();
  lanes.made.clear();
  ++lanes.epoch;
}

}  // namespace timeloom::python
