#include "weave/manifest.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/error.hpp"

namespace timeloom::weave {
namespace {

struct Entry {
  const char* name;
  const char* meaning;
};

constexpr Entry kEntries[] = {
    {"traces.otf2",
     "anchor of the OTF2 trace; open it with `timeloom report`, Vampir or otf2-print"},
    {"traces.def", "definitions of the trace"},
    {"traces", "events of the trace, one file for each thread"},
    {"profile.cubex",
     "CUBE4 profile: call paths with visits and times; open it with `timeloom report`, `timeloom "
     "score` or Cube"},
    {"scorep.cfg", "the settings of the measurement"},
    {"spool", "the raw records; `timeloom weave` makes the trace of them"},
};

}  // namespace

void write_manifest(const std::filesystem::path& directory, const std::set<std::string>& names) {
  const std::filesystem::path path = directory / kManifestName;
  std::ofstream out(path);
  out << "# A run measured by Timeloom\n\n| file | what it is |\n|---|---|\n";
  for (const Entry& entry : kEntries) {
    if (names.contains(entry.name)) out << "| " << entry.name << " | " << entry.meaning << " |\n";
  }
  out.close();
  if (!out) throw Error("cannot write " + path.string() + ": " + std::strerror(errno));
}

}  // namespace timeloom::weave
