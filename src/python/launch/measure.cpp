#include "python/launch/measure.hpp"

#include "python/interpreter/errors.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/launch/follow.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {

std::uint64_t begun_cpu_ns() {
  PyObject* package = PyDict_GetItemString(PyImport_GetModuleDict(), "timeloom");  // borrowed
  const Ref begun(package == nullptr ? nullptr : PyObject_GetAttrString(package, "_BEGUN_CPU_NS"));
  const std::uint64_t value = begun ? PyLong_AsUnsignedLongLong(begun.get()) : 0;
  if (PyErr_Occurred() == nullptr && begun) return value;
  PyErr_Clear();
  return record::process_cpu_ns();
}

bool start_measurement(const Settings& settings, const SessionContext& context) {
  const ControlLock control;  // until the children know
  if (!start_session(settings, context)) return false;
  announce_to_children();
  return true;
}

bool change_measurement(const Settings& settings) {
  const ControlLock control;
  if (!change_session(settings)) return false;
  announce_to_children();
  return true;
}

bool finish_measurement(SessionResult& result) {
  const ControlLock control;
  withdraw_from_children();
  return finish_session(result);
}

}  // namespace timeloom::python
