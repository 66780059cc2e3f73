#include "python/observe/tasks/greenlets.hpp"

#include <atomic>
#include <memory>
#include <new>
#include <unordered_map>
#include <vector>

#include "python/interpreter/python_text.hpp"
#include "python/observe/cost/budget.hpp"
#include "python/observe/hooks/unobserved.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/tasks/lanes.hpp"
#include "python/observe/tasks/tasks.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

struct Greenlet {
  std::vector<record::OpenRegion> regions;  // that it goes on in
  std::unique_ptr<record::Track> own;       // with tasks as tracks
  record::Track* track = nullptr;           // that it was on: its own or a task's
  bool in_task = false;                     // begun by one
};

// The known greenlets of a thread. Objects are compared, never used: one
// that dies is forgotten before its address is used again.
struct Thread {
  PyObject* tracer = nullptr;  // whose it was before; owned
  bool hooked = false;
  std::uint64_t epoch = 0;
  std::unordered_map<PyObject*, Greenlet> greenlets;
  std::size_t base = 0;  // regions of the main greenlet, when another runs
};
thread_local Thread t_thread;
constinit std::atomic<std::uint64_t> g_epoch = 0;

PyObject* greenlet_module() {
  return PyDict_GetItemString(PyImport_GetModuleDict(), "greenlet._greenlet");  // borrowed
}

// The main greenlet of a thread has no parent.
bool is_main(PyObject* greenlet) noexcept {
  const Ref parent(PyObject_GetAttrString(greenlet, "parent"));
  return parent.get() == Py_None;
}

bool is_dead(PyObject* greenlet) noexcept {
  const Ref dead(PyObject_GetAttrString(greenlet, "dead"));
  return dead.get() == Py_True;
}

std::string text_attribute(PyObject* object, const char* attribute) {
  const Ref value(PyObject_GetAttrString(object, attribute));
  PyErr_Clear();
  return value && PyUnicode_Check(value.get()) ? utf8_text(value.get()) : std::string{};
}

// Of gevent; greenlet itself no longer tells when one runs.
std::string greenlet_function(PyObject* greenlet) {
  const Unobserved nothing_of_this;
  const Ref run(PyObject_GetAttrString(greenlet, "_run"));
  PyErr_Clear();
  const std::string name = run ? text_attribute(run.get(), "__qualname__") : std::string{};
  return name.empty() ? "greenlet" : name;
}

std::string greenlet_name(PyObject* greenlet) {
  const Unobserved nothing_of_this;
  const std::string name = text_attribute(greenlet, "name");
  return name.empty() ? greenlet_function(greenlet) : name;
}

// Takes the regions of a greenlet off the thread's stack.
void leave_regions(Greenlet& greenlet, std::size_t base) {
  const auto open = record::t_recorder->open_regions();
  if (open.size() <= base) return greenlet.regions.clear();
  greenlet.regions.assign(open.begin() + static_cast<std::ptrdiff_t>(base), open.end());
  record::t_recorder->close_from(base);
}

void switch_regions(Thread& thread, PyObject* origin, PyObject* target) {
  if (is_main(origin)) {
    thread.base = record::t_recorder->open_regions().size();
  } else {
    leave_regions(thread.greenlets[origin], thread.base);
  }
  if (is_dead(origin)) thread.greenlets.erase(origin);
  const auto known = thread.greenlets.find(target);
  if (known != thread.greenlets.end() && !is_main(target)) {
    leave_out_throttled(known->second.regions);
    record::t_recorder->enter_again(known->second.regions);
  }
}

// It may have died inside a task, whose track goes on.
void end_track(Thread& thread, PyObject* greenlet) {
  const auto found = thread.greenlets.find(greenlet);
  if (found->second.in_task) {
    thread.greenlets.erase(found);
    return;
  }
  if (uses_lanes() && found->second.own != nullptr) {
    record::t_recorder->switch_to(found->second.own.get());
    end_on_lane();
    record::t_recorder->switch_to(nullptr);
    give_lane_back(record::t_recorder->location(), std::move(found->second.own));
  } else {
    record::t_recorder->end_track();
  }
  thread.greenlets.erase(found);
}

// A greenlet that a task has begun (asynchronous engines of SQLAlchemy do that) is a part of what
// the task calls: its functions are on the task's track while it runs, as the functions of all
// greenlets are on the thread's without tasks.
void enter_in_task(Thread& thread, const Greenlet& greenlet) {
  thread.base = record::t_recorder->open_regions().size();
  record::t_recorder->enter_again(greenlet.regions);
}

void switch_tracks(Thread& thread, PyObject* origin, PyObject* target) {
  Greenlet& last = thread.greenlets[origin];
  const bool on_track_of_task = runs_task() && (last.in_task || is_main(origin));
  last.track = record::t_recorder->track();
  if (last.in_task) leave_regions(last, thread.base);
  if (is_dead(origin)) end_track(thread, origin);
  Greenlet& next = thread.greenlets[target];
  if (next.track == nullptr && !is_main(target) && on_track_of_task) next.in_task = true;
  if (next.in_task) return enter_in_task(thread, next);
  const bool begins = next.track == nullptr && !is_main(target);
  if (begins) {
    next.own = uses_lanes() ? take_lane() : record::make_track(greenlet_name(target), 0);
    next.track = next.own.get();
  }
  record::t_recorder->switch_to(next.track);
  if (begins && next.track != nullptr && uses_lanes()) {
    begin_on_lane(task_region(greenlet_function(target)), greenlet_name(target));
  }
}

// Called after a switch, on the new stack.
void on_switch(PyObject* origin, PyObject* target) {
  Thread& thread = t_thread;
  if (thread.epoch != g_epoch) thread.greenlets.clear();
  thread.epoch = g_epoch;
  if (!record::t_recorder->attached() || origin == target) return;
  if (tasks_are_tracks()) {
    switch_tracks(thread, origin, target);
  } else {
    switch_regions(thread, origin, target);
  }
}

// event: "switch" or "throw", (origin, target)
PyObject* trace(PyObject*, PyObject* arguments) {
  PyObject* event = nullptr;
  PyObject *origin = nullptr, *target = nullptr;
  if (PyArg_ParseTuple(arguments, "O(OO)", &event, &origin, &target) != 0) {
    try {
      on_switch(origin, target);
    } catch (const std::bad_alloc&) {
      forget_greenlets();  // call paths of greenlets that do not run are cut off
    }
  }
  PyErr_Clear();
  PyObject* before = t_thread.tracer;
  return before == nullptr ? Py_NewRef(Py_None) : PyObject_Call(before, arguments, nullptr);
}

PyMethodDef kGreenletTracer = {"timeloom_greenlet_tracer", trace, METH_VARARGS, nullptr};
PyObject* g_tracer = nullptr;

bool is_callable(const Ref& tracer) noexcept { return tracer && tracer.get() != Py_None; }

}  // namespace

void look_for_greenlets() noexcept {
  Thread& thread = t_thread;
  if (thread.hooked) return;
  PyObject* module = greenlet_module();
  if (module == nullptr) return;
  const ErrorGuard guard;
  if (g_tracer == nullptr) g_tracer = PyCFunction_New(&kGreenletTracer, nullptr);
  const Ref settrace(PyObject_GetAttrString(module, "settrace"));
  const Ref before(settrace && g_tracer != nullptr ? PyObject_CallOneArg(settrace.get(), g_tracer)
                                                   : nullptr);
  PyErr_Clear();
  if (!before) return;  // while it is being imported, or too old
  thread.hooked = true;
  if (is_callable(before) && before.get() != g_tracer) {
    Py_XSETREF(thread.tracer, Py_NewRef(before.get()));
  }
}

void unhook_greenlets() noexcept {
  Thread& thread = t_thread;
  PyObject* module = greenlet_module();
  if (!thread.hooked || module == nullptr) return;
  const ErrorGuard guard;
  const Ref settrace(PyObject_GetAttrString(module, "settrace"));
  PyObject* before = thread.tracer == nullptr ? Py_None : thread.tracer;
  const Ref present(settrace ? PyObject_CallOneArg(settrace.get(), before) : nullptr);
  if (is_callable(present) && present.get() != g_tracer) {
    // Somebody hooked in after us, who may call us: stays, and so do we.
    const Ref put_back(PyObject_CallOneArg(settrace.get(), present.get()));
    PyErr_Clear();
    return;
  }
  PyErr_Clear();
  Py_CLEAR(thread.tracer);
  thread.hooked = false;
}

void forget_greenlets() noexcept { ++g_epoch; }

}  // namespace timeloom::python
