// How a sub-interpreter joins the measurement: its subscription to sys.monitoring, and the
// callbacks, which are functions of its own module.
#include "python/observe/interpreters/sub_monitoring.hpp"

#include <string>
#include <utility>

#include "python/interpreter/print_line.hpp"
#include "python/observe/hooks/event_code.hpp"
#include "python/observe/hooks/monitoring_tool.hpp"
#include "python/observe/interpreters/sub_c_functions.hpp"
#include "python/observe/interpreters/sub_collections.hpp"
#include "python/observe/interpreters/sub_counts.hpp"
#include "python/observe/interpreters/sub_interpreters.hpp"
#include "python/observe/interpreters/sub_regions.hpp"
#include "python/observe/interpreters/sub_table.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

PyObject* none_of_sub() noexcept { return Py_NewRef(Py_None); }

// Borrowed, from this interpreter.
PyObject* monitoring_of_sub() noexcept { return PySys_GetObject("monitoring"); }

void leave_tool(SubInterpreter& sub) noexcept {
  if (!sub.joined.exchange(false)) return;
  const ErrorGuard guard;
  take_from_table(sub);
  unwatch_collections_in_sub_interpreter();
  PyObject* const api = monitoring_of_sub();
  if (api == nullptr || !has_own_tool(api, sub.tool)) return;
  const Ref cleared(PyObject_CallMethod(api, "set_events", "ii", sub.tool, 0));
  PyErr_Clear();
  const Ref freed(PyObject_CallMethod(api, "free_tool_id", "i", sub.tool));
  PyErr_Clear();
}

void print_no_room() noexcept {
  print_line("interpreter " + std::to_string(PyInterpreterState_GetID(PyInterpreterState_Get())) +
             " is not recorded from here on: another library keeps data of its own in the place "
             "of code objects that Timeloom needs [TL061]");
}

// C_RETURN and C_RAISE come with CALL.
bool set_sub_events(const SubInterpreter& sub) noexcept {
  const long wanted = sub.python_events | (c_functions_admitted() ? sub.call_event : 0);
  const Ref set(PyObject_CallMethod(monitoring_of_sub(), "set_events", "il", sub.tool, wanted));
  return static_cast<bool>(set);
}

// Rules have changed, or nothing was observed for a while. False: it is no longer recorded.
bool go_on(SubInterpreter& sub) noexcept {
  const ErrorGuard guard;
  const bool taken = take_rules(sub);
  if (!taken) print_no_room();
  const bool wanted = taken && set_sub_events(sub);
  const Ref again(wanted ? PyObject_CallMethod(monitoring_of_sub(), "restart_events", nullptr)
                         : nullptr);
  PyErr_Clear();
  if (!again) leave_tool(sub);
  return static_cast<bool>(again);
}

// Whether an event is recorded. When the measurement has ended, the interpreter leaves it.
bool takes_event(SubInterpreter& sub) noexcept {
  if (!sub_interpreters_observed()) [[unlikely]] {
    if (!record::active()) leave_tool(sub);
    return false;
  }
  // A tool that came after ours may fire events for which our functions are still registered.
  return sub.joined && (sub.epoch == sub_interpreters_epoch() || go_on(sub));
}

using Handle = SubEvent (*)(SubInterpreter&, PyCodeObject*) noexcept;

// `kMayCease`: the interpreter takes DISABLE for this kind of event.
template <Handle kHandle, bool kMayCease>
PyObject* on_sub_event(PyObject* module, PyObject* const* arguments, Py_ssize_t) noexcept {
  if (!is_of_code(arguments)) return leave_out_event();
  SubInterpreter& sub = sub_interpreter_of(module);
  if (!takes_event(sub)) return none_of_sub();
  const SubEvent event = kHandle(sub, code_argument(arguments));
  if (PyErr_Occurred() != nullptr) return nullptr;  // see call_of_resume
  return kMayCease && event == SubEvent::kNotAgain ? Py_NewRef(sub.disable) : none_of_sub();
}

// Of a call of a C function, or of its end.
template <void (*kHandle)(SubInterpreter&, PyObject* const*) noexcept>
PyObject* on_sub_call(PyObject* module, PyObject* const* arguments, Py_ssize_t) noexcept {
  if (!is_of_code(arguments)) return leave_out_event();
  SubInterpreter& sub = sub_interpreter_of(module);
  if (takes_event(sub)) kHandle(sub, arguments);
  return none_of_sub();
}

PyCFunction sub_function(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

constexpr Handle kEnters = enter_in_sub_interpreter, kLeaves = leave_in_sub_interpreter;
// Named as the events are. PY_THROW and PY_UNWIND cannot be disabled for one place.
PyMethodDef kSubEvents[] = {
    {"PY_START", sub_function(on_sub_event<kEnters, true>), METH_FASTCALL, nullptr},
    {"PY_RESUME", sub_function(on_sub_event<kEnters, true>), METH_FASTCALL, nullptr},
    {"PY_RETURN", sub_function(on_sub_event<kLeaves, true>), METH_FASTCALL, nullptr},
    {"PY_YIELD", sub_function(on_sub_event<kLeaves, true>), METH_FASTCALL, nullptr},
    {"PY_THROW", sub_function(on_sub_event<kEnters, false>), METH_FASTCALL, nullptr},
    {"PY_UNWIND", sub_function(on_sub_event<kLeaves, false>), METH_FASTCALL, nullptr},
};
constexpr auto kCalls = enter_c_in_sub_interpreter, kReturns = leave_c_in_sub_interpreter;
PyMethodDef kSubCallEvents[] = {
    {"CALL", sub_function(on_sub_call<kCalls>), METH_FASTCALL, nullptr},
    {"C_RETURN", sub_function(on_sub_call<kReturns>), METH_FASTCALL, nullptr},
    {"C_RAISE", sub_function(on_sub_call<kReturns>), METH_FASTCALL, nullptr},
};

// The interpreter's number of the event; -1 with a Python exception set.
long register_event(PyObject* api, int tool, PyMethodDef& method, PyObject* module) {
  const Ref names(PyObject_GetAttrString(api, "events"));
  const Ref number(names ? PyObject_GetAttrString(names.get(), method.ml_name) : nullptr);
  const Ref function(number ? PyCFunction_New(&method, module) : nullptr);
  const Ref old(function ? PyObject_CallMethod(api, "register_callback", "iOO", tool, number.get(),
                                               function.get())
                         : nullptr);
  return old ? PyLong_AsLong(number.get()) : -1;
}

bool register_events(SubInterpreter& sub, PyObject* api, PyObject* module) {
  for (PyMethodDef& method : kSubEvents) {
    const long number = register_event(api, sub.tool, method, module);
    if (number < 0) return false;
    sub.python_events |= number;
  }
  for (PyMethodDef& method : kSubCallEvents) {
    const long number = register_event(api, sub.tool, method, module);
    if (number < 0) return false;
    if (&method == kSubCallEvents) sub.call_event = number;
  }
  return set_sub_events(sub);
}

// False: nothing is recorded in the interpreter, for lack of a tool or of memory.
bool join(SubInterpreter& sub, PyObject* module) {
  PyObject* const api = monitoring_of_sub();
  if (api == nullptr || !take_rules(sub)) return false;
  // An object of all interpreters, which lives as long as the process.
  sub.disable = Ref(PyObject_GetAttrString(api, "DISABLE")).get();
  sub.tool = sub.disable == nullptr ? -1 : take_free_tool(api);
  if (sub.tool < 0) return false;
  sub.joined = true;
  add_to_table(sub);
  if (register_events(sub, api, module)) {
    watch_collections_in_sub_interpreter(module);
    return true;
  }
  leave_tool(sub);
  return false;
}

}  // namespace

void visit_in_sub_interpreter(PyObject* generator) noexcept {
  SubInterpreter* const sub = sub_interpreter_in_table();
  if (sub != nullptr && takes_event(*sub)) visit_generator(*sub, generator);
}

bool join_measurement_from(PyObject* module) noexcept {
  SubInterpreter& sub = sub_interpreter_of(module);
  if (!sub.asked.exchange(true)) count_asked_sub_interpreter();
  const bool may = record::active() && !in_main_interpreter() &&
                   sub_interpreters_admitted() != SubInterpreters::kNone;
  if (!may || sub.joined) return sub.joined;
  const bool joined = join(sub, module);
  PyErr_Clear();
  if (joined && sub_interpreters_observed()) enter_sub_interpreter(sub);
  return joined;
}

}  // namespace timeloom::python
