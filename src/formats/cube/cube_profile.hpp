// The CallTree of a run as a CUBE profile, and any CUBE profile as a CallTree.
//
// Plain functions; any thread may call them. load() reads values on all cores.
//
// A profile has the shape that Score-P gives it and that readers expect: one
// root, the program, with the call paths of the first thread of each process
// below it, and those of all other threads below a node THREADS. Reading takes
// these nodes out again, so that a profile and a trace of a run are the same tree.
#pragma once

#include <cstdint>
#include <filesystem>

#include "formats/cube/cube.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::cube {

struct ProfileFacts {
  std::uint32_t parameters = 0;  // that the run defines; an estimate of the trace's size needs it
  std::uint64_t trace_id = 0;    // of the OTF2 trace of the same run; 0: there is none
};

// Writes the tree to `file`, which is overwritten. False, and nothing written:
// there is no thread in it, and a CUBE profile has at least one. Throws Error.
bool save(const profile::CallTree& tree, const std::filesystem::path& file,
          const ProfileFacts& facts = {});

// The call paths of a profile with the metrics `visits` and `time`, of whatever
// tool. Times become nanoseconds, or the ticks of the run that save() wrote.
// Executions of a dynamic region become visits of it; nodes that stand for no
// region of the program are taken out. Of other metrics those are read that
// save() writes. Throws Error.
profile::CallTree load(const Reader& reader);
profile::CallTree load(const std::filesystem::path& file);

// The run that such a tree describes, without the call paths: no values are read.
Definitions definitions_of(const Reader& reader);

// ProfileFacts::trace_id of the profile; 0: it has none. Does not throw.
std::uint64_t trace_id_of(const Reader& reader) noexcept;

}  // namespace timeloom::cube
