// Lanes (--task-layout lanes): tracks that tasks and greenlets share. Tasks that overlap in time
// lie on different ones, so a run has as many lanes as were ever in use at once, not one per task.
//
// On its lane each of them is a region, named by its function; its own name is a parameter, which
// does not split call paths. Needs the GIL, or on builds without one the caller's CriticalSection.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/event_word.hpp"
#include "python/interpreter/compat.hpp"
#include "record/thread_recorder.hpp"

namespace timeloom::python {

// Whether tasks share lanes from here on, rather than having a location each.
void use_lanes(bool on) noexcept;
bool uses_lanes() noexcept;

// A free lane of the calling thread; nullptr: nothing is recorded here.
std::unique_ptr<record::Track> take_lane();
// Its lane is free again. REQUIRES: the calling thread is not on it.
void give_lane_back(std::uint32_t thread, std::unique_ptr<record::Track> lane);

// The word of the region of tasks whose coroutine is of this code and qualified name (a str).
EventWord task_region(PyCodeObject* code, PyObject* qualified_name);
// The same of greenlets, which are known by a name only.
EventWord task_region(const std::string& name);

// REQUIRES: the calling thread is on the lane.
void begin_on_lane(EventWord region, const std::string& name);
// The task on it has another name from here on.
void name_on_lane(const std::string& name);
void end_on_lane() noexcept;

// The tasks that have begun on lanes in this measurement.
std::uint64_t tasks_on_lanes() noexcept;
// The lanes that they share.
std::uint64_t lanes_made() noexcept;
// The measurement ends, or goes on in the child of a fork: no lane is valid any more.
void forget_lanes() noexcept;

}  // namespace timeloom::python
