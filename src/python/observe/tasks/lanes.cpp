#include "python/observe/tasks/lanes.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/waiting_metric.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/regions_around.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

struct LaneState {
  bool on = false;
  std::unordered_map<std::uint32_t, std::vector<std::unique_ptr<record::Track>>> free;  // by thread
  std::uint64_t lanes = 0;
  std::uint64_t tasks = 0;
  // Functions share code that a decorator has wrapped around them. The code objects are kept, so
  // that none takes the address of another.
  std::unordered_map<std::string, std::pair<Ref, EventWord>> regions;
  // Of the task that began last, since many of one function begin one after another.
  PyCodeObject* last_code = nullptr;  // kept by `regions`
  Ref last_name;
  EventWord last_region = 0;
  ParameterId task_parameter;
  std::uint32_t defined_in = 0;  // the number of the measurement that has its definition
};

LaneState& lane_state() {
  static auto* const kInstance = new LaneState;
  return *kInstance;
}

Region artificial(std::string name) {
  Region region;
  region.name = std::move(name);
  region.canonical_name = region.name;
  region.group = "tasks";
  region.paradigm = Paradigm::kMeasurement;
  region.role = RegionRole::kArtificial;
  return region;
}

EventWord find_region(PyCodeObject* code, PyObject* qualified_name) {
  std::string name = utf8_text(qualified_name);
  const auto address = reinterpret_cast<std::uintptr_t>(code);
  std::string key = name + '\0' + std::to_string(address);
  auto& regions = lane_state().regions;
  if (const auto known = regions.find(key); known != regions.end()) return known->second.second;
  Region region = artificial(std::move(name));
  region.file = file_of(code);
  region.first_line = static_cast<std::uint32_t>(std::max(code->co_firstlineno, 0));
  region.last_line = last_line_of(code);
  const EventWord word = record::enter_word(record::region_id(region));
  Ref kept = Ref::borrow(reinterpret_cast<PyObject*>(code));
  regions.emplace(std::move(key), std::pair(std::move(kept), word));
  return word;
}

ParameterId task_parameter() {
  LaneState& s = lane_state();
  if (const std::uint32_t now = record::measurement_number(); s.defined_in != now) {
    s.task_parameter = record::define_parameter(kTaskParameter, ParameterType::kString);
    s.defined_in = now;
  }
  return s.task_parameter;
}

}  // namespace

void use_lanes(bool on) noexcept { lane_state().on = on; }
bool uses_lanes() noexcept { return lane_state().on; }

std::unique_ptr<record::Track> take_lane() {
  if (!record::t_recorder->attached() && record::attach_this_thread() == nullptr) return nullptr;
  LaneState& s = lane_state();
  auto& free = s.free[record::t_recorder->location()];
  if (free.empty()) {
    auto made = record::make_track(kTaskLaneName + std::to_string(s.lanes + 1), 0);
    if (made != nullptr) ++s.lanes;
    return made;
  }
  auto lane = std::move(free.back());
  free.pop_back();
  return lane;
}

void give_lane_back(std::uint32_t thread, std::unique_ptr<record::Track> lane) {
  lane_state().free[thread].push_back(std::move(lane));
}

EventWord task_region(PyCodeObject* code, PyObject* qualified_name) {
  LaneState& s = lane_state();
  if (code == s.last_code && qualified_name == s.last_name.get()) return s.last_region;
  s.last_region = find_region(code, qualified_name);
  s.last_code = code;
  s.last_name = Ref::borrow(qualified_name);
  return s.last_region;
}

EventWord task_region(const std::string& name) {
  const RegionId id = record::region_id(artificial(name));
  note_region_around(id.value());
  return record::enter_word(id);
}

void begin_on_lane(EventWord region, const std::string& name) {
  ++lane_state().tasks;
  record::enter_region(record::user_token(region), region);
  name_on_lane(name);
}

void name_on_lane(const std::string& name) {
  if (record::t_recorder->beyond_depth()) return;
  const std::uint64_t words[] = {task_parameter().value(), record::define_string(name).value()};
  record::t_recorder->extended(ExtendedKind::kParameterString, words);
}

void end_on_lane() noexcept { record::t_recorder->close_from(0); }

std::uint64_t tasks_on_lanes() noexcept { return lane_state().tasks; }
std::uint64_t lanes_made() noexcept { return lane_state().lanes; }

void forget_lanes() noexcept {
  LaneState& s = lane_state();
  s.free.clear();
  s.lanes = s.tasks = 0;
}

}  // namespace timeloom::python
