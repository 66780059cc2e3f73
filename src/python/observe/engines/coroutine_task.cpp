#include "python/observe/engines/coroutine_task.hpp"

#include <exception>
#include <utility>

#include "python/api/user_region.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/engines/task_region.hpp"
#include "python/observe/tasks/tasks.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

void add_fact(PyObject* pair, std::vector<Fact>& facts) {
  if (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2) return;
  PyObject* const name = PyTuple_GET_ITEM(pair, 0);
  PyObject* const value = PyTuple_GET_ITEM(pair, 1);
  if (!PyUnicode_Check(name)) return;
  if (PyUnicode_Check(value)) facts.push_back({utf8_text(name), utf8_text(value)});
  if (!PyLong_Check(value)) return;
  const std::uint64_t number = PyLong_AsUnsignedLongLong(value);
  if (PyErr_Occurred() == nullptr) facts.push_back({utf8_text(name), number});
  PyErr_Clear();
}

}  // namespace

std::vector<Fact> facts_in(PyObject* pairs) {
  std::vector<Fact> facts;
  if (!PyList_CheckExact(pairs)) return facts;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(pairs); ++i) {
    add_fact(PyList_GET_ITEM(pairs, i), facts);
  }
  return facts;
}

void CoroutineTask::put_facts() const noexcept try {
  for (const Fact& fact : facts_) {
    if (const auto* const text = std::get_if<std::string>(&fact.value)) {
      put_task_text(fact.parameter.c_str(), *text);
    } else {
      put_task_number(fact.parameter.c_str(), std::get<std::uint64_t>(fact.value));
    }
  }
} catch (const std::exception&) {
  return;  // out of memory: it has fewer parameters
}

CoroutineTask::~CoroutineTask() {
  if (lane_ == nullptr) return;
  const ErrorGuard guard;
  const CriticalSection critical;
  lane_.reset();
}

// Nothing of it is open any more when another measurement has begun.
bool CoroutineTask::is_here() const noexcept {
  if (measurement_ != record::measurement_number()) return false;
  return place_ == Place::kTrackOfTask || (place_ == Place::kLane && *lane_);
}

void CoroutineTask::begin() {
  if (!record::recording()) return;
  measurement_ = record::measurement_number();
  if (!tasks_are_tracks()) {
    lane_ = std::make_unique<EngineLane>(lane_name_);
    if (!*lane_) return;
    lane_->begin_step();
  }
  place_ = lane_ == nullptr ? Place::kTrackOfTask : Place::kLane;
  enter_user_region(word_);
  put_facts();
  if (hides_) hide_functions_of_task();
}

void CoroutineTask::begin_step() noexcept try {
  const bool is_first = place_ == Place::kNotBegun;
  if (is_first) place_ = Place::kNowhere;
  if (!record::active()) return;
  const ErrorGuard guard;
  const CriticalSection critical;
  if (is_first) begin();
  in_step_ = is_here();
  if (in_step_ && !is_first && place_ == Place::kLane) lane_->begin_step();
} catch (const std::exception&) {
  place_ = Place::kNowhere;  // out of memory: it is not recorded
}

void CoroutineTask::end_step(bool suspended) noexcept {
  if (!std::exchange(in_step_, false) || !record::active()) return;
  const ErrorGuard guard;
  const CriticalSection critical;
  if (is_here() && place_ == Place::kLane) suspended ? lane_->suspend() : lane_->end();
  if (is_here() && place_ == Place::kTrackOfTask && !suspended) leave_own_user_region(word_);
  if (!suspended) place_ = Place::kNowhere;
}

}  // namespace timeloom::python
