#include "python/launch/measure.hpp"

#include "python/interpreter/free_threading.hpp"
#include "python/launch/follow.hpp"

namespace timeloom::python {

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
