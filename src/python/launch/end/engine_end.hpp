// Ends processes of engines that would go on until the program's own process has ended.
#pragma once

namespace timeloom::python {

// Ends the JVM of Spark, if this process has started one: its workers record until then, and the
// run is to be complete. REQUIRES: nothing of the program runs any more. Needs the GIL; leaves no
// exception.
void end_engines() noexcept;

}  // namespace timeloom::python
