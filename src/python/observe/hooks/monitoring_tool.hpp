// A subscription to sys.monitoring (PEP 669), Python 3.12 and later. Needs the GIL.
#pragma once

#include <span>

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

struct MonitoringEvent {
  const char* name;      // in sys.monitoring.events
  vectorcallfunc call;   // gets the event's arguments; returns None or DISABLE
  bool implied = false;  // comes with another event and cannot be asked for
  bool timed = false;    // see callback_times.hpp
};

// sys.monitoring.DISABLE, once subscribe() has succeeded.
extern PyObject* g_disable;

// In any interpreter; `api`: its sys.monitoring. Takes a free tool id under our name; -1: there is
// none, or an exception is set.
int take_free_tool(PyObject* api) noexcept;
// Whether the tool has our name: the program may have freed the id and taken it for itself.
bool has_own_tool(PyObject* api, int tool) noexcept;

// Takes a free tool id and registers the callbacks; at most one subscription at
// a time. False with a Python exception set when it cannot be had.
bool subscribe(std::span<const MonitoringEvent> events);
void unsubscribe();
// Prepares the code of the functions that run now for events of tools. To be called before
// BareStack hides these functions: a tool that asks for events meanwhile does not reach them, and
// the interpreter looks for its data in their code when it returns to them. Throws nothing.
void make_room_for_tools() noexcept;
// For callers that go on without a subscription: clears the exception and, the first time,
// prints one line with the reason and the consequence.
void print_not_subscribed(const char* consequence) noexcept;

}  // namespace timeloom::python
