// Tasks of Spark in its Python workers: a region from the first to the last row of a partition,
// named by the program's functions in it, with its id, stage, partition and attempt as parameters.
// Needs the GIL; throws std::bad_alloc.
#pragma once

namespace timeloom::python {

// As watch_engines(), which calls it.
void watch_spark();

}  // namespace timeloom::python
