// Notes on MPI where the options, the launcher and the program do not fit together: one line on
// stderr each, by one rank. Nothing else depends on these lines. Main thread, with the GIL.
#pragma once

#include <string>

#include "python/launch/door.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {

// At the start: an option of the door asks for MPI and no launcher has started this process, or the
// other way round. REQUIRES: wrappers are loaded.
void print_notes_on_launcher(const Door& door, const Settings& settings);

// The option or variable that asks for MPI, as the user wrote it; empty: MPI is not asked for.
std::string mpi_option(const Door& door, const Settings& settings);

// Whether a library with MPI_Init is in this process, wherever it was loaded.
bool has_loaded_mpi();

}  // namespace timeloom::python
