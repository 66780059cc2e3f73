// The times at which tasks of Spark could run, and were sent to their executors. The program's own
// process learns them from Spark, and records them in a region kSparkTimes with the ids of the
// tasks; reports add them to the tasks (task_scan.hpp).
#pragma once

namespace timeloom::python {

// Asks Spark for the times of its tasks, if this process has a SparkContext that has not stopped,
// for 15 seconds at most. Needs the GIL; leaves no exception but Ctrl-C, which it hands on.
void note_spark_times() noexcept;

// As watch_engines(), which calls it: the times are noted before a SparkContext stops.
void watch_spark_stop();

}  // namespace timeloom::python
