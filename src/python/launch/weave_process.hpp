// Weaves a run by `timeloom weave` in a process of its own, so that the measured
// process never loads OTF2. Needs the GIL, which it gives up while it waits.
#pragma once

#include <string>

namespace timeloom::python {

enum class WeaveOutcome { kDone, kFailed, kNoProgram };

// The directory of this extension, beside which the program is installed; absolute. The package
// lies elsewhere in an editable installation.
std::string extension_directory();

// Waits for the end. `package`: extension_directory(), asked for before the program could change
// its directory; searched first for bin/timeloom, then the directory of scripts, then PATH. The
// child writes to our stderr, or nowhere with `silent`; never to stdout.
WeaveOutcome weave_in_child(const std::string& run, const std::string& package, bool keep_spool,
                            bool silent);

}  // namespace timeloom::python
