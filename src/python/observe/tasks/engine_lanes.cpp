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
using LaneKey = std::pair<std::uint32_t, std::string>;  // thread and name

struct EngineLanes {
  std::map<LaneKey, Tracks> free;
  std::map<std::string, std::uint64_t> made;  // by name
  // Of coroutines that threads other than theirs have destroyed: still open.
  std::vector<std::pair<LaneKey, std::unique_ptr<record::Track>>> left;
  std::uint64_t epoch = 0;
};

EngineLanes& engine_lanes() {
  static auto* const kInstance = new EngineLanes;
  return *kInstance;
}

void give_back(const LaneKey& key, std::unique_ptr<record::Track> track) noexcept try {
  engine_lanes().free[key].push_back(std::move(track));
} catch (const std::bad_alloc&) {
  (void)track.release();  // another coroutine gets another lane
}

// The lanes of the calling thread among `left` end here, where their thread runs again.
void end_left() noexcept {
  const std::uint32_t thread = record::t_recorder->location();
  std::erase_if(engine_lanes().left, [thread](auto& lane) {
    if (lane.first.first != thread) return false;
    record::Track* const before = record::t_recorder->track();
    record::t_recorder->switch_to(lane.second.get());
    record::t_recorder->close_from(0);
    record::t_recorder->switch_to(before);
    give_back(lane.first, std::move(lane.second));
    return true;
  });
}

std::unique_ptr<record::Track> take_track(const std::string& name) {
  if (!record::t_recorder->attached() && record::attach_this_thread() == nullptr) return nullptr;
  EngineLanes& lanes = engine_lanes();
  if (!lanes.left.empty()) end_left();
  Tracks& free = lanes.free[{record::t_recorder->location(), name}];
  if (free.empty()) {
    const auto known = lanes.made.find(name);
    const std::uint64_t number = known == lanes.made.end() ? 1 : known->second + 1;
    auto made = record::make_track(name + "-" + std::to_string(number), 0);
    if (made != nullptr) lanes.made[name] = number;
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
    engine_lanes().left.emplace_back(LaneKey(thread_, name_), std::move(track_));
  } catch (const std::bad_alloc&) {
    (void)track_.release();  // the thread may be on it
  }
}

EngineLane::operator bool() const noexcept {
  return track_ != nullptr && epoch_ == engine_lanes().epoch && record::active() &&
         record::t_recorder->attached() && record::t_recorder->location() == thread_;
}

void EngineLane::begin_step() noexcept {
  if (!engine_lanes().left.empty()) end_left();
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
  give_back({thread_, name_}, std::move(track_));
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
