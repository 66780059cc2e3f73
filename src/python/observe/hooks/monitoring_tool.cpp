#include "python/observe/hooks/monitoring_tool.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/text/message_id.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/print_line.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/cost/callback_times.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {

PyObject* g_disable = nullptr;

namespace {

constexpr char kName[] = "timeloom";
int g_tool = -1;
bool g_said_why = false;
bool g_said_taken_away = false;

struct Registered {
  PyObject* number;    // of the event
  PyObject* callback;  // owned, as is the number
};
std::vector<Registered> g_registered;
long g_events = 0;  // as sys.monitoring.get_events() returns them

// Borrowed; nullptr before Python 3.12.
PyObject* monitoring() { return PySys_GetObject("monitoring"); }

// The names of the tools that hold an id, each once.
std::string holders(PyObject* api) {
  constexpr int kIds = 6;
  std::vector<std::string> names;
  for (int tool = 0; tool < kIds; ++tool) {
    const Ref name(PyObject_CallMethod(api, "get_tool", "i", tool));
    const char* text = name && PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8(name.get()) : nullptr;
    PyErr_Clear();
    if (text != nullptr && std::ranges::find(names, text) == names.end()) names.emplace_back(text);
  }
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : ", ") + name;
  return joined;
}

int take_tool(PyObject* api) {
  const int tool = take_free_tool(api);
  if (tool >= 0 || PyErr_Occurred() != nullptr) return tool;
  const std::string names = holders(api);
  PyErr_Format(g_error,
               "every tool id of sys.monitoring is taken by other tools (%s); choose another "
               "instrumenter (--instrumenter frame) [TL014]",
               names.c_str());
  return -1;
}

bool register_all(PyObject* api, std::span<const MonitoringEvent> events) {
  const Ref names(PyObject_GetAttrString(api, "events"));
  if (!names) return false;
  long mask = 0;
  for (const MonitoringEvent& event : events) {
    const Ref number(PyObject_GetAttrString(names.get(), event.name));
    const Ref callback(callback_for(event.call, event.timed));
    if (!number || !callback) return false;
    const Ref old(
        PyObject_CallMethod(api, "register_callback", "iOO", g_tool, number.get(), callback.get()));
    if (!old) return false;
    if (!event.implied) mask |= PyLong_AsLong(number.get());
    g_registered.push_back({Py_NewRef(number.get()), Py_NewRef(callback.get())});
  }
  // Events that an earlier subscription disabled come again.
  const Ref restarted(PyObject_CallMethod(api, "restart_events", nullptr));
  if (!restarted) return false;
  const Ref set(PyObject_CallMethod(api, "set_events", "il", g_tool, mask));
  const Ref got(set ? PyObject_CallMethod(api, "get_events", "i", g_tool) : nullptr);
  if (!got) return false;
  g_events = PyLong_AsLong(got.get());
  return true;
}

// Whether all is as it was registered. Which callback there is only shows when
// another one is put in its place.
bool is_whole(PyObject* api) {
  for (const auto& [number, callback] : g_registered) {
    const Ref old(PyObject_CallMethod(api, "register_callback", "iOO", g_tool, number, callback));
    if (old.get() == callback) continue;
    const Ref back(
        old ? PyObject_CallMethod(api, "register_callback", "iOO", g_tool, number, old.get())
            : nullptr);
    PyErr_Clear();
    return false;
  }
  const Ref events(PyObject_CallMethod(api, "get_events", "i", g_tool));
  PyErr_Clear();  // An id that was freed keeps its events and callbacks, or loses both.
  return !events || PyLong_AsLong(events.get()) == g_events;
}

// A program may free or empty all ids, and with them ours.
void print_if_taken_away(PyObject* api) {
  if (g_said_taken_away || !record::active() || is_whole(api)) return;
  g_said_taken_away = true;
  print_line("the program has switched off tool " + std::to_string(g_tool) +
             " of sys.monitoring, which observes it; calls since then are not in the run "
             "(--instrumenter frame records them) [TL013]");
}

void forget_registered() {
  for (const auto& [number, callback] : g_registered) {
    Py_DECREF(number);
    Py_DECREF(callback);
  }
  g_registered.clear();
}

void release_tool(PyObject* api) {
  const ErrorGuard guard;
  if (has_own_tool(api, g_tool)) {
    const Ref cleared(PyObject_CallMethod(api, "set_events", "ii", g_tool, 0));
    PyErr_Clear();
    const Ref freed(PyObject_CallMethod(api, "free_tool_id", "i", g_tool));
    PyErr_Clear();
  }
  forget_registered();
  g_tool = -1;
}

}  // namespace

// 3 and 4 are free for everybody; debuggers, coverage tools, profilers and
// optimizers are entitled to the others.
int take_free_tool(PyObject* api) noexcept {
  constexpr int kTools[] = {4, 3, 5, 1, 0, 2};
  for (const int tool : kTools) {
    const Ref taken(PyObject_CallMethod(api, "use_tool_id", "is", tool, kName));
    if (taken) return tool;
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) return -1;
    PyErr_Clear();
  }
  return -1;
}

bool has_own_tool(PyObject* api, int tool) noexcept {
  const Ref name(PyObject_CallMethod(api, "get_tool", "i", tool));
  PyErr_Clear();
  return is_text(name.get(), kName);
}

bool subscribe(std::span<const MonitoringEvent> events) {
  PyObject* api = monitoring();
  if (api == nullptr) {
    PyErr_SetString(g_error, "this Python has no sys.monitoring (it came with 3.12) [TL014]");
    return false;
  }
  if (g_disable == nullptr) g_disable = PyObject_GetAttrString(api, "DISABLE");
  if (g_disable == nullptr) return false;
  g_tool = take_tool(api);
  if (g_tool < 0) return false;
  if (register_all(api, events)) return true;
  release_tool(api);
  return false;
}

void unsubscribe() {
  PyObject* api = monitoring();
  if (g_tool < 0 || api == nullptr) return;
  const ErrorGuard guard;
  print_if_taken_away(api);
  release_tool(api);
}

void make_room_for_tools() noexcept {
  if (!kUnwindsByCode) return;
  const ErrorGuard guard;
  PyObject* api = monitoring();
  // Where no tool id is free, a tool has made room.
  const int tool = api == nullptr ? -1 : take_tool(api);
  PyErr_Clear();
  if (tool < 0) return;
  for (Ref frame(PyThreadState_GetFrame(PyThreadState_Get())); frame;
       frame = Ref(PyFrame_GetBack(frame.frame()))) {
    const Ref code(PyFrame_GetCode(frame.frame()));
    const Ref set(PyObject_CallMethod(api, "set_local_events", "iOi", tool, code.get(), 0));
    PyErr_Clear();
  }
  const Ref freed(PyObject_CallMethod(api, "free_tool_id", "i", tool));
  PyErr_Clear();
}

void print_not_subscribed(const char* consequence) noexcept {
  const bool all_taken = PyErr_ExceptionMatches(g_error) != 0;
  const std::string why = take_exception_text();
  // While we calibrate there is no measurement, and nothing is missing.
  if (g_said_why || !record::active()) return;
  g_said_why = true;
  print_line((all_taken ? "every tool id of sys.monitoring is taken"
                        : "sys.monitoring cannot be used: " + std::string(without_id(why))) +
             "; " + consequence + " [TL014]");
}

}  // namespace timeloom::python
