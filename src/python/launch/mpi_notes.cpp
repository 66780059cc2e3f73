#include "python/launch/mpi_notes.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "python/interpreter/print_line.hpp"
#include "python/launch/preload.hpp"
#include "settings/launched_rank.hpp"

namespace timeloom::python {
namespace {

bool has_mpi_wrapper() {
  return std::ranges::any_of(all_wrappers(), [](const Wrapper& wrapper) {
    return wrapper.setting == kSettings.mpi && is_loaded(wrapper);
  });
}

// The first name stands for the program: empty.
int add_name(dl_phdr_info* info, std::size_t, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(info->dlpi_name);
  return 0;
}

}  // namespace

void print_notes_on_launcher(const Door& door, const Settings& settings) {
  if (door.mpi_option.empty() || settings.text(kSettings.results) == "none") return;
  const std::optional<LaunchedRank> rank = launched_rank_of_this_process(environ);
  const std::string option(door.mpi_option);
  if (settings.flag(kSettings.mpi) && !rank) {
    print_line(
        option +
        ": no launcher (mpirun, srun) has started this process: it is a run of its own [TL031]");
  }
  // torchrun's ranks are none of MPI.
  const bool is_first =
      rank && rank->rank == 0 && rank->launcher.find("torch") == std::string::npos;
  if (is_first && settings.origin(kSettings.mpi) == kDoorDefault && !has_mpi_wrapper()) {
    print_line("started by " + std::string(rank->launcher) + " without " + option +
               ": calls of MPI are not recorded [TL032]");
  }
}

std::string mpi_option(const Door& door, const Settings& settings) {
  if (!settings.flag(kSettings.mpi) || settings.text(kSettings.results) == "none") return {};
  return door.mpi_option.empty() ? settings.origin(kSettings.mpi) : std::string(door.mpi_option);
}

bool has_loaded_mpi() {
  std::vector<std::string> names;
  ::dl_iterate_phdr(&add_name, &names);
  return std::ranges::any_of(names, [](const std::string& name) {
    void* const library = ::dlopen(name.empty() ? nullptr : name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return false;
    // Ours has MPI_Init, too; a library without names for tools has no other.
    const bool ours = name.find("libtimeloom_") != std::string::npos;
    const bool found = ::dlsym(library, "PMPI_Init") != nullptr ||
                       (!ours && !name.empty() && ::dlsym(library, "MPI_Init") != nullptr);
    ::dlclose(library);
    return found;
  });
}

}  // namespace timeloom::python
