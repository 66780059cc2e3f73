// `timeloom report --imports`: the modules whose bodies ran when they were imported, how long each
// took, and which function imported it.
//
// Plain values made from a CallTree; used by one thread. write_*() throw Error as Output does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/call_tree.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// The import system itself is not recorded: the time to find and load a module, and to link one
// written in C, counts for the module or function that imports it.
struct ImportRow {
  RegionId body;  // "numpy.linalg.<module>"
  // Seconds over all processes: of the body and the functions that it calls, without the bodies of
  // other modules; and with these.
  double own = 0;
  double total = 0;
  std::uint64_t processes = 0;
  RegionId importer;  // the caller for the most of `total`; undefined: nothing that is recorded
  double of_importer = 0;  // seconds of `total`
};

struct ImportFacts {
  std::vector<ImportRow> rows;  // by own time, the longest first
  double all = 0;               // seconds in bodies, with all that they call
  double run = 0;               // of all threads, working and waiting
};

// The imports on the locations that the filter selects.
ImportFacts import_facts(const profile::CallTree& tree, const profile::LocationFilter& filter = {});

void write_imports(const ImportFacts& facts, const Definitions& definitions,
                   const Terminal& terminal, Output& output);
void write_imports_json(const ImportFacts& facts, const Definitions& definitions, Output& output);

}  // namespace timeloom::tools
