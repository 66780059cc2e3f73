// Writes the CallTree of a run as a CUBE profile, and reads any CUBE profile as a CallTree.
//
// Plain functions; any thread may call them. load() reads values on all cores.
//
// A profile has the shape of Score-P's profiles, which readers expect: one root, the program, above
// the call paths of the first thread of each process; and a node THREADS above the call paths of
// all other threads. Reading removes these nodes, so that a profile and a trace of a run give the
// same tree.
#pragma once

#include <cstdint>
#include <filesystem>

#include "formats/cube/cube.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::cube {

struct ProfileFacts {
  std::uint32_t parameters = 0;  // defined by the run; an estimate of the trace's size needs it
  std::uint64_t trace_id = 0;    // of the OTF2 trace of the same run; 0: there is none
};

// Writes the tree to `file`, which is overwritten. Returns false, and writes nothing, if the tree
// has no thread: a CUBE profile needs at least one. Throws Error.
bool save(const profile::CallTree& tree, const std::filesystem::path& file,
          const ProfileFacts& facts = {});

// Reads the call paths of any tool's profile, with the metrics `visits` and `time`. Times become
// nanoseconds or, for profiles by save(), ticks of the run. Executions of a dynamic region become
// visits of it. Nodes that are not regions of the program are removed. Of other metrics, only those
// that save() writes are read. Throws Error.
profile::CallTree load(const Reader& reader);
profile::CallTree load(const std::filesystem::path& file);

// The run that such a tree describes, without call paths: no values are read.
Definitions definitions_of(const Reader& reader);

// ProfileFacts::trace_id of the profile; 0: it has none. Does not throw.
std::uint64_t trace_id_of(const Reader& reader) noexcept;

}  // namespace timeloom::cube
