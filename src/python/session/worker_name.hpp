// The names that engines give their workers, which distinguish them: pytest-xdist's gw0, the id of
// a DataLoader's worker, the process of a Celery pool, name and address of a Dask worker, the id of
// a Ray worker or its actor. Uses only modules that the program has imported. Needs the GIL.
#pragma once

#include <optional>
#include <string>

namespace timeloom::python {

struct WorkerName {
  std::string name;
  bool last = true;  // it does not change any more
};

// For a process that a measured one has started. `forked`: with a copy of its memory and variables.
// Empty: no engine has named it so far. Leaves no exception.
std::optional<WorkerName> worker_name(bool forked) noexcept;

// The name of this worker of pytest-xdist; empty: not such a worker.
std::string xdist_worker();

}  // namespace timeloom::python
