// The measurement of this process, of which its children learn. Needs the GIL.
#pragma once

#include "python/session/session.hpp"

namespace timeloom::python {

// CPU time of the process when our package began to load, which a launcher, and a child that is
// followed, does first.
std::uint64_t begun_cpu_ns();
// False with a Python exception set on failure. REQUIRES: as start_session().
bool start_measurement(const Settings& settings, const SessionContext& context);
// Goes on by other settings, of filters and names. False with a Python exception set on failure.
// REQUIRES: settings that check_session() accepts.
bool change_measurement(const Settings& settings);
// False without an exception when no measurement of this process is running.
bool finish_measurement(SessionResult& result);

}  // namespace timeloom::python
