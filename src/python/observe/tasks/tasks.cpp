#include "python/observe/tasks/tasks.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/waiting_metric.hpp"
#include "python/interpreter/awaiting.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/regions_around.hpp"
#include "python/observe/regions/watched.hpp"
#include "python/observe/tasks/engine_lanes.hpp"
#include "python/observe/tasks/lanes.hpp"
#include "python/observe/tasks/task_names.hpp"
#include "python/observe/tasks/task_wakeups.hpp"
#include "python/observe/wakeup_events.hpp"
#include "record/created_threads.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

struct Task {
  PyObject* root;  // its outermost coroutine; not owned, compared only
  std::unique_ptr<record::Track> track;
  std::uint32_t thread;    // location of the thread whose stream the track is in
  std::string name;        // with its function or (lanes) without, as far as it is known
  std::string first_name;  // the same, as it was when the task began
  bool suspended = false;
  std::uint64_t woken = 0;  // the number of its wakeup, while it is suspended; 0: not known
  // The coroutines that wait for each other, innermost first: they are open on
  // the track, and go on without an enter.
  std::vector<PyObject*> chain;
};

using Tasks = std::unordered_map<PyObject*, std::unique_ptr<Task>>;  // by root

// A coroutine that is a task and has not run yet. One that never runs may die, and another one
// take its address.
struct NotBegun {
  Ref coroutine;  // a weak reference
  std::uint64_t number = 0;
};
using Created = std::unordered_map<PyObject*, NotBegun>;  // by coroutine

struct TaskState {
  Tasks tasks;
  std::vector<std::unique_ptr<Task>> replaced;  // another thread may still have them on its nest
  Created created;
  EventWord task_word = 0;
  EventWord suspended_word = 0;
  std::atomic<bool> on = false;
  std::uint64_t epoch = 0;  // of what threads know, see Running
};

TaskState& task_state() {
  static auto* const kInstance = new TaskState;
  return *kInstance;
}

// The tasks that run on a thread, outermost first: one may run an event loop
// itself, or a task at once. Tasks of a past epoch may be gone.
struct Running {
  std::vector<Task*> nest;
  std::vector<PyObject*> yielding;  // report a yield that is known already, next first
  std::uint64_t epoch = 0;
};
thread_local Running t_running;

bool is_coroutine(InterpreterFrame* frame) noexcept {
  return frame != nullptr && is_awaitable(code_of(frame)) && generator_of(frame) != nullptr;
}

// Whether a frame awaits what it runs. One that calls it instead, as asyncio.Task(…,
// eager_start=True) does, runs a task of its own.
bool awaits(InterpreterFrame* frame) noexcept { return is_coroutine(frame) && is_awaiting(frame); }

// The coroutine at the outer end of the chain that `generator` is in.
PyObject* root_of(PyObject* generator, InterpreterFrame* outer) {
  const TaskState& s = task_state();
  while (awaits(outer) && !s.tasks.contains(generator)) {
    generator = generator_of(outer);
    outer = outer_frame_of(outer);
  }
  return generator;
}

void enter_task(EventWord word) noexcept { record::enter_region(record::user_token(word), word); }
void leave_task(EventWord word) noexcept { record::t_recorder->leave(record::user_token(word)); }

// A coroutine of this address is known, but it is another one or on another thread.
void replace(Task& task) {
  TaskState& s = task_state();
  s.replaced.push_back(std::move(s.tasks.extract(task.root).mapped()));
}

// The number that the coroutine was made a task under; 0: none. Asked once.
std::uint64_t number_of(PyObject* root) {
  Created& created = task_state().created;
  const auto found = created.find(root);
  if (found == created.end()) return 0;
  const NotBegun known = std::move(found->second);
  created.erase(found);
  return referent_of(known.coroutine.get()).get() == root ? known.number : 0;
}

Task* new_task(PyObject* root, InterpreterFrame* outer) {
  TaskState& s = task_state();
  const std::uint64_t number = number_of(root);
  auto task = std::make_unique<Task>();
  task->root = root;
  task->first_name = uses_lanes() ? own_name_of_task(root) : name_of_task(root);
  task->name = later_name_of_task(root, outer, uses_lanes());
  if (task->name.empty()) task->name = task->first_name;
  task->track = uses_lanes() ? take_lane() : record::make_track(task->name, number);
  if (task->track == nullptr) return nullptr;
  task->thread = record::t_recorder->location();
  return (s.tasks[root] = std::move(task)).get();
}

record::Track* track_of(const Running& running) noexcept {
  return running.nest.empty() ? nullptr : running.nest.back()->track.get();
}

EventWord root_region(PyObject* root) {
  return task_region(code_of_generator(root), reinterpret_cast<PyGenObject*>(root)->gi_qualname);
}

// From here on the thread runs `root`, which `outer` has called.
Task* activate(Running& running, PyObject* root, InterpreterFrame* outer, bool starts) {
  TaskState& s = task_state();
  const auto known = s.tasks.find(root);
  Task* task = known == s.tasks.end() ? nullptr : known->second.get();
  // A track lies in the stream of one thread.
  if (task != nullptr && (starts || task->thread != record::t_recorder->location())) {
    replace(*task);
    task = nullptr;
  }
  const bool is_new = task == nullptr;
  if (is_new) task = new_task(root, outer);
  if (task == nullptr) return nullptr;
  running.yielding.clear();
  enter_task(s.task_word);
  running.nest.push_back(task);
  record::t_recorder->switch_to(task->track.get());
  if (is_new && uses_lanes()) begin_on_lane(root_region(root), task->name);
  if (task->suspended) {
    record_woken(std::exchange(task->woken, 0));
    leave_task(s.suspended_word);
  }
  task->suspended = false;
  return task;
}

void go_back(Running& running) noexcept {
  running.nest.pop_back();
  record::t_recorder->switch_to(track_of(running));
  leave_task(task_state().task_word);
}

void suspend(Running& running, PyObject* value) {
  TaskState& s = task_state();
  Task& task = *running.nest.back();
  enter_task(s.suspended_word);
  task.suspended = true;
  const std::string name =
      record::t_recorder->beyond_depth() ? "" : name_of_awaited(value, uses_lanes());
  if (!name.empty()) {
    const std::uint64_t words[] = {
        record::define_parameter("awaits", ParameterType::kString).value(),
        record::define_string(name).value()};
    record::t_recorder->extended(ExtendedKind::kParameterString, words);
  }
  go_back(running);
}

// A task whose yield nobody reported (thrown into, a plain generator caught it)
// is still on the nest, though none of the frames that run is its own.
void drop_stale(Running& running, InterpreterFrame* outer) {
  while (!running.nest.empty()) {
    InterpreterFrame* frame = outer;
    while (frame != nullptr &&
           !(is_coroutine(frame) && generator_of(frame) == running.nest.back()->root)) {
      frame = outer_frame_of(frame);
    }
    if (frame != nullptr) return;
    suspend(running, nullptr);
  }
}

// The tasks that run on this thread already when tasks begin to be observed.
void find_running(Running& running, InterpreterFrame* outer) {
  running = {};
  running.epoch = task_state().epoch;
  std::vector<InterpreterFrame*> frames;
  for (; outer != nullptr; outer = outer_frame_of(outer)) frames.push_back(outer);
  bool is_new = false;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    if (is_coroutine(*frame)) {
      InterpreterFrame* driver = frame == frames.rbegin() ? nullptr : *(frame - 1);
      PyObject* root = root_of(generator_of(*frame), driver);
      if (running.nest.empty() || running.nest.back()->root != root) {
        is_new = !task_state().tasks.contains(root);
        if (activate(running, root, nullptr, false) == nullptr) return;
        running.nest.back()->chain.clear();
      }
    }
    if (!is_new) continue;  // its functions are open
    const EventWord word = known_word(code_of(*frame));
    if (is_region(word)) enter_code(code_of(*frame), word);
  }
}

Running& running_now(InterpreterFrame* outer) {
  Running& running = t_running;
  if (running.epoch != task_state().epoch) find_running(running, outer);
  return running;
}

bool step_begins(PyObject* generator, InterpreterFrame* outer, bool starts) {
  Running& running = running_now(outer);
  Task* task = running.nest.empty() ? nullptr : running.nest.back();
  if (starts && task != nullptr && awaits(outer)) return true;
  if (task == nullptr || std::ranges::find(task->chain, generator) == task->chain.end()) {
    PyObject* root = root_of(generator, outer);
    if (task == nullptr || task->root != root) {
      drop_stale(running, outer);
      task = activate(running, root, outer, starts && root == generator);
      if (task == nullptr) return true;
    }
  }
  return std::erase(task->chain, generator) == 0;
}

bool step_yields(PyObject* generator, InterpreterFrame* outer, PyObject* value) {
  if (value != nullptr && is_value_of_async_generator(value)) return true;
  Running& running = running_now(outer);
  if (!running.yielding.empty() && running.yielding.front() == generator) {
    running.yielding.erase(running.yielding.begin());
    return false;
  }
  if (running.nest.empty()) return false;
  Task& task = *running.nest.back();
  std::vector<PyObject*> chain{generator};
  for (; chain.back() != task.root && awaits(outer); outer = outer_frame_of(outer)) {
    chain.push_back(generator_of(outer));
  }
  if (chain.back() != task.root) return false;  // not of this task
  running.yielding.assign(chain.begin() + 1, chain.end());
  task.chain = std::move(chain);
  suspend(running, value);
  return false;
}

// A task may be named at any time. REQUIRES: the thread is on its track.
void name_as_it_ends(const Task& task) noexcept try {
  const std::string name =
      uses_lanes() ? own_name_of_task(task.root) : given_name_of_task(task.root);
  if (name.empty() || name == task.name || name == task.first_name) return;
  if (uses_lanes()) {
    name_on_lane(name);
  } else {
    record::rename_track(*task.track, name);
  }
} catch (const std::bad_alloc&) {
  return;  // it has the name that it began with
}

void step_ends(PyObject* generator) {
  Running& running = t_running;
  if (running.epoch != task_state().epoch || running.nest.empty()) return;
  if (running.nest.back()->root != generator) return;
  record_wakeups_at_end(generator);
  name_as_it_ends(*running.nest.back());
  if (!uses_lanes()) {
    record::t_recorder->end_track();
    go_back(running);
    task_state().tasks.erase(generator);
    return;
  }
  end_on_lane();
  go_back(running);
  const auto found = task_state().tasks.find(generator);
  if (found == task_state().tasks.end()) return;
  give_lane_back(found->second->thread, std::move(found->second->track));
  task_state().tasks.erase(found);
}

// BaseEventLoop.create_task(self, coroutine, ...)
void on_create_task(InterpreterFrame* frame, bool) noexcept {
  if (!task_state().on) return;
  PyObject* coroutine = local_of(frame, 1);
  if (coroutine == nullptr || !PyCoro_CheckExact(coroutine)) return;
  const ErrorGuard guard;
  Ref reference(PyWeakref_NewRef(coroutine, nullptr));
  if (!reference) return PyErr_Clear();
  const std::uint64_t number = record::next_creation_number();
  try {
    task_state().created.insert_or_assign(coroutine, NotBegun{std::move(reference), number});
  } catch (const std::bad_alloc&) {
    return;  // a task that nobody created
  }
  if (record::recording()) record::t_recorder->extended(ExtendedKind::kCreate, {&number, 1});
}

// The thread may be out of the task when tasks are observed again.
void go_home(record::ThreadRecorder& recorder, std::uintptr_t, void*) {
  if (recorder.track() == nullptr) return;
  recorder.switch_to(nullptr);
  recorder.leave_last(record::user_token(task_state().task_word));
}

}  // namespace

EventWord word_of_task_part(const char* name) {
  Region region;
  region.name = region.canonical_name = name;
  region.group = "asyncio tasks";
  region.paradigm = Paradigm::kMeasurement;
  region.role = RegionRole::kArtificial;
  const RegionId id = record::region_id(region);
  note_region_around(id.value());
  return record::enter_word(id);
}

// Without memory an event is recorded where it does not belong.
bool task_step_begins(PyObject* generator, InterpreterFrame* outer, bool starts) noexcept {
  const ErrorGuard guard;
  const CriticalSection critical;
  try {
    return step_begins(generator, outer, starts);
  } catch (const std::bad_alloc&) {
    return true;
  }
}

bool task_step_yields(PyObject* generator, InterpreterFrame* outer, PyObject* value) noexcept {
  const ErrorGuard guard;
  const CriticalSection critical;
  try {
    return step_yields(generator, outer, value);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void task_step_ends(PyObject* generator) noexcept {
  const ErrorGuard guard;
  const CriticalSection critical;
  step_ends(generator);
}

bool runs_task() noexcept {
  return t_running.epoch == task_state().epoch && !t_running.nest.empty();
}

bool is_suspended_task(PyObject* coroutine) noexcept {
  const auto known = task_state().tasks.find(coroutine);
  return known != task_state().tasks.end() && known->second->suspended;
}

void note_wakeup(PyObject* coroutine, std::uint64_t number) noexcept {
  if (is_suspended_task(coroutine)) task_state().tasks.find(coroutine)->second->woken = number;
}

bool tasks_are_tracks() noexcept { return task_state().on; }

void begin_tasks(bool on_lanes) noexcept {
  TaskState& s = task_state();
  use_lanes(on_lanes);
  try {
    if (!uses_lanes()) {
      watch_function("asyncio.base_events.BaseEventLoop.create_task", on_create_task);
    }
    watch_wakeups();
    s.task_word = word_of_task_part(kTaskRun);
    s.suspended_word = word_of_task_part(kSuspended);
  } catch (const std::bad_alloc&) {
    return;
  }
  ++s.epoch;
  s.on = true;
}

void pause_tasks() noexcept {
  task_state().on = false;
  ++task_state().epoch;
  with_world_stopped([] { record::for_each_recorder(go_home, nullptr); });
}

void forget_tasks() noexcept {
  TaskState& s = task_state();
  s.tasks.clear();
  s.replaced.clear();
  s.created.clear();
  forget_lanes();
  forget_engine_lanes();
  forget_wakeups();
  ++s.epoch;
}

}  // namespace timeloom::python
