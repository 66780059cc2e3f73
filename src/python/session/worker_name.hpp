// The names that engines give their workers, by which these are told apart: pytest-xdist's gw0, the
// id of a DataLoader's worker, the process of a Celery pool, name and address of a Dask worker, the
// id of a Ray worker or its actor. Only modules that the program has imported are asked. With the
// GIL.
#pragma once

#include <optional>
#include <string>

namespace timeloom::python {

struct WorkerName {
  std::string name;
  bool last = true;  // it does not change any more
};

// Of a process that a measured one has started. `forked`: with a copy of its memory and variables.
// None: no engine has named it so far. Leaves no exception.
std::optional<WorkerName> worker_name(bool forked) noexcept;

// The name of this worker of pytest-xdist; empty: it is none.
std::string xdist_worker();

}  // namespace timeloom::python
